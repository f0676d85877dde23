"""Numbers of runs: probabilities against independent formulas, generating functions, means and draws."""

from fractions import Fraction
from math import comb, exp, factorial, log

import pytest

from tacit.errors import InvalidInput
from tacit.mechanisms.repeat.run_counts import NegativeBinomial, Poisson, RunCount
from tacit.numbers.enclosures import Enclosure
from tacit.randomness import SYSTEM
from tests.support import agrees

COUNTS: list[RunCount] = [
    NegativeBinomial(1, "0.2"),
    NegativeBinomial(0, "0.2"),
    NegativeBinomial("-0.5", "0.2"),
    NegativeBinomial(3, "0.4"),
    Poisson(3),
    Poisson("0.1"),
]
NAMES = [repr(count) for count in COUNTS]


def test_probabilities_written_out() -> None:
    for k in range(1, 20):
        assert float(COUNTS[0].pmf(k)) == pytest.approx(0.2 * 0.8 ** (k - 1))
        assert float(COUNTS[1].pmf(k)) == pytest.approx(0.8**k / (k * log(5)))
        assert float(COUNTS[3].pmf(k)) == pytest.approx(comb(k + 2, 2) * 0.6**k * 0.4**3 / (1 - 0.4**3))
        assert float(COUNTS[4].pmf(k)) == pytest.approx(exp(-3) * 3**k / factorial(k))
    assert float(COUNTS[0].pmf(0)) == 0
    assert float(COUNTS[4].pmf(0)) == pytest.approx(exp(-3))


@pytest.mark.parametrize("count", COUNTS, ids=NAMES)
def test_generating_function_and_mean(count: RunCount) -> None:
    masses = [float(count.pmf(k)) for k in range(200)]
    assert sum(masses) == pytest.approx(1)
    assert sum(k * p for k, p in enumerate(masses)) == pytest.approx(float(count.mean()))
    for z in (Fraction(0), Fraction(1, 3), Fraction(9, 10), Fraction(1)):
        value = count.generating(Enclosure.of(z))
        assert float(value) == pytest.approx(sum(p * float(z) ** k for k, p in enumerate(masses)))
        assert value.width < Fraction(1, 2**100)


@pytest.mark.parametrize("count", COUNTS, ids=NAMES)
def test_draws(count: RunCount) -> None:
    """False alarm 1e-7."""
    drawn = [count.draw(SYSTEM) for _ in range(20000)]
    assert agrees(drawn, {k: float(count.pmf(k)) for k in range(60)})


class Narrow:
    """A source whose first word is all ones, which no table of 64 bits can place."""

    private = False

    def __init__(self) -> None:
        self._first = True

    def bits(self, count: int) -> int:
        first, self._first = self._first, False
        return (1 << count) - 1 if first else 5

    def words(self, count: int) -> object:
        raise NotImplementedError

    def mark(self, value: object) -> object:
        return value


def test_a_draw_that_needs_more_bits() -> None:
    """U is a little more than 1 − 2^-64 for the geometric law of 1/2: P[K ≤ 64] = 1 − 2^-64 < U < P[K ≤ 65]."""
    assert NegativeBinomial(1, "0.5").draw(Narrow()) == 65  # type: ignore[arg-type]


def test_many_runs() -> None:
    """Mean 10^4, standard deviation 100: eight of them are passed with probability below 1e-14."""
    assert abs(Poisson(10**4).draw(SYSTEM) - 10**4) < 800


def test_bad_parameters() -> None:
    with pytest.raises(InvalidInput, match="eta must be above -1"):
        NegativeBinomial(-1, "0.5")
    with pytest.raises(InvalidInput, match="gamma must lie strictly"):
        NegativeBinomial(1, 1)
    with pytest.raises(InvalidInput, match="gamma must be at least"):
        NegativeBinomial(1, "1e-9")
    with pytest.raises(InvalidInput, match="mean must be above 0"):
        Poisson(0)
    with pytest.raises(InvalidInput, match="at most 10000"):
        Poisson(10**5)
