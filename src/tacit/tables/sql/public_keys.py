"""Group keys that are public: those that the query names or implies, and those that public tables hold.

Reading them is the one place where rows are read without a charge, so it reads public tables alone: the join of all
public tables of the query that are tied to each other, with the conditions that are about nothing else. So the groups
are those that the public tables leave, and several columns of them make just the combinations that are there.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from tacit.engines.requests import KeyCounts, Relation
from tacit.engines.requests.derived import NOBODY
from tacit.errors import UnsupportedQuery
from tacit.language.expressions import Case, Comparison, Expression, In, Literal, Scope
from tacit.language.types import BOOLEAN
from tacit.tables.sql.persons import sides
from tacit.tables.sql.public_facts import implied_keys
from tacit.tables.sql.view import View
from tacit.tables.sql.views import ViewBuilder
from tacit.tables.statistics.ways.groups import MOST_KEYS, written

if TYPE_CHECKING:
    from tacit.tables.sql.open_tables import OpenTables

Values = list[tuple[Any, ...]]


def known_keys(
    views: ViewBuilder, view: View, by: Sequence[Expression], *, absent_delta: bool = True
) -> list[Any] | None:
    """The public keys of what rows are grouped by, or None where some of them are not public.

    More than may be asked are refused, or with ``absent_delta`` False left to be found in the data.
    """
    found: list[tuple[tuple[int, ...], Values]] = []
    together: dict[frozenset[str], list[int]] = {}
    for place, expression in enumerate(by):
        named = _named(expression, view)
        if named is not None:
            found.append(((place,), [(value,) for value in named]))
            continue
        tables = frozenset(column.table for column in expression.columns())
        around = _public_around(views, view, tables)
        if not around:
            implied = implied_keys(expression, view.conditions)
            if implied is None:
                return None
            found.append(((place,), [(value,) for value in implied]))
            continue
        together.setdefault(around, []).append(place)
    for around, places in together.items():
        values = public_values(views, view, around, [by[place] for place in places])
        if values is None and not absent_delta:
            return None
        if values is None:
            names = " and ".join(str(getattr(by[place], "name", "what is grouped by")) for place in places)
            raise UnsupportedQuery(f"{names} has more than {MOST_KEYS} values; name the wanted ones with IN or keys=.")
        found.append((tuple(places), values))
    if prod(len(values) for _, values in found) > MOST_KEYS:
        if not absent_delta:
            return None
        raise UnsupportedQuery(f"the groups have more than {MOST_KEYS} combinations of keys; name the wanted ones.")
    keys = []
    for parts in product(*(values for _, values in sorted(found))):
        key = dict(
            zip((p for places, _ in sorted(found) for p in places), (v for part in parts for v in part), strict=True)
        )
        keys.append(tuple(key[place] for place in range(len(by))))
    return [key[0] for key in keys] if len(by) == 1 else keys


def _named(expression: Expression, view: View) -> list[Any] | None:
    """Keys that the query itself names."""
    for condition in view.conditions:
        if isinstance(condition, In) and condition.operand == expression:
            return [written(item.value) for item in condition.items]
        match condition:
            case Comparison(operator="=", left=left, right=Literal(value=value)) if left == expression:
                return [written(value)]
    if expression.type == BOOLEAN:
        return [True, False]
    if isinstance(expression, Case):
        values = [value for _, value in expression.branches] + [expression.default]
        if all(isinstance(value, Literal) for value in values):
            return list(dict.fromkeys(written(value.value) for value in values if isinstance(value, Literal)))
    return None


def _public_around(views: ViewBuilder, view: View, aliases: frozenset[str]) -> frozenset[str]:
    """Some public tables with those that are tied to them; nothing if one of them is private."""
    persons, inner = views.tables.persons, dict(view.tables)
    if len(aliases) == 1:
        side = next((side for side in view.left if side.alias in aliases), None)
        if side is not None:
            return frozenset() if persons.private(side.table) else aliases
    public = {alias for alias, table in inner.items() if not persons.private(table)}
    if not aliases or not aliases <= public:
        return frozenset()
    pairs = [pair for pair in map(sides, view.conditions) if pair is not None]
    around = set(aliases)
    while True:
        near = {
            b.table for left, right in pairs for a, b in ((left, right), (right, left)) if a.table in around
        } & public
        if near <= around:
            return frozenset(around)
        around |= near


def public_values(views: ViewBuilder, view: View, around: frozenset[str], by: Sequence[Expression]) -> Values | None:
    """The different combinations of some expressions over public tables of a view; None if they are too many."""
    side = next((side for side in view.left if side.alias in around), None)
    if side is not None:
        table = View(((side.alias, side.table),), (), (), Scope({}))
        values = _read(views, views.relation(table, public=True), by)
        return None if values is None else [*values, (None,) * len(by)]
    own = [c for c in view.conditions if c.columns() and {column.table for column in c.columns()} <= around]
    tables = tuple((alias, table) for alias, table in view.tables if alias in around)
    return _read(views, views.relation(View(tables, (), tuple(own), Scope({})), public=True), by)


def _read(views: ViewBuilder, relation: Relation, by: Sequence[Expression]) -> Values | None:
    """What the rows of public tables hold; those of any other table are nobody's to see."""
    asked = relation, tuple(by)
    if asked not in views.seen:
        views.seen[asked] = _values(views.tables, *asked)
    found: Values | None = views.seen[asked]
    return found


def _values(tables: OpenTables, relation: Relation, by: tuple[Expression, ...]) -> Values | None:
    """What the rows hold now."""
    if relation.person != NOBODY or any(name in tables.private_names for name in relation.tables):
        raise UnsupportedQuery(
            "the values of private tables are nobody's to see; name the wanted ones with IN or keys=."
        )
    every = KeyCounts(by, cap=MOST_KEYS + 1, least=1, salt=bytes(16))
    with tables.engine.snapshot() as snapshot:
        (counts,) = snapshot.ask(relation, (every,))
    if len(counts) > MOST_KEYS:
        return None
    present = sorted(key for key, _ in counts if None not in key)
    return [tuple(map(written, key)) for key in present]
