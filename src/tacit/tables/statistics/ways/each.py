"""A statistic for each of some groups, where the groups' answers are drawn together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tacit.tables.statistics.base import Per, Statistic
from tacit.tables.statistics.ways.groups import Grouped, Groups


@dataclass(frozen=True)
class Each(Grouped, sampled="itself"):
    """What is asked of every group, and the groups."""

    statistic: Statistic
    groups: Groups
    per: Per = "row"

    @property
    def key(self) -> str:
        """That of what is asked."""
        return self.statistic.key

    @property
    def words(self) -> str:
        """What is asked, by group."""
        return f"{self.statistic.words} by {self.groups.name}"

    @property
    def answer_keys(self) -> tuple[Any, ...]:
        """Those of what is asked, for every group."""
        return self.statistic.answer_keys
