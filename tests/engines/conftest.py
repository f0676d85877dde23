"""A few orders in PostgreSQL, and a view that takes long."""

import pytest

from tests.postgres import run, schema

SLOW = "SELECT i AS who, i AS x FROM generate_series(1, 1000) AS i WHERE pg_sleep(0.3) IS NOT NULL"


@pytest.fixture
def where(server: str) -> str:
    """The address of a schema with a few orders."""
    address = schema(server)
    run(
        address,
        "CREATE TABLE orders (person int, amount numeric(10,2), note varchar(9))",
        "INSERT INTO orders VALUES (1, 5, 'a'), (1, 7.25, 'b'), (2, 1, NULL), (3, 2, 'a'), (NULL, 100, 'a')",
        f"CREATE VIEW slow AS {SLOW}",
    )
    return address
