"""What the custodian does about single questions that an analyst may not ask alone: approve, decline, take back."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tacit.errors import InvalidInput
from tacit.numbers.exact import whole
from tacit.serve.custody.actions import Act, Action, Desk
from tacit.serve.custody.standing import APPROVED, OPEN, until, until_words

LONGEST_APPROVAL = 365
"""Days after which every approval ends."""


@dataclass(frozen=True)
class Approve(Action):
    """Approve one question of one analyst, once, at its cost, for some days."""

    key = "approve"
    request: str
    days: str = "7"

    def words(self, desk: Desk) -> str:
        """What would happen."""
        asked = desk.request(self.request, OPEN)
        days = self._days()
        desk.analyst(asked.analyst)
        desk.dataset(asked.dataset)
        left = desk.gateway.whole(asked.dataset)
        if not left.fits(asked.guarantee):
            raise InvalidInput(
                f"the question costs {asked.guarantee.short()} and the whole budget of {asked.dataset!r} has "
                f"{left.remaining.short()} left, so it cannot be approved; decline it."
            )
        return (
            f"{asked.analyst} may ask this one question of {asked.dataset} once, for {asked.guarantee.short()} besides "
            f"their limit, until {until_words(until(days))}: {asked.sql}"
        )

    def _days(self) -> int:
        if not re.fullmatch(r"[0-9]{1,3}", self.days) or not 1 <= int(self.days) <= LONGEST_APPROVAL:
            raise InvalidInput(f"days must be a whole number from 1 to {LONGEST_APPROVAL}.")
        return whole(int(self.days), "days", 1)

    def act(self, desk: Desk) -> Act:
        """What is recorded."""
        asked = desk.request(self.request, OPEN)
        facts = {"analyst": asked.analyst, "dataset": asked.dataset, "identity": asked.identity, "cost": asked.cost}
        return Act("question approved", {"request": asked.number, "until": until(self._days())} | facts)


@dataclass(frozen=True)
class Decline(Action):
    """Decline a request."""

    key = "decline"
    request: str

    def words(self, desk: Desk) -> str:
        """What would happen."""
        asked = desk.request(self.request, OPEN)
        return f"{asked.analyst} is told that this was declined: {asked.sql}"

    def act(self, desk: Desk) -> Act:
        """What is recorded."""
        return Act("question declined", {"request": int(self.request)})


@dataclass(frozen=True)
class WithdrawApproval(Action):
    """Take back an approval; what was answered stays answered."""

    key = "withdraw approval"
    request: str

    def words(self, desk: Desk) -> str:
        """What would happen."""
        asked = desk.request(self.request, APPROVED)
        return f"{asked.analyst} may not ask this by your approval any more, if they have not yet: {asked.sql}"

    def act(self, desk: Desk) -> Act:
        """What is recorded."""
        return Act("approval withdrawn", {"request": int(self.request)})
