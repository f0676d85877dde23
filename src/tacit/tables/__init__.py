"""Private tables: reading, filtering, asking."""

from tacit.tables.face.declarations import Private, Public
from tacit.tables.face.preview import Preview
from tacit.tables.face.reading import read, schema
from tacit.tables.face.session import Session
from tacit.tables.face.table import Table

__all__ = ["Preview", "Private", "Public", "Session", "Table", "read", "schema"]
