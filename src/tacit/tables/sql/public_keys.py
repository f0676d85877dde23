"""Group keys that a public table holds: the one place where rows are read without a charge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tacit.engines.requests import KeyCounts, Relation
from tacit.engines.requests.derived import NOBODY
from tacit.errors import UnsupportedQuery
from tacit.language import build
from tacit.language.expressions import Column, Expression
from tacit.tables.statistics.ways.groups import MOST_KEYS, written

if TYPE_CHECKING:
    from tacit.tables.sql.open_tables import OpenTables


def public_keys(tables: OpenTables, table: str, column: str) -> list[Any]:
    """The different values of a public table's column; of any other table they are nobody's to see."""
    expression = Column(tables.schema(table)[column], table, column)
    return [key[0] for key in public_values(tables, table, table, [expression], ())]


def public_values(
    tables: OpenTables, table: str, alias: str, columns: Sequence[Column], conditions: Sequence[Expression]
) -> list[tuple[Any, ...]]:
    """The different combinations of some columns of a public table, in the rows that meet some conditions."""
    if table in tables.private_names:
        raise UnsupportedQuery(f"the values of {table!r} are private; name the wanted ones with IN or keys=.")
    filter_ = build.logic("AND", conditions) if conditions else None
    every = KeyCounts(tuple(columns), cap=MOST_KEYS + 1, least=1, salt=bytes(16))
    with tables.engine.snapshot() as snapshot:
        (counts,) = snapshot.ask(Relation(table, alias, NOBODY, filter=filter_), (every,))
    if len(counts) > MOST_KEYS:
        names = ", ".join(repr(column.name) for column in columns)
        raise UnsupportedQuery(f"{names} has more than {MOST_KEYS} values; name the wanted ones with IN or keys=.")
    present = [key for key, _ in counts if None not in key]
    return [tuple(map(written, key)) for key in sorted(present)]
