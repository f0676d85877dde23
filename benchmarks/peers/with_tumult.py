"""Tumult Analytics on a local Spark: its queries through a session with budget for all releases.

Not part of the usual study: every release is a Spark job of seconds. A count is that of the rows left by the cap on
rows per person, of which a person may add as many as the cap.
"""

from __future__ import annotations

import os
import sys
import tempfile
from functools import cache
from typing import Any

os.environ["PYSPARK_PYTHON"] = sys.executable

import numpy as np
from pyspark.sql import SparkSession
from talk import Arrays, Draw, Job, serve
from tmlt.analytics import (  # type: ignore[import-not-found]
    AddMaxRows,
    AddOneRow,
    PureDPBudget,
    QueryBuilder,
    Session,
)


def prepare(job: Job, arrays: Arrays) -> Draw:
    if job["bounds"] is None:
        raise NotImplementedError
    low, high = map(int, job["bounds"])
    epsilon, values = float(job["epsilon"]), QueryBuilder("table")
    match job["statistic"]:
        case "sum":
            return released(arrays["value"], AddOneRow(), [values.sum("value", low, high)], epsilon)
        case "mean":
            return released(arrays["value"], AddOneRow(), [values.average("value", low, high)], epsilon)
        case "count":
            return released(arrays["product"][arrays["place"] < high], AddMaxRows(high), [values.count()], epsilon)
        case "quantiles":
            queries = [values.quantile("value", q, low, high) for q in (0.25, 0.5, 0.75)]
            return released(arrays["value"], AddOneRow(), queries, epsilon)
    raise NotImplementedError


def released(values: Any, change: Any, queries: list[Any], epsilon: float) -> Draw:
    """The answers to the queries, among which ε is divided; to one query the answer itself."""
    rows = spark().createDataFrame([(value,) for value in np.asarray(values).tolist()], ["value"]).cache()
    session = Session.from_dataframe(PureDPBudget(float("inf")), "table", rows, protected_change=change)
    cost = PureDPBudget(epsilon / len(queries))

    def draw() -> Any:
        found = [float(session.evaluate(query, cost).collect()[0][0]) for query in queries]
        return found if len(found) > 1 else found[0]

    return draw


@cache
def spark() -> Any:
    """On one core, its tables in a folder of its own."""
    folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    options = {"spark.sql.shuffle.partitions": 1, "spark.ui.enabled": False, "spark.sql.warehouse.dir": folder.name}
    builder: Any = SparkSession.builder.master("local[1]")
    for name, value in options.items():
        builder = builder.config(name, value)
    found = builder.getOrCreate()
    found._folder = folder  # removed when Spark is
    return found


def whole(job: Job) -> Any:
    """Left out of the study of speed."""
    raise NotImplementedError


if __name__ == "__main__":
    serve(prepare, whole)
