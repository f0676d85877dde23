"""The rows of a relation in a statement: persons and the columns that requests ask for.

A chain of links (`tacit.engines.terms`) computes what the columns need. Its end is the part ``rows``, without the rows
that have no person, do not pass the filter or belong to persons that are not asked about.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import gcd
from typing import Literal

from tacit.engines.chains import Chain
from tacit.engines.columns import TableSQL
from tacit.engines.dialect import LARGEST, Dialect
from tacit.engines.requests.derived import NOBODY, Derived
from tacit.engines.requests.operands import SATURATION, Ordered, Value
from tacit.engines.requests.relation import Join, Relation, simple
from tacit.engines.script import Fragment, Part, Piece, Reading, fragment
from tacit.engines.script import join as joined
from tacit.engines.stages import Stages
from tacit.engines.term import Term, combine, fill, uses_of
from tacit.language import expressions as ast
from tacit.language.types import FLOAT, Kind


@dataclass(frozen=True)
class _Base:
    """Rows that several statements read: columns that all of them keep, and what filters the rows."""

    shared: frozenset[str]
    condition: list[Term]
    links: list[dict[Term, str]]


class Rows(Chain):
    """The rows of a relation, with the columns that requests ask for."""

    def __init__(
        self,
        dialect: Dialect,
        relation: Relation,
        tables: Mapping[str, TableSQL] | Stages,
        prefix: str = "",
        beside: Collection[ast.Column] = (),
    ) -> None:
        self.stages = tables if isinstance(tables, Stages) else Stages(dialect, tables, partial(Rows, dialect))
        """The derived tables, which all relations of a script share; ``prefix`` keeps names of their parts apart."""
        aliases = {relation.alias: relation.table, **{join.alias: join.table for join in relation.joins}}
        super().__init__(dialect, {alias: self.stages.table(table) for alias, table in aliases.items()}, prefix)
        self.relation = relation
        self.persons = ["person", *(f"person{i}" for i in range(1, len(relation.persons)))]
        """The names of the person columns."""
        self._outputs: dict[Term, str] = {}
        narrowed = relation.others or relation.filter is not None or relation.members or relation.sample
        self._all_grouped = bool(dialect.present) and not narrowed
        """Whether a person that is NULL is all that keeps a row out, and is better kept out as a group."""
        several, fewer = relation.others or relation.members, relation.sample or relation.filter is not None
        self._base: _Base | None = None
        if beside and not several and (fewer or relation.joins):
            self._base = self._begin(beside)

    def read_column(self, column: ast.Column, reading: Literal["value", "key", "double", "group"]) -> str:
        """A column in one of its readings; nobody is the same in all of them, and everywhere."""
        return "1" if column == NOBODY else super().read_column(column, reading)

    # ---- the columns that requests ask for ----------------------------------------------------------------------

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
                term = combine(self.dialect.truth(term.sql), term)
            case Kind.DATE:
                term = combine(self.dialect.days(term.sql), term)
            case Kind.TIMESTAMP:
                term = combine(self.dialect.microseconds(term.sql), term)
        return self._output(term)

    def plain(self, expression: ast.Expression) -> str:
        """The name of a column with the expression's own value."""
        return self._output(self.term(expression))

    def shown(self, expression: ast.Expression) -> str:
        """The name of a column with the expression's own value, −0.0 as 0.0."""
        return self._output(self._folded(expression))

    def distinct(self, expression: ast.Expression) -> str:
        """The name of a column that tells the expression's values apart: a column by its key."""
        if isinstance(expression, ast.Column):
            return self._output(self.read(self.key(expression)))
        return self._output(self._folded(expression))

    def group(self, expression: ast.Expression) -> str:
        """The name of a column with what a group by the expression is made of, and shows."""
        if isinstance(expression, ast.Column) and expression.type.exact_number:
            return self._output(self.read(self.read_column(expression, "group")))
        return self._output(self._folded(expression))

    def scaled(self, value: Value, low: int, high: int, steps: int) -> str:
        """The name of a column with ⌊(x clamped to [low, high] − low)·steps / (high − low)⌋."""
        x = self.bind(self._value(value))
        shared = gcd(high - low, steps)  # by which both are divided: steps and widths are often powers of two
        width, parts = (high - low) // shared, steps // shared
        counted = x.sql if (high - low) * parts <= LARGEST else self.dialect.wide(x.sql)
        inner = self.dialect.quotient(f"(({counted} - ({low})) * {parts})", str(width), short=counted == x.sql)
        sql = (
            f"CASE WHEN {x.sql} <= {low} THEN 0 WHEN {x.sql} >= {high} THEN {steps} "
            f"WHEN {x.sql} > {low} THEN CAST({inner} AS {self.dialect.int64}) END"
        )
        return self._output(combine(sql, x))

    def clamped(self, value: Value, low: int, high: int) -> str:
        """The name of a column of counts, those beyond the ends as the ends."""
        x = self.bind(self._value(value))
        return self._output(
            combine(f"CASE WHEN {x.sql} <= {low} THEN {low} WHEN {x.sql} >= {high} THEN {high} ELSE {x.sql} END", x)
        )

    def _output(self, term: Term) -> str:
        return self._outputs.setdefault(term, f"x{len(self._outputs)}")

    def _folded(self, expression: ast.Expression) -> Term:
        """An expression's own value, −0.0 as 0.0."""
        term = self.term(expression)
        return fill(self.dialect.folded("{}"), term) if expression.type == FLOAT else term

    def _value(self, value: Value) -> Term:
        expression = value.expression
        if expression.type.kind is Kind.BOOLEAN:
            return fill(self.dialect.truth("{}"), self.term(expression))
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
        return combine(sql, x)

    def _double(self, value: Value) -> Term:
        """The double itself; a column is read as it is, for comparisons sort out NaN and ±inf by themselves."""
        if isinstance(value.expression, ast.Column):
            return self.read(self.read_column(value.expression, "double"))
        return self.bind(self.term(value.expression))

    def _count(self, value: Value, x: str) -> tuple[str, str]:
        """A double's count of units before rounding, and a case for doubles whose count may be no double."""
        double, unit = self.dialect.double, value.unit
        count = f"{x} * {double(float(1 / unit))}" if unit.numerator == 1 else f"{x} / {double(float(unit))}"
        return count, "" if unit <= 1 else f"WHEN ABS({x}) < {double(0.25)} THEN 0 "

    # ---- the parts of a statement -------------------------------------------------------------------------------

    def _begin(self, beside: Collection[ast.Column]) -> _Base:
        """Read what other statements ask of the same rows first, so that all of them keep rows in the same words."""
        for column in sorted(beside, key=lambda column: (column.table, column.name)):
            self.read(self.read_column(column, "value"))
        shared = frozenset(self._read.values())
        condition = [] if self.relation.filter is None else [self.term(self.relation.filter)]
        links, self._links, self._all_grouped = self._links, [], False
        return _Base(shared, condition, links)

    @property
    def costly(self) -> bool:
        """Whether to compute the rows takes more than to read one table, or what is kept."""
        relation = self.relation
        found = relation.joins or relation.members or relation.sample or isinstance(relation.table, Derived)
        return bool(found) and self._base is None

    @property
    def every(self) -> Reading:
        """The rows themselves."""
        return Reading(f"{self.prefix}rows")

    def grouped(self, by: Sequence[str] = ()) -> Fragment:
        """What stands after FROM to aggregate the rows of each person, and of each value of some columns."""
        listed = ", ".join(["person", *by])
        if self._all_grouped:
            return fragment(Reading(f"{self.prefix}whole"), f" GROUP BY {listed}{self.dialect.present}")
        return fragment(self.every, f" GROUP BY {listed}")

    def parts(self) -> list[Part]:
        """The derived tables and the chain, ending in ``rows``: the person and every column asked for."""
        own = self.own_parts()
        return [*self.stages.parts(), *own]

    def own_parts(self) -> list[Part]:
        """The chain alone."""
        if self._base is not None:
            return self._parts_over(self._base)
        condition = [] if self.relation.filter is None else [self.term(self.relation.filter)]
        places = [self.term(member.place) for member in self.relation.members]
        chain = self._sample()
        source = self._read_tables([*self._outputs, *condition, *places], chain)
        names = self.persons
        present = " OR ".join(f"{name} IS NOT NULL" for name in names)
        kept = [present if len(names) == 1 else f"({present})", *(term.sql for term in condition)]
        chosen = [fragment(" AND ".join(kept))]
        for part in self._chosen(places, source):
            chain.append(part)
            chosen.append(fragment(" AND person IN (SELECT person FROM ", Reading(part.name), ")"))
        shown = ", ".join([*names, *(f"{term.sql} AS {name}" for term, name in self._outputs.items())])
        if self._all_grouped:
            chain.append(Part(f"{self.prefix}whole", fragment(f"SELECT {shown} FROM ", source)))
            shown, source = "*", Reading(f"{self.prefix}whole")
        chain.append(Part(f"{self.prefix}rows", fragment(f"SELECT {shown} FROM ", source, " WHERE ", *chosen)))
        return chain

    def _parts_over(self, base: _Base) -> list[Part]:
        """The filtered rows as a part that other statements read again, and the chain over it."""
        outputs, chain = list(self._outputs), self._sample()
        first = next(iter(self.links(outputs)), None)
        used = uses_of(outputs) if first is None else uses_of(tuple(first.computed)) | set(first.passed)
        names = [name for name in self._read.values() if name in used | base.shared]
        later, self._links = self._links, base.links
        prefix, self.prefix = self.prefix, ""  # the same words for all who read the same columns
        source = self._read_tables(base.condition, chain, names)
        self._links, self.prefix = later, prefix
        kept = " AND ".join(["person IS NOT NULL", *(term.sql for term in base.condition)])
        listed = ", ".join(["person", *names])
        asked = fragment(f"SELECT {listed} FROM ", source, f" WHERE {kept}")
        chain.append(Part("base", asked, kept=True, again=True))
        source = self.chained(Reading("base"), self.persons, outputs, chain, "step")
        shown = ", ".join(["person", *(f"{term.sql} AS {name}" for term, name in self._outputs.items())])
        return [*chain, Part(f"{self.prefix}rows", fragment(f"SELECT {shown} FROM ", source))]

    def _read_tables(self, terms: list[Term], chain: list[Part], kept: Sequence[str] = ()) -> Piece:
        """What stands after FROM to compute some terms; links that are parts of their own join the chain."""
        persons = [self.key(column) for _, column in self.relation.persons]
        named = [f"{sql} AS {name}" for sql, name in zip(persons, self.persons, strict=True)]
        tables = self._tables()  # after all columns were asked for
        read = [f"{sql} AS {name}" for sql, name in self._read.items()]
        first = fragment(f"SELECT {', '.join(named + read)} FROM ", tables)
        return self.chained(self.passed("link0", first, chain), [*self.persons, *kept], terms, chain)

    def _tables(self) -> Fragment:
        """The tables, joined; those that are only looked into come last, as joins of their kind or in conditions."""
        ties = [" AND ".join(self._ties(join)) for join in self.relation.joins]  # so that all columns are known
        early = [fragment(self.inlined(part)) for part in self._filters() if simple(part)]
        source, looked, wanted = self._of_sample(self.relation.alias), list[Fragment](), list[Fragment]()
        for join, tie in zip(self.relation.joins, ties, strict=True):
            if join.kind in ("semi", "anti") and self.dialect.looking_joins:
                word = "SEMI" if join.kind == "semi" else "ANTI"
                looked.append(fragment(f" {word} JOIN ", self.reading(join.alias), f" ON {tie}"))
            elif join.kind in ("semi", "anti"):
                word = "EXISTS" if join.kind == "semi" else "NOT EXISTS"
                wanted.append(fragment(f"{word} (SELECT 1 FROM ", self.reading(join.alias), f" WHERE {tie})"))
            else:
                word = "LEFT" if join.kind == "left" else "INNER"
                source = fragment(source, f" {word} JOIN ", self._of_sample(join.alias), f" ON {tie}")
        source = fragment(source, *looked)
        return fragment(source, " WHERE ", joined(" AND ", [*early, *wanted])) if wanted else source

    def _filters(self) -> Sequence[ast.Expression]:
        """What is tested before tables are looked into, to spare most of the looks; members are told by all rows."""
        filter_, looks = self.relation.filter, any(join.kind in ("semi", "anti") for join in self.relation.joins)
        if filter_ is None or not looks or self.relation.members or self.dialect.looking_joins:
            return ()
        return filter_.operands if isinstance(filter_, ast.Logic) and filter_.operator == "AND" else (filter_,)

    def _ties(self, join: Join) -> list[str]:
        """What must be true of both sides of a join."""
        pairs = [f"{self.key(r)} = 1" if le == NOBODY else " = ".join(self.sides(le, r)) for le, r in join.on]
        return pairs if join.condition is None else [*pairs, self.inlined(join.condition)]

    def _chosen(self, places: list[Term], source: Piece) -> list[Part]:
        """Tables of the persons of each membership."""
        tests = {
            f"{self.prefix}members{i}": f"MIN({place.sql}) = {member.wanted}"
            for i, (place, member) in enumerate(zip(places, self.relation.members, strict=True))
        }
        each = fragment("SELECT person FROM ", source, " WHERE person IS NOT NULL GROUP BY person HAVING ")
        return [Part(name, fragment(each, test)) for name, test in tests.items()]

    def _sample(self) -> list[Part]:
        """A table of everybody, which is the same for every question, and one of the persons of the sample.

        A person's text is hashed once, not for each row, and is the same in every round; of equal persons that are
        written differently it is the least. Only the table that names the persons is read.
        """
        sample, person = self.relation.sample, self.relation.person
        if sample is None:
            return []
        named = self.tables[person.table].reading(self.dialect.name(person.table), frozenset({person.name}))
        text = f"CAST(person AS {self.dialect.text_type})"
        alike = self.column_sql(person).key_type.domain not in ("number", "float", "text", "timestamp")
        least = f"MIN({text})" if alike else text
        everybody = fragment(
            f"SELECT person, {self.dialect.measured(least)} AS name FROM (SELECT {self.key(person)} AS person FROM ",
            named,
            ") AS named WHERE person IS NOT NULL GROUP BY person",
        )
        chance = self.dialect.chance("name", sample.key, sample.steps)
        chosen = fragment("SELECT person FROM ", _EVERYBODY, f" WHERE {chance}")
        return [Part("everybody", everybody, kept=True, again=True, lasting=True), Part("sampled", chosen, kept=True)]

    def _of_sample(self, alias: str) -> Fragment:
        """A table; the one that names the persons with the rows of the sample alone, before anything is joined."""
        read = fragment(self.reading(alias))
        if self.relation.sample is None or alias != self.relation.person.table:
            return read
        name, key = self.dialect.name(alias), self.key(self.relation.person)
        asked = f" WHERE {key} IN (SELECT person FROM "
        return fragment(f"(SELECT {name}.* FROM ", read, asked, _SAMPLED, f")) AS {name}")


_EVERYBODY, _SAMPLED = Reading("everybody"), Reading("sampled")
