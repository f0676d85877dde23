"""Pieces of SQL that know which names they use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Term:
    """A piece of SQL over the names known after ``level`` links of the chain, and which of them it uses."""

    sql: str
    level: int = 0
    uses: frozenset[str] = frozenset()
    short: bool = field(default=False, compare=False)
    """Whether it is a name or a constant, which may be written several times."""


def combine(sql: str, *terms: Term) -> Term:
    """SQL that is written with some terms."""
    return Term(sql, max((term.level for term in terms), default=0), uses_of(terms))


def fill(form: str, *terms: Term) -> Term:
    """Some terms in the places {} of a form; the form itself holds no text from outside."""
    first, *rest = form.split("{}")
    return combine(first + "".join(term.sql + piece for term, piece in zip(terms, rest, strict=True)), *terms)


def uses_of(terms: Sequence[Term]) -> frozenset[str]:
    """The names that some terms use."""
    return frozenset[str]().union(*(term.uses for term in terms))
