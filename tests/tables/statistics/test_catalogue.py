"""The catalogue: what it says about every statistic, and a toy in one file that works everywhere once it is added."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import tacit
from tacit import Answer, InvalidInput, Pure, Table, UnsupportedQuery
from tacit.audit.questions import questions, small_tables
from tacit.audit.survey import jobs, work
from tacit.budgets import Policy
from tacit.randomness import seeded_not_private
from tacit.serve import asking
from tacit.serve.config import load
from tacit.serve.gateway import Gateway
from tacit.serve.tokens import ANALYST, Caller
from tacit.tables.face.grouping import GroupBy
from tacit.tables.releasing.room import Room
from tacit.tables.statistics import catalogue, series
from tacit.tables.statistics.asking import Asking, Entry
from tacit.tables.statistics.base import Statistic
from tests.serve.support import configuration
from tests.tables.statistics.toy import AsksPositives

ROWS = 400
ORDERS = pa.table(
    {
        "customer": [i // 2 for i in range(ROWS)],
        "amount": [(i * 37) % 90 - 20 for i in range(ROWS)],
        "region": [("north", "south", "east")[i % 3] for i in range(ROWS)],
    }
)
ABOVE = sum((i * 37) % 90 > 20 for i in range(ROWS))


def orders(**options: Any) -> Any:
    """A table on which a plugged-in method can be called: its type does not know it."""
    return tacit.read(
        ORDERS, person="customer", table="orders", randomness=seeded_not_private(7), **{"budget": Pure(1000), **options}
    )


def near(answer: Answer, truth: float = ABOVE, by: float = 0.2) -> bool:
    return abs(float(answer) / truth - 1) < by


@pytest.fixture
def toy() -> Iterator[None]:
    catalogue.add(AsksPositives)
    yield
    catalogue.remove(AsksPositives)


@dataclass(frozen=True)
class Doubles(Statistic, phrase="doubles of {name}"):
    """A statistic that is only named."""

    name: str = "x"
    key = "doubles"

    def release(self, room: Room) -> Answer:
        raise AssertionError("it is never asked")


def face(*entries: Entry, **methods: Any) -> type[Any]:
    """A subclass of `Asking` with these methods."""
    return type("Face", (Asking,), {"_entries": entries, **methods})


def method(self: Any) -> None:
    """A method of a plug-in."""


class Tagged(Doubles, tag="Total"):
    """The head of another's identity."""


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (face(Entry(Doubles, "doubles")), "a method of that name"),
        (face(Entry(Doubles, "doubles"), Entry(Doubles, "doubles"), doubles=method), "a key of its own"),
        (face(Entry(Doubles, "doubles"), doubles=method, sql=method), "'sql' already"),
        (face(Entry(Doubles, "doubles"), doubles=method, count=method), "'count' already"),
        (face(Entry(Doubles, "doubles"), doubles=method, filter=method), "'filter' already"),
        (face(Entry(Doubles, "doubles", "twos"), twos=method), "another key than its entry"),
        (face(Entry(Tagged, "doubles", "doubles"), doubles=method), "tag or key of 'doubles'"),
        (face(Entry(Doubles, "doubles", sql={"doubles": lambda c: Doubles()}), doubles=method), "no name of an aggreg"),
        (face(Entry(Doubles, "doubles", sql={"Abs": lambda c: Doubles()}), doubles=method), "no name of an aggregate"),
        (face(Entry(Doubles, "doubles", sql={"Sum": lambda c: Doubles()}), doubles=method), "there already"),
    ],
)
def test_no_plug_in_takes_what_is_there(wrong: type[Any], words: str) -> None:
    before = catalogue.entries(), dir(Table), dir(GroupBy)
    with pytest.raises(InvalidInput, match=words):
        catalogue.add(wrong)
    assert (catalogue.entries(), dir(Table), dir(GroupBy)) == before
    with pytest.raises(InvalidInput, match="nothing to take out"):
        catalogue.remove(wrong)


def test_heads_of_identities_are_told_apart() -> None:
    """Count and Sum share a tag, as ledgers have it, and are told apart by what they add up."""
    heads: dict[str, set[type[Statistic]]] = {}
    for entry in catalogue.entries():
        heads.setdefault(catalogue.head(entry.statistic), set()).add(entry.statistic)
    assert {name: len(kinds) for name, kinds in heads.items() if len(kinds) > 1} == {"Total": 2}


# ---- the toy ----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("toy")
def test_it_is_asked_by_a_method_and_by_sql_as_one_question() -> None:
    table = orders()
    answer = table.positives("amount", epsilon=8)
    assert near(answer)
    assert answer.statistic == "number of rows with positive amount"
    again = table.sql("SELECT POSITIVES(amount) FROM orders", epsilon=8)
    assert (again.value, again.stored is not None) == (answer.value, True)
    assert table.budget.spent == Pure(8)
    with pytest.raises(InvalidInput, match="column 'amont' does not exist"):
        table.positives("amont", epsilon=1)


@pytest.mark.usefixtures("toy")
def test_it_is_asked_for_each_group() -> None:
    table = orders(budget=tacit.Approx(1000, "0.5"))
    regions = ["north", "south", "east"]
    for answers in (
        table.group_by("region", regions).positives("amount", epsilon=30),
        table.group_by("region").positives("amount", epsilon=30, delta="0.01"),
        table.sql(
            "SELECT region, POSITIVES(amount) FROM orders WHERE region IN ('north', 'south', 'east') GROUP BY region",
            epsilon=30,
        ),
    ):
        assert set(answers) == set(regions)
        assert all(near(answer, ABOVE / 3, 0.4) for answer in answers.values())


@pytest.mark.usefixtures("toy")
def test_it_is_asked_of_a_sample_and_of_rows_of_several_persons() -> None:
    sampled = orders(sample="0.5").positives("amount", epsilon=20)
    assert near(sampled, by=0.4)
    assert "divided by 1/2" in sampled.notes[-1]
    edges = pa.table({"a": [1, 2, 3] * 50, "b": [4, 5, 6] * 50, "weight": [1, -1, 2] * 50})
    shared: Any = tacit.read(edges, person=["a", "b"], budget=Pure(100), table="edges")
    assert near(shared.positives("weight", epsilon=50), 100, 0.5)
    with pytest.raises(UnsupportedQuery, match=r"ask for one of .*positives"):
        shared.median("weight", epsilon=1)


@pytest.mark.usefixtures("toy")
def test_its_accuracy_is_forecast() -> None:
    forecast = tacit.plan("positives", persons=500, epsilon=1)
    assert forecast.headline.startswith("At ε = 1, with about 500 persons, the number of positive values lies within ")
    assert forecast.error < 0.5


@pytest.mark.usefixtures("toy")
def test_a_policy_allows_it_by_name(tmp_path: Path) -> None:
    table = orders(ledger=tmp_path / "ledger.db", name="orders")
    table.budget.amend(policy=Policy(statistics=frozenset({"positives"})))
    assert near(table.positives("amount", epsilon=8))
    assert near(table.group_by("region", ["north"]).positives("amount", epsilon=8)["north"], ABOVE / 3, 0.5)
    with pytest.raises(UnsupportedQuery, match="does not allow the statistic 'sum'"):
        table.sum("amount", epsilon=8)


@pytest.mark.usefixtures("toy")
def test_a_ledger_keeps_its_answer(tmp_path: Path) -> None:
    kept = {"ledger": tmp_path / "ledger.db", "name": "orders"}
    first = orders(**kept)
    answer = first.positives("amount", epsilon=8)
    first.session.close()
    again = orders(**kept, budget=None)
    assert again.positives("amount", epsilon=8).value == answer.value
    assert again.budget.spent == Pure(8)


@pytest.mark.usefixtures("toy")
def test_the_gateway_answers_it(tmp_path: Path) -> None:
    gateway, ada = Gateway(load(configuration(tmp_path))), Caller(ANALYST, "ada")
    question = {"table": "visits", "statistic": "positives", "column": "minutes"}
    asked = gateway.read_question(ada, "visits", {"question": question, "epsilon": "0.5"})
    assert asked.sql == "SELECT POSITIVES(minutes)\nFROM visits"
    assert gateway.preview(ada, "visits", asked)["forecast"] == "positives"
    answer = gateway.ask(ada, "visits", asked)
    assert isinstance(answer, Answer)
    assert near(answer, 600, 0.5)
    assert "number of positive values" in asking.builder(gateway.facts(ada, "visits"), {})
    gateway.close()


@pytest.mark.usefixtures("toy")
def test_it_is_audited() -> None:
    (question,) = (each for each in questions() if each.name == "positives")
    assert small_tables().check(question, paths=2).holds
    (job, _) = jobs("positives")
    line = work(job)
    assert line.passed
    assert line.verdict in ("tight", "loose")


def test_nothing_is_left_when_it_is_taken_out() -> None:
    catalogue.add(AsksPositives)
    with pytest.raises(InvalidInput, match="there is a statistic 'positives'"):
        catalogue.add(AsksPositives)
    catalogue.remove(AsksPositives)
    table = orders()
    assert not hasattr(table, "positives")
    assert not hasattr(GroupBy, "positives")
    with pytest.raises(UnsupportedQuery, match="cannot be answered privately"):
        table.sql("SELECT POSITIVES(amount) FROM orders", epsilon=8)
    with pytest.raises(InvalidInput, match="there is no statistic 'positives'"):
        Policy(statistics=frozenset({"positives"}))
    with pytest.raises(InvalidInput, match="must be one of persons, count"):
        tacit.plan("positives", persons=500, epsilon=1)


# ---- every statistic --------------------------------------------------------------------------------------------

ENTRIES = {entry.key: entry for entry in catalogue.entries()}


def test_names_are_given_once() -> None:
    assert len(ENTRIES) == len(catalogue.entries())
    forms = [name for entry in ENTRIES.values() for name in entry.sql]
    assert len(set(forms)) == len(forms)
    alone = {"modal_count", "max_degree", "histogram", "covariance", "correlation", "regression", "iqr", "trimmed_mean"}
    assert set(ENTRIES) - set(catalogue.groupable()) == alone


def test_statistics_of_one_key_are_told_apart_by_their_fields() -> None:
    """Two classes may share a key; their texts differ by a tag, which none of them inherits, or by their fields."""
    assert series.__name__  # what is loaded only when it is asked for counts too
    tags = [vars(kind).get("tag") for kind in _kinds(Statistic) if kind.__module__.startswith("tacit.tables")]
    assert sorted(filter(None, tags)) == [
        "Covariance", "DistinctValues", "Extremum", "FoundGroups", "FoundHistogram", "FoundTogether", "Frequent",
        "GroupedDistinct", "GroupedExtremes", "GroupedMeans", "GroupedModes", "GroupedMoments", "GroupedQuantiles",
        "GroupedRatios",
        "GroupedTotals", "Interquartile", "LocalQuantile", "MarginMeans", "MarginTotals", "MaximumDegree", "Mean",
        "ModalCount", "Moment", "PersonCount",
        "PickedGroups", "Quantiles", "Ratio", "Regression", "Series", "StableMode", "Total", "Total",
        "Trimmed",
    ]  # fmt: skip


def _kinds(kind: type[Any]) -> Iterator[type[Any]]:
    for below in kind.__subclasses__():
        yield below
        yield from _kinds(below)


@pytest.mark.parametrize("key", ENTRIES)
def test_a_statistic_says_all_about_itself(key: str) -> None:
    entry = ENTRIES[key]
    method: Callable[..., Any] = getattr(Table, key)
    assert entry.words
    assert entry.audited, "nothing verifies it"
    named = inspect.signature(method).parameters
    assert list(named)[-4:] == ["epsilon", "delta", "rho", "fresh"]
    assert bool(entry.methods) == ("method" in named)
    assert getattr(GroupBy, key) is method
    documented = inspect.getdoc(method) or ""
    for name in named:
        assert name == "self" or name in documented.partition("Args:")[2]


@pytest.mark.parametrize("key", [key for key, entry in ENTRIES.items() if entry.methods])
def test_an_unknown_method_is_refused_with_the_names_there_are(key: str) -> None:
    ask = getattr(orders(), key)
    given: dict[str, tuple[Any, ...]] = {"max_degree": (), "ratio": ("amount > 1",), "quantile": ("amount", "0.5")}
    given |= dict.fromkeys(("largest", "smallest", "trimmed_mean"), ("amount", 2)) | {"top": ("amount", [1, 2], 1)}
    with pytest.raises(InvalidInput, match=f"^method must be one of {', '.join(ENTRIES[key].methods)}; "):
        ask(*given.get(key, ("amount",)), method="guess", epsilon=1)


def test_what_cannot_be_grouped_says_what_can() -> None:
    table = orders()
    words = r"does not answer the largest number of rows of one person by group \(GROUP BY\), only persons, count, sum,"
    with pytest.raises(UnsupportedQuery, match=words):
        table.group_by("region", ["north"]).max_degree(epsilon=1)
    with pytest.raises(UnsupportedQuery, match="by group, the sum of amount is answered per row and without method="):
        table.group_by("region", ["north"]).sum("amount", per="person", epsilon=1)
    with pytest.raises(UnsupportedQuery, match="by group, the median of amount is answered by its default method"):
        table.group_by("region", ["north"]).median("amount", method="permute_and_flip", epsilon=1)
    with pytest.raises(UnsupportedQuery, match="chosen among candidates; give candidates="):
        table.group_by("region", ["north"]).mode("amount", per="person", epsilon=1)
    assert table.budget.remaining == Pure(1000)
