"""`tacit schema`: names and types of a table, or of every table in a database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.cli.speech import say_json, working
from tacit.language.types import Schema


def show(source: str, table: str | None, options: Mapping[str, Any], as_json: bool) -> None:
    """Print what is public about a source."""
    import tacit
    from tacit.engines import list_tables

    with working("reading names and types"):
        names = list_tables(source) if table is None else None
        if names is None:
            found = {"": tacit.schema(source, table=table, **options)}
        else:
            found = {name: tacit.schema(source, table=name) for name in names}
    if as_json:
        facts = {name: {column: str(kind) for column, kind in one.columns} for name, one in found.items()}
        say_json(facts if names is not None else facts[""])
    elif names is None:
        _show(found[""], "")
    else:
        for name, one in found.items():
            print(name)
            _show(one, "  ")


def _show(schema: Schema, margin: str) -> None:
    width = max(len(name) for name in schema)
    for name, kind in schema.columns:
        print(f"{margin}{name:<{width}}  {kind}")
