"""One meaning everywhere: on every engine the same rows give the same answers, bit for bit.

Sixty small tables (`tests.engines.cases`) are asked everything (`tests.engines.questions`). Where plain Python defines
the answer (`tests.engines.oracle`), every engine must give that; where only an engine can (a keyed hash, a choice of
rows), every engine must give what DuckDB gives. Spark evaluates expressions as they stand here, which saves compiling
a program for each; `tests.engines.test_spark` asks a portion of it with compiled programs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import pyarrow as pa
import pytest

from tacit.engines import Engine
from tacit.engines.requests import (
    Blocks,
    Bound,
    Incidence,
    Join,
    KeyCounts,
    KeysPerPerson,
    KeyWeights,
    LeadingValue,
    Ordered,
    Persons,
    Relation,
    Repeats,
    Request,
    RowCount,
    Sample,
    TopRows,
    TotalBuckets,
    Touches,
    value,
)
from tacit.errors import EngineError
from tacit.language.expressions import Column, Literal, Scope
from tacit.language.parsing import parse
from tacit.language.types import TEXT, Schema
from tests.engines import cases, oracle, questions
from tests.engines.engines import OPEN, everything, portions
from tests.engines.questions import SCOPE, relation
from tests.engines.rowwise import bits, expected, values

SALT = bytes(range(32))
PRICES = pa.table(
    {
        "label": pa.array(["EU", "EU", "a", "é", "", None, "none", "a "], pa.string()),
        "code": pa.array([1, 2, 2, 2**63 - 1, None, 7, 0, -(2**63)], pa.int64()),
        "price": pa.array([1.5, 2.5, -1.0, None, 1e300, 7.0, 8.0, 0.25], pa.float64()),
    }
)


@cache
def table() -> list[cases.Row]:
    return cases.rows()


@pytest.fixture(scope="module", params=list(OPEN))
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    tables = {"t": cases.arrow(table()), "prices": PRICES}
    with OPEN[request.param](request, tables) as opened:
        yield opened


@pytest.fixture(scope="module")
def reference(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with OPEN["duckdb"](request, {"t": cases.arrow(table()), "prices": PRICES}) as opened:
        yield opened


def test_all_engines_see_the_same_schema(engine: Engine) -> None:
    assert engine.schema("t") == questions.FACTS


# ---- rows --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", range(4))
def test_every_expression_in_every_row(engine: Engine, part: int) -> None:
    asked = questions.expressions()[part::4]
    with engine.snapshot() as snapshot:
        found = values(snapshot, asked)
    wanted = {row["number"]: [expected(e, row) for e in asked] for row in table() if row["who"] is not None}
    for number, row in found.items():
        for text, got, defined in zip(questions.TEXTS[part::4], row, wanted[number], strict=True):
            assert got == defined, (text, table()[number])
    assert found.keys() == wanted.keys()


# ---- persons -----------------------------------------------------------------------------------------------------


def _agree(engine: Engine, about: Relation, asked: tuple[Request[Any], ...]) -> None:
    for portion in portions(engine, asked):
        with engine.snapshot() as snapshot:
            found = snapshot.ask(about, portion)
        for request, answer in zip(portion, found, strict=True):
            assert answer == oracle.answer(about, request, table()), request


@pytest.mark.parametrize("part", range(3))
def test_every_request_about_persons(engine: Engine, part: int) -> None:
    _agree(engine, relation(), questions.of_persons()[part :: 3 if everything(engine) else 9])


BESIDE = dict(zip(questions.PERSONS[1:], ("t", "c", "u", "w", "f", "g", "b", "d"), strict=True))
"""Of which column quantiles are asked for persons of a type."""
ALIKE = ("u", "w", "g")
"""Columns of the same type as others, which Spark is not asked about here."""


def test_quantiles(engine: Engine) -> None:
    """Without a cap on a person's rows and with one; Spark with one, of the columns that it is not asked for below."""
    for text in questions.ORDERED:
        if everything(engine):
            _agree(engine, relation(), questions.quantiles(text))
        elif text.isidentifier() and text not in (*BESIDE.values(), *ALIKE):
            _agree(engine, relation(), questions.quantiles(text)[1:])


@pytest.mark.parametrize("person", questions.PERSONS[1:])
def test_persons_of_every_type(engine: Engine, person: str) -> None:
    if BESIDE[person] in ALIKE and not everything(engine):
        return  # a type like another's
    _agree(engine, relation(person), questions.of_persons()[:: 23 if everything(engine) else 59])
    capped = questions.PERSONS.index(person) % 2
    _agree(engine, relation(person), questions.quantiles(BESIDE[person])[capped : capped + 1])


@pytest.mark.parametrize("where", [*questions.FILTERS, *(f"case_of = {n}" for n in (cases.NOBODY, cases.ONE))])
def test_filters_and_almost_nobody(engine: Engine, where: str) -> None:
    _agree(engine, relation(where=where), questions.of_persons()[:: 11 if everything(engine) else 29])
    if where == "FALSE" or everything(engine):
        _agree(engine, relation(where=where), questions.quantiles("c")[:1])


def test_every_request_about_groups(engine: Engine) -> None:
    """Spark every ninth with a norm: for each key some norms and both statistics."""
    asked = questions.of_groups()
    chosen = tuple(r for n, r in enumerate(asked) if n % 9 == 0 or isinstance(r, KeysPerPerson) or everything(engine))
    _agree(engine, relation(), chosen)


def test_what_persons_bring_to_groups(engine: Engine) -> None:
    """Spark one statement of two: different values, and moments in ranges of their own."""
    asked = questions.of_parts()
    _agree(engine, relation(), asked if everything(engine) else (asked[0], asked[2]))


def test_rows_that_weigh_their_part_of_a_person(engine: Engine) -> None:
    """Of all rows and of both ends; Spark the ends."""
    asked = questions.weighed()
    for request in asked if everything(engine) else asked[1:2]:
        with engine.snapshot() as snapshot:
            found = snapshot.weigh(relation(), request)
        columns = (found.groups, found.values, found.weights, found.numbers)
        scale = 1 if found.values.dtype.kind == "f" else 10**request.value.expression.type.scale
        exact = scale if isinstance(request.value, Ordered) else 1
        got: Counter[Any] = Counter()
        for g, v, w, n in zip(*(column.tolist() for column in columns), strict=True):
            got[g, Fraction(v) / exact, w] += n
        assert got == Counter({key: n for key, n in oracle.weighed(relation(), request, table()).items() if key[2]})


# ---- what only an engine can choose ------------------------------------------------------------------------------


def _same(engine: Engine, reference: Engine, about: Relation, asked: tuple[Request[Any], ...]) -> None:
    for portion in portions(engine, asked):
        with engine.snapshot() as snapshot, reference.snapshot() as other:
            found, expected = snapshot.ask(about, portion), other.ask(about, portion)
        for request, got, wanted in zip(portion, found, expected, strict=True):
            if isinstance(wanted, tuple):
                assert Counter(got) == Counter(wanted), request
            else:
                assert got == wanted, request


@pytest.mark.parametrize("person", ["who", cases.NAME])
def test_keys_chosen_by_a_keyed_hash(engine: Engine, reference: Engine, person: str) -> None:
    """Doubles are written differently by each engine, so which of them a person keeps may differ; here all are kept."""
    keys = [(SCOPE.find(name),) for name in "sicbdt"] + [(SCOPE.find("b"), SCOPE.find("s"))]
    few: tuple[Request[Any], ...] = tuple(
        KeyCounts(by, cap, least, SALT) for by in keys for cap, least in ((1, 1), (2, 2))
    )
    few += tuple(KeyWeights(by, (1, 2, 4), (10, 7, 5), 1) for by in keys[:2])
    every = tuple(KeyCounts((SCOPE.find(name),), 1000, 1, SALT) for name in "fw")
    leads = tuple(LeadingValue(SCOPE.find(name)) for name in "sib")
    asked = (*few, *every, *leads)
    step = 1 if everything(engine) else 3 if person == "who" else 7
    _same(engine, reference, relation(person), asked[::step])


def test_the_largest_rows(engine: Engine, reference: Engine) -> None:
    asked = TopRows(Ordered(SCOPE.find("d")), 1000, 4, True), TopRows(Ordered(SCOPE.find("f")), 1000, 4, False)
    with engine.snapshot() as snapshot, reference.snapshot() as other:
        found, expected = snapshot.ask(relation(), asked), other.ask(relation(), asked)
    for got, wanted in zip(found, expected, strict=True):
        assert _people(got) == _people(wanted)


def _people(pairs: tuple[tuple[int, Any], ...]) -> Counter[Any]:
    """How many persons have which values, whatever their numbers are."""
    values: dict[int, list[Any]] = {}
    for number, found in pairs:
        values.setdefault(number, []).append(found)
    return Counter(tuple(sorted(found)) for found in values.values())


def test_samples_of_persons(engine: Engine, reference: Engine) -> None:
    about = relation()
    sampled = Relation("t", "t", about.person, sample=Sample(2**59, SALT))
    _same(engine, reference, sampled, (Persons(), TotalBuckets(RowCount(), questions.BOUNDARIES)))


def test_rows_in_blocks(engine: Engine, reference: Engine) -> None:
    names = ("number", "i", "c", "f", "b", "d", "t", "s")
    for count in (7, None):
        asked = Blocks(tuple((name, SCOPE.find(name)) for name in names), count, SALT)
        with engine.snapshot() as snapshot, reference.snapshot() as other:
            found, expected = snapshot.blocks(relation(), asked), other.blocks(relation(), asked)
        assert found.schema == expected.schema
        assert Counter(map(repr, found.to_pylist())) == Counter(map(repr, expected.to_pylist()))
        with engine.snapshot() as snapshot:
            cut = snapshot.blocks(relation(), replace(asked, rows=2))
        sizes = Counter(expected.column("").to_pylist())
        assert Counter(cut.column("").to_pylist()) == {block: min(size, 2) for block, size in sizes.items()}
        assert not Counter(map(repr, cut.to_pylist())) - Counter(map(repr, expected.to_pylist()))


# ---- joins and several persons -----------------------------------------------------------------------------------


def _joined(key: str, other: str, kind: Any) -> tuple[Relation, Scope]:
    facts = Schema.of({"label": "text", "code": "integer", "price": "float"})
    scope = SCOPE.beside(Scope.of(facts, "p"))
    join = Join("prices", "p", ((scope.find(key), scope.find(other)),), kind)  # type: ignore[arg-type]
    return Relation("t", "t", relation().person, (join,)), scope


@pytest.mark.parametrize("kind", ["inner", "left"])
@pytest.mark.parametrize(("key", "other"), [("s", "label"), ("i", "code"), ("c", "code")])
def test_joins_with_a_public_table(engine: Engine, reference: Engine, key: str, other: str, kind: str) -> None:
    about, scope = _joined(key, other, kind)
    asked = (
        Persons(),
        TotalBuckets(RowCount(), questions.BOUNDARIES),
        TotalBuckets(RowCount(scope.find("price")), questions.BOUNDARIES),
        TotalBuckets(value(parse("price * i", scope)), questions.BOUNDARIES),
        KeyCounts((scope.find("label"),), 2, 1, SALT),
    )
    _same(engine, reference, about, asked)


def test_sizes_of_joins_by_counts_on_keys(engine: Engine) -> None:
    """Exact for a tree, no less than the truth for a circle; a failure before the rows."""
    about, scope = _joined("i", "code", "inner")
    (first,) = about.joins

    def column(table: str, name: str) -> Column:
        return Column(scope.find(name).type, table, name)

    outer = Join("prices", "q", ((column("t", "s"), column("q", "label")),), "left")
    ties = ((column("p", "code"), column("r", "code")), (column("t", "s"), column("r", "label")))
    circle = Join("prices", "r", ties)
    rows, prices = [(row["i"], row["s"]) for row in table()], [(p["code"], p["label"]) for p in PRICES.to_pylist()]
    codes, labels = Counter(c for c, _ in prices), Counter(x for _, x in prices)
    inner = sum(codes[i] for i, _ in rows if i is not None)
    whole = sum(codes[i] * (max(1, labels[s]) if s is not None else 1) for i, s in rows if i is not None)
    both = sum(codes[i] * (c == i and x == s) for i, s in rows for c, x in prices if None not in (i, s))
    assert 0 < both < inner < whole
    for joins, least, most in [
        ((first, outer), whole, whole),
        ((first, circle), both, inner),
        ((first,), inner, inner),
    ]:
        about = replace(about, joins=joins)
        assert not _fits(engine, about, least - 1)
        assert not everything(engine) or _fits(engine, about, most)
    with engine.snapshot() as snapshot:
        assert snapshot.fits(replace(about, bound=Bound(3 * len(rows), "t", 3)))
        assert not snapshot.fits(replace(about, bound=Bound(3 * len(rows) - 1, "t", 3)))
        code, label = column("prices", "code"), column("prices", "label")
        assert snapshot.repeats("prices", (code,)) == Repeats(2, 1)
        assert snapshot.repeats("prices", (label, code)) == Repeats(1, 0)
        with pytest.raises(EngineError, match="could not finish"):
            snapshot.ask(replace(about, bound=Bound(inner - 1)), (Persons(),))


def _fits(engine: Engine, about: Relation, most: int) -> bool:
    with engine.snapshot() as snapshot:
        return snapshot.fits(replace(about, bound=Bound(most)))


@pytest.mark.parametrize(
    "asked",
    [
        Incidence(RowCount()),
        Incidence(value(SCOPE.find("i"))),
        Incidence(RowCount(SCOPE.find("s")), values=SCOPE.find("s")),
        Incidence(heights=Ordered(SCOPE.find("f")), every=True),
        Incidence(heights=Ordered(SCOPE.find("t")), largest=False),
        Incidence(
            value(SCOPE.find("i")), by=(SCOPE.find("s"),), keys=tuple((Literal(TEXT, k),) for k in ("a", None, "EU"))
        ),
    ],
    ids=["count", "sum", "values", "every height", "lowest height", "sum by group"],
)
def test_rows_that_concern_several_persons(engine: Engine, reference: Engine, asked: Incidence) -> None:
    person, other, far = relation().person, relation("i").person, relation(cases.NAME).person
    about = Relation("t", "t", person, others=(("", other), ("name", far)))
    with engine.snapshot() as snapshot, reference.snapshot() as beside:
        found, expected = snapshot.touches(about, asked), beside.touches(about, asked)
    assert found.kinds == expected.kinds
    assert _patterns(found) == _patterns(expected)


def _patterns(touches: Touches) -> Counter[Any]:
    """The rows with each number replaced by everything that is told about it, so that numbering does not matter."""
    columns = [*touches.persons, *([] if touches.values is None else [touches.values])]
    families = [*touches.kinds, *([] if touches.values is None else ["a value"])]
    extra = [None] * len(touches.weights) if touches.heights is None else [bits(h.item()) for h in touches.heights]
    extra = extra if touches.groups is None else touches.groups.tolist()
    told: dict[Any, Counter[Any]] = {}
    for place, (family, numbers) in enumerate(zip(families, columns, strict=True)):
        for number, weight, height in zip(numbers.tolist(), touches.weights.tolist(), extra, strict=True):
            told.setdefault((family, number), Counter())[place, weight, height] += 1
    marks = {known: tuple(sorted(counts.items(), key=repr)) if known[1] else None for known, counts in told.items()}
    rows = zip(touches.weights.tolist(), extra, *(numbers.tolist() for numbers in columns), strict=True)
    return Counter(
        (weight, height, *(marks[family, number] for family, number in zip(families, numbers, strict=True)))
        for weight, height, *numbers in rows
    )
