"""Keys that are called unique: by ``through=``, or by ``key=``. Where one is not, one person moves another's rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from tacit.answers.values import counted
from tacit.checks.report import Finding
from tacit.engines.inspection import Inspection
from tacit.engines.script import fragment
from tacit.tables import Private, Public
from tacit.tables.face.declarations import declared_keys


def list_checks(
    inspection: Inspection, tables: Mapping[str, Private | Public], *, dangling: bool = True
) -> Iterator[tuple[str, Callable[[], Iterable[Finding]]]]:
    """One check for each key, and one for each foreign key."""
    for (table, columns), why in declared_keys(tables).items():
        yield f"{table}: key {', '.join(columns)}", partial(_repeated, inspection, table, columns, why)
    for name, declared in tables.items():
        for link in declared.through if isinstance(declared, Private) and dangling else ():
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
    found = fragment(f"SELECT {here} AS k FROM ", inspection.source(table, [column]))
    known = fragment(f"SELECT DISTINCT {there} AS k FROM ", inspection.source(target, [key]))
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
