"""diffprivlib: its tools on arrays with one entry for each person. A count is a sum of rows for each person.

A quantile is a draw of an interval between neighbouring values by its exponential mechanism, then of a point in it. The
mechanism is the one that its tool makes from the data; it is made once and drawn from often.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from diffprivlib import tools  # type: ignore[import-not-found]
from diffprivlib.mechanisms import Exponential  # type: ignore[import-not-found]
from talk import Arrays, Draw, Job, attempted, groups_of, serve, totals

warnings.simplefilter("ignore")


def prepare(job: Job, arrays: Arrays) -> Draw:
    if job["bounds"] is None:  # it would take them from the data, and says that this is not private
        raise NotImplementedError
    low, high = map(float, job["bounds"])
    high = max(high, low + 1)
    epsilon, values = float(job["epsilon"]), arrays["value"].astype(float)
    match job["statistic"]:
        case "sum":
            return lambda: tools.sum(values, epsilon=epsilon, bounds=(low, high))
        case "count":
            rows = arrays["rows"].astype(float)
            return lambda: tools.sum(rows, epsilon=epsilon, bounds=(0.0, high))
        case "mean":
            return lambda: tools.mean(values, epsilon=epsilon, bounds=(low, high))
        case "group by":
            parts: list[Any] = [part.astype(float) for part in groups_of(arrays)]
            return lambda: [tools.sum(part, epsilon=epsilon, bounds=(low, high)) for part in parts]
        case "quantiles":
            found = [quantile(values, q, epsilon / 3, low, high) for q in (0.25, 0.5, 0.75)]
            return lambda: [one() for one in found]
        case "max":
            return quantile(values, 1.0, epsilon, low, high)
    raise NotImplementedError


class Kept(Exponential):  # type: ignore[misc]
    """The mechanism as a tool made it last."""

    made: Exponential

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        Kept.made = self

    def _check_all(self, value: Any) -> bool:
        """Checked when it was made; again at every draw it would take most of the time."""
        return True


def quantile(values: Any, q: float, epsilon: float, low: float, high: float) -> Draw:
    tools.quantiles.Exponential = Kept
    attempted(lambda: tools.quantile(values, q, epsilon=epsilon, bounds=(low, high)))
    mechanism = Kept.made
    ends = low + np.cumsum([0, *mechanism.measure])  # whole numbers

    def draw() -> float:
        i = mechanism.randomise()
        return float(mechanism._rng.random() * (ends[i + 1] - ends[i]) + ends[i])

    return draw


def whole(job: Job) -> Any:
    """Totals by DuckDB, then a bounded sum."""
    return tools.sum(totals(job["parquet"]).astype(float), epsilon=1.0, bounds=(0.0, float(job["bound"])))


if __name__ == "__main__":
    serve(prepare, whole)
