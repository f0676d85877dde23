"""What answers say about their error holds: boxes against every point inside them."""

from fractions import Fraction
from math import inf, sqrt
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.answers.quotients import Quotient, Share, Variance
from tacit.answers.spreads import Additive, Chosen
from tacit.noises import DiscreteLaplace, Lopsided, Noise
from tacit.numbers.units import Unit


def test_what_is_chosen_among_several_has_the_interval_of_all_together() -> None:
    plain = Additive(DiscreteLaplace.for_pure(Fraction(1)))
    chosen = Chosen(plain, 100)
    assert chosen.interval(50, Fraction(95, 100)) == plain.interval(50, Fraction(9995, 10000))
    assert (chosen.covers, chosen.std, chosen.persons_above(Fraction(1, 2))) == ("truth", plain.std, None)


def test_an_additive_answer_is_the_value_with_noise_around_it() -> None:
    noise = DiscreteLaplace.for_pure(Fraction(1, 10))
    down, up = noise.reach(0.95)
    spread = Additive(noise, Unit(Fraction(1, 100), "decimal"))
    low, high = spread.interval(Unit(Fraction(1, 100), "decimal").value(5000), Fraction(95, 100))
    assert (int(low * 100), int(high * 100)) == (5000 - up, 5000 + down)
    assert spread.std == pytest.approx(sqrt(noise.variance) / 100)
    assert spread.covers == "truth"
    assert spread.persons_above(Fraction(1, 2)) is None


# ---- boxes ------------------------------------------------------------------------------------------------------

NOISE: Noise = Lopsided(Fraction(1, 7), Fraction(1, 9))
sums = st.integers(-40, 400)


def inside(noise: Noise, confidence: float, released: int, random: Random) -> int:
    """A value that the released one may come from while the noise stays within its tails."""
    down, up = noise.reach(confidence)
    return random.choice((released - up, released + down, random.randint(released - up, released + down)))


@given(sums, sums, st.randoms())
def test_a_share_lies_in_its_interval_for_every_box(rest: int, part: int, random: Any) -> None:
    spread = Share(rest, part, NOISE, NOISE, 10.0, 30.0)
    low, high = spread.interval(spread.value, Fraction(9, 10))
    a, b = (max(inside(NOISE, 0.95, x, random), 0) for x in (rest, part))
    if a + b > 0:
        assert low - 1e-9 <= 10 + 20 * b / (a + b) <= high + 1e-9
    assert 10 <= spread.value <= 30
    assert 0 <= spread.std <= 10


@given(sums, sums, st.randoms())
def test_a_quotient_lies_in_its_interval_for_every_box(top: int, bottom: int, random: Any) -> None:
    spread = Quotient(top, bottom, NOISE, NOISE, 0.5, 3.0)
    low, high = spread.interval(spread.value, Fraction(9, 10))
    a, b = inside(NOISE, 0.95, top, random), inside(NOISE, 0.95, bottom, random)
    assert b < 1 or low - 1e-9 <= 3 + 0.5 * a / b <= high + 1e-9
    if bottom - NOISE.reach(0.95)[1] < 1:
        assert (low, high) == (-inf, inf)
    assert spread.std >= 0


@given(sums, sums, sums, st.booleans(), st.randoms())
def test_a_variance_lies_in_its_interval_for_every_box(a: int, b: int, c: int, root: bool, random: Any) -> None:
    spread = Variance((a, b, c), NOISE, 6.0, root)
    low, high = spread.interval(spread.value, Fraction(9, 10))
    x, y, z = (max(inside(NOISE, 1 - 0.1 / 3, part, random), 0) for part in (a, b, c))
    n = x + y + z
    if n > 0:
        variance = 36 * min(max(z / n - ((y + z) / n) ** 2, 0), 0.25)
        truth = sqrt(variance) if root else variance
        assert low - 1e-9 <= truth <= high + 1e-9
    assert 0 <= spread.value <= (3 if root else 9)
