"""Expressions as SQL that cannot fail, over the names of a chain of links.

A subquery chain computes the rows: the first link reads each needed column in its declared type, each further link
names what the next ones use more than once, so that the text grows linearly with the expression. A term knows which
of these names it uses, so a link passes on only what is needed after it. Integer and decimal operations happen in 128
bits and come back to 64 or to NULL; an operation on doubles that leaves the finite range is NULL. Nothing relies on an
engine catching its own errors: DuckDB's TRY costs 10 µs for each failing row, which would be slow and show in the time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import singledispatchmethod
from typing import Literal as Choice
from typing import TypeVar

from tacit.engines.calls import WRITTEN
from tacit.engines.columns import ColumnSQL, TableSQL
from tacit.engines.dialect import LARGEST, SMALLEST, Dialect
from tacit.engines.script import Reading
from tacit.engines.term import Term, combine, fill, uses_of
from tacit.language import expressions as ast
from tacit.language.constants import constant
from tacit.language.functions import FUNCTIONS
from tacit.language.types import DATE, FLOAT, TEXT, Kind

__all__ = ["LinkColumns", "Term", "Terms", "combine", "fill"]

T = TypeVar("T")


@dataclass(frozen=True)
class LinkColumns:
    """What one link computes, and the names of the links before it that it passes on."""

    computed: Mapping[Term, str]
    passed: Sequence[str]


class Terms:
    """Expressions over some tables, each known by its alias, and the chain of links that their terms need."""

    def __init__(self, dialect: Dialect, tables: Mapping[str, TableSQL]) -> None:
        self.dialect = dialect
        self.tables = tables
        self._used: dict[str, set[str]] = {alias: set() for alias in tables}
        self._read: dict[str, str] = {}
        """What the first link reads, with its names."""
        self._links: list[dict[Term, str]] = []

    # ---- the chain ----------------------------------------------------------------------------------------------

    def links(self, terms: Sequence[Term]) -> list[LinkColumns]:
        """The further links that some terms need; each passes on what is used after it, so a long chain stays thin."""
        depth = max((term.level for term in terms), default=0)
        needed = uses_of(terms)
        found: list[LinkColumns] = []
        for computed in reversed(self._links[:depth]):
            passed = needed - set(computed.values())
            found.append(LinkColumns(computed, sorted(passed)))
            needed = passed | uses_of(tuple(computed))
        return found[::-1]

    def read(self, sql: str) -> Term:
        """What a column of the tables is read as."""
        name = self._read.setdefault(sql, f"c{len(self._read)}")
        return Term(name, 0, frozenset((name,)), short=True)

    def bind(self, term: Term) -> Term:
        """The term under a name, which the next link can write several times."""
        if term.short:
            return term
        while len(self._links) <= term.level:
            self._links.append({})
        known = self._links[term.level]
        if term not in known:
            known[term] = f"e{sum(len(link) for link in self._links)}"
        return Term(known[term], term.level + 1, frozenset((known[term],)), short=True)

    def named(self, expression: ast.Expression) -> Term:
        """An expression under a name."""
        return self.bind(self.term(expression))

    # ---- columns ------------------------------------------------------------------------------------------------

    def key(self, column: ast.Column) -> str:
        """The canonical key of a column, as the tables name it."""
        return self.read_column(column, "key")

    def read_column(self, column: ast.Column, reading: Choice["value", "key", "double", "group"]) -> str:
        """A column in one of its readings, as the tables name it."""
        self.tables[column.table].ask(column.name, reading)
        read: Callable[[str], str] = getattr(self.column_sql(column), reading)
        return read(self.qualified(column))

    def sides(self, left: ast.Column, right: ast.Column) -> list[str]:
        """The two sides of an equality between columns, as the tables name them."""
        return self._compared(left, right, self._multiplied)

    def reading(self, alias: str) -> Reading:
        """A table, by its alias, with the columns that were used before."""
        return self.tables[alias].reading(self.dialect.name(alias), frozenset(self._used[alias]))

    def column_sql(self, column: ast.Column) -> ColumnSQL:
        """How a column is read."""
        self._used[column.table].add(column.name)
        return self.tables[column.table].columns[column.name]

    def qualified(self, column: ast.Column) -> str:
        """A column as the tables name it."""
        return f"{self.dialect.name(column.table)}.{self.dialect.name(self.column_sql(column).name)}"

    def _compared(self, left: ast.Column, right: ast.Column, multiplied: Callable[[str, int], T]) -> list[T]:
        """The two sides of an equality between columns: their keys where these meet, else their values.

        Exact numbers of different scale are multiplied by what makes the scales equal, which 128 bits hold: a value has
        64 bits, and keys of different scale meet only where they have.
        """
        sides = [(column, self.column_sql(column)) for column in (left, right)]
        if sides[0][1].key_type.meets(sides[1][1].key_type):
            read = [(self.key(column), sql.steps) for column, sql in sides]
        else:
            read = [(self.read_column(column, "value"), column.type.scale) for column, _ in sides]
        scale = max(steps for _, steps in read)
        return [multiplied(sql, 10 ** (scale - steps)) for sql, steps in read]

    def _multiplied(self, sql: str, factor: int) -> str:
        return sql if factor == 1 else f"({self.dialect.wide(sql)} * {factor})"

    def _read_multiplied(self, sql: str, factor: int) -> Term:
        term = self.read(sql)
        return combine(self._multiplied(term.sql, factor), term)

    # ---- expressions --------------------------------------------------------------------------------------------

    @singledispatchmethod
    def term(self, expression: ast.Expression) -> Term:
        """The SQL of an expression; exact numbers as 64-bit steps of their scale."""
        raise TypeError(type(expression).__name__)

    @term.register
    def _(self, expression: ast.Column) -> Term:
        return self.read(self.read_column(expression, "value"))

    @term.register
    def _(self, expression: ast.Literal) -> Term:
        return Term(self.dialect.constant(expression), short=not self.dialect.fence)

    @term.register
    def _(self, expression: ast.Arithmetic) -> Term:
        if (known := constant(expression)) is not None:
            return self.term(known)
        left, right = self.term(expression.left), self.term(expression.right)
        if expression.type == FLOAT:
            left, right = self.bind(left), self.bind(right)
            return self.finite(combine(self.dialect.operation(expression.operator, left.sql, right.sql), left, right))
        wide = self.dialect.wide("{}")
        return self.narrow(fill(f"({wide} {expression.operator} {wide})", left, right))

    @term.register
    def _(self, expression: ast.Cast) -> Term:
        operand, source, target = self.term(expression.operand), expression.operand.type, expression.type
        if target.kind is Kind.DECIMAL:
            factor = 10 ** (target.scale - source.scale)
            return self.narrow(fill(f"({self.dialect.wide('{}')} * {factor})", operand))
        if target.kind is Kind.TIMESTAMP:
            return fill(self.dialect.midnight("{}"), operand)
        if target.kind is Kind.INTEGER:
            return fill(self.dialect.truth("{}"), operand)
        form = f"CAST({{}} AS {self.dialect.type(target)})"
        if target == FLOAT and source.scale:
            form = f"({form} / {self.dialect.double(10.0**source.scale)})"
        return fill(form, operand)

    @term.register
    def _(self, expression: ast.DaysBetween) -> Term:
        return fill(self.dialect.days_between("{}", "{}"), self.term(expression.left), self.term(expression.right))

    @term.register
    def _(self, expression: ast.Comparison) -> Term:
        """An equality of two columns compares what a join by it would."""
        form = f"({{}} {expression.operator} {{}})"
        sides = expression.left, expression.right
        computed = sides[0].type == TEXT and not all(map(self._is_plain, sides))
        if (pair := ast.columns_of(expression)) is not None:
            terms = self._compared(*pair, self._read_multiplied)
        else:
            terms = [self.named(side) for side in sides] if computed else []
        if computed:
            return combine(self.dialect.compared(expression.operator, *(term.sql for term in terms)), *terms)
        if pair is not None:
            return fill(form, *terms)
        if (days := self._bare_days(*sides)) is not None:
            return fill(form, *days)
        scale = max(expression.left.type.scale, expression.right.type.scale)
        return fill(form, self._rescaled(expression.left, scale), self._rescaled(expression.right, scale))

    def _bare_days(self, *sides: ast.Expression) -> list[Term] | None:
        """The two sides, if they are a column of dates and a constant that is neither the first day nor the last.

        A date beyond the limits then compares as the limit does. So the column is compared as it is, and an engine can
        leave out rows by what it knows of their least and largest dates.
        """
        column, known = (next(filter(None, found), None) for found in zip(*map(self._day, sides), strict=True))
        if column is None or known is None:
            return None
        bare = self.read(self.qualified(column))
        return [bare if side is column else self.term(known) for side in sides]

    def _day(self, side: ast.Expression) -> tuple[ast.Column | None, ast.Literal | None]:
        """A side as a column that holds dates, or as a constant between the limits."""
        if isinstance(side, ast.Column):
            found = self.column_sql(side)
            return (side if side.type == DATE and found.native.upper() == "DATE" else None), None
        known = constant(side) if side.type == DATE else None
        return None, (known if known is not None and known.value not in (None, date.min, date.max) else None)

    def _is_plain(self, side: ast.Expression) -> bool:
        """Whether it is a constant, or a column that is there: not computed, however deep."""
        if isinstance(side, ast.Column):
            return not self.column_sql(side).computed
        return isinstance(side, ast.Literal)

    @term.register
    def _(self, expression: ast.In) -> Term:
        scale = max(expression.operand.type.scale, expression.items[0].type.scale)
        items = [self._rescaled(item, scale) for item in expression.items]
        return fill(f"({{}} IN ({', '.join('{}' for _ in items)}))", self._rescaled(expression.operand, scale), *items)

    @term.register
    def _(self, expression: ast.Logic) -> Term:
        form = "(" + f" {expression.operator} ".join("{}" for _ in expression.operands) + ")"
        return fill(form, *map(self.term, expression.operands))

    @term.register
    def _(self, expression: ast.Not) -> Term:
        return fill("(NOT {})", self.term(expression.operand))

    @term.register
    def _(self, expression: ast.IsNull) -> Term:
        return fill("({} IS NULL)", self.term(expression.operand))

    @term.register
    def _(self, expression: ast.Like) -> Term:
        operand = self.term(expression.operand)
        return combine(f"({operand.sql} LIKE {self.dialect.text(expression.pattern)})", operand)

    @term.register
    def _(self, expression: ast.Case) -> Term:
        terms = [self.term(part) for branch in expression.branches for part in branch]
        form = "CASE" + " WHEN {} THEN {}" * len(expression.branches) + " ELSE {} END"
        return fill(form, *terms, self.term(expression.default))

    @term.register
    def _(self, expression: ast.Call) -> Term:
        if (known := constant(expression)) is not None:
            return self.term(known)
        written = WRITTEN.get(expression.function)
        if written is not None:
            found = written(self, expression)
            return fill(self.dialect.text_of("{}"), found) if expression.type == TEXT else found
        arguments = [self.term(argument) for argument in expression.children()]
        wide = FUNCTIONS[expression.function].overflows and expression.type.exact_number
        places = [self.dialect.wide("{}") if wide else "{}"] * len(arguments)
        called = fill(self.dialect.call(expression.function, places), *arguments)
        return self.narrow(called) if wide else called

    @term.register
    def _(self, expression: ast.Extract) -> Term:
        operand = self.term(expression.operand)
        return combine(self.dialect.extract(expression.part, operand.sql, expression.operand.type), operand)

    @term.register
    def _(self, expression: ast.DateTrunc) -> Term:
        operand = self.term(expression.operand)
        return combine(self.dialect.date_trunc(expression.unit, operand.sql, expression.type), operand)

    def narrow(self, term: Term) -> Term:
        """A 128-bit integer in 64 bits, or NULL."""
        name = self.bind(term)
        return combine(self.dialect.narrow(name.sql), name)

    def finite(self, term: Term) -> Term:
        """The result of an operation on doubles, or NULL beyond the finite range."""
        name = self.bind(term)
        return combine(self.dialect.finite(name.sql), name)

    def _rescaled(self, expression: ast.Expression, scale: int) -> Term:
        """An operand of a comparison; exact numbers in steps of 10^-scale, which 128 bits always hold."""
        if not expression.type.exact_number:
            return self.term(expression)
        known = constant(expression)
        if known is not None and known.value is not None:
            steps = self.dialect.steps(known, scale)
            inside = SMALLEST <= steps <= LARGEST  # beyond, Spark takes a bare number for smaller than NULL
            return Term(str(steps) if inside else self.dialect.wide(str(steps)), short=True)
        term = self.term(expression)
        return combine(self._multiplied(term.sql, 10 ** (scale - expression.type.scale)), term)
