"""OpenDP: clamp, aggregate, discrete Laplace noise for the sensitivity it states; quantiles among candidates.

The aggregate is computed once and the noise drawn often: the measurement is the chain of the two. Sums of groups are a
vector, of which a person changes one place. Candidates are a thousand values in geometric steps up to the bounds, which
favours it on heavy tails.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import opendp.prelude as dp  # type: ignore[import-not-found]
from talk import Arrays, Draw, Job, groups_of, serve

dp.enable_features("contrib")
SPACE = dp.vector_domain(dp.atom_domain(T="i64")), dp.symmetric_distance()
VECTORS = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
QUARTILES = (0.25, 0.5, 0.75)
KEPT: dict[Any, Any] = {}
"""What comes again: aggregates and scores do not depend on ε, and scales for scores not on the data."""


def prepare(job: Job, arrays: Arrays) -> Draw:
    if job["bounds"] is None:
        raise NotImplementedError
    low, high = map(int, job["bounds"])
    epsilon, data, values = float(job["epsilon"]), job["data"], arrays["value"]
    match job["statistic"]:
        case "sum":
            return summed((data, "value"), values, low, high, epsilon)
        case "count":
            return summed((data, "rows"), arrays["rows"], 0, high, epsilon)
        case "mean":
            top = summed((data, "value"), values, low, high, epsilon / 2)
            count = SPACE >> dp.t.then_count()
            bottom = released(count, kept((data, "persons"), lambda: count(values.tolist())), epsilon / 2)
            return lambda: top() / max(1, bottom())
        case "group by":
            total = SPACE >> dp.t.then_clamp((low, high)) >> dp.t.then_sum()
            sums = kept((data, "groups", low, high), lambda: [total(part.tolist()) for part in groups_of(arrays)])
            noise = dp.m.make_laplace(*VECTORS, scale=total.map(1) / epsilon)
            return lambda: noise(sums)
        case "quantiles":
            found = [quantile(data, values, q, low, high, epsilon / 3) for q in QUARTILES]
            return lambda: [one() for one in found]
        case "max":
            return quantile(data, values, 1.0, low, high, epsilon)
        case "distinct":
            different = SPACE >> dp.t.then_count_distinct()
            first = arrays["product"][arrays["place"] < high]
            return released(different, kept((data, "product", high), lambda: different(first.tolist())), epsilon, high)
    raise NotImplementedError


def kept(key: Any, made: Callable[[], Any]) -> Any:
    if key not in KEPT:
        KEPT[key] = made()
    return KEPT[key]


def summed(what: tuple[str, str], values: Any, low: int, high: int, epsilon: float) -> Draw:
    total = SPACE >> dp.t.then_clamp((low, high)) >> dp.t.then_sum()
    return released(total, kept((what, low, high), lambda: total(values.tolist())), epsilon)


def released(aggregate: Any, exact: int, epsilon: float, contributions: int = 1) -> Draw:
    scale = aggregate.map(contributions) / epsilon
    noise = dp.m.make_laplace(aggregate.output_domain, aggregate.output_metric, scale=scale)
    return lambda: noise(exact)


def quantile(data: str, values: Any, q: float, low: int, high: int, epsilon: float) -> Draw:
    steps = {int(v) for v in np.geomspace(1, max(high, 2), 1000)}
    candidates = sorted({v for v in steps | {-v for v in steps} | {0, low, high} if low <= v <= high})
    scores = dp.t.make_quantile_score_candidates(*SPACE, candidates, q)
    scale = kept((q, epsilon), lambda: dp.binary_search_param(lambda s: scores >> best(scores, s), 1, epsilon, T=float))
    found, choose = kept((data, q, low, high), lambda: scores(values.tolist())), best(scores, scale)
    return lambda: candidates[choose(found)]


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
