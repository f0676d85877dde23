"""python-dp (Google's library): bounded sums, means, maxima and percentiles; without bounds it finds them itself."""

from __future__ import annotations

from typing import Any

from pydp.algorithms.laplacian import BoundedMean, BoundedSum, Max, Percentile  # type: ignore[import-not-found]
from talk import Arrays, Draw, Job, groups_of, serve, totals


def prepare(job: Job, arrays: Arrays) -> Draw:
    epsilon = float(job["epsilon"])
    given: dict[str, Any] = {"dtype": "int64"}
    if job["bounds"] is not None:
        low, high = map(int, job["bounds"])
        given |= {"lower_bound": low, "upper_bound": high}
    values = arrays["value"].tolist()
    match job["statistic"]:
        case "sum":
            return lambda: BoundedSum(epsilon=epsilon, **given).quick_result(values)
        case "count":
            rows = arrays["rows"].tolist()
            rest = given | ({"lower_bound": 0} if job["bounds"] is not None else {})
            return lambda: BoundedSum(epsilon=epsilon, **rest).quick_result(rows)
        case "mean":
            return lambda: BoundedMean(epsilon=epsilon, **given).quick_result(values)
        case "group by":
            parts = [part.tolist() for part in groups_of(arrays)]
            return lambda: [BoundedSum(epsilon=epsilon, **given).quick_result(part) for part in parts]
        case "quantiles":
            if job["bounds"] is None:  # percentiles need bounds
                raise NotImplementedError
            given["dtype"] = "float"  # those of integers are always 0
            return lambda: [
                Percentile(epsilon=epsilon / 3, percentile=q, **given).quick_result(values) for q in (0.25, 0.5, 0.75)
            ]
        case "max":
            return lambda: Max(epsilon=epsilon, **given).quick_result(values)
    raise NotImplementedError


def whole(job: Job) -> Any:
    """Totals by DuckDB, then a sum with automatic bounds."""
    return BoundedSum(epsilon=1.0, dtype="int64").quick_result(totals(job["parquet"]).tolist())


if __name__ == "__main__":
    serve(prepare, whole)
