"""Totals of given groups in an order, where every person's entries count in that order until a cap is reached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.engines.requests.group_vectors import Keys, check_keys, in_groups, saturated
from tacit.engines.requests.operands import Entry, numbers_by_place
from tacit.engines.requests.request import AnswerRow, Arm, Request
from tacit.engines.script import fragment
from tacit.errors import InvalidInput
from tacit.language.expressions import Expression

if TYPE_CHECKING:
    from tacit.engines.snapshots import Statement

LARGEST_ENTRY = 1 << 56
"""Where a person's entry in one group saturates, whatever the number of groups: 10,000 of them fit into 70 bits."""

MOST_CAP = 1 << 62


@dataclass(frozen=True)
class RunningTotals(Request[tuple[tuple[int, ...], tuple[int, ...]]]):
    """For each key the sum over persons of what their entry counts for, and how many persons pass the cap there.

    A person's entries v_1, v_2, … in the order of the keys saturate at ±`LARGEST_ENTRY`; with X_g = |v_1| + … + |v_g|
    entry g counts for min(X_g, cap) − min(X_g − |v_g|, cap), with the sign of v_g. A person passes the cap in the group
    where X_g first exceeds it. So a person's groups add up to at most ``cap``, and none counts otherwise when keys are
    added at the end.
    """

    entry: Entry
    by: tuple[Expression, ...]
    keys: Keys
    cap: int

    def __post_init__(self) -> None:
        check_keys(self.by, self.keys)
        if not 1 <= self.cap <= MOST_CAP:
            raise InvalidInput("cap must lie between 1 and 2^62.")

    def write(self, statement: Statement) -> tuple[Arm, ...]:
        """Entries with their running sizes, added up by group."""
        dialect, limit, cap = statement.dialect, LARGEST_ENTRY, self.cap
        entries = statement.entries(in_groups(statement.rows, self.by, self.keys))
        v = entries.column(saturated(dialect, self.entry.entry(statement.rows), len(self.keys)))
        within = f"CASE WHEN {v} > {limit} THEN {limit} WHEN {v} < -{limit} THEN -{limit} ELSE {v} END"
        vectors = statement.table("bins", f"SELECT person, g, {within} AS v FROM ", entries.table, kept=False)
        reached = statement.table(
            "reached",
            f"SELECT g, v, SUM({dialect.wide('ABS(v)')}) OVER (PARTITION BY person ORDER BY g) AS reached FROM ",
            vectors,
            kept=False,
        )
        before = "(reached - ABS(v))"
        within = f"CASE WHEN reached < {cap} THEN reached ELSE {cap} END"
        counted = f"({within} - CASE WHEN {before} < {cap} THEN {before} ELSE {cap} END)"
        signed = f"CASE WHEN v < 0 THEN -{counted} ELSE {counted} END"
        passing = f"CASE WHEN reached > {cap} AND {before} <= {cap} THEN 1 ELSE 0 END"
        return (Arm(fragment(reached, " GROUP BY g"), a="g", b=f"SUM({signed})", c=f"SUM({passing})"),)

    def read(self, rows: Sequence[AnswerRow]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The totals, and the persons who pass."""
        passing = [(number, a, c, *rest) for number, a, _, c, *rest in rows]
        return numbers_by_place(rows, len(self.keys)), numbers_by_place(passing, len(self.keys))
