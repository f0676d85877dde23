"""Answers: what they say, what they show, and that they hold nothing that was not released."""

import json
import pickle
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from math import inf
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import tacit
from tacit import Answer, Answers, Approx, Interval, InvalidInput, Pure, Table
from tacit.answers.several import told, warned
from tacit.answers.spreads import Additive
from tacit.answers.storing import decode, decode_answer, encode
from tacit.answers.values import plain, show
from tacit.noises import DiscreteLaplace
from tacit.randomness import seeded_not_private
from tests.tables.support import EXTREME, arrow, found, questions, shown

ANSWER = Answer(
    statistic="sum of amount",
    value=1234567,
    guarantee=Pure("0.5"),
    mechanism="noise",
    protected="any one customer with all their rows",
    spread=Additive(DiscreteLaplace.for_pure(Fraction(1, 10))),
    cap=5000,
    notes=("A note.",),
    asked=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
)
DOWN, UP = DiscreteLaplace.for_pure(Fraction(1, 10)).reach(0.95)


# ---- one answer -------------------------------------------------------------------------------------------------


def test_an_answer_states_its_error() -> None:
    interval = ANSWER.interval()
    assert (interval.low, interval.high) == (1234567 - UP, 1234567 + DOWN)
    assert interval.covers == "truth"
    assert list(interval) == [interval.low, interval.high]
    assert str(interval) == f"95 % of the truth: {1234567 - UP:,} to {1234567 + DOWN:,}"
    assert ANSWER.interval("0.5").high < interval.high < ANSWER.interval(0.999).high
    assert ANSWER.noise_std == pytest.approx(DiscreteLaplace.for_pure(Fraction(1, 10)).variance ** 0.5)
    assert ANSWER.persons_above_cap() is None
    assert float(ANSWER) == 1234567.0


@pytest.mark.parametrize("confidence", [0, 1, -1, "1.5", "0.99999999999999999", float("nan")])
def test_a_confidence_lies_between_zero_and_one(confidence: Any) -> None:
    for ask in (ANSWER.interval, ANSWER.persons_above_cap):
        with pytest.raises(InvalidInput, match="confidence"):
            ask(confidence)


def test_an_answer_reads_as_a_sentence() -> None:
    assert str(ANSWER) == (
        "Sum of amount, over all rows: 1,234,567. "
        f"Noise interval, 95 % of the truth: {1234567 - UP:,} to {1234567 + DOWN:,}. A note. "
        "Protects any one customer with all their rows with Pure(0.5)."
    )
    assert repr(ANSWER) == "Answer(sum of amount: 1,234,567, Pure(0.5))"
    again = ANSWER.as_stored()
    first = "Answered on 2026-01-02 03:04 UTC at ε = 0.5; if the data have changed since, ask anew"
    assert str(again).startswith(f"{first} with fresh=True. Sum of amount")
    assert told(again, "command line").startswith(f"{first} with --fresh. Sum of amount")
    assert warned(again, "json") == f"{first} with 'fresh': true."
    assert warned(again, "page") == f"{first} with “Ask anew”."
    assert repr(again).startswith("Answer(answered on 2026-01-02 03:04 UTC; sum of amount: ")
    assert again.to_dict()["warning"] == f"{first}."
    assert first in again.explain().splitlines()[0]
    assert first in again._repr_html_()
    labelled = replace(again, version="2026-11")
    assert str(labelled).endswith("Stored answer of 2026-01-02 03:04 UTC for version 2026-11, returned at no cost.")
    assert warned(labelled, "python") is None
    assert labelled.to_dict()["version"] == "2026-11"
    assert str(replace(ANSWER, version="2026-11")).endswith("Version 2026-11 of the data.")
    assert "version" not in encode(ANSWER)
    assert decode_answer(encode(labelled)) == labelled
    assert again.stored
    assert not ANSWER.stored


def test_the_whole_story_is_explained_and_shown_in_notebooks() -> None:
    story = ANSWER.explain()
    for part in ("sum of amount (over all rows)", "steps of 1", "noise", "Pure(0.5)", "customer", "A note."):
        assert part in story
    page = ANSWER._repr_html_()
    assert page.startswith("<table>")
    assert page.count("<tr>") == len(story.splitlines())
    assert "<script>" not in replace(ANSWER, statistic="<script>alert(1)</script>")._repr_html_()


def test_plain_values_are_ready_for_json() -> None:
    found_dict = json.loads(json.dumps(ANSWER.to_dict(), allow_nan=False))
    assert found_dict["value"] == 1234567
    assert found_dict["guarantee"] == "Pure(0.5)"
    assert found_dict["interval"] == {
        "low": 1234567 - UP,
        "high": 1234567 + DOWN,
        "covers": "truth",
        "confidence": 0.95,
        "of": "the truth",
        "truth": "",
    }
    assert found_dict["asked"] == "2026-01-02T03:04:05+00:00"


def test_no_answer_is_said_plainly() -> None:
    nothing = replace(ANSWER, value=None, spread=None)
    assert "no answer" in str(nothing)
    assert nothing.interval() == Interval(-inf, inf, "truth")
    assert nothing.noise_std is None
    with pytest.raises(InvalidInput, match="not a number"):
        float(nothing)
    with pytest.raises(InvalidInput, match="not a number"):
        float(replace(ANSWER, value="EU"))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "unknown"),
        (True, "true"),
        (1234567, "1,234,567"),
        (Decimal("1234.50"), "1,234.50"),
        (1234.5678, "1,234.57"),
        (12345678.9, "12,345,679"),
        (1e20, "1e+20"),
        (-inf, "unbounded"),
        (date(2020, 2, 29), "2020-02-29"),
        (datetime(2020, 2, 29, 1, 2), "2020-02-29 01:02:00"),
        ("EU", "EU"),
    ],
)
def test_values_are_written_for_people(value: Any, text: str) -> None:
    assert show(value) == text


def test_values_are_kept_whole_for_programs() -> None:
    assert plain((Decimal("0.10"), date(2020, 1, 2), inf, 2**70, None)) == ["0.10", "2020-01-02", None, 2**70, None]


# ---- several ----------------------------------------------------------------------------------------------------

SEVERAL = Answers({"EU": ANSWER, None: replace(ANSWER, value=-3)}, Pure(1), "region")


def test_several_answers_are_an_ordered_mapping() -> None:
    assert list(SEVERAL) == ["EU", None]
    assert SEVERAL["EU"] is ANSWER
    assert len(SEVERAL) == 2
    assert SEVERAL.guarantee == Pure(1)
    assert repr(SEVERAL) == "Answers({'EU': 1,234,567, None: -3}, Pure(1))"


def test_several_answers_print_as_a_table() -> None:
    lines = str(SEVERAL).splitlines()
    assert lines[0].split()[:2] == ["EU", "1,234,567"]
    assert lines[1].split()[:2] == ["None", "-3"]
    assert "Intervals hold the truth with 95 % confidence each." in lines
    assert lines[-1].endswith("with Pure(1) for all together.")
    assert str(Answers({}, Pure(1))) == "No group was large enough to be shown. All together: Pure(1)."
    assert str(SEVERAL.as_stored()).startswith("Answered on 2026-01-02")


def test_several_answers_become_frames_and_tables() -> None:
    frame = SEVERAL.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["region", "value", "low", "high", "covers", "cap"]
    assert frame["value"].tolist() == [1234567, -3]
    table = SEVERAL.to_arrow()
    assert isinstance(table, pa.Table)
    assert table.column("region").to_pylist() == ["EU", None]
    assert table.column("high").to_pylist() == [1234567 + DOWN, -3 + DOWN]
    page = SEVERAL._repr_html_()
    assert page.count("<tr>") == 3
    assert "Pure(1) for all together" in page
    plain_values = SEVERAL.to_dict()
    assert [answer["key"] for answer in plain_values["answers"]] == ["EU", None]
    assert json.dumps(plain_values, allow_nan=False)


def test_several_keys_become_several_columns() -> None:
    pairs = Answers({("EU", True): ANSWER}, Pure(1), "region, new")
    assert list(pairs.to_pandas().columns[:3]) == ["region", "new", "value"]
    assert pairs.to_arrow().column_names[:3] == ["region", "new", "value"]
    assert "EU, True" in str(pairs)


@pytest.mark.parametrize("value", [2**64, -(2**100), 10**80, Decimal("1e40")])
def test_arrow_holds_values_beyond_64_bits(value: Any) -> None:
    wide = Answers({"a": replace(ANSWER, value=value, spread=None), "b": ANSWER}, Pure(1))
    first: Any = wide.to_arrow().column("value").to_pylist()[0]
    assert float(first) == pytest.approx(float(value))


# ---- nothing that was not released ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def t() -> Iterator[Table]:
    table = tacit.read(arrow(EXTREME), person="who", budget=Approx(10**5, "0.9"))
    with table.session:
        yield table


PLAIN = (str, bytes, int, float, bool, Decimal, Fraction, date, type(None))


def parts(thing: Any, depth: int = 0) -> Iterator[Any]:
    """Everything that can be reached from an object."""
    assert depth < 12
    yield thing
    inner: list[Any] = []
    if isinstance(thing, dict):
        inner = [*thing.keys(), *thing.values()]
    elif isinstance(thing, tuple | list | set | frozenset):
        inner = list(thing)
    elif not isinstance(thing, PLAIN):
        inner = list(vars(thing).values())
    for part in inner:
        yield from parts(part, depth + 1)


def test_answers_hold_only_released_values_and_public_facts(t: Table) -> None:
    """Frozen values of numbers and texts: no law, no engine, no session, and as many numbers as are stated."""
    for name, ask in [*questions(t), *found(t)]:
        delta = {"delta": "0.2"} if "found" in name else {}
        answer = ask(epsilon=1, **delta)
        for part in parts(answer):
            kind: Any = type(part)
            frozen = is_dataclass(part) and kind.__dataclass_params__.frozen
            allowed = isinstance(part, (*PLAIN, tuple, dict, Answers))
            assert frozen or allowed, (name, kind)
            assert type(part).__module__.partition(".")[2].partition(".")[0] not in ("engines", "randomness")
            assert not isinstance(part, str) or "secret" not in part
            assert not type(part).__name__.endswith("Law")
        again = pickle.loads(pickle.dumps(answer))
        assert shown(again) == shown(answer), name


def test_every_answer_survives_being_stored(t: Table) -> None:
    for name, ask in [*questions(t), *found(t)]:
        answer = ask(epsilon=1, **({"delta": "0.2"} if "found" in name else {}))
        text = json.dumps(encode(answer), allow_nan=False)
        again = decode(json.loads(text))
        assert type(again) is type(answer)
        assert shown(again) == shown(answer), name
        if isinstance(answer, Answer):
            assert again == answer


def test_only_answers_can_be_stored() -> None:
    for thing in (object(), {1, 2}, Table):
        with pytest.raises(TypeError, match="an answer cannot hold"):
            encode(thing)


def test_an_answer_is_frozen() -> None:
    names = [field.name for field in fields(ANSWER)]
    assert {"value", "guarantee", "unit", "per", "cap", "mechanism", "private"} <= set(names)
    with pytest.raises(AttributeError):
        ANSWER.value = 0  # type: ignore[misc]


# ---- seeded randomness ------------------------------------------------------------------------------------------


def test_seeded_answers_are_the_same_and_say_that_they_protect_nobody() -> None:
    def ask() -> Table:
        return tacit.read(arrow(EXTREME), person="who", budget=Approx(10**5, "0.9"), randomness=seeded_not_private(7))

    with ask().session as first, ask().session as second:
        both = zip(questions(first["data"]), questions(second["data"]), strict=True)
        for (name, one), (_, two) in islice(both, 0, None, 4):
            a, b = one(epsilon=1), two(epsilon=1)
            assert repr(a) == repr(b), name
            every = [a] if isinstance(a, Answer) else list(a.values())
            assert not any(answer.private for answer in every)
            assert "NOT PRIVATE" in str(a)
            assert not any(answer.to_dict()["private"] for answer in every)
        stored = first["data"].persons(epsilon=1)
        assert stored.stored
        assert not stored.private
        assert "NOT PRIVATE" in stored.explain()


def test_real_answers_do_not_say_so(t: Table) -> None:
    answer = t.persons(epsilon=1)
    assert answer.private
    assert "NOT PRIVATE" not in str(answer) + answer.explain()
