"""What the tests of tables share: one small table full of what usually goes wrong, and every question about it."""

from collections.abc import Callable, Iterator
from datetime import date, datetime
from decimal import Decimal
from math import inf, nan
from typing import Any

import pyarrow as pa
import pytest

from tacit import Answer, Answers, Table

TYPES = {
    "who": pa.int64(),
    "i": pa.int64(),
    "f": pa.float64(),
    "d": pa.decimal128(20, 2),
    "b": pa.bool_(),
    "day": pa.date32(),
    "at": pa.timestamp("us"),
    "g": pa.string(),
}
Row = tuple[Any, ...]
EXTREME: list[Row] = [
    (1, 1, 1e308, Decimal("1.25"), True, date(2020, 2, 29), datetime(2020, 2, 29, 12), "x"),
    (1, None, nan, None, None, None, None, "y"),
    (2, -5, inf, Decimal("-0.01"), False, date(1, 1, 1), datetime(1, 1, 1), None),
    (3, 2**63 - 1, -1.5, Decimal("999999999999999999.99"), True, date(9999, 12, 31), datetime(9999, 12, 31), "x"),
    (4, -(2**63), -inf, Decimal("3"), True, None, None, "x"),
    (4, 0, 0.0, Decimal("3"), False, None, None, "y"),
]


def arrow(rows: list[Row]) -> pa.Table:
    """An Arrow table of such rows."""
    columns = zip(*rows, strict=True) if rows else ([] for _ in TYPES)
    return pa.table({name: pa.array(list(c), kind) for (name, kind), c in zip(TYPES.items(), columns, strict=True)})


Ask = Callable[..., Answer | Answers]


def questions(t: Table) -> Iterator[tuple[str, Ask]]:
    """Every statistic of every kind of column, by name; what is called takes the cost."""
    yield "persons", t.persons
    yield "count", t.count
    for column in ("i", "f", "d", "b"):
        for per in ("row", "person"):
            yield f"sum of {column} per {per}", partial(t.sum, column, per=per)
            yield f"mean of {column} per {per}", partial(t.mean, column, per=per)
            yield f"variance of {column} per {per}", partial(t.variance, column, per=per)
        yield f"mean of {column} in a range", partial(t.mean, column, range=(-1, 2))
        yield f"deviation of {column}", partial(t.std, column)
        yield f"sum of {column} by g", partial(t.group_by("g", ["x", None]).sum, column)
        yield f"mean of {column} by g", partial(t.group_by("g", ["x", "y"]).mean, column)
    for column in ("i", "f", "d", "b", "day", "at"):
        yield f"count of {column}", partial(t.count, column)
        yield f"persons with {column}", partial(t.count, column, per="person")
        yield f"minimum of {column}", partial(t.min, column)
        yield f"maximum of {column}", partial(t.max, column)
        yield f"median of {column}", partial(t.median, column)
        yield f"quantiles of {column}", partial(t.quantile, column, [0, "0.5", 1], per="person")
    for column in ("i", "f", "d", "g", "day"):
        yield f"different {column}", partial(t.nunique, column)
        yield f"most frequent {column}", partial(t.modal_count, column)
    for column in ("i", "f", "day"):
        yield f"third largest {column}", partial(t.largest, column, 3)
        yield f"second smallest {column} of persons", partial(t.smallest, column, 2, per="person")
    yield "most rows of a person", t.max_degree
    yield "ratio", partial(t.ratio, "b")
    yield "histogram", partial(t.histogram, "i", [0, 1, "2.5"])
    yield "mode", partial(t.mode, "g", ["x", "y"])
    yield "top", partial(t.top, "g", ["x", "y", "z"], 2)
    yield "count by g and b", t.group_by(["g", "b"], [("x", True), ("y", None)]).count
    groups = t.group_by("g", ["x", "y"])
    yield "persons by g", groups.persons
    for column in ("f", "day"):
        yield f"maximum of {column} by g", partial(groups.max, column)
        yield f"quantiles of {column} by g", partial(groups.quantile, column, [0, "0.5", 1])
    yield "third smallest d by g", partial(groups.smallest, "d", 3)
    for column in ("i", "f"):
        yield f"variance of {column} by g", partial(groups.variance, column)
        yield f"histogram of {column} without edges", partial(t.histogram, column, bins=3)
    yield "mean of d by g per person", partial(groups.mean, "d", per="person")
    yield "different i by g", partial(groups.nunique, "i")
    yield "ratio by g", partial(groups.ratio, "b")
    yield "top by g", partial(groups.top, "i", [0, 1, -5], 2)
    yield "persons with i by g", partial(groups.count, "i", per="person")


def found(t: Table) -> Iterator[tuple[str, Ask]]:
    """Questions about groups that are found in the data, which need δ."""
    yield "persons by found g", t.group_by("g").persons
    yield "sum by found g and b", partial(t.group_by(["g", "b"]).sum, "i")
    yield "mean by found d", partial(t.group_by("d").mean, "f")
    yield "deviation by found g", partial(t.group_by("g").std, "f")


def partial(ask: Callable[..., Any], *arguments: Any, **options: Any) -> Ask:
    """`functools.partial`, untyped."""
    return lambda **cost: ask(*arguments, **options, **cost)


def shown(answer: Answer | Answers) -> list[str]:
    """Everything an answer shows of itself."""
    import json

    views = [str(answer), repr(answer), answer._repr_html_(), json.dumps(answer.to_dict(), allow_nan=False)]
    if isinstance(answer, Answer):
        views += [answer.explain(), str(answer.interval("0.5")), str(answer.interval("0.999"))]
        return [*views, str(answer.noise_std), str(answer.persons_above_cap())]
    return [*views, str(answer.to_pandas()), str(answer.to_arrow())]


def refused(budget: Any, kind: type[Exception], words: str, ask: Callable[[], Any]) -> str:
    """Check that a question is refused with these words, in one sentence, and that nothing was spent."""
    before = budget.spent
    with pytest.raises(kind, match=words) as caught:
        ask()
    assert budget.spent == before
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message
    assert caught.value.__cause__ is None
    return message
