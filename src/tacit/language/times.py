"""Nodes about dates and times: intervals, parts, starts and distances, in the ways that people write them."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from tacit.errors import UnsupportedQuery
from tacit.language import build
from tacit.language.expressions import Expression, Literal, Scope
from tacit.language.functions import parts as times
from tacit.language.functions.function import timelike
from tacit.language.types import INTEGER

if TYPE_CHECKING:
    from sqlglot import exp


def is_interval(node: Any) -> bool:
    """Whether a node is an interval, or one several times."""
    kind = type(node).__name__
    if kind == "Paren":
        return is_interval(node.this)
    return kind == "Interval" or (kind == "Mul" and (is_interval(node.this) or is_interval(node.expression)))


class TimeNodes(ABC):
    """The part of a walk over a tree that is about dates and times."""

    scope: Scope

    @abstractmethod
    def convert(self, node: Any) -> Expression:
        """The expression that a node means."""

    def shifted(self, node: Any, interval: Any, sign: int) -> Expression:
        """A date or time an interval later, or before: its months first, then the rest."""
        found = timelike(self.convert(node), "INTERVAL")
        parts = self.interval(interval)
        for unit, count in sorted(parts, key=lambda part: part[0] not in times.MONTHS):
            found = times.step(found, unit, times.times(count, sign))
        return found

    def interval(self, node: Any) -> list[tuple[str, Expression]]:
        """The units of an interval with their counts."""
        kind = type(node).__name__
        if kind == "Paren":
            return self.interval(node.this)
        if kind == "Mul":
            inner, factor = (node.this, node.expression) if is_interval(node.this) else (node.expression, node.this)
            by = self.convert(factor)
            return [(unit, build.arithmetic("*", by, count)) for unit, count in self.interval(inner)]
        unit, count = node.args.get("unit"), node.this
        written = type(unit).__name__  # DAY (3) is a unit of its own, with digits that say nothing
        name = "" if unit is None else unit.name if written == "Var" else written
        if name and type(count).__name__ != "Literal":
            return [(times.unit_named(name), self.convert(count))]
        text = f"{count.name} {name}".strip()
        found = re.findall(r"([+-]?\d{1,15})\s*([A-Za-z]+)", text)
        if not found or re.sub(r"[+-]?\d{1,15}\s*[A-Za-z]+", "", text).strip():
            raise UnsupportedQuery(
                "INTERVAL is supported with whole numbers and units, as in INTERVAL '1 month 2 days'."
            )
        return [(times.unit_named(name), Literal(INTEGER, int(number))) for number, name in found]

    def extract(self, node: exp.Extract) -> Expression:
        """EXTRACT(part FROM x)."""
        return self.part(node.name, node.expression)

    def part(self, name: str, inner: Any) -> Expression:
        """A part of a date or time, or of a difference or an age."""
        part = times.unit_named(name)
        while type(inner).__name__ == "Paren":
            inner = inner.this
        if type(inner).__name__ == "Sub" and part in ("epoch", "day") and not is_interval(inner.expression):
            left, right = (timelike(self.convert(side), "EXTRACT") for side in (inner.this, inner.expression))
            if part == "day":
                return times.whole_units("day", right, left)
            return build.arithmetic("-", *(times.part_of("epoch", side) for side in (left, right)))
        if type(inner).__name__ == "Anonymous" and inner.name.upper() == "AGE" and len(inner.expressions) == 2:
            if part != "year":
                raise UnsupportedQuery("of AGE only the YEAR can be extracted; write DATE_SUB('month', start, end).")
            end, start = (timelike(self.convert(side), "AGE") for side in inner.expressions)
            return times.whole_units("year", start, end)
        return times.part_of(part, self.convert(inner))

    def unit_and(self, node: Any) -> tuple[str, Any]:
        """A unit, and what it is of; DATE_TRUNC(day, MONTH) is read as DATE_TRUNC('month', day)."""
        unit, inner = node.args["unit"], node.this
        swapped = type(inner).__name__ == "Column" and times.unit_named(inner.name) in times.UNITS
        if swapped and type(unit).__name__ == "Var" and self._rather_column(unit.name, inner.name):
            return times.unit_named(inner.name), unit
        return times.unit_named(unit.name), inner

    def _rather_column(self, first: str, second: str) -> bool:
        """Whether the first of two names is the column and the second the unit; day and month may be either."""
        columns = {name.lower() for table in self.scope.tables.values() for name in table}
        return times.unit_named(first) not in times.UNITS or (
            first.lower() in columns and second.lower() not in columns
        )

    def operand(self, node: Any) -> Expression:
        """An operand that sqlglot may have taken for a unit."""
        return self.scope.find(node.name) if type(node).__name__ == "Var" else self.convert(node)

    def date_trunc(self, node: exp.Func) -> Expression:
        """DATE_TRUNC('unit', x)."""
        unit, inner = self.unit_and(node)
        return times.start_of(unit, self.operand(inner))

    def distance(self, node: exp.Func) -> Expression:
        """DATE_DIFF('unit', start, end)."""
        unit, end = self.unit_and(node)
        return times.distance(
            unit, timelike(self.convert(node.expression), "DATE_DIFF"), timelike(self.operand(end), "DATE_DIFF")
        )

    def added(self, node: exp.Func) -> Expression:
        """DATE_ADD(x, INTERVAL …)."""
        if not is_interval(node.expression):
            raise UnsupportedQuery("DATE_ADD needs an interval; write DATE_ADD(day, INTERVAL 1 MONTH).")
        return self.shifted(node.this, node.expression, 1)
