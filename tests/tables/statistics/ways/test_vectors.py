"""Groups for ε with δ: the choice between Laplace and Gaussian noise, draw by draw and as a whole, exactly.

The whole law of a release is listed: every cap, every choice, every pair of noisy counts. So what is compared with δ is
the release itself, outcomes with Laplace noise and outcomes with Gaussian noise together, and no theorem in between.
"""

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import exp
from typing import Any

import numpy as np
import pytest

from tacit.audit.exact import neighbours
from tacit.audit.statistics import StatisticCheck, captured
from tacit.engines.requests import GroupTotals
from tacit.guarantees import Approx, Pure, Zcdp
from tacit.mechanisms.grid_law import GridLaw
from tacit.mechanisms.noise.noise import NoiseVector, gaussian_vector
from tacit.noises import DiscreteGaussian
from tacit.tables import Table
from tacit.tables.releasing.room import Allowance, Room
from tacit.tables.statistics.ways import vectors
from tacit.tables.statistics.ways.caps import levels
from tacit.tables.statistics.ways.vectors import NoiseChoice

COST = Approx(2, "0.05")
REACH = 60
X, BOTH = ({"g": "x"},), ({"g": "x"}, {"g": "y"})


@pytest.fixture(scope="module")
def small() -> StatisticCheck:
    """Up to two persons, of one group or of both: 6 datasets."""
    return StatisticCheck((X, BOTH), 2, {"g": "text"})


@pytest.fixture
def willing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two groups are enough for Gaussian noise; of each choice the first and the last outcome are followed."""
    monkeypatch.setattr(vectors, "GAIN", Fraction(1, 4))
    monkeypatch.setattr(vectors, "TEST", Fraction(1, 8))
    monkeypatch.setattr(vectors, "LIKELY", 2)
    monkeypatch.setattr(vectors, "FINE", 3)
    monkeypatch.setattr(GridLaw, "outcomes_to_follow", lambda law: [list(law.outcomes())[i] for i in (0, -1)])


def persons(table: Table) -> Any:
    return table.group_by("g", ["x", "y"]).persons(epsilon=COST.epsilon, delta=COST.delta)


def means(table: Table) -> Any:
    return table.group_by("g", ["x", "y"]).mean("1 + 0", epsilon=8, delta="0.2")


# ---- draw by draw ------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("willing")
@pytest.mark.parametrize(("ask", "paths"), [(persons, 4), (means, 2)])
def test_every_draw_keeps_its_promise_with_either_noise(
    ask: Callable[[Table], Any], paths: int, small: StatisticCheck
) -> None:
    report = small.check(ask, paths=paths)
    assert report.holds, [stage for stage in report.stages if not stage.verification.holds]
    assert {type(spent) for spent in report.spent} == {Pure, Zcdp}  # both ways were gone


def forgets(room: Room) -> Allowance:
    """All of ρ for the noise, as if nothing had been drawn."""
    room.allowance = Allowance(room.rho, concentrated=True)
    return room.allowance


def doubled(choice: NoiseChoice, above: Any, law: Any = NoiseChoice.law) -> Any:
    """A choice that each person above a cap moves by two."""
    return law(choice, [2 * count for count in above])


def each_capped(entry: Any, by: Any, keys: Any, norm: Any, cap: int, fine: int) -> GroupTotals:
    """Every group is capped by itself, so a person moves the vector by √2 caps."""
    return GroupTotals(entry, by, keys, "max" if norm == "l2" else norm, cap, fine)


TWINS: dict[str, tuple[Any, str, Any]] = {
    "earlier draws forgotten": (Room, "turn", forgets),
    "choice by doubled counts": (NoiseChoice, "law", doubled),
    "groups capped one by one": (vectors, "GroupTotals", each_capped),
}


@pytest.mark.usefixtures("willing")
@pytest.mark.parametrize("name", TWINS)
def test_broken_twin_is_caught(name: str, small: StatisticCheck, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*TWINS[name])
    assert small.check(persons, paths=4).broken


# ---- as a whole --------------------------------------------------------------------------------------------------


def masses(law: NoiseVector) -> Any:
    """The probabilities of pairs of noisy numbers up to `REACH`, and what is left as one more outcome."""
    parts = [np.array([float(part.pmf(y)) for y in range(-REACH, REACH + 1)]) for part in law._parts]
    table = np.multiply.outer(*parts).ravel()
    return np.append(table, max(0.0, 1 - table.sum()))


def whole(check: StatisticCheck, x: Any) -> dict[Any, Any]:
    """The law of a whole release on a dataset: for all that is drawn before the noise, the masses of the noise."""
    question = captured(check.session, lambda: persons(check.table(x)))
    found: dict[Any, Any] = {}
    waiting: list[tuple[tuple[Any, ...], float]] = [((), 1.0)]
    while waiting:
        earlier, chance = waiting.pop()
        law, _, _ = check._law(*question, earlier)
        assert law is not None
        if isinstance(law, NoiseVector):
            found[(*earlier, type(law.noise))] = chance * masses(law)
        else:
            waiting += [((*earlier, y), chance * float(law.pmf(y))) for y in law.outcomes()]
    return found


def measured(check: StatisticCheck) -> float:
    """The largest δ that ε leaves, over all neighbours."""
    laws = {x: whole(check, x) for x in check.datasets}
    worst = 0.0
    for pair in neighbours(check.datasets):
        for p, q in (pair, pair[::-1]):
            assert laws[p].keys() == laws[q].keys()
            gaps = (np.maximum(0, laws[p][k] - exp(COST.epsilon) * laws[q][k]).sum() for k in laws[p])
            worst = max(worst, float(sum(gaps)))
    return worst


@pytest.mark.usefixtures("willing")
def test_the_whole_release_is_within_epsilon_and_delta(small: StatisticCheck) -> None:
    assert any(path[-1] is DiscreteGaussian for path in whole(small, small.datasets[-1]))
    assert 0.01 * float(COST.delta) < measured(small) <= float(COST.delta)


@pytest.mark.usefixtures("willing")
def test_a_release_with_too_little_gaussian_noise_is_not(
    small: StatisticCheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = Room.turn
    monkeypatch.setattr(Room, "turn", lambda room: turn(room).share(Fraction(6)))
    assert measured(small) > float(COST.delta)


# ---- several Gaussians in one vector -----------------------------------------------------------------------------

VECTOR = Approx(1, "0.02")
CAP = 5


def delta_of(moves: tuple[int, ...]) -> float:
    """The δ that ε leaves where a person moves the parts of a noisy vector so far."""
    laws = [gaussian_vector(at, Zcdp.within(VECTOR).rho, CAP) for at in ((0,) * len(moves), moves)]
    p, q = map(masses, laws)
    return max(float(np.maximum(0, a - exp(VECTOR.epsilon) * b).sum()) for a, b in ((p, q), (q, p)))


def test_rho_of_a_vector_stays_within_epsilon_and_delta_for_its_norm() -> None:
    within = [m for m in product(range(CAP + 1), repeat=2) if 0 < m[0] ** 2 + m[1] ** 2 <= CAP**2]
    found = {moves: delta_of(moves) for moves in within}
    assert max(found.values()) <= float(VECTOR.delta)
    assert found[3, 4] == pytest.approx(found[0, CAP], rel=0.01)  # of equal norm
    assert min(delta_of((CAP, CAP)), delta_of((4, 5))) > float(VECTOR.delta)  # capped one by one


# ---- the rule ----------------------------------------------------------------------------------------------------


class Costing:
    """As much of a room as the rule asks for."""

    delta, rho, allowance = Fraction(1, 10**6), Zcdp.within(Approx(1, "1e-6")).rho, Allowance(Fraction(1), False)


@pytest.mark.parametrize(("groups", "count", "asked"), [(10, 1, False), (25, 1, True), (10, 2, False), (12, 2, True)])
def test_public_facts_decide_whether_the_data_are_asked(groups: int, count: int, asked: bool) -> None:
    found = NoiseChoice.of(Costing(), count, groups, groups)  # type: ignore[arg-type]
    assert (found is not None) == asked


def test_caps_of_gaussian_noise_make_it_smaller_and_can_be_reached() -> None:
    choice, steps = NoiseChoice.of(Costing(), 1, 25, 25), levels(10**6, 5)  # type: ignore[arg-type]
    assert choice is not None
    assert [steps[i] for i in choice.candidates(steps, 27)] == [5]
    for cap in steps[:3]:
        assert not choice.candidates(steps, cap)  # whoever is in few groups is answered as without δ
    for cap in steps:
        for place in choice.candidates(steps, cap):
            assert vectors.GAIN * steps[place] * choice.rest <= 2 * cap * float(choice.rho) ** 0.5
            assert 25 * steps[place] ** 2 > steps[steps.index(cap) - 1] ** 2
