"""Functions that choose among their arguments."""

from __future__ import annotations

from tacit.language import build
from tacit.language.build import alike, ordered
from tacit.language.expressions import Coalesce, Expression, Extreme
from tacit.language.functions.function import MANY, PAIR, Function
from tacit.language.types import ColumnType


def _nullif(kind: ColumnType, values: tuple[Expression, ...]) -> Expression:
    left, right = values
    return build.case([(build.comparison("=", left, right), build.literal(None))], left)


def _if(kind: ColumnType, values: tuple[Expression, ...]) -> Expression:
    return build.case([(values[0], values[1])], values[2] if len(values) == 3 else None)


COALESCE = Function(
    "COALESCE",
    "Coalesce",
    alike,
    MANY,
    ignored=("ignore_nulls",),
    make=Coalesce,
    written="COALESCE(x, y, …), IFNULL(x, y)",
    meaning="The first argument that is not NULL.",
    examples=(("COALESCE(NULL, 2, 3)", 2),),
)
LEAST = Function(
    "LEAST",
    "Least",
    ordered,
    MANY,
    ignored=("ignore_nulls",),
    make=lambda kind, values: Extreme(kind, False, values),
    written="LEAST(x, y, …)",
    meaning="The least of the arguments that are not NULL.",
    examples=(("LEAST(3, NULL, 2)", 2),),
)
GREATEST = Function(
    "GREATEST",
    "Greatest",
    ordered,
    MANY,
    ignored=("ignore_nulls",),
    make=lambda kind, values: Extreme(kind, True, values),
    written="GREATEST(x, y, …)",
    meaning="The greatest of the arguments that are not NULL.",
    examples=(("GREATEST('a', 'B')", "a"),),
)
NULLIF = Function(
    "NULLIF",
    "Nullif",
    lambda values, name: values,
    PAIR,
    make=_nullif,
    takes=(2, 2),
    written="NULLIF(x, y)",
    meaning="NULL where x = y, else x.",
    examples=(("NULLIF(1, 1)", None), ("NULLIF('a', '')", "a")),
)
IF = Function(
    "IF",
    "If",
    lambda values, name: values,
    ("this", "true", "false"),
    make=_if,
    takes=(2, 3),
    written="IF(condition, x, y), IIF(condition, x, y)",
    meaning="x where the condition is true, else y, or NULL without y.",
    examples=(("IF(1 > 2, 'a', 'b')", "b"),),
)

CHOICES = (COALESCE, LEAST, GREATEST, NULLIF, IF)
