"""What persons bring to given groups, nobody more than a cap over all groups: different values, flags, moments.

Shares are counted in steps of 1/`FINE`, or in powers of `RESOLUTION`, and rounded down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tacit.engines.requests.flags import Flags
from tacit.engines.requests.group_vectors import Keys, check_keys, in_groups
from tacit.engines.requests.moments import RESOLUTION
from tacit.engines.requests.operands import Different, Value, numbers_by_place
from tacit.engines.requests.request import AnswerRow, Arm, Request
from tacit.engines.script import ALL_ROWS, Fragment, Reading, fragment
from tacit.errors import InvalidInput
from tacit.language.expressions import Expression

if TYPE_CHECKING:
    from tacit.engines.snapshots import Statement

FINE = 2**20
"""What a whole person, or a whole value, counts for."""


def check_cap(by: tuple[Expression, ...], keys: Keys, cap: int) -> None:
    """Refuse groups that cannot be asked for, and caps out of range."""
    check_keys(by, keys)
    if not 1 <= cap < 2**31:
        raise InvalidInput("cap must lie between 1 and 2^31.")


def _scaled(statement: Statement, table: Reading, size: str) -> Reading:
    """A table of every person's size: how much they would count for without a cap."""
    return statement.table("sizes", f"SELECT person, {size} AS size FROM ", table, " GROUP BY person")


def _beside(table: Reading, sizes: Reading) -> Fragment:
    return fragment(table, " INNER JOIN ", sizes, f" ON {table.name}.person = {sizes.name}.person")


def _share(statement: Statement, cap: int) -> str:
    """What a person counts for at each place: ⌊FINE·min(1, cap/size)⌋."""
    dialect = statement.dialect
    less = dialect.quotient(str(FINE * cap), f"CAST(size AS {dialect.int64})", short=True)
    return f"CASE WHEN size <= {cap} THEN {FINE} ELSE {less} END"


@dataclass(frozen=True)
class GroupDistinct(Request[tuple[int, ...]]):
    """For each key how many different values its rows have, in steps of 1/`FINE`, no person bringing more than ``cap``.

    A person with n pairs of a group and a value brings min(1, cap/n) of each. What persons bring of a pair is added
    and counts as one at most, so one person moves the answer by at most cap·FINE in ℓ1, and only upward.
    """

    value: Different
    by: tuple[Expression, ...]
    keys: Keys
    cap: int

    def __post_init__(self) -> None:
        check_cap(self.by, self.keys, self.cap)

    def write(self, statement: Statement) -> tuple[Arm, ...]:
        """Every person's pairs, what is brought of each, and the sum."""
        x = self.value.column(statement.rows)
        pairs = statement.table(
            "pairs",
            f"SELECT DISTINCT person, g, {x} AS v FROM ",
            ALL_ROWS,
            f"{in_groups(statement.rows, self.by, self.keys)} WHERE {x} IS NOT NULL",
        )
        brought = fragment(
            f"(SELECT g, CASE WHEN SUM(z) < {FINE} THEN SUM(z) ELSE {FINE} END AS z FROM ",
            f"(SELECT g, v, {_share(statement, self.cap)} AS z FROM ",
            _beside(pairs, _scaled(statement, pairs, "COUNT(*)")),
            ") AS shares GROUP BY g, v) AS brought GROUP BY g",
        )
        return (Arm(brought, a="g", b="SUM(z)"),)

    def read(self, rows: Sequence[AnswerRow]) -> tuple[int, ...]:
        """The number of each group."""
        return numbers_by_place(rows, len(self.keys))


@dataclass(frozen=True)
class GroupFlags(Request[tuple[int, ...]]):
    """Persons of each key without a row there where the condition is true, then those with one, in steps of 1/`FINE`.

    A person in m groups counts for min(1, cap/m) in each, so one person moves the answer by at most cap·FINE in ℓ1.
    """

    condition: Expression
    by: tuple[Expression, ...]
    keys: Keys
    cap: int

    def __post_init__(self) -> None:
        Flags(self.condition)
        check_cap(self.by, self.keys, self.cap)

    def write(self, statement: Statement) -> tuple[Arm, ...]:
        """A flag for each person and group."""
        condition = statement.rows.plain(self.condition)
        flagged = statement.table(
            "flagged",
            f"SELECT person, g, MAX(CASE WHEN {condition} THEN 1 ELSE 0 END) AS flag FROM ",
            ALL_ROWS,
            f"{in_groups(statement.rows, self.by, self.keys)} GROUP BY person, g",
        )
        shares = fragment(
            f"(SELECT g, flag, {_share(statement, self.cap)} AS z FROM ",
            _beside(flagged, _scaled(statement, flagged, "COUNT(*)")),
            ") AS shares GROUP BY g, flag",
        )
        return (Arm(shares, a=f"g + {len(self.keys)} * flag", b="SUM(z)"),)

    def read(self, rows: Sequence[AnswerRow]) -> tuple[int, ...]:
        """The persons without, then those with."""
        return numbers_by_place(rows, 2 * len(self.keys))


@dataclass(frozen=True)
class GroupMoments(Request[tuple[tuple[int, ...], ...]]):
    """`Moments` of each key over a public range of its own, ``ranges`` in units.

    Per row: a person's n rows in all groups are added, each entry then cut to entry·cap // n where n > cap. Per person
    (``per_person``): the person's mean in a group counts there once, cut to entry·cap // m where a person has m > cap
    groups. One person moves the answer by at most cap·S (or cap·S²) in ℓ1, S being `RESOLUTION`.
    """

    value: Value
    by: tuple[Expression, ...]
    keys: Keys
    ranges: tuple[tuple[int, int], ...]
    degree: Literal[1, 2]
    cap: int
    per_person: bool = False

    def __post_init__(self) -> None:
        check_cap(self.by, self.keys, self.cap)
        if len(self.ranges) != len(self.keys) or any(not -(2**63) <= a < b < 2**63 for a, b in self.ranges):
            raise InvalidInput("ranges must have a low end below a high end, both within 64 bits, for each key.")

    def write(self, statement: Statement) -> tuple[Arm, ...]:
        """Positions in the ranges, added up for each person and group; then the entries, cut to the cap."""
        dialect, S = statement.dialect, RESOLUTION
        wide, quotient = dialect.wide, dialect.quotient
        x = self.value.column(statement.rows)
        ends = ", ".join(
            f"({g}, CAST({low} AS {dialect.int64}), CAST({high} AS {dialect.int64}))"
            for g, (low, high) in enumerate(self.ranges)
        )
        inner = quotient(f"(({wide('v')} - {wide('low')}) * {S})", f"({wide('high')} - {wide('low')})")
        t = f"CASE WHEN v <= low THEN 0 WHEN v >= high THEN {S} ELSE CAST({inner} AS {dialect.int64}) END"
        placed = fragment(
            f"SELECT person, values_of.g AS g, {t} AS t FROM (SELECT person, g, {x} AS v FROM ",
            ALL_ROWS,
            f"{in_groups(statement.rows, self.by, self.keys)} WHERE {x} IS NOT NULL) AS values_of "
            f"INNER JOIN (VALUES {ends}) AS ranges(g, low, high) ON values_of.g = ranges.g",
        )
        sums = statement.table(
            "moments",
            f"SELECT person, g, COUNT(*) AS n, {wide('SUM(t)')} AS one, {wide('SUM(t * t)')} AS two FROM (",
            placed,
            ") AS placed GROUP BY person, g",
        )
        n, one, two, size = wide("n"), "one", "two", "SUM(n)"
        if self.per_person:
            mean = quotient("one", "n")
            sums = statement.table("means", f"SELECT person, g, {mean} AS one FROM ", sums)
            n, two, size = "1", "(one * one)", "COUNT(*)"
        whole = [f"({n} * {S} - {one})", one]
        if self.degree == 2:
            whole = [f"({S} * ({n} * {S} - {one}))", f"({S} * {one} - {two})", two]
        cut = [
            f"SUM(CASE WHEN size > {self.cap} THEN {quotient(f'({part} * {self.cap})', 'size')} ELSE {part} END)"
            for part in whole
        ]
        source = fragment(_beside(sums, _scaled(statement, sums, size)), " GROUP BY g")
        return (Arm(source, **dict(zip("abc", cut, strict=False)), keys=["g"]),)

    def read(self, rows: Sequence[AnswerRow]) -> tuple[tuple[int, ...], ...]:
        """The sums of each group, zeros where it has no rows."""
        found = {int(row[5]): tuple(int(number) for number in row[1 : 2 + self.degree]) for row in rows}
        return tuple(found.get(g, (0,) * (1 + self.degree)) for g in range(len(self.keys)))
