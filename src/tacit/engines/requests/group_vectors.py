"""Vectors of a person's entries over given groups: how many persons have which norm, and sums at a cap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from tacit.engines.dialect import Dialect
from tacit.engines.entries import Entries, Norm
from tacit.engines.requests.operands import Entry, GroupSteps, check_boundaries, check_by, numbers_by_place
from tacit.engines.requests.request import LARGEST_ANSWER, AnswerRow, Arm, Request
from tacit.engines.script import Fragment, Reading, fragment
from tacit.errors import InvalidInput
from tacit.language.expressions import Expression
from tacit.language.expressions import Literal as Constant
from tacit.language.types import TEXT

if TYPE_CHECKING:
    from tacit.engines.rows import Rows
    from tacit.engines.snapshots import Statement


def saturation(groups: int) -> int:
    """The largest entry of a person in one group, so that the squares of all of them fit into 127 bits."""
    return 1 << min(61, (126 - groups.bit_length()) // 2)


Keys = tuple[tuple[Constant, ...], ...]
"""Given groups: a constant for each expression that rows are grouped by."""


def check_keys(by: tuple[Expression, ...], keys: Keys) -> None:
    """Refuse groups that cannot be asked for."""
    check_by(by)
    if not 1 <= len(keys) <= LARGEST_ANSWER or len(set(keys)) < len(keys):
        raise InvalidInput(f"keys must list 1 to {LARGEST_ANSWER} different groups.")
    kinds = tuple(expression.type for expression in by)
    if any(tuple(part.type for part in key) != kinds for key in keys):
        raise InvalidInput("keys must have the types of the columns grouped by, one value for each column.")


class _Itself:
    """Keys that equal themselves alone: to compare thousands of constants takes longer than to write them once."""

    def __init__(self, keys: Keys) -> None:
        self.keys = keys

    def __hash__(self) -> int:
        return id(self.keys)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and self.keys is other.keys


@lru_cache(maxsize=8)
def _written(dialect: Dialect, keys: _Itself) -> tuple[list[str], list[bool]]:
    """Each key as constants, and whether the part at each place is NULL in one of them."""
    texts = [", ".join(map(dialect.group_key, key)) for key in keys.keys]
    return texts, [any(part.value is None for part in parts) for parts in zip(*keys.keys, strict=True)]


def in_groups(
    rows: Rows, by: tuple[Expression, ...], keys: Keys, beside: tuple[tuple[str, ...], list[str]] | None = None
) -> str:
    """What stands after the rows to keep those of given groups, with the number g of each row's.

    ``beside`` names further columns and lists their values for each group.

    Where no key is NULL an engine can join by = before it makes other joins. Texts are left alone: DuckDB's planner may
    fail on = with a text that is NULL in every row (`DuckDialect.compared`).
    """
    columns, kinds = [rows.group(expression) for expression in by], [expression.type for expression in by]
    names = [f"k{i}" for i in range(len(by))]
    more, values = beside or ((), [""] * len(keys))
    written, null = _written(rows.dialect, _Itself(keys))
    asked = ", ".join(f"({', '.join(filter(None, (str(g), key, values[g])))})" for g, key in enumerate(written))
    absent = [kind == TEXT or without for kind, without in zip(kinds, null, strict=True)]
    same = " AND ".join(
        rows.dialect.same(column, name, kind) if without else f"{column} = {name}"
        for column, name, kind, without in zip(columns, names, kinds, absent, strict=True)
    )
    return f" INNER JOIN (VALUES {asked}) AS asked(g, {', '.join((*names, *more))}) ON {same}"


@dataclass(frozen=True)
class PersonVectors(Request[tuple[int, ...]]):
    """A request about each person's vector of entries, one for each key; they saturate at ±`saturation(len(keys))`."""

    entry: Entry
    by: tuple[Expression, ...]
    keys: Keys
    norm: Norm

    def __post_init__(self) -> None:
        check_keys(self.by, self.keys)
        if isinstance(self.entry, GroupSteps) and len(self.entry.places) != len(self.keys):
            raise InvalidInput("places must have a middle and a radius for each key.")

    def of_person(self, statement: Statement) -> str:
        """A person's entry, from the table of persons and groups."""
        return self.vector(statement)[1]

    def vector(self, statement: Statement) -> tuple[Entries, str]:
        """The table of persons and groups, and its column of entries."""
        dialect = statement.dialect
        beside = self.entry.beside(dialect) if isinstance(self.entry, GroupSteps) else None
        entries = statement.entries(in_groups(statement.rows, self.by, self.keys, beside))
        return entries, entries.column(saturated(dialect, self.entry.entry(statement.rows), len(self.keys)))


def saturated(dialect: Dialect, entry: str, groups: int) -> str:
    """An entry in 64 bits; beyond its limit it counts as the limit."""
    limit = saturation(groups)
    least, most = (dialect.wide(str(end)) for end in (-limit, limit))
    return f"CAST(GREATEST(LEAST({dialect.wide(entry)}, {most}), {least}) AS {dialect.int64})"


@dataclass(frozen=True)
class GroupNorms(PersonVectors):
    """Persons by the norm of their vector of group entries, counted in buckets as in `Buckets`; norm 0 is in none.

    Entries saturate at ±`saturation(len(keys))`.
    """

    boundaries: tuple[int, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        check_boundaries(self.boundaries, numbers=1)
        if self.boundaries[-1] >= 2**63:
            raise InvalidInput("boundaries of a norm must lie below 2^63.")

    def write(self, statement: Statement) -> tuple[Arm, ...]:
        """The bucket of each person's norm; squares are compared with squares."""
        boundaries = [b * b if self.norm == "l2" else b for b in self.boundaries]
        entries, v = self.vector(statement)
        norms, size = entries.norm(v, self.norm)
        sizes = fragment(f"(SELECT {size} AS size FROM ", norms, f" WHERE {size} > 0) AS sizes")
        source = fragment("(", statement.dialect.placed(sizes, "size", boundaries), ") AS places GROUP BY place")
        return (Arm(source, a="place", b="COUNT(*)"),)

    def read(self, rows: Sequence[AnswerRow]) -> tuple[int, ...]:
        """The persons in each bucket."""
        return numbers_by_place(rows, len(self.boundaries) + 1)


_FINE = 30
"""ℓ2 norms below 2^32 are rounded up to a multiple of 2^-30."""


@dataclass(frozen=True)
class GroupTotals(PersonVectors):
    """For each key the sum over persons of their entry, each person's vector v scaled to norm at most ``cap``.

    Entries saturate at ±`saturation(len(keys))` and come in steps of 1/``resolution``, rounded toward zero:
    v·resolution where ‖v‖ ≤ cap, else v·cap·resolution // ‖v‖. For l1 and max that is exact. For l2 ‖v‖ is rounded
    up, to a multiple of 2^-30 where Σv² < 2^64 and of 1 above. So no person's scaled vector exceeds cap·resolution.
    """

    cap: int
    resolution: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cap < 1 or self.resolution < 1 or self.cap * self.resolution >= 2**64:
            raise InvalidInput("cap and resolution must be at least 1, and their product below 2^64.")

    def write(self, statement: Statement) -> tuple[Arm, ...]:
        """Each person's entries beside their norm; integers are divided after they are multiplied."""
        quotient, wide = statement.dialect.quotient, statement.dialect.wide
        entries, v = self.vector(statement)
        norms, size = entries.norm(v, self.norm)
        scale = wide(str(self.cap * self.resolution))
        cap, shrunk = self.cap, quotient(f"(ABS({v}) * {scale})", size)
        if self.norm == "l2":
            norms, cap = statement.table("roots", _roots(norms, size, statement.dialect)), min(self.cap**2, 2**126)
            size, fine = "size", f"CASE WHEN fine THEN {2**_FINE} ELSE 1 END"
            shrunk = quotient(f"(ABS({v}) * {scale} * {fine})", "root")
        whole = f"{v} * {wide(str(self.resolution))}"
        entry = f"CASE WHEN {size} <= {cap} THEN {whole} WHEN {v} < 0 THEN -{shrunk} ELSE {shrunk} END"
        tie = f" ON {entries.table.name}.person = {norms.name}.person GROUP BY g"
        return (Arm(fragment(entries.table, " INNER JOIN ", norms, tie), a="g", b=f"SUM({entry})"),)

    def read(self, rows: Sequence[AnswerRow]) -> tuple[int, ...]:
        """The sum of each group."""
        return numbers_by_place(rows, len(self.keys))


def _roots(norms: Reading, size: str, dialect: Dialect) -> Fragment:
    """⌈√n⌉ exactly, n being the size, or size·2^60 where that is below 2^124 (``fine``).

    The double's root y0 is right to 2^-50, so one Newton step in integers gives y with √n − 1 < y ≤ √n + 2^-30.
    """
    quotient = dialect.quotient
    sizes = fragment(f"SELECT person, {size} AS size, {size} < {2**64} AS fine FROM ", norms)
    scaled = f"SELECT *, CASE WHEN fine THEN size * {2 ** (2 * _FINE)} ELSE size END AS n FROM ("
    guess = dialect.wide(dialect.rounded(f"SQRT(CAST(n AS {dialect.float64}))"))
    guessed = f"SELECT *, GREATEST({guess}, 1) AS y0 FROM ("
    refined = f"SELECT *, {quotient('(y0 + ' + quotient('n', 'y0') + ')', '2')} AS y FROM ("
    return fragment(
        "SELECT person, size, fine, CASE WHEN y * y >= n THEN y ELSE y + 1 END AS root FROM (",
        f"{refined}{guessed}{scaled}",
        sizes,
        ") AS sizes) AS scaled) AS guessed) AS refined",
    )
