"""What a statistic says it runs is what its room draws, whatever the data, the options and the rows' persons are.

A budget that adds up tightly charges less than the cost by `Statistic.runs`. Were one draw in it of another kind, or of
a larger ε, or were one missing, the budget would be overspent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any

import pyarrow as pa
import pytest

import tacit
from tacit import Pure
from tacit.answers.certificates import read
from tacit.budgets import Budget, Question
from tacit.guarantees import Guarantee, RenyiCurve
from tacit.tables.statistics.base import Statistic
from tacit.tables.statistics.extremes import Extremum

COST = Fraction(2)
RANGED = ("exponential mechanism", "cut")
"""Laws whose log ratios on neighbours spread over an interval of length ε."""

NOBODY = {"who": [], "other": [], "v": [], "f": [], "g": []}
FEW = {"who": [1, 1, None], "other": [2, 1, 3], "v": [3, None, 7], "f": [0.5, None, 1e300], "g": ["x", "y", "x"]}
MANY = {
    "who": [n % 97 for n in range(400)],
    "other": [n % 89 for n in range(400)],
    "v": [n % 31 for n in range(400)],
    "f": [n / 7 for n in range(400)],
    "g": ["xyz"[n % 3] for n in range(400)],
}
TYPES = {"who": pa.int64(), "other": pa.int64(), "v": pa.int64(), "f": pa.float64(), "g": pa.string()}

Ask = Callable[..., Any]
SAID: Mapping[str, Ask] = {
    "median": lambda t, **c: t.median("v", **c),
    "median without an interval": lambda t, **c: t.median("v", interval=False, **c),
    "median of persons": lambda t, **c: t.median("f", per="person", **c),
    "lowest": lambda t, **c: t.quantile("v", 0, per="person", interval=False, **c),
    "one of a list": lambda t, **c: t.quantile("f", ["0.9"], **c),
    "several": lambda t, **c: t.quantile("v", [0, "0.5", "0.7", 1], **c),
    "several of persons": lambda t, **c: t.quantile("f", ["0.5", "0.7"], per="person", **c),
    "by group": lambda t, **c: t.group_by("g", ["x", "y", "w"]).median("v", **c),
    "by group, several of persons": lambda t, **c: t.group_by("g", ["x"]).quantile("f", [0, 1], per="person", **c),
    "filtered": lambda t, **c: t.filter("v > 2").median("v", **c),
    "maximum": lambda t, **c: t.max("v", method="exponential", **c),
    "third smallest": lambda t, **c: t.smallest("f", 3, method="exponential", **c),
}
SILENT: Mapping[str, Ask] = {
    "scanned maximum": lambda t, **c: t.max("v", **c),
    "maximum by permute-and-flip": lambda t, **c: t.max("v", method="permute_and_flip", **c),
    "median by permute-and-flip": lambda t, **c: t.median("v", method="permute_and_flip", **c),
    "median by smooth sensitivity": lambda t, **c: t.median("v", method="smooth", **c),
    "sum": lambda t, **c: t.sum("v", **c),
    "mean": lambda t, **c: t.mean("v", **c),
    "variance by group": lambda t, **c: t.group_by("g", ["x", "y"]).variance("v", **c),
    "mode": lambda t, **c: t.mode("g", ["x", "y"], **c),
}
"""Where one draw is of another kind, a statistic says nothing, or says so."""


def session(rows: dict[str, list[Any]], persons: list[str], **options: Any) -> Any:
    table = pa.table({name: pa.array(rows[name], kind) for name, kind in TYPES.items()})
    return tacit.read(table, person=persons, budget=Pure(1000), **options)


def told_and_drawn(ask: Ask, table: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[RenyiCurve | None, RenyiCurve]:
    """What the budget was told that a question runs, and what its room drew."""
    told: list[RenyiCurve | None] = []
    charge = Budget.charge

    def charging(self: Budget, cost: Guarantee, question: Question | None = None) -> Any:
        assert question is not None
        told.append(question.runs)
        return charge(self, cost, question)

    monkeypatch.setattr(Budget, "charge", charging)
    answer = ask(table, epsilon=COST)
    (runs,), (release,) = told, read(answer.releases)
    return runs, reduce(add, map(mechanism, release["draws"]))


def mechanism(draw: dict[str, Any]) -> RenyiCurve:
    """The curve of one draw, from the name of its law and its price."""
    price = Guarantee.parse(draw["price"])
    assert isinstance(price, Pure)
    law = draw["law"] or {"law": "unknown"}
    parts = [part["law"]["law"] for part in law["parts"]] if law["law"] == "shared weight" else [law["law"]]
    ranged = all(part in RANGED for part in parts)
    return (RenyiCurve.exponential if ranged else RenyiCurve.pure)(price.epsilon)


@pytest.mark.parametrize("rows", [NOBODY, FEW, MANY], ids=["nobody", "few", "many"])
@pytest.mark.parametrize("name", SAID)
def test_what_is_said_to_run_is_what_is_drawn(
    name: str, rows: dict[str, list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    told, drawn = told_and_drawn(SAID[name], session(rows, ["who"]), monkeypatch)
    assert told is not None
    assert sorted(map(repr, told.parts)) == sorted(map(repr, drawn.parts))
    assert told.pure_epsilon is not None
    assert told.pure_epsilon <= COST


@pytest.mark.parametrize("name", ["maximum", "third smallest"])
def test_rows_of_several_persons_change_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told, drawn = told_and_drawn(SAID[name], session(MANY, ["who", "other"]), monkeypatch)
    assert told is not None
    assert sorted(map(repr, told.parts)) == sorted(map(repr, drawn.parts))


@pytest.mark.parametrize("name", SILENT)
def test_draws_of_other_kinds_are_not_told_as_choices(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told, _ = told_and_drawn(SILENT[name], session(FEW, ["who"]), monkeypatch)
    assert told is None


def test_whatever_says_what_it_runs_is_asked_here() -> None:
    def further(kind: type) -> set[type]:
        return {kind}.union(*map(further, kind.__subclasses__()))

    told = {kind for kind in further(Statistic) if {"ranges", "scans", "runs"} & vars(kind).keys()} - {Statistic}
    assert {kind.__name__ for kind in told if kind.__module__.startswith("tacit.")} == {
        "Extremum", "Quantiles", "GroupedQuantiles",
    }  # fmt: skip


def test_a_sample_is_charged_as_one_mechanism(monkeypatch: pytest.MonkeyPatch) -> None:
    told, _ = told_and_drawn(SAID["median"], session(MANY, ["who"], sample="0.25"), monkeypatch)
    assert told is None


def test_a_statistic_that_says_too_much_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken twin: a scan that is told as a choice."""
    monkeypatch.setattr(Extremum, "ranges", (Fraction(1),))
    told, drawn = told_and_drawn(SILENT["scanned maximum"], session(FEW, ["who"]), monkeypatch)
    assert told is not None
    assert sorted(map(repr, told.parts)) != sorted(map(repr, drawn.parts))
