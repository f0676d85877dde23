"""Shares, quotients and variances lie in their intervals wherever the noise stays within its reach."""

from fractions import Fraction
from math import inf, sqrt
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tacit.answers.quotients import Quotient, Share, Variance
from tacit.noises import Lopsided, Noise

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
