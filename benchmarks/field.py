"""The data on which libraries are compared: persons with one value each, and with some rows each, in six shapes.

Values are whole numbers: five non-negative shapes and a signed one. Rows per person follow the value, a product is
drawn for each row, and every person belongs to one of ten groups. Bounds a peer may be given, from worst to best
informed: *too small* (the median: half of the persons are clipped), *too large* (a thousand times the sensible one),
*sensible* (the next power of ten above the 99.9th percentile, so the order of magnitude is known), *oracle* (the best
for this data and this ε, found by looking).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from bound_free_data import Floats, Totals, shape

Integers = npt.NDArray[np.int64]
SHAPES = ("lognormal", "Pareto 1.5", "exponential", "Weibull 0.5", "one giant", "signed")
STATISTICS = ("sum", "mean", "count", "max", "quantiles", "distinct", "group by")
QUARTILES = (0.25, 0.5, 0.75)
GROUPS = 10
UNIT = 1000
MOST_ROWS = 1000
BOUNDS = ("sensible", "oracle", "too small", "too large")
CAPS = (1, 2, 3, 5, 8, 13, 21, 34, 55)


@dataclass(frozen=True, eq=False)
class Field:
    """One data set."""

    shape: str
    value: Integers
    group: Integers
    rows: Integers
    product: Integers
    """For each row, in the order of persons."""

    @classmethod
    def of(cls, name: str, persons: int, seed: int) -> Field:
        """A data set of this shape."""
        rng = np.random.default_rng(seed)
        raw = rng.normal(0.2, 1, persons) if name == "signed" else shape(name, persons, rng)
        value = np.rint(UNIT * raw).astype(np.int64)
        size = np.abs(value)
        rows = np.minimum(1 + 2 * size // max(1, int(np.median(size))), MOST_ROWS)
        product = (max(20, persons // 2) * rng.random(int(rows.sum())) ** 3).astype(np.int64)
        group = np.minimum(rng.geometric(0.3, persons) - 1, GROUPS - 1)
        return cls(name, value, group, rows, product)

    @property
    def persons(self) -> int:
        """How many."""
        return len(self.value)

    @cached_property
    def person(self) -> Integers:
        """Whose each row is."""
        return np.repeat(np.arange(self.persons), self.rows)

    @cached_property
    def place(self) -> Integers:
        """Which of its person's rows each row is, from 0: a cap on rows per person keeps the first ones."""
        return np.arange(len(self.product)) - np.repeat(np.cumsum(self.rows) - self.rows, self.rows)

    def save(self, path: Path) -> None:
        """What peers read."""
        arrays = {name: getattr(self, name) for name in ("value", "group", "rows", "product", "place")}
        np.savez(path, groups=GROUPS, **arrays)

    # Truth and error

    @cached_property
    def truth(self) -> dict[str, Any]:
        """Of every statistic."""
        sums = np.bincount(self.group, weights=self.value, minlength=GROUPS)
        return {
            "sum": int(self.value.sum()),
            "mean": float(self.value.mean()),
            "count": int(self.rows.sum()),
            "max": int(self.value.max()),
            "distinct": len(np.unique(self.product)),
            "group by": sums.tolist(),
        }

    @cached_property
    def _sorted(self) -> Integers:
        return np.sort(self.value)

    def error(self, statistic: str, answer: Any) -> float:
        """Relative to Σ|x| (sum, group by), to mean |x|, to max |x| or to the count; of quantiles the mean rank error.

        No answer counts as the answer 0, and as the furthest rank.
        """
        if statistic == "quantiles":
            found = answer if isinstance(answer, list) else [None] * len(QUARTILES)
            return float(np.mean([self._rank_error(q, y) for q, y in zip(QUARTILES, found, strict=True)]))
        truth = self.truth[statistic]
        given = np.nan_to_num(np.array(0 if answer is None else answer, dtype=float), nan=0.0)
        size = np.abs(self.value)
        scales = {"sum": size.sum(), "group by": size.sum(), "mean": size.mean(), "max": size.max()}
        scale = scales.get(statistic, truth)
        return float(np.abs(given - np.array(truth)).sum() / max(1, scale))

    def _rank_error(self, q: float, y: float | None) -> float:
        if y is None or np.isnan(y):
            return max(q, 1 - q)
        below, up_to = (np.searchsorted(self._sorted, y, side) / self.persons for side in ("left", "right"))
        return float(max(0, q - up_to, below - q))

    # Bounds

    def bounds(self, statistic: str, epsilon: float) -> dict[str, tuple[int, int]]:
        """The bounds of the module's docstring for a statistic."""
        counts = statistic in ("count", "distinct")
        size = self.rows if counts else np.abs(self.value)
        sensible = 10 ** int(np.ceil(np.log10(max(1, float(np.quantile(size, 0.999))) + 1e-9)))
        highs = {"sensible": sensible, "too small": max(1, int(np.median(size))), "too large": 1000 * sensible}
        ends = {name: (-high if self.shape == "signed" and not counts else 0, high) for name, high in highs.items()}
        ends["oracle"] = self._oracle(statistic, epsilon)
        return {name: ends[name] for name in BOUNDS}

    def _oracle(self, statistic: str, epsilon: float) -> tuple[int, int]:
        if statistic in ("max", "quantiles"):
            return int(self._sorted[0]), int(self._sorted[-1])
        if statistic == "distinct":
            return 0, min(self._lost_products, key=lambda cap: self._lost_products[cap] + cap / epsilon)
        size = self.rows if statistic == "count" else np.abs(self.value)
        cap = best_cap(size, epsilon, GROUPS if statistic == "group by" else 1)
        return (-cap if statistic != "count" and self.shape == "signed" else 0), cap

    @cached_property
    def _lost_products(self) -> dict[int, int]:
        """How many products are lost by a cap on rows per person."""
        return {cap: self.truth["distinct"] - len(np.unique(self.product[self.place < cap])) for cap in CAPS}

    def oracle_error(self, statistic: str, epsilon: float) -> float | None:
        """The median error of Laplace noise at the best cap that knows the data, for sums and counts."""
        if statistic not in ("sum", "count", "mean"):
            return None
        size = self.rows if statistic == "count" else np.abs(self.value)
        totals = Totals.of(self.shape, size.astype(float))
        return totals.oracle(epsilon) / totals.truth


def best_cap(size: Integers, epsilon: float, releases: int) -> int:
    """The cap with the smallest sum of bias and mean noise."""
    data: Floats = np.sort(size).astype(float)
    caps = np.unique(np.concatenate([np.quantile(data, np.linspace(0.5, 1, 400)), data[-200:], [1.0]]))
    totals = Totals.of("", data)
    loss = totals.truth - totals.capped(caps) + releases * caps / epsilon
    return max(1, int(caps[int(np.argmin(loss))]))
