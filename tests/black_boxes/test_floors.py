"""The wrapper's public numbers, and its accuracy: the chance of the promised range, computed exactly."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from tacit.audit.cases.black_boxes import values
from tacit.black_boxes.floors import SHARES, Design, _designed, design, most
from tacit.black_boxes.lattice import Lattice
from tacit.black_boxes.values import cut_grid, place
from tacit.errors import InvalidInput
from tacit.grids import integers, multiples
from tacit.guarantees import Approx, Pure
from tests.black_boxes import functions

BETA = Fraction(1, 20)
TENTHS = cut_grid(multiples("0.1", 0, 10))
COSTS: list[Pure | Approx] = [Pure(12), Approx(12, "1e-4")]


@pytest.mark.parametrize("cost", [Pure(1), Approx(1, "1e-6")])
@pytest.mark.parametrize("method", ["scan", "exponential", "interior_point"])
def test_the_parts_add_up_to_the_cost(cost: Pure | Approx, method: str) -> None:
    if method == "interior_point" and isinstance(cost, Pure):
        with pytest.raises(InvalidInput):
            design(TENTHS, cost, method, BETA)
        return
    found = design(TENTHS, cost, method, BETA)
    parts = found.noisy(5).guarantee, found.select([3, 1]).guarantee
    assert found.guarantee == cost == parts[0] + parts[1]


@pytest.mark.parametrize("cost", [Pure(1), Approx(1, "1e-6")])
@pytest.mark.parametrize("method", ["scan", "exponential", "interior_point"])
def test_a_public_number_costs_nothing_and_a_person_counts_twice(cost: Pure | Approx, method: str) -> None:
    if method == "interior_point" and isinstance(cost, Pure):
        return
    found = design(TENTHS, cost, method, BETA, public=True)
    law = found.select([3, 1])
    assert law.guarantee == found.guarantee
    assert found.epsilon == Fraction(1, 2)
    assert found.missing == found.margin
    match found.guarantee:
        case Pure(epsilon):
            assert epsilon == 1
        case Approx(epsilon, delta):
            assert epsilon == 1
            assert Fraction(99, 100) * Fraction(1, 10**6) < delta <= Fraction(1, 10**6)


@pytest.mark.parametrize("epsilon", ["1", "1e-12"])
def test_evaluations_are_counted_by_more_than_the_noise_reaches(epsilon: str) -> None:
    found = design(TENTHS, Pure(epsilon), "scan", BETA)
    reach = most(found, -5)
    assert most(found, 7) == reach + 7
    assert found.noisy(0).reach(Fraction(1, 10**6)) == reach


def test_the_share_has_the_smallest_range() -> None:
    found = design(TENTHS, Pure(1), "exponential", BETA)
    each = [_designed(TENTHS, Pure(1), "exponential", BETA, share) for share in SHARES]
    assert found.missing == min(other.missing for other in each)
    assert found == next(other for other in each if other.missing == found.missing)


@pytest.mark.parametrize("method", ["bayesian_search", "guess"])
def test_methods_without_a_proved_window_are_refused(method: str) -> None:
    with pytest.raises(InvalidInput):
        design(TENTHS, Pure(1), method, BETA)


def malicious(clinics: list[float]) -> float:
    """High, low or no number at all, by who is there."""
    if 4.5 in clinics and 5.25 not in clinics:
        return 10
    if len(clinics) % 3 == 0:
        raise ValueError
    return sum(clinics) % 7


CLINICS = [4.5, 5.25, 3.0, 6.5, 4.75, 5.0, 9.5, 4.25, 5.5]
PATIENTS = [(0.1, 1.2), (0.5, 2.1), (0.9, 2.7), (1.2, 3.6), (1.4, 3.6), (2.0, 5.2), (2.2, 5.1), (3.0, 7.3), (9.0, 0.2)]


@pytest.mark.parametrize("cost", COSTS, ids=repr)
@pytest.mark.parametrize(
    ("function", "records"),
    [
        (functions.mean, CLINICS),
        (functions.trimmed_mean, CLINICS),
        (functions.slope, PATIENTS),
        (malicious, CLINICS),
    ],
)
def test_the_promised_range(function: Callable[..., Any], records: list[Any], cost: Pure | Approx) -> None:
    """The value lies between the ends of f over groups that miss at most λ persons with probability 1 − β or more."""
    found = design(TENTHS, cost, "scan", BETA)
    assert found.missing < len(records)
    lattice = Lattice(len(records), len(records))
    layers = values(lambda s: _place(function, list(s)), tuple(records), lattice)
    near = [int(v) for layer in layers[: found.missing + 1] for v in layer]
    assert _inside(found, len(records), layers, min(near), max(near)) >= 1 - BETA


_PLACES: dict[Any, int] = {}


def _place(function: Callable[..., Any], records: list[Any]) -> int:
    key = (function, tuple(records))
    if key not in _PLACES:
        try:
            _PLACES[key] = place(TENTHS, function(records))
        except Exception:
            _PLACES[key] = 0
    return _PLACES[key]


def _inside(found: Design, persons: int, layers: list[Any], low: int, high: int) -> Fraction:
    """P[low ≤ value ≤ high], rounded down."""
    noisy, chance = found.noisy(persons), Fraction(0)
    for number in noisy.outcomes():
        floor = found.floor(number)
        kept = [] if floor > persons else Lattice(persons, persons - floor).profile(layers[: persons - floor + 1])
        law = found.select(kept)
        first = TENTHS.first
        assert first is not None
        below = law.cdf(TENTHS.value(first + low - 1)).high if low else Fraction(0)
        chance += noisy.pmf(number).low * (law.cdf(TENTHS.value(first + high)).low - below)
    return chance


def test_a_grid_of_one_point() -> None:
    found = design(cut_grid(integers(7, 7)), Pure(1), "scan", BETA)
    assert found.select([0, 0]).sample() == found.select([]).sample() == 7
