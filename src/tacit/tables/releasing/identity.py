"""The identity of a question: one text for everything it asks, by which a ledger finds its answer again.

PROMISE. Equal questions have equal texts, different ones different texts, and a text stays what it is from version to
version: answers kept in a ledger are found by it, and the parts of a table are named after it. So nothing here depends
on what classes are called in Python (`language.forms`). `FORMS` declares how each kind of value is written; a statistic
is headed by its `Statistic.tag`, or its key, and written with its fields. A class may be renamed or moved freely; what
stands in `FORMS`, a tag, and the name of a field must stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import Field, fields
from typing import Any, cast

from tacit.engines import requests
from tacit.language import expressions, inside
from tacit.language.forms import Forms
from tacit.tables.releasing.sampling import Sampling
from tacit.tables.statistics.base import Statistic
from tacit.tables.statistics.ways.groups import Groups
from tacit.tables.statistics.ways.margins import MarginGroups

FORMS: dict[type, str] = {
    expressions.Column: "Column(type, table, name)",
    expressions.Literal: "Literal(type, value)",
    expressions.Arithmetic: "Arithmetic(type, operator, left, right)",
    expressions.DaysBetween: "DaysBetween(type, left, right)",
    expressions.Comparison: "Comparison(type, operator, left, right)",
    expressions.Logic: "Logic(type, operator, operands)",
    expressions.Not: "Not(type, operand)",
    expressions.In: "In(type, operand, items)",
    expressions.IsNull: "IsNull(type, operand)",
    expressions.Like: "Like(type, operand, pattern)",
    expressions.Case: "Case(type, branches, default)",
    expressions.Coalesce: "Coalesce(type, operands)",
    expressions.Absolute: "Absolute(type, operand)",
    expressions.Extreme: "Extreme(type, largest, operands)",
    expressions.Extract: "Extract(type, part, operand)",
    expressions.DateTrunc: "DateTrunc(type, unit, operand)",
    expressions.Cast: "Cast(type, operand)",
    expressions.NamedCall: "NamedCall(type, name, operands)",
    requests.Relation: "Relation(table, alias, person, joins, filter, others, kind, members)",
    requests.Join: "Join(table, alias, on, kind)",
    requests.PersonGroups: "PersonGroups(source, by, aggregates)",
    requests.PersonRows: "PersonRows(source, shown, windows)",
    requests.Union: "Union(parts)",
    requests.Listed: "Listed(heads, rows)",
    inside.Aggregate: "Aggregate(type, function, operands, distinct, filter, order)",
    inside.Window: "Window(type, function, operands, partition, order, frame)",
    inside.Ordering: "Ordering(by, descending, nulls_first)",
    inside.Frame: "Frame(unit, start, end)",
    requests.Membership: "Membership(place, wanted)",
    requests.Value: "Value(expression, unit)",
    requests.RowCount: "RowCount(expression)",
    requests.Presence: "Presence()",
    requests.HasValue: "HasValue(expression)",
    requests.Ordered: "Ordered(expression)",
    Groups: "Groups(by, keys, labels, name)",
    MarginGroups: "MarginGroups(by, keys, labels, name, sets, nonnegative)",
    Sampling: "Sampling(probability)",
}
"""For each kind of value its tag and its fields, in order."""

LATER: dict[type, tuple[str, ...]] = {requests.Join: ("condition",)}
"""Fields that came later: they are written where they are set, so that all other texts stay what they were.

A field of a statistic is marked as such by ``metadata={"later": True}``.
"""


def _unset(item: Field[Any], part: Statistic) -> bool:
    """Whether a field that came later is what it was before there was one."""
    return "later" in item.metadata and getattr(part, item.name) == item.default


class _Identities(Forms):
    def head(self, part: object) -> tuple[str, Sequence[str]]:
        if isinstance(part, Statistic):
            shown = tuple(item.name for item in fields(cast(Any, part)) if item.repr and not _unset(item, part))
            return part.tag or part.key, part.told_by or shown
        tag, names = super().head(part)
        return tag, (*names, *(name for name in LATER.get(type(part), ()) if getattr(part, name) is not None))


identity = _Identities(FORMS).write
"""The text of a relation, of a statistic, of whatever else makes a question what it is, or of a tuple of them."""
