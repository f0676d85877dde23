"""What the writers of functions share."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, TypeVar

from tacit.engines.columns import within
from tacit.engines.term import Term, combine
from tacit.language.expressions import Literal, NamedCall

if TYPE_CHECKING:
    from tacit.engines.terms import Terms

Writing: TypeAlias = "Terms"
Calling: TypeAlias = NamedCall
Kind = TypeVar("Kind", int, str, bool)


def step(terms: Writing, sql: str, *used: Term) -> Term:
    """One step of a computation, under a name."""
    return terms.bind(combine(sql, *used))


def constant(call: Calling, place: int, kind: type[Kind]) -> Kind:
    """An argument that the language takes as a constant of this kind alone."""
    operand = call.operands[place]
    assert isinstance(operand, Literal)
    assert isinstance(operand.value, kind)
    return operand.value


def inside(term: Term, low: int, high: int) -> str:
    """A whole number put into a range; NULL stays NULL."""
    return within(term.sql, str(low), str(high))
