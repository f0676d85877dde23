"""The 22 queries of TPC-H, verbatim, asked with customers private and with suppliers private.

Customers: customer, orders and, through them, lineitem are about a customer; the rest is public. Suppliers: supplier,
partsupp and lineitem are about a supplier; the rest is public. Each query is asked in both readings; a query about
suppliers counts in the second one, every other in the first. Only ε, δ and public keys are given beside the text.

A query is answered or refused; the refusals in the reading that counts are for showing rows of persons. The error is,
for the worst column, the sum of all absolute errors over the sum of all true values, groups that are not shown counting
as 0; the median over the runs. Times are medians of whole queries, in turn with the plain query by DuckDB on the same
files; they are compared by the time of all processors, which a busy machine does not change much. Where a plain query
never looks at persons, the same aggregates by person and group, written by hand (tpch_by_person.sql), are timed too: no
private answer can be had without them. In the other reading a query is asked once.

    python benchmarks/tpch_queries.py --tpch DIR [--runs 5] [Q1 Q13 …]
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
from record import read, write

from tacit import Approx, Private, Public, Session
from tacit.answers import Answer
from tacit.errors import InvalidInput, UnsupportedQuery

EPSILON, DELTA = "1", "1e-7"
CUSTOMERS, SUPPLIERS = "customers", "suppliers"
TABLES = ("customer", "orders", "lineitem", "part", "partsupp", "supplier", "nation", "region")
PRIORITIES = ("1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW")


@dataclass(frozen=True)
class Case:
    """What is given beside a query's text."""

    counts: str = CUSTOMERS
    """The reading in which it counts."""
    keys: Any = None
    refused: bool = False
    """Whether it shows rows of persons."""


CASES = {
    "Q1": Case(keys=[("A", "F"), ("N", "F"), ("N", "O"), ("R", "F")]),
    "Q2": Case(SUPPLIERS, refused=True),
    "Q3": Case(refused=True),
    "Q4": Case(keys=PRIORITIES),
    "Q5": Case(),
    "Q6": Case(),
    "Q7": Case(keys=list(product(("FRANCE", "GERMANY"), ("FRANCE", "GERMANY"), (1995, 1996)))),
    "Q8": Case(keys=(1995, 1996)),
    "Q9": Case(),
    "Q10": Case(refused=True),
    "Q11": Case(SUPPLIERS),
    "Q12": Case(),
    "Q13": Case(keys=range(51)),
    "Q14": Case(),
    "Q15": Case(SUPPLIERS, refused=True),
    "Q16": Case(SUPPLIERS),
    "Q17": Case(),
    "Q18": Case(refused=True),
    "Q19": Case(),
    "Q20": Case(SUPPLIERS, refused=True),
    "Q21": Case(),
    "Q22": Case(),
}


def texts(file: str) -> dict[str, str]:
    """The queries of a file by their names."""
    text = Path(__file__).with_name(file).read_text(encoding="utf-8")
    _, *parts = re.split(r"^-- (Q\d+)\n", text, flags=re.MULTILINE)
    return dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))


def sessions(directory: Path) -> dict[str, Session]:
    """Both readings; every table has its declared key."""

    def file(name: str) -> Path:
        return directory / f"{name}.parquet"

    keys: dict[str, Any] = {
        "customer": "c_custkey",
        "orders": "o_orderkey",
        "lineitem": ["l_orderkey", "l_linenumber"],
        "part": "p_partkey",
        "partsupp": ["ps_partkey", "ps_suppkey"],
        "supplier": "s_suppkey",
        "nation": "n_nationkey",
        "region": "r_regionkey",
    }
    public = {name: Public(file(name), key=keys[name]) for name in TABLES}
    persons: dict[str, dict[str, dict[str, Any]]] = {
        CUSTOMERS: {
            "customer": {"person": "c_custkey"},
            "orders": {"person": "o_custkey"},
            "lineitem": {"through": {"l_orderkey": "orders.o_orderkey"}},
        },
        SUPPLIERS: {
            "supplier": {"person": "s_suppkey"},
            "partsupp": {"person": "ps_suppkey"},
            "lineitem": {"person": "l_suppkey"},
        },
    }
    found = {}
    for reading, private in persons.items():
        declared: dict[str, Any] = {
            name: Private(file(name), key=keys[name], **facts) for name, facts in private.items()
        }
        found[reading] = Session({**public, **declared}, Approx(10**6, "0.1"))
    return found


def asked(session: Session, query: str, case: Case) -> tuple[Callable[[], Any] | None, str, str]:
    """How to ask a query afresh, the cost it needs, and the refusal where it is refused."""
    refusals = []
    for delta in (None, DELTA):
        try:
            session.preview(query, keys=case.keys, epsilon=EPSILON, delta=delta)
        except (UnsupportedQuery, InvalidInput) as refusal:
            refusals.append(str(refusal))
            continue
        words = f"ε = {EPSILON}" + (f" and δ = {delta}" if delta else "")
        return partial(session.sql, query, keys=case.keys, epsilon=EPSILON, delta=delta, fresh=True), words, ""
    return None, "", refusals[-1]


def rows(found: Any) -> list[tuple[Any, ...]]:
    """The rows of an answer, answers in the place of released numbers."""
    return [(found,)] if isinstance(found, Answer) else [row.cells for row in found.rows]


def released_in(found: Any) -> set[int]:
    """The places of the columns that hold answers."""
    if isinstance(found, Answer):
        return {0}
    return {place for place, name in enumerate(found.columns) if name in found.released}


def plain_value(cell: Any) -> Any:
    """A cell that can be compared."""
    return cell.value if isinstance(cell, Answer) else cell


def error(found: Any, truth: list[tuple[Any, ...]], released: set[int]) -> float:
    """The error of the worst column."""
    width = len(truth[0]) if truth else 0
    keys = [i for i in range(width) if i not in released]
    shown = {tuple(plain_value(row[i]) for i in keys): row for row in rows(found)}
    worst = 0.0
    for column in released:
        off = total = 0.0
        for row in truth:
            value = shown.get(tuple(row[i] for i in keys))
            off += abs(float(0 if value is None else plain_value(value[column]) or 0) - float(row[column] or 0))
            total += abs(float(row[column] or 0))
        worst = max(worst, off / total if total else off)
    return worst


@dataclass(frozen=True)
class Timed:
    """What was made, and in how many seconds, by the clock and of processors."""

    made: Any
    seconds: float
    processor: float

    @classmethod
    def of(cls, work: Callable[[], Any]) -> Timed:
        """Do some work."""
        clock, processor = time.perf_counter(), time.process_time()
        made = work()
        return cls(made, time.perf_counter() - clock, time.process_time() - processor)


def study(
    query: str, by_person: str, case: Case, readings: dict[str, Session], plain: Any, runs: int
) -> dict[str, Any]:
    """One query in both readings."""
    found: dict[str, Any] = {"counts": case.counts, "expected": "refused" if case.refused else "answered"}
    for reading, session in readings.items():
        ask, cost, refusal = asked(session, query, case)
        if ask is None:
            found[reading] = {"refusal": refusal}
            continue
        try:
            several = runs if reading == case.counts else 1
            measured = [(Timed.of(ask), Timed.of(lambda: plain.execute(query).fetchall())) for _ in range(several)]
        except (UnsupportedQuery, InvalidInput) as late:
            found[reading] = {"refusal": str(late), "late": True}
            continue
        truth, released = measured[0][1].made, released_in(measured[0][0].made)
        found[reading] = {
            "cost": cost,
            "error": median(error(ours.made, truth, released) for ours, _ in measured),
            "rows": median(len(rows(ours.made)) for ours, _ in measured),
            "true rows": len(truth),
            "seconds": median(ours.seconds for ours, _ in measured),
            "plain seconds": median(theirs.seconds for _, theirs in measured),
            "times": median(ours.processor for ours, _ in measured) / median(p.processor for _, p in measured),
        }
        if by_person and reading == case.counts:
            again = [Timed.of(lambda: plain.sql(by_person).to_arrow_table()) for _ in range(runs)]
            plainly = median(p.processor for _, p in measured)
            found[reading]["by person"] = median(one.processor for one in again) / plainly
    return found


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tpch", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("queries", nargs="*", help="only these; the others stay as stored")
    options = parser.parse_args()
    readings = sessions(options.tpch)
    plain = duckdb.connect()
    for table in TABLES:
        plain.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{options.tpch / f'{table}.parquet'}')")
    persons = texts("tpch_by_person.sql")
    made = read("tpch_queries").get("queries", {}) if options.queries else {}
    for name, query in texts("tpch_queries.sql").items():
        if not options.queries or name in options.queries:
            made[name] = study(query, persons.get(name, ""), CASES[name], readings, plain, options.runs)
            print(name, json.dumps(made[name], ensure_ascii=False), flush=True)
    size = sum(plain.execute("SELECT COUNT(*) FROM lineitem").fetchone() or ())
    made = {name: made[name] for name in CASES if name in made}
    write("tpch_queries", {"runs": options.runs, "epsilon": EPSILON, "lines": size, "queries": made})


if __name__ == "__main__":
    main()
