"""Changing a ledger behind its back, as a tamperer would."""

from __future__ import annotations

import sqlite3
from typing import Any


def change(where: str, *statements: str) -> None:
    """Run statements on the store itself, with the append-only triggers out of the way."""
    if where.startswith("postgres"):
        import psycopg

        with psycopg.connect(where, autocommit=True) as server:
            server.execute("ALTER TABLE tacit_entries DISABLE TRIGGER USER")
            for statement in statements:
                server.execute(statement.encode())
            server.execute("ALTER TABLE tacit_entries ENABLE TRIGGER USER")
        return
    with sqlite3.connect(where) as file:
        triggers = file.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            file.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            file.execute(statement)
        for _, sql in triggers:
            file.execute(sql)
    file.close()


def rows(where: str, query: str) -> list[Any]:
    """The rows of a query on the store itself."""
    if where.startswith("postgres"):
        import psycopg

        with psycopg.connect(where, autocommit=True) as server:
            return list(server.execute(query.encode()).fetchall())
    file = sqlite3.connect(where, isolation_level=None)
    try:
        return file.execute(query).fetchall()
    finally:
        file.close()
