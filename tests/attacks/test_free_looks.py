"""No look is free: what a user can call without a charge never reads a row of a private table.

The attack: `session.public_values("wages", "age")` returned the raw values of a private column and charged nothing.
Every public name of a session, a table and its groups is listed here as one that charges or one that is free; the free
ones are called while every table that an engine reads is written down. A new name must be put on one of the lists.
One name looks at rows for their holder and returns nothing: `Session.verify`, which no question and no gateway reaches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tacit import Private, Public, Pure, Session, Table, UnsupportedQuery
from tacit.engines.snapshots import SQLSnapshot
from tacit.guarantees import Guarantee
from tacit.serve.client import RemoteSession
from tacit.tables.face.grouping import GroupBy
from tacit.tables.sql.public_keys import known_keys, public_values
from tacit.tables.sql.views import ViewBuilder

pa = pytest.importorskip("pyarrow")

SECRET = 123456789
WAGES = pa.table({"who": list(range(30)), "k": ["x"] * 30, "age": [SECRET] * 30})
AREAS = pa.table({"area": ["x", "y"], "size": [1, 2]})
GROUPED = "SELECT area, COUNT(*) FROM wages JOIN areas ON wages.k = areas.area GROUP BY area"

STATISTICS = {
    "persons", "count", "sum", "mean", "variance", "std", "covariance", "correlation", "regression", "min", "max",
    "largest", "smallest", "quantile", "median",
    "ratio", "nunique", "modal_count", "max_degree", "histogram", "cdf", "mode", "top", "iqr", "trimmed_mean",
}  # fmt: skip
CHARGES: dict[type, set[str]] = {
    Session: {"sql", "report", "release", "above"},
    Table: STATISTICS | {"sql", "ask", "describe", "series"},
    GroupBy: STATISTICS,
}
HOLDERS: dict[type, set[str]] = {Session: {"verify"}, Table: set(), GroupBy: set()}
"""What looks at rows for whoever holds them; it says yes, or raises."""


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The tables of all rounds that an engine was asked for."""
    names: set[str] = set()
    honest = SQLSnapshot._round

    def watched(self: SQLSnapshot, relation: Any) -> Any:
        names.update((relation.table, *(join.table for join in relation.joins)))
        return honest(self, relation)

    monkeypatch.setattr(SQLSnapshot, "_round", watched)
    return names


@pytest.fixture
def session() -> Iterator[Session]:
    with Session({"wages": Private(WAGES, person="who"), "areas": Public(AREAS)}, budget=Pure(10)) as opened:
        yield opened


def free(s: Session) -> dict[tuple[type, str], Callable[[], Any]]:
    """Everything public that costs nothing, by class and name."""
    t = s["wages"]
    return {
        (Session, "analyst"): lambda: s.analyst("ada", Pure(1)),
        (Session, "budget"): lambda: s.budget,
        (Session, "close"): lambda: s.share(Pure(1), "closed").close(),
        (Session, "calendar"): lambda: s.calendar,
        (Session, "cost"): lambda: s.cost(GROUPED, epsilon=1),
        (Session, "period"): lambda: s.period,
        (Session, "protection"): lambda: s.protection(),
        (Session, "version"): lambda: s.version,
        (Session, "preview"): lambda: s.preview(GROUPED, epsilon=1),
        (Session, "schema"): lambda: s.schema("wages"),
        (Session, "share"): lambda: s.share(Pure(1), "mine"),
        (Session, "tables"): lambda: s.tables,
        (Table, "budget"): lambda: t.budget,
        (Table, "filter"): lambda: t.filter("age > 3"),
        (Table, "group_by"): lambda: t.group_by("k"),
        (Table, "mutate"): lambda: t.mutate(older="age + 1"),
        (Table, "per_person"): lambda: t.per_person(oldest="MAX(age)"),
        (Table, "partition"): lambda: [(part, part.budget) for part in t.partition("k", ["x", "y"]).values()],
        (Table, "schema"): lambda: t.schema,
        (Table, "select"): lambda: t.select("age"),
        (Table, "session"): lambda: t.session,
    }


def test_every_public_name_charges_or_reads_no_private_row(session: Session, read: set[str]) -> None:
    known = free(session)
    for kind, charging in CHARGES.items():
        names = {name for name in dir(kind) if not name.startswith("_")}
        assert names == charging | HOLDERS[kind] | {name for owner, name in known if owner is kind}, kind
    for (kind, name), look in known.items():
        found = look()
        shown = f"{found!r} {getattr(found, '_repr_html_', str)()}"
        assert str(SECRET) not in shown, (kind, name)
        assert "wages" not in read, (kind, name)
    assert read == {"areas"}  # the keys of a public table are looked up, and nothing else
    session.verify()
    assert not hasattr(RemoteSession, "verify")
    assert not set(vars(session)) & {"engine", "snapshot", "public_values"}


def test_a_query_looks_up_keys_of_public_tables_only(session: Session, read: set[str]) -> None:
    views = ViewBuilder(session._tables)
    areas, wages = views.table("areas"), views.table("wages")
    assert known_keys(views, areas, [areas.scope.find("area")]) == ["x", "y"]
    read.clear()
    assert known_keys(views, wages, [wages.scope.find("age")]) is None
    with pytest.raises(UnsupportedQuery, match="private"):
        public_values(views, wages, frozenset(["wages"]), [wages.scope.find("age")])
    assert not read
    assert session.budget.spent == nothing(session.budget.total)


def nothing(total: Guarantee) -> Guarantee:
    from tacit.budgets import open_budget

    return open_budget(total).spent


def test_a_statistic_does_charge(session: Session, read: set[str]) -> None:
    session["wages"].count(epsilon=1)  # the watch sees what it should
    assert read == {"wages"}
    assert session.budget.spent == Pure(1)
