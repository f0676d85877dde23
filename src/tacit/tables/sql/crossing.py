"""Subqueries that look across persons: answered first, for a share of the cost, and public from then on.

``balance > (SELECT AVG(balance) FROM customer)`` compares a person's row with a number about everybody. That number is
asked as a question of its own, with noise; what is released may stand in the outer question as a constant. Where the
subquery is compared by equalities, as in ``(SELECT AVG(quantity) … WHERE part = p.part)``, it is asked by group, and
the released groups are a public table that is joined. Such subqueries nest to any depth, the innermost are asked first.

SHARES. A query with k such subqueries is k + 1 questions, and each gets an equal share of the cost. The preview and the
answer say so. All of it must fit before the first is asked.

PROMISE. The answer costs what was named for the whole. PROOF. The questions are asked one after the other, each with a
guarantee of its share, each allowed to depend on what was released before: adaptive composition. A later question sees
an earlier one only through its released answer, which its text, and so its identity in a ledger, contains. Asking
again finds the stored inner answers, hence the same outer question, and is free.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, Protocol, cast

from tacit.answers import Answer, Answers
from tacit.answers.answer import warning
from tacit.answers.results import Result, Row
from tacit.answers.several import common_warning
from tacit.answers.values import show
from tacit.engines.requests.derived import Listed
from tacit.errors import UnsupportedQuery
from tacit.guarantees import Guarantee
from tacit.language import build
from tacit.language.expressions import Column, Expression, Literal, Scope
from tacit.language.types import DATE, FLOAT, TIMESTAMP, ColumnType
from tacit.tables.face.preview import Preview
from tacit.tables.sql.nodes import COMPUTED, computed_column
from tacit.tables.sql.public_keys import known_keys
from tacit.tables.sql.public_query import PublicQuery
from tacit.tables.sql.query import Query
from tacit.tables.sql.view import Side, View, unused
from tacit.tables.sql.views import ViewBuilder

if TYPE_CHECKING:
    from tacit.engines.requests import Relation
    from tacit.tables.releasing.releaser import Releaser

MOST_FIRST = 10
"""The most subqueries that are answered first."""


@dataclass(frozen=True)
class First:
    """A question that is asked before the one it stands in."""

    text: str
    builder: ViewBuilder = field(compare=False)
    select: Any = field(compare=False)
    view: View
    keys: tuple[Any, ...] | None


@dataclass
class Crossing:
    """The questions to be asked first, found while a query is read, and the answers there are so far."""

    answers: list[Answer | Answers] = field(default_factory=list)
    first: list[First] = field(default_factory=list)

    def value(
        self,
        builder: ViewBuilder,
        view: View,
        select: Any,
        text: str,
        rows: View,
        ties: Mapping[Expression, Expression],
    ) -> tuple[Expression, View]:
        """What stands for a subquery; ``ties`` are what it is compared by, inside and around it."""
        if select is None or select.args.get("group") or len(select.expressions) != 1:
            raise UnsupportedQuery(
                "a subquery across persons is one aggregate without GROUP BY, such as (SELECT AVG(x) FROM t); write it "
                "so, or compare it by the person."
            )
        asked = select.copy()
        kind = _type(select.expressions[0], lambda node: builder.convert(node, rows.scope))
        if not ties:
            found = self._answer(First(text, builder, asked, rows, None))
            return _literal(found.value if isinstance(found, Answer) else None, kind, found is None), view
        known = known_keys(builder, view, list(ties))
        keys = None if known is None else tuple(known)
        if keys == () and len(self.answers) == len(self.first):
            return Literal(kind, None), view  # no row of the public table is left to compare it with
        if keys == ():  # once the others are answered there may be some: it counts as a question
            keys = (None if len(ties) == 1 else (None,) * len(ties),)
        names = {f"key {i}": inside for i, inside in enumerate(ties.values())}
        asked.set("group", _group([computed_column(name) for name in names]))
        computed = {**rows.scope.tables.get(COMPUTED, {}), **names}
        grouped = replace(rows, scope=Scope({**rows.scope.tables, COMPUTED: computed}))
        listed = self._answer(First(text, builder, asked, grouped, keys))
        heads = tuple((f"k{i}", outside.type) for i, outside in enumerate(ties))
        table = Listed((*heads, ("value", kind)), _rows(cast(Answers, listed or {}), heads, kind))
        alias = unused("answered first", builder.taken | view.aliases)
        conditions = [build.comparison("=", e, Column(e.type, alias, f"k{i}")) for i, e in enumerate(ties)]
        side = Side("left", table, alias, tuple(conditions))
        return Column(kind, alias, "value"), replace(view, sides=(*view.sides, side))

    def _answer(self, first: First) -> Answer | Answers | None:
        """The answer to a question that is asked first, None where it is not asked yet."""
        if first not in self.first:
            self.first.append(first)
        if len(self.first) > MOST_FIRST:
            raise UnsupportedQuery(f"at most {MOST_FIRST} subqueries across persons are answered first; ask fewer.")
        number = self.first.index(first)
        return self.answers[number] if number < len(self.answers) else None


class Reader(Protocol):
    """Reads a query, and the questions in it that are asked first."""

    def read(self) -> Query | PublicQuery:
        """The query as it is written."""

    def first(self, first: First) -> Query:
        """A question in it."""


Reading = Callable[[Crossing, Guarantee], Reader]
"""Who reads a query at a cost, as far as answers are known."""


def in_turn(releaser: Releaser, cost: Guarantee, reader: Reading) -> Query | PublicQuery | QuestionsInTurn:
    """A query, or the questions that it takes."""
    crossing = Crossing()
    query = reader(crossing, cost).read()
    if not crossing.first:
        return query
    return QuestionsInTurn(releaser, cost, len(crossing.first) + (not isinstance(query, PublicQuery)), reader)


@dataclass(frozen=True)
class QuestionsInTurn:
    """A query whose subqueries across persons are answered first; it is asked as a `Query` is."""

    releaser: Releaser
    cost: Guarantee
    count: int
    """How many questions there are, the outer one included unless it is about public tables alone."""
    reader: Reading

    @property
    def share(self) -> Guarantee:
        """What each of the questions costs."""
        return self.cost / self.count

    @property
    def statistics(self) -> tuple[Any, ...]:
        """All that is asked."""
        return tuple(statistic for query in self._known(Crossing()) for statistic in query.statistics)

    @property
    def relation(self) -> Relation:
        """The rows that the outer question is about, as far as they are known before the others are answered."""
        return self._known(Crossing())[-1].relation

    def _known(self, crossing: Crossing) -> list[Query | PublicQuery]:
        """All questions in turn, as far as they can be known."""
        reader = self.reader(crossing, self.share)
        outer = reader.read()
        return [*map(reader.first, crossing.first), outer]

    def ask(self, fresh: bool) -> Answer | Answers:
        """Check that all fit, then ask one after the other."""
        known = self._turns(fresh)
        self._check(known, fresh)
        answers = list[Answer | Answers]()
        while True:
            crossing = Crossing(answers)
            reader = self.reader(crossing, self.share)
            outer = reader.read()
            if len(crossing.first) == len(answers):
                found = outer.ask(fresh)
                if isinstance(outer, PublicQuery) and isinstance(found, Answer):
                    found = replace(found, mechanism="public tables, and numbers that were answered first", notes=())
                return self._told(found, crossing, answers)
            if len(crossing.first) + (not isinstance(outer, PublicQuery)) > self.count:
                raise UnsupportedQuery(
                    "the numbers that were answered first make more questions of it than its cost was divided by; ask "
                    "the subqueries by themselves, and write their answers into the query."
                )
            answers.append(reader.first(crossing.first[len(answers)]).ask(fresh))

    def _turns(self, fresh: bool) -> list[Query | PublicQuery]:
        """The questions; those after stored answers as they will be, those after others as they would be."""
        answers = list[Answer | Answers]()
        while True:
            crossing = Crossing(answers)
            known = self._known(crossing)
            if len(answers) == len(crossing.first) or known[len(answers)].unpaid(fresh):
                return known
            answers.append(known[len(answers)].ask(fresh))  # it was answered before, so it is free

    def _check(self, known: list[Query | PublicQuery], fresh: bool) -> None:
        """Refuse what cannot be answered or paid for before the first is asked."""
        for query in known:
            query.check()
        asked = [query for query in known if isinstance(query, Query)]
        self.releaser.budget.check_each(
            *(charge for query in asked for charge in query.plan.charges(query.unpaid(fresh)))
        )

    def _total(self, known: list[Query | PublicQuery], fresh: bool) -> Guarantee | None:
        """What has to be paid, None where that is nothing."""
        asked = [(query, query.unpaid(fresh)) for query in known if isinstance(query, Query)]
        if all(len(unpaid) == len(query.plan.releases) for query, unpaid in asked):
            return self.cost
        costs = [query.plan.charge(unpaid) for query, unpaid in asked if unpaid]
        return reduce(add, costs) if costs else None

    def preview(self, fresh: bool) -> Preview:
        """The cost of all of it; refuses what would be refused."""
        known = self._turns(fresh)
        seen = [query.preview(fresh) for query in known]
        total, budget = self._total(known, fresh), self.releaser.budget
        fits, remaining = total is None or budget.fits(total), budget.remaining
        words = "; ".join(", ".join(each.statistics) for each in seen[:-1])
        outer = ", ".join(seen[-1].statistics)
        left = f" of the {remaining!r} left" if fits else f", but only {remaining!r} is left"
        each = f" ({self.share!r} for each of {self.count} questions)"
        paid = "answered before, so it is free" if total is None else f"costs {total!r}{each}{left}"
        return Preview(
            statistics=tuple(word for each in seen for word in each.statistics),
            cost=total if total is not None else seen[-1].cost,
            asked=self.cost,
            remaining=remaining,
            fits=fits,
            free=total is None,
            words=(f"{outer}, after {words} across persons, which is answered first: {paid}. Nothing was spent."),
            parts=tuple(part for each in seen for part in each.parts),
        )

    def _told(self, found: Answer | Answers, crossing: Crossing, answers: list[Answer | Answers]) -> Answer | Answers:
        """The answer with what was answered first, and what all of it cost."""
        notes = []
        for first, answer in zip(crossing.first, answers, strict=True):
            value = f"gave {show(answer.value)}" if isinstance(answer, Answer) else f"gave {len(answer)} groups"
            earlier = warning(answer) if isinstance(answer, Answer) else common_warning(answer)
            notes.append(
                f"({first.text}) was answered first, for {self.share!r}, and {value}.{f' {earlier}' if earlier else ''}"
            )
        if notes:
            notes.append("What is said of the truth takes that as it is; its own noise comes on top.")
        return _noted(found, tuple(notes), self.cost)


def _noted(found: Answer | Answers, notes: tuple[str, ...], cost: Guarantee) -> Answer | Answers:
    """An answer with further notes, and what it cost together with those before it."""
    if isinstance(found, Result):
        rows = [
            Row(row.key, tuple(_noted(c, notes, cost) if isinstance(c, Answer) else c for c in row.cells))
            for row in found.rows
        ]
        return Result(found.columns, found.released, rows, found.by, cost)
    if isinstance(found, Answer):
        return replace(found, notes=(*found.notes, *notes), guarantee=cost)
    return Answers({key: cast(Answer, _noted(each, notes, cost)) for key, each in found.items()}, cost, found.name)


def _literal(value: Any, kind: ColumnType, unknown: bool) -> Literal:
    """A released value as a constant; one that is not known yet is any of its type."""
    if unknown:
        return Literal(kind, 1.0) if kind == FLOAT else Literal(kind, None)
    return Literal(kind, None if value is None else float(value) if kind == FLOAT else value)


def _rows(found: Mapping[Any, Answer], heads: tuple[tuple[str, ColumnType], ...], kind: ColumnType) -> Any:
    rows = []
    for key, answer in found.items():
        parts = key if isinstance(key, tuple) and len(heads) > 1 else (key,)
        held = [build.widen(build.literal(p), k, "keys") for p, (_, k) in zip(parts, heads, strict=True)]
        value = _literal(answer.value, kind, unknown=False)
        rows.append((*(cast(Literal, each).value for each in held), value.value))
    return tuple(rows)


def _type(item: Any, convert: Callable[[Any], Expression]) -> ColumnType:
    """A moment where a moment is the least, largest or middle one of some; a number otherwise."""
    node = item.this if type(item).__name__ == "Alias" else item
    if type(node).__name__ in ("Min", "Max", "Median", "Quantile", "PercentileCont", "PercentileDisc"):
        kind = convert(node.this).type
        return kind if kind in (DATE, TIMESTAMP) else FLOAT
    return FLOAT


def _group(nodes: list[Any]) -> Any:
    from sqlglot import exp

    return exp.Group(expressions=nodes)
