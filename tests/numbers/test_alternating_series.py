"""Alternating series and arctan against flint."""

from fractions import Fraction

from flint import acb, ctx
from hypothesis import given
from hypothesis import strategies as st

from tacit.numbers.alternating_series import alternating, arctan
from tacit.numbers.enclosures import Enclosure
from tests.guarantees.oracle import Ball, ball


def holds(enclosure: Enclosure, value: Ball) -> bool:
    """Whether a ball and an enclosure surely overlap."""
    return not value < ball(enclosure.low) and not value > ball(enclosure.high)


@given(square=st.fractions(0, 50), w=st.fractions(0, 1), step=st.fractions("0.2", 5))
def test_series_enclose_arctan_and_hypergeometric_sums(square: Fraction, w: Fraction, step: Fraction) -> None:
    start = Fraction(3, 4)
    found, summed = arctan(square, 128), alternating(Enclosure.of(w, 128), start, step, 128)
    with ctx.workprec(300):
        a = ball(start / step)
        assert holds(found, ball(square).sqrt().atan())
        assert holds(summed, acb(-ball(w)).hypgeom_2f1(1, a, a + 1).real / ball(start))
    assert found.width <= Fraction(1, 2**110)
