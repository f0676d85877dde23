"""Joins, graphs, maxima and distinct counts against published results, and further queries of the same family.

ε = 1; an error is the mean of the middle 60 % of the runs, a fifth of them for methods that are not the default.
TPC-H at scale 1 comes from `tpchgen-cli parquet -s 1 --output-dir=DIR`; the graph is the SNAP file p2p-Gnutella31.txt,
each line an undirected edge, with its published profile beside it. What is not given is skipped, and said so. Rows are
read once and every run draws anew from them; the time of a whole query is measured apart.

    python benchmarks/joins.py --tpch DIR --graph p2p-Gnutella31.txt --profile gnutella_edge_profile.txt
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import mean, median
from types import ModuleType
from typing import Any, cast

import numpy as np
import pyarrow as pa
from record import read, write

from tacit import Private, Public, Pure, Session
from tacit.answers import Answer
from tacit.engines.requests import Incidence, Relation, RowCount
from tacit.flows import sums
from tacit.tables.sql.privacy_clause import Priced
from tacit.tables.sql.queries import understand
from tacit.tables.statistics.base import SHARED_ROWS, Statistic
from tacit.tables.statistics.extremes import Extremum
from tacit.tables.statistics.peaks import MaximumDegree
from tacit.tables.statistics.ways import shared_rows

# The best published error of each row: shifted inverse (2022), race-to-the-top, recursive mechanism, automatic bounds.
PUBLISHED = {"Q12": 17, "Q18": 6174, "Q5": 174, "edges": 1592, "Q9 max": 40, "distinct": 530}
PROFILED = ("Q12", "Q18", "Q5", "edges")
SLOW = ("maximum degree", "rising paths of two edges")
"""Rows whose down profile is a large program for every removal: only the default is measured."""
BUDGET = Pure(10**9)
SALES = (
    "FROM customer, orders, lineitem, supplier WHERE c_custkey = o_custkey AND o_orderkey = l_orderkey "
    "AND l_suppkey = s_suppkey AND "
)
Cases = dict[str, tuple[Session, str]]


def tpch(directory: Path) -> Cases:
    """Queries over TPC-H, each with the session that knows its persons; those published first."""

    def file(name: str) -> Path:
        return directory / f"{name}.parquet"

    line = file("lineitem")
    kinds: dict[str, Private | Public] = {
        "customer": Private(file("customer"), person="customer:c_custkey", key="c_custkey"),
        "orders": Private(file("orders"), person="customer:o_custkey"),
        "supplier": Private(file("supplier"), person="supplier:s_suppkey", key="s_suppkey"),
        "lineitem": Private(line, person="supplier:l_suppkey", through={"l_orderkey": "orders.o_orderkey"}),
        "partsupp": Private(file("partsupp"), person="supplier:ps_suppkey", key=["ps_partkey", "ps_suppkey"]),
    }
    three: dict[str, Private | Public] = {
        "orders": Private(file("orders"), person="customer:o_custkey"),
        "lineitem": Private(
            line, person=["supplier:l_suppkey", "part:l_partkey"], through={"l_orderkey": "orders.o_orderkey"}
        ),
    }
    sales: dict[str, Private | Public] = {
        "orders": Private(file("orders"), person="o_custkey"),
        "lineitem": Private(line, through={"l_orderkey": "orders.o_orderkey"}),
    }
    parts: dict[str, Private | Public] = {
        "lineitem": Private(line, person="l_suppkey"),
        "partsupp": Public(file("partsupp"), key=["ps_partkey", "ps_suppkey"]),
    }
    stock: dict[str, Private | Public] = {
        "supplier": Private(file("supplier"), person="s_suppkey", key="s_suppkey"),
        "partsupp": Private(file("partsupp"), person="ps_suppkey"),
    }
    joined, kinds_of_three = Session(kinds, BUDGET), Session(three, BUDGET)
    profit = "l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity"
    month = "l_shipdate >= '1995-03-01' AND l_shipdate < '1995-04-01'"
    return {
        "Q12": (Session({"lineitem": Private(line, person="l_orderkey")}, BUDGET), "SELECT COUNT(*) FROM lineitem"),
        "Q18": (
            Session(sales, BUDGET),
            "SELECT SUM(l_quantity) FROM orders JOIN lineitem ON o_orderkey = l_orderkey",
        ),
        "Q5": (joined, f"SELECT COUNT(*) {SALES} c_nationkey = s_nationkey"),
        "Q9 max": (
            Session(parts, BUDGET),
            f"SELECT MAX(({profit}) / 1000) FROM partsupp, lineitem WHERE ps_suppkey = l_suppkey "
            "AND ps_partkey = l_partkey",
        ),
        "distinct": (
            Session(stock, BUDGET),
            "SELECT COUNT(DISTINCT ps_availqty) FROM supplier, partsupp WHERE s_suppkey = ps_suppkey AND "
            "s_nationkey >= 24",
        ),
        "Q5 revenue": (joined, f"SELECT SUM(l_extendedprice * (1 - l_discount)) {SALES} c_nationkey = s_nationkey"),
        "Q7 count": (
            joined,
            f"SELECT COUNT(*) {SALES} c_nationkey = 6 AND s_nationkey = 7 AND l_shipdate >= '1995-01-01' "
            "AND l_shipdate <= '1996-12-31'",
        ),
        "Q7 quantity": (joined, f"SELECT SUM(l_quantity) {SALES} c_nationkey = 6 AND s_nationkey = 7"),
        "Q9 profit, both signs": (
            joined,
            f"SELECT SUM({profit}) FROM orders, lineitem, partsupp WHERE o_orderkey = l_orderkey "
            f"AND ps_suppkey = l_suppkey AND ps_partkey = l_partkey AND {month}",
        ),
        "Q5 cheapest": (joined, f"SELECT MIN(l_extendedprice) {SALES} c_nationkey = s_nationkey"),
        "customer, supplier and part": (
            kinds_of_three,
            f"SELECT COUNT(*) FROM orders, lineitem WHERE o_orderkey = l_orderkey AND {month}",
        ),
        "distinct parts of customers and suppliers": (
            joined,
            f"SELECT COUNT(DISTINCT l_partkey) {SALES} c_nationkey = s_nationkey AND s_nationkey = 7",
        ),
    }


def graph(path: Path) -> Cases:
    """The graph under node privacy: edges, triangles, paths of two edges and the maximum degree."""
    edges = np.sort(np.loadtxt(path, dtype=np.int64, comments="#"), axis=1)
    table = pa.table({"src": pa.array(edges[:, 0]), "dst": pa.array(edges[:, 1])})
    session = Session({"edge": Private(table, person=["src", "dst"])}, BUDGET)
    return {
        "edges": (session, "SELECT COUNT(*) FROM edge"),
        "triangles": (
            session,
            "SELECT COUNT(*) FROM edge a JOIN edge b ON a.dst = b.src JOIN edge c ON a.src = c.src AND b.dst = c.dst",
        ),
        "rising paths of two edges": (session, "SELECT COUNT(*) FROM edge a JOIN edge b ON a.dst = b.src"),
        "maximum degree": (
            session,
            "SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM (SELECT src AS v FROM edge UNION ALL SELECT dst FROM edge) "
            "GROUP BY v)",
        ),
    }


def remembered(module: ModuleType, name: str) -> None:
    """Let a function return what it returned before for the same objects: runs differ in their draws alone."""
    known: dict[Any, tuple[Any, Any]] = {}
    function = getattr(module, name)

    def once(*arguments: Any) -> Any:
        key = tuple(a if isinstance(a, int) else id(a) for a in arguments)
        if key not in known:
            known[key] = arguments, function(*arguments)  # arguments are kept, so that no id is used twice
        return known[key][1]

    setattr(module, name, once)


def once_for_each(profile: Any) -> Any:
    """The profile of an extreme, computed once for each statistic."""
    known: dict[Any, Any] = {}

    def once(statistic: Any, room: Any, spent: Any) -> Any:
        key = statistic, room._relation, *sorted(spent.items())
        if key not in known:
            known[key] = profile(statistic, room, spent)
        return known[key]

    return once


class Remembering:
    """An engine that reads every answer once."""

    def __init__(self, engine: Any) -> None:
        self._engine, self._known = engine, dict[Any, Any]()

    def schema(self, table: str) -> Any:
        return self._engine.schema(table)

    def key_type(self, table: str, column: str) -> Any:
        return self._engine.key_type(table, column)

    @contextmanager
    def snapshot(self) -> Iterator[Any]:
        yield self

    def ask(self, relation: Any, requests: Any) -> Any:
        return self._once("ask", relation, requests)

    def touches(self, relation: Any, request: Any) -> Any:
        return self._once("touches", relation, request)

    def _once(self, what: str, relation: Any, asked: Any) -> Any:
        if (relation, asked) not in self._known:
            with self._engine.snapshot() as snapshot:
                self._known[relation, asked] = getattr(snapshot, what)(relation, asked)
        return self._known[relation, asked]

    def close(self) -> None:
        self._engine.close()


def question(name: str, session: Session, query: str) -> tuple[Relation, Statistic]:
    """What is asked; a maximum degree has no SQL of its own."""
    if name == "maximum degree":
        return session["edge"]._relation, MaximumDegree()
    found = understand(session._releaser, Priced(query, Pure(1)))
    return found.relation, found.statistics[0]


def profile(session: Session, relation: Relation, statistic: Statistic, removals: int) -> tuple[list[int], float]:
    """The down profile of a count or sum, and the seconds it took with its join."""
    start = time.perf_counter()
    with session._tables.engine.snapshot() as snapshot:
        touches = snapshot.touches(relation, Incidence(getattr(statistic, "total", RowCount())))
    values = sums.capped_sum(shared_rows.rows_of(touches)).profile(removals)
    return list(values), time.perf_counter() - start


class Truth:
    """The exact answer, by the plain engine."""

    def __init__(self, session: Session, query: str) -> None:
        import duckdb

        self._connection, self._query = duckdb.connect(), query
        for name in session.tables:
            data = session._tables.declared[name].source.data
            if isinstance(data, Path):
                self._connection.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{data}')")
            else:
                self._connection.register(name, data)
        self.value = float(self._one(query))

    def _one(self, query: str) -> Any:
        (found,) = self._connection.execute(query).fetchone() or (None,)
        return found

    def error(self, answer: Answer) -> float:
        """How far off an answer is; of a maximum or minimum, how many rows lie beyond it."""
        for name, beyond in (("MAX(", ">"), ("MIN(", "<")):
            if self._query.startswith(f"SELECT {name}") and "GROUP BY" not in self._query:
                source, where = self._query.removeprefix(f"SELECT {name}").split(") FROM ", 1)
                return float(self._one(f"SELECT COUNT(*) FROM {where} AND {source} {beyond} {answer.value}"))
        return abs(float(cast(float, answer.value)) - self.value)


def measured(session: Session, relation: Relation, statistic: Statistic, truth: Truth, runs: int) -> dict[str, Any]:
    """The errors of fresh answers."""
    known: dict[Any, float] = {}
    found = []
    for _ in range(runs):
        answer = cast(Answer, session._releaser.ask(relation, statistic, Pure(1), fresh=True))
        if answer.value not in known:
            known[answer.value] = truth.error(answer)
        found.append(known[answer.value])
    found.sort()
    fifth = runs // 5
    return {
        "error": mean(found[fifth : runs - fifth]),
        "median": median(found),
        "p95": found[min(runs - 1, int(0.95 * runs))],
    }


def study(name: str, session: Session, query: str, runs: int, published: list[int] | None) -> dict[str, Any]:
    """One row: truth, time of a whole query, errors by default and by every other method, and the profile."""
    relation, statistic = question(name, session, query)
    truth = Truth(session, query)
    start = time.perf_counter()
    session._releaser.ask(relation, statistic, Pure(1), fresh=True)
    found: dict[str, Any] = {"truth": truth.value, "seconds": time.perf_counter() - start}
    engine, session._tables.engine = session._tables.engine, cast(Any, Remembering(session._tables.engine))
    try:
        found |= measured(session, relation, statistic, truth, runs)
        if relation.others and hasattr(statistic, "method") and statistic.method is None:
            others = {m: replace(cast(Any, statistic), method=m) for m in SHARED_ROWS if name not in SLOW}
            found["methods"] = {
                m: measured(session, relation, other, truth, max(5, runs // 5))["error"] for m, other in others.items()
            }
    finally:
        session._tables.engine = engine
    if name in PUBLISHED:
        found["published"] = PUBLISHED[name]
    if name in PROFILED:
        values, seconds = profile(session, relation, statistic, 64)
        found |= {"profile": values[:4], "profile_seconds": seconds}
        if name == "edges" and published:
            found["profile_equals_published"] = values[: len(published)] == published
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tpch", type=Path)
    parser.add_argument("--graph", type=Path)
    parser.add_argument("--profile", type=Path)
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--only", help="rows whose name holds this; the others stay as stored")
    options = parser.parse_args()
    for module, function in ((shared_rows, "rows_of"), (sums, "capped_sum"), (sums, "capped_distinct")):
        remembered(module, function)
    Extremum._profile = once_for_each(Extremum._profile)  # type: ignore[method-assign]
    cases = (tpch(options.tpch) if options.tpch else {}) | (graph(options.graph) if options.graph else {})
    for name in PUBLISHED.keys() - cases.keys():
        print(f"{name}: skipped, its data was not given")
    published = [int(float(line)) for line in options.profile.read_text().split()] if options.profile else None
    rows = {name: read("joins")[name] for name in cases if name in read("joins")} if options.only else {}
    for name, (session, query) in cases.items():
        if not options.only or options.only in name:
            rows[name] = study(name, session, query, options.runs, published)
            print(name, json.dumps(rows[name]), flush=True)
            write("joins", {"runs": options.runs, "epsilon": 1, **rows})


if __name__ == "__main__":
    main()
