"""`tacit schema`: names and types of a table, or of every table in a database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tacit.cli.speech import say_json, working
from tacit.cli.tables import Flags, find_places
from tacit.language.names import check_names
from tacit.language.types import Schema


def show(sources: Sequence[str], table: str | None, options: Mapping[str, Any], as_json: bool) -> None:
    """Print what is public about a source, or several: the columns of a file, or those of each table by its name."""
    with working("reading names and types"):
        tables = _schemas(sources, table, options)
    for one in tables.values():
        check_names(one)
    if as_json:
        facts = {name: {column: str(kind) for column, kind in one.columns} for name, one in tables.items()}
        say_json(facts.get("", facts))
        return
    for name, one in tables.items():
        if name:
            print(name)
        _show(one, "  " if name else "")


def _schemas(sources: Sequence[str], table: str | None, options: Mapping[str, Any]) -> dict[str, Schema]:
    """The schemas of all tables by their names; that of the only file, or of the table that is meant, has none."""
    import tacit

    if len(sources) == 1 and table is not None:
        return {"": tacit.schema(sources[0], table=table, **options)}
    places = find_places(Flags(sources, table=table))
    if len(sources) == 1 and all(place.table is None for place in places.values()):
        return {"": tacit.schema(sources[0], **options)}
    return {
        name: tacit.schema(place.source, table=place.table, **({} if place.table else options))
        for name, place in places.items()
    }


def _show(schema: Schema, margin: str) -> None:
    width = max(len(name) for name in schema)
    for name, kind in schema.columns:
        print(f"{margin}{name:<{width}}  {kind}")
