"""Keys that are called unique: by ``through=``, or by ``key=``. Where one is not, one person moves another's rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from tacit.checks.report import Finding, counted
from tacit.engines.inspection import Inspection
from tacit.engines.script import query
from tacit.tables import Private, Public

Key = tuple[str, tuple[str, ...], str]
"""A table, its columns, and who calls them unique."""


def declared(tables: Mapping[str, Private | Public]) -> list[Key]:
    """Every key that a declaration calls unique, once."""
    found: dict[tuple[str, tuple[str, ...]], str] = {}
    for name, table in tables.items():
        for key in table.keys:
            found.setdefault((name, key), "key=")
        for link in table.through if isinstance(table, Private) else ():
            found.setdefault((link.table, (link.key,)), f"through= of {name!r}")
    return [(table, columns, why) for (table, columns), why in found.items()]


def checks(
    inspection: Inspection, tables: Mapping[str, Private | Public], *, dangling: bool = True
) -> Iterator[tuple[str, Callable[[], Iterable[Finding]]]]:
    """One check for each key, and one for each foreign key."""
    for key in declared(tables):
        yield f"{key[0]}: key {', '.join(key[1])}", partial(_repeated, inspection, *key)
    for name, table in tables.items():
        for link in table.through if isinstance(table, Private) and dangling else ():
            words = f"{name}: {link.column} to {link.table}.{link.key}"
            yield words, partial(_dangling, inspection, name, link.column, link.table, link.key)


def _repeated(inspection: Inspection, table: str, columns: tuple[str, ...], why: str) -> Iterable[Finding]:
    repeated = inspection.repeated(table, columns)
    if repeated:
        yield Finding(
            table,
            "repeated key",
            f"{', '.join(columns)} is called unique by {why}, but {counted(repeated, 'value')} of it "
            f"{'is' if repeated == 1 else 'are'} in several rows.",
            ", ".join(columns),
            repeated,
            serious=True,
        )


def _dangling(inspection: Inspection, table: str, column: str, target: str, key: str) -> Iterable[Finding]:
    here, there = inspection.key(table, column), inspection.key(target, key)
    found = query(f"SELECT {here} AS k FROM ", inspection.source(table, [column]))
    known = query(f"SELECT DISTINCT {there} AS k FROM ", inspection.source(target, [key]))
    ((count,),) = inspection.rows(
        "SELECT COUNT(*) FROM (", found, ") AS a LEFT JOIN (", known, ") AS b ON a.k = b.k WHERE b.k IS NULL"
    )
    if count:
        yield Finding(
            table,
            "rows that lead to nobody",
            f"no row of {target!r} has the {column} of {counted(int(count), 'row')}, which concern nobody there.",
            column,
            int(count),
        )
