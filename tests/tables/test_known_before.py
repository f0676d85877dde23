"""What public facts show to be impossible is refused before the charge: every statistic of every kind of column."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from tacit import Answer, Answers, Approx, InvalidInput, Private, Session, Table, UnsupportedQuery
from tests.tables.support import refused

ROWS = 60
COST: Any = {"epsilon": 20, "delta": "1e-6"}
"""So large that found groups are found: what fails only where there is something to show must fail here too."""


def column(of: Callable[[int], Any], kind: pa.DataType | None = None) -> Any:
    return pa.array([of(i) for i in range(ROWS)], kind)


COLUMNS = {
    "integer": column(lambda i: i % 3),
    "boolean": column(lambda i: i % 3 == 0),
    "timestamp": column(lambda i: datetime(2020, 1, 1 + i % 3), pa.timestamp("us")),
    "text": column(lambda i: "xyz"[i % 3]),
    "list": column(lambda i: [i % 3]),
    "blob": column(lambda i: bytes([i % 3]), pa.binary()),
    "time": column(lambda i: time(i % 3)),
    "fine": column(lambda i: Decimal(i % 3), pa.decimal128(38, 20)),
}
"""Columns that are numbers, that are only ordered, or neither, and several that cannot be read."""
UNREADABLE = ("list", "blob", "time", "fine")

DATA = pa.table({"who": column(lambda i: i), "whom": column(lambda i: (i + 1) % ROWS), **COLUMNS})
RELATIONS = {"one person": "who", "several persons": ["who", "whom"], "persons that cannot be read": "blob"}


def questions(t: Table, name: str) -> Iterator[tuple[str, Callable[[], Answer | Answers]]]:
    """Every statistic of one column."""
    for per in ("row", "person"):
        for ask in ("count", "sum", "mean", "variance", "std", "min", "max", "median", "modal_count", "mode"):
            yield f"{ask} per {per}", lambda ask=ask, per=per: getattr(t, ask)(name, per=per, **COST)  # type: ignore[misc]
        yield f"second largest per {per}", lambda per=per: t.largest(name, 2, per=per, **COST)  # type: ignore[misc]
        yield f"bins per {per}", lambda per=per: t.histogram(name, [0, 1, 2], per=per, **COST)  # type: ignore[misc]
        yield f"mode of NULL per {per}", lambda per=per: t.mode(name, [None], per=per, **COST)  # type: ignore[misc]
        yield f"by NULL per {per}", lambda per=per: t.group_by(name, [None]).count(per=per, **COST)  # type: ignore[misc]
        yield f"by found per {per}", lambda per=per: t.group_by(name).count(per=per, **COST)  # type: ignore[misc]
    yield "smooth median", lambda: t.median(name, method="smooth", **COST)
    yield "nunique", lambda: t.nunique(name, **COST)
    yield "ratio", lambda: t.ratio(name, **COST)
    yield "sum by found", lambda: t.group_by(name).sum("integer", **COST)
    yield "by found and text", lambda: t.group_by([name, "text"]).persons(**COST)
    yield "sum of it by found", lambda: t.group_by("text").sum(name, **COST)
    for sql in ("COUNT({})", "COUNT(DISTINCT {})", "SUM({})", "AVG({})", "MAX({})", "MEDIAN({})", "STDDEV({})"):
        query = f"SELECT {sql.format(name)} FROM t"
        yield query, lambda query=query: t.sql(query, **COST)  # type: ignore[misc]
    yield "SQL by it", lambda: t.sql(f"SELECT {name}, COUNT(*) FROM t GROUP BY {name}", **COST)


@pytest.mark.parametrize("relation", RELATIONS)
def test_nothing_fails_after_the_charge_for_a_reason_known_before(relation: str) -> None:
    """No question here touches odd data, so whatever is charged must be answered."""
    answered, columns = set(), ["boolean", "text", *UNREADABLE] if relation == "one person" else ["text", "blob"]
    with Session({"t": Private(DATA, person=RELATIONS[relation])}, budget=Approx(10**6, "0.5")) as session:
        for name in columns:
            for words, ask in questions(session["t"], name):
                before = session.budget.spent
                try:
                    ask()
                    answered.add(name)
                except (InvalidInput, UnsupportedQuery):
                    assert session.budget.spent == before, (name, words)
    assert answered == set(columns)  # each can at least be counted


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Session(
        {"t": Private(DATA, person="who"), "u": Private(DATA, person="who")}, budget=Approx(10**6, "0.5")
    ) as opened:
        yield opened


@pytest.mark.parametrize("name", UNREADABLE)
def test_values_that_cannot_be_read_are_not_told_apart(session: Session, name: str) -> None:
    t, read = session["t"], "a type that Tacit (reads|does not read); (name|use) (an)?other column"
    for ask in (
        lambda: t.nunique(name, **COST),
        lambda: t.modal_count(name, **COST),
        lambda: t.group_by(name, [None]).count(**COST),
        lambda: t.group_by(name).persons(**COST),
        lambda: t.mode(name, [None], **COST),
        lambda: session.sql(f"SELECT COUNT(DISTINCT {name}) FROM t", **COST),
        lambda: session.sql(f"SELECT {name}, COUNT(*) FROM t GROUP BY {name}", **COST),
        lambda: session.cost(f"SELECT COUNT(DISTINCT {name}) FROM t", **COST),
    ):
        refused(session.budget, InvalidInput, read, ask)


def test_nobody_is_a_group_of_their_own(session: Session) -> None:
    t = session["t"]
    for ask in (
        lambda: t.group_by("who").count(**COST),
        lambda: t.group_by("who", [1, 2]).count(**COST),
        lambda: t.group_by(["text", "who"]).sum("integer", **COST),
        lambda: t.mutate(me="who").group_by("me").mean("integer", **COST),
        lambda: session.sql("SELECT who, COUNT(*) FROM t GROUP BY who", **COST),
        lambda: session.sql("SELECT who, COUNT(*) FROM t GROUP BY who", epsilon=1),
        lambda: session.sql("SELECT who, COUNT(*) FROM t WHERE who IN (1, 2) GROUP BY who", epsilon=1),
        lambda: session.sql("SELECT u.who, AVG(t.integer) FROM t JOIN u ON t.who = u.who GROUP BY u.who", **COST),
        lambda: session.cost("SELECT who, COUNT(*) FROM t GROUP BY who", **COST),
    ):
        refused(session.budget, UnsupportedQuery, "nobody is shown alone; write it as a subquery", ask)
    t.group_by("who < 30", [True, False]).count(**COST)
    t.histogram("who", [0, 30, 60], **COST)
