"""How tables are declared: where the rows are, whom they concern, and what is public about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from tacit.engines import Source
from tacit.engines.types import ColumnType, Schema
from tacit.errors import InvalidInput
from tacit.exact import Number, positive

Columns = Mapping[str, str | ColumnType]


@dataclass(frozen=True, init=False)
class Private:
    """A table about persons: ``person`` names the column whose value says who a row is about."""

    source: Source
    person: str
    unit: Fraction | None = field(default=None)

    def __init__(
        self,
        source: Any,
        person: str,
        *,
        table: str | None = None,
        schema: Columns | None = None,
        unit: Number | None = None,
        **options: Any,
    ) -> None:
        if not isinstance(person, str) or not person:
            raise InvalidInput("person must name the column that says who a row is about, such as person='customer'.")
        object.__setattr__(self, "source", as_source(source, table, schema, options))
        object.__setattr__(self, "person", person)
        object.__setattr__(self, "unit", None if unit is None else positive(unit, "unit"))


@dataclass(frozen=True, init=False)
class Public:
    """A table about nobody, which may be joined to private ones."""

    source: Source

    def __init__(self, source: Any, *, table: str | None = None, schema: Columns | None = None, **options: Any) -> None:
        object.__setattr__(self, "source", as_source(source, table, schema, options))


def as_source(data: Any, table: str | None, schema: Columns | None, options: Mapping[str, Any]) -> Source:
    """The engine's view of what a user named."""
    return Source(data, None if schema is None else Schema.of(schema), table, options)


def default_name(data: Any) -> str:
    """The table's name in SQL: the file's stem, or "data"."""
    return Path(data).stem if isinstance(data, str | Path) and "://" not in str(data) else "data"
