"""What a capped total says follows from what was released and from its public design."""

from fractions import Fraction

import pytest

from tacit.answers.totals import DESIGN, CappedTotal


def test_persons_above_the_cap_are_bounded_for_every_cap_and_every_number() -> None:
    draw = CappedTotal(10, 55, 3, True, Fraction(1))
    bounds = [draw.persons_above_cap(level) for level in ("0.5", "0.9", "0.95", "0.999")]
    assert bounds == sorted(bounds)
    assert bounds[0] >= 3
    _, above = DESIGN.noises(True, 10, Fraction(1))
    for level, bound in zip((Fraction(1, 2), Fraction(9, 10)), bounds, strict=False):
        assert above.mirrored.tail(bound - 3 + 1).high <= 1 - level
    assert CappedTotal(10, 55, -40, True, Fraction(1)).persons_above_cap() == 0


def test_value_counts_only_persons_that_stand_out() -> None:
    def value(above: int) -> int:
        return CappedTotal(100, 5000, above, True, Fraction(1)).value

    assert [value(a) for a in (-3, 0, 1, 2, 3, 4)] == [5000, 5000, 5000, 5000, 5166, 5400]
    draw = CappedTotal(100, 5000, 20, True, Fraction(1))
    down, up = draw.reach()
    assert up >= 0
    assert down >= 0
    assert draw.noise_std == pytest.approx(draw.variance**0.5)
