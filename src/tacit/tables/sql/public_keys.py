"""Group keys that a public table holds: the one place where rows are read without a charge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.engines.requests import KeyCounts, Relation
from tacit.errors import UnsupportedQuery
from tacit.language.expressions import Column
from tacit.tables.statistics.ways.groups import MOST_KEYS

if TYPE_CHECKING:
    from tacit.tables.sql.open_tables import OpenTables


def public_keys(tables: OpenTables, table: str, column: str) -> list[Any]:
    """The different values of a public table's column; of any other table they are nobody's to see."""
    if table in tables.private_names:
        raise UnsupportedQuery(f"the values of {table!r} are private; name the wanted ones with IN or keys=.")
    expression = Column(tables.schema(table)[column], table, column)
    every = KeyCounts((expression,), cap=1, least=1, salt=bytes(16))  # each value counted as if it were a person
    with tables.engine.snapshot() as snapshot:
        (counts,) = snapshot.ask(Relation(table, table, expression), (every,))
    if len(counts) > MOST_KEYS:
        raise UnsupportedQuery(f"{column!r} has more than {MOST_KEYS} values; name the wanted ones with IN or keys=.")
    return sorted(key[0] for key, _ in counts)
