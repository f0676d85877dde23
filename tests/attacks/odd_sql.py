"""Queries that are odd in every way, given to the planner in a process that may be ended.

Some are grown from a grammar of what grows: nesting, lists, chains, numbers, comments. Some are good queries broken in a
few places. The planner may answer each with a cost or with a `TacitError`, within a second of processor time and some
memory. The process prints one line for each query; whoever reads ends it when a line is late, and starts another after
the query at fault.

    python -m tests.attacks.odd_sql SEED FIRST COUNT
"""

from __future__ import annotations

import json
import resource
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 1.0
"""Of processor time, for one query."""
MEGABYTES = 512
"""What planning may take beside what the process has when it starts."""
LATE = 30.0
"""Seconds after which a process that says nothing is ended."""


@dataclass
class Tried:
    """What a run did."""

    queries: int = 0
    planned: int = 0
    refused: int = 0
    slowest: float = 0.0
    failures: list[str] = field(default_factory=list)


# ---- what is asked -----------------------------------------------------------------------------------------------

_GOOD = [
    "SELECT COUNT(*) FROM t",
    "SELECT SUM(x) FROM t WHERE s = 'a' AND x BETWEEN 1 AND 9",
    "SELECT s, COUNT(*), SUM(f) FROM t WHERE s IN ('a', 'b') GROUP BY s ORDER BY 2 DESC LIMIT 3",
    "WITH c AS (SELECT who, x + 1 AS y FROM t WHERE f > 0.5) SELECT AVG(y) FROM c",
    "SELECT MEDIAN(a.x) FROM t AS a JOIN u AS b ON a.who = b.who LEFT JOIN p ON a.s = p.s",
    "SELECT QUANTILE_CONT(f, [0.25, 0.5]) FROM (SELECT f, d FROM t WHERE d >= DATE '2020-01-01') AS z",
    "SELECT CASE WHEN x > 3 THEN 'h' ELSE 'l' END AS k, COUNT(*) FROM t GROUP BY 1",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.5, delta = 1e-6) COUNT(*) FROM t",
    "SELECT COUNT(DISTINCT who) FROM t WHERE EXTRACT(year FROM d) = 2020",
]
_NESTS = [
    ("SELECT SUM({}) FROM t", "(", "x", ")"),
    ("SELECT SUM({}) FROM t", "ABS(", "x", ")"),
    ("SELECT SUM({}) FROM t", "-", "x", ""),
    ("SELECT SUM({}) FROM t", "COALESCE(x, ", "x", ")"),
    ("SELECT SUM({}) FROM t", "CASE WHEN x > 1 THEN ", "x", " ELSE 2 END"),
    ("SELECT SUM({}) FROM t", "CASE x WHEN 1 THEN ", "x", " END"),
    ("SELECT SUM({}) FROM t", "CASE ", "x", " WHEN 1 THEN 2 END"),
    ("SELECT SUM({}) FROM t", "CAST(", "x", " AS DOUBLE)"),
    ("SELECT SUM({}) FROM t", "[", "x", "]"),
    ("SELECT SUM({}) FROM t", "x::INT", "", ""),
    ("SELECT COUNT(*) FROM t WHERE {}", "NOT ", "TRUE", ""),
    ("SELECT COUNT(*) FROM t WHERE {}", "(x = 1 OR ", "TRUE", ")"),
    ("SELECT COUNT(*) FROM t WHERE {}", "x = (", "1", ")"),
    ("SELECT COUNT(*) FROM {}", "(SELECT * FROM ", "t", ") AS z"),
    ("SELECT COUNT(*) FROM {}", "(", "t", ")"),
    ("SELECT COUNT(*) FROM t {}", "/*", "", "*/"),
    ("SELECT {} FROM t", "{'a': ", "1", "}"),
    ("SELECT COUNT(*) FROM t WHERE x = {}", "f(", "1", ")"),
]
_CHAINS = [
    ("SELECT SUM({}) FROM t", "x", " + "),
    ("SELECT SUM({}) FROM t", "x", " * "),
    ("SELECT SUM({}) FROM t", "x", " || "),
    ("SELECT SUM(x) FROM t WHERE {}", "x = 1", " AND "),
    ("SELECT SUM(x) FROM t WHERE {}", "x < 1", " OR "),
    ("SELECT SUM(x) FROM t WHERE x IN ({})", "1", ", "),
    ("SELECT COUNT(*) FROM t WHERE s IN ({})", "'a'", ", "),
    ("SELECT {} FROM t", "SUM(x)", ", "),
    ("SELECT COALESCE({}) FROM t", "x", ", "),
    ("SELECT SUM(CASE {} END) FROM t", "WHEN x = 1 THEN 2", " "),
    ("SELECT COUNT(*) FROM {}", "t", ", "),
    ("SELECT COUNT(*) FROM t GROUP BY {}", "s", ", "),
    ("SELECT COUNT(*) FROM t ORDER BY {}", "1", ", "),
    ("{}", "SELECT COUNT(*) FROM t", " UNION ALL "),
    ("{}", "SELECT COUNT(*) FROM t", "; "),
    ("SELECT QUANTILE_CONT(x, [{}]) FROM t", "0.5", ", "),
    ("SELECT COUNT(*) FROM t WHERE s LIKE '{}'", "%", "_"),
    ("SELECT SUM(x) {} FROM t", "--", "\n"),
    ("SELECT {}.x FROM t", "t", "."),
]
_NUMBERS: list[Callable[[Random, int], str]] = [
    lambda draw, n: "9" * n,
    lambda draw, n: "0." + "0" * n + "1",
    lambda draw, n: f"1e{draw.choice(('', '-', '+'))}{'9' * min(n, 9)}",
    lambda draw, n: f"1e-{n * 7000}",
    lambda draw, n: f"{'7' * n}e{n}",
    lambda draw, n: "0x" + "f" * n,
    lambda draw, n: "1_" * n + "1",
    lambda draw, n: f"'{'9' * n}'",
    lambda draw, n: f"1/{'3' * n}",
    lambda draw, n: draw.choice(
        ("nan", "inf", "-0", "1e", "1e+", "--1", "٣", "½", "1.2.3", ".", "1e400", "5e-324", "1f", "1d")
    ),
]
_NUMBERED = [
    "SELECT SUM(x + {}) FROM t", "SELECT COUNT(*) FROM t WHERE x = {}", "SELECT QUANTILE_CONT(x, {}) FROM t", "SELECT COUNT(*) FROM t LIMIT {}",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = {}) COUNT(*) FROM t", "SELECT s, COUNT(*) FROM t GROUP BY {}",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1, delta = {}) COUNT(*) FROM t", "SELECT COUNT(*) FROM t ORDER BY {}",
    "SELECT SUM(CAST(x AS DECIMAL({}, {}))) FROM t", "SELECT COUNT(*) FROM t WHERE d > DATE '{}'", "SELECT PERCENTILE_CONT({}) WITHIN GROUP (ORDER BY x) FROM t",
    "SELECT COUNT(*) FROM t WHERE d > DATE '2020-01-01' + INTERVAL {} DAY", "SELECT COUNT(*) FROM t TABLESAMPLE {} PERCENT",
    "SELECT COUNT(*) FROM t WHERE d = TIMESTAMP '{}'", "SELECT COUNT(*) FROM t WHERE x IN (1, {})", "SELECT SUM(x) FROM t WHERE f BETWEEN {} AND {}",
]  # fmt: skip
_NOISE = [
    *"()[]{}'\"`;,.*+-/%=<>!&|^~@#$?:\\\n\t\x0b\x00\u202eé😀０", "\ud800", " SELECT ", " FROM t ", " WHERE ", " CASE ", " END ", "--", "/*",
    "*/", "$$", "E'\\x41'", "X'41'", "U&'\\0041'", "1e308", "::INT", "INTERVAL 1 DAY", "UNNEST(", "LATERAL ", " OVER ()", "RECURSIVE ",
    " QUALIFY ", " FILTER (WHERE ", " USING SAMPLE 1", " PIVOT ", " EXCLUDE (x)", ":=", "=>", "->", "@>", " AS OF ", " ILIKE ", " SIMILAR TO ",
]  # fmt: skip


def _doubling(n: int) -> str:
    """CTEs each of which uses the one before it twice: the text grows by a line, what it means by a factor of two."""
    links = ["c0 AS (SELECT x + x AS x FROM t)", *(f"c{i} AS (SELECT x + x AS x FROM c{i - 1})" for i in range(1, n))]
    return f"WITH {', '.join(links)} SELECT SUM(x) FROM c{n - 1}"


def _joined(n: int) -> str:
    return "SELECT COUNT(*) FROM t AS a0" + "".join(f" JOIN t AS a{i} ON a0.who = a{i}.who" for i in range(1, n))


def _broken(draw: Random) -> str:
    """A good query with pieces added, taken, doubled or moved."""
    text = draw.choice(_GOOD)
    for _ in range(draw.randint(1, 4)):
        at, to = sorted((draw.randint(0, len(text)), draw.randint(0, len(text))))
        piece = text[at:to]
        text = draw.choice(
            (
                text[:at] + draw.choice(_NOISE) + text[at:],
                text[:at] + text[min(to, at + 6) :],
                text[:to] + piece + text[to:],
                text[:at] + draw.choice(_GOOD) + text[to:],
                piece + text[:at] + text[to:],
            )
        )
    return text


def query(seed: int, number: int) -> tuple[str, str]:
    """The query of this number, and the ε that is offered for it."""
    draw = Random(f"{seed}/{number}")
    n = draw.choice((3, 10, 30, 100, 300, 1000, 3000))
    epsilon = draw.choice(_NUMBERS)(draw, n) if draw.random() < 0.05 else "1"
    kind = draw.random()
    if kind < 0.15:
        form, left, inner, right = draw.choice(_NESTS)
        return form.replace("{}", left * n + inner + right * n), epsilon
    if kind < 0.3:
        form, item, between = draw.choice(_CHAINS)
        return form.replace("{}", between.join([item] * n)), epsilon
    if kind < 0.5:
        text = draw.choice(_NUMBERED)
        while "{}" in text:
            text = text.replace("{}", draw.choice(_NUMBERS)(draw, n), 1)
        return text, epsilon
    if kind < 0.55:
        return draw.choice((_doubling, _joined))(min(n, 300)), epsilon
    if kind < 0.6:
        return "".join(draw.choices([*_NOISE, "x", "t", "1", " "], k=min(n, 300))), epsilon
    return _broken(draw), epsilon


# ---- the process that plans --------------------------------------------------------------------------------------


def planner() -> Callable[[str, str], object]:
    """A session's own preview of a question."""
    import pyarrow as pa

    from tacit import Approx, Private, Public, Session

    rows = pa.table({"who": [1], "x": [1], "f": [0.5], "s": ["a"], "d": pa.array([0], pa.date32())})
    public = pa.table({"s": ["a", "b"], "label": ["l", "m"]})
    tables: dict[str, Private | Public] = {"t": Private(rows, "who"), "u": Private(rows, "who"), "p": Public(public)}
    session = Session(tables, Approx(10, "0.01"))
    return lambda text, epsilon: session.cost(text, epsilon=epsilon)


def work(seed: int, first: int, count: int, plan: Callable[[str, str], object]) -> Iterator[dict[str, Any]]:
    """One line for each query: what came, and the processor time it took."""
    from tacit import TacitError

    for number in range(first, first + count):
        text, epsilon = query(seed, number)
        start = time.process_time()
        try:
            plan(text, epsilon)
            came = "planned"
        except TacitError:
            came = "refused"
        except Exception as error:
            came = f"{type(error).__name__}"
        yield {"number": number, "came": came, "seconds": time.process_time() - start}


def limited() -> None:
    """Allow this process some memory more than it has now."""
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if Path("/proc/self/statm").exists() else 0
    if pages:
        most = pages * resource.getpagesize() + MEGABYTES * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def attack(seed: int, queries: int, module: str = "tests.attacks.odd_sql") -> Tried:
    """Give so many queries to planners in other processes; a planner that is late is ended and replaced."""
    done = Tried()
    while done.queries < queries:
        command = [sys.executable, "-m", module, str(seed), str(done.queries), str(queries - done.queries)]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0)
        try:
            assert process.stdout is not None
            lines = _lines(process.stdout)
            for line in lines:
                _note(done, seed, json.loads(line))
        finally:
            process.kill()
            process.wait(200)
        if done.queries < queries:  # it hung, or died
            text, epsilon = query(seed, done.queries)
            done.failures.append(f"no end: {text!a:.200} at ε = {epsilon!a:.40}")
            done.queries += 1
    return done


def _lines(output: Any) -> Iterator[bytes]:
    """Lines as they come, until there are none or one is late."""
    rest = b""
    while select.select([output], [], [], LATE)[0] and (part := output.read(65536)):
        *lines, rest = (rest + part).split(b"\n")
        yield from lines


def _note(done: Tried, seed: int, line: dict[str, Any]) -> None:
    done.queries += 1
    done.planned += line["came"] == "planned"
    done.refused += line["came"] == "refused"
    done.slowest = max(done.slowest, line["seconds"])
    text, epsilon = query(seed, line["number"])
    shown = f"{text!a:.200} at ε = {epsilon!a:.40}"
    if line["came"] not in ("planned", "refused"):
        done.failures.append(f"{line['came']}: {shown}")
    elif line["seconds"] > SECONDS:
        done.failures.append(f"{line['seconds']:.1f} s: {shown}")


def main(plan: Callable[[], Callable[[str, str], object]] = planner) -> None:
    """The process."""
    seed, first, count = map(int, sys.argv[1:4])
    ready = plan()
    ready("SELECT COUNT(*) FROM t", "1")  # so that what is loaded on first use does not count
    limited()
    for line in work(seed, first, count, ready):
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
