"""Expressions with some of their parts replaced."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

from tacit.language.expressions import Column, Expression

T = TypeVar("T")


def with_columns(part: T, new: Callable[[Column], Expression]) -> T:
    """An expression, or a tuple that holds some, with every column replaced by what ``new`` says."""
    if isinstance(part, Column):
        return new(part)  # type: ignore[return-value]
    return _rebuilt(part, lambda inner: with_columns(inner, new))


def _rebuilt(part: T, inside: Callable[[Any], Any]) -> T:
    """The same with what is inside it made anew."""
    if isinstance(part, tuple):
        return tuple(inside(item) for item in part)  # type: ignore[return-value]
    if not isinstance(part, Expression):
        return part
    changed: dict[str, Any] = {}
    for field in fields(part):
        old = getattr(part, field.name)
        found = inside(old) if isinstance(old, Expression | tuple) else old
        if found is not old and found != old:
            changed[field.name] = found
    return replace(part, **changed) if changed else part


def substituted(part: T, known: Mapping[Expression, Expression]) -> T:
    """An expression, or a tuple that holds some, with whole parts of it replaced by others."""
    if isinstance(part, Expression) and part in known:
        return known[part]  # type: ignore[return-value]
    return _rebuilt(part, lambda inner: substituted(inner, known))
