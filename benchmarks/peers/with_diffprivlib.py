"""diffprivlib: its tools on arrays with one entry for each person. A count is a sum of rows for each person."""

from __future__ import annotations

import warnings
from typing import Any

from diffprivlib import tools  # type: ignore[import-not-found]
from talk import Arrays, Draw, Job, groups_of, serve, totals

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
            return lambda: list(tools.quantile(values, [0.25, 0.5, 0.75], epsilon=epsilon, bounds=(low, high)))
        case "max":
            return lambda: tools.quantile(values, 1.0, epsilon=epsilon, bounds=(low, high))
    raise NotImplementedError


def whole(job: Job) -> Any:
    """Totals by DuckDB, then a bounded sum."""
    return tools.sum(totals(job["parquet"]).astype(float), epsilon=1.0, bounds=(0.0, float(job["bound"])))


if __name__ == "__main__":
    serve(prepare, whole)
