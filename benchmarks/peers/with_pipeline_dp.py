"""PipelineDP: the combiners its engine runs for public partitions, the data accumulated once and released often."""

from __future__ import annotations

from typing import Any

import numpy as np
import pipeline_dp as p  # type: ignore[import-not-found]
from pipeline_dp.combiners import create_compound_combiner  # type: ignore[import-not-found]
from talk import Arrays, Draw, Job, groups_of, serve, totals

QUARTILES = [p.Metrics.PERCENTILE(q) for q in (25, 50, 75)]


def prepare(job: Job, arrays: Arrays) -> Draw:
    if job["bounds"] is None:
        raise NotImplementedError
    low, high = map(int, job["bounds"])
    epsilon, values = float(job["epsilon"]), arrays["value"]
    match job["statistic"]:
        case "sum":
            return one(values, [p.Metrics.SUM], epsilon, low, high)
        case "mean":
            return one(values, [p.Metrics.MEAN], epsilon, low, high)
        case "count":
            kept = int(np.minimum(arrays["rows"], high).sum())  # what its contribution bounding leaves
            return one(range(kept), [p.Metrics.COUNT], epsilon, 0, 1, rows=high)
        case "group by":
            parts = [one(part, [p.Metrics.SUM], epsilon, low, high) for part in groups_of(arrays)]
            return lambda: [part() for part in parts]
        case "quantiles":
            return several(values, QUARTILES, epsilon, low, high)
        case "max":
            return one(values, [p.Metrics.PERCENTILE(100)], epsilon, low, high)
    raise NotImplementedError


def one(values: Any, metrics: list[Any], epsilon: float, low: float, high: float, rows: int = 1) -> Draw:
    found = several(values, metrics, epsilon, low, high, rows)
    return lambda: found()[0]


def several(values: Any, metrics: list[Any], epsilon: float, low: float, high: float, rows: int = 1) -> Draw:
    accountant = p.NaiveBudgetAccountant(total_epsilon=epsilon, total_delta=1e-12)
    params = p.AggregateParams(
        noise_kind=p.NoiseKind.LAPLACE,
        metrics=metrics,
        max_partitions_contributed=1,
        max_contributions_per_partition=rows,
        min_value=low,
        max_value=max(high, low + 1),
    )
    combiner = create_compound_combiner(params, accountant)
    accountant.compute_budgets()
    total = combiner.create_accumulator(values)
    return lambda: list(combiner.compute_metrics(total))


def whole(job: Job) -> Any:
    """Its engine on the local backend, on the total of each person by DuckDB."""
    accountant = p.NaiveBudgetAccountant(total_epsilon=1.0, total_delta=1e-12)
    params = p.AggregateParams(
        noise_kind=p.NoiseKind.LAPLACE,
        metrics=[p.Metrics.SUM],
        max_partitions_contributed=1,
        max_contributions_per_partition=1,
        min_value=0,
        max_value=job["bound"],
    )
    extractors = p.DataExtractors(
        partition_extractor=lambda row: 0, privacy_id_extractor=lambda row: row[0], value_extractor=lambda row: row[1]
    )
    rows = list(enumerate(totals(job["parquet"]).tolist()))
    found = p.DPEngine(accountant, p.LocalBackend()).aggregate(rows, params, extractors, public_partitions=[0])
    accountant.compute_budgets()
    return next(iter(found))[1].sum


if __name__ == "__main__":
    serve(prepare, whole)
