"""python-dp (Google's library): bounded sums, means, maxima and percentiles.

Without bounds it finds those of sums and means itself, and searches a maximum among all integers of 64 bits. An
algorithm answers once. Sums and means are drawn by fresh ones, each given the summary of one that read the data,
which is how the library joins what several machines read. The summary of order statistics is all the data, and no
shorter to read: those read the data again for each release, sorted, so that sorting them takes less time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pydp.algorithms.laplacian import BoundedMean, BoundedSum, Max, Percentile  # type: ignore[import-not-found]
from talk import Arrays, Draw, Job, attempted, groups_of, serve, totals


def prepare(job: Job, arrays: Arrays) -> Draw:
    given: dict[str, Any] = {"epsilon": float(job["epsilon"]), "dtype": "int64"}
    if job["bounds"] is not None:
        low, high = map(int, job["bounds"])
        given |= {"lower_bound": 0 if job["statistic"] == "count" else low, "upper_bound": high}
    match job["statistic"]:
        case "sum":
            return merged(BoundedSum, arrays["value"], given)
        case "count":
            return merged(BoundedSum, arrays["rows"], given)
        case "mean":
            return merged(BoundedMean, arrays["value"], given)
        case "group by":
            parts = [merged(BoundedSum, part, given) for part in groups_of(arrays)]
            return lambda: [attempted(part) for part in parts]
        case "quantiles":
            if job["bounds"] is None:  # percentiles need bounds
                raise NotImplementedError
            given |= {"epsilon": given["epsilon"] / 3, "dtype": "float"}  # those of integers are always 0
            floats = np.sort(arrays["value"]).astype(float).tolist()
            return lambda: [Percentile(percentile=q, **given).quick_result(floats) for q in (0.25, 0.5, 0.75)]
        case "max":
            values = np.sort(arrays["value"]).tolist()
            return lambda: Max(**given).quick_result(values)
    raise NotImplementedError


def merged(algorithm: Any, values: Any, given: dict[str, Any]) -> Draw:
    reader = algorithm(**given)
    reader.add_entries(values.tolist())
    summary = reader.serialize()

    def draw() -> Any:
        fresh = algorithm(**given)
        fresh.merge(summary)
        return fresh.result()

    return draw


def whole(job: Job) -> Any:
    """Totals by DuckDB, then a sum with automatic bounds."""
    return BoundedSum(epsilon=1.0, dtype="int64").quick_result(totals(job["parquet"]).tolist())


if __name__ == "__main__":
    serve(prepare, whole)
