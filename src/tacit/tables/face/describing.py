"""Descriptions of a table: which questions suit each column, planned and paid for together.

WHAT IS ASKED follows from public facts alone: the names and types of the columns, who the persons are, declared keys,
and the cost. Persons and rows come first. A number is asked for its mean, its quartiles and its ends; a date or time
for its quartiles and ends; true or false for the persons, or rows, of each; a text for how many different values it has
and, where δ is given, for its most frequent ones. Columns that name persons or rows, and those that cannot be read, are
not asked about. What a table refuses, because its rows concern several persons or a sample of them is asked, is left
out.

TWO ROUNDS. The ends of each number's range are released first. Means are then asked over that range, made three times
as wide, which is public by then: a mean over a range has several times less noise than one without. What each round
costs is fixed before the first, and both must fit; the same description is found again, for equal ends ask for equal
means.

WEIGHTS. Quartiles need the most: they are three numbers, and each must be told from every number there is. The number
of rows comes next, for one person may have many. What is left out costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from tacit.answers import Answer, Answers
from tacit.answers.description import Column, Description
from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.language import build
from tacit.language.expressions import Column as Named
from tacit.language.expressions import Expression
from tacit.language.types import Kind
from tacit.numbers.exact import exact
from tacit.tables.face.declarations import Private
from tacit.tables.sql.plan import Plan, Wanted
from tacit.tables.sql.report import preview_plan
from tacit.tables.statistics.base import Operand, Statistic, per_of
from tacit.tables.statistics.count import Count
from tacit.tables.statistics.distinct import DistinctValues
from tacit.tables.statistics.extremes import Extremum
from tacit.tables.statistics.mean import Mean
from tacit.tables.statistics.persons import PersonCount
from tacit.tables.statistics.quantiles import Quantiles
from tacit.tables.statistics.ways.groups import Groups, for_each, given

if TYPE_CHECKING:
    from tacit.guarantees import Guarantee
    from tacit.tables.face.preview import ReportPreview
    from tacit.tables.face.table import Table

QUARTILES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
WEIGHTS = {
    "rows": 4,
    "persons": 2,
    "quartiles": 5,
    "mean": 2,
    "lowest": 2,
    "highest": 2,
    "distinct": 2,
    "counts": 2,
    "top": 3,
}
"""How much a question weighs beside others; 1 unless named here."""
NEEDS_DELTA = "their most frequent values have to be found in the data, which takes a δ"


@dataclass(frozen=True)
class Asked:
    """One answer of a description."""

    column: str
    """Empty for the whole table."""
    what: str
    statistic: Statistic
    mean_of: Operand | None = None
    """What is averaged over a range that is known once its ends are released."""


@dataclass(frozen=True)
class Described:
    """The questions about a table, all for one cost."""

    table: Table
    per: str
    cost: Guarantee
    asked: tuple[Asked, ...]
    types: tuple[tuple[str, str], ...]
    """The columns that are described, and their types."""
    left_out: tuple[str, ...]

    @classmethod
    def of(cls, table: Table, cost: Guarantee, per: str, columns: Sequence[str] | None) -> Described:
        """From public facts."""
        per_of(per)
        identifiers = _identifiers(table)
        shown = [(n, e) for n, e in table._columns(columns) if columns is not None or n not in identifiers]
        if unread := [n for n, e in shown if e.type.kind is Kind.OTHER]:
            raise UnsupportedQuery(f"{', '.join(unread)} can name persons and nothing more; leave it out.")
        asked = [Asked("", "persons", PersonCount()), Asked("", "rows", Count.of())]
        for name, expression in shown:
            asked += _suiting(Operand(expression, name, table._unit), per, cost)
        kept, refused = list[Asked](), dict[str, list[str]]()
        for each in asked:
            suited = each.statistic.of_single_rows if table._relation.one_row_each else each.statistic
            try:
                table._session._releaser.check(table._relation, suited, cost)
                kept.append(replace(each, statistic=suited))
            except (InvalidInput, UnsupportedQuery):
                refused.setdefault(each.column, []).append(each.what)
        if not kept:
            raise UnsupportedQuery("nothing about this table can be described at this cost; ask single questions.")
        unnamed = _unnamed(table, identifiers) if columns is None else []
        sentences = (*unnamed, *_left_out(shown, cost, refused))
        return cls(table, per, cost, tuple(kept), tuple((n, str(e.type)) for n, e in shown), sentences)

    @cached_property
    def _weights(self) -> dict[Statistic, Fraction]:
        """How much each statistic weighs; where persons have one row, rows are persons and asked once."""
        found: dict[Statistic, Fraction] = {}
        for each in self.asked:
            found[each.statistic] = max(found.get(each.statistic, Fraction(0)), Fraction(WEIGHTS.get(each.what, 1)))
        return found

    def _round(self, statistics: Mapping[Statistic, Statistic]) -> Plan | None:
        """The plan of some statistics, each by the one that is asked in its place."""
        if not statistics:
            return None
        weights = {each: self._weights[each] for each in statistics}
        part = sum(weights.values(), Fraction(0)) / sum(self._weights.values(), Fraction(0))
        wanted = [Wanted(self.table._relation, statistics[each], "", weight) for each, weight in weights.items()]
        return Plan.of(self.table._session._releaser, wanted, self.cost if part == 1 else self.cost * part)

    @property
    def _means(self) -> dict[Statistic, Asked]:
        return {each.statistic: each for each in self.asked if each.mean_of is not None}

    @property
    def _first(self) -> list[Statistic]:
        return [each for each in self._weights if each not in self._means]

    def _over_ranges(self, ends: Mapping[Statistic, Answer | Answers]) -> dict[Statistic, Statistic]:
        """The means over the ranges that were released; without a range as they are."""
        found: dict[Statistic, Statistic] = {}
        for statistic, mean in self._means.items():
            named = {each.what: ends.get(each.statistic) for each in self.asked if each.column == mean.column}
            assert mean.mean_of is not None
            found[statistic] = _over(mean.mean_of, statistic, self.per, named.get("lowest"), named.get("highest"))
        return found

    def _plans(self, fresh: bool) -> tuple[Plan, Plan | None, Plan]:
        """The first round, the second as far as it is known, and both as one."""
        known = self._first
        first = self._round({each: each for each in known})
        assert first is not None  # persons are always asked, or rows
        free = not first.unpaid(fresh)
        second = self._second(first, fresh) if free else self._round({each: each for each in self._means})
        if second is None:
            return first, None, first
        moved = tuple((release + len(first.releases), part) for release, part in second.places)
        both = replace(
            first, cost=self.cost, releases=(*first.releases, *second.releases), places=(*first.places, *moved)
        )
        return first, second, both

    def _second(self, first: Plan, fresh: bool) -> Plan | None:
        answers = dict(zip(self._first, first.ask(fresh), strict=True))
        return self._round(self._over_ranges(answers))

    def preview(self, fresh: bool) -> ReportPreview:
        """What each release would cost."""
        *_, both = self._plans(fresh)
        numbers = {each: n for n, each in enumerate([*self._first, *self._means])}
        uses: dict[str, list[int]] = {}
        for each in self.asked:
            uses.setdefault(each.column or "the table", []).append(numbers[each.statistic])
        return preview_plan(both, uses, fresh)

    def ask(self, fresh: bool) -> Description:
        """All answers, or a refusal before anything is spent."""
        first, _, both = self._plans(fresh)
        both.check()
        first.releaser.budget.check_each(*both.charges(both.unpaid(fresh)))
        answers = dict(zip(self._first, first.ask(fresh), strict=True))
        second = self._round(self._over_ranges(answers))
        if second is not None:
            answers |= zip(self._means, second.ask(fresh), strict=True)
        told: dict[str, dict[str, Answer | Answers]] = {name: {} for name in ("", *dict(self.types))}
        for each in self.asked:
            told[each.column][each.what] = answers[each.statistic]
        whole = cast(dict[str, Answer], told.pop(""))
        columns = tuple(Column(name, kind, told[name]) for name, kind in self.types)
        return Description(_title(self.table), self.per, whole, columns, self.cost, self.left_out)


def _over(column: Operand, plain: Statistic, per: str, low: Any, high: Any) -> Statistic:
    """The mean over three times the range between two ends that were released."""
    values: list[Any] = [each.value if isinstance(each, Answer) else None for each in (low, high)]
    ends = [exact(value, "range") for value in values if value is not None]
    if len(ends) < 2 or not ends[0] < ends[1]:
        return plain
    wide = ends[1] - ends[0]
    try:
        return Mean.of(column, per=per, range=(ends[0] - wide, ends[1] + wide))
    except InvalidInput:  # beyond 64 bits
        return plain


def _suiting(column: Operand, per: str, cost: Guarantee) -> list[Asked]:
    """What is asked of a column, by its type."""
    name, kind, expression = column.name, column.expression.type, column.expression
    if kind.kind is Kind.BOOLEAN:
        return [Asked(name, "counts", _counted(per).grouped(given((expression,), (name,), [True, False, None])))]
    empty = build.case([(build.is_null(expression), build.literal(1))], None)
    asked = [Asked(name, "missing", Count.of(Operand(empty, f"{name} missing"), per=per))]
    if kind.kind is Kind.TEXT:
        asked.append(Asked(name, "distinct", DistinctValues.of(column)))
        if cost.keywords().get("delta") is not None:
            asked.append(Asked(name, "top", for_each(_counted(per), Groups((expression,), (), (), name))))
        return asked
    if kind.number:
        asked.append(Asked(name, "mean", Mean.of(column, per=per), column))
    asked.append(Asked(name, "quartiles", Quantiles.of(column, QUARTILES, per=per)))
    ends = {"lowest": False, "highest": True}
    return [*asked, *(Asked(name, what, Extremum.of(column, largest, per=per)) for what, largest in ends.items())]


def _counted(per: str) -> Statistic:
    return PersonCount() if per == "person" else Count.of()


def _identifiers(table: Table) -> list[str]:
    """The columns that say who or which row a row is: persons, what leads to them, and keys of one column."""
    known: list[tuple[str, Expression]] = [pair for each in table._scope.tables.values() for pair in each.items()]
    persons = {column for _, column in table._relation.persons}
    named: set[str] = set()
    if isinstance(table._relation.table, str):
        declared = table._session._tables.declared[table._relation.table]
        assert isinstance(declared, Private)
        named = {link.column for link in declared.through} | {key[0] for key in declared.keys if len(key) == 1}
        named = {name.lower() for name in named}
    return [n for n, e in known if e in persons or (isinstance(e, Named) and e.name.lower() in named)]


def _unnamed(table: Table, identifiers: Sequence[str]) -> Iterator[str]:
    """Which columns are not described, where nobody named any."""
    if identifiers:
        yield f"Left out because they say who or which row it is: {', '.join(identifiers)}."
    known = [pair for each in table._scope.tables.values() for pair in each.items()]
    if unread := [n for n, e in known if e.type.kind is Kind.OTHER and n not in identifiers]:
        yield f"Left out because they cannot be read: {', '.join(unread)}."


def _left_out(
    shown: Sequence[tuple[str, Expression]], cost: Guarantee, refused: Mapping[str, list[str]]
) -> Iterator[str]:
    """What is not told of the columns that are described, and why."""
    texts = [n for n, e in shown if e.type.kind is Kind.TEXT]
    if texts and cost.keywords().get("delta") is None:
        yield f"Of texts ({', '.join(texts)}) {NEEDS_DELTA}: give delta=1e-6 beside epsilon=."
    for name, what in refused.items():
        yield f"Not answered for this table{f', of {name}' if name else ''}: {', '.join(what)}."


def _title(table: Table) -> str:
    source: Any = table._relation
    while not isinstance(source.table, str):
        (source, *_) = source.table.sources
    called = source.table if source is table._relation else f"{source.table} per person"
    return f"{called}, some of its rows" if table._relation.filter is not None else called
