"""Expressions over aggregates and group keys: what SELECT, HAVING and ORDER BY compute from released answers.

A closed list of SQL nodes becomes formulas (`tacit.answers.formulas`). Aggregates inside are asked of the rows; what is
grouped by is known; everything around them is post-processing and free. A column that is neither is refused: its rows
are never shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from tacit.answers.formulas import CASE, COALESCE, Calculation, Constant
from tacit.answers.functions import DATE_PARTS
from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.tables.sql.aggregates import has_aggregate, is_aggregate, known

MOST_STEPS = 2_000
"""The most steps of all formulas of a query."""

DEEPEST = 100
"""How deep the steps of a formula may be nested: whatever walks over them does so by recursion."""


@dataclass
class FormulaReader:
    """Reads expressions over aggregates and keys."""

    ask: Callable[[Any], Any]
    """The formula of an aggregate, whose statistic is asked."""
    key: Callable[[Any], Any]
    """The formula of what is grouped by; None of anything else."""
    aliases: Mapping[str, Any]
    """Output columns by their names in lower case, as they were written."""
    grouped: bool
    """Whether there are groups."""
    steps: int = 0
    depth: int = 0
    _open: list[str] = field(default_factory=list)
    """The aliases that are being read."""

    def read(self, node: Any) -> Any:
        """The formula that an expression means."""
        self.steps += 1
        self.depth += 1
        if self.steps > MOST_STEPS or self.depth > DEEPEST:
            raise UnsupportedQuery(
                f"the query computes more than {MOST_STEPS:,} steps of its answers, or nests them more than {DEEPEST} "
                "deep; shorten it."
            )
        found = self._read(node)
        self.depth -= 1
        return found

    def _read(self, node: Any) -> Any:
        if is_aggregate(node):
            return self.ask(node)
        if not has_aggregate(node):
            found = self.key(node)
            if found is not None:
                return found
        kind = type(node).__name__
        if kind == "Column":
            return self._alias(node)
        if kind in _SPECIAL:
            return _SPECIAL[kind](self, node)
        if kind not in _CALLS:
            raise self._refusal(node)
        name, parts, ignored = _CALLS[kind]
        extra = [part for part, held in node.args.items() if held and part not in (*parts, *ignored, "_type")]
        if extra:
            raise self._refusal(node)
        given = [node.args.get(part) for part in parts]
        operands = [item for held in given for item in (held if isinstance(held, list) else [held])]
        return Calculation(name, tuple(self.read(item) for item in operands if item is not None))

    def _alias(self, node: Any) -> Any:
        name = node.name.lower()
        if not node.table and name in self.aliases and name not in self._open:
            self._open.append(name)
            found = self.read(self.aliases[name])
            self._open.pop()
            return found
        raise self._refusal(node)

    def _refusal(self, node: Any) -> UnsupportedQuery:
        kind = type(node).__name__
        if kind in ("Subquery", "Select", "Exists"):
            return UnsupportedQuery("a subquery is not supported among the output columns; ask it by itself.")
        if kind == "Star":
            return UnsupportedQuery(f"* is not an aggregate, and rows are never shown; use {known()}.")
        if has_aggregate(node):
            return UnsupportedQuery(
                f"{node.sql()} cannot be answered privately; select one of {known()}, and compute from these with "
                "+ - * /, ROUND, CASE, COALESCE, NULLIF and comparisons."
            )
        if self.grouped:
            return UnsupportedQuery(f"{node.sql()} must stand in GROUP BY or inside an aggregate, such as {known()}.")
        return UnsupportedQuery(f"{node.sql()} is not an aggregate, and rows are never shown; use {known()}.")

    def _literal(self, node: Any) -> Any:
        if node.is_string:
            return Constant(node.this)
        text = node.this
        try:
            value = float(text) if "e" in text.lower() else Decimal(text) if "." in text else int(text)
        except (ValueError, ArithmeticError):
            raise InvalidInput("a number of the query cannot be read; check its spelling.") from None
        return Constant(value)

    def _case(self, node: Any) -> Any:
        subject = None if node.this is None else self.read(node.this)
        operands = []
        for branch in node.args["ifs"]:
            when = self.read(branch.this)
            operands += [
                when if subject is None else Calculation("=", (subject, when)),
                self.read(branch.args["true"]),
            ]
        default = node.args.get("default")
        return Calculation(CASE, (*operands, Constant(None) if default is None else self.read(default)))

    def _choice(self, node: Any) -> Any:
        default = node.args.get("false")
        last = Constant(None) if default is None else self.read(default)
        return Calculation(CASE, (self.read(node.this), self.read(node.args["true"]), last))

    def _between(self, node: Any) -> Any:
        value = self.read(node.this)
        low, high = (self.read(node.args[end]) for end in ("low", "high"))
        return Calculation("AND", (Calculation(">=", (value, low)), Calculation("<=", (value, high))))

    def _membership(self, node: Any) -> Any:
        if node.args.get("query") or node.args.get("unnest") or not node.expressions:
            raise UnsupportedQuery("IN takes a list of constants over released answers; write them out.")
        return Calculation("IN", (self.read(node.this), *map(self.read, node.expressions)))

    def _identity(self, node: Any) -> Any:
        value, kind = self.read(node.this), type(node.expression).__name__
        if kind == "Null":
            return Calculation("IS NULL", (value,))
        return Calculation("IS", (value, self.read(node.expression)))

    def _cast(self, node: Any) -> Any:
        target = node.to.this.name if hasattr(node.to.this, "name") else ""
        parameters = [parameter.name for parameter in node.to.expressions]
        if target in ("DATE", "TIMESTAMP", "TIMESTAMPNTZ") and type(node.this).__name__ == "Literal":
            return Constant(_moment(node.this.this, target == "DATE"))
        value = self.read(node.this)
        if target == "DECIMAL":
            scale = int(parameters[1]) if len(parameters) == 2 and parameters[1].isdigit() else 3
            return Calculation("DECIMAL", (value, Constant(scale)))
        if target not in _CASTS:
            raise UnsupportedQuery(
                "CAST of a released answer is supported to whole numbers, DECIMAL(p, s), DOUBLE and VARCHAR; leave "
                "others out."
            )
        return Calculation(_CASTS[target], (value,))

    def _extract(self, node: Any) -> Any:
        part = str(node.name).lower()
        if part not in DATE_PARTS:
            raise UnsupportedQuery(f"EXTRACT of a released answer takes one of {', '.join(DATE_PARTS)}.")
        return Calculation("EXTRACT", (Constant(part), self.read(node.expression)))

    def _date_part(self, node: Any) -> Any:
        return Calculation("EXTRACT", (Constant(type(node).__name__.lower()), self.read(node.this)))

    def _days(self, node: Any) -> Any:
        days = Calculation("-", (self.read(node.this), self.read(node.expression)))
        if str(node.args.get("unit") or "DAY").upper() != "DAY":
            raise UnsupportedQuery("DATE_DIFF of released answers counts days; divide them for other units.")
        return days

    def _left(self, node: Any) -> Any:
        return Calculation("SUBSTRING", (self.read(node.this), Constant(1), self.read(node.expression)))

    def _logarithm(self, node: Any) -> Any:
        if node.expression is None:
            return Calculation("LOG10", (self.read(node.this),))
        base, value = (Calculation("LN", (self.read(part),)) for part in (node.this, node.expression))
        return Calculation("/", (value, base))


def _moment(text: str, day: bool) -> date | datetime:
    try:
        return date.fromisoformat(text) if day else datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput("a date of the query cannot be read; write it as DATE '2024-12-31'.") from None


_CASTS = {
    **dict.fromkeys(("INT", "BIGINT", "SMALLINT", "TINYINT", "INT128", "UBIGINT", "UINT"), "WHOLE"),
    **dict.fromkeys(("DOUBLE", "FLOAT"), "FLOAT"),
    **dict.fromkeys(("TEXT", "VARCHAR"), "TEXT"),
}

_Call = tuple[str, tuple[str, ...], tuple[str, ...]]
_TWO = ("this", "expression")
_CALLS: dict[str, _Call] = {
    "Add": ("+", _TWO, ()),
    "Sub": ("-", _TWO, ()),
    "Mul": ("*", _TWO, ()),
    "Div": ("/", _TWO, ("typed", "safe")),
    "SafeDivide": ("/", _TWO, ()),
    "IntDiv": ("//", _TWO, ()),
    "Mod": ("%", _TWO, ()),
    "Neg": ("NEGATE", ("this",), ()),
    "Abs": ("ABS", ("this",), ()),
    "Sign": ("SIGN", ("this",), ()),
    "Floor": ("FLOOR", ("this",), ()),
    "Ceil": ("CEIL", ("this",), ()),
    "Trunc": ("TRUNC", ("this",), ()),
    "Round": ("ROUND", ("this", "decimals"), ("casts_non_integer_decimals",)),
    "Sqrt": ("SQRT", ("this",), ()),
    "Exp": ("EXP", ("this",), ()),
    "Ln": ("LN", ("this",), ()),
    "Pow": ("POWER", _TWO, ()),
    "EQ": ("=", _TWO, ()),
    "NEQ": ("<>", _TWO, ()),
    "LT": ("<", _TWO, ()),
    "LTE": ("<=", _TWO, ()),
    "GT": (">", _TWO, ()),
    "GTE": (">=", _TWO, ()),
    "And": ("AND", _TWO, ()),
    "Or": ("OR", _TWO, ()),
    "Not": ("NOT", ("this",), ()),
    "NullSafeEQ": ("IS", _TWO, ()),
    "Coalesce": (COALESCE, ("this", "expressions"), ("is_nvl", "is_null")),
    "Nullif": ("NULLIF", _TWO, ()),
    "Greatest": ("GREATEST", ("this", "expressions"), ("ignore_nulls",)),
    "Least": ("LEAST", ("this", "expressions"), ("ignore_nulls",)),
    "Concat": ("CONCAT", ("expressions",), ("safe", "coalesce")),
    "DPipe": ("||", _TWO, ("safe",)),
    "Upper": ("UPPER", ("this",), ()),
    "Lower": ("LOWER", ("this",), ()),
    "Trim": ("TRIM", ("this",), ()),
    "Length": ("LENGTH", ("this",), ()),
    "Substring": ("SUBSTRING", ("this", "start", "length"), ()),
    "Like": ("LIKE", _TWO, ()),
}
"""For each node the function, its parts, and parts that record a dialect's habits."""

_SPECIAL: dict[str, Callable[[FormulaReader, Any], Any]] = {
    "Literal": FormulaReader._literal,
    "Boolean": lambda _, node: Constant(bool(node.this)),
    "Null": lambda _, __: Constant(None),
    "Paren": lambda self, node: self.read(node.this),
    "Alias": lambda self, node: self.read(node.this),
    "Case": FormulaReader._case,
    "If": FormulaReader._choice,
    "Between": FormulaReader._between,
    "In": FormulaReader._membership,
    "Is": FormulaReader._identity,
    "NullSafeNEQ": lambda self, node: Calculation(
        "NOT", (Calculation("IS", (self.read(node.this), self.read(node.expression))),)
    ),
    "Cast": FormulaReader._cast,
    "TryCast": FormulaReader._cast,
    "Extract": FormulaReader._extract,
    **dict.fromkeys(("Year", "Quarter", "Month", "Week", "Day", "Hour", "Minute"), FormulaReader._date_part),
    "DateDiff": FormulaReader._days,
    "Left": FormulaReader._left,
    "Log": FormulaReader._logarithm,
}
"""What is more than a function of its parts."""
