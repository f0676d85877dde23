"""What is computed of released values: exact, total, and with sets that hold every value there can be."""

from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import inf
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit import Answer, Pure
from tacit.answers.computed import compute
from tacit.answers.formulas import CASE, COALESCE, Calculation, Constant, Formula, Part, evaluate, possible
from tacit.answers.functions import FUNCTIONS
from tacit.answers.quantities import Possible, Quantity, Range, ends, read, write
from tacit.answers.spreads import Additive
from tacit.noises import DiscreteLaplace

AWKWARD: list[Any] = [
    *(None, 0, 1, -1, 7, 2**63 - 1, -(10**40), 10**400, 0.0, -0.0, 0.5, -2.75, 1e308, -1e-308, 5e-324, inf, -inf),
    *(Decimal("1.50"), Decimal("-0.005"), Decimal("1E+30"), Decimal("NaN"), True, False, "", "x", "2020-02-30", "🎈"),
    *("2020-01-01", date.min, date.max, date(2020, 2, 29), datetime.min, datetime.max, datetime(2020, 2, 29, 12)),
]
ARITY = {"IN": (2, 3), "ROUND": (1, 2), "SUBSTRING": (2, 3), "GREATEST": (1, 3), "LEAST": (1, 3), "CONCAT": (1, 3)}
UNARY = {
    *("NEGATE", "ABS", "SIGN", "FLOOR", "CEIL", "WHOLE", "TRUNC", "FLOAT", "TEXT", "SQRT", "EXP", "LN", "LOG10", "NOT"),
    *("IS NULL", "UPPER", "LOWER", "TRIM", "LENGTH"),
}


def arities(name: str) -> tuple[int, ...]:
    return ARITY.get(name, (1,) if name in UNARY else (2,))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_is_total(name: str) -> None:
    for count in arities(name):
        values = AWKWARD if count < 3 else AWKWARD[::4]
        for operands in product(values, repeat=count):
            write(evaluate(Calculation(name, tuple(map(Constant, operands))), ()))


# ---- sets that hold every value -----------------------------------------------------------------------------------

numbers = st.one_of(
    st.integers(-50, 50),
    st.integers(-(10**12), 10**12),
    st.decimals(-100, 100, places=2, allow_nan=False),
    st.floats(-1e6, 1e6, allow_nan=False),
)
NUMERIC = [name for name in FUNCTIONS if name not in ("||", "CONCAT", "UPPER", "LOWER", "TRIM", "SUBSTRING", "LIKE")]
NUMERIC = [name for name in NUMERIC if name not in ("TEXT", "EXTRACT", "LENGTH", "DECIMAL", "POWER")]


@st.composite
def formulas(draw: st.DrawFn, depth: int = 3) -> Formula:
    kind = draw(st.integers(0, 5)) if depth else draw(st.integers(0, 1))
    if kind == 0:
        return Part(draw(st.integers(0, 1)))
    if kind == 1:
        return Constant(draw(numbers))
    inner = formulas(depth - 1)
    if kind == 2:
        operands = draw(st.lists(inner, min_size=3, max_size=3))
        return Calculation(CASE, tuple(operands))
    if kind == 3:
        return Calculation(COALESCE, (draw(inner), draw(inner)))
    name = draw(st.sampled_from(NUMERIC))
    count = draw(st.sampled_from(arities(name)))
    if name == "ROUND":
        return Calculation(name, (draw(inner), Constant(draw(st.integers(-3, 5)))))
    return Calculation(name, tuple(draw(inner) for _ in range(count)))


def holds(found: Possible, value: Any) -> bool:
    """Whether a value is one of those that are possible; one that is rounded may be off by a last digit."""
    point = read(value) if not isinstance(value, Quantity) else value
    if isinstance(found, frozenset):
        return point in found or any(
            isinstance(one, Quantity) and isinstance(point, Quantity) and one.exact == point.exact for one in found
        )
    if point is None:
        return found.null
    if found.kind == "any":
        return True
    return isinstance(point, Quantity) and found.low <= point.exact <= found.high


@settings(max_examples=400)
@given(formulas(), st.tuples(numbers, numbers), st.tuples(numbers, numbers), st.lists(st.floats(0, 1), max_size=4))
def test_what_is_possible_holds_every_value(
    formula: Formula, first: tuple[Any, Any], second: tuple[Any, Any], places: list[float]
) -> None:
    boxes = [sorted((Fraction(a), Fraction(b))) for a, b in (first, second)]
    found = possible(formula, [Range(low, high) for low, high in boxes])
    for at in (0.0, 1.0, *places):
        for other in (0.0, 1.0, *places):
            inside = [
                low + Fraction(place) * (high - low) for (low, high), place in zip(boxes, (at, other), strict=True)
            ]
            value = evaluate(formula, cast(Any, inside))
            assert holds(found, value), (found, value)


def test_a_broken_rule_would_be_caught() -> None:
    """Of a division as if it rose with its divisor the set misses values."""
    parts = [Range(Fraction(1), Fraction(2)), Range(Fraction(-1), Fraction(1))]
    assert possible(Calculation("/", (Part(0), Part(1))), parts) == Range(-inf, inf, null=True)
    wrong = Range(Fraction(-1), Fraction(2))
    assert not holds(wrong, evaluate(Calculation("/", (Part(0), Part(1))), [2, 0.5]))


# ---- ends ---------------------------------------------------------------------------------------------------------


def test_ends_are_rounded_outward_to_the_kind_of_the_value() -> None:
    third = Range(Fraction(1, 3), Fraction(2, 3))
    assert ends(third, 1) == (0, 1)
    assert ends(third, Decimal("0.50")) == (Decimal("0.33"), Decimal("0.67"))
    low, high = ends(third, 0.5)
    assert Fraction(low) <= Fraction(1, 3)
    assert Fraction(high) >= Fraction(2, 3)
    assert ends(Range(Fraction(737_425), inf, "date"), date(2020, 1, 1)) == (date(2020, 1, 1), inf)
    assert ends(frozenset({True}), True) == (True, True)
    assert ends(frozenset({True, False}), True) == (-inf, inf)
    assert ends(frozenset({None}), None) == (-inf, inf)


def counted(value: int, covers: Any = "truth") -> Answer:
    spread = Additive(DiscreteLaplace(Fraction(1, 2)), covers=covers)
    return Answer("number of rows", value, Pure(1), "noise", "anyone", spread=spread)


def test_parts_hold_together_at_the_confidence_asked_for() -> None:
    one, two = counted(100), counted(50)
    ratio = compute(Calculation("/", (Part(0), Part(1))), [one, two], "a / b", Pure(2))
    tops, bottoms = one.interval("0.975"), two.interval("0.975")
    assert ratio.interval("0.95").low == pytest.approx(tops.low / bottoms.high)
    assert ratio.interval("0.95").high == pytest.approx(tops.high / bottoms.low)
    assert ratio.interval("0.9999999999998").low == -inf  # surer than a double can tell, of each
    assert ratio.guarantee == Pure(2)
    half = compute(Calculation("/", (Part(0), Constant(2))), [one, two], "a / 2", Pure(1))
    assert half.interval("0.95").low == one.interval("0.95").low / 2
    assert compute(Part(1), [one, two], "b", Pure(1)) is two


def test_it_covers_the_truth_only_if_every_part_does() -> None:
    total = Calculation("+", (Part(0), Part(1)))
    for first, second, both in (
        ("truth", "truth", "truth"),
        ("truth", "capped value", "capped value"),
        ("sampled value", "capped value", "sampled, capped value"),
        ("sampled value", "truth", "sampled value"),
    ):
        assert compute(total, [counted(1, first), counted(2, second)], "a + b", Pure(1)).interval().covers == both


def test_what_stays_open_is_said() -> None:
    size = Calculation(CASE, (Calculation(">", (Part(0), Constant(95))), Constant("large"), Constant("small")))
    near, far = (compute(size, [counted(value)], "size", Pure(1)) for value in (96, 200))
    assert (near.value, far.value) == ("large", "large")
    assert near.interval().low == -inf
    assert tuple(far.interval()) == ("large", "large")


def test_a_day_and_a_part_of_a_day_is_that_day() -> None:
    """The sum is the day before it, so a range must reach down to it: 1 January and half a day is not after noon."""
    days = Calculation("+", (Constant(date(2020, 1, 1)), Part(0)))
    late = Calculation(CASE, (Calculation("<=", (days, Constant(date(2020, 1, 1)))), Constant(1), Constant(2)))
    half: Possible = Range(Fraction(1, 3), Fraction(1, 2))
    assert evaluate(late, [0.5]) == read(1)
    assert read(1) in cast(frozenset[Any], possible(late, [half]))


@pytest.mark.timeout(10)
@pytest.mark.parametrize("text", ["1e999999999", "-1e999999999", "1e-999999999"])
def test_a_number_of_a_billion_digits_is_null(text: str) -> None:
    assert read(Decimal(text)) is None
