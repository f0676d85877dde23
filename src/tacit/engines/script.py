"""A statement in parts, so that each engine can run it in its own way.

Every part is a named query over the source tables and the parts before it. Parts that are ``kept`` are used more than
once and are worth computing once: a database materializes them inside the statement, Spark keeps them in its cache.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """A named query."""

    name: str
    sql: str
    kept: bool = False


@dataclass(frozen=True)
class Script:
    """Some parts, and the query whose rows come back."""

    parts: tuple[Part, ...]
    body: str
