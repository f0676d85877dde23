"""The fluent face: a private table whose methods filter, derive, and ask."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from tacit.answers import Answer, Answers
from tacit.answers.series import EVERY, Every, Series, day_of
from tacit.engines.requests import Relation
from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.language import build
from tacit.language.expressions import Expression, Scope
from tacit.language.parsing import parse, parsed_expression
from tacit.language.types import BOOLEAN, Kind, Schema
from tacit.numbers.exact import check_listed
from tacit.tables.face.grouping import GroupBy
from tacit.tables.face.selects import AnswersSelects, Select
from tacit.tables.releasing.parts import parts
from tacit.tables.releasing.room import cost_of
from tacit.tables.sql.views import ViewBuilder
from tacit.tables.statistics.asking import Amount
from tacit.tables.statistics.base import Operand, Per, Statistic
from tacit.tables.statistics.catalogue import Statistics
from tacit.tables.statistics.ways.groups import listed

if TYPE_CHECKING:
    from tacit.answers.description import Description
    from tacit.budgets import Budget
    from tacit.guarantees import Guarantee
    from tacit.tables.face.preview import ReportPreview
    from tacit.tables.face.session import Session


class Table(Statistics[Answer], AnswersSelects):
    """Rows about persons. Every statistic takes its cost as ``epsilon=``, ``rho=`` or ``epsilon=, delta=``.

    What can be asked stands in `tacit.tables.statistics`, a file for each statistic.

    >>> orders
    <Table orders: customer integer, ...; person = customer; <Budget ...>>
    >>> orders.filter("region = 'north'").sum("amount", epsilon=0.5)
    Answer(sum of amount: ..., Pure(0.5))
    """

    def __init__(self, session: Session, relation: Relation, scope: Scope, unit: Fraction | None) -> None:
        self._session, self._relation, self._scope, self._unit = session, relation, scope, unit

    # Row-wise steps

    def filter(self, condition: str) -> Table:
        """Only the rows where a SQL condition is true.

        Args:
            condition: a comparison of columns, or several with AND, OR and NOT.

        >>> large = orders.filter("amount > 100 AND region IN ('north', 'south')")
        >>> large.persons(epsilon=0.5)
        Answer(number of persons: ..., Pure(0.5))
        """
        wanted = parse(condition, self._scope)
        if wanted.type != BOOLEAN:
            raise InvalidInput(f"a filter must be true or false for each row, not {wanted.type}; write a comparison.")
        old = self._relation.filter
        both = wanted if old is None else build.logic("AND", (old, wanted))
        return Table(self._session, replace(self._relation, filter=both), self._scope, self._unit)

    def mutate(self, **columns: str) -> Table:
        """Further columns, each a SQL expression of the columns so far.

        Args:
            columns: the expressions by the names of the new columns.

        >>> orders.mutate(net="amount / 2").sum("net", epsilon=0.5)
        Answer(sum of net: ..., Pure(0.5))
        """
        derived = {name: parse(text, self._scope) for name, text in columns.items()}
        return Table(self._session, self._relation, self._scope.deriving(self._relation.alias, derived), self._unit)

    def select(self, *columns: str) -> Table:
        """Only these columns can be asked about from here on.

        Args:
            columns: their names.

        >>> orders.select("amount").sum("amount", epsilon=0.5)
        Answer(sum of amount: ..., Pure(0.5))
        """
        kept = {name: self._scope.find(name, quoted=True) for name in columns}
        return Table(self._session, self._relation, Scope({self._relation.alias: kept}), self._unit)

    def per_person(self, by: str | Sequence[str] = (), **aggregates: str) -> Table:
        """A table with one row for each person, computed inside each person's own rows at no cost.

        It can be filtered, derived from, grouped and asked as any table; the person is its first column.

        Args:
            by: a column or a SQL expression of columns, or a list of them: one row for each person and each
                combination of their values.
            aggregates: the aggregates by the names of the new columns, such as ``spent="SUM(amount)"``; arithmetic
                of them too.

        >>> customers = orders.per_person(spent="SUM(amount)", orders="COUNT(*)")
        >>> customers.mean("spent", epsilon=0.5)
        Answer(mean of spent: ..., Pure(0.5))
        >>> customers.filter("orders >= 5").count(epsilon=0.5)
        Answer(number of persons: ..., Pure(0.5))
        """
        from tacit.tables.sql.aggregates import has_aggregate
        from tacit.tables.sql.person_groups import per_person

        names = [by] if isinstance(by, str) else listed(by, "by")
        if not names and not aggregates:
            raise InvalidInput(
                'per_person needs an aggregate by the name of a new column, such as spent="SUM(amount)".'
            )
        if self._relation.others:
            raise UnsupportedQuery(
                "per_person needs rows that concern one person each, and these concern several; ask about the rows."
            )
        builder = ViewBuilder(self._session._tables)
        for name in names:
            if isinstance(name, str) and has_aggregate(parsed_expression(name)):
                raise InvalidInput(
                    f'by= takes columns, and an aggregate goes under the name of a new column: per_person(x="{name}").'
                )
        groups = {name: self._expression(name) for name in names}
        relation, scope = per_person(builder, self._relation, self._scope, groups, aggregates)
        return Table(self._session, relation, scope, self._unit)

    def partition(self, by: str, keys: Iterable[Any]) -> dict[Any, Table]:
        """The table in parts that hold different persons, one for each public key.

        Together the parts cost as much as the most expensive one. A person with rows of several keys belongs, with all
        rows, to the first of these keys in the list. What is asked under different versions of the data adds up, and so
        do parts of data that may change unseen: frames of pandas and Polars, open connections, databases, Spark. Files
        and Arrow tables are fine.

        Args:
            by: a column, or a SQL expression of columns.
            keys: the keys of the parts, in the order in which a person with several is given to them.

        >>> parts = orders.partition("region", ["north", "south"])
        >>> sums = [part.sum("amount", epsilon=1) for part in parts.values()]
        >>> orders.budget.spent
        Pure(1)
        """
        return {key: Table(*part, self._scope, self._unit) for key, part in parts(self, by, keys).items()}

    def group_by(
        self,
        by: str | Sequence[str],
        keys: Iterable[Any] | None = None,
        *,
        at_least: int | None = None,
        other: bool = False,
        margins: bool = False,
        nonnegative: bool = False,
    ) -> GroupBy:
        """Ask for each group: the given public keys, or keys found in the data for some δ.

        Args:
            by: a column or a SQL expression of columns, or a list of them.
            keys: the public keys, tuples where there are several columns; without them δ is needed.
            at_least: groups of fewer persons are never shown, for rules that ask for it; where keys are found.
            other: whether all groups that are not shown are answered for together, as "other"; where keys are found.
            margins: whether counts and sums are also answered for each coarser grouping and in all, with None for a
                column that is left out, so that everything adds up; where keys are given.
            nonnegative: whether counts that noise took below 0 are shown as 0; with margins, so that all still adds up.

        >>> orders.group_by("region", keys=["north", "south"]).sum("amount", epsilon=0.5)
        Answers({'north': ..., 'south': ...}, Pure(0.5))
        """
        names = (by,) if isinstance(by, str) else tuple(listed(by, "by"))
        if not names:
            raise InvalidInput("group_by needs at least one column.")
        expressions = tuple(self._expression(name) for name in names)
        return GroupBy(self, expressions, names, keys, at_least, other, margins, nonnegative)

    def series(
        self, day: str, *, every: Every = "month", of: str = "count", column: str | None = None,
        start: date | str | None = None, until: date | str | None = None, renew: bool | Literal["now"] = False,
        epsilon: Amount = None, delta: Amount = None, rho: Amount = None, fresh: bool = False,
    ) -> Series:  # fmt: skip
        """A total for each period, with cumulative totals and ranges that agree; asked again later, it goes on.

        What is paid opens a chapter: a person counts for at most a cap, found privately, over all of its periods, those
        to come included. The next periods cost nothing until the data outgrow the cap. This holds for persons whose
        rows in periods that were released stay as they are (see docs/how-to/series.md).

        Args:
            day: a column of dates or times, or a SQL expression of columns.
            every: how long a period is: "day", "week", "month", "quarter" or "year".
            of: what is told of each: "count" of rows, "sum" of a column, or "persons" with rows.
            column: what is added up, or what rows and persons must have to count.
            start: a day of the first period; without one a part of the cost finds it.
            until: the last day that is asked about, yesterday unless given; only periods that ended are told.
            renew: whether to pay for a new chapter, with a new cap, if the data have outgrown the last one;
                "now" does so whether they have or not, which is best after the history of persons who stay.
            epsilon, delta, rho: what a chapter may cost: ε, or ε with δ, or ρ; needed when one is opened.
            fresh: begin the whole series anew, and pay for it.

        >>> orders.series("day", every="month", of="count", start="2025-01-01", until="2025-06-30", epsilon=1)
        <Series of number of rows by month, 2025-01-01 to 2025-06-30: Pure(1)>
        >>> orders.series("day", every="month", of="count", until="2025-08-31").between("2025-07-01", "2025-08-31")
        Answer(number of rows from 2025-07-01 to 2025-08-31: ..., Pure(1))
        >>> orders.budget.spent
        Pure(1)
        """
        from tacit.tables.releasing.series import Asked
        from tacit.tables.statistics.series import SeriesTotals

        check_listed(every, "every", EVERY, "name one of them")
        asked = self._operand(day)
        statistic = SeriesTotals.of(asked, every, of, None if column is None else self._operand(column))
        named = (epsilon, delta, rho) != (None, None, None)
        return Asked(
            self._session._releaser,
            self._relation,
            statistic,
            asked,
            every,
            None if start is None else day_of(start, "start"),
            None if until is None else day_of(until, "until"),
            cost_of(epsilon, delta, rho) if named else None,
            "now" if renew == "now" else bool(renew),
        ).answer(bool(fresh))

    @overload
    def describe(
        self, columns: Sequence[str] | None = None, *, per: Per = "person", epsilon: Amount = None,
        delta: Amount = None, rho: Amount = None, fresh: bool = False, preview: Literal[False] = False,
    ) -> Description: ...  # fmt: skip

    @overload
    def describe(
        self, columns: Sequence[str] | None = None, *, per: Per = "person", epsilon: Amount = None,
        delta: Amount = None, rho: Amount = None, fresh: bool = False, preview: Literal[True],
    ) -> ReportPreview: ...  # fmt: skip

    def describe(
        self, columns: Sequence[str] | None = None, *, per: Per = "person",
        epsilon: Amount = None, delta: Amount = None, rho: Amount = None, fresh: bool = False, preview: bool = False,
    ) -> Description | ReportPreview:  # fmt: skip
        """Describe the table for one cost: persons, rows, and of each column what suits its type; all or none.

        Args:
            columns: which columns; all but those that name persons or rows unless given. The fewer, the better each.
            per: "person" to count each person once, however many rows they have, or "row".
            epsilon, delta, rho: what all of it may cost: ε, or ε with δ, or ρ. With δ texts show their frequent values.
            fresh: ask and pay again even if the same was answered before.
            preview: only say what would be asked and what each question costs.

        >>> orders.describe(["amount", "returned"], epsilon=1)
        <Description of orders: amount, returned; Pure(1)>
        """
        from tacit.tables.face.describing import Described

        described = Described.of(self, cost_of(epsilon, delta, rho), per, columns)
        return described.preview(bool(fresh)) if preview else described.ask(bool(fresh))

    def _answer(self, select: Select) -> Answer | Answers:
        return self._session._answer(select)

    def ask(
        self,
        statistic: Statistic,
        *,
        epsilon: Amount = None,
        delta: Amount = None,
        rho: Amount = None,
        fresh: bool = False,
    ) -> Answer | Answers:
        """Ask a statistic of your own, charged as all others are.

        Args:
            statistic: a frozen dataclass below `tacit.tables.statistics.base.Statistic`, which says what it needs.
            epsilon, delta, rho: what the answer may cost: ε, or ε with δ, or ρ.
            fresh: ask and pay again even if the same was answered before.

        >>> from tacit.tables.statistics.persons import PersonCount
        >>> orders.ask(PersonCount(), epsilon=1)
        Answer(number of persons: ..., Pure(1))
        """
        if not isinstance(statistic, Statistic):
            raise InvalidInput("ask needs a statistic; for a function of your own see tacit.functions.")
        return self._release(statistic, cost_of(epsilon, delta, rho), bool(fresh))

    # Facts

    @property
    def budget(self) -> Budget:
        """The session's budget."""
        return self._session.budget

    @property
    def session(self) -> Session:
        """The session this table belongs to."""
        return self._session

    @property
    def schema(self) -> Schema:
        """The public names and types of the table as it was read."""
        if isinstance(self._relation.table, str):
            return self._session.schema(self._relation.table)
        columns = [pair for columns in self._scope.tables.values() for pair in columns.items()]
        return Schema(tuple((name, column.type) for name, column in columns))

    def __repr__(self) -> str:
        source = self._relation
        while not isinstance(source.table, str):
            (source, *_) = source.table.sources
        persons = ", ".join(column.name for _, column in source.persons)
        called = source.table if source is self._relation else f"{source.table} per person"
        return f"<Table {called}: {self.schema}; person = {persons}; {self.budget!r}>"

    # Inside

    def _columns(self, names: Sequence[str] | None = None) -> tuple[tuple[str, Expression], ...]:
        """Some columns by name, or all that can be read but those that say who a row is about."""
        if names is not None:
            return tuple((name, self._expression(name)) for name in listed(names, "columns"))
        persons = {column for _, column in self._relation.persons}
        known = [pair for columns in self._scope.tables.values() for pair in columns.items()]
        return tuple((n, e) for n, e in known if e not in persons and e.type.kind is not Kind.OTHER)

    def _release(self, statistic: Statistic, cost: Guarantee, fresh: bool = True) -> Answer | Answers:
        """Ask a statistic and, if ``fresh``, pay for it whether or not it was asked before."""
        suited = statistic.of_single_rows if self._relation.one_row_each else statistic
        return self._session._releaser.ask(self._relation, suited, cost, fresh=fresh)

    def _expression(self, column: str) -> Expression:
        """A column by its exact name, otherwise a SQL expression."""
        if not isinstance(column, str):
            raise InvalidInput("name a column, or write a SQL expression of columns.")
        for columns in self._scope.tables.values():
            if column in columns:
                return columns[column]
        if column.isidentifier():
            return self._scope.find(column)
        return parse(column, self._scope)

    def _operand(self, column: str) -> Operand:
        return Operand(self._expression(column), column, self._unit)

    def _one(self, statistic: Statistic, epsilon: Amount, delta: Amount, rho: Amount, fresh: bool) -> Answer:
        return cast(Answer, self._release(statistic, cost_of(epsilon, delta, rho), bool(fresh)))

    def _many(self, statistic: Statistic, epsilon: Amount, delta: Amount, rho: Amount, fresh: bool) -> Answers:
        return cast(Answers, self._release(statistic, cost_of(epsilon, delta, rho), bool(fresh)))
