"""The stores the ledger is tested on: SQLite always, PostgreSQL where psycopg and an embedded server are installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.postgres import POSTGRES, REQUIRED, schema

STORES = ["sqlite", "postgresql"] if POSTGRES or REQUIRED else ["sqlite"]


@pytest.fixture(params=STORES)
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """The address of a new ledger."""
    if request.param == "sqlite":
        return str(tmp_path / "ledger.db")
    return schema(request.getfixturevalue("server"))
