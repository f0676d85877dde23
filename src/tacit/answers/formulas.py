"""What is computed from released values: arithmetic, CASE, ratios and comparisons over them.

PROMISE  Post-processing. A formula holds constants and places for released values, nothing else; computing it costs
nothing. It is total: whatever the values are it gives a value, NULL where SQL would fail or overflow.

VALUE  Numbers, dates and times are exact rationals until the end (`quantities`), where the value is rounded once.

POSSIBLE  Given what each released value may stand for, `possible` is a set that holds the formula's value for every
choice of them: interval arithmetic. Where a part stands twice (a / (a + b)) the set may be larger than needed, never
smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import Any

from tacit.answers.functions import FUNCTIONS
from tacit.answers.quantities import ANYTHING, FEW, Point, Possible, Range, read, span, union
from tacit.answers.values import Value

CASE, COALESCE = "CASE", "COALESCE"
"""Not every operand of these is looked at: CASE(condition, value, condition, value, …, default)."""


@dataclass(frozen=True)
class Part:
    """The place of a released value."""

    number: int


@dataclass(frozen=True)
class Constant:
    """A value that is known."""

    value: Value


@dataclass(frozen=True)
class Calculation:
    """A function of formulas."""

    name: str
    operands: tuple[Formula, ...]

    def __post_init__(self) -> None:
        if self.name not in (*FUNCTIONS, CASE, COALESCE):
            raise ValueError("a formula of a newer version, or none")


Formula = Part | Constant | Calculation


def steps(formula: Any) -> Iterator[Any]:
    """A formula and all that it is made of."""
    yield formula
    for operand in formula.operands if isinstance(formula, Calculation) else ():
        yield from steps(operand)


def replace_leaves(formula: Any, by: Callable[[Any], Any]) -> Any:
    """The formula with every leaf replaced."""
    if isinstance(formula, Calculation):
        return Calculation(formula.name, tuple(replace_leaves(operand, by) for operand in formula.operands))
    return by(formula)


def evaluate(formula: Formula, values: Sequence[Value]) -> Point:
    """The value of a formula."""
    match formula:
        case Part(number):
            return read(values[number])
        case Constant(value):
            return read(value)
        case Calculation(name, operands) if name == COALESCE:
            found = (evaluate(operand, values) for operand in operands)
            return next((point for point in found if point is not None), None)
        case Calculation(name, operands) if name == CASE:
            for condition, then in zip(operands[:-1:2], operands[1::2], strict=True):
                if evaluate(condition, values) is True:
                    return evaluate(then, values)
            return evaluate(operands[-1], values)
    return FUNCTIONS[formula.name](*(evaluate(operand, values) for operand in formula.operands))


def possible(formula: Formula, box: Sequence[Possible]) -> Possible:
    """All values that a formula can have while each part is one of those in its place of the box."""
    match formula:
        case Part(number):
            return box[number]
        case Constant(value):
            return frozenset({read(value)})
        case Calculation(name, operands) if name == COALESCE:
            return _coalesced([possible(operand, box) for operand in operands])
        case Calculation(name, operands) if name == CASE:
            return _chosen(operands, box)
    parts = [possible(operand, box) for operand in formula.operands]
    function = FUNCTIONS[formula.name]
    if all(isinstance(part, frozenset) for part in parts):
        count = reduce(lambda size, part: size * len(part), parts, 1)  # type: ignore[arg-type]
        if count <= FEW:
            return frozenset(function(*points) for points in product(*parts))  # type: ignore[arg-type]
    spans = [span(part) for part in parts]
    if function.over is None or any(part is not None and part.kind == "any" for part in spans):
        return ANYTHING
    if any(part is None for part in spans):
        return frozenset({None}) if function.strict else ANYTHING
    return function.over(*spans)


def _coalesced(parts: Sequence[Possible]) -> Possible:
    """The first that is not NULL."""
    reached = []
    for part in parts:
        reached.append(part)
        if not may_be_null(part):
            break
    *earlier, last = reached
    return union([*map(_without_null, earlier), last])


def may_be_null(part: Possible) -> bool:
    """Whether a value may be NULL."""
    return part.null if isinstance(part, Range) else None in part


def _without_null(part: Possible) -> Possible:
    if isinstance(part, frozenset):
        return part - {None}
    return Range(part.low, part.high, part.kind)


def _chosen(operands: Sequence[Formula], box: Sequence[Possible]) -> Possible:
    """The values of all branches that may be taken."""
    reached = []
    for condition, then in zip(operands[:-1:2], operands[1::2], strict=True):
        may = possible(condition, box)
        if not isinstance(may, frozenset) or True in may:
            reached.append(possible(then, box))
        if may == frozenset({True}):
            return union(reached)
    return union([*reached, possible(operands[-1], box)])
