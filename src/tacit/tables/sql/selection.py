"""What a SELECT shows: its columns, HAVING, ORDER BY and LIMIT as formulas over the distinct statistics it asks."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tacit.answers.formulas import Calculation, Part
from tacit.answers.results import unused
from tacit.errors import TacitError, UnsupportedQuery
from tacit.language.expressions import Expression, expressions
from tacit.language.parsing import convert
from tacit.tables.sql.aggregates import AggregateReader, is_aggregate, known, spread_out
from tacit.tables.sql.layout import Key, Layout, Order, Output, Source
from tacit.tables.sql.outputs import FormulaReader
from tacit.tables.sql.sharing import Sharing
from tacit.tables.statistics.base import Statistic
from tacit.tables.statistics.ways.groups import FoundGroups

if TYPE_CHECKING:
    from sqlglot import exp

LARGEST_QUERY = 40_000
"""The most parts of all expressions of a query together, each aggregate with its filter and its keys."""


@dataclass
class Asked:
    """The distinct statistics of a query, found while its expressions are read."""

    reader: AggregateReader
    by: list[tuple[Expression, str]]
    statistics: list[Statistic] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    _size: int = 0

    def number(self, node: Any) -> int:
        """The number of the statistic that an aggregate asks."""
        statistic = self.reader.statistic(node)
        if statistic not in self.statistics:
            self.statistics.append(statistic)
            self._size += sum(part.extent[0] for part in expressions((self.reader.relation, statistic)))
            if self._size > LARGEST_QUERY:
                raise UnsupportedQuery(
                    f"the query has more than {LARGEST_QUERY:,} parts, filter and keys counted for each aggregate; "
                    "ask several queries."
                )
        return self.statistics.index(statistic)

    def part(self, number: int, key: Any = None) -> Part:
        """The place of a statistic's answer, or of one of several, in formulas."""
        source = Source(number, key)
        if source not in self.sources:
            self.sources.append(source)
        return Part(self.sources.index(source))

    def ask(self, node: Any) -> Part:
        """The place of an aggregate's answer."""
        number = self.number(spread_out(node)[0][1])
        if self.statistics[number].core.answer_keys or len(spread_out(node)) > 1:
            raise UnsupportedQuery(f"{node.sql()} has several values; select it by itself, or ask for one of them.")
        return self.part(number)

    def share(self, layout: Layout) -> Layout:
        """The same shown, of as few releases as it takes."""
        sharing = Sharing(self.statistics, self.sources, several=bool(self.reader.relation.others))
        self.statistics = sharing.statistics
        return layout.moved(sharing.placed, tuple(sharing.sources))

    def key(self, node: Any) -> Key | None:
        """The place of what is grouped by."""
        if not self.by:
            return None
        try:
            found = convert(node, self.reader.scope)
        except TacitError:  # not an expression of rows, so not what is grouped by
            return None
        grouped = [expression for expression, _ in self.by]
        return Key(grouped.index(found)) if found in grouped else None


@dataclass
class Selection:
    """A SELECT, read as formulas over what it asks."""

    select: exp.Select
    asked: Asked
    outputs: list[Output] = field(default_factory=list)

    def layout(self, by: tuple[str, ...]) -> Layout:
        """How the answers are shown; while it is read, the statistics are found."""
        items = self.select.expressions
        aliases = {item.alias.lower(): item.this for item in items if type(item).__name__ == "Alias"}
        reader = FormulaReader(self.asked.ask, self.asked.key, aliases, bool(by))
        for item in items:
            self._add(item, reader)
        if not self.asked.statistics:
            raise UnsupportedQuery(f"the query has no aggregate, and rows are never shown; use {known()}.")
        having = self.select.args.get("having")
        condition = None if having is None else _condition(reader.read(having.this))
        order = self._order(reader)
        limit, offset = limits(self.select)
        found = any(isinstance(statistic, FoundGroups) for statistic in self.asked.statistics)
        whole = len(items) == 1 and not by and bool(self.asked.statistics[0].answer_keys)
        layout = Layout(
            tuple(self.outputs), tuple(self.asked.sources), by, found, condition, order, limit, offset, whole
        )
        return self.asked.share(layout)

    def _add(self, item: Any, reader: FormulaReader) -> None:
        """An output column, or one for each of several quantiles."""
        node, named = bare(item), type(item).__name__ == "Alias"
        text = node.sql("" if type(node).__name__ == "ApproxQuantiles" else "duckdb")
        name = item.alias or (str(node.name) if type(node).__name__ == "Column" else text)
        if is_aggregate(node):
            for end, one in spread_out(node):
                number = self.asked.number(one)
                for key in self.asked.statistics[number].core.answer_keys or (None,):
                    told = f"{name}{end}" if key is None else f"{name} at {key}"
                    self._append(told, self.asked.part(number, key), text, named)
        else:
            self._append(name, reader.read(node), text, named)

    def _append(self, name: str, formula: Any, text: str, named: bool) -> None:
        self.outputs.append(Output(unused(name, {output.name for output in self.outputs}), formula, text, named))

    def _order(self, reader: FormulaReader) -> tuple[Order, ...]:
        order = self.select.args.get("order")
        found = []
        for item in [] if order is None else order.expressions:
            for formula in self._ordered(item.this, reader):
                found.append(Order(formula, bool(item.args.get("desc")), bool(item.args.get("nulls_first"))))
        return tuple(found)

    def _ordered(self, node: Any, reader: FormulaReader) -> list[Any]:
        """What an item of ORDER BY names: by position, by name, or written out."""
        if type(node).__name__ == "Var" and str(node.this).upper() == "ALL":
            return [output.formula for output in self.outputs]
        item = position(node, self.select)
        if item is None and type(node).__name__ == "Literal":
            raise UnsupportedQuery("ORDER BY takes output columns, and there is none of that number; name one.")
        named = {item.alias.lower(): item for item in self.select.expressions if item.alias}
        if item is None and type(node).__name__ == "Column" and not node.table:
            item = named.get(node.name.lower())
        return [reader.read(bare(node if item is None else item))]


def bare(item: Any) -> Any:
    """An output column without its name."""
    return item.this if type(item).__name__ == "Alias" else item


def position(node: Any, select: exp.Select) -> Any:
    """The output column that a number in GROUP BY or ORDER BY counts to, or None."""
    if type(node).__name__ != "Literal" or node.is_string or not re.fullmatch("[0-9]{1,9}", node.this):
        return None
    number = int(node.this)
    return select.expressions[number - 1] if 1 <= number <= len(select.expressions) else None


_TRUTHS = {"=", "<>", "<", "<=", ">", ">=", "AND", "OR", "NOT", "IS NULL", "IS", "IN", "LIKE", "CASE", "COALESCE"}


def _condition(formula: Any) -> Any:
    """A formula that is true or false."""
    if isinstance(formula, Part) or (isinstance(formula, Calculation) and formula.name not in _TRUTHS):
        raise UnsupportedQuery("HAVING must be true or false; write a comparison such as HAVING COUNT(*) > 100.")
    return formula


def limits(select: exp.Select) -> tuple[int | None, int]:
    """The most rows to show, and how many to skip."""
    limit, offset = select.args.get("limit"), select.args.get("offset")
    most = None if limit is None else _whole(limit.args.get("expression") or limit.args.get("count"), "LIMIT")
    options = None if limit is None else limit.args.get("limit_options")
    if options is not None and (options.args.get("percent") or options.args.get("with_ties")):
        raise UnsupportedQuery("LIMIT takes a whole number; PERCENT and WITH TIES are not supported.")
    return most, 0 if offset is None else _whole(offset.args.get("expression"), "OFFSET")


def _whole(node: Any, clause: str) -> int:
    if type(node).__name__ != "Literal" or node.is_string or not re.fullmatch("[0-9]{1,18}", str(node.this)):
        raise UnsupportedQuery(f"{clause} takes a whole number.")
    return int(node.this)
