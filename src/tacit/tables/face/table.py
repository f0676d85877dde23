"""The fluent face: a private table whose methods filter, derive, and ask."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Unpack, cast

from tacit.answers import Answer, Answers
from tacit.engines.requests import Ordered, Relation, RowCount, Value, value
from tacit.errors import InvalidInput
from tacit.language import build
from tacit.language.expressions import Expression, Scope
from tacit.language.parsing import parse
from tacit.language.types import BOOLEAN, FLOAT, Kind
from tacit.numbers.exact import Number, exact
from tacit.tables.face.grouping import GroupBy, bins, candidates, listed
from tacit.tables.releasing.costs import Cost, taken
from tacit.tables.releasing.parts import parts
from tacit.tables.statistics import local_quantiles
from tacit.tables.statistics.base import Per, Statistic
from tacit.tables.statistics.candidates import Frequent
from tacit.tables.statistics.distinct import DistinctValues
from tacit.tables.statistics.extremes import Extremum
from tacit.tables.statistics.groups import GroupedTotals, Groups, counted
from tacit.tables.statistics.leading import StableMode
from tacit.tables.statistics.local_quantiles import LocalQuantile
from tacit.tables.statistics.means import Mean
from tacit.tables.statistics.moments import Moment, Wanted
from tacit.tables.statistics.peaks import MaximumDegree, ModalCount
from tacit.tables.statistics.quantiles import METHODS, Quantiles
from tacit.tables.statistics.ratio import Ratio
from tacit.tables.statistics.totals import PersonCount, Total

if TYPE_CHECKING:
    from tacit.budgets import Budget
    from tacit.guarantees import Guarantee
    from tacit.language.types import Schema
    from tacit.tables.face.session import Session


class Table:
    """Rows about persons. Every statistic takes its cost as ``epsilon=``, ``rho=`` or ``epsilon=, delta=``."""

    def __init__(self, session: Session, relation: Relation, scope: Scope, unit: Fraction | None) -> None:
        self._session, self._relation, self._scope, self._unit = session, relation, scope, unit

    # Row-wise steps

    def filter(self, condition: str) -> Table:
        """Only the rows where a SQL condition is true."""
        found = parse(condition, self._scope)
        if found.type != BOOLEAN:
            raise InvalidInput(f"a filter must be true or false for each row, not {found.type}; write a comparison.")
        old = self._relation.filter
        both = found if old is None else build.logic("AND", (old, found))
        return Table(self._session, replace(self._relation, filter=both), self._scope, self._unit)

    def mutate(self, **columns: str) -> Table:
        """Further columns, each a SQL expression of the columns so far."""
        derived = {name: parse(text, self._scope) for name, text in columns.items()}
        return Table(self._session, self._relation, self._scope.deriving(self._relation.alias, derived), self._unit)

    def select(self, *columns: str) -> Table:
        """Only these columns can be asked about from here on."""
        kept = {name: self._scope.find(name, quoted=True) for name in columns}
        return Table(self._session, self._relation, Scope({self._relation.alias: kept}), self._unit)

    def partition(self, by: str, keys: Iterable[Any]) -> dict[Any, Table]:
        """The table in parts that hold different persons, one for each public key; together they cost the dearest.

        A person with rows of several keys belongs, with all rows, to the first of these keys in the list. What is asked
        under different versions of the data adds up, and so do parts of data that may change unseen: frames of pandas
        and Polars, open connections, databases, Spark. Files and Arrow tables are fine.
        """
        return {key: Table(*part, self._scope, self._unit) for key, part in parts(self, by, keys).items()}

    # Statistics

    def persons(
        self,
        **cost: Unpack[Cost],
    ) -> Answer:
        """How many persons have at least one row."""
        return self._one(PersonCount(), cost)

    def count(
        self,
        column: str | None = None,
        *,
        per: Per = "row",
        method: str | None = None,
        **cost: Unpack[Cost],
    ) -> Answer:
        """How many rows there are, or rows where a column has a value; per person, how many persons have one.

        Where rows concern several persons ``method`` says how: a cap chosen by "exponential" weights (default for
        counts) or by "scan" (default for sums), or "shifted_inverse", without a cap.
        """
        return self._one(self.count_plan(column, per, method), cost)

    def sum(
        self,
        column: str,
        *,
        per: Per = "row",
        method: str | None = None,
        **cost: Unpack[Cost],
    ) -> Answer:
        """The sum of a column; per person, the sum of the persons' means. ``method`` as for `count`."""
        statistic = Total(self._value(column), column, _per(per), method)
        return self._one(statistic, cost)

    def mean(
        self,
        column: str,
        *,
        per: Per = "row",
        range: tuple[Number, Number] | None = None,
        **cost: Unpack[Cost],
    ) -> Answer:
        """The mean over rows, or over persons of their means; ``range`` is an optional public hint."""
        if range is not None:
            return self._one(self._moment(column, "mean", per, range), cost)
        return self._one(Mean(self._value(column), column, _per(per)), cost)

    def variance(
        self,
        column: str,
        *,
        per: Per = "row",
        range: tuple[Number, Number] | None = None,
        **cost: Unpack[Cost],
    ) -> Answer:
        """The variance over rows, or over persons of their means."""
        return self._one(self._moment(column, "variance", per, range), cost)

    def std(
        self,
        column: str,
        *,
        per: Per = "row",
        range: tuple[Number, Number] | None = None,
        **cost: Unpack[Cost],
    ) -> Answer:
        """The standard deviation over rows, or over persons of their means."""
        return self._one(self._moment(column, "standard deviation", per, range), cost)

    def min(
        self,
        column: str,
        *,
        per: Per = "row",
        method: str = "scan",
        **cost: Unpack[Cost],
    ) -> Answer:
        """The smallest value, overestimated by construction."""
        return self._one(self._extremum(column, False, per, method), cost)

    def max(
        self,
        column: str,
        *,
        per: Per = "row",
        method: str = "scan",
        **cost: Unpack[Cost],
    ) -> Answer:
        """The largest value, underestimated by construction."""
        return self._one(self._extremum(column, True, per, method), cost)

    def largest(
        self,
        column: str,
        k: int,
        *,
        per: Per = "row",
        method: str = "scan",
        **cost: Unpack[Cost],
    ) -> Answer:
        """The k-th largest value of all rows, or of the persons' largest ones; underestimated by construction."""
        return self._one(self._extremum(column, True, per, method, k), cost)

    def smallest(
        self,
        column: str,
        k: int,
        *,
        per: Per = "row",
        method: str = "scan",
        **cost: Unpack[Cost],
    ) -> Answer:
        """The k-th smallest value of all rows, or of the persons' smallest ones; overestimated by construction."""
        return self._one(self._extremum(column, False, per, method, k), cost)

    def quantile(
        self,
        column: str,
        q: Number | Sequence[Number],
        *,
        per: Per = "row",
        method: str = "exponential",
        range: tuple[Number, Number] | None = None,
        **cost: Unpack[Cost],
    ) -> Answer | Answers:
        """One quantile, or several at once in ascending order of their values.

        ``method`` is "exponential" (default) or "permute_and_flip", or for one quantile of numbers "smooth" or, with
        δ, "propose_test_release"; the latter two can use a public ``range``.
        """
        several = isinstance(q, Iterable) and not isinstance(q, str)
        wanted = tuple(_quantile(x) for x in (cast(Sequence[Number], q) if several else (cast(Number, q),)))
        if method in local_quantiles.METHODS:
            return self._ask(self._local_quantile(column, wanted, per, method, range), cost)
        if method not in METHODS or range is not None:
            known = ", ".join((*METHODS, *local_quantiles.METHODS))
            raise InvalidInput(f"method must be one of {known}; only the last two take a range.")
        statistic = Quantiles(Ordered(self._expression(column)), column, wanted, _per(per), not several, method)
        return self._ask(statistic, cost)

    def median(
        self,
        column: str,
        *,
        per: Per = "row",
        method: str = "exponential",
        range: tuple[Number, Number] | None = None,
        **cost: Unpack[Cost],
    ) -> Answer:
        """The middle value; ``method`` and ``range`` as for `quantile`."""
        return cast(Answer, self.quantile(column, "0.5", per=per, method=method, range=range, **cost))

    def ratio(self, column: str, *, method: str | None = None, **cost: Unpack[Cost]) -> Answer:
        """The share of persons with at least one true value of a column or condition.

        ``method`` is "two_counts" (default), "naive", or with δ "local" or "automatic".
        """
        return self._one(Ratio(self._expression(column), column, method=method), cost)

    def nunique(self, column: str, *, method: str | None = None, **cost: Unpack[Cost]) -> Answer:
        """How many different values a column has; ``method`` as for `count`."""
        return self._one(DistinctValues(self._expression(column), column, method), cost)

    def modal_count(
        self,
        column: str,
        *,
        per: Per = "row",
        method: str | None = None,
        **cost: Unpack[Cost],
    ) -> Answer:
        """How many rows, or persons, have the most frequent value of a column; ``method`` as for `count`."""
        return self._one(ModalCount(self._expression(column), column, _per(per), method), cost)

    def max_degree(self, *, method: str | None = None, **cost: Unpack[Cost]) -> Answer:
        """The largest number of rows that concern one person: of a table of edges, the maximum degree.

        ``method`` as for `count`.
        """
        return self._one(MaximumDegree(method), cost)

    def histogram(
        self,
        column: str,
        edges: Sequence[Number],
        *,
        per: Per = "row",
        **cost: Unpack[Cost],
    ) -> Answers:
        """Counts in the bins [e0, e1), [e1, e2), …, the last one closed."""
        groups = bins(self._expression(column), column, edges)
        return self._many(GroupedTotals(counted(_per(per)), "count", groups, _per(per), histogram=True), cost)

    def mode(
        self,
        column: str,
        candidates: Sequence[Any] | None = None,
        *,
        per: Per = "row",
        **cost: Unpack[Cost],
    ) -> Answer:
        """The most frequent of some given values; without candidates that of all persons, for δ, if clearly ahead."""
        if candidates is None:
            return self._one(StableMode(self._expression(column), column, _per(per)), cost)
        groups = self._candidates(column, candidates)
        return self._one(Frequent(groups, per=_per(per)), cost)

    def top(
        self,
        column: str,
        candidates: Sequence[Any],
        k: int,
        *,
        per: Per = "row",
        **cost: Unpack[Cost],
    ) -> Answers:
        """The k most frequent of some given values, the best first."""
        groups = self._candidates(column, candidates)
        return self._many(Frequent(groups, k, single=False, per=_per(per)), cost)

    def group_by(self, by: str | Sequence[str], keys: Iterable[Any] | None = None) -> GroupBy:
        """Count, sum or mean for each group: the given public ``keys``, or keys found in the data for some δ."""
        names = (by,) if isinstance(by, str) else tuple(listed(by, "by"))
        return GroupBy(self, tuple(self._expression(name) for name in names), names, keys)

    def sql(self, query: str, *, keys: Any = None, **cost: Unpack[Cost]) -> Answer | Answers:
        """Answer a SELECT over the session's tables."""
        return self._session.sql(query, keys=keys, **cost)

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
        return self._session.schema(self._relation.table)

    def __repr__(self) -> str:
        persons = ", ".join(column.name for _, column in self._relation.persons)
        return f"<Table {self._relation.table}: {self.schema}; person = {persons}; {self.budget!r}>"

    # Inside

    def columns(self, names: Sequence[str] | None = None) -> tuple[tuple[str, Expression], ...]:
        """Some columns by name, or all that can be read but those that say who a row is about."""
        if names is not None:
            return tuple((name, self._expression(name)) for name in listed(names, "columns"))
        persons = {column for _, column in self._relation.persons}
        known = [pair for columns in self._scope.tables.values() for pair in columns.items()]
        return tuple((n, e) for n, e in known if e not in persons and e.type.kind is not Kind.OTHER)

    def release(self, statistic: Statistic, price: Guarantee) -> Answer | Answers:
        """Ask a statistic that is made elsewhere, and pay for it whether or not it was asked before."""
        return self._session.ask(self._relation, statistic, price, fresh=True)

    def count_plan(self, column: str | None, per: Per, method: str | None = None) -> Statistic:
        """The plan of a count."""
        expression = None if column is None else self._expression(column)
        if _per(per) == "person":
            if method is not None:
                raise InvalidInput("method is for counts of rows; leave it out for persons.")
            return PersonCount(expression, column)
        return Total(RowCount(expression), column, method=method)

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

    def _value(self, column: str) -> Value:
        expression = self._expression(column)
        return value(expression, self._unit if expression.type == FLOAT else None)

    def _extremum(self, column: str, largest: bool, per: Per, method: str, rank: int = 1) -> Extremum:
        return Extremum(Ordered(self._expression(column)), column, largest, _per(per), method, rank)

    def _local_quantile(
        self,
        column: str,
        wanted: tuple[Fraction, ...],
        per: Per,
        method: str,
        range: tuple[Number, Number] | None,
    ) -> LocalQuantile:
        if len(wanted) != 1:
            raise InvalidInput(f"method {method!r} answers one quantile at a time; ask for each, or leave method out.")
        expression = self._expression(column)
        step = self._value(column).unit if expression.type.number else Fraction(1)
        ends = None if range is None else _range(range)
        return LocalQuantile(Ordered(expression), column, wanted[0], method, step, ends, _per(per))

    def _moment(self, column: str, wanted: Wanted, per: Per, range: tuple[Number, Number] | None) -> Moment:
        found = self._value(column)
        ends = None
        if range is not None:
            low, high = _range(range)
            ends = (int(low // found.unit), -int(-high // found.unit))
        return Moment(found, column, wanted, _per(per), ends)

    def _candidates(self, column: str, values: Sequence[Any]) -> Groups:
        return candidates(self._expression(column), column, values)

    def _ask(self, statistic: Statistic, cost: Cost) -> Answer | Answers:
        price, fresh = taken(cost)
        return self._session.ask(self._relation, statistic, price, fresh=fresh)

    def _one(self, statistic: Statistic, cost: Cost) -> Answer:
        return cast(Answer, self._ask(statistic, cost))

    def _many(self, statistic: Statistic, cost: Cost) -> Answers:
        return cast(Answers, self._ask(statistic, cost))


def _per(per: str) -> Per:
    if per not in ("row", "person"):
        raise InvalidInput("per must be 'row' or 'person'.")
    return cast(Per, per)


def _range(ends: Any) -> tuple[Fraction, Fraction]:
    numbers = [exact(end, "range") for end in ends] if isinstance(ends, tuple | list) else []
    if len(numbers) != 2 or not numbers[0] < numbers[1]:
        raise InvalidInput("range must be a pair (low, high) with low below high.")
    return numbers[0], numbers[1]


def _quantile(q: Number) -> Fraction:
    number = exact(q, "q")
    if not 0 <= number <= 1:
        raise InvalidInput("q must lie between 0 and 1.")
    return number
