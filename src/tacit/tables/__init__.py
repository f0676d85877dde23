"""Private tables: reading, filtering, asking."""

from tacit.tables.face.declare import Private, Public
from tacit.tables.face.session import Session, read, schema
from tacit.tables.face.table import Table

__all__ = ["Private", "Public", "Session", "Table", "read", "schema"]
