"""Every statistic by group says of each group what it would say of that group alone.

ε is so large that no answer is off by more than what is allowed here with probability above 10^-9: errors are of the
order of 1/ε persons, and a thousand persons are in each group. Extremes of groups miss, at any ε, with the probability
that their scans are made for (`MISS`): measured once in 2,000 answers, so they are asked three times where they miss.
"""

from collections.abc import Callable, Iterator
from statistics import median, pstdev
from typing import Any

import pyarrow as pa
import pytest

from tacit import Answers, Approx, Private, Public, Session

EPSILON = 60
ROWS = [
    {"who": who, "g": "abc"[who % 3], "x": 1000 * (who % 3) + who // 3, "c": who % (5 + who % 3), "b": who % 4 == 0}
    for who in range(3000)
]
PLACES = pa.table({"k": ["a", "b", "c"], "place": ["north", "south", "east"]})


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    tables: dict[str, Private | Public] = {
        "t": Private(pa.Table.from_pylist(ROWS), person="who"),
        "places": Public(PLACES),
    }
    with Session(tables, budget=Approx(10**6, "0.9")) as opened:
        yield opened


def of(group: str, column: str) -> list[Any]:
    return [row[column] for row in ROWS if row["g"] == group]


ASKED: dict[str, tuple[Callable[..., Answers], Callable[[str], float], float]] = {
    "median": (lambda t, **c: t.median("x", **c), lambda g: median(of(g, "x")), 5),
    "median per person": (lambda t, **c: t.median("x", per="person", **c), lambda g: median(of(g, "x")), 5),
    "minimum": (lambda t, **c: t.min("x", **c), lambda g: min(of(g, "x")), 20),
    "maximum": (lambda t, **c: t.max("x", **c), lambda g: max(of(g, "x")), 20),
    "third largest": (lambda t, **c: t.largest("x", 3, **c), lambda g: max(of(g, "x")) - 2, 20),
    "different": (lambda t, **c: t.nunique("c", **c), lambda g: len(set(of(g, "c"))), 1),
    "deviation": (lambda t, **c: t.std("x", **c), lambda g: pstdev(of(g, "x")), 12),
    "mean per person": (lambda t, **c: t.mean("x", per="person", **c), lambda g: sum(of(g, "x")) / 1000, 12),
    "ratio": (lambda t, **c: t.ratio("b", **c), lambda g: sum(of(g, "b")) / 1000, 0.01),
    "persons with a value": (lambda t, **c: t.count("x", per="person", **c), lambda g: 1000, 2),
}


EXTREMES = ("minimum", "maximum", "third largest")


@pytest.mark.parametrize("name", ASKED)
def test_each_group_is_answered(name: str, session: Session) -> None:
    ask, truth, off = ASKED[name]
    for keys, cost in (("abc", {}), (None, {"delta": "1e-12"})):
        groups = session["t"].group_by("g", None if keys is None else list(keys))
        missed: set[str] = set("abc")
        for _ in range(3):
            found = ask(groups, epsilon=EPSILON, fresh=True, **cost)
            assert set(found) == set("abc")
            missed &= {group for group in "abc" if abs(float(found[group]) - truth(group)) > off}
            if not missed or name not in EXTREMES:
                break
        assert not missed, name


def test_the_most_frequent_of_each_group(session: Session) -> None:
    groups = session["t"].group_by("g", ["a", "b"])
    assert {g: answer.value for g, answer in groups.mode("c > 0", [True, False], epsilon=EPSILON).items()} == {
        "a": True,
        "b": True,
    }
    assert list(groups.top("c", [0, 1, 2], 2, epsilon=EPSILON)) == [("a", 1), ("b", 1), ("a", 2), ("b", 2)]


def test_groups_of_a_public_table_in_sql(session: Session) -> None:
    query = "SELECT place, MEDIAN(x), MAX(x), COUNT(DISTINCT c), STDDEV(x) FROM t JOIN places ON g = k GROUP BY place"
    largest = []
    for _ in range(3):
        found = session.sql(query, epsilon=4 * EPSILON, fresh=True)
        assert isinstance(found, Answers)
        values = [float(answer) for answer in found.values()]
        assert len(values) == 12
        largest.append(max(values))
    assert min(abs(one - 2999) for one in largest) <= 30
