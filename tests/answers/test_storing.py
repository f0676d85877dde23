"""One form for ledgers and for the wire: all that an answer may hold comes back equal, and old answers still speak."""

import inspect
import json
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit.answers
from tacit import Answer, Answers, Approx, Guarantee, Pure, Renyi, Zcdp
from tacit.answers import (
    capped,
    computed,
    flows,
    groups,
    margins,
    moments,
    nodes,
    nonnegative,
    order,
    quotients,
    sampled,
    series,
    spreads,
    totals,
)
from tacit.answers.capped import CappedSum
from tacit.answers.flows import DOUBLED, SCANNED, WEIGHED, CappedFlow, FlowDesign
from tacit.answers.formulas import Calculation, Constant, Part
from tacit.answers.groups import ShownCount
from tacit.answers.results import Result, Row
from tacit.answers.spreads import Additive, Spread
from tacit.answers.storing import FORMS, OLDER, UnknownForm, decode, decode_answer, encode
from tacit.answers.totals import CappedTotal, SignedTotal, Total, TotalDesign
from tacit.noises import (
    Coarser,
    Difference,
    DiscreteGaussian,
    DiscreteLaplace,
    Lopsided,
    Noise,
    Rounded,
    TruncatedLaplace,
)
from tacit.numbers.exact import Unit

OLD: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("older_answers.json").read_text(encoding="utf-8"))
"""Answers as version 0.1 wrote them, and what they said."""


def through_json(part: Any) -> Any:
    return decode(json.loads(json.dumps(encode(part), allow_nan=False)))


# ---- old answers -------------------------------------------------------------------------------------------------


def plain(part: Any) -> Any:
    return json.loads(json.dumps(part))


@pytest.mark.parametrize("name", OLD["answer"])
def test_old_answers_say_what_they_said(name: str) -> None:
    old = OLD["answer"][name]
    answer = decode_answer(old["stored"])
    assert isinstance(answer, Answer)
    assert str(answer) == old["text"]
    assert plain(answer.to_dict()) == old["dict"]
    assert plain(encode(tuple(answer.interval("0.6")))) == old["narrow"]
    assert plain(encode(answer.at_least("0.8"))) == old["at_least"]
    assert through_json(answer) == answer


@pytest.mark.parametrize("name", OLD["answers"])
def test_old_tables_of_answers_say_what_they_said(name: str) -> None:
    old = OLD["answers"][name]
    answers = decode_answer(old["stored"])
    assert isinstance(answers, Answers)
    assert str(answers) == old["text"]
    assert plain(answers.to_dict()) == old["dict"]
    again = through_json(answers)
    assert (dict(again), again.guarantee, again.name) == (dict(answers), answers.guarantee, answers.name)


def tags(part: Any) -> set[str]:
    """All tags in what was stored."""
    if isinstance(part, dict):
        return {part["!"]} & set(map(str, part.values())) | {t for inner in part.values() for t in tags(inner)}
    return {t for inner in part for t in tags(inner)} if isinstance(part, list) else set()


def test_old_answers_hold_every_form() -> None:
    seen = {tag for group in OLD.values() for old in group.values() for tag in tags(old["stored"])}
    assert set(OLDER) <= seen
    renamed, later = (
        {"DiscreteLaplace", "TruncatedLaplace", "Lopsided"},
        {"Rounded", "CappedBelow", "InnerOfGroup", "Combined", "SecondMoment", "Gram", "Correlation", "Fitted"}
        | {
            "LimitedTotal",
            "TotalDesign",
            "Changed",
            "FallenWithin",
            "Series",
            "Chapter",
            "Nodes",
            "Block",
            "SeriesError",
            "FromZero",
            "Doubled",
        },
    )
    assert set(FORMS) - renamed - later <= seen


def test_noise_of_two_rates_keeps_both() -> None:
    rates = {name: encode(Fraction(1, n)) for name, n in (("above", 2), ("below", 3))}
    assert decode({"!": "TwoSidedGeometric", **rates}) == Lopsided(Fraction(1, 2), Fraction(1, 3))


# ---- every class --------------------------------------------------------------------------------------------------

OWN = (spreads, capped, computed, groups, margins, moments, nonnegative, order, quotients, sampled, totals)
MODULES = (*OWN, flows, nodes, series)


def test_every_class_that_an_answer_may_hold_has_a_form() -> None:
    held = {
        item
        for module in MODULES
        for item in vars(module).values()
        if inspect.isclass(item) and issubclass(item, Spread | Total | TotalDesign | FlowDesign)
    }
    written = {form.kind for form in FORMS.values()}
    assert {item for item in held if not inspect.isabstract(item)} <= written | {SignedTotal}  # which no spread holds
    assert {Pure, Approx, Zcdp, Renyi, Unit} <= written
    assert {path.stem for path in Path(tacit.answers.__file__).parent.glob("*.py")} == {
        *(module.__name__.rpartition(".")[2] for module in MODULES),
        *(
            "__init__",
            "answer",
            "arithmetic",
            "certificates",
            "description",
            "description_page",
            "formulas",
            "functions",
            "quantities",
            "report",
            "results",
            "sending",
            "several",
            "storing",
        ),
        "values",
    }


@pytest.mark.parametrize("tag", FORMS)
def test_forms_name_every_field(tag: str) -> None:
    form = FORMS[tag]
    assert is_dataclass(form.kind)
    held = tuple(item.name for item in fields(form.kind) if item.name != "releases")  # these are written once for all
    assert form.fields == held


rates = st.fractions(Fraction(1, 10**6), 100)
whole = st.integers(-(2**70), 2**70)
numbers = st.floats(allow_nan=False)
values: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    whole,
    numbers,
    st.text(),
    st.decimals(allow_nan=False, allow_infinity=False),
    st.dates(),
    st.datetimes(timezones=st.sampled_from([UTC, None])),
)
costs: st.SearchStrategy[Guarantee] = st.one_of(
    rates.map(Pure),
    rates.map(Zcdp),
    st.builds(Approx, rates, st.fractions(Fraction(1, 10**12), Fraction(1, 2))),
    st.builds(Renyi, st.fractions(2, 50), rates),
)
noises: st.SearchStrategy[Noise] = st.recursive(
    st.one_of(
        st.builds(DiscreteLaplace, rates),
        st.builds(DiscreteGaussian, rates),
        st.builds(Lopsided, rates, rates),
        st.builds(CappedTotal, st.integers(1, 10**9), whole, whole, st.booleans(), rates),
        st.builds(
            CappedTotal, st.integers(1, 99), whole, whole, st.booleans(), rates, st.builds(TotalDesign, test=rates)
        ),
        st.builds(CappedFlow, st.integers(1, 99), whole, rates, st.sampled_from([WEIGHED, DOUBLED, SCANNED])),
    ),
    lambda inner: st.one_of(
        st.builds(Difference, inner, inner),
        st.builds(Coarser, inner, st.integers(1, 4096)),
        st.builds(Rounded, inner, st.integers(2, 4096)),
    ),
    max_leaves=3,
)
levels = st.lists(st.tuples(rates, st.none() | whole), max_size=3).map(tuple)
GIVEN: dict[str, st.SearchStrategy[Any]] = {
    "noise": noises,
    "rest_noise": noises,
    "part_noise": noises,
    "top_noise": noises,
    "bottom_noise": noises,
    "unit": st.builds(Unit, rates, st.sampled_from(["integer", "decimal", "float"])),
    "covers": st.sampled_from(["truth", "capped value"]),
    "beyond": levels,
    "persons": levels,
    "inner": values,
    "least": values,
    "value": values,
    "epsilon": rates,
    "probability": rates,
    "what": st.sampled_from(["rows", "persons"]),
    "sums": st.tuples(whole, whole, whole),
}
NUMBERS = {"low", "high", "width", "size", "step", "offset", "within"}
FLAGS = {"largest", "root", "scales"}
SPREADS = [form.kind for form in FORMS.values() if inspect.isclass(form.kind) and issubclass(form.kind, Spread)]


simple_parts = st.builds(Additive, st.builds(DiscreteLaplace, rates))


def computed_of(value: Any, spread: Spread | None) -> Spread:
    """The spread of a formula over two answers."""
    parts = tuple(Answer("sum of x", part, Pure(1), "noise", "anyone", spread=spread) for part in (value, 7))
    return computed.Computed(Calculation("/", (Part(0), Calculation("+", (Constant(value), Part(1))))), parts[::-1])


def made(kind: Callable[..., Spread], inside: st.SearchStrategy[Any]) -> st.SearchStrategy[Spread]:
    """Spreads of a class with any fields."""
    given = dict(GIVEN, inside=inside)
    if kind is computed.Computed:
        return st.builds(computed_of, values, st.none() | simple_parts)
    if kind is ShownCount:
        given["noise"] = st.builds(TruncatedLaplace, rates, st.integers(1, 99))
    if kind is quotients.Quotient:
        given["unit"] = numbers
    names = [item.name for item in fields(kind)]  # type: ignore[arg-type]
    plainly = dict.fromkeys(NUMBERS, numbers) | {name: st.booleans() for name in FLAGS}
    return st.builds(kind, **{name: given.get(name, plainly.get(name, whole)) for name in names})


simple = st.one_of([made(kind, st.nothing()) for kind in SPREADS if not {"inside"} & {f.name for f in fields(kind)}])  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", SPREADS)
@given(data=st.data())
@settings(max_examples=15)
def test_every_spread_comes_back_equal(kind: Callable[..., Spread], data: st.DataObject) -> None:
    spread = data.draw(made(kind, simple))
    assert through_json(spread) == spread


@given(values, costs, st.none() | simple, st.lists(st.text()).map(tuple))
def test_every_answer_comes_back_equal(value: Any, cost: Guarantee, spread: Spread | None, notes: Any) -> None:
    answer = Answer("sum of x", value, cost, "noise", "anyone", spread=spread, cap=value, notes=notes)
    assert through_json(answer) == answer
    table = Answers({("a", 1): answer, value: answer}, cost, "x, y")
    again = through_json(table)
    assert (dict(again), again.guarantee, again.name) == (dict(table), cost, "x, y")
    rows = [Row(("a", value), ("a", value, answer))]
    result = Result(("x", "y", "total"), ("total",), rows, ("x", "y"), cost)
    back = through_json(result)
    assert (back.columns, back.released, back.rows, back.by, back.guarantee, dict(back)) == (
        *(result.columns, result.released, result.rows, result.by, cost),
        {("a", value): answer},
    )


# ---- what is refused ----------------------------------------------------------------------------------------------


def test_a_form_of_a_newer_version_is_not_guessed() -> None:
    with pytest.raises(UnknownForm, match="newer version"):
        decode({"!": "Newer", "field": 1})
    with pytest.raises(UnknownForm, match="no answer"):
        decode_answer(encode(Additive(DiscreteLaplace(Fraction(1)))))
    with pytest.raises(KeyError):
        decode({"no": "tag"})


def test_nothing_else_can_be_written() -> None:
    for part in (object(), [1], {"a": 1}, b"x", complex(1), Path("x")):
        with pytest.raises(TypeError):
            encode(part)


def test_special_numbers_are_written_as_text() -> None:
    assert encode(inf) == {"!": "float", "text": "inf"}
    assert encode(Decimal("1.10")) == {"!": "Decimal", "text": "1.10"}
    assert encode(date(2026, 1, 2)) == {"!": "date", "text": "2026-01-02"}
    assert decode(encode(datetime(2026, 1, 2, 3, tzinfo=UTC))) == datetime(2026, 1, 2, 3, tzinfo=UTC)


def test_older_answers_state_what_holds_now() -> None:
    """Of a signed sum the bound was twice 95 % added; of a found group it forgot that the group was shown."""
    parts = [CappedTotal(10, 100, 5, True, Fraction(4)) for _ in "+-"]
    spread = CappedSum(Difference(*parts))
    before = {**encode(spread), "risks": encode(((Fraction(95, 100), 10),))}
    assert decode(before) == spread
    assert spread.persons_above(Fraction(95, 100)) == SignedTotal(*parts).persons_above_cap("0.95")
    noise = TruncatedLaplace(Fraction(1), 14)
    assert decode(encode(Additive(noise, covers="capped value"))) == ShownCount(noise, 16)


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"!": "Answer"},
        {"!": "Fraction", "text": "1/0"},
        {"!": "Fraction", "text": "1e3000000"},
        {"!": "Decimal", "text": "x"},
        {"!": "tuple", "items": 3},
        {"!": "Answers", "pairs": [[1, 2]], "guarantee": None, "name": ""},
        {"!": "Answers", "pairs": 3, "guarantee": None, "name": ""},
        {"!": "Answers", "pairs": [], "guarantee": None, "name": "", "columns": 3},
        {"!": "Calculation", "name": "SYSTEM", "operands": {"!": "tuple", "items": []}},
        {"!": "Computed", "formula": {"!": "Part", "number": 3}, "parts": {"!": "tuple", "items": []}},
    ],
    ids=str,
)
def test_what_is_no_answer_is_refused_in_one_way(broken: dict[str, Any]) -> None:
    with pytest.raises(UnknownForm, match="no answer"):
        decode_answer(broken)


def test_no_depth_is_too_much_for_a_refusal() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = {"!": "tuple", "items": [deep]}
    with pytest.raises(UnknownForm, match="no answer"):
        decode_answer(deep)
