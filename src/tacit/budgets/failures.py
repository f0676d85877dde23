"""Failures: a question that was charged and brings no answer tells something too, so that is counted.

Whether a question fails (too large, too slow, a machine that dies under it) may depend on the data, and differential
privacy says nothing of it. PROMISE. With an allowance of f failures, at most f charges of an account end without an
answer between two renewals, so over n questions what failures tell is one of Σ_{i≤f} C(n, i) patterns: at most
log2 Σ_{i≤f} C(n, i) bits beyond ε (with n = 10,000 and f = 3 less than 38, however the questions were chosen). Charges
to the parts of a split table count with the account that was split: parts have no allowance of their own.

PROOF. A `Tally` counts the charges that failed and those that have no outcome yet: in flight, or lost in a crash. A
charge is admitted, in the transaction that records it, only while both together are fewer than f. So however many
questions run at the same time, in however many processes, f of them at most can fail. A charge leaves the tally when
it is answered, and in no other way but a renewal. One that fails after a renewal counts in the new period, so r
renewals allow (r + 1)·f failures altogether.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from tacit.errors import BudgetExceeded, TacitError


class FailuresUsedUp(BudgetExceeded):
    """Too many questions of this account failed; nothing was spent."""


class Unsettled(TacitError):
    """Questions of this account are still being answered, and if all failed it would be too many; nothing was spent."""

    def __init__(self, at: datetime, lost: FailuresUsedUp) -> None:
        super().__init__(
            "earlier questions of yours are still being answered, and nothing was spent on this one; ask again in a "
            "few seconds, and if that does not help, ask the custodian."
        )
        self.at, self.lost = at, lost
        """When the latest of them was charged, and what to say if that is so long ago that they must be lost."""


@dataclass(frozen=True)
class Tally:
    """The charges of one account without an answer, since the last renewal."""

    failed: int = 0
    open: tuple[int, ...] = ()
    """The numbers of charges that have no outcome yet."""

    def charged(self, number: int) -> Tally:
        """After a charge."""
        return replace(self, open=(*self.open, number))

    def settled(self, number: int, answered: bool) -> Tally:
        """After a charge was answered, or failed."""
        return Tally(self.failed + (not answered), tuple(n for n in self.open if n != number))

    @property
    def count(self) -> int:
        """How many have failed, or may yet."""
        return self.failed + len(self.open)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {"failed": self.failed, "open": list(self.open)}

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Tally:
        """Read `to_dict`."""
        return cls(int(facts["failed"]), tuple(map(int, facts["open"])))


def admit(tally: Tally, allowance: int | None, latest: Callable[[], datetime]) -> None:
    """Refuse a charge if it and those without an answer could be more failures than allowed.

    ``latest`` tells when the last of those without an outcome was charged.
    """
    if allowance is None or tally.count < allowance:
        return
    lost = len(tally.open)
    used_up = FailuresUsedUp(
        f"{tally.failed} of your questions here failed{f' and {lost} were lost' if lost else ''}, which is as many as "
        f"the allowance of {allowance}; nothing was spent: ask the custodian to renew it."
    )
    raise used_up if tally.failed >= allowance else Unsettled(latest(), used_up)
