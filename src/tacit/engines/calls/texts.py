"""Texts: code points, bounded lengths, patterns."""

from __future__ import annotations

from tacit.engines.calls.writing import Calling, Writing, constant, inside, step
from tacit.engines.term import Term, combine
from tacit.language.functions.texts import LONGEST_TEXT
from tacit.language.patterns import LONGEST, pattern

_FAR = 2**31 - 10
"""A place beyond the end of every text."""


def _case(terms: Writing, call: Calling) -> Term:
    """Texts of ASCII alone by the engine's own function, which is quick and has one meaning there."""
    x, dialect = terms.named(call.operands[0]), terms.dialect
    plain = f"{dialect.octets(x.sql)} = LENGTH({x.sql})"
    return combine(f"CASE WHEN {plain} THEN {call.name}({x.sql}) ELSE {dialect.cased(call.name, x.sql)} END", x)


def _length(terms: Writing, call: Calling) -> Term:
    x = terms.term(call.operands[0])
    return combine(f"CAST(LENGTH({x.sql}) AS {terms.dialect.int64})", x)


def _substring(terms: Writing, call: Calling) -> Term:
    x, start, *rest = (terms.named(operand) for operand in call.operands)
    if not rest:
        sql = terms.dialect.substring(x.sql, inside(start, 1, _FAR))
        return combine(f"CASE WHEN {start.sql} >= 1 THEN {sql} END", x, start)
    (count,) = rest
    sql = terms.dialect.substring(x.sql, inside(start, 1, _FAR), inside(count, 0, _FAR))
    return combine(f"CASE WHEN {start.sql} >= 1 AND {count.sql} >= 0 THEN {sql} END", x, start, count)


def _left(terms: Writing, call: Calling) -> Term:
    x, count = (terms.named(operand) for operand in call.operands)
    sql = terms.dialect.substring(x.sql, "1", inside(count, 0, _FAR))
    return combine(f"CASE WHEN {count.sql} >= 0 THEN {sql} END", x, count)


def _right(terms: Writing, call: Calling) -> Term:
    x, count = (terms.named(operand) for operand in call.operands)
    start = f"(GREATEST(LENGTH({x.sql}) - {inside(count, 0, _FAR)}, 0) + 1)"
    return combine(f"CASE WHEN {count.sql} >= 0 THEN {terms.dialect.substring(x.sql, start)} END", x, count)


def _trim(terms: Writing, call: Calling) -> Term:
    x = terms.term(call.operands[0])
    return combine(terms.dialect.trim(call.name, x.sql, terms.dialect.text(constant(call, 1, str))), x)


def _concatenation(terms: Writing, call: Calling) -> Term:
    """Its length is looked at before it is made."""
    parts = [terms.named(operand) for operand in call.operands]
    size = " + ".join(f"CAST(LENGTH({part.sql}) AS {terms.dialect.int64})" for part in parts)
    return combine(f"CASE WHEN {size} <= {LONGEST_TEXT} THEN {' || '.join(part.sql for part in parts)} END", *parts)


def _replace(terms: Writing, call: Calling) -> Term:
    """What t takes away tells how often it occurs, and so how long the result is."""
    x, old, new = (terms.named(operand) for operand in call.operands)
    int64 = terms.dialect.int64
    without = step(terms, f"CASE WHEN {old.sql} <> '' THEN REPLACE({x.sql}, {old.sql}, '') END", x, old)
    size, lost = (f"CAST(LENGTH({name}) AS {int64})" for name in (x.sql, without.sql))
    times = terms.dialect.quotient(f"({size} - {lost})", f"GREATEST(CAST(LENGTH({old.sql}) AS {int64}), 1)", short=True)
    length = step(terms, f"{lost} + {times} * CAST(LENGTH({new.sql}) AS {int64})", x, without, old, new)
    return combine(
        f"CASE WHEN {new.sql} IS NULL THEN NULL WHEN {old.sql} = '' THEN {x.sql} "
        f"WHEN {length.sql} <= {LONGEST_TEXT} THEN REPLACE({x.sql}, {old.sql}, {new.sql}) END",
        x,
        old,
        new,
        length,
    )


def _repeat(terms: Writing, call: Calling) -> Term:
    x, count = (terms.named(operand) for operand in call.operands)
    int64 = terms.dialect.int64
    times = inside(count, 0, LONGEST_TEXT)
    size = f"CAST(LENGTH({x.sql}) AS {int64}) * CAST({times} AS {int64})"
    safe = f"CASE WHEN {size} <= {LONGEST_TEXT} THEN {times} ELSE 0 END"
    fits = f"({x.sql} = '' OR ({count.sql} <= {LONGEST_TEXT} AND {size} <= {LONGEST_TEXT}))"
    return combine(f"CASE WHEN {count.sql} >= 0 AND {fits} THEN {terms.dialect.repeat(x.sql, safe)} END", x, count)


def _pad(terms: Writing, call: Calling) -> Term:
    x, count = (terms.named(operand) for operand in call.operands[:2])
    sql = terms.dialect.pad(
        call.name, x.sql, inside(count, 0, LONGEST_TEXT), terms.dialect.text(constant(call, 2, str))
    )
    return combine(f"CASE WHEN {count.sql} BETWEEN 0 AND {LONGEST_TEXT} THEN {sql} END", x, count)


def _split(terms: Writing, call: Calling) -> Term:
    x, place = terms.named(call.operands[0]), terms.named(call.operands[2])
    sql = terms.dialect.split(x.sql, terms.dialect.text(constant(call, 1, str)), inside(place, 1, _FAR))
    return combine(f"CASE WHEN {place.sql} >= 1 THEN {sql} END", x, place)


def _position(terms: Writing, call: Calling) -> Term:
    x, wanted = (terms.named(operand) for operand in call.operands)
    found = terms.dialect.position(x.sql, wanted.sql)
    sql = f"CASE WHEN {wanted.sql} = '' AND {x.sql} IS NOT NULL THEN 1 ELSE {found} END"
    return combine(f"CAST({sql} AS {terms.dialect.int64})", x, wanted)


def _starts(terms: Writing, call: Calling) -> Term:
    x, wanted = (terms.named(operand) for operand in call.operands)
    start = step(terms, terms.dialect.substring(x.sql, "1", f"LENGTH({wanted.sql})"), x, wanted)
    return combine(terms.dialect.compared("=", start.sql, wanted.sql), start, wanted)


def _ends(terms: Writing, call: Calling) -> Term:
    x, wanted = (terms.named(operand) for operand in call.operands)
    start = f"(GREATEST(LENGTH({x.sql}) - LENGTH({wanted.sql}), 0) + 1)"
    end = step(terms, terms.dialect.substring(x.sql, start), x, wanted)
    return combine(terms.dialect.compared("=", end.sql, wanted.sql), end, wanted)


def _matches(terms: Writing, call: Calling) -> Term:
    x = terms.named(call.operands[0])
    found = terms.dialect.matches(x.sql, pattern(constant(call, 1, str), constant(call, 2, bool)))
    return combine(f"CASE WHEN LENGTH({x.sql}) <= {LONGEST} THEN {found} END", x)


WRITTEN = {
    **dict.fromkeys(("LOWER", "UPPER"), _case),
    "LENGTH": _length,
    "SUBSTRING": _substring,
    "LEFT": _left,
    "RIGHT": _right,
    **dict.fromkeys(("TRIM", "LTRIM", "RTRIM"), _trim),
    "||": _concatenation,
    "REPLACE": _replace,
    "REPEAT": _repeat,
    **dict.fromkeys(("LPAD", "RPAD"), _pad),
    "SPLIT_PART": _split,
    "POSITION": _position,
    "STARTS_WITH": _starts,
    "ENDS_WITH": _ends,
    "REGEXP_MATCHES": _matches,
}
