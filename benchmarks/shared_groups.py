"""Sums of groups where a row concerns customers and suppliers, beside the published errors.

    python benchmarks/shared_groups.py --tpch DIR [--quick]

TPC-H at scale 1, customers and suppliers private, ε = 4, δ = 10^-7: revenue by nation of the Q5 join, and revenue by
nation of the customer and year of shipping for January 1995 and 1 January to 8 February 1996. With keys declared, a
customer and a supplier have one nation, which the query may use; without keys it takes nobody's word. Relative
Euclidean error of all groups, a median of releases from one reading of the rows; seconds of one whole question.

Results go to benchmarks/results/shared_groups.json.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from joins import remembered
from record import write
from vector_caps import Releases

from tacit import Approx, Private, Public, Session
from tacit.tables.sql.privacy_clause import Priced
from tacit.tables.sql.queries import understand
from tacit.tables.statistics.ways import shared_groups

COST = Approx(4, "1e-7")
PUBLISHED = {"revenue by nation of the Q5 join": 0.244, "revenue by nation and year": 0.173}
REVENUE = "SUM(l_extendedprice * (1 - l_discount))"
JOINED = (
    "FROM customer, orders, lineitem, supplier, nation "
    "WHERE c_custkey = o_custkey AND o_orderkey = l_orderkey AND l_suppkey = s_suppkey "
    "AND c_nationkey = n_nationkey AND "
)
DAYS = (
    "(l_shipdate BETWEEN DATE '1995-01-01' AND DATE '1995-01-31' OR "
    "l_shipdate BETWEEN DATE '1996-01-01' AND DATE '1996-02-08')"
)
QUERIES = {
    "revenue by nation of the Q5 join": f"SELECT n_name, {REVENUE} {JOINED} c_nationkey = s_nationkey GROUP BY n_name",
    "revenue by nation and year": (
        f"SELECT n_name, EXTRACT(year FROM l_shipdate) AS y, {REVENUE} {JOINED} {DAYS} GROUP BY n_name, y"
    ),
}
TABLES = ("customer", "orders", "lineitem", "supplier", "nation")


def session(directory: Path, keys: bool) -> Session:
    """The tables, with or without what is known about customers and suppliers."""

    def file(name: str) -> Path:
        return directory / f"{name}.parquet"

    tables: dict[str, Private | Public] = {
        "customer": Private(file("customer"), "customer:c_custkey", key="c_custkey" if keys else None),
        "orders": Private(file("orders"), "customer:o_custkey"),
        "supplier": Private(file("supplier"), "supplier:s_suppkey", key="s_suppkey" if keys else None),
        "lineitem": Private(file("lineitem"), "supplier:l_suppkey", through={"l_orderkey": "orders.o_orderkey"}),
        "nation": Public(file("nation"), key="n_nationkey"),
    }
    return Session(tables, Approx(10**6, "0.5"))


def study(directory: Path, runs: int) -> list[dict[str, Any]]:
    """Both queries, with and without keys."""
    plain, found = duckdb.connect(), []
    remembered(shared_groups, "_curve")
    remembered(shared_groups, "_flow")
    for name in TABLES:
        plain.execute(f"CREATE VIEW {name} AS SELECT * FROM '{directory}/{name}.parquet'")
    for what, text in QUERIES.items():
        rows = plain.execute(f"{text} ORDER BY ALL").fetchall()
        keys = [row[0] if len(row) == 2 else row[:-1] for row in rows]
        truth = np.array([float(row[-1]) for row in rows])
        for declared in (True, False):
            opened = session(directory, declared)
            began = time.perf_counter()
            opened.sql(text, keys=keys, epsilon=4, delta="1e-7")
            seconds = time.perf_counter() - began
            query = understand(opened._releaser, Priced(text, COST), keys)
            releases = Releases(opened, query.relation, query.statistics[0])
            errors = np.linalg.norm(releases.values(COST, runs) - truth, axis=1) / np.linalg.norm(truth)
            found.append(
                {
                    "what": what,
                    "groups": len(keys),
                    "keys": declared,
                    "published": PUBLISHED[what],
                    "median": float(np.median(errors)),
                    "p95": float(np.quantile(errors, 0.95)),
                    "releases": runs,
                    "seconds": seconds,
                }
            )
            print(found[-1], flush=True)
    return found


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tpch", type=Path, required=True, help="the tables of TPC-H at scale 1 as Parquet files")
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    write("shared_groups", {"epsilon": 4, "delta": 1e-7, "rows": study(given.tpch, 2 if given.quick else 50)})


if __name__ == "__main__":
    main()
