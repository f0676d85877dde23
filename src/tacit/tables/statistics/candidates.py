"""The most frequent of some given values.

A person raises the count of each candidate by 0 or 1 (per row: by at most λ rows, a privately chosen cap, divided
out), and never lowers one. So the loss "how far a candidate's count stays behind the best" may be chosen by with the
one-directional constant: what matters are differences of counts, and those of B − count for any fixed B only fall
when a person joins. `top` takes the best, removes it and goes on, each time for its part of the cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.answers import Answer, Answers
from tacit.curves import StepLoss
from tacit.engines.requests import GroupNorms, GroupTotals, Presence, RowCount
from tacit.errors import InvalidInput
from tacit.grids import integers
from tacit.mechanisms.choose.permute_and_flip import permute_and_flip
from tacit.mechanisms.law import Law
from tacit.numbers.exact import whole
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.base import Per, Statistic
from tacit.tables.statistics.caps import choose_cap, levels
from tacit.tables.statistics.groups import CAP_SHARE, Groups

MOST = 4096
"""The most candidates one question may have."""

STEPS = levels(2**40)
"""Caps on one person's rows for one candidate."""


def choice_law(counts: Sequence[int], epsilon: Fraction) -> Law[Any]:
    """The law of the index of a frequent candidate."""
    best = max(counts)
    losses = [best - count for count in counts]
    return permute_and_flip(StepLoss.from_losses(integers(0, len(counts) - 1), losses, one_directional=True), epsilon)


@dataclass(frozen=True)
class Frequent(Statistic):
    """The most frequent candidates."""

    groups: Groups
    k: int = 1
    single: bool = True
    per: Per = "row"

    def __post_init__(self) -> None:
        if not 1 <= whole(self.k, "k") <= len(self.groups.keys) <= MOST:
            raise InvalidInput(f"k must lie between 1 and the number of candidates, which may be at most {MOST}.")

    @property
    def key(self) -> str:
        """Its name for policies."""
        return "mode" if self.single else "top"

    @property
    def words(self) -> str:
        """What is asked."""
        return f"most frequent {self.groups.name}" if self.single else f"{self.k} most frequent {self.groups.name}"

    def release(self, room: Room) -> Answer | Answers:
        """Counts of the candidates, and one choice after the other."""
        allowance, cap, groups = room.allowance, 1, self.groups
        entry = Presence() if self.per == "person" else RowCount()
        if self.per == "row":
            (norms,) = room.ask(GroupNorms(entry, groups.by, groups.keys, "max", STEPS))
            cap = choose_cap(room, STEPS, norms, allowance.share(CAP_SHARE))
            allowance = allowance.share(1 - CAP_SHARE)
        (totals,) = room.ask(GroupTotals(entry, groups.by, groups.keys, "max", cap))
        left = {i: total // cap for i, total in enumerate(totals)}
        each = allowance.share(Fraction(1, self.k)).epsilon
        chosen: list[int] = []
        for _ in range(self.k):
            indices = list(left)
            chosen.append(indices[int(room.draw(choice_law([left[i] for i in indices], each)))])
            del left[chosen[-1]]
        answers = {rank: self._answer(room, rank, groups.labels[i]) for rank, i in enumerate(chosen, 1)}
        return answers[1] if self.single else Answers(answers, room.cost, "rank")

    def _answer(self, room: Room, rank: int, label: Any) -> Answer:
        name = self.groups.name
        return room.answer(
            f"most frequent {name}" if rank == 1 else f"number {rank} of the most frequent {name}",
            label,
            mechanism="permute-and-flip on the candidates' counts",
            per=self.per,
        )
