"""A query over public tables alone: answered exactly, at no cost, in the same language.

PROMISE. It reads no private table: the engine is asked for rows of a relation whose person is nobody, which it refuses
where a private table is in it. Nothing is charged, and nothing is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key
from typing import TYPE_CHECKING, Any

from tacit.answers import Answer, Answers
from tacit.answers.results import Result, Row
from tacit.budgets import Question
from tacit.engines.requests import Relation
from tacit.engines.requests.public_rows import PublicRows
from tacit.errors import UnsupportedQuery
from tacit.guarantees import Guarantee
from tacit.language.expressions import Expression
from tacit.language.types import Kind
from tacit.tables.face.preview import Preview
from tacit.tables.releasing.releaser import columns_read
from tacit.tables.sql.selection import limits, position
from tacit.tables.sql.stages import Stage
from tacit.tables.sql.view import View
from tacit.tables.sql.views import ViewBuilder
from tacit.tables.statistics.ways.groups import written

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.tables.releasing.releaser import Releaser

MOST_ROWS = 10_000
"""The most rows of public tables that are shown."""


def is_public(views: ViewBuilder, view: View) -> bool:
    """Whether no private table is in a view, however deep."""
    read = (*(table for _, table in view.tables), *(side.table for side in view.sides))
    return bool(read) and not any(views.tables.persons.private(table) for table in read)


def public_query(
    releaser: Releaser, views: ViewBuilder, view: View, select: Any, known: Mapping[str, View], cost: Guarantee
) -> PublicQuery:
    """What a SELECT over public tables gives."""
    select, order = select.copy(), list[tuple[str, bool, bool]]()
    limit, offset = limits(select)
    for number, item in enumerate(select.args["order"].expressions if select.args.get("order") else ()):
        name = f" order {number}"
        order.append((name, bool(item.args.get("desc")), bool(item.args.get("nulls_first"))))
        select.append("expressions", _item(item.this, select, name))
    found = Stage(views, select, "public", known).read(view)
    relation = views.relation(found.rows, public=True)
    hidden = {name for name, _, _ in order}
    columns = tuple((name, column) for name, column in found.columns.items())
    if any(column.type.kind is Kind.OTHER for _, column in columns):
        raise UnsupportedQuery("a column has a type that Tacit does not read; leave it out.")
    shown = tuple(name for name, _ in columns if name not in hidden)
    return PublicQuery(releaser, relation, columns, shown, tuple(order), limit, offset, cost)


def _item(node: Any, select: Any, name: str) -> Any:
    """What to order by, as a further column: an output column by its number or name, or written out."""
    from sqlglot import exp

    item = position(node, select)
    if item is None and type(node).__name__ == "Column" and not node.table:
        item = next((known for known in select.expressions if known.alias.lower() == node.name.lower()), None)
    node = node if item is None else item.this if type(item).__name__ == "Alias" else item
    return exp.alias_(node.copy(), name, quoted=True)


@dataclass(frozen=True)
class PublicQuery:
    """Rows of public tables, in an order; it is asked as a `Query` is."""

    releaser: Releaser
    relation: Relation
    columns: tuple[tuple[str, Expression], ...]
    shown: tuple[str, ...]
    order: tuple[tuple[str, bool, bool], ...]
    """What to order by, whether it descends, and whether NULL comes first."""
    limit: int | None
    offset: int
    cost: Guarantee
    """What the query might have cost."""
    statistics: tuple[Any, ...] = ()

    @property
    def free(self) -> Guarantee:
        """No cost at all."""
        return self.cost.amount(*[Fraction(0)] * len(self.cost.keywords()))

    def check(self) -> None:
        """Refuse columns that a policy does not allow."""
        columns = columns_read(self.relation, self.columns)
        self.releaser.budget.recall(Question("public rows", columns=columns, statistics=("rows",)), self.cost)

    def ask(self, fresh: bool) -> Answer | Answers:
        """The rows; one value by itself as an answer."""
        self.check()
        with self.releaser.tables.engine.snapshot() as snapshot:
            table = snapshot.blocks(self.relation, PublicRows(self.columns, MOST_ROWS + 1))
        if table.num_rows > MOST_ROWS:
            raise UnsupportedQuery(f"the result has more than {MOST_ROWS:,} rows; add a condition or LIMIT.")
        lists = [_values(table.column(i).to_pylist(), e) for i, (_, e) in enumerate(self.columns)]
        names = [name for name, _ in self.columns]
        rows = [dict(zip(names, row, strict=True)) for row in zip(*lists, strict=True)]
        for name, descending, nulls_first in reversed(self.order):
            rows.sort(key=cmp_to_key(_compare(name)), reverse=descending)
            rows.sort(key=lambda row, name=name, first=nulls_first: (row[name] is None) != first)  # type: ignore[misc]
        rows = rows[self.offset :][: self.limit]
        if len(rows) == 1 and len(self.shown) == 1:
            return self._answer(rows[0][self.shown[0]])
        cells = [Row((), tuple(row[name] for name in self.shown)) for row in rows]
        return Result(self.shown, (), cells, (), self.free)

    def _answer(self, value: Any) -> Answer:
        return Answer(
            statistic=self.shown[0],
            value=value,
            guarantee=self.free,
            mechanism="public tables, read as they are",
            protected="nobody",
            notes=("Only public tables were read: the value is exact and costs nothing.",),
        )

    def preview(self, fresh: bool) -> Preview:
        """That it is free."""
        self.check()
        return Preview(
            statistics=self.shown,
            cost=self.free,
            asked=self.cost,
            remaining=self.releaser.budget.remaining,
            fits=True,
            free=True,
            words=f"{', '.join(self.shown)}: only public tables are read, so it is exact and free. Nothing was spent.",
        )

    def unpaid(self, fresh: bool) -> list[Any]:
        """Nothing has to be paid."""
        return []


def _values(column: list[Any], expression: Expression) -> list[Any]:
    if expression.type.kind is not Kind.DECIMAL:
        return column
    return [None if steps is None else written(Fraction(steps, 10**expression.type.scale)) for steps in column]


def _compare(name: str) -> Any:
    def compare(left: Any, right: Any) -> int:
        a, b = left[name], right[name]
        return 0 if a is None or b is None else (a > b) - (a < b)

    return compare
