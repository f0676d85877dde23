"""Functions of values: everything about each in one entry.

To add a function, add an entry to `FUNCTIONS`. Parsing reads from it how the function is written and SQL how it is
called (`tacit.engines.dialect.Dialect.call`, for an engine that spells it differently). A function must mean the same
on every engine and never fail on a row. Decimals arrive as whole units; set ``result=`` unless the result has the scale
of the first argument. Its result is absent where an argument is, unless its docstring says otherwise:
COALESCE, LEAST and GREATEST pass over absent arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tacit.language.build import alike, numbers, ordered
from tacit.language.expressions import Absolute, Coalesce, Expression, Extreme, NamedCall
from tacit.language.types import ColumnType

_MANY = ("this", "expressions")


@dataclass(frozen=True)
class Function:
    """One function: its name, how it is parsed, what it takes and gives."""

    name: str
    node: str
    """The class of sqlglot's node for it."""
    arguments: Callable[[Sequence[Expression], str], Sequence[Expression]]
    """The arguments checked and widened; the function's name is for the error."""
    parts: tuple[str, ...] = ("this",)
    """The parts of the node that hold arguments, in their order."""
    ignored: tuple[str, ...] = ()
    """Further parts that record a dialect's habits and change nothing."""
    result: ColumnType | None = None
    """The result's type; that of the first argument if None."""
    overflows: bool = False
    """Whether an exact result may leave 64 bits: then it is computed in 128, and absent where it does not fit."""
    make: Callable[[ColumnType, tuple[Expression, ...]], Expression] | None = None
    """Makes the expression, for functions that have a class of their own."""

    def __call__(self, *arguments: Expression) -> Expression:
        """The function of some arguments, with types checked."""
        checked = tuple(self.arguments(arguments, self.name))
        kind = checked[0].type if self.result is None else self.result
        return NamedCall(kind, self.name, checked) if self.make is None else self.make(kind, checked)


COALESCE = Function("COALESCE", "Coalesce", alike, _MANY, ignored=("ignore_nulls",), make=Coalesce)
ABS = Function("ABS", "Abs", numbers, overflows=True, make=lambda kind, numbers: Absolute(kind, *numbers))
LEAST = Function(
    "LEAST", "Least", ordered, _MANY, ignored=("ignore_nulls",), make=lambda kind, values: Extreme(kind, False, values)
)
GREATEST = Function(
    "GREATEST",
    "Greatest",
    ordered,
    _MANY,
    ignored=("ignore_nulls",),
    make=lambda kind, values: Extreme(kind, True, values),
)

FUNCTIONS = {function.name: function for function in (COALESCE, ABS, LEAST, GREATEST)}
"""All functions by their names."""
