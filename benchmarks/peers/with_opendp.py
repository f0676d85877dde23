"""OpenDP: clamp, aggregate, discrete Laplace noise for the sensitivity it states; quantiles among candidates.

The aggregate is computed once and the noise drawn often: the measurement is the chain of the two. Candidates are a
thousand values in geometric steps up to the bounds, which favours it on heavy tails.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import opendp.prelude as dp  # type: ignore[import-not-found]
from talk import Arrays, Draw, Job, groups_of, serve

dp.enable_features("contrib")
SPACE = dp.vector_domain(dp.atom_domain(T="i64")), dp.symmetric_distance()
QUARTILES = (0.25, 0.5, 0.75)


def prepare(job: Job, arrays: Arrays) -> Draw:
    if job["bounds"] is None:
        raise NotImplementedError
    low, high = map(int, job["bounds"])
    epsilon = float(job["epsilon"])
    match job["statistic"]:
        case "sum":
            return summed(arrays["value"], low, high, epsilon)
        case "count":
            return summed(arrays["rows"], 0, high, epsilon)
        case "mean":
            top, bottom = summed(arrays["value"], low, high, epsilon / 2), counted(arrays["value"], epsilon / 2)
            return lambda: top() / max(1, bottom())
        case "group by":
            parts = [summed(values, low, high, epsilon) for values in groups_of(arrays)]
            return lambda: [part() for part in parts]
        case "quantiles":
            found = [quantile(job["data"], arrays["value"], q, low, high, epsilon / 3) for q in QUARTILES]
            return lambda: [one() for one in found]
        case "max":
            return quantile(job["data"], arrays["value"], 1.0, low, high, epsilon)
        case "distinct":
            kept = arrays["product"][arrays["place"] < high]
            return released(SPACE >> dp.t.then_count_distinct(), kept, epsilon, high)
    raise NotImplementedError


def summed(values: Any, low: int, high: int, epsilon: float) -> Draw:
    return released(SPACE >> dp.t.then_clamp((low, high)) >> dp.t.then_sum(), values, epsilon)


def counted(values: Any, epsilon: float) -> Draw:
    return released(SPACE >> dp.t.then_count(), values, epsilon)


def released(aggregate: Any, values: Any, epsilon: float, contributions: int = 1) -> Draw:
    scale = aggregate.map(contributions) / epsilon
    noise = dp.m.make_laplace(aggregate.output_domain, aggregate.output_metric, scale=scale)
    exact = aggregate(values.tolist())
    return lambda: noise(exact)


def quantile(data: str, values: Any, q: float, low: int, high: int, epsilon: float) -> Draw:
    steps = {int(v) for v in np.geomspace(1, max(high, 2), 1000)}
    candidates = sorted({v for v in steps | {-v for v in steps} | {0, low, high} if low <= v <= high})
    scores = dp.t.make_quantile_score_candidates(*SPACE, candidates, q)
    if (q, epsilon) not in SCALES:
        SCALES[q, epsilon] = dp.binary_search_param(lambda s: scores >> best(scores, s), 1, epsilon, T=float)
    scale = SCALES[q, epsilon]
    place, choose = (data, q, low, high), best(scores, scale)
    if place not in SCORES:
        SCORES[place] = scores(values.tolist())
    return lambda: candidates[choose(SCORES[place])]


SCORES: dict[Any, Any] = {}
"""They do not depend on ε."""
SCALES: dict[Any, float] = {}
"""They do not depend on the data."""


def best(scores: Any, scale: float) -> Any:
    return dp.m.make_noisy_max(scores.output_domain, scores.output_metric, dp.max_divergence(), scale, True)


def whole(job: Job) -> Any:
    """Its own tables: the total of each person, then a bounded sum."""
    import polars as pl

    amount: Any = pl.col("amount")  # to which OpenDP adds a name of its own
    context = dp.Context.compositor(
        data=pl.scan_parquet(job["parquet"]),
        privacy_unit=dp.unit_of(contributions=1, identifier="person"),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=1,
        margins=[dp.polars.Margin(max_length=10**9)],
    )
    totals = context.query().group_by("person").agg(amount.sum())
    return totals.select(amount.dp.sum((0, job["bound"]))).release().collect().item()


if __name__ == "__main__":
    serve(prepare, whole)
