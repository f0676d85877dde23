"""Expressions with some of their columns replaced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, TypeVar

from tacit.language.expressions import Column, Expression

T = TypeVar("T")


def with_columns(part: T, new: Callable[[Column], Expression]) -> T:
    """An expression, or a tuple that holds some, with every column replaced by what ``new`` says."""
    if isinstance(part, Column):
        return new(part)  # type: ignore[return-value]
    if isinstance(part, tuple):
        return tuple(with_columns(item, new) for item in part)  # type: ignore[return-value]
    if not isinstance(part, Expression):
        return part
    changed: dict[str, Any] = {}
    for field in fields(part):
        old = getattr(part, field.name)
        found = with_columns(old, new) if isinstance(old, Expression | tuple) else old
        if found is not old and found != old:
            changed[field.name] = found
    return replace(part, **changed) if changed else part


def mentions(expression: Expression, alias: str) -> bool:
    """Whether a column of a table occurs in an expression."""
    return any(column.table == alias for column in expression.columns())
