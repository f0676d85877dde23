"""Many releases of one statistic of Tacit from one reading of the data: its own code, the engine's replies kept.

Every release runs the statistic as a table would, in a room with fresh randomness; only what the engine answers to a
request is remembered, and laws of capped sums, maxima and quantiles that are the same again are not built again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pyarrow as pa
from field import GROUPS, QUARTILES, Field

from tacit import Private, Pure, Session
from tacit.answers import Answers
from tacit.grids import Grid
from tacit.tables.releasing.room import Room
from tacit.tables.statistics import extremes, quantiles
from tacit.tables.statistics.base import Statistic
from tacit.tables.statistics.distinct import DistinctValues
from tacit.tables.statistics.ways import totals

BUDGET = Pure(10**9)


class Remembering:
    """An engine and its snapshot in one, which asks every request once."""

    def __init__(self, engine: Any) -> None:
        self._engine, self._kept = engine, {}  # type: ignore[var-annotated]

    def snapshot(self) -> Remembering:
        return self

    def __enter__(self) -> Remembering:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to close."""

    def ask(self, relation: Any, requests: Any) -> Any:
        return self._once("ask", relation, requests)

    def touches(self, relation: Any, request: Any) -> Any:
        return self._once("touches", relation, request)

    def weigh(self, relation: Any, request: Any) -> Any:
        return self._once("weigh", relation, request)

    def _once(self, name: str, *asked: Any) -> Any:
        if (name, asked) not in self._kept:
            with self._engine.snapshot() as snapshot:
                self._kept[name, asked] = getattr(snapshot, name)(*asked)
        return self._kept[name, asked]


class Draws:
    """Tacit over one data set."""

    def __init__(self, data: Field) -> None:
        values: Any = {"person": range(data.persons), "value": data.value, "grp": data.group}
        rows: Any = {"person": data.person, "product": data.product}
        tables = {"v": Private(pa.table(values), person="person"), "r": Private(pa.table(rows), person="person")}
        self._session = Session(tables, BUDGET)
        self._engine = Remembering(self._session._tables.engine)
        self._questions = self._planned()
        extremes.extreme_law = once(_PLAIN[0], lambda *asked: asked)
        quantiles.quantile_law = once(_PLAIN[1], lambda ranks, *rest: rest)  # ranks follow from the rest
        _CAPPED.scan_and_release = once(_PLAIN[2], lambda counts, sums, epsilon: (tuple(counts), tuple(sums), epsilon))
        Grid.nearest = cache(_PLAIN[3])  # type: ignore[method-assign]

    def _planned(self) -> dict[str, tuple[Any, Statistic]]:
        """What a table would ask for each statistic, caught before it is asked."""
        found: list[tuple[Any, Statistic]] = []

        def note(relation: Any, statistic: Statistic, cost: Any, **_: Any) -> Answers:
            found.append((relation, statistic))
            return Answers({}, cost)

        object.__setattr__(self._session._releaser, "ask", note)
        values, rows = self._session["v"], self._session["r"]
        questions: dict[str, Callable[[], Any]] = {
            "sum": lambda: values.sum("value", epsilon=1),
            "mean": lambda: values.mean("value", epsilon=1),
            "count": lambda: rows.count(epsilon=1),
            "max": lambda: values.max("value", epsilon=1),
            "quantiles": lambda: values.quantile("value", QUARTILES, epsilon=1),
            "distinct": lambda: rows.nunique("product", epsilon=1),
            "group by": lambda: values.group_by("grp", keys=range(GROUPS)).sum("value", epsilon=1),
        }
        for ask in questions.values():
            ask()
        return dict(zip(questions, found, strict=True))

    def answers(self, statistic: str, epsilon: str, runs: int) -> list[Any]:
        """Released values."""
        relation, asked = self._questions[statistic]
        if isinstance(asked, DistinctValues):
            room = self._room(relation, epsilon, Keeping)
            asked.release(room)
            (law,) = room.laws
            return [drawn.value for drawn in law.sample(runs)]
        return [self._released(relation, asked, epsilon) for _ in range(runs)]

    def _room(self, relation: Any, epsilon: str, kind: Any = Room) -> Any:
        engine = self._engine
        return kind(engine, engine, relation, self._session._releaser.randomness, Pure(epsilon), "any one person")

    def _released(self, relation: Any, asked: Statistic, epsilon: str) -> Any:
        answer: Any = asked.release(self._room(relation, epsilon))
        values = [None if one.value is None else float(one.value) for one in _several(answer)]
        return values if isinstance(answer, Answers) else values[0]


class Keeping(Room):
    """A room that keeps the laws drawn from: the law of a distinct count takes long, a draw from it does not."""

    laws: tuple[Any, ...] = ()

    def draw(self, law: Any, part: str = "") -> Any:
        """As any room."""
        self.laws += (law,)
        return super().draw(law, part)


def once(made: Callable[..., Any], key: Callable[..., Any]) -> Any:
    """The function, which makes what has the same key once."""
    kept: dict[Any, Any] = {}

    def remembered(*asked: Any, **named: Any) -> Any:
        name = key(*asked), tuple(named.items())
        if name not in kept:
            kept[name] = made(*asked, **named)
        return kept[name]

    return remembered


def _several(answer: Any) -> list[Any]:
    return list(answer.values()) if isinstance(answer, Answers) else [answer]


_CAPPED: Any = totals  # which imports what is replaced
_PLAIN: Any = extremes.extreme_law, quantiles.quantile_law, _CAPPED.scan_and_release, Grid.nearest
