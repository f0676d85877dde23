"""How often what an answer says is true: every statistic, eight shapes of data, from 5 to 20,000 rows, at ε = 1.

    python benchmarks/coverage.py [--quick] [--runs 100] [--only STATISTIC …] [--add]

Every sentence of an answer that has a confidence is compared with the rows: the interval with what it says it covers
(the truth, or the value with persons capped as the answer says), "the truth is at least", the number of persons above
what the sentence names, the rank error, what lies beyond an extreme, what a page of Serve says of the truth. Releases
are exact draws with the system's randomness; the engine reads each table once. The share of runs in which each
sentence is true goes to benchmarks/results/coverage.json.

Shapes: *hub graph*, edges of which half touch one person; *twenty persons*, all rows theirs; *one giant*, lognormal
with one person of a million times the rest; *Pareto 1.1*; *constants*; *two clusters*, half of the rows near 10 and
half near a million; *signed*, normal around 0; *mostly missing*, nineteen of twenty values NULL. A person has one to
four rows. A sentence fails the study where its share lies below its confidence by more than chance explains: once in
10^5 for a cell.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from math import inf, lgamma, log
from typing import Any

import numpy as np
import pyarrow as pa
from draws import once
from printed import Sentence, about_capped, about_truth, inside, on_page
from record import read, write

from tacit import Approx, Private, Session
from tacit.answers import Answer, Answers
from tacit.answers.order import Between, Inner, Ranked, persons_at
from tacit.answers.spreads import SURE
from tacit.answers.totals import CappedTotal, SignedTotal
from tacit.engines.remembering import Remembering
from tacit.noises import Difference, Lopsided, LopsidedSum
from tacit.tables.releasing.room import Room
from tacit.tables.statistics import extremes, quantiles
from tacit.tables.statistics.quantiles import PRECISION
from tacit.tables.statistics.ways import totals
from tacit.tables.statistics.ways.cells import DIGITS

SIZES = (5, 20, 200, 2000, 20_000)
TABLES = ("twenty persons", "one giant", "Pareto 1.1", "constants", "two clusters", "signed", "mostly missing")
GRAPH = "hub graph"
GROUPS = (0, 1, 2)
SLOW = {"variance", "standard deviation", "distinct values", "modal count", "3rd largest"}
"""What takes so long that it is asked a quarter as often."""
CHANCE = 1e-5
"""How unlikely a cell's share may be before its sentence counts as false."""


def drawn_values(shape: str, rows: int, rng: np.random.Generator) -> np.ndarray:
    """Whole numbers; NaN where there is none."""
    usual = np.rint(100 * rng.lognormal(0, 1, rows))
    match shape:
        case "one giant":
            usual[0] = 10**8
        case "Pareto 1.1":
            usual = np.rint(100 * (1 - rng.random(rows)) ** (-1 / 1.1))
        case "constants":
            usual[:] = 7
        case "two clusters":
            usual = np.where(rng.random(rows) < 0.5, 10, 10**6) + rng.integers(-3, 4, rows)
        case "signed":
            usual = np.rint(rng.normal(0, 500, rows))
        case "mostly missing":
            usual[rng.random(rows) < 0.95] = np.nan
    return usual


@dataclass(frozen=True, eq=False)
class Rows:
    """A made table: whose each row is, its value, and its person's group."""

    person: np.ndarray
    value: np.ndarray
    flag: np.ndarray

    @classmethod
    def of(cls, shape: str, size: int, seed: int) -> Rows:
        """A table of about this many rows."""
        rng = np.random.default_rng(seed)
        if shape == "twenty persons":
            person = np.arange(size) % 20
        else:
            person = np.repeat(np.arange(size), rng.integers(1, 5, size))[:size]
        return cls(person, drawn_values(shape, size, rng), rng.random(size) < 0.2)

    @property
    def group(self) -> np.ndarray:
        """A person belongs to one of three groups."""
        return self.person % 3

    @property
    def part(self) -> np.ndarray:
        """A person's rows belong to several of three parts."""
        return np.arange(len(self.person)) % 3

    def table(self) -> pa.Table:
        """As Tacit reads it."""
        valid = ~np.isnan(self.value)
        x = pa.array(np.where(valid, self.value, 0).astype(np.int64), mask=~valid)
        columns: dict[str, Any] = {"p": self.person, "x": x, "g": self.group, "k": self.part, "b": self.flag}
        return pa.table(columns)

    def where(self, kept: np.ndarray) -> Rows:
        """Some of the rows."""
        return Rows(self.person[kept], self.value[kept], self.flag[kept])

    @cached_property
    def known(self) -> Rows:
        """The rows with a value."""
        return self.where(~np.isnan(self.value))

    @cached_property
    def _inverse(self) -> np.ndarray:
        return np.unique(self.person, return_inverse=True)[1]

    def by_person(self, weights: np.ndarray | None = None) -> np.ndarray:
        """The sum over each person's rows, or their number."""
        return np.bincount(self._inverse, weights=weights) if len(self.person) else np.zeros(0)

    def ends(self, largest: bool) -> np.ndarray:
        """Each person's largest value, or smallest, in descending order of how far out."""
        order = np.argsort(self.value)
        order = order[::-1] if largest else order
        _, first = np.unique(self.person[order], return_index=True)
        return self.value[order][np.sort(first)]


class Ranking:
    """Weighed rows in the order of their values."""

    def __init__(self, rows: Rows, cap: int | None) -> None:
        known = rows.known
        counts = known.by_person()
        each = 1 / np.maximum(counts, 1) if cap is None else np.minimum(1, cap / np.maximum(counts, 1))
        weights = each[known._inverse] if len(known.person) else np.zeros(0)
        order = np.argsort(known.value, kind="stable")
        self.values, self.sums = known.value[order], np.concatenate([[0], np.cumsum(weights[order])])
        self.weight = float(self.sums[-1])

    def error(self, q: float, y: float, digits: int) -> float:
        """How much weight lies between a value and the quantile, with values rounded to so many digits."""
        sizes = np.abs(self.values)
        units = 10.0 ** np.maximum(np.floor(np.log10(np.maximum(sizes, 1))) + 1 - digits, 0)
        values = np.rint(self.values / units) * units
        below, up_to = (self.sums[np.searchsorted(values, y, side)] for side in ("left", "right"))
        return float(max(0.0, q * self.weight - up_to, below - q * self.weight))

    def quantile(self, q: float) -> tuple[float, float] | None:
        """The lowest and the highest value that can be called the quantile; None where there are no values."""
        if not len(self.values):
            return None
        target, close = q * self.weight, 1e-6
        low = bisect_left(self.sums[1:], target - close)
        high = bisect_left(self.sums[1:], target + close)
        last = len(self.values) - 1
        return float(self.values[min(low, last)]), float(self.values[min(high, last)])


Judge = Callable[[Answer, Rows], Iterator[Sentence]]


def capped_total(noise: Any, totals: np.ndarray) -> float:
    """The sum with persons above a cap counted as was said."""
    if isinstance(noise, Difference):
        return capped_total(noise.first, totals[totals > 0]) - capped_total(noise.second, -totals[totals < 0])
    assert isinstance(noise, CappedTotal)
    within = np.minimum(totals[totals <= noise.limit], noise.cap)
    return float(within.sum()) + noise.counted * int((totals > noise.limit).sum())


def judge_total(totals: Callable[[Rows], np.ndarray]) -> Judge:
    """A sum or count of one number for each person."""

    def judge(answer: Answer, rows: Rows) -> Iterator[Sentence]:
        own: Any = totals(rows)
        yield from about_truth(answer, float(own.sum()))
        spread: Any = answer.spread
        drawn = getattr(spread, "drawn", None)
        if drawn is not None:
            yield "interval of the capped value", inside(answer, capped_total(spread.noise, own))
            yield from about_capped(answer, own)
            most, cap = answer.persons_above_cap(), float(str(answer.cap))
            yield "persons above the cap", most is None or int((abs(own) > cap).sum()) <= most
            if isinstance(drawn, SignedTotal):
                yield "positive totals at least", drawn.positive.at_least(SURE) <= own[own > 0].sum()
                yield "negative totals at most", -drawn.negative.at_least(SURE) >= own[own < 0].sum()
        elif answer.interval().covers == "capped value" and answer.cap is not None:
            said = re.search(r"beyond (-?[\d,.e+]+)(?: or -([\d,.e+]+))?", answer.interval().of)
            assert said is not None
            highest, lowest = (float((part or said[1]).replace(",", "")) for part in (said[1], said[2]))
            yield "interval of the capped value", inside(answer, float(np.clip(own, -lowest, highest).sum()))

    return judge


def judge_mean(per_person: bool) -> Judge:
    """A mean, as a sum around a centre over a count."""

    def judge(answer: Answer, rows: Rows) -> Iterator[Sentence]:
        known, spread = rows.known, answer.spread
        counts = known.by_person()
        sums = known.by_person(known.value)
        if per_person:
            sums, counts = sums / np.maximum(counts, 1), np.minimum(counts, 1)
        if not counts.sum():
            return
        yield from about_truth(answer, float(sums.sum() / counts.sum()))
        top_noise = getattr(spread, "top_noise", None)
        if answer.interval().covers == "capped value" and isinstance(top_noise, Difference | CappedTotal):
            quotient: Any = spread
            deviations = np.rint((sums - quotient.offset * counts) / quotient.unit)
            number = quotient.bottom_noise
            bottom = capped_total(number, counts) if isinstance(number, CappedTotal) else float(counts.sum())
            value = quotient.offset + quotient.unit * capped_total(top_noise, deviations) / bottom
            yield "interval of the capped value", inside(answer, value)

    return judge


def judge_extreme(largest: bool, rank: int = 1) -> Judge:
    """A minimum, a maximum, or the k-th of the rows."""
    sign = 1 if largest else -1

    def judge(answer: Answer, rows: Rows) -> Iterator[Sentence]:
        known, spread = rows.known, answer.spread
        if answer.value is None or not isinstance(spread, Inner):
            return
        values = np.sort(sign * known.value)[::-1]
        truth = sign * float(values[rank - 1]) if len(values) >= rank else -sign * inf
        yield "interval of the truth", inside(answer, truth)
        yield from on_page(answer, truth)
        beyond = int((sign * known.ends(largest) > sign * float(answer)).sum())
        most = persons_at(spread.beyond, SURE)
        if most is not None:
            yield "persons beyond", beyond <= most

    return judge


def judge_quantile(per_person: bool) -> Judge:
    """A quantile: its rank, and its interval."""

    def judge(answer: Answer, rows: Rows) -> Iterator[Sentence]:
        spread, name = answer.spread, answer.statistic
        assert isinstance(spread, Ranked)
        found = re.search(r"at most ([\d,]+) row", " ".join(answer.notes))
        ranking = Ranking(rows, None if per_person or not found else int(found[1].replace(",", "")))
        number = re.match(r"([\d.]+) quantile", name)
        q = float(number[1]) if number else 0.5
        digits = DIGITS if "levels" in answer.mechanism else PRECISION
        off = ranking.error(q, float(answer.value), digits)  # type: ignore[arg-type]
        yield "rank error", off <= spread.rank_error(SURE) + 1e-6
        truth, interval = ranking.quantile(q), answer.interval()
        if truth is not None and isinstance(spread, Between):
            yield f"interval of the {interval.covers}", inside(answer, *truth)

    return judge


def judge_number(truth: Callable[[Rows], float | None]) -> Judge:
    """A number about which only the truth is said."""

    def judge(answer: Answer, rows: Rows) -> Iterator[Sentence]:
        found = truth(rows)
        if found is not None:
            yield from about_truth(answer, found)

    return judge


def spread_of(rows: Rows, root: bool) -> float | None:
    """The variance of the rows, as SQL's VAR_POP has it, or its root."""
    known = rows.known.value
    return None if not len(known) else float(np.std(known) if root else np.var(known))


def share_true(rows: Rows) -> float | None:
    """The share of persons with a true flag."""
    return float((rows.by_person(rows.flag) > 0).mean()) if len(rows.person) else None


Ask = Callable[[Any], Any]
KEYS = list(GROUPS)
SUM = judge_total(lambda rows: rows.known.by_person(rows.known.value))
COUNT = judge_total(lambda rows: rows.by_person())
PERSONS = judge_number(lambda rows: float(len(np.unique(rows.person))))
DISTINCT = judge_number(lambda rows: float(len(np.unique(rows.known.value))))

ASKED: dict[str, tuple[Ask, Judge]] = {
    "persons": (lambda t: t.persons(epsilon=1), PERSONS),
    "count": (lambda t: t.count(epsilon=1), COUNT),
    "count, ρ": (lambda t: t.count(rho="0.5"), COUNT),
    "sum": (lambda t: t.sum("x", epsilon=1), SUM),
    "sum, ρ": (lambda t: t.sum("x", rho="0.5"), SUM),
    "mean": (lambda t: t.mean("x", epsilon=1), judge_mean(False)),
    "mean per person": (lambda t: t.mean("x", per="person", epsilon=1), judge_mean(True)),
    "minimum": (lambda t: t.min("x", epsilon=1), judge_extreme(False)),
    "maximum": (lambda t: t.max("x", epsilon=1), judge_extreme(True)),
    "3rd largest": (lambda t: t.largest("x", 3, epsilon=1), judge_extreme(True, 3)),
    "median": (lambda t: t.median("x", epsilon=1), judge_quantile(False)),
    "median per person": (lambda t: t.median("x", per="person", epsilon=1), judge_quantile(True)),
    "0.9 quantile per person": (lambda t: t.quantile("x", "0.9", per="person", epsilon=1), judge_quantile(True)),
    "three quartiles": (lambda t: t.quantile("x", ["0.25", "0.5", "0.75"], epsilon=1), judge_quantile(False)),
    "variance": (lambda t: t.variance("x", epsilon=1), judge_number(lambda rows: spread_of(rows, False))),
    "standard deviation": (lambda t: t.std("x", epsilon=1), judge_number(lambda rows: spread_of(rows, True))),
    "distinct values": (lambda t: t.nunique("x", epsilon=1), DISTINCT),
    "ratio": (lambda t: t.ratio("b", epsilon=1), judge_number(share_true)),
    "largest number of rows": (
        lambda t: t.max_degree(epsilon=1),
        judge_number(lambda rows: float(max(rows.by_person(), default=0))),
    ),
    "modal count": (
        lambda t: t.modal_count("x", epsilon=1),
        judge_number(lambda rows: float(max(np.unique(rows.known.value, return_counts=True)[1], default=0))),
    ),
}

GROUPED: dict[str, tuple[Ask, Judge]] = {
    "count": (lambda g: g.count(epsilon=1), COUNT),
    "sum": (lambda g: g.sum("x", epsilon=1), SUM),
    "persons": (lambda g: g.persons(epsilon=1), judge_total(lambda rows: np.ones(len(np.unique(rows.person))))),
    "median": (lambda g: g.median("x", per="person", epsilon=1), judge_quantile(True)),
    "maximum": (lambda g: g.max("x", epsilon=1), judge_extreme(True)),
}


PARTED: dict[str, tuple[Ask, int]] = {
    "count by part": (lambda g: g.count(epsilon=1), 1),
    "count by part, ρ": (lambda g: g.count(rho="0.5"), 2),
}
"""Vectors of persons who are in several groups, and the norm that is capped."""


def judge_vectors(answers: Any, rows: Rows, norm: int) -> Iterator[Sentence]:
    """The counts of all groups, each person's vector scaled down to the cap."""
    vectors = np.stack([rows.by_person((rows.part == key).astype(float)) for key in GROUPS], axis=1)
    lengths = np.linalg.norm(vectors, ord=norm, axis=1)
    for key in GROUPS:
        answer = answers[key]
        total = float((vectors[:, key] * np.minimum(1, float(answer.cap) / np.maximum(lengths, 1e-9))).sum())
        low, high = answer.interval()
        yield "interval of the capped value", low - 1 <= total <= high + 1  # parts are rounded toward zero
        yield from about_truth(answer, float(vectors[:, key].sum()))


@dataclass(frozen=True, eq=False)
class Edges:
    """A graph in which half of the edges touch one person."""

    a: np.ndarray
    b: np.ndarray

    @classmethod
    def of(cls, size: int, seed: int) -> Edges:
        """So many edges."""
        rng = np.random.default_rng(seed)
        a, b = rng.integers(0, size, size), rng.integers(0, size, size)
        a[: size // 2] = 0
        return cls(a, b)

    @property
    def degrees(self) -> np.ndarray:
        """The rows that concern each person."""
        loops = self.a[self.a == self.b]
        most = int(max(self.a.max(), self.b.max())) + 1
        both = np.bincount(self.a, minlength=most) + np.bincount(self.b, minlength=most)
        return both - np.bincount(loops, minlength=most)

    def table(self) -> pa.Table:
        """As Tacit reads it."""
        return pa.table({"a": pa.array(self.a), "b": pa.array(self.b)})


NETWORK: dict[str, tuple[Ask, Callable[[Edges], float]]] = {
    "count": (lambda t: t.count(epsilon=1), lambda e: float(len(e.a))),
    "count by shifted inverse": (
        lambda t: t.count(method="shifted_inverse", epsilon=1),
        lambda e: float(len(e.a)),
    ),
    "sum": (lambda t: t.sum("b", epsilon=1), lambda e: float(e.b.sum())),
    "maximum": (lambda t: t.max("b", epsilon=1), lambda e: float(e.b.max())),
    "distinct values": (lambda t: t.nunique("a", epsilon=1), lambda e: float(len(np.unique(e.a)))),
    "largest number of rows": (lambda t: t.max_degree(epsilon=1), lambda e: float(e.degrees.max())),
    "modal count": (
        lambda t: t.modal_count("a", epsilon=1),
        lambda e: float(np.unique(e.a, return_counts=True)[1].max()),
    ),
}


class Asker:
    """Releases of one table, its rows read once."""

    def __init__(self, table: pa.Table, person: Any) -> None:
        self.session = Session({"t": Private(table, person=person)}, Approx(10**9, "0.5"))
        self._engine = Remembering(self.session._tables.engine)
        self._found: list[Any] = []
        object.__setattr__(self.session._releaser, "ask", self._note)

    def _note(self, relation: Any, statistic: Any, cost: Any, **_: Any) -> Answers:
        """What is asked, caught before it is answered."""
        self._found.append((relation, statistic, cost))
        return Answers({}, cost)

    def releases(self, ask: Ask, of: Any, runs: int) -> Iterator[Answer | Answers]:
        """So many answers to a question."""
        ask(of)
        relation, statistic, cost = self._found.pop()
        for _ in range(runs):
            with self._engine.snapshot() as snapshot:
                source = self.session._releaser.randomness
                opening = self._engine.snapshot
                yield statistic.release(
                    Room(self._engine, snapshot, relation, source, cost, "any one person", opening=opening)
                )


class Tally:
    """How often each sentence was true."""

    def __init__(self) -> None:
        self.cells: dict[tuple[str, str, int, str], list[int]] = defaultdict(lambda: [0, 0])

    def add(self, statistic: str, shape: str, size: int, sentences: Iterator[Sentence]) -> None:
        """Count the sentences of one answer."""
        for sentence, true in sentences:
            cell = self.cells[statistic, shape, size, sentence]
            cell[0] += bool(true)
            cell[1] += 1

    def say_false(self, shape: str, size: int, seconds: float) -> None:
        """What was false too often in a table."""
        print(f"{shape}, {size:,} rows: {seconds:.0f} s", file=sys.stderr, flush=True)
        for (statistic, of, rows, sentence), (true, runs) in self.cells.items():
            if (of, rows) == (shape, size) and too_few(true, runs):
                print(f"FALSE {statistic}, {shape}, {size:,} rows: {sentence}: {true} of {runs}", flush=True)

    def rows(self) -> list[dict[str, Any]]:
        """As stored."""
        return [
            {"statistic": statistic, "shape": shape, "rows": size, "sentence": sentence, "true": true, "runs": runs}
            for (statistic, shape, size, sentence), (true, runs) in self.cells.items()
        ]


def too_few(true: int, runs: int, confidence: float = 0.95) -> bool:
    """Whether so few true sentences are less likely than `CHANCE` at this confidence."""

    def chance(k: int) -> float:
        ways = lgamma(runs + 1) - lgamma(k + 1) - lgamma(runs - k + 1)
        return float(np.exp(ways + k * log(confidence) + (runs - k) * log(1 - confidence)))

    return sum(chance(k) for k in range(true + 1)) < CHANCE


def study(runs: int, sizes: tuple[int, ...], only: list[str]) -> Tally:
    """All cells."""
    tally = Tally()

    def wanted(name: str) -> bool:
        return not only or any(part in name for part in only)

    for shape in TABLES:
        for size in sizes:
            begun = time.perf_counter()
            rows = Rows.of(shape, size, 7)
            asker = Asker(rows.table(), "p")
            remember_laws()
            table: Any = asker.session["t"]
            for name, (ask, judge) in ASKED.items():
                times = max(1, runs // 4) if name in SLOW else runs
                for answer in asker.releases(ask, table, times) if wanted(name) else ():
                    for one in answer.values() if isinstance(answer, Answers) else (answer,):
                        tally.add(name, shape, size, judge(one, rows))
            groups = {key: rows.where(rows.group == key) for key in GROUPS}
            for name, (ask, judge) in GROUPED.items():
                title = f"{name} by group"
                for answers in asker.releases(ask, table.group_by("g", keys=KEYS), runs) if wanted(title) else ():
                    for key in GROUPS:
                        tally.add(title, shape, size, judge(answers[key], groups[key]))  # type: ignore
            for name, (ask, norm) in PARTED.items():
                for answers in asker.releases(ask, table.group_by("k", keys=KEYS), runs) if wanted(name) else ():
                    tally.add(name, shape, size, judge_vectors(answers, rows, norm))
            tally.say_false(shape, size, time.perf_counter() - begun)
    for size in sizes:
        begun = time.perf_counter()
        edges = Edges.of(size, 7)
        asker = Asker(edges.table(), ["a", "b"])
        remember_laws()
        for name, (ask, truth) in NETWORK.items():
            title, known = f"{name} of a graph", truth(edges)
            for answer in asker.releases(ask, asker.session["t"], runs) if wanted(title) else ():
                tally.add(title, GRAPH, size, about_truth(answer, known))  # type: ignore
        tally.say_false(GRAPH, size, time.perf_counter() - begun)
    return tally


CAPPED: Any = totals  # which imports what is replaced
PLAIN: Any = extremes.extreme_law, quantiles.quantile_law, CAPPED.scan_and_release


def remember_laws() -> None:
    """Laws of one table that are the same again are not built again, and tails of the same noise are found once."""
    extremes.extreme_law = once(PLAIN[0], lambda *asked: asked)
    quantiles.quantile_law = once(PLAIN[1], lambda ranks, *rest: (id(ranks), rest))
    CAPPED.scan_and_release = once(PLAIN[2], lambda counts, sums, epsilon: (tuple(counts), tuple(sums), epsilon))


for kind in (Lopsided, LopsidedSum):
    kind.limit = cache(kind.limit)  # type: ignore[method-assign]


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few runs of small tables")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--add", action="store_true", help="add to the runs that are stored")
    parser.add_argument("--only", nargs="*", default=[], help="parts of names of statistics; the others stay as stored")
    given = parser.parse_args()
    runs, sizes = (5, SIZES[:3]) if given.quick else (given.runs, SIZES)
    tally, stored = study(runs, sizes, given.only), read("coverage").get("cells", ())
    anew = {statistic for statistic, *_ in tally.cells}
    for row in stored if given.only or given.add else ():
        if given.add or row["statistic"] not in anew:
            cell = tally.cells[row["statistic"], row["shape"], row["rows"], row["sentence"]]
            cell[0], cell[1] = cell[0] + row["true"], cell[1] + row["runs"]
    found = tally.rows()
    print(f"{len(found):,} cells, {sum(row['runs'] for row in found):,} sentences")
    below = sum(too_few(row["true"], row["runs"]) for row in found)
    write("coverage", {"confidence": float(SURE), "chance": CHANCE, "below": below, "cells": found})


if __name__ == "__main__":
    main()
