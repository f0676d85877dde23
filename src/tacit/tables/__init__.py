"""Private tables: reading, filtering, asking."""

from tacit.tables.declare import Private, Public
from tacit.tables.session import Session, read, schema
from tacit.tables.table import Table

__all__ = ["Private", "Public", "Session", "Table", "read", "schema"]
