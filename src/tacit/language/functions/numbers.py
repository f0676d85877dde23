"""Functions of numbers.

Doubles are computed by + − × ÷ and square roots alone, which IEEE 754 rounds in one way everywhere; a logarithm is
therefore a fixed sequence of such operations (`tacit.engines.calls.logarithms`), never a call of an engine's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.language import build
from tacit.language.build import numbers
from tacit.language.expressions import Absolute, Expression, Literal, NamedCall
from tacit.language.functions.function import PAIR, Function, constant, floats, one
from tacit.language.types import FLOAT, INTEGER, LARGEST_SCALE, ColumnType, decimal

MOST_BUCKETS = 10**6
"""The most buckets of WIDTH_BUCKET."""

LARGEST_EXPONENT = 64
"""The largest constant exponent for which POWER multiplies."""


def _digits(arguments: Sequence[Expression], name: str) -> list[Expression]:
    """A number and a constant number of digits."""
    digits = arguments[1] if len(arguments) > 1 else Literal(INTEGER, 0)
    found = constant(digits, name, "the number of digits")
    if not isinstance(found, int) or abs(found) > LARGEST_SCALE:
        raise UnsupportedQuery(f"{name} rounds to −{LARGEST_SCALE} to {LARGEST_SCALE} digits after the point.")
    return [*numbers(arguments[:1], name), digits]


def rounding(name: str, number: Expression, digits: int) -> Expression:
    """ROUND, TRUNC, FLOOR or CEIL of a number to some digits after the point."""
    kind = number.type
    if kind.exact_number:
        if digits >= kind.scale:
            return number
        kind = decimal(digits) if digits > 0 else INTEGER
    return NamedCall(kind, name, (number, Literal(INTEGER, digits)))


def _rounding(name: str) -> Function:
    what = {
        "ROUND": "The nearest number with d digits after the point (0 if not given), halves away from zero. Of a "
        "double: x·10^d is rounded and divided by 10^d, each one IEEE operation.",
        "TRUNC": "x without its digits after the d-th (0 if not given). Of a double: x·10^d is cut and divided by "
        "10^d, each one IEEE operation.",
    }[name]
    shown: tuple[tuple[str, object], ...] = {
        "ROUND": (("ROUND(2.345, 2)", Fraction("2.35")), ("ROUND(-2.5)", -3), ("ROUND(1250, -2)", 1300)),
        "TRUNC": (("TRUNC(-2.7)", -2), ("TRUNC(2.789, 1)", Fraction("2.7"))),
    }[name]
    return Function(
        name,
        name.capitalize(),
        _digits,
        ("this", "decimals"),
        make=lambda kind, values: rounding(name, values[0], int(constant(values[1], name, "the digits"))),
        takes=(1, 2),
        written=f"{name}(x), {name}(x, d)",
        meaning=what,
        examples=shown,
    )


def _sign(kind: ColumnType, values: tuple[Expression, ...]) -> Expression:
    zero = Literal(INTEGER, 0)
    sides = [build.widen(build.comparison(sign, values[0], zero), INTEGER) for sign in (">", "<")]
    return build.arithmetic("-", *sides)


def _whole(arguments: Sequence[Expression], name: str) -> list[Expression]:
    """Two whole numbers."""
    return [one(argument, INTEGER, name) for argument in arguments]


def _exact(arguments: Sequence[Expression], name: str) -> list[Expression]:
    """Two integers or decimals, at one scale."""
    found = build.alike(numbers(arguments, name), name)
    if found[0].type == FLOAT:
        raise InvalidInput(f"{name} needs integers or decimals, not float; write CAST(… AS DECIMAL(18, 2)).")
    return found


def logarithm(kind: ColumnType, values: tuple[Expression, ...]) -> Expression:
    """LOG(base, x), as LOG2, LOG10 or a quotient of two LN."""
    if len(values) == 1:
        raise UnsupportedQuery("LOG of one number is LN on some engines and LOG10 on others; write the one you mean.")
    base, number = values
    for known in (2, 10):
        if isinstance(base, Literal) and base.value == known:
            return NamedCall(FLOAT, f"LOG{known}", (number,))
    return build.arithmetic("/", *(NamedCall(FLOAT, "LN", (value,)) for value in (number, base)))


def _power(kind: ColumnType, values: tuple[Expression, ...]) -> Expression:
    base, exponent = values
    if isinstance(exponent, Literal) and exponent.value == 0.5:
        return NamedCall(FLOAT, "SQRT", (base,))
    return NamedCall(FLOAT, "POWER", (base, exponent))


def _buckets(arguments: Sequence[Expression], name: str) -> list[Expression]:
    """A number, two constant edges and a constant number of buckets."""
    number, low, high, count = numbers(arguments, name)
    if not (isinstance(low, Literal) and isinstance(high, Literal) and isinstance(count, Literal)):
        raise UnsupportedQuery(f"{name} needs constant edges and a constant number of buckets; write them out.")
    if not isinstance(count.value, int) or not 1 <= count.value <= MOST_BUCKETS:
        raise UnsupportedQuery(f"{name} makes 1 to {MOST_BUCKETS:,} buckets; give such a number.")
    number, low, high = build.alike((number, low, high), name)
    edges = [edge.value for edge in (low, high) if isinstance(edge, Literal) and edge.value is not None]
    if len(edges) < 2 or not 0 < edges[1] - edges[0] < float("inf"):  # type: ignore[operator]
        raise InvalidInput(f"{name} needs a lower edge below the upper one, not infinitely far; exchange them.")
    return [number, low, high, count]


ABS = Function(
    "ABS",
    "Abs",
    numbers,
    overflows=True,
    make=lambda kind, numbers: Absolute(kind, *numbers),
    written="ABS(x)",
    meaning="The absolute value.",
    examples=(("ABS(-1.5)", Fraction("1.5")),),
)
SIGN = Function(
    "SIGN",
    "Sign",
    numbers,
    make=_sign,
    written="SIGN(x)",
    meaning="1, 0 or −1, a whole number.",
    examples=(("SIGN(-2.5)", -1),),
)
ROUND, TRUNC = _rounding("ROUND"), _rounding("TRUNC")
FLOOR = Function(
    "FLOOR",
    "Floor",
    numbers,
    make=lambda kind, values: rounding("FLOOR", values[0], 0),
    written="FLOOR(x)",
    meaning="The largest whole number that is not above x; of a double a double.",
    examples=(("FLOOR(-1.5)", -2),),
)
CEIL = Function(
    "CEIL",
    "Ceil",
    numbers,
    make=lambda kind, values: rounding("CEIL", values[0], 0),
    written="CEIL(x), CEILING(x)",
    meaning="The smallest whole number that is not below x; of a double a double.",
    examples=(("CEIL(1.2)", 2),),
)
MOD = Function(
    "MOD",
    "Mod",
    _exact,
    PAIR,
    takes=(2, 2),
    written="MOD(x, y), x % y",
    meaning="What is left of x after division by y, with the sign of x; NULL where y is 0. Not for doubles.",
    examples=(("MOD(-7, 3)", -1), ("7.5 % 2", Fraction("1.5"))),
)
DIV = Function(
    "DIV",
    "IntDiv",
    _whole,
    PAIR,
    takes=(2, 2),
    result=INTEGER,
    written="x // y",
    meaning="The whole part of x / y, for whole numbers; NULL where y is 0.",
    examples=(("-7 // 2", -3),),
)
SQRT = Function(
    "SQRT",
    "Sqrt",
    floats,
    result=FLOAT,
    written="SQRT(x)",
    meaning="The square root, correctly rounded; NULL below 0.",
    examples=(("SQRT(2)", 1.4142135623730951), ("SQRT(-1)", None)),
)
LN = Function(
    "LN",
    "Ln",
    floats,
    result=FLOAT,
    written="LN(x)",
    meaning="The natural logarithm, within one unit in the last place; NULL unless x > 0.",
    examples=(("LN(1)", 0.0), ("LN(0)", None)),
)
LOG = Function(
    "LOG",
    "Log",
    floats,
    PAIR,
    takes=(1, 2),
    result=FLOAT,
    make=logarithm,
    written="LOG10(x), LOG2(x), LOG(base, x)",
    meaning="The logarithm to base 10 or 2, within two units in the last place, and whole where x is a power that a "
    "double holds exactly; to any other base LN(x) / LN(base). NULL unless x > 0. LOG(x) is refused: engines disagree "
    "about its base.",
    examples=(("LOG10(1000)", 3.0), ("LOG2(8)", 3.0)),
)
EXP = Function(
    "EXP",
    "Exp",
    floats,
    result=FLOAT,
    written="EXP(x)",
    meaning="e to the power of x, within one unit in the last place; 0 below −700, NULL beyond the range of doubles.",
    examples=(("EXP(0)", 1.0), ("EXP(1000)", None)),
)
POWER = Function(
    "POWER",
    "Pow",
    floats,
    PAIR,
    takes=(2, 2),
    result=FLOAT,
    make=_power,
    written="POWER(x, y), x ^ y",
    meaning=f"x to the power of y. A constant whole y between −{LARGEST_EXPONENT} and {LARGEST_EXPONENT} multiplies; "
    "y = 0.5 is SQRT(x); any other is EXP(y·LN(x)), rounded to a whole number where x and y are whole and the result "
    "is below 10^12. NULL where x < 0 and y is not whole, and where x = 0 and y < 0.",
    examples=(("POWER(2, 10)", 1024.0), ("POWER(-8, 1.5)", None)),
)
WIDTH_BUCKET = Function(
    "WIDTH_BUCKET",
    "WidthBucket",
    _buckets,
    ("this", "min_value", "max_value", "num_buckets"),
    takes=(4, 4),
    result=INTEGER,
    written="WIDTH_BUCKET(x, low, high, n)",
    meaning="In which of n buckets of equal width between two constants x lies, from 1; 0 below low, n + 1 from high "
    "on. Of a double: ⌊(x − low) / (high − low) · n⌋ + 1 in IEEE operations, at most n.",
    examples=(("WIDTH_BUCKET(0.29, 0, 1, 100)", 30), ("WIDTH_BUCKET(5, 0, 5, 5)", 6)),
)

NUMBERS = (ABS, SIGN, ROUND, TRUNC, FLOOR, CEIL, MOD, DIV, SQRT, LN, LOG, EXP, POWER, WIDTH_BUCKET)
