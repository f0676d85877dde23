"""Objects are those of the plain way, and a number is the number that was written."""

import json as python
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tacit.engines.duckdb.text_files import json
from tests.engines.duckdb.text_files import oracle

NAMES = ["a", "a.b", 'q"', "~/", "$", "é", "0"]
NUMBERS = st.one_of(
    st.from_regex(r"-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,30})?([eE][-+]?[0-9]{1,3})?", fullmatch=True),
    st.integers().map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
)
TEXTS = st.text(st.sampled_from('ab"\\:,{}[] 1234567890.eE-\u2028é\0'), max_size=25).map(python.dumps)
VALUES = st.one_of(
    NUMBERS, TEXTS, st.sampled_from(["null", "true", "[1.50, 2]", '{"a": 12345678.125e3}', '"\\ud800"', "x"])
)
SPACES = st.sampled_from(["", " ", "\t", "  ", "\r"])


@st.composite
def objects(draw: st.DrawFn) -> str:
    """A line that is an object, or nearly."""
    pairs = draw(st.lists(st.tuples(st.sampled_from(NAMES), SPACES, SPACES, VALUES, SPACES), max_size=5))
    parts = [f"{python.dumps(name)}{one}:{two}{value}{three}" for name, one, two, value, three in pairs]
    text = draw(SPACES) + "{" + ",".join(parts) + "}" + draw(SPACES)
    cut = draw(st.integers(0, 3 * len(text)))
    return text[:cut]


def same(found: str | None, expected: Any) -> bool:
    """Whether a text stands for a value of an object."""
    if expected is None or found is None:
        return expected is found is None
    if type(expected).__name__ == "Number":
        return Decimal(found) == Decimal(expected)
    if isinstance(expected, bool):
        return found == str(expected).lower()
    if isinstance(expected, str):
        return found == expected
    return python.loads(found) is not None  # lists and objects are some JSON


@settings(deadline=None, max_examples=50)
@given(lines=st.lists(objects(), min_size=1, max_size=10))
@example(lines=['{"a": ":1", "é": 12345678.5}', '{"a": 123456789012345678901234567890.5, "a": 2}'])
@example(lines=['{"a": 12345678901234567.89, "é": "x\\\\\\": 1.5e3"}', '{"a":1e-400}', '{"a":0.1234567890123456789}'])
def test_objects_are_those_of_the_plain_way(lines: list[str]) -> None:
    rows = CONNECTION.execute(
        f"SELECT {json.is_object('line')}, {json.values('line', NAMES)} "
        "FROM (SELECT unnest(CAST(? AS VARCHAR[])) AS line)",
        [lines],
    ).fetchall()
    for line, (known, values) in zip(lines, rows, strict=True):
        expected = oracle.json_object(line)
        assert known == (expected is not None), line
        if expected is None:
            assert values is None
        else:
            assert all(same(value, expected.get(name)) for name, value in zip(NAMES, values, strict=True)), line


CONNECTION = duckdb.connect()


def test_distinct_numbers_stay_distinct(tmp_path: Path) -> None:
    numbers = [f"{10**n}{dot}{m}" for n in range(15, 40, 3) for dot in ("", ".") for m in range(5)]
    lines = [f'{{"a": {number}}}' for number in numbers]
    ((count,),) = CONNECTION.execute(
        f"SELECT count(DISTINCT {json.values('line', ['a'])}[1]) FROM (SELECT unnest(CAST(? AS VARCHAR[])) AS line)",
        [lines],
    ).fetchall()
    assert count == len({Decimal(number) for number in numbers})
