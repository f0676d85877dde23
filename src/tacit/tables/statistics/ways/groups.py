"""Groups: what rows are grouped by, which keys are public, and statistics that are answered for each of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, Self, cast

from tacit.answers import Answers
from tacit.engines.requests import check_by
from tacit.errors import InvalidInput
from tacit.language import build
from tacit.language.expressions import Expression, Literal
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.base import Statistic

MOST_KEYS = 5_000
"""The most groups one question may have, so that what comes back stays small."""


@dataclass(frozen=True)
class Groups:
    """Given groups: what rows are grouped by, and the public keys."""

    by: tuple[Expression, ...]
    keys: tuple[tuple[Literal, ...], ...]
    labels: tuple[Any, ...]
    """The keys as the analyst wrote them."""
    name: str

    def __post_init__(self) -> None:
        check_by(self.by)


DIGITS = 60
"""Digits in which keys are written: more than any exact number has, so that no two look alike."""


def written(key: Any) -> Any:
    """A key as people write it: exact decimals as Decimal."""
    if not isinstance(key, Fraction):
        return key
    with localcontext(prec=DIGITS):
        return Decimal(key.numerator) / Decimal(key.denominator)


class Grouped(Statistic, phrase="{name} by {groups.name}"):
    """A statistic for each of some groups: a frozen dataclass with a field for them."""

    groups: Groups

    @property
    def by(self) -> tuple[Expression, ...]:
        """What rows are grouped by."""
        return self.groups.by

    @property
    def counts_persons(self) -> bool:
        """Whether it is the number of persons, which finding the groups tells already."""
        return False

    def among(self, groups: Groups) -> Self:
        """The same for other groups."""
        return replace(self, groups=groups)  # type: ignore[type-var]

    @abstractmethod
    def release(self, room: Room) -> Answers:
        """An answer for each group."""


def listed(values: Iterable[Any], name: str) -> list[Any]:
    """Several values as a list; a single text is not a list of its letters."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidInput(f"{name} must list values, such as ['red', 'blue'].")
    return list(values)


def given(by: tuple[Expression, ...], names: tuple[str, ...], keys: Sequence[Any]) -> Groups:
    """Groups with public keys; each key a value, or a tuple of values for several columns."""
    if not 1 <= len(keys) <= MOST_KEYS:
        raise InvalidInput(f"keys must list 1 to {MOST_KEYS} different groups.")
    check_by(by)
    literals = []
    for key in keys:
        parts = key if len(by) > 1 else (key,)
        if not isinstance(parts, tuple | list) or len(parts) != len(by):
            raise InvalidInput("keys must hold a tuple with one value for each column grouped by.")
        literals.append(
            tuple(
                cast(Literal, build.widen(build.literal(part, "keys"), expression.type, "keys"))
                for part, expression in zip(parts, by, strict=True)
            )
        )
    if len(set(literals)) < len(literals):
        raise InvalidInput("keys must not name a group twice.")
    labels = tuple(tuple(map(_plain, key)) if isinstance(key, tuple | list) else _plain(key) for key in keys)
    return Groups(by, tuple(literals), labels, ", ".join(names))


def candidates(expression: Expression, name: str, values: Iterable[Any]) -> Groups:
    """The given values of one column."""
    return given((expression,), (name,), listed(values, "candidates"))


def _plain(part: Any) -> Any:
    """A value of NumPy as Python's own, which can be kept and compared."""
    return part.item() if hasattr(part, "item") and type(part).__module__.partition(".")[0] == "numpy" else part
