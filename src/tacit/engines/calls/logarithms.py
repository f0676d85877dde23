"""LN, LOG2, LOG10, EXP and POWER as fixed sequences of + − × ÷, which are rounded in one way everywhere.

WHY. Engines call whatever library of mathematics they were built with, and these differ in the last bit. So none is
called: x = m·2^k with √½ ≤ m < √2 is found by comparisons and exact products with powers of two, and a polynomial does
the rest. The polynomials and their order are those of fdlibm (Sun Microsystems), whose results are within one unit in
the last place of the true ones:

    ln m = f − f²/2 + s·(f²/2 + R(s²)),  f = m − 1,  s = f / (2 + f)
    e^r  = 1 + (r·c / (2 − c) − lo + hi),  c = r − r²·P(r²),  r = hi − lo = x − k·ln 2

No step of them leaves the range of doubles, which PostgreSQL would call an error.
"""

from __future__ import annotations

from tacit.engines.calls.writing import Calling, Writing, step
from tacit.engines.term import Term, combine
from tacit.language.expressions import Literal
from tacit.language.functions.numbers import LARGEST_EXPONENT

LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
LOG10_2_HIGH, LOG10_2_LOW = 3.01029995663611771306e-01, 3.69423907715893078616e-13
PER_LN10, PER_LN2 = 4.34294481903251816668e-01, 1.44269504088896338700
LOGARITHM = (
    6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
    1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01,
)  # fmt: skip
EXPONENTIAL = (
    1.66666666666666019037e-01, -2.77777777770155933842e-03, 6.61375632143793436117e-05, -1.65339022054652515390e-06,
    4.13813679705723846039e-08,
)  # fmt: skip
LOWEST, HIGHEST = -700.0, 709.782712893384
"""Where EXP is 0 below, and NULL above."""
_ROUGHLY = 2.0**-54
"""Below this size of x, e^x is 1 as a double."""
WHOLE_BELOW = 10.0**12
"""Below this a power of whole numbers is rounded to a whole number."""


def _polynomial(terms: Writing, x: Term, *coefficients: float) -> str:
    """a + x·(b + x·(c + …))."""
    first, *rest = coefficients
    shown = terms.dialect.double(first)
    return f"({shown} + {x.sql} * {_polynomial(terms, x, *rest)})" if rest else shown


def _ladder(terms: Writing, name: str, steps: list[tuple[float, float]], last: float) -> str:
    """The value beside the first bound that is not above a number, else the last."""
    double = terms.dialect.double
    whens = " ".join(f"WHEN {name} >= {double(bound)} THEN {double(value)}" for bound, value in steps)
    return f"CASE {whens} ELSE {double(last)} END"


def _split(terms: Writing, x: Term) -> tuple[Term, Term]:
    """m and k of x = m·2^k for x > 0; of anything else those of 1."""
    double = terms.dialect.double
    tiny = double(2.0**-896)
    near = f"{x.sql} > 0 AND {x.sql} < {tiny}"
    lifted = f"CASE WHEN {near} THEN {x.sql} * {double(2.0**256)} WHEN {x.sql} > 0 THEN {x.sql} ELSE {double(1.0)} END"
    m = step(terms, lifted, x)
    k = combine(f"CASE WHEN {near} THEN {double(-256.0)} ELSE {double(0.0)} END", x)
    for size, first, last in ((128, 7, -7), (8, 15, 0), (1, 7, 0)):
        places = range(first, last, -1)
        down = _ladder(terms, m.sql, [(2.0 ** (size * j), 2.0 ** (-size * j)) for j in places], 2.0 ** (-size * last))
        up = _ladder(terms, m.sql, [(2.0 ** (size * j), float(size * j)) for j in places], float(size * last))
        k = step(terms, f"{k.sql} + {up}", k, m)
        m = step(terms, f"{m.sql} * {down}", m)
    large = f"{m.sql} >= {double(2.0**0.5)}"
    return (
        step(terms, f"CASE WHEN {large} THEN {m.sql} * {double(0.5)} ELSE {m.sql} END", m),
        step(terms, f"CASE WHEN {large} THEN {k.sql} + {double(1.0)} ELSE {k.sql} END", k, m),
    )


def _fraction(terms: Writing, m: Term) -> tuple[Term, Term, Term]:
    """f, f²/2 and s·(f²/2 + R) for a number near 1, whose logarithm is their sum, the second one taken away."""
    double = terms.dialect.double
    f = step(terms, f"{m.sql} - {double(1.0)}", m)
    s = step(terms, f"{f.sql} / ({double(2.0)} + {f.sql})", f)
    z = step(terms, f"{s.sql} * {s.sql}", s)
    w = step(terms, f"{z.sql} * {z.sql}", z)
    odd, even = LOGARITHM[0::2], LOGARITHM[1::2]
    r = step(terms, f"{z.sql} * {_polynomial(terms, w, *odd)} + {w.sql} * {_polynomial(terms, w, *even)}", z, w)
    half = step(terms, f"{double(0.5)} * {f.sql} * {f.sql}", f)
    return f, half, step(terms, f"{s.sql} * ({half.sql} + {r.sql})", s, half, r)


def _positive(x: Term, found: Term) -> Term:
    return combine(f"CASE WHEN {x.sql} > 0 THEN {found.sql} END", x, found)


def _ln(terms: Writing, call: Calling) -> Term:
    return logarithm(terms, terms.named(call.operands[0]))


def logarithm(terms: Writing, x: Term) -> Term:
    """The natural logarithm, or NULL unless x > 0."""
    double = terms.dialect.double
    m, k = _split(terms, x)
    f, half, rest = _fraction(terms, m)
    low, high = f"{k.sql} * {double(LN2_LOW)}", f"{k.sql} * {double(LN2_HIGH)}"
    found = combine(f"((({rest.sql} + {low}) - {half.sql}) + {f.sql}) + {high}", k, f, half, rest)
    return _positive(x, found)


def _ln_of_fraction(terms: Writing, m: Term) -> Term:
    f, half, rest = _fraction(terms, m)
    return step(terms, f"({rest.sql} - {half.sql}) + {f.sql}", f, half, rest)


def _log2(terms: Writing, call: Calling) -> Term:
    x = terms.named(call.operands[0])
    m, k = _split(terms, x)
    ln = _ln_of_fraction(terms, m)
    return _positive(x, combine(f"{k.sql} + {ln.sql} * {terms.dialect.double(PER_LN2)}", k, ln))


def _log10(terms: Writing, call: Calling) -> Term:
    double = terms.dialect.double
    x = terms.named(call.operands[0])
    m, k = _split(terms, x)
    ln = _ln_of_fraction(terms, m)
    low = f"({k.sql} * {double(LOG10_2_LOW)} + {ln.sql} * {double(PER_LN10)})"
    return _positive(x, combine(f"{low} + {k.sql} * {double(LOG10_2_HIGH)}", k, ln))


def _exp(terms: Writing, call: Calling) -> Term:
    return exponential(terms, terms.named(call.operands[0]))


def exponential(terms: Writing, x: Term) -> Term:
    """e to the power of x."""
    double = terms.dialect.double
    usual = f"{x.sql} >= {double(LOWEST)} AND {x.sql} <= {double(HIGHEST)} AND ABS({x.sql}) >= {double(_ROUGHLY)}"
    safe = step(terms, f"CASE WHEN {usual} THEN {x.sql} ELSE {double(1.0)} END", x)
    k = step(terms, terms.dialect.whole(f"({safe.sql} * {double(PER_LN2)} + {double(0.5)})"), safe)
    high = step(terms, f"{safe.sql} - {k.sql} * {double(LN2_HIGH)}", safe, k)
    low = step(terms, f"{k.sql} * {double(LN2_LOW)}", k)
    r = step(terms, f"{high.sql} - {low.sql}", high, low)
    square = step(terms, f"{r.sql} * {r.sql}", r)
    c = step(terms, f"{r.sql} - {square.sql} * {_polynomial(terms, square, *EXPONENTIAL)}", r, square)
    quotient = f"{r.sql} * {c.sql} / ({double(2.0)} - {c.sql})"
    y = step(terms, f"{double(1.0)} + (({quotient} - {low.sql}) + {high.sql})", r, c, low, high)
    found = _scaled(terms, y, k)
    return combine(
        f"CASE WHEN {x.sql} < {double(LOWEST)} THEN {double(0.0)} WHEN {x.sql} > {double(HIGHEST)} THEN NULL "
        f"WHEN ABS({x.sql}) < {double(_ROUGHLY)} THEN {double(1.0)} WHEN {x.sql} IS NOT NULL THEN {found.sql} END",
        x,
        found,
    )


def _scaled(terms: Writing, y: Term, k: Term) -> Term:
    """y·2^k for y near 1 and k from −1010 to 1024, by products that are exact: the largest power comes last."""
    double = terms.dialect.double
    rest = step(terms, f"{k.sql} - {double(1.0)}", k)
    powers: list[Term] = []
    for size, last in ((256, -4), (16, 0), (1, 0)):
        first = {256: 3, 16: 15, 1: 15}[size]
        places = range(first, last, -1)
        power = _ladder(terms, rest.sql, [(float(size * j), 2.0 ** (size * j)) for j in places], 2.0 ** (size * last))
        taken = _ladder(terms, rest.sql, [(float(size * j), float(size * j)) for j in places], float(size * last))
        powers.append(step(terms, power, rest))
        rest = step(terms, f"{rest.sql} - {taken}", rest)
    product = " * ".join(part.sql for part in (y, *reversed(powers)))
    return combine(f"{product} * {double(2.0)}", y, *powers)


def _power(terms: Writing, call: Calling) -> Term:
    base, exponent = call.operands
    x = terms.named(base)
    constant = exponent.value if isinstance(exponent, Literal) else None
    if isinstance(constant, float) and constant.is_integer() and abs(constant) <= LARGEST_EXPONENT:
        return _multiplied(terms, x, int(constant))
    return _general(terms, x, terms.named(exponent))


def _operate(terms: Writing, operator: str, left: Term, right: Term) -> Term:
    """One IEEE operation, or NULL beyond the finite range."""
    return terms.bind(terms.finite(combine(terms.dialect.operation(operator, left.sql, right.sql), left, right)))


def _multiplied(terms: Writing, x: Term, exponent: int) -> Term:
    """By squares, the exponent's binary digits from the last; a negative one divides 1 in the end."""
    one = terms.bind(Term(terms.dialect.double(1.0), short=not terms.dialect.fence))
    found, square, rest = None, x, abs(exponent)
    while rest:
        if rest % 2:
            found = square if found is None else _operate(terms, "*", found, square)
        rest //= 2
        if rest:
            square = _operate(terms, "*", square, square)
    if found is None:
        return combine(f"CASE WHEN {x.sql} IS NOT NULL THEN {one.sql} END", x, one)
    return found if exponent > 0 else _operate(terms, "/", one, found)


def _general(terms: Writing, x: Term, y: Term) -> Term:
    double = terms.dialect.double
    size = step(terms, f"ABS({x.sql})", x)
    log = terms.bind(logarithm(terms, size))
    power = terms.bind(exponential(terms, _operate(terms, "*", y, log)))
    whole_y, whole_x = (_is_whole(terms, number) for number in (y, size))
    half = step(terms, f"CASE WHEN {whole_y.sql} THEN {y.sql} * {double(0.5)} ELSE {double(0.5)} END", y, whole_y)
    even = _is_whole(terms, half)
    small = step(terms, f"CASE WHEN {power.sql} < {double(WHOLE_BELOW)} THEN {power.sql} END", power)
    rounded = terms.dialect.whole(f"({small.sql} + {double(0.5)})")
    near = step(
        terms,
        f"CASE WHEN {whole_x.sql} AND {whole_y.sql} AND {y.sql} > 0 AND {power.sql} < {double(WHOLE_BELOW)} "
        f"THEN {rounded} ELSE {power.sql} END",
        whole_x,
        whole_y,
        y,
        power,
        small,
    )
    return combine(
        f"CASE WHEN {y.sql} = 0 AND {x.sql} IS NOT NULL THEN {double(1.0)} "
        f"WHEN {x.sql} = 0 AND {y.sql} > 0 THEN {double(0.0)} WHEN {x.sql} > 0 THEN {near.sql} "
        f"WHEN {x.sql} < 0 AND {even.sql} THEN {near.sql} WHEN {x.sql} < 0 AND {whole_y.sql} THEN -{near.sql} END",
        x,
        y,
        near,
        even,
        whole_y,
    )


def _is_whole(terms: Writing, x: Term) -> Term:
    """Whether a double is a whole number; those from 2^52 on all are."""
    double = terms.dialect.double
    limit = double(2.0**52)
    small = step(
        terms, f"CASE WHEN ABS({x.sql}) < {limit} THEN {x.sql} WHEN {x.sql} IS NOT NULL THEN {double(0.0)} END", x
    )
    return step(terms, f"({terms.dialect.whole(small.sql)} = {small.sql})", small)


WRITTEN = {"LN": _ln, "LOG2": _log2, "LOG10": _log10, "EXP": _exp, "POWER": _power}
