"""What a δ and a ρ are worth: every statistic at ε = 1 and at (1, 10^-6), and two theorems about ρ, side by side.

    python benchmarks/delta.py [--quick] [--draws 200]

- *every statistic*: the same question of the same table at both costs, for three shapes of data and 200, 2,000 and
  20,000 persons. Both costs use the same seeds, so where a δ is spent as ε the answers are the same and the ratio is 1:
  where all answers of the first `SAME` seeds are, public facts or the cap chosen have led to the same laws, no more are
  drawn and the report says so (`same`, `releases`); all other cells have as many as are wanted, 200.
  Errors: distance from the truth in its own unit, averaged over groups or quantiles; of order statistics in ranks; of
  modes in the rows that the best one has more. An answer without a value is off by all of the truth.
- *many at once*: where theory promises that a δ helps. With m noises on what one person moves, Gaussian noise is
  √(4mρ)/ε times smaller by its standard deviation, with k choices each is √(8kρ)/ε times surer; ρ is what (ε, δ) buys.
  Gaussian noise of equal deviation has 1.13 times the mean error, and a choice between both noises is paid too.
- *theorems*: `median(rho=0.5²/8)` has the law of ε = 0.5, `max(rho=0.0183)` a window of about 90 persons.

Results go to benchmarks/results/delta.json.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
import pyarrow as pa
from record import write

from tacit import Approx, Private, Pure, Session, Zcdp
from tacit.answers import Answers
from tacit.audit.statistics import captured
from tacit.engines.remembering import Remembering
from tacit.guarantees import Guarantee
from tacit.mechanisms.law import Law
from tacit.randomness import seeded_not_private
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.ways.values import OfValues

SIZES = (200, 2_000, 20_000)
SHAPES = ("alike", "skewed", "heavy")
GROUPS, MANY = 10, 100
SAME = 20
"""So many equal answers show that both costs take the same way."""
COSTS: dict[str, Guarantee] = {"epsilon": Pure(1), "epsilon, delta": Approx(1, "1e-6")}

Numbers = Any
Ask = Callable[[Any], Any]


class Rows:
    """A table of one shape, and the truth about it."""

    def __init__(self, shape: str, persons: int, groups: int = GROUPS, everywhere: bool = False) -> None:
        rng = np.random.default_rng(17)
        if everywhere or shape == "home":
            rows = np.full(persons, groups if everywhere else 30)
        elif shape == "alike":
            rows = np.ones(persons, dtype=int)
        else:
            rows = 1 + (rng.poisson(3, persons) if shape == "skewed" else rng.lognormal(1, 1, persons).astype(int))
        self.person = np.repeat(np.arange(persons), rows)
        size = len(self.person)
        if shape in ("alike", "home"):
            value = rng.normal(5000, 500, size)
        else:
            value = np.exp(rng.normal(8, 1, size)) if shape == "skewed" else 1000 * (1 - rng.random(size)) ** (-1 / 1.5)
        self.value = np.rint(value).astype(np.int64)
        home = rng.integers(0, groups, persons)
        self.group = np.tile(np.arange(groups), persons) if everywhere else rng.integers(0, groups, size)
        if shape in ("alike", "home") and not everywhere:
            self.group = home[self.person]
        self.code = np.minimum(rng.geometric(0.15, size), 30)
        self.flag = rng.random(size) < 0.3
        names = ("person", "value", "group", "code", "flag")
        columns: Any = {"g" if name == "group" else name: getattr(self, name) for name in names}
        self._session = Session({"t": Private(pa.table(columns), person="person")}, Pure(10**9))
        self._engine = Remembering(self._session._tables.engine)
        self.groups = groups

    def values(self, ask: Ask, cost: Guarantee, draws: int) -> list[list[Any]]:
        """Released values."""
        relation, statistic, _ = captured(self._session, lambda: ask(self._session["t"]))
        found = []
        for seed in range(draws):
            with self._engine.snapshot() as snapshot:
                room = _Keeping(self._engine, snapshot, relation, seeded_not_private(seed), cost, "any one person")
                answer: Any = statistic.release(room)
            if isinstance(statistic, OfValues):  # the law of a flow takes long, a draw from it does not
                (law,) = room.laws
                return [[law._draw(seeded_not_private(i)).value] for i in range(draws)]
            found.append([one.value for one in (answer.values() if isinstance(answer, Answers) else [answer])])
        return found


class _Keeping(Room):
    """A room that keeps the laws drawn from."""

    laws: tuple[Law[Any], ...] = ()

    def draw(self, law: Law[Any], part: str = "") -> Any:
        """As any room."""
        self.laws += (law,)
        return super().draw(law, part)


def by_group(rows: Rows, found: Callable[[Numbers], Any]) -> list[Any]:
    """A number for each group, from a mask of its rows."""
    return [found(rows.group == g) for g in range(rows.groups)]


def largest_each(rows: Rows) -> Numbers:
    """Each person's largest value."""
    found = np.zeros(rows.person.max() + 1, dtype=np.int64)
    np.maximum.at(found, rows.person, rows.value)
    return np.sort(found)


def rank(values: Numbers, asked: Sequence[float]) -> Callable[[list[Any]], float]:
    """How far the ranks of answers are off, in rows."""
    ordered = np.sort(values)

    def error(answers: list[Any]) -> float:
        off = []
        for q, y in zip(asked, answers, strict=True):
            low, high = np.searchsorted(ordered, y, "left"), np.searchsorted(ordered, y, "right")
            off.append(max(0.0, q * len(ordered) - high, low - q * len(ordered)))
        return float(np.mean(off))

    return error


def apart(truth: Sequence[float]) -> Callable[[list[Any]], float]:
    """The mean distance from the truth; all of it where there is no value."""
    return lambda answers: float(
        np.mean([abs(t) if a is None else abs(float(a) - t) for a, t in zip(answers, truth, strict=True)])
    )


def questions(rows: Rows) -> dict[str, tuple[Ask, Callable[[list[Any]], float]]]:
    """Every statistic: how it is asked, and the error of its answers."""
    v, g, p, codes = rows.value, rows.group, rows.person, np.bincount(rows.code, minlength=31)
    persons, keys = len(np.unique(p)), list(range(rows.groups))
    highest = largest_each(rows)
    beyond = lambda a: float((highest > a[0]).sum()) if a[0] is not None else float(len(highest))  # noqa: E731
    lowest = np.full(persons, 2**62)
    np.minimum.at(lowest, p, v)
    below = lambda a: float((lowest < a[0]).sum()) if a[0] is not None else float(persons)  # noqa: E731
    present = [len(np.unique(p[g == k])) for k in keys]
    ever = np.zeros(persons, dtype=bool)
    np.logical_or.at(ever, p, rows.flag)
    edges = [0, 1000, 2000, 3000, 5000, 8000, 20000]

    def grouped(table: Any) -> Any:
        return table.group_by("g", keys=keys)

    flags = by_group(rows, lambda m: len(np.unique(p[m & rows.flag])) / max(1, len(np.unique(p[m]))))
    tops = np.sort(codes)[::-1]
    return {
        "persons": (lambda t: t.persons(epsilon=1), apart([persons])),
        "count": (lambda t: t.count(epsilon=1), apart([len(v)])),
        "sum": (lambda t: t.sum("value", epsilon=1), apart([v.sum()])),
        "mean": (lambda t: t.mean("value", epsilon=1), apart([v.mean()])),
        "median": (lambda t: t.median("value", epsilon=1), rank(v, [0.5])),
        "median alone": (lambda t: t.median("value", interval=False, epsilon=1), rank(v, [0.5])),
        "15 quantiles": (
            lambda t: t.quantile("value", [Fraction(i, 16) for i in range(1, 16)], epsilon=1),
            rank(v, [i / 16 for i in range(1, 16)]),
        ),
        "max": (lambda t: t.max("value", epsilon=1), beyond),
        "min": (lambda t: t.min("value", epsilon=1), below),
        "variance": (lambda t: t.variance("value", epsilon=1), apart([v.var()])),
        "std": (lambda t: t.std("value", epsilon=1), apart([v.std()])),
        "covariance": (
            lambda t: t.covariance("value", "code", epsilon=1),
            apart([float(np.cov(v, rows.code, bias=True)[0, 1])]),
        ),
        "nunique": (lambda t: t.nunique("code", epsilon=1), apart([int((codes > 0).sum())])),
        "modal_count": (lambda t: t.modal_count("code", epsilon=1), apart([int(codes.max())])),
        "max_degree": (lambda t: t.max_degree(epsilon=1), apart([int(np.bincount(p).max())])),
        "ratio": (lambda t: t.ratio("flag", epsilon=1), apart([ever.mean()])),
        "histogram": (lambda t: t.histogram("value", edges, epsilon=1), apart(list(np.histogram(v, edges)[0]))),
        "mode": (lambda t: t.mode("code", list(range(1, 31)), epsilon=1), lambda a: float(tops[0] - codes[a[0]])),
        "top 3": (
            lambda t: t.top("code", list(range(1, 31)), 3, epsilon=1),
            lambda a: float(tops[:3].sum() - codes[a].sum()),
        ),
        "persons by group": (lambda t: grouped(t).persons(epsilon=1), apart(present)),
        "count by group": (lambda t: grouped(t).count(epsilon=1), apart(by_group(rows, np.sum))),
        "sum by group": (lambda t: grouped(t).sum("value", epsilon=1), apart(by_group(rows, lambda m: v[m].sum()))),
        "mean by group": (lambda t: grouped(t).mean("value", epsilon=1), apart(by_group(rows, lambda m: v[m].mean()))),
        "nunique by group": (
            lambda t: grouped(t).nunique("code", epsilon=1),
            apart(by_group(rows, lambda m: len(np.unique(rows.code[m])))),
        ),
        "ratio by group": (lambda t: grouped(t).ratio("flag", epsilon=1), apart(flags)),
    }


def measured(rows: Rows, ask: Ask, error: Callable[[list[Any]], float], draws: int) -> dict[str, Any]:
    """The errors at both costs, and how they compare."""
    found: dict[str, Any] = {}
    errors = {name: [error(a) for a in rows.values(ask, cost, min(SAME, draws))] for name, cost in COSTS.items()}
    if errors["epsilon"] != errors["epsilon, delta"]:
        errors = {name: [error(a) for a in rows.values(ask, cost, draws)] for name, cost in COSTS.items()}
    for name, each in errors.items():
        found[name] = {"median": float(np.median(each)), "mean": float(np.mean(each))}
    plain, delta = (found[name]["mean"] for name in COSTS)
    found["ratio"] = 1.0 if plain == delta else delta / plain
    found["releases"] = len(errors["epsilon"])
    found["same"] = errors["epsilon"] == errors["epsilon, delta"]
    return found


def every_statistic(draws: int, sizes: Sequence[int]) -> dict[str, Any]:
    """All of them, shape by shape."""
    found: dict[str, Any] = {}
    for shape in SHAPES:
        for persons in sizes:
            rows = Rows(shape, persons)
            for name, (ask, error) in questions(rows).items():
                one = measured(rows, ask, error, draws)
                found.setdefault(name, {})[f"{shape}, {persons}"] = one
                print(f"{name:20s} {shape:7s} {persons:6d} ratio {one['ratio']:.3f} same {one['same']}", flush=True)
    return found


def many_at_once(draws: int) -> dict[str, Any]:
    """Questions of many noises or choices, with what theory promises."""
    epsilon = 1.0
    rho = float(Zcdp.within(Approx(1, "1e-6")).rho)
    found: dict[str, Any] = {}
    for groups in (GROUPS, 25, MANY, 400):
        for everywhere in (False, True):
            rows = Rows("alike", 5_000 if groups < 400 else 2_000, groups, everywhere)
            keys = list(range(groups))
            one = measured(
                rows,
                lambda t, keys=keys: t.group_by("g", keys=keys).count(epsilon=1),  # type: ignore[misc]
                apart(by_group(rows, np.sum)),
                draws,
            )
            in_each = groups if everywhere else 1
            one["promised"] = sqrt(4 * in_each * rho) / epsilon
            found[f"counts of {groups} groups, everybody in {in_each}"] = one
    found |= noise_to_choose(draws, rho)
    rows = Rows("skewed", 20_000)
    for number in (15, 127, 999):
        wanted = [Fraction(i, number + 1) for i in range(1, number + 1)]
        one = measured(
            rows,
            lambda t, wanted=wanted: t.quantile("value", wanted, epsilon=1),  # type: ignore[misc]
            rank(rows.value, [float(q) for q in wanted]),
            draws,
        )
        one["promised"] = sqrt(8 * number.bit_length() * rho) / epsilon
        found[f"{number} quantiles, {number.bit_length()} choices"] = one
    found |= most_frequent(draws, rho)
    for name, each in found.items():
        print(f"{name:45s} gain {1 / each['ratio']:.2f}, theory {each['promised']:.2f}", flush=True)
    return found


def noise_to_choose(draws: int, rho: float) -> dict[str, Any]:
    """Thirty rows of everybody in one group, where asking which noise is smaller is in vain; means, of two vectors."""
    found = {}
    for groups, persons in ((25, 200), (25, 5_000), (MANY, 5_000)):
        rows = Rows("home", persons, groups)
        one = measured(
            rows,
            lambda t, groups=groups: t.group_by("g", keys=list(range(groups))).count(epsilon=1),  # type: ignore[misc]
            apart(by_group(rows, np.sum)),
            draws,
        )
        one["promised"] = sqrt(4 * rho)
        found[f"counts of {groups} groups, {persons} persons with 30 rows in 1"] = one
    rows = Rows("alike", 5_000, 25, everywhere=True)
    one = measured(rows, *questions(rows)["mean by group"], draws)
    for cost in COSTS:  # a quotient has no mean error
        one[cost]["mean"] = one[cost]["median"]
    one["ratio"] = one["epsilon, delta"]["median"] / one["epsilon"]["median"]
    one["promised"] = sqrt(8 * 25 * rho)
    return found | {"means of 25 groups, everybody in 25: median error": one}


def most_frequent(draws: int, rho: float) -> dict[str, Any]:
    """One choice after the other."""
    found, rows = {}, Rows("skewed", 2_000)
    codes = np.bincount(rows.code, minlength=31)
    for k in (3, 10, 25):
        one = measured(
            rows,
            lambda t, k=k: t.top("code", list(range(1, 31)), k, epsilon=1),  # type: ignore[misc]
            lambda a, k=k: float(np.sort(codes)[::-1][:k].sum() - codes[a].sum()),  # type: ignore[misc]
            draws,
        )
        one["promised"] = sqrt(8 * k * rho)
        found[f"the {k} most frequent of 30, {k} choices"] = one
    return found


def _median(table: Any) -> Any:
    return table.median("value", per="person", interval=False, epsilon=1)


def theorems(draws: int) -> dict[str, Any]:
    """A median and a maximum for ρ beside what their theorems say."""
    ages = Rows("alike", 20_000)
    found: dict[str, Any] = {}
    error = rank(ages.value, [0.5])
    costs = {"rho = 0.5²/8": Zcdp(Fraction(1, 32)), "epsilon = 0.5": Pure("0.5"), "as a pure step": Pure("0.2514")}
    ranks = {name: [error(a) for a in ages.values(_median, cost, 5 * draws)] for name, cost in costs.items()}
    found["median"] = {name: float(np.mean(each)) for name, each in ranks.items()}
    heavy = Rows("heavy", 20_000)
    highest = largest_each(heavy)
    windows = {}
    for name, cost in {"rho = 0.0183": Zcdp("0.0183"), "as a pure step": Pure("0.1916")}.items():
        above = [float((highest > a[0]).sum()) for a in heavy.values(lambda t: t.max("value", epsilon=1), cost, draws)]
        windows[name] = {"mean": float(np.mean(above)), "most": float(np.max(above))}
    windows["rho = 0.0183"]["stated"], windows["as a pure step"]["stated"] = 90, 241
    found["max"] = windows
    print(found)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--draws", type=int, default=200)
    given = parser.parse_args()
    draws = 4 if given.quick else given.draws
    report = {
        "draws": draws,
        "theorems": theorems(draws),
        "many at once": many_at_once(draws),
        "every statistic": every_statistic(draws, SIZES[:1] if given.quick else SIZES),
    }
    write("delta", report)


if __name__ == "__main__":
    main()
