"""What an engine is asked about groups by key, given or found: requests like those of `requests`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tacit.engines.requests import LARGEST_ANSWER, Entry, Request, check_boundaries
from tacit.errors import InvalidInput
from tacit.language.expressions import Expression, Scalar
from tacit.language.expressions import Literal as Constant
from tacit.language.types import Kind

Norm = Literal["l1", "l2", "max"]
Key = tuple[Scalar, ...]
"""One group: a value, or NULL, for each key expression; decimals as Fractions."""


def check_by(by: tuple[Expression, ...]) -> None:
    """Refuse to group by nothing, or by what cannot be read."""
    if not by or any(expression.type.kind is Kind.OTHER for expression in by):
        raise InvalidInput("group_by needs columns of a type that Tacit reads; name other columns.")


def _check_keys(by: tuple[Expression, ...], keys: tuple[tuple[Constant, ...], ...]) -> None:
    check_by(by)
    if not 1 <= len(keys) <= LARGEST_ANSWER or len(set(keys)) < len(keys):
        raise InvalidInput(f"keys must be from 1 to {LARGEST_ANSWER} different ones.")
    for key in keys:
        if len(key) != len(by) or any(part.type != kind.type for part, kind in zip(key, by, strict=True)):
            raise InvalidInput("keys must have the types of the columns grouped by, one value for each column.")


@dataclass(frozen=True)
class GroupNorms(Request[tuple[int, ...]]):
    """Persons by the norm of their vector of group entries, counted in buckets as in `Buckets`; norm 0 is in none.

    Entries saturate at ±`saturation(len(keys))`.
    """

    entry: Entry
    by: tuple[Expression, ...]
    keys: tuple[tuple[Constant, ...], ...]
    norm: Norm
    boundaries: tuple[int, ...]

    def __post_init__(self) -> None:
        _check_keys(self.by, self.keys)
        check_boundaries(self.boundaries, parts=1)
        if self.boundaries[-1] >= 2**63:
            raise InvalidInput("boundaries of a norm must lie below 2^63.")


def saturation(groups: int) -> int:
    """The largest entry of a person in one group, so that the squares of all of them fit into 127 bits."""
    return 1 << min(61, (126 - groups.bit_length()) // 2)


@dataclass(frozen=True)
class GroupTotals(Request[tuple[int, ...]]):
    """For each key the sum over persons of their entry, each person's vector v scaled to norm at most ``cap``.

    Entries saturate at ±`saturation(len(keys))` and come in steps of 1/``resolution``, rounded toward zero:
    v·resolution where ‖v‖ ≤ cap, else v·cap·resolution // ‖v‖. For l1 and max that is exact. For l2 ‖v‖ is rounded
    up, to a multiple of 2^-30 where Σv² < 2^64 and of 1 above. So no person's scaled vector exceeds cap·resolution.
    """

    entry: Entry
    by: tuple[Expression, ...]
    keys: tuple[tuple[Constant, ...], ...]
    norm: Norm
    cap: int
    resolution: int = 1

    def __post_init__(self) -> None:
        _check_keys(self.by, self.keys)
        if self.cap < 1 or self.resolution < 1 or self.cap * self.resolution >= 2**64:
            raise InvalidInput("cap and resolution must be at least 1, and their product below 2^64.")


@dataclass(frozen=True)
class KeysPerPerson(Request[tuple[int, ...]]):
    """Persons by their number of different keys (NULL is a key), in the buckets of `Buckets`."""

    by: tuple[Expression, ...]
    boundaries: tuple[int, ...]

    def __post_init__(self) -> None:
        check_by(self.by)
        check_boundaries(self.boundaries, parts=1)


@dataclass(frozen=True)
class KeyCounts(Request[tuple[tuple[Key, int], ...]]):
    """Persons for each key found in the data, each person keeping at most ``cap`` keys; in the order of the keys.

    A person with more keys keeps those of smallest hash of (salt, person, key): the salt is secret, fresh for each
    question, so the choice depends on the person's own keys alone. Only keys with at least ``least`` persons come back.
    The exception from the limit of 10,000 numbers: keys are unknown, so there may be up to cap·persons/least of them.
    """

    by: tuple[Expression, ...]
    cap: int
    least: int
    salt: bytes

    def __post_init__(self) -> None:
        check_by(self.by)
        if self.cap < 1 or self.least < 1 or len(self.salt) < 16:
            raise InvalidInput("cap and least must be at least 1, and salt at least 16 secret bytes.")

    def __repr__(self) -> str:
        return f"KeyCounts(by={self.by!r}, cap={self.cap}, least={self.least}, salt=…)"
