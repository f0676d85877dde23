"""How an engine's tables and columns are read, in SQL of its own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from tacit.language.types import KeyType


@dataclass(frozen=True)
class ColumnSQL:
    """How a column is read: as a value of its declared type, as a key, as a double with NaN and ±inf, as a group.

    What values and keys promise is in `tacit.language.types`. Exact keys count in steps of 10^-``steps``.
    """

    name: str
    value: Callable[[str], str]
    key: Callable[[str], str]
    double: Callable[[str], str]
    group: Callable[[str], str]
    key_type: KeyType
    steps: int = 0


@dataclass(frozen=True)
class TableSQL:
    """What stands after FROM, and how each column is read."""

    source: str
    columns: Mapping[str, ColumnSQL]


def told_apart(
    keys: Iterable[tuple[str, ...]], columns: Mapping[str, ColumnSQL], unread: Collection[str]
) -> tuple[tuple[str, ...], ...]:
    """Those of a source's unique keys that stay unique as they are read: no two values become one key.

    ``unread`` are the columns that are read as what they are: '1' and '01' are unique as texts, but not as numbers.
    """
    exact = {name for name, column in columns.items() if column.key_type.exact and name in unread}
    return tuple(key for key in keys if exact.issuperset(key))
