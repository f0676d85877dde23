"""From expressions to the rows of a statement, in SQL that cannot fail.

A subquery chain computes the rows: the first link reads each needed column in its declared type, each further link
names what the next ones use more than once, so that the text grows linearly with the expression. Integer and decimal
operations happen in 128 bits and come back to 64 or to NULL; an operation on doubles that leaves the finite range is
NULL. Nothing relies on an engine catching its own errors: DuckDB's TRY costs 10 µs for each failing row, which would
be slow and show in the time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import singledispatchmethod
from typing import TypeVar

from tacit.engines.columns import ColumnSQL, TableSQL
from tacit.engines.dialect import LARGEST, Dialect
from tacit.engines.requests import SATURATION, Ordered, Relation, Sample, Value
from tacit.engines.script import Part
from tacit.language import expressions as ast
from tacit.language.types import FLOAT, Kind

T = TypeVar("T")

_NAMES = re.compile(r"\b[ce]\d+\b")
"""How links name what they read and compute."""


@dataclass(frozen=True)
class Term:
    """A piece of SQL over the names known after ``level`` links of the chain."""

    sql: str
    level: int = 0
    name: bool = False


class Rows:
    """The rows of a relation, with the columns that requests ask for."""

    def __init__(self, dialect: Dialect, relation: Relation, tables: Mapping[str, TableSQL]) -> None:
        self.dialect = dialect
        self.relation = relation
        self.tables = {relation.alias: tables[relation.table]}
        self.tables.update({join.alias: tables[join.table] for join in relation.joins})
        self._read: dict[str, str] = {}
        self._links: list[dict[str, str]] = []
        self._outputs: dict[str, Term] = {}
        self._names: dict[str, str] = {}

    # ---- what requests use --------------------------------------------------------------------------------------

    def value(self, value: Value) -> str:
        """The name of a column of 64-bit counts of the unit, or NULL."""
        return self._output(self._value(value))

    def split(self, value: Value) -> tuple[str, str, str]:
        """A row's count in 32 bits, the condition under which it may be computed, and the name of the one in 64 bits.

        Made for doubles and for columns of integers, whose count is quick to compute several times.
        """
        whole = self.value(value)
        if value.expression.type != FLOAT:
            return f"CAST({whole} AS {self.dialect.int32})", f"{whole} BETWEEN {-(2**31)} AND {2**31 - 1}", whole
        x = self._output(self._double(value))
        count, tiny = self._count(value, x)
        short = f"ABS({x}) < {self.dialect.double(float((2**31 - 2) * value.unit))}"
        return f"CAST({f'CASE {tiny}ELSE {count} END' if tiny else count} AS {self.dialect.int32})", short, whole

    def ordered(self, value: Ordered) -> str:
        """The name of a column that orders as the value does: a double, or a 64-bit integer."""
        term = self.term(value.expression)
        match value.expression.type.kind:
            case Kind.BOOLEAN:
                term = Term(self.dialect.truth(term.sql), term.level)
            case Kind.DATE:
                term = Term(self.dialect.days(term.sql), term.level)
            case Kind.TIMESTAMP:
                term = Term(self.dialect.microseconds(term.sql), term.level)
        return self._output(term)

    def plain(self, expression: ast.Expression) -> str:
        """The name of a column with the expression's own value."""
        return self._output(self.term(expression))

    def distinct(self, expression: ast.Expression) -> str:
        """The name of a column that tells the expression's values apart: a column by its key."""
        if isinstance(expression, ast.Column):
            return self._output(self._reading(self.key(expression)))
        return self._output(self._folded(expression))

    def group(self, expression: ast.Expression) -> str:
        """The name of a column with what a group by the expression is made of, and shows."""
        if isinstance(expression, ast.Column) and expression.type.exact_number:
            return self._output(self._reading(self._column_sql(expression).group(self._qualified(expression))))
        return self._output(self._folded(expression))

    def _folded(self, expression: ast.Expression) -> Term:
        """An expression's own value, −0.0 as 0.0."""
        term = self.term(expression)
        return self._form(self.dialect.folded("{}"), term) if expression.type == FLOAT else term

    def scaled(self, value: Value, low: int, high: int, steps: int) -> str:
        """The name of a column with ⌊(x clamped to [low, high] − low)·steps / (high − low)⌋."""
        x = self._bind(self._value(value))
        width = high - low
        counted = x.sql if width * steps <= LARGEST else self.dialect.wide(x.sql)
        inner = self.dialect.quotient(f"(({counted} - ({low})) * {steps})", str(width), short=counted == x.sql)
        sql = (
            f"CASE WHEN {x.sql} <= {low} THEN 0 WHEN {x.sql} >= {high} THEN {steps} "
            f"WHEN {x.sql} > {low} THEN CAST({inner} AS {self.dialect.int64}) END"
        )
        return self._output(Term(sql, x.level))

    def parts(self) -> list[Part]:
        """The chain, ending in ``rows``: the person and every column asked for."""
        condition = None if self.relation.filter is None else self.term(self.relation.filter)
        places = [self.term(member.place) for member in self.relation.members]
        terms = list(self._outputs.values()) + ([condition] if condition else []) + places
        depth = max((term.level for term in terms), default=0)
        columns_of = [column for _, column in self.relation.persons]
        named_persons = dict(zip(self.persons(), map(self.key, columns_of), strict=True))
        person = ", ".join(f"{sql} AS {name}" for name, sql in named_persons.items())
        read = "".join(f", {sql} AS {name}" for sql, name in self._read.items())
        persons = ", ".join(named_persons)
        chain: list[Part] = []
        source = self._passed("link0", f"SELECT {person}{read} FROM {self._source()}", chain)
        for level, names in enumerate(self._carried(depth, [term.sql for term in terms])):
            named = "".join(f", {name}" for name in names) + "".join(
                f", {s} AS {n}" for s, n in self._links[level].items()
            )
            link = f"SELECT {persons}{named} FROM {source}{self.dialect.fence}"
            source = self._passed(f"link{level + 1}", link, chain)
        columns = "".join(f", {term.sql} AS {name}" for name, term in self._outputs.items())
        present = " OR ".join(f"{name} IS NOT NULL" for name in named_persons)
        kept = (present if len(named_persons) == 1 else f"({present})") + (f" AND {condition.sql}" if condition else "")
        for number, (place, member) in enumerate(zip(places, self.relation.members, strict=True)):
            each = f"SELECT person FROM {source} WHERE person IS NOT NULL GROUP BY person"
            chain.append(Part(f"members{number}", f"{each} HAVING MIN({place.sql}) = {member.wanted}"))
            kept += f" AND person IN (SELECT person FROM members{number})"
        if self.relation.sample:
            chain.append(self._sampled(self.relation.sample, source))
            kept += " AND person IN (SELECT person FROM sampled)"
        if self._all_grouped:
            chain.append(Part("whole", f"SELECT {persons}{columns} FROM {source}"))
            chain.append(Part("rows", f"SELECT * FROM whole WHERE {kept}"))
        else:
            chain.append(Part("rows", f"SELECT {persons}{columns} FROM {source} WHERE {kept}"))
        return chain

    def grouped(self) -> str:
        """What stands after FROM to aggregate the rows of each person."""
        return f"whole GROUP BY person{self.dialect.present}" if self._all_grouped else "rows GROUP BY person"

    @property
    def _all_grouped(self) -> bool:
        """Whether a person that is NULL is all that keeps a row out, and is better kept out as a group."""
        asked = self.relation
        narrowed = asked.others or asked.filter is not None or asked.members or asked.sample
        return bool(self.dialect.present) and not narrowed

    def _passed(self, name: str, sql: str, chain: list[Part]) -> str:
        """What stands after FROM to use a link."""
        if self.dialect.nested:
            return f"({sql}) AS {name}"
        chain.append(Part(name, sql))
        return name

    def _carried(self, depth: int, uses: list[str]) -> list[list[str]]:
        """For each link the names of the one before that are still used after it, so that a long chain stays thin."""
        needed = set(_NAMES.findall(" ".join(uses)))
        found: list[list[str]] = []
        for link in reversed(self._links[:depth]):
            passed = needed & self._known(depth) - set(link.values())
            found.append(sorted(passed))
            needed = passed | set(_NAMES.findall(" ".join(link)))
        return found[::-1]

    def _known(self, depth: int) -> set[str]:
        return set(self._read.values()).union(*(link.values() for link in self._links[:depth]))

    def _sampled(self, sample: Sample, rows: str) -> Part:
        """The persons of a sample, each with all rows: equal persons that are written differently are one.

        The least of a person's texts is hashed: once for each person, not for each row, and the same in every round.
        """
        text = f"MIN(CAST(person AS {self.dialect.text_type}))"
        chance = self.dialect.number(self.dialect.digest([text], sample.key))
        each = f"SELECT person FROM {rows} WHERE person IS NOT NULL GROUP BY person"
        return Part("sampled", f"{each} HAVING {chance} < {sample.steps}")

    def persons(self) -> list[str]:
        """The names of the person columns of ``rows``."""
        return ["person", *(f"person{i}" for i in range(1, len(self.relation.persons)))]

    # ---- the chain ----------------------------------------------------------------------------------------------

    def _source(self) -> str:
        quote = self.dialect.name
        text = f"{self.tables[self.relation.alias].source} AS {quote(self.relation.alias)}"
        for join in self.relation.joins:
            pairs = [" = ".join(self.sides(*pair)) for pair in join.on]
            word = "LEFT" if join.kind == "left" else "INNER"
            text += f" {word} JOIN {self.tables[join.alias].source} AS {quote(join.alias)} ON {' AND '.join(pairs)}"
        return text

    def sides(self, left: ast.Column, right: ast.Column) -> list[str]:
        """The two sides of an equality between columns, as the tables name them."""
        return self._compared(left, right, self._multiplied)

    def _compared(self, left: ast.Column, right: ast.Column, multiplied: Callable[[str, int], T]) -> list[T]:
        """The two sides of an equality between columns: their keys where these meet, else their values.

        Exact numbers of different scale are multiplied by what makes the scales equal, which 128 bits hold: a value has
        64 bits, and keys of different scale meet only where they have.
        """
        sides = [(column, self._column_sql(column)) for column in (left, right)]
        if sides[0][1].key_type.meets(sides[1][1].key_type):
            read = [(self.key(column), sql.steps) for column, sql in sides]
        else:
            read = [(sql.value(self._qualified(column)), column.type.scale) for column, sql in sides]
        scale = max(steps for _, steps in read)
        return [multiplied(sql, 10 ** (scale - steps)) for sql, steps in read]

    def _multiplied(self, sql: str, factor: int) -> str:
        return sql if factor == 1 else f"({self.dialect.wide(sql)} * {factor})"

    def _read_multiplied(self, sql: str, factor: int) -> Term:
        term = self._reading(sql)
        return term if factor == 1 else self._form(f"({self.dialect.wide('{}')} * {factor})", term)

    def key(self, column: ast.Column) -> str:
        """The canonical key of a column, as the tables name it."""
        return self._column_sql(column).key(self._qualified(column))

    def _column_sql(self, column: ast.Column) -> ColumnSQL:
        return self.tables[column.table].columns[column.name]

    def _qualified(self, column: ast.Column) -> str:
        return f"{self.dialect.name(column.table)}.{self.dialect.name(self._column_sql(column).name)}"

    def _reading(self, sql: str) -> Term:
        return Term(self._read.setdefault(sql, f"c{len(self._read)}"), 0, name=True)

    def _bind(self, term: Term) -> Term:
        if term.name:
            return term
        while len(self._links) <= term.level:
            self._links.append({})
        known = self._links[term.level]
        if term.sql not in known:
            known[term.sql] = f"e{sum(len(link) for link in self._links)}"
        return Term(known[term.sql], term.level + 1, name=True)

    def _output(self, term: Term) -> str:
        name = self._names.setdefault(term.sql, f"x{len(self._names)}")
        self._outputs[name] = term
        return name

    def _form(self, form: str, *terms: Term) -> Term:
        pieces = form.split("{}")
        sql = pieces[0] + "".join(term.sql + piece for term, piece in zip(terms, pieces[1:], strict=True))
        return Term(sql, max((term.level for term in terms), default=0))

    def _value(self, value: Value) -> Term:
        expression = value.expression
        if expression.type.kind is Kind.BOOLEAN:
            return self._form(self.dialect.truth("{}"), self.term(expression))
        if expression.type != FLOAT:
            return self.term(expression)
        x = self._double(value)
        count, tiny = self._count(value, x.sql)
        limit = self.dialect.double(float(SATURATION * value.unit))
        sql = (
            f"CASE {tiny}WHEN ABS({x.sql}) < {limit} THEN {self.dialect.rounded(count)} "
            f"WHEN {self.dialect.is_nan(x.sql)} THEN NULL "
            f"WHEN {x.sql} > 0 THEN {SATURATION} WHEN {x.sql} < 0 THEN -{SATURATION} END"
        )
        return Term(sql, x.level)

    def _double(self, value: Value) -> Term:
        """The double itself; a column is read as it is, for comparisons sort out NaN and ±inf by themselves."""
        if isinstance(value.expression, ast.Column):
            return self._reading(self._column_sql(value.expression).double(self._qualified(value.expression)))
        return self._bind(self.term(value.expression))

    def _count(self, value: Value, x: str) -> tuple[str, str]:
        """A double's count of units before rounding, and a case for doubles whose count may be no double."""
        double, unit = self.dialect.double, value.unit
        count = f"{x} * {double(float(1 / unit))}" if unit.numerator == 1 else f"{x} / {double(float(unit))}"
        return count, "" if unit <= 1 else f"WHEN ABS({x}) < {double(0.25)} THEN 0 "

    # ---- expressions --------------------------------------------------------------------------------------------

    @singledispatchmethod
    def term(self, expression: ast.Expression) -> Term:
        """The SQL of an expression; exact numbers as 64-bit steps of their scale."""
        raise TypeError(type(expression).__name__)

    @term.register
    def _(self, expression: ast.Column) -> Term:
        return self._reading(self._column_sql(expression).value(self._qualified(expression)))

    @term.register
    def _(self, expression: ast.Literal) -> Term:
        return Term(self.dialect.constant(expression), 0, name=not self.dialect.fence)

    @term.register
    def _(self, expression: ast.Arithmetic) -> Term:
        left, right = self.term(expression.left), self.term(expression.right)
        if expression.type == FLOAT:
            left, right = self._bind(left), self._bind(right)
            sql = self.dialect.operation(expression.operator, left.sql, right.sql)
            return self._finite(Term(sql, max(left.level, right.level)))
        wide = f"({self.dialect.wide('{}')} {expression.operator} {self.dialect.wide('{}')})"
        return self._narrow(self._form(wide, left, right))

    @term.register
    def _(self, expression: ast.Cast) -> Term:
        operand, source, target = self.term(expression.operand), expression.operand.type, expression.type
        if target.kind is Kind.DECIMAL:
            return self._narrow(
                self._form(f"({self.dialect.wide('{}')} * {10 ** (target.scale - source.scale)})", operand)
            )
        if target.kind is Kind.TIMESTAMP:
            return self._form(self.dialect.midnight("{}"), operand)
        if target.kind is Kind.INTEGER:
            return self._form(self.dialect.truth("{}"), operand)
        form = f"CAST({{}} AS {self.dialect.type(target)})"
        if target == FLOAT and source.scale:
            form = f"({form} / {self.dialect.double(10.0**source.scale)})"
        return self._form(form, operand)

    @term.register
    def _(self, expression: ast.DaysBetween) -> Term:
        return self._form(
            self.dialect.days_between("{}", "{}"), self.term(expression.left), self.term(expression.right)
        )

    @term.register
    def _(self, expression: ast.Comparison) -> Term:
        """An equality of two columns compares what a join by it would."""
        if (pair := ast.columns_of(expression)) is not None:
            return self._form(f"({{}} {expression.operator} {{}})", *self._compared(*pair, self._read_multiplied))
        scale = max(expression.left.type.scale, expression.right.type.scale)
        left, right = self._rescaled(expression.left, scale), self._rescaled(expression.right, scale)
        return self._form(f"({{}} {expression.operator} {{}})", left, right)

    @term.register
    def _(self, expression: ast.In) -> Term:
        scale = max(expression.operand.type.scale, expression.items[0].type.scale)
        items = ", ".join(self._rescaled(item, scale).sql for item in expression.items)
        operand = self._rescaled(expression.operand, scale)
        return Term(f"({operand.sql} IN ({items}))", operand.level)

    @term.register
    def _(self, expression: ast.Logic) -> Term:
        form = "(" + f" {expression.operator} ".join("{}" for _ in expression.operands) + ")"
        return self._form(form, *map(self.term, expression.operands))

    @term.register
    def _(self, expression: ast.Not) -> Term:
        return self._form("(NOT {})", self.term(expression.operand))

    @term.register
    def _(self, expression: ast.IsNull) -> Term:
        return self._form("({} IS NULL)", self.term(expression.operand))

    @term.register
    def _(self, expression: ast.Like) -> Term:
        operand = self.term(expression.operand)
        return Term(f"({operand.sql} LIKE {self.dialect.text(expression.pattern)})", operand.level)

    @term.register
    def _(self, expression: ast.Case) -> Term:
        terms = [self.term(part) for branch in expression.branches for part in branch]
        form = "CASE" + " WHEN {} THEN {}" * len(expression.branches) + " ELSE {} END"
        return self._form(form, *terms, self.term(expression.default))

    @term.register
    def _(self, expression: ast.Coalesce) -> Term:
        return self._call("COALESCE", expression.operands)

    @term.register
    def _(self, expression: ast.Extreme) -> Term:
        return self._call("GREATEST" if expression.largest else "LEAST", expression.operands)

    @term.register
    def _(self, expression: ast.Absolute) -> Term:
        operand = self.term(expression.operand)
        if expression.type == FLOAT:
            return self._form("ABS({})", operand)
        return self._narrow(self._form(f"ABS({self.dialect.wide('{}')})", operand))

    @term.register
    def _(self, expression: ast.Extract) -> Term:
        operand = self.term(expression.operand)
        return Term(self.dialect.extract(expression.part, operand.sql, expression.operand.type), operand.level)

    @term.register
    def _(self, expression: ast.DateTrunc) -> Term:
        operand = self.term(expression.operand)
        return Term(self.dialect.date_trunc(expression.unit, operand.sql, expression.type), operand.level)

    def _call(self, function: str, operands: tuple[ast.Expression, ...]) -> Term:
        return self._form(f"{function}({', '.join('{}' for _ in operands)})", *map(self.term, operands))

    def _narrow(self, term: Term) -> Term:
        name = self._bind(term)
        return Term(self.dialect.narrow(name.sql), name.level)

    def _finite(self, term: Term) -> Term:
        name = self._bind(term)
        return Term(self.dialect.finite(name.sql), name.level)

    def _rescaled(self, expression: ast.Expression, scale: int) -> Term:
        """An operand of a comparison; exact numbers in steps of 10^-scale, which 128 bits always hold."""
        if not expression.type.exact_number:
            return self.term(expression)
        if isinstance(expression, ast.Literal) and expression.value is not None:
            return Term(str(self.dialect.steps(expression, scale)), 0, name=True)
        factor = 10 ** (scale - expression.type.scale)
        term = self.term(expression)
        return term if factor == 1 else self._form(f"({self.dialect.wide('{}')} * {factor})", term)
