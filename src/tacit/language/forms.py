"""Stable texts of values: what a ledger keeps must not depend on what classes are called in Python.

A form such as "Column(type, table, name)" declares how a kind of value is written: its tag and its fields, in order.
Numbers, texts, dates, tuples and lists are written as Python writes them. A class may be renamed, moved or shown in
another way; its form stays, because ledgers hold texts made of it, or their hashes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction

from tacit.errors import InvalidInput
from tacit.language.types import ColumnType, Kind, Schema

TYPES: Mapping[type, str] = {ColumnType: "ColumnType(kind, scale)", Schema: "Schema(columns)"}
"""The forms of column types and schemas."""


class Forms:
    """Some kinds of value with their forms."""

    def __init__(self, forms: Mapping[type, str]) -> None:
        self._known = {kind: _parse(form) for kind, form in {**TYPES, **forms}.items()}

    def head(self, part: object) -> tuple[str, Sequence[str]]:
        """The tag of a value and the names of its fields."""
        if type(part) not in self._known:
            raise InvalidInput(f"a value of type {type(part).__name__} cannot stand here; use plain numbers or texts.")
        return self._known[type(part)]

    def write(self, part: object) -> str:
        """The text of a value."""
        if isinstance(part, tuple):
            return f"({', '.join(map(self.write, part))}{',' if len(part) == 1 else ''})"
        if isinstance(part, list):
            return f"[{', '.join(map(self.write, part))}]"
        if isinstance(part, str):
            return str.__repr__(part)  # a class of one's own may not write itself as something else
        if part is None or isinstance(part, bool | int | float | Fraction | Decimal | date):
            return repr(part)
        if isinstance(part, Kind):
            return f"<Kind.{part.value.upper()}: {part.value!r}>"
        tag, names = self.head(part)
        return f"{tag}({', '.join(f'{name}={self.write(getattr(part, name))}' for name in names)})"


def _parse(form: str) -> tuple[str, tuple[str, ...]]:
    tag, _, names = form.rstrip(")").partition("(")
    return tag, tuple(filter(None, names.split(", ")))
