"""Tables of a DuckDB database: of an attached file, or of a connection that was handed over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.engines.duckdb.dialect import DIALECT
from tacit.errors import InvalidInput, instead

if TYPE_CHECKING:
    import duckdb

Keys = tuple[tuple[str, ...], ...]


def find(
    connection: duckdb.DuckDBPyConnection, name: str, table: str | None, alias: str | None
) -> tuple[str, Keys, bool]:
    """A table as it stands after FROM, the keys of its constraints, and whether its columns are computed, as a view's.

    ``table`` is "table" or "schema.table" as the user wrote it, ``name`` what is looked for where nothing was written,
    ``alias`` the name of an attached file. The only table of such a file needs no name.
    """
    wanted = table if table is not None else name
    parts = wanted.split(".")
    prefix = f"{alias}." if alias else ""
    schema = "main." if alias and len(parts) == 1 else ""
    candidates = {
        f"{prefix}{schema}{'.'.join(map(DIALECT.name, parts))}": parts[-1],
        f"{prefix}main.{DIALECT.name(wanted)}": wanted,
    }
    for source, own in candidates.items():
        if _exists(connection, source):
            return source, *_facts(connection, own, alias)
    where = "database_name = current_database()" if alias is None else f"database_name = '{alias}'"
    rows = connection.execute(f"SELECT table_name FROM duckdb_tables() WHERE {where} ORDER BY 1").fetchall()
    if table is None and alias and len(rows) == 1:
        own = str(rows[0][0])
        return f"{prefix}main.{DIALECT.name(own)}", *_facts(connection, own, alias)
    named = instead(wanted, [str(row[0]) for row in rows], "tables")
    raise InvalidInput(f"the database has no table {wanted!r}; name one with table=, {named}")


def names(connection: duckdb.DuckDBPyConnection, path: str) -> tuple[str, ...]:
    """The tables and views of a file, "schema.table" outside the schema main, as `find` takes them."""
    connection.execute(f"ATTACH {DIALECT.text(path)} AS listed (READ_ONLY)")
    parts = " UNION ALL ".join(
        f"SELECT CASE schema_name WHEN 'main' THEN {kind}_name ELSE schema_name || '.' || {kind}_name END "
        f"FROM duckdb_{kind}s() WHERE database_name = 'listed' AND NOT internal"
        for kind in ("table", "view")
    )
    return tuple(str(row[0]) for row in connection.execute(f"{parts} ORDER BY 1").fetchall())


def _exists(connection: duckdb.DuckDBPyConnection, source: str) -> bool:
    import duckdb

    try:
        connection.execute(f"DESCRIBE SELECT * FROM {source}")
    except duckdb.Error:
        return False
    return True


def _facts(connection: duckdb.DuckDBPyConnection, name: str, alias: str | None) -> tuple[Keys, bool]:
    """The keys of a table's constraints, where its name means one thing only: what else has it has its own.

    And whether its columns are computed: it is a view, or has generated columns, or nobody knows.
    """

    def listed(what: str, column: str, kind: str) -> list[str]:
        where = f"LOWER({kind}_name) = LOWER($1) AND ($2 IS NULL OR database_name = $2)"
        rows = connection.execute(f"SELECT {column} FROM duckdb_{what}() WHERE {where}", [name, alias]).fetchall()
        return [row[0] for row in rows]

    tables = listed("tables", "sql", "table")
    if len(tables + listed("views", "view_name", "view")) != 1:
        return (), True
    unique = "CASE WHEN constraint_type IN ('PRIMARY KEY', 'UNIQUE') THEN constraint_column_names END"
    keys = tuple(tuple(key) for key in listed("constraints", unique, "table") if key)
    return keys, not tables or "GENERATED" in str(tables[0]).upper()
