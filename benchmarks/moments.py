"""Second moments and regression without bounds, beside oracles that know the data.

    python benchmarks/moments.py [--quick]

- *variance and standard deviation*, ε = 1, six shapes, one row each: the median relative error beside that of AVG(x²)
  − AVG(x)² with the best caps there are. That oracle chooses its caps by looking, for nothing; each of its four
  numbers, two sums and two counts, has Laplace noise for a quarter of ε. And how often the 95 % interval holds what it
  says.
- *regression*: wages on age and hours, 4,711 women with up to 15 rows each, and made-up data of 20,000 persons with
  one to five rows each. The median error of each coefficient by three ways at ε = 1: Tacit's; a private median of the
  fits on blocks of persons, the best number of blocks taken by looking; and noisy sums of products that are capped
  knowing the data, the best cap taken by looking and nothing paid for it. A coefficient's error is relative to the
  coefficient and, beside it, in standard errors of the fit without privacy, whose persons may have several rows.

Tacit's own statistics run, in a room of their own; only the engine is replaced, by one that answers from arrays in
memory what the engines answer, which is checked against DuckDB first. Results go to benchmarks/results/moments.json.
"""

from __future__ import annotations

import argparse
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from record import write

from tacit import Pure, read
from tacit.answers.moments import Fitted, Gram, SecondMoment
from tacit.data import WAGES
from tacit.engines import requests
from tacit.randomness.source import SYSTEM
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.base import Operand
from tacit.tables.statistics.regression import Regression
from tacit.tables.statistics.variance import Moment

SURE = Fraction(95, 100)
SIZES = (2_000, 20_000)
SHAPES = ("uniform", "normal", "ages", "exponential", "lognormal", "Pareto 2.2")
BLOCKS = (50, 100, 200, 400, 800)
CLIPS = (0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 1.0)


class Arrays:
    """An engine over arrays in memory, and its snapshot in one."""

    def __init__(self, person: Any, values: dict[Any, Any]) -> None:
        _, self.person = np.unique(person, return_inverse=True)
        self.values = values
        self.sums: tuple[int, ...] = ()
        self.relation: Any = type("Everybody", (), {"others": ()})()

    def snapshot(self) -> Arrays:
        return self

    def __enter__(self) -> Arrays:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to close."""

    def ask(self, _: Any, asked: Any) -> tuple[Any, ...]:
        return tuple(self.buckets(r) if isinstance(r, requests.TotalBuckets) else self.products(r) for r in asked)

    def added(self, rows: Any) -> Any:
        return np.bincount(self.person, weights=rows)

    def steps(self, column: requests.Steps) -> Any:
        inside = np.clip(self.values[column.value] - column.middle, -column.radius, column.radius)
        return np.floor(inside * (requests.HALF / column.radius)) - column.shift

    def total(self, total: Any) -> Any:
        match total:
            case requests.RowCount() | requests.Filled():
                return np.bincount(self.person).astype(float)
            case requests.Deviation():
                return self.added(self.values[total.value] - total.centre)
            case requests.Product():
                return self.added(self.steps(total.left) * self.steps(total.right))
        return self.added(self.values[total])

    def buckets(self, request: requests.TotalBuckets) -> requests.Buckets:
        found, limits = self.total(request.total), np.array(request.boundaries, dtype=float)

        def side(sizes: Any) -> tuple[requests.Bucket, ...]:
            places = np.searchsorted(limits, sizes)
            counts = np.bincount(places, minlength=len(limits) + 1)
            sums = np.bincount(places, weights=sizes, minlength=len(limits) + 1)
            return tuple(requests.Bucket(int(n), int(s)) for n, s in zip(counts, sums, strict=True))

        return requests.Buckets(side(found[found > 0]), side(-found[found < 0]))

    def products(self, request: requests.ProductTotals) -> tuple[int, ...]:
        columns = [self.steps(column) for column in request.columns]
        pairs = [(j, k) for j in range(len(columns)) for k in range(j, len(columns))]
        entries = [request.weights[0] * np.bincount(self.person)]
        entries += [request.weights[1] * self.added(column) for column in columns]
        entries += [self.added(columns[j] * columns[k]) for j, k in pairs]
        norm = np.sum(np.abs(entries), axis=0)
        self.sums = tuple(int(s) for s in (np.stack(entries) * np.minimum(1, request.cap / norm)).sum(axis=1))
        return self.sums

    def release(self, statistic: Any, epsilon: int = 1) -> Any:
        engine: Any = self
        return statistic.release(Room(engine, engine, self.relation, SYSTEM, Pure(epsilon), "person"))


def check() -> None:
    """The arrays say what DuckDB says."""
    rng = np.random.default_rng(0)
    person, x, y = rng.integers(0, 50, 400), rng.integers(-900, 900, 400), rng.integers(0, 10**6, 400)
    table = read(pa.table({"p": pa.array(person), "x": pa.array(x), "y": pa.array(y)}), person="p", budget=Pure(1))
    one, two = (table._operand(name).value for name in "xy")
    arrays = Arrays(person, {one: x, two: y})
    steps = (requests.Steps(one, 3, 2**11, 5), requests.Steps(two, 5 * 10**5, 2**20, -1))
    asked = (
        requests.TotalBuckets(requests.Deviation(one, 7), (10, 100, 1000)),
        requests.TotalBuckets(requests.Product(*steps), tuple(10**k for k in range(4, 14))),
        requests.ProductTotals(steps, (1000, 50), 2**24),
    )
    with table._session._tables.engine.snapshot() as snapshot:
        found = snapshot.ask(table._relation, asked)
    assert found[:2] == arrays.ask(None, asked[:2])
    assert all(abs(a - b) <= 50 for a, b in zip(found[2], arrays.products(asked[2]), strict=True))


def operands(*names: str) -> list[Operand]:
    """Columns of whole numbers."""
    table = read(pa.table({"p": [1], **{name: [1] for name in names}}), person="p", budget=Pure(1))
    return [table._operand(name) for name in names]


def shaped(shape: str, n: int, rng: Any) -> Any:
    """Values in hundredths."""
    made = {
        "uniform": lambda: rng.uniform(0, 100, n),
        "normal": lambda: rng.normal(0, 10, n),
        "ages": lambda: rng.normal(40, 12, n).clip(0, 100),
        "exponential": lambda: rng.exponential(50, n),
        "lognormal": lambda: rng.lognormal(3, 1, n),
        "Pareto 2.2": lambda: 10 * (1 + rng.pareto(2.2, n)),
    }[shape]()
    return np.rint(100 * made).astype(np.int64)


def best_caps(x: Any, rng: Any, runs: int) -> dict[str, Any]:
    """The errors of AVG(x²) − AVG(x)², and of its root, with the best pair of caps for each."""
    n, truth, size = len(x), float(np.var(x)), np.sort(np.abs(x).astype(float))[::-1]
    noise = rng.laplace(0, 4, (4, runs))
    best: dict[str, Any] = {}
    for k in (0, 1, 2, 3, 4, 5, 6, 8, 12, 20, 30, 50):
        square = np.minimum(size, size[k]) ** 2
        top = (square.sum() + noise[0] * size[k] ** 2) / (n + noise[1])
        for j in (0, 3, 10, 30, 60):
            mean = (np.clip(x, -size[j], size[j]).sum() + noise[2] * size[j]) / (n + noise[3])
            found = np.maximum(top - mean**2, 0)
            for name, errors in _errors(found, truth).items():
                if name not in best or np.median(errors) < np.median(best[name]):
                    best[name] = errors
    return best


def _errors(variances: Any, truth: float) -> dict[str, Any]:
    root = np.sqrt(np.asarray(variances) / truth)
    return {"variance": np.abs(root**2 - 1), "standard deviation": np.abs(root - 1)}


def capped_variance(x: Any, spread: SecondMoment, column: requests.Steps) -> float:
    """What the interval says it holds: the variance with everybody above a cap counted as the release counts them."""

    def total(sizes: Any, drawn: Any) -> float:
        return float(np.where(sizes > drawn.cap, drawn.counted, sizes).sum())

    (mean,) = spread.means
    noise: Any = mean.top_noise
    steps = np.floor((x - column.middle) * (requests.HALF / column.radius)) - column.shift
    away = x - round(float(mean.offset / mean.unit + column.centre))
    sides = total(away[away > 0], noise.first) - total(-away[away < 0], noise.second)
    off = mean.offset + mean.unit * sides / len(x)
    return spread.unit * total(steps**2, spread.top_noise) / len(x) - off**2


class Watched(Arrays):
    """Remembers around what products were taken."""

    column: Any = None

    def total(self, total: Any) -> Any:
        if isinstance(total, requests.Product):
            self.column = total.left
        return super().total(total)


def variances(runs: int, sets: int = 4) -> list[dict[str, Any]]:
    """Both statistics over every shape and size."""
    (column,) = operands("x")
    asked, found = Moment.of(column, "variance"), []
    for n in SIZES:
        for shape in SHAPES:
            rng = np.random.default_rng([n, SHAPES.index(shape)])
            ours: dict[str, list[Any]] = {"variance": [], "standard deviation": []}
            theirs: dict[str, list[Any]] = {"variance": [], "standard deviation": []}
            held, above = 0, []
            for _ in range(sets):
                x = shaped(shape, n, rng)
                arrays, truth = Watched(np.arange(n), {column.value: x}), float(np.var(x))
                answers = []
                for _ in range(runs // sets):
                    answer = arrays.release(asked)
                    low, high = answer.spread.interval(answer.value, SURE)
                    held += low <= capped_variance(x, answer.spread, arrays.column) <= high
                    above.append(low <= truth <= high)
                    answers.append(answer.value)
                for kept, errors in ((ours, _errors(answers, truth)), (theirs, best_caps(x, rng, 400))):
                    for name, some in errors.items():
                        kept[name].extend(some)
            for name in ours:
                one, other = (float(np.median(kept[name])) for kept in (ours, theirs))
                found.append(
                    {
                        "what": name,
                        "persons": n,
                        "shape": shape,
                        "error": one,
                        "tail": float(np.quantile(ours[name], 0.95)),
                        "oracle": other,
                        "ratio": one / other,
                        "holds": held / len(above),
                        "holds truth": float(np.mean(above)),
                        "runs": len(above),
                    }
                )
                print(found[-1], flush=True)
    return found


def fit(y: Any, X: Any, person: Any) -> tuple[Any, Any]:
    """The slopes without privacy and their standard errors, persons as clusters."""
    Z = np.column_stack([np.ones(len(y)), X])
    inverse = np.linalg.inv(Z.T @ Z)
    beta = inverse @ Z.T @ y
    scores = np.stack([np.bincount(person, weights=column * (y - Z @ beta)) for column in Z.T])
    return beta[1:], np.sqrt(np.diag(inverse @ (scores @ scores.T) @ inverse))[1:]


def on_blocks(y: Any, X: Any, person: Any, blocks: int, interval: bool, rng: Any, runs: int) -> Any:
    """Slopes by a private median of each over fits on blocks of persons; intercept and slopes share ε.

    A person changes one fit, so a rank changes by one. Where there is to be an interval, half of ε pays for its ends.
    """
    Z = np.column_stack([np.ones(len(y)), X - X.mean(axis=0)])
    size, drawn = Z.shape[1], []
    epsilon = 1 / size / (2 if interval else 1)
    for _ in range(runs):
        block = rng.integers(0, blocks, person.max() + 1)[person]

        def summed(rows: Any, block: Any = block) -> Any:
            return np.bincount(block, weights=rows, minlength=blocks)

        A = np.stack([np.stack([summed(Z[:, i] * Z[:, j]) for j in range(size)], 1) for i in range(size)], 1)
        b = np.stack([summed(Z[:, i] * y) for i in range(size)], 1)
        fits = np.array([np.linalg.lstsq(A[k], b[k], rcond=None)[0][1:] for k in range(blocks)])
        drawn.append([_median(np.sort(column), epsilon, rng) for column in fits.T])
    return np.array(drawn)


def _median(values: Any, epsilon: float, rng: Any) -> float:
    """The exponential mechanism by rank over numbers of three digits, of either sign, from 10^-9 to 10^9."""
    digits = np.array([d * 10.0**k for k in range(-9, 9) for d in np.arange(100, 1000) / 100])
    grid, middle = np.concatenate([-digits[::-1], [0.0], digits]), len(values) / 2
    below, upto = np.searchsorted(values, grid, side="left"), np.searchsorted(values, grid, side="right")
    loss = np.maximum(0, np.maximum(below - middle, middle - upto))
    return float(grid[np.argmax(rng.gumbel(size=len(grid)) - epsilon / 2 * loss)])


def knowing(y: Any, X: Any, person: Any, clip: float, rng: Any, runs: int) -> Any:
    """Slopes from noisy sums of products around the true means, in the true scales, capped at a quantile of norms."""
    columns = [np.ones(len(y)), *((c - c.mean()) / c.std() for c in (y, *X.T))]
    pairs = [(j, k) for j in range(len(columns)) for k in range(j, len(columns))]
    vectors = np.stack([np.bincount(person, weights=columns[j] * columns[k]) for j, k in pairs])
    norm = np.abs(vectors).sum(axis=0)
    cap = np.quantile(norm, clip)
    sums = (vectors * np.minimum(1, cap / norm)).sum(axis=1)
    found, keep = [], [0, *range(2, len(columns))]
    for _ in range(runs):
        M = np.zeros((len(columns), len(columns)))
        for (j, k), entry in zip(pairs, sums + rng.laplace(0, cap, len(pairs)), strict=True):
            M[j, k] = M[k, j] = entry
        found.append(np.linalg.lstsq(M[np.ix_(keep, keep)], M[keep, 1], rcond=None)[0][1:] * y.std() / X.std(axis=0))
    return np.array(found)


def wages() -> tuple[Any, Any, Any, tuple[str, ...]]:
    """Wages in cents, ages and hours of interviews in which all are known."""
    known = (
        duckdb.connect()
        .execute(
            f"SELECT woman, CAST(100 * wage AS BIGINT) AS wage, age, hours FROM '{WAGES}' "
            "WHERE wage IS NOT NULL AND age IS NOT NULL AND hours IS NOT NULL"
        )
        .fetchnumpy()
    )
    X = np.column_stack([known["age"], known["hours"]]).astype(np.int64)
    return known["woman"], np.asarray(known["wage"], dtype=np.int64), X, ("age", "hours")


def made_up() -> tuple[Any, Any, Any, tuple[str, ...]]:
    """20,000 persons: y = 3·a − b/2 + 100, a person's own share and noise."""
    rng = np.random.default_rng(23)
    person = np.repeat(np.arange(20_000), rng.integers(1, 6, 20_000))
    a, b = np.rint(rng.normal(50, 10, len(person))), np.rint(rng.exponential(100, len(person)))
    y = 3 * a - b / 2 + 100 + rng.normal(0, 20, 20_000)[person] + rng.normal(0, 30, len(person))
    return person, np.rint(y).astype(np.int64), np.column_stack([a, b]).astype(np.int64), ("a", "b")


def regression(data: Any, runs: int) -> dict[str, Any]:
    """Three ways over one data set."""
    person, y, X, names = data
    _, person = np.unique(person, return_inverse=True)
    truth, error = fit(y, X, person)
    asked = Regression.of((columns := operands("y", *names))[0], columns[1:])
    arrays = Arrays(person, dict(zip(asked.columns, (y, *X.T), strict=True)))
    slopes, held, held_truth = [], np.zeros(len(names)), np.zeros(len(names))
    for _ in range(runs):
        answers = list(arrays.release(asked).values())[1:]
        slopes.append([answer.value for answer in answers])
        for place, answer in enumerate(answers):
            low, high = answer.spread.interval(answer.value, SURE)
            held[place] += low <= _noiseless(answer.spread, arrays.sums) <= high
            held_truth[place] += low <= truth[place] <= high
    rng = np.random.default_rng(5)
    off = np.abs(np.array(slopes) - truth)
    allowed = 3 * error + 0.05 * np.abs(truth)
    few = max(4, runs // 20)
    blocked, bare = (
        [np.median(np.abs(on_blocks(y, X, person, b, interval, rng, few) - truth), axis=0) for b in BLOCKS]
        for interval in (True, False)
    )
    clipped = [np.median(np.abs(knowing(y, X, person, c, rng, runs) - truth), axis=0) for c in CLIPS]
    found = {
        name: {
            "truth": truth[i],
            "standard error": error[i],
            "error": (middle := float(np.median(off[:, i]))) / abs(truth[i]),
            "in standard errors": middle / error[i],
            "tail": float(np.quantile(off[:, i], 0.95)) / abs(truth[i]),
            "within": float(np.mean(off[:, i] <= allowed[i])),
            "over allowed": middle / allowed[i],
            "blocks": float(min(one[i] for one in blocked)) / abs(truth[i]),
            "blocks without interval": float(min(one[i] for one in bare)) / abs(truth[i]),
            "knowing": float(min(one[i] for one in clipped)) / abs(truth[i]),
            "holds": held[i] / runs,
            "holds truth": held_truth[i] / runs,
        }
        for i, name in enumerate(names)
    }
    print(found, flush=True)
    return {"runs": runs, "persons": int(person.max()) + 1, "rows": len(person), "coefficients": found}


def _noiseless(spread: Fitted, sums: tuple[int, ...]) -> float:
    gram = spread.gram
    return Fitted(Gram(sums, gram.weights, gram.noise, gram.steps, gram.centres), spread.place).value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    runs = 20 if parser.parse_args().quick else 1_000
    check()
    lines = {"wages": regression(wages(), runs), "made up": regression(made_up(), runs)}
    write("moments", {"variances": variances(runs), "regression": lines})


if __name__ == "__main__":
    main()
