"""How tables are declared: where the rows are, whom they concern, and what is public about them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.engines import Source
from tacit.errors import InvalidInput
from tacit.language.types import ColumnType, Schema
from tacit.numbers.exact import Number, positive

Columns = Mapping[str, str | ColumnType]
Key = tuple[str, ...]
"""Columns whose values together no two rows of a table share; rows where one of them is NULL do not count."""
KeyNames = str | Sequence[str | Sequence[str]]
"""How ``key=`` is written."""


_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}")


@dataclass(frozen=True)
class Person:
    """A column that says whom a row concerns; persons of different kinds are different persons."""

    kind: str
    column: str

    @classmethod
    def of(cls, text: str) -> Person:
        """From "column" or "kind:column"."""
        if not isinstance(text, str) or not text.strip(":"):
            raise InvalidInput("person must name the column that says who a row is about, such as person='customer'.")
        kind, colon, column = text.rpartition(":")
        if colon and not (kind and column):
            raise InvalidInput("person with a kind is written 'kind:column', such as 'supplier:s_suppkey'.")
        return cls(kind, column)


@dataclass(frozen=True)
class Link:
    """A foreign key to another private table, whose persons a row concerns too; the other key is unique there.

    That it is unique is the custodian's word, as with ``key=``: `tacit.tables.sql.persons` says what rests on it.
    """

    column: str
    table: str
    key: str

    @classmethod
    def of(cls, column: str, target: str) -> Link:
        """From ``{"l_orderkey": "orders.o_orderkey"}``."""
        table, dot, key = target.partition(".") if isinstance(target, str) else ("", "", "")
        if not (isinstance(column, str) and column and table and dot and key):
            raise InvalidInput("through must map a column to 'table.key', such as {'l_orderkey': 'orders.o_orderkey'}.")
        return cls(column, table, key)


@dataclass(frozen=True, init=False)
class Private:
    """A table about persons.

    Args:
        source: where the rows are: whatever `tacit.read` takes.
        person: the column, or columns, whose value says whom a row concerns; "kind:column" keeps kinds of person apart.
        through: foreign keys to private tables whose persons the rows concern too, such as
            ``{"order_id": "orders.id"}``.
        key: the column, or columns together, that identify a row; a list of such lists names several keys.
            Name the person column where there is one row for each person.
        table: the table's name in a database, where the source is one.
        schema: names and types of the columns, where they should not be inferred.
        unit: the public unit in which floats are counted; 10^−6 without one.
        date: the column that says when a row happened, where budgets are by period: dates or times, or years.
        options: further options for the file reader, such as ``encoding=``.

    >>> private = Private(data, person="customer")
    >>> print(private)
    private, person = customer
    >>> tacit.Session({"orders": private}, budget=Pure(1)).tables
    ('orders',)
    """

    source: Source
    persons: tuple[Person, ...]
    through: tuple[Link, ...]
    unit: Fraction | None
    keys: tuple[Key, ...]
    date: str | None

    def __init__(
        self,
        source: Any,
        person: str | Sequence[str] | None = None,
        *,
        through: Mapping[str, str] | None = None,
        key: KeyNames | None = None,
        table: str | None = None,
        schema: Columns | None = None,
        unit: Number | None = None,
        date: str | None = None,
        **options: Any,
    ) -> None:
        names: Any = (person or ()) if person is None or isinstance(person, tuple | list) else (person,)
        persons = tuple(Person.of(name) for name in names)
        links = tuple(Link.of(column, target) for column, target in (through or {}).items())
        if not persons and not links:
            raise InvalidInput("a private table needs person=, the column that says who a row is about, or through=.")
        object.__setattr__(self, "source", as_source(source, table, schema, options))
        object.__setattr__(self, "persons", persons)
        object.__setattr__(self, "through", links)
        object.__setattr__(self, "unit", None if unit is None else positive(unit, "unit"))
        object.__setattr__(self, "keys", as_keys(key))
        if date is not None and (not isinstance(date, str) or not date):
            raise InvalidInput("date must name the column that says when a row happened, such as date='day'.")
        object.__setattr__(self, "date", date)

    def __str__(self) -> str:
        named = [f"{p.kind}:{p.column}" if p.kind else p.column for p in self.persons]
        followed = [f"{link.table}.{link.key} through {link.column}" for link in self.through]
        dated = "" if self.date is None else f", date = {self.date}"
        return f"private, person = {', '.join(named + followed)}{_show(self.keys)}{dated}"


@dataclass(frozen=True, init=False)
class Public:
    """A table about nobody, which may be joined to private ones.

    Args:
        source: where the rows are: whatever `tacit.read` takes.
        key: the column, or columns together, that identify a row, as for `Private`.
        table: the table's name in a database, where the source is one.
        schema: names and types of the columns, where they should not be inferred.
        options: further options for the file reader, such as ``encoding=``.

    >>> print(Public(regions, key="region"))
    public, key = region
    """

    source: Source
    keys: tuple[Key, ...]

    def __init__(
        self,
        source: Any,
        *,
        key: KeyNames | None = None,
        table: str | None = None,
        schema: Columns | None = None,
        **options: Any,
    ) -> None:
        object.__setattr__(self, "source", as_source(source, table, schema, options))
        object.__setattr__(self, "keys", as_keys(key))

    def __str__(self) -> str:
        return f"public{_show(self.keys)}"


def declared_keys(tables: Mapping[str, Private | Public]) -> dict[tuple[str, Key], str]:
    """Every key of a table that a declaration calls unique, with the argument that does so."""
    declared: dict[tuple[str, Key], str] = {}
    for name, table in tables.items():
        for key in table.keys:
            declared.setdefault((name, key), "key=")
        for link in table.through if isinstance(table, Private) else ():
            declared.setdefault((link.table, (link.key,)), f"through= of {name!r}")
    return declared


def as_keys(given: KeyNames | None) -> tuple[Key, ...]:
    """The keys that ``key=`` names: one column, some columns together, or a list with lists of them."""
    names: Any = () if given is None else given
    if isinstance(names, str):
        names = ((names,),)
    elif isinstance(names, tuple | list) and names and all(isinstance(name, str) for name in names):
        names = (names,)
    keys = [(name,) if isinstance(name, str) else name for name in names] if isinstance(names, tuple | list) else [()]
    for key in keys:
        if not (isinstance(key, tuple | list) and key and all(isinstance(name, str) and name for name in key)):
            raise InvalidInput("key must name a column, or columns that are unique together, such as key='order_id'.")
    return tuple(dict.fromkeys(tuple(key) for key in keys))


def _show(keys: tuple[Key, ...]) -> str:
    return f", key = {' or '.join(' with '.join(key) for key in keys)}" if keys else ""


def as_source(data: Any, table: str | None, schema: Columns | None, options: Mapping[str, Any]) -> Source:
    """The engine's view of what a user named."""
    return Source(data, None if schema is None else Schema.of(schema), table, options)


def as_label(text: str | None, name: str) -> str:
    """A public label of some data, empty where none is given."""
    if text is None:
        return ""
    if not isinstance(text, str) or not _LABEL.fullmatch(text):
        raise InvalidInput(
            f"{name}= must be a label such as '2026-11': letters, digits, '-', '_', '.' and ':', at most 64 of them."
        )
    return text


def default_name(data: Any) -> str:
    """The table's name in SQL: of files their name without endings and wildcards, or "data"."""
    if isinstance(data, list | tuple) and data:
        data = data[0]
    if not isinstance(data, str | os.PathLike) or "://" in str(data):
        return "data"
    from tacit.engines.duckdb.files import table_name

    return table_name(os.fspath(data))
