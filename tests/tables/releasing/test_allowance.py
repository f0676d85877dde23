"""How a cost becomes steps: by their own curves for ρ, and for ε with δ by whichever way is better."""

import importlib
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tacit import Approx, InvalidInput, Private, Pure, Session, Zcdp
from tacit.audit.statistics import captured
from tacit.guarantees import Guarantee
from tacit.mechanisms.law import Law
from tacit.noises import DiscreteGaussian, DiscreteLaplace
from tacit.numbers.enclosures import Enclosure
from tacit.randomness import seeded_not_private
from tacit.tables.releasing.room import Allowance, Room
from tacit.tables.statistics.ways.totals import CAPS, FALL, SCAN_SHARE

DELTA = Approx(1, "1e-6")


def session(budget: Guarantee, groups: int = 2, everywhere: bool = False, persons: int = 60) -> Session:
    rows = groups if everywhere else 1
    person = np.repeat(np.arange(persons), rows)
    group = np.tile(np.arange(groups), persons) if everywhere else np.arange(persons) % groups
    columns: Any = {"who": person, "v": np.arange(len(person)) * 37 % 101, "g": group}
    return Session({"t": Private(pa.table(columns), person="who")}, budget)


class Keeping(Room):
    """A room that keeps what it drew from."""

    laws: list[Law[Any]]

    def draw(self, law: Law[Any], part: str = "") -> Any:
        """As any room."""
        self.laws.append(law)
        return super().draw(law, part)


def drawn(opened: Session, ask: Any, cost: Guarantee) -> tuple[list[Law[Any]], Room, Any]:
    """The laws that a statistic draws from at a cost, the room, and the statistic."""
    relation, statistic, _ = captured(opened, lambda: ask(opened["t"]))
    with opened._tables.engine.snapshot() as snapshot:
        room = Keeping(opened._tables.engine, snapshot, relation, seeded_not_private(2), cost, "anybody")
        room.laws = []
        statistic.release(room)
    return room.laws, room, statistic


@pytest.mark.parametrize("many", [1, 5, 19, 20, 21, 100, 10**4])
def test_of_epsilon_with_delta_the_better_way_is_taken(many: int) -> None:
    rho = Zcdp.within(DELTA).rho
    noises, choices = Allowance.of(DELTA, noises=many), Allowance.of(DELTA, choices=many)
    assert noises.concentrated == (many / (2 * rho) <= Fraction(1, 2) * 2 * many**2)  # half of the variance
    assert choices.concentrated == (many > 1 and 8 * rho / many > Fraction(1, many**2))
    for found in (noises, choices):
        assert found.guarantee == (Zcdp(rho) if found.concentrated else Pure(1))


def test_what_a_share_of_rho_buys() -> None:
    share = Allowance.of(Zcdp("0.5")).share(Fraction(1, 4))
    assert share.choosing == 1  # ε²/8
    assert share.epsilon < Fraction(6, 10)  # ε·tanh(ε/2)
    assert share.keywords == {"rho": Fraction(1, 8)}
    assert Allowance.of(Pure(2)).keywords == {"epsilon": 2}


@pytest.mark.parametrize("epsilon", ["0.1", 1, 3])
def test_a_median_is_charged_by_its_curve(epsilon: Any) -> None:
    table = session(Zcdp(10))["t"]
    asked: Any = {"per": "person", "interval": False}
    first = table.median("v", epsilon=epsilon, **asked)
    paid = Zcdp(Pure(epsilon).epsilon ** 2 / 8)
    assert table.budget.spent == paid
    assert first.guarantee == Pure(epsilon)
    assert table.median("v", epsilon=epsilon, **asked).value == first.value  # the same again is free
    assert table.budget.spent == paid
    table.median("v", rho=paid.rho, **asked)  # another question, although it costs the same
    assert table.budget.spent == Zcdp(2 * paid.rho)


def test_elsewhere_a_pure_cost_is_charged_as_it_was() -> None:
    pure, concentrated = session(Pure(10))["t"], session(Zcdp(10))["t"]
    pure.median("v", epsilon=1)
    assert pure.budget.spent == Pure(1)
    concentrated.max("v", epsilon=1)  # a scan has no bounded range
    assert concentrated.budget.spent == Pure(1).to(Zcdp)


RANGED = {
    "median": lambda t: t.median("v", interval=False, epsilon=1),
    "median per person": lambda t: t.median("v", per="person", interval=False, epsilon=1),
    "quantiles": lambda t: t.quantile("v", ["0.2", "0.5", "0.7"], epsilon=1),
    "quantiles per person": lambda t: t.quantile("v", ["0.2", "0.5"], per="person", epsilon=1),
    "medians by group": lambda t: t.group_by("g", keys=[0, 1]).median("v", epsilon=1),
    "maximum": lambda t: t.max("v", method="exponential", epsilon=1),
}


@pytest.mark.parametrize("name", RANGED)
def test_what_is_charged_by_a_curve_draws_from_bounded_ranges_alone(name: str) -> None:
    laws, _, statistic = drawn(session(Pure(10)), RANGED[name], Pure(1))
    assert tuple(law.guarantee.epsilon for law in laws) == statistic.ranges  # type: ignore[attr-defined]
    assert sum(statistic.ranges) == 1
    assert all(law.concentrated_loss(law) == Enclosure.of(0) for law in laws)
    other = drawn(session(Pure(10)), lambda t: t.median("v", method="permute_and_flip", epsilon=1), Pure(1))
    assert other[2].ranges == ()
    assert other[0][-1].concentrated_loss(other[0][-1]) is None


def test_a_binary_search_for_rho_looks_with_gaussian_noise() -> None:
    opened = session(Zcdp(10))
    for cost, noise in ((Zcdp("0.1"), DiscreteGaussian), (Pure(1), DiscreteLaplace)):
        (law,), room, _ = drawn(opened, lambda t: t.max("v", method="binary_search", epsilon=1), cost)
        assert isinstance(law._inner.noise, noise)  # type: ignore[attr-defined]
        assert room.spent == cost
    with pytest.raises(InvalidInput, match="needs rho"):
        opened["t"].max("v", method="bayesian_search", epsilon=1)
    found = opened["t"].max("v", method="bayesian_search", rho="0.5")
    assert float(found) <= 100
    assert "bayesian_search" in found.mechanism


def test_groups_take_gaussian_noise_where_persons_are_in_many() -> None:
    opened = session(Pure(10), 25, everywhere=True, persons=3000)
    ask = lambda t: t.group_by("g", keys=range(25)).count(epsilon=1)  # noqa: E731
    laws, room, _ = drawn(opened, ask, DELTA)
    assert len(laws) == 4  # a rough cap, a cap, which noise, and the noise
    assert isinstance(laws[-1].noise, DiscreteGaussian)  # type: ignore[attr-defined]
    assert room.spent == Zcdp.within(DELTA)
    rho = laws[-1].guarantee.rho  # type: ignore[attr-defined]
    caps = [DiscreteGaussian.for_zcdp(rho, cap * 2**12) for cap in (5, 6, 8, 10)]  # √25, or little more
    assert laws[-1].noise in caps  # type: ignore[attr-defined]
    laws, _, _ = drawn(opened, ask, Pure(1))
    assert len(laws) == 3


def test_groups_of_persons_in_one_are_answered_as_without_delta() -> None:
    opened = session(Pure(10), 25, persons=3000)
    ask = lambda t: t.group_by("g", keys=range(25)).count(epsilon=1)  # noqa: E731
    for first, second in zip(drawn(opened, ask, DELTA)[0], drawn(opened, ask, Pure(1))[0], strict=True):
        assert first.key() == second.key()


@pytest.mark.parametrize(("k", "concentrated"), [(1, False), (7, False), (8, True), (10, True)])
def test_many_choices_of_candidates_are_made_for_rho(k: int, concentrated: bool) -> None:
    opened = session(Pure(10), 12)
    laws, room, _ = drawn(opened, lambda t: t.top("g", range(12), k, epsilon=1), DELTA)
    assert room.spent == (Zcdp.within(DELTA) if concentrated else Pure(1))
    assert len(laws) == k + 1


def test_ten_groups_are_answered_as_without_delta() -> None:
    opened = session(Pure(10), 10, everywhere=True)
    ask = lambda t: t.group_by("g", keys=range(10)).count(epsilon=1)  # noqa: E731
    for first, second in zip(drawn(opened, ask, DELTA)[0], drawn(opened, ask, Pure(1))[0], strict=True):
        assert first.key() == second.key()


def together(rho: float, place: int) -> float:
    """What cap and Gaussian value lose together, over ρ: the worst data, both directions and all orders.

    A person of the total CAPS[place] makes every lower cap e^-κ times as likely, and shifts the value by all of a cap
    up to their own total, by less of a higher one. Fewer persons lie above a higher cap, so its weight is at least the
    prior's fall times that of the one before, and the worst data have no more than that: what is left open is the mass
    of the lower caps.
    """
    share, fall = float(SCAN_SHARE), float(FALL.ratio)
    kappa, caps = np.sqrt(8 * rho * share), np.array(CAPS[place : place + 20], dtype=float)
    higher = fall ** np.arange(len(caps)) / (fall ** np.arange(len(caps))).sum()
    lost = rho * (1 - share) * np.concatenate([[1], (caps[0] / caps) ** 2])
    orders = 1 + np.geomspace(1e-3, 1e3, 61)[:, None]
    worst = 0.0
    for mass in np.linspace(0.02, 0.98, 49):
        before = np.concatenate([[mass], (1 - mass) * higher])
        after = before * np.concatenate([[np.exp(-kappa)], np.ones(len(caps))])
        p, q = np.log(before), np.log(after / after.sum())
        for one, other in ((p, q), (q, p)):
            moments = np.logaddexp.reduce(orders * one + (1 - orders) * other + orders * (orders - 1) * lost, axis=1)
            worst = max(worst, float(np.max(moments / (orders * (orders - 1))[:, 0])))
    return worst / rho


@pytest.mark.parametrize("place", [0, 6, 60])
@pytest.mark.parametrize("rho", [0.001, 0.02, 0.5])
def test_cap_and_gaussian_value_cost_what_both_cost_apart(rho: float, place: int) -> None:
    assert 0.95 < together(rho, place) < 0.98  # a joint charge would save a twentieth of ρ at most


def test_the_page_of_costs_is_made_of_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3] / "docs" / "hooks"))
    made = importlib.import_module("costs")
    assert made.PAGE.read_text(encoding="utf-8") == made.page(), "run python docs/hooks/costs.py"
