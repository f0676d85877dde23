"""Propose-test-release: distances by brute force, exact thresholds, refusals as values, scans that respect δ."""

from fractions import Fraction
from itertools import islice

import pytest

from tacit.audit.exact import datasets, neighbours
from tacit.errors import InvalidInput
from tacit.guarantees import Approx
from tacit.mechanisms import InterquartileRange, Quantile, Release, propose_test_release
from tacit.mechanisms.local.propose_test_release import ProposedLaw, ScannedLaw, distances
from tacit.mechanisms.local.sensitivities import searched_sensitivities
from tacit.numbers.enclosures import exp
from tacit.randomness import seeded_not_private
from tests.support import agrees

DELTA = Fraction(1, 10**6)
CROWD = [40 + i % 21 for i in range(6000)]


def test_distance_is_to_the_nearest_dataset_of_larger_sensitivity() -> None:
    median, universe, bounds = Quantile(0, 7), (0, 3, 7), [Fraction(2), Fraction(3), Fraction(4), Fraction(7)]
    for x in datasets(universe, 4):
        found = distances(median, x, bounds, 4)
        local = [searched_sensitivities(median.value, x, universe, k).at_distance for k in range(4)]
        assert found == [next((k for k in range(4) if local[k] > b), 4) for b in bounds]


@pytest.mark.parametrize("statistic", [Quantile(0, 7), InterquartileRange(0, 7)], ids=lambda s: s.name)
def test_distances_have_sensitivity_one_and_are_zero_where_the_bound_fails(statistic: Quantile) -> None:
    bounds = [Fraction(b) for b in (1, 2, 4, 7)]
    data = datasets((0, 1, 3, 7), 5)
    found = {x: distances(statistic, x, bounds, 6) for x in data}
    for x, z in neighbours(data):
        for i, bound in enumerate(bounds):
            assert abs(found[x][i] - found[z][i]) <= 1
            if abs(statistic.value(x) - statistic.value(z)) > bound:
                assert found[x][i] == found[z][i] == 0


def test_the_threshold_is_the_least_that_keeps_delta() -> None:
    law = propose_test_release(Quantile(0, 100), CROWD, 1, DELTA, 1)
    assert isinstance(law, ProposedLaw)
    rate, t = Fraction(1, 2), law.threshold
    tails = [exp(-rate * k) / (1 + exp(-rate)) for k in (t, t - 1)]
    assert tails[0].high <= DELTA < tails[1].low
    assert law.guarantee == Approx(1, DELTA)


def test_a_refusal_is_a_value_and_so_is_a_release() -> None:
    wide = propose_test_release(Quantile(0, 100), [0, 50, 100], 1, DELTA, 1, lattice=1)
    assert wide.sample() is None
    assert float(wide.pmf(None)) > 1 - 1e-5
    dense = propose_test_release(Quantile(0, 100), CROWD, 1, DELTA, 1, lattice=1)
    released = dense.sample(source=seeded_not_private(1))
    assert released.value.bound == 1  # type: ignore[union-attr]
    assert float(dense.pmf(None)) < 1e-6
    assert dense.pmf(Release(Fraction(1, 2), Fraction(1))).high == 0
    assert dense.pmf(Release(Fraction(50), Fraction(3))).high == 0
    reach = dense._noise(0).reach(Fraction(1, 20))
    assert f"its noise is at most {reach}, with probability at least 9/10" in dense.accuracy("0.1").statement


def test_a_bound_is_rounded_up_to_the_lattice() -> None:
    assert propose_test_release(Quantile(0, 100), CROWD, 1, DELTA, "0.3", lattice="0.25").bounds == (Fraction(1, 2),)


def test_the_scan_finds_a_bound_by_itself_and_keeps_delta() -> None:
    law = propose_test_release(Quantile(0, 100), CROWD, 1, DELTA, lattice=1)
    assert isinstance(law, ScannedLaw)
    assert law.bounds == tuple(Fraction(2**i) for i in range(8))
    assert law._chance(0, 128).low >= Fraction(9, 10)  # no dataset near has a gap of more than 1
    assert law.pmf(None).high <= Fraction(1, 20)
    assert law.accuracy("0.1").window == law.room
    # whatever the data, the chance to stop at a bound that fails is at most δ in all
    for x in ([0, 100], [0] * 30 + [100] * 30, [0, 0, 0, 16, 100], []):
        narrow = propose_test_release(Quantile(0, 100), x, 1, "0.01", lattice=1)
        steps = next(islice(Quantile(0, 100).growth(x), 1))
        wrong = sum(narrow._chance(i, 128).high for i, b in enumerate(narrow.bounds) if b < steps)
        assert wrong <= Fraction(1, 100)


def test_the_scan_is_right_about_the_interquartile_range() -> None:
    """The median of 21 draws is off by 5 or more with probability below 1e-8."""
    law = propose_test_release(InterquartileRange(0, 100), CROWD, 4, DELTA, lattice=1)
    values = sorted(y.value for y in law.sample(21) if y is not None)
    assert abs(values[len(values) // 2] - 10) <= 4


def test_samplers_agree_with_their_laws() -> None:
    """False alarm 1e-7 each."""
    for bound in (1, None):
        law = propose_test_release(Quantile(0, 4), [1, 1, 1, 1, 4], 4, "0.1", bound, lattice=1)
        chances = {y: float(law.pmf(y)) for y in [*law.outcomes(), None]}
        assert agrees(law.sample(5000), chances)


def test_bad_input_is_refused() -> None:
    median = Quantile(0, 4)
    with pytest.raises(InvalidInput, match="delta must lie strictly"):
        propose_test_release(median, [1], 1, 0)
    with pytest.raises(InvalidInput, match="bound"):
        propose_test_release(median, [1], 1, DELTA, 0)
    with pytest.raises(InvalidInput, match="epsilon"):
        propose_test_release(median, [1], -1, DELTA)
