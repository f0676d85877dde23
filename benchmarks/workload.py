"""A report of 40 numbers beside asking for each number by itself, at the same cost.

    python benchmarks/workload.py [--quick]

Orders of a year by persons who have several: for each of 12 months their number, sum and mean, the same in all, and the
number of persons. Asked one by one each number has a fortieth of ε = 1. As a report it takes three releases: counts
with their total and sums with theirs (ROLLUP), and the persons; means are quotients. Errors are relative to the truth,
the median over releases for each number, then the geometric mean over the numbers of a kind.

Results go to benchmarks/results/workload.json.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from record import write

from tacit import Private, Pure, Session
from tacit.engines.remembering import Remembering

EPSILON = 1
MONTHS = range(1, 13)
REPORT = {
    "months": "SELECT month, COUNT(amount), SUM(amount), AVG(amount) FROM orders GROUP BY ROLLUP (month)",
    "persons": "SELECT COUNT(DISTINCT who) AS persons FROM orders",
}
KINDS = {"n": "COUNT(amount)", "s": "SUM(amount)", "m": "AVG(amount)"}
Numbers = dict[tuple[str, Any], float]
"""What was asked by its kind and its month, None for the whole year."""


def orders(persons: int, seed: int) -> pa.Table:
    """Orders of a year, about ten for each person, amounts with a heavy tail."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(persons), 1 + rng.poisson(9, persons))
    month = 1 + np.minimum(11, (12 * rng.beta(1.3, 1, len(who))).astype(int))
    amount = np.ceil(np.exp(rng.normal(3.5, 0.8, len(who)))).astype(int)
    return pa.table({"who": pa.array(who), "month": pa.array(month), "amount": pa.array(amount)})


def truth(rows: pa.Table) -> Numbers:
    """All 40 numbers."""
    month, amount = rows["month"].to_numpy(), rows["amount"].to_numpy()
    found: Numbers = {("persons", None): float(len(np.unique(rows["who"].to_numpy())))}
    for key in (*MONTHS, None):
        chosen = amount if key is None else amount[month == key]
        found |= {("n", key): len(chosen), ("s", key): float(chosen.sum()), ("m", key): float(chosen.mean())}
    return found


def one_by_one(session: Session) -> Numbers:
    """Each number for an equal share."""
    each = Pure(EPSILON) / 40
    found: Numbers = {}
    for kind, aggregate in KINDS.items():
        for key in (*MONTHS, None):
            where = "" if key is None else f" WHERE month = {key}"
            answer: Any = session.sql(f"SELECT {aggregate} FROM orders{where}", epsilon=each.epsilon, fresh=True)
            found[kind, key] = float(answer.value or 0)
    counted: Any = session.sql(REPORT["persons"], epsilon=each.epsilon, fresh=True)
    return found | {("persons", None): float(counted.value)}


def together(session: Session) -> Numbers:
    """The same as a report."""
    report = session.report(REPORT, keys={"months": list(MONTHS)}, epsilon=EPSILON, fresh=True)
    found: Numbers = {}
    for row in report["months"].rows:
        found |= {(kind, row.key[0]): float(cell.value) for kind, cell in zip("nsm", row.cells[1:], strict=True)}
    return found | {("persons", None): float(report["persons"].rows[0].cells[0].value)}


def study(persons: int, runs: int) -> dict[str, Any]:
    """Both ways on the same data."""
    rows = orders(persons, 5)
    true = truth(rows)
    errors: dict[str, dict[Any, float]] = {}
    with Session({"orders": Private(rows, person="who")}, Pure(10**6)) as session:
        session._tables.engine = Remembering(session._tables.engine)  # the rows stay, only the noise is drawn anew
        ways: dict[str, Callable[[Session], Numbers]] = {"one by one": one_by_one, "report": together}
        for name, way in ways.items():
            drawn = [way(session) for _ in range(runs)]
            errors[name] = {
                number: float(np.median([abs(one[number] - value) / value for one in drawn]))
                for number, value in true.items()
            }
    kinds: dict[str, list[tuple[str, Any]]] = {
        "counts of months": [("n", key) for key in MONTHS],
        "sums of months": [("s", key) for key in MONTHS],
        "means of months": [("m", key) for key in MONTHS],
        "totals": [("n", None), ("s", None), ("m", None)],
        "all 40": list(true),
    }
    lines = {
        kind: {name: float(np.exp(np.mean(np.log([errors[name][n] + 1e-9 for n in numbers])))) for name in errors}
        for kind, numbers in kinds.items()
    }
    for kind, line in lines.items():
        line["times better"] = line["one by one"] / line["report"]
        print(persons, kind, {name: f"{value:.3g}" for name, value in line.items()}, flush=True)
    return {"persons": persons, "releases": runs, "errors": lines}


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    runs = 3 if parser.parse_args().quick else 50
    write("workload", {"epsilon": EPSILON, "rows": [study(persons, runs) for persons in (5_000,)]})


if __name__ == "__main__":
    main()
