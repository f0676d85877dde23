"""Random values of every type in a column, in every kind of source: no value makes a question fail, and none changes
another person's rows.

A *place* builds a table of two columns, ``who`` and ``v``, from pairs of a person and a value. Persons below 100 have
ordinary values; each person above has one hostile value. What is asked of the whole table must be answered, or refused,
as it is of the ordinary rows alone; the rows of the ordinary persons must be the same, value by value.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tacit import Approx, EngineError, Private, Session, TacitError
from tacit.engines.requests import Relation
from tacit.engines.rows import Rows
from tacit.engines.script import ALL_ROWS, Script, fragment
from tacit.language.expressions import Column, Scope
from tacit.language.parsing import parse
from tacit.language.types import Kind, Schema

Pairs = Sequence[tuple[int, Any]]
Place = Callable[[Pairs], Any]
"""From rows to what a session reads."""


@dataclass(frozen=True)
class Case:
    """One type in one kind of source: ordinary values, hostile ones, and how a table of them is made."""

    name: str
    ordinary: Sequence[Any]
    hostile: Sequence[Any]
    build: Place
    options: Mapping[str, Any] = field(default_factory=dict)
    """The reader's."""
    held: bool = False
    """Whether the rows are held in memory and cannot change once they are open; opening may then refuse them."""

    def opens(self, rows: Pairs, schema: Schema) -> bool:
        """Whether a session can be opened over these rows."""
        try:
            _session(self, rows, schema).close()
        except TacitError:
            return False
        return True


@dataclass
class Tried:
    """What a run did: values that were put into a table, questions asked, what was wrong."""

    cases: int = 0
    values: int = 0
    """Hostile ones in a table that was opened."""
    questions: int = 0
    pairs: int = 0
    """Of a hostile value and a question that is answered without it."""
    refused: int = 0
    failures: list[str] = field(default_factory=list)


_ANY = (
    "SELECT COUNT(v) FROM t",
    "SELECT COUNT(DISTINCT v) FROM t",
    "SELECT COUNT(*) FROM t WHERE v IS NULL",
    "SELECT COUNT(*) FROM t AS a JOIN t AS b ON a.v = b.v",
    "SELECT v, COUNT(*) FROM t GROUP BY v",
    "SELECT COUNT(*) FROM t WHERE v = {0}",
    "SELECT COUNT(*) FROM t WHERE v IN ({0}, {1})",
    "SELECT COUNT(*) FROM t WHERE v < {0} OR v >= {1}",
    "SELECT COUNT(*) FROM t WHERE COALESCE(v, {0}) = {1}",
    "SELECT SUM(CASE WHEN v > {0} THEN 1 ELSE 0 END) FROM t",
)
_NUMBERS = (
    "SELECT SUM(v) FROM t",
    "SELECT AVG(v) FROM t",
    "SELECT VARIANCE(v) FROM t",
    "SELECT SUM(v * v + 1) FROM t",
    "SELECT SUM(ABS(v) / 3) FROM t",
    "SELECT MAX(CAST(v AS DOUBLE)) FROM t",
    "SELECT SUM(LEAST(v, {0})) FROM t",
)
_ORDERED = ("SELECT MIN(v) FROM t", "SELECT MAX(v) FROM t", "SELECT MEDIAN(v) FROM t")
_TEXTS = ("SELECT COUNT(*) FROM t WHERE v LIKE 'a%'", "SELECT COUNT(*) FROM t WHERE v LIKE '%_%'")
_TIMES = (
    "SELECT SUM(EXTRACT(year FROM v)) FROM t",
    "SELECT SUM(EXTRACT(week FROM v)) FROM t",
    "SELECT COUNT(*) FROM t WHERE DATE_TRUNC('week', v) = {0}",
    "SELECT COUNT(DISTINCT DATE_TRUNC('quarter', v)) FROM t",
)
_DATES = ("SELECT SUM(v - DATE '2000-01-01') FROM t", "SELECT MAX(CAST(v AS TIMESTAMP)) FROM t")
_LITERALS = {
    Kind.INTEGER: ("1", "9223372036854775807"),
    Kind.DECIMAL: ("1.5", "0.01"),
    Kind.FLOAT: ("0.5", "1e300"),
    Kind.BOOLEAN: ("TRUE", "FALSE"),
    Kind.DATE: ("DATE '2020-01-01'", "DATE '9999-12-31'"),
    Kind.TIMESTAMP: ("TIMESTAMP '2020-01-01'", "TIMESTAMP '0001-01-01'"),
    Kind.TEXT: ("'a'", "'é'"),
}


def questions(schema: Schema) -> list[str]:
    """What may be asked of a column of this type."""
    kind = schema["v"]
    if kind.kind is Kind.OTHER:
        return list(_ANY[:5])
    asked = [*_ANY, *(_NUMBERS if kind.number else ()), *(_ORDERED if kind.ordered else ())]
    asked += [*(_TEXTS if kind.kind is Kind.TEXT else ()), *(_DATES if kind.kind is Kind.DATE else ())]
    asked += _TIMES if kind.kind in (Kind.DATE, Kind.TIMESTAMP) else ()
    return [text.format(*_LITERALS[kind.kind]) for text in asked]


def attack(cases: Iterable[Case], draw: Random, most: int | None = None) -> Tried:
    """Ask of each case so many questions (or all), and of its rows that they stay."""
    done = Tried()
    for case in cases:
        done.cases += 1
        ordinary = list(enumerate(case.ordinary, 1))
        hostile = list(enumerate(case.hostile, 100))
        try:
            with _session(case, ordinary, None) as session:
                schema = session.schema("t")
                asked = questions(schema)
                asked = asked if most is None else draw.sample(asked, min(most, len(asked)))
                expected = [_outcome(session, text) for text in asked]
                rows = _listed(session)
        except TacitError:
            done.refused += 1  # by its type, before anything was asked
            continue
        mixed = _mixed(draw, ordinary, hostile)
        if not case.opens(mixed, schema):
            kept: list[tuple[int, Any]] = []
            for pair in hostile:
                kept += [pair] if case.opens([*ordinary, *kept, pair], schema) else []
            if not case.held:
                lost = [value for pair in hostile if pair not in kept for value in pair[1:]]
                done.failures.append(f"{case.name}: cannot be opened: {_short(lost)}")
            hostile, mixed = kept, [*ordinary, *kept]
        with _session(case, mixed, schema) as session:
            done.values += len(hostile)
            done.questions += len(asked)
            done.pairs += len(hostile) * (len(asked) - expected.count("refused"))
            done.refused += expected.count("refused")
            found = [_outcome(session, text) for text in asked]
            changed = _changed(session, rows)
        wrong = [(text, was, is_) for text, was, is_ in zip(asked, expected, found, strict=True) if was != is_]
        if wrong:
            text, was, is_ = wrong[0]
            blame = [v for who, v in hostile if _alone(case, ordinary, (who, v), schema, text) != was]
            done.failures.append(f"{case.name}: {len(wrong)} of {len(asked)} {is_}, not {was}: {text}: {_short(blame)}")
        if changed:
            done.failures.append(f"{case.name}: {changed}")
        done.failures += _as_person(case, ordinary, mixed, schema, done)
    return done


def _mixed(draw: Random, ordinary: Pairs, hostile: Pairs) -> list[tuple[int, Any]]:
    """An ordinary row first, which says what the table looks like; then all others in any order."""
    rest = [*ordinary[1:], *hostile]
    draw.shuffle(rest)
    return [*ordinary[:1], *rest]


def _session(case: Case, rows: Pairs, schema: Schema | None, person: str = "who") -> Session:
    source = case.build(rows)
    facts = None if schema is None else dict(schema.columns)
    table = Private(source, person, schema=facts, **case.options)
    return Session({"t": table}, Approx(10**6, "0.9"))


def _outcome(session: Session, text: str) -> str:
    try:
        str(session.sql(text, epsilon=1, delta="1e-9") if "GROUP BY" in text else session.sql(text, epsilon=1))
    except EngineError:
        return "failed"
    except TacitError:
        return "refused"
    except Exception as error:
        return f"raised {type(error).__name__}"
    return "answered"


def _alone(case: Case, ordinary: Pairs, one: tuple[int, Any], schema: Schema, text: str) -> str:
    try:
        with _session(case, [*ordinary[:1], one, *ordinary[1:]], schema) as session:
            return _outcome(session, text)
    except TacitError:
        return "not opened"


def _listed(session: Session) -> Counter[str]:
    """The rows of ordinary persons, with what expressions make of them."""
    schema = session.schema("t")
    scope = Scope.of(schema, "t")
    who = scope.find("who")
    assert isinstance(who, Column)
    with session._tables.engine.snapshot() as snapshot:
        rows = Rows(snapshot.dialect, Relation("t", "t", who), snapshot.tables)  # type: ignore[attr-defined]
        wanted = [rows.plain(who)]
        if schema["v"].kind is not Kind.OTHER:
            one, _ = _LITERALS[schema["v"].kind]
            shown = (
                () if schema["v"].kind is Kind.TEXT else ("v", f"COALESCE(v, {one})")
            )  # not all text leaves an engine
            wanted += [rows.plain(parse(text, scope)) for text in (*shown, f"v = {one}", f"v < {one}", "v IS NULL")]
        asked = fragment(f"SELECT {', '.join(wanted)} FROM ", ALL_ROWS)
        listed = snapshot.fetch_rows(Script(tuple(rows.parts()), asked))  # type: ignore[attr-defined]
    return Counter(repr(row) for row in listed if row[0] < 100)


def _short(values: Sequence[Any]) -> str:
    """A few values, as far as they can be shown."""
    return ", ".join(
        f"{v!a:.40}" if type(v).__module__ in ("builtins", "decimal") else type(v).__name__ for v in values[:6]
    )


def _changed(session: Session, before: Counter[str]) -> str:
    try:
        after = _listed(session)
    except Exception as error:
        return f"the rows cannot be listed ({type(error).__name__})"
    return (
        "" if after == before else f"rows of others changed: {(before - after)!a:.200} became {(after - before)!a:.200}"
    )


def _as_person(case: Case, ordinary: Pairs, mixed: Pairs, schema: Schema, done: Tried) -> Iterator[str]:
    """The same values as persons: counted, and none of them a failure."""
    text = "SELECT COUNT(*) FROM t"
    try:
        with _session(case, ordinary, schema, "v") as session:
            before = _outcome(session, text)
    except TacitError:
        return
    done.questions += 1
    done.pairs += len(mixed) - len(ordinary) if before == "answered" else 0
    try:
        with _session(case, mixed, schema, "v") as session:
            after = _outcome(session, text)
    except TacitError as error:
        after = f"not opened: {error}"
    if after != before:
        yield f"{case.name}: as persons {after}, not {before}"


# ---- values ------------------------------------------------------------------------------------------------------


def integers(draw: Random, bits: int, signed: bool = True) -> list[int]:
    """Limits, powers, and random ones."""
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    near = [n + d for n in (0, 2**31, 2**53, 2**63, -(2**53), low, high) for d in (-1, 0, 1)]
    return sorted({n for n in near if low <= n <= high}) + [draw.randint(low, high) for _ in range(4)]


def doubles(draw: Random) -> list[float]:
    """NaN, infinities, zeros, limits, and doubles of random bits."""
    odd = [float("nan"), float("inf"), -float("inf"), -0.0, 0.0, 5e-324, 1.7976931348623157e308, -1e308, 9.3e12, 1e-320]
    return odd + [struct.unpack("<d", draw.randbytes(8))[0] for _ in range(8)]


def texts(draw: Random) -> list[str]:
    """Text that is valid Unicode: empty, long, controls, marks, look-alikes."""
    odd = [
        "", " ", "\x00", "a\x00b", "\n", "\r\n", '"', "'", "\\", "%", "_", "\ufeff", "\u202e", "e\u0301", "é", "😀",
        "\uffff", "x" * 300_000, "NULL", "nan", "'; DROP TABLE t; --", "\x1b[2J", "{}", "{0}", "%s",
    ]  # fmt: skip
    plane = [*range(1, 0xD800), *range(0xE000, 0xFFFE)]
    return odd + ["".join(map(chr, draw.choices(plane, k=5))) for _ in range(4)]


BAD_BYTES = [b"\xff", b"\x80abc", b"\xc0\x80", b"\xed\xa0\x80", b"a\xf5", b"\xe9t\xe9", b"\xf0\x9f\x98"]
"""Not UTF-8: stray bytes, an overlong zero, half a surrogate pair, Latin-1, a cut character."""
BELOW, ABOVE = -(2**63), 2**63 - 1
