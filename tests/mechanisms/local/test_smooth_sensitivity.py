"""Smooth sensitivity: smooth on every small dataset, exact in rationals, its law whole, its lattice public."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from tacit.audit.exact import datasets, neighbours
from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Pure, Zcdp
from tacit.mechanisms import InterquartileRange, Maximum, Quantile, Triangles, TrimmedMean, smooth_sensitivity
from tacit.mechanisms.local.sensitivities import LocalStatistic
from tacit.mechanisms.local.smooth_sensitivity import smooth
from tests.support import agrees

UNIVERSE, DECAY, FLOOR = (0, 1, 2, 9), Fraction(3, 4), Fraction(1, 100)
STATISTICS: list[LocalStatistic] = [
    Quantile(0, 9),
    Quantile(0, 9, "0.8"),
    Maximum(0, 9),
    InterquartileRange(0, 9),
    TrimmedMean(0, 9, 1),
]


def scales(statistic: LocalStatistic) -> dict[Any, Fraction]:
    return {x: smooth(statistic, x, DECAY, FLOOR) for x in datasets(UNIVERSE, 5)}


@pytest.mark.parametrize("statistic", STATISTICS, ids=lambda s: s.name)
def test_it_is_smooth_and_above_the_local_sensitivity(statistic: LocalStatistic) -> None:
    found = scales(statistic)
    for x, z in neighbours(found):
        assert DECAY <= found[x] / found[z] <= 1 / DECAY
        assert abs(statistic.value(x) - statistic.value(z)) <= min(found[x], found[z])


@dataclass(frozen=True)
class _KStep(Quantile):
    """The most that k persons can move the median, in place of its local sensitivity at distance k."""

    def growth(self, data: Any) -> Iterator[Fraction]:
        k = 0
        while True:
            k += 1
            yield Fraction(self.local(data, k))


def test_the_k_step_change_is_not_smooth() -> None:
    """The mistake that the definition warns of: caught by the very check above."""
    found = scales(_KStep(0, 9))
    assert any(not DECAY <= found[x] / found[z] <= 1 / DECAY for x, z in neighbours(found))


def test_it_is_the_maximum_of_the_definition() -> None:
    data = [0, 0, 1, 3, 3, 8, 9]
    median = Quantile(0, 10)
    expected = max(DECAY**k * median.at_distance(data, k) for k in range(30))
    assert smooth(median, data, DECAY, Fraction(1, 10**9)) == expected
    assert smooth(median, [5] * 40, DECAY, Fraction(1, 10)) == Fraction(1, 10)  # far below: the public floor
    assert smooth(median, [5] * 40, DECAY, Fraction(1, 10**9)) == 10 * DECAY**40  # the whole range, 40 persons away


@pytest.mark.parametrize(
    ("noise", "cost", "guarantee"),
    [
        ("student", {"epsilon": 1}, Pure(1)),
        ("power", {"epsilon": 1}, Pure(1)),
        ("laplace", {"epsilon": 1, "delta": "0.001"}, Approx(1, "0.001")),
        ("laplace_log_normal", {"rho": "0.5"}, Zcdp("0.5")),
    ],
)
def test_the_law_is_whole_and_says_what_it_costs(noise: str, cost: dict[str, Any], guarantee: Any) -> None:
    law = smooth_sensitivity(Quantile(0, 4), [1, 2, 2, 3], noise=noise, lattice="0.5", **cost)
    assert law.guarantee == guarantee
    points = list(law.outcomes())
    inside = sum(law.pmf(y, 96).low for y in points)
    step = Fraction(1, 2)
    assert float(inside) == pytest.approx(float(law.cdf(points[-1], 96)) - float(law.cdf(points[0] - step, 96)))
    assert law.pmf("0.3").high == 0  # not on the lattice
    assert law.accuracy("0.1").statement.startswith("the error is at most")
    assert repr(law) == repr(smooth_sensitivity(Quantile(0, 4), [4] * 9, noise=noise, lattice="0.5", **cost))


def test_sampler_agrees_with_the_law() -> None:
    """False alarm 1e-7."""
    law = smooth_sensitivity(Quantile(0, 4), [1, 2, 2, 3], 2, lattice=1)
    assert agrees(law.sample(5000), {y: float(law.pmf(y)) for y in law.outcomes()})


def test_data_come_as_values_or_counts_and_graphs_as_edges() -> None:
    values = [1, 2, 2, 3]
    one, other = (smooth_sensitivity(Quantile(0, 4), x, 1) for x in (values, Counter(values)))
    assert one.pmf(2) == other.pmf(2)
    triangles = smooth_sensitivity(Triangles(5), [(0, 1), (1, 2), (0, 2)], 1)
    assert triangles.lattice == 1
    assert triangles.sample().denominator == 1
    assert smooth_sensitivity(Quantile(), values, 1).lattice == 1  # 64-bit integers unless a range is given
    assert smooth_sensitivity(Quantile(0, 1), values, 1).lattice == Fraction(1, 2**20)


def test_bad_input_is_refused() -> None:
    median = Quantile(0, 4)
    with pytest.raises(InvalidInput, match="noise must be one of"):
        smooth_sensitivity(median, [1], 1, noise="cauchy")
    with pytest.raises(InvalidInput, match="give epsilon and delta"):
        smooth_sensitivity(median, [1], 1, noise="laplace")
    with pytest.raises(InvalidInput, match="delta must lie strictly"):
        smooth_sensitivity(median, [1], 1, delta=0, noise="laplace")
    with pytest.raises(InvalidInput, match="give epsilon alone"):
        smooth_sensitivity(median, [1], 1, delta="0.1")
    with pytest.raises(InvalidInput, match="give rho"):
        smooth_sensitivity(median, [1], 1, noise="laplace_log_normal")
    with pytest.raises(InvalidInput, match="whole number of degrees"):
        smooth_sensitivity(median, [1], 1, shape="2.5")
    with pytest.raises(InvalidInput, match="above 1"):
        smooth_sensitivity(median, [1], 1, noise="power", shape=1)
    with pytest.raises(InvalidInput, match="lattice"):
        smooth_sensitivity(median, [1], 1, lattice=0)
