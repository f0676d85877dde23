"""Questions to a fresh secret sample of the persons: what is charged, what is spent inside, what answers claim.

With ε in the thousands noise is zero except with probability below 1e-20, so samples can be seen exactly.
"""

from itertools import islice
from typing import Any

import pyarrow as pa
import pytest

import tacit
from tacit import Answer, Answers, Approx, InvalidInput, Private, Pure, Session, Table, UnsupportedQuery
from tacit.guarantees import allowance
from tacit.noises import DiscreteLaplace
from tacit.randomness import seeded_not_private
from tests.support import agrees
from tests.tables.support import EXTREME, arrow, found, questions, refused, shown

SURE = 10**5
PEOPLE = 2000
ROWS = pa.table({"who": [i % PEOPLE for i in range(2 * PEOPLE)], "v": [3] * (2 * PEOPLE), "g": ["x", "y"] * PEOPLE})


def table(**options: Any) -> Table:
    return tacit.read(ROWS, **{"person": "who", "budget": Pure(10**9), "table": "t", "sample": "0.25", **options})


def test_the_cost_named_is_charged_and_promised_and_the_larger_one_is_spent_inside() -> None:
    t = table(budget=Pure(1))
    answer = t.persons(epsilon=1)
    assert t.budget.spent == Pure(1) == answer.guarantee
    inside = allowance(Pure(1), "0.25").epsilon
    assert answer.noise_std == pytest.approx(DiscreteLaplace.for_pure(inside).variance ** 0.5 / 0.25)
    assert "secret sample" in answer.mechanism


def test_the_number_of_persons_covers_the_truth_sampling_included() -> None:
    """Missed with probability at most 1e-7; 500 are expected in the sample, give or take 19."""
    answer = table().persons(epsilon=1)
    interval = answer.interval("0.9999999")
    assert interval.covers == "truth"
    assert interval.low <= PEOPLE <= interval.high
    assert answer.interval().high - answer.interval().low < 800


def test_totals_are_scaled_whole_persons_are_asked_and_both_rounds_ask_the_same() -> None:
    """Every person has two rows of 3, so sums are multiples of 6/p; grouped totals take two rounds."""
    t = table()
    total, rows = t.sum("v", epsilon=SURE), t.count(epsilon=SURE)
    assert float(total) % 24 == 0 == float(rows) % 8
    assert 1000 < float(total) / 6 < 3000  # 2000 expected, thirteen deviations off
    assert total.interval().covers == "sampled, capped value"
    assert total.persons_above_cap() is None
    assert "divided by 1/4" in str(total)
    groups = t.group_by("g", keys=["x", "y"]).sum("v", epsilon=SURE)
    assert groups.guarantee == Pure(SURE) == groups["x"].guarantee
    assert all(float(answer) % 24 == 0 for answer in groups.values())
    assert t.mean("v", epsilon=SURE).value == pytest.approx(3, abs=0.1)
    largest = t.max("v", epsilon=SURE)
    assert largest.value == 3
    assert largest.interval().covers == "sampled value"
    assert "is not in the interval" in str(largest)


def test_every_question_gets_a_fresh_sample_and_persons_are_sampled_independently() -> None:
    """Three persons, 300 samples: their number is binomial. False alarm 1e-7."""
    t = tacit.read(pa.table({"who": [1, 2, 3]}), person="who", budget=Pure(10**9), sample="0.5")
    sizes = [int(float(t.persons(epsilon=SURE, fresh=True)) / 2) for _ in range(300)]
    assert agrees(sizes, {0: 1 / 8, 1: 3 / 8, 2: 3 / 8, 3: 1 / 8})


def test_the_same_question_is_free_and_another_sampling_is_another_question() -> None:
    t = table()
    first = t.sum("v", epsilon=2)
    again = t.sum("v", epsilon=2)
    assert again.stored
    assert (again.value, str(again.interval())) == (first.value, str(first.interval()))
    assert t.budget.spent == Pure(2)
    other = Session({"t": Private(ROWS, person="who")}, t.budget, sample="0.5")["t"]
    assert not other.sum("v", epsilon=2).stored
    assert not table(budget=t.budget, sample=1).sum("v", epsilon=2).stored


def test_everybody_is_no_sample() -> None:
    for sample in (None, 1):
        answer = table(sample=sample).persons(epsilon=SURE)
        assert answer.value == PEOPLE
        assert answer.notes == ()


UNSAMPLED = ("different", "most frequent", "third largest", "second smallest", "most rows")
"""Questions about everybody that a sample cannot answer."""


@pytest.mark.parametrize(("rows", "every"), [([], 3), (EXTREME, 4)], ids=["nobody", "odd persons"])
def test_odd_data(rows: list[Any], every: int) -> None:
    t = tacit.read(arrow(rows), person="who", budget=Approx(10**6, "0.9"), sample="0.5")
    for name, ask in islice(questions(t), 0, None, every):
        if name.startswith(UNSAMPLED):
            continue
        answer = ask(epsilon=1)
        assert shown(answer), name
        assert shown(ask(epsilon=1)), name
    for name, ask in found(t):
        assert shown(ask(epsilon=1, delta="1e-6")), name


def test_refusals_spend_nothing() -> None:
    t = table(budget=Approx(10, "0.5"))
    refused(t.budget, UnsupportedQuery, "from a sample, which would say nothing", lambda: t.nunique("g", epsilon=1))
    both = "SELECT SUM(v), COUNT(DISTINCT g) FROM t"
    refused(t.budget, UnsupportedQuery, "from a sample, which would say nothing", lambda: t.sql(both, epsilon=1))
    refused(t.budget, InvalidInput, "rho= is not amplified", lambda: t.sum("v", rho=1))
    refused(t.budget, InvalidInput, "below the sampling probability", lambda: t.sum("v", epsilon=1, delta="0.3"))
    edges = pa.table({"a": [1, 2], "b": [2, 3]})
    graph = Session({"edge": Private(edges, person=["a", "b"])}, Pure(1), sample="0.5")
    refused(graph.budget, UnsupportedQuery, "a row concerns one person", lambda: graph["edge"].count(epsilon=1))


@pytest.mark.parametrize("sample", [0, -1, 2, "1e-9"])
def test_a_sample_is_a_share(sample: Any) -> None:
    with pytest.raises(InvalidInput, match="sample must lie between"):
        table(sample=sample)


def test_shares_and_analysts_sample_too_and_a_seed_repeats_the_sample() -> None:
    session = Session({"t": Private(ROWS, person="who")}, Pure(10**9), sample="0.25")
    assert "sample=1/4" in repr(session)
    for view in (session.share(Pure(10**8), "one"), session.analyst("two")):
        answer = view["t"].persons(epsilon=SURE)
        assert "secret sample" in answer.mechanism
    values = {table(randomness=seeded_not_private(5)).persons(epsilon=SURE).value for _ in range(2)}
    assert len(values) == 1


def test_joined_rows_of_one_person_are_sampled_by_person() -> None:
    session = Session(
        {"t": Private(ROWS, person="who"), "g": tacit.Public(pa.table({"g": ["x", "y"], "size": [1, 2]}))},
        Pure(10**9),
        sample="0.25",
    )
    answer = session.sql("SELECT SUM(size) FROM t JOIN g ON t.g = g.g", epsilon=SURE)
    assert isinstance(answer, Answer)
    assert float(answer) % 8 == 0  # a person's two rows have the same group
    grouped = session.sql("SELECT g.g, COUNT(*) FROM t JOIN g ON t.g = g.g GROUP BY g.g", epsilon=SURE)
    assert isinstance(grouped, Answers)
