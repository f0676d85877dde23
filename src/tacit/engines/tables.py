"""Tables as an engine has opened them: what all engines share.

An engine's own `tables.py` says where its tables are, and how their native types are read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from tacit.engines import Opening, Snapshot, Source
from tacit.engines.columns import NativeColumn, TableSQL
from tacit.engines.dialect import Dialect
from tacit.engines.requests.beside import Beside
from tacit.engines.requests.derived import Derived, key_type
from tacit.errors import InvalidInput
from tacit.language.types import KeyType, Schema


@dataclass(frozen=True)
class OpenTable:
    """A table that can be asked: its public schema, its SQL, and the keys that its source keeps unique."""

    schema: Schema
    sql: TableSQL
    keys: tuple[tuple[str, ...], ...] = field(default=(), kw_only=True)


T = TypeVar("T", bound=OpenTable)


class OpenTables(ABC, Generic[T]):
    """What an engine knows from its open tables alone; see `tacit.engines.Engine`."""

    tables: dict[str, T]

    def schema(self, table: str) -> Schema:
        """The public names and types of a table."""
        return self.tables[table].schema

    def keys(self, table: str) -> tuple[tuple[str, ...], ...]:
        """The keys that the source itself keeps unique."""
        return self.tables[table].keys

    def key_type(self, table: str | Derived, column: str) -> KeyType:
        """How a column's values are told apart, also in a derived table."""
        return key_type(table, column, lambda name, own: self.tables[name].sql.columns[own].key_type)

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """A read-only view of all tables."""

    def together(self, beside: Beside) -> AbstractContextManager[Opening]:
        """Snapshots that keep nothing for one another."""
        return nullcontext(self.snapshot)

    def version(self, tables: Sequence[str]) -> str | None:
        """None: rows may change between two questions without a sign that can be seen from outside."""
        return None


def schema_of(name: str, source: Source, native: Collection[tuple[str, str]], dialect: Dialect) -> Schema:
    """The schema that a source declares, or the one that its native types give."""
    schema = source.schema or dialect.schema(native)
    schema.check_names(name, dict(native))
    return schema


def unique_keys(
    keys: Iterable[tuple[str, ...]], columns: Mapping[str, NativeColumn], native: Mapping[str, str]
) -> tuple[tuple[str, ...], ...]:
    """Those of a source's unique keys that stay unique as they are read: no two values become one key.

    A column of a key must be read as what it is: '1' and '01' are unique as texts, but not as numbers.
    """
    as_is = {name for name, column in columns.items() if column.dialect.inferred(native[name]) == column.kind}
    exact = {name for name in as_is if columns[name].key_type.exact}
    return tuple(key for key in keys if exact.issuperset(key))


def refuse_options(name: str, source: Source, place: str) -> None:
    """Refuse options of a source that knows none."""
    if source.options:
        raise InvalidInput(f"table {name!r}: {next(iter(source.options))} is not an option of {place}.")
