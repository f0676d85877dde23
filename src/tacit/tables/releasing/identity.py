"""The identity of a question: one text for everything it asks, by which a ledger finds its answer again.

PROMISE. Equal questions have equal texts, different ones different texts, and a text stays what it is from version to
version: answers kept in a ledger are found by it, and the parts of a table are named after it. So nothing here depends
on what classes are called in Python. `FORMS` declares how each kind of value is written; a statistic is headed by its
`Statistic.tag`, or its key, and written with its fields. Numbers, texts and dates are written as Python writes them.
A class may be renamed or moved freely; what stands in `FORMS`, a tag, and the name of a field must stay.
"""

from __future__ import annotations

from dataclasses import fields
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast

from tacit.engines import requests
from tacit.errors import InvalidInput
from tacit.language import expressions, types
from tacit.tables.releasing.sampling import Sampling
from tacit.tables.statistics.base import Statistic
from tacit.tables.statistics.ways.groups import Groups

FORMS: dict[type, str] = {
    types.ColumnType: "ColumnType(kind, scale)",
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
    requests.Membership: "Membership(place, wanted)",
    requests.Value: "Value(expression, unit)",
    requests.RowCount: "RowCount(expression)",
    requests.Presence: "Presence()",
    requests.Ordered: "Ordered(expression)",
    Groups: "Groups(by, keys, labels, name)",
    Sampling: "Sampling(probability)",
}
"""For each kind of value its tag and its fields, in order."""


def identity(part: object) -> str:
    """The text of a relation, of a statistic, of whatever else makes a question what it is, or of a tuple of them."""
    if isinstance(part, tuple):
        return f"({', '.join(map(identity, part))}{',' if len(part) == 1 else ''})"
    if isinstance(part, str):
        return str.__repr__(part)  # a class of one's own may not write itself as something else
    if part is None or isinstance(part, bool | int | float | Fraction | Decimal | date):
        return repr(part)
    if isinstance(part, types.Kind):
        return f"<Kind.{part.value.upper()}: {part.value!r}>"
    if isinstance(part, Statistic):
        tag = part.tag or part.key
        names = part.told_by or tuple(item.name for item in fields(cast(Any, part)) if item.repr)
    elif type(part) in _FORMS:
        tag, names = _FORMS[type(part)]
    else:
        raise InvalidInput(f"a question cannot hold a value of type {type(part).__name__}; use plain numbers or texts.")
    return f"{tag}({', '.join(f'{name}={identity(getattr(part, name))}' for name in names)})"


def _parsed(form: str) -> tuple[str, tuple[str, ...]]:
    tag, _, names = form.rstrip(")").partition("(")
    return tag, tuple(filter(None, names.split(", ")))


_FORMS = {kind: _parsed(form) for kind, form in FORMS.items()}
