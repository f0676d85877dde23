"""Rounding, remainders, whole quotients, square roots and buckets."""

from __future__ import annotations

from tacit.engines.calls.writing import Calling, Writing, constant, step
from tacit.engines.term import Term, combine
from tacit.language.expressions import Literal
from tacit.language.types import FLOAT, INTEGER

WHOLE = 2.0**52
"""From here on every double is a whole number."""


def _rounded(terms: Writing, call: Calling) -> Term:
    """ROUND, TRUNC, FLOOR or CEIL to some digits."""
    number, digits = call.operands[0], constant(call, 1, int)
    if number.type == FLOAT:
        return _rounded_double(terms, call.name, terms.named(number), digits)
    x = step(terms, terms.dialect.wide(terms.term(number).sql), terms.term(number))
    power = 10 ** (number.type.scale - digits)
    below, above = {
        "ROUND": (power // 2, power // 2),
        "TRUNC": (0, 0),
        "FLOOR": (power - 1, 0),
        "CEIL": (0, power - 1),
    }[call.name]
    count = terms.dialect.quotient
    q = (
        f"CASE WHEN {x.sql} < 0 THEN -{count(f'(ABS({x.sql}) + {below})', str(power))} "
        f"WHEN {x.sql} >= 0 THEN {count(f'(ABS({x.sql}) + {above})', str(power))} END"
    )
    found = combine(f"({terms.dialect.wide(q)} * {10 ** max(-digits, 0)})", x)
    return terms.narrow(found)


def _rounded_double(terms: Writing, name: str, x: Term, digits: int) -> Term:
    """x·10^d is rounded and divided by 10^d; a double so large that it is whole then stays as it is."""
    double = terms.dialect.double
    power = 10.0 ** abs(digits)
    limit = double(WHOLE / power if digits > 0 else WHOLE * power)
    small = f"ABS({x.sql}) < {limit}"
    if digits > 0:
        scaled = f"{x.sql} * {double(power)}"
    elif digits < 0:  # a quotient that is nearly zero must not become zero, for PostgreSQL would fail
        scaled = f"CASE WHEN ABS({x.sql}) < {double(0.25)} THEN {double(0.0)} ELSE {x.sql} / {double(power)} END"
    else:
        scaled = x.sql
    y = step(terms, f"CASE WHEN {small} THEN {scaled} WHEN {x.sql} IS NOT NULL THEN {double(0.0)} END", x)
    down = step(terms, terms.dialect.whole(f"{'' if name == 'FLOOR' else 'ABS'}({y.sql})"), y)
    if name == "FLOOR":
        found = down
    else:
        rest = f"(ABS({y.sql}) - {down.sql})"
        add = {
            "ROUND": f"CASE WHEN {rest} >= {double(0.5)} THEN {double(1.0)} ELSE {double(0.0)} END",
            "TRUNC": double(0.0),
            "CEIL": f"CASE WHEN {rest} > 0 AND {y.sql} > 0 THEN {double(1.0)} ELSE {double(0.0)} END",
        }[name]
        found = step(terms, f"CASE WHEN {y.sql} < 0 THEN -1 ELSE 1 END * ({down.sql} + {add})", y, down)
    back = found.sql
    if digits:
        back = f"{found.sql} {'/' if digits > 0 else '*'} {double(power)}"
    return combine(f"CASE WHEN {small} THEN {back} ELSE {x.sql} END", x, found)


def _divisor(call: Calling) -> str | None:
    """A positive constant that divides whole numbers, which 64 bits are enough for."""
    right = call.operands[1]
    if call.type != INTEGER or not isinstance(right, Literal) or not isinstance(right.value, int) or right.value < 1:
        return None
    return str(right.value)


def _remainder(terms: Writing, call: Calling) -> Term:
    if (divisor := _divisor(call)) is not None:
        x = terms.term(call.operands[0])
        return combine(f"({x.sql} % {divisor})", x)
    left, right = (terms.term(operand) for operand in call.operands)
    wide = terms.dialect.wide
    x = step(terms, f"({wide(left.sql)} % NULLIF({wide(right.sql)}, 0))", left, right)
    return terms.narrow(x)


def _quotient(terms: Writing, call: Calling) -> Term:
    """By the sizes of both, in 128 bits, for the smallest integer has no positive counterpart."""
    if (divisor := _divisor(call)) is not None:
        x = terms.named(call.operands[0])
        return combine(terms.dialect.quotient(f"({x.sql} - {x.sql} % {divisor})", divisor, short=True), x)
    left, right = (terms.term(operand) for operand in call.operands)
    wide = terms.dialect.wide
    a, b = step(terms, wide(left.sql), left), step(terms, f"NULLIF({wide(right.sql)}, 0)", right)
    size = step(terms, terms.dialect.quotient(f"ABS({a.sql})", f"ABS({b.sql})"), a, b)
    return terms.narrow(
        combine(f"CASE WHEN ({a.sql} < 0) = ({b.sql} < 0) THEN {size.sql} ELSE -{size.sql} END", a, b, size)
    )


def _root(terms: Writing, call: Calling) -> Term:
    return root(terms, terms.named(call.operands[0]))


def root(terms: Writing, x: Term) -> Term:
    """The square root, or NULL below 0."""
    zero = terms.dialect.double(0.0)
    return combine(f"CASE WHEN {x.sql} >= 0 THEN SQRT(GREATEST({x.sql}, {zero})) END", x)


def _bucket(terms: Writing, call: Calling) -> Term:
    x, count = terms.named(call.operands[0]), constant(call, 3, int)
    low, high = (operand for operand in call.operands[1:3] if isinstance(operand, Literal))
    dialect = terms.dialect
    if low.type == FLOAT:
        a, b = float(low.value), float(high.value)  # type: ignore[arg-type]
        middle = _double_bucket(terms, x, a, b, count)
        edges = dialect.double(a), dialect.double(b)
    else:
        steps = dialect.steps(low, low.type.scale), dialect.steps(high, high.type.scale)
        edges = str(steps[0]), str(steps[1])
        over = f"(({dialect.wide(x.sql)} - ({steps[0]})) * {count})"
        safe = f"CASE WHEN {x.sql} >= {steps[0]} AND {x.sql} < {steps[1]} THEN {over} ELSE 0 END"
        inner = step(terms, dialect.wide(safe), x)
        quotient = dialect.quotient(inner.sql, dialect.wide(str(steps[1] - steps[0])))
        middle = combine(f"CAST({quotient} AS {dialect.int64}) + 1", inner)
    return combine(
        f"CASE WHEN {x.sql} < {edges[0]} THEN 0 WHEN {x.sql} >= {edges[1]} THEN {count + 1} "
        f"WHEN {x.sql} IS NOT NULL THEN {middle.sql} END",
        x,
        middle,
    )


def _double_bucket(terms: Writing, x: Term, low: float, high: float, count: int) -> Term:
    """⌊(x − low) / (high − low) · n⌋ + 1, at most n."""
    dialect = terms.dialect
    inner = f"{x.sql} >= {dialect.double(low)} AND {x.sql} < {dialect.double(high)}"
    gap = step(terms, f"CASE WHEN {inner} THEN {x.sql} - {dialect.double(low)} ELSE {dialect.double(0.0)} END", x)
    whole = terms.named(Literal(FLOAT, high - low))
    share = terms.bind(terms.finite(combine(dialect.operation("/", gap.sql, whole.sql), gap, whole)))
    place = step(terms, f"COALESCE({share.sql}, {dialect.double(0.0)}) * {dialect.double(float(count))}", share)
    safe = step(terms, f"LEAST({place.sql}, {dialect.double(float(count - 1))})", place)
    floor = step(terms, dialect.whole(safe.sql), safe)
    return combine(f"{dialect.rounded(floor.sql)} + 1", floor)


WRITTEN = {
    **dict.fromkeys(("ROUND", "TRUNC", "FLOOR", "CEIL"), _rounded),
    "MOD": _remainder,
    "DIV": _quotient,
    "SQRT": _root,
    "WIDTH_BUCKET": _bucket,
}
