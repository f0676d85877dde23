"""What a budget is told about a question, and what it gives back.

None of it may depend on private data: a question is what the analyst wrote, an answer is what was released.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from typing import Any

from tacit.errors import InvalidInput, TacitError
from tacit.guarantees import Guarantee, RenyiCurve


@dataclass(frozen=True)
class Message:
    """A message that may arrive twice, such as a question sent again because its answer did not arrive."""

    key: str
    """What both have in common: who sent it, and the key they gave it."""
    asked: str
    """What it says; the same key with other words is refused."""
    lost_before: datetime | None = None
    """What was charged before then and has no outcome was lost, and is resumed: nobody works on it any more."""
    begun: datetime | None = None
    """When it was read. Its answers tell this time and no later one, which would say how long the work took."""

    def lost(self, at: datetime) -> bool:
        """Whether nobody works any more on what was charged then."""
        return self.lost_before is not None and at < self.lost_before

    def check(self, asked: str) -> None:
        """Refuse a key that was used for something else."""
        if asked != self.asked:
            raise InvalidInput("this key was used for another question; nothing was spent: give each its own key.")


class Unanswered(TacitError):
    """This very message was charged before and its answer is not there; nothing more was charged."""

    def __init__(self, at: datetime, failed: bool) -> None:
        state = "it failed" if failed else "it is still being answered, or its answer was lost"
        super().__init__(
            f"this request was charged before and {state}; nothing more was charged: wait, or ask and pay once more."
        )
        self.at, self.failed = at, failed


@dataclass(frozen=True)
class Question:
    """A question for the record, for policies, and for finding the same one again."""

    identity: str
    """The canonical text of the question: questions of equal identity are the same."""
    text: str = ""
    """What the analyst wrote, or the statistic in words."""
    statistics: tuple[str, ...] = ()
    """The statistics it computes: "sum", "count", …"""
    columns: tuple[str, ...] = ()
    """Every column it reads, as "table.column"."""
    analyst: str = ""
    """Who asks."""
    message: Message | None = None
    """The message it came in, where the same message must not be charged twice."""
    owner: str = ""
    """For whom the answer is kept; empty for everybody who asks the same."""
    version: str = ""
    """The public label of the data's version, within which an answer is found again; empty where they have none."""
    period: str = ""
    """The period whose rows it is about, where there is a calendar."""
    continued: bool = False
    """Whether a charge for it that brought no answer pays for the next attempt too; see `tacit.ledger.attempts`."""
    anew: bool = False
    """Of a question that is continued: whether it is asked again although it was answered."""
    runs: RenyiCurve | None = None
    """The mechanisms that would be run, where public facts tell: a budget may price them by their own laws."""
    lasting: bool = False
    """Whether its answer is found again whatever it cost and in all versions of the data: a series goes on."""

    def key(self, cost: Guarantee) -> str:
        """What the same question at the same cost has in common, asked by whoever shares answers."""
        of = [f"{name} {label}" for name in ("version", "period") if (label := getattr(self, name))]
        paid, of = ("lasting", []) if self.lasting else (_written(cost), of)
        words = (self.identity, paid, *([self.owner] if self.owner else []), *of)  # no owner looks like those
        return sha256("\x00".join(words).encode(errors="surrogatepass")).hexdigest()

    def anyones(self, cost: Guarantee) -> str:
        """The key for everybody, whoever owns this one; ledgers of before have no other."""
        return replace(self, owner="").key(cost)

    def bare(self, cost: Guarantee) -> str:
        """The key without owner, version and period, by which a message finds its question."""
        return replace(self, owner="", version="", period="").key(cost)

    def once(self, cost: Guarantee) -> str:
        """What this question has in common with the same one in the same message; empty outside a message.

        The message says who sent it, so the owner of the answer plays no part: it may change between the two, and so
        may the version of the data, for what is sent twice is charged once.
        """
        return once(self.message.key, self.bare(cost)) if self.message else ""


def once(message: str, key: str = "") -> str:
    """The key of a message, or of one question in it, as ledgers hold it; no question's own key looks like that."""
    return f"request {message} {key}".rstrip()


@lru_cache(maxsize=1024)
def _written(cost: Guarantee) -> str:
    return repr(cost)


@dataclass(frozen=True)
class Position:
    """Where a charge stands in a ledger."""

    ledger: str
    """What tells the ledger from every other."""
    dataset: str
    entry: int
    hash: str
    """That of the entry, which all entries before it are chained to."""

    def to_dict(self) -> dict[str, Any]:
        """As certificates say it."""
        return {"ledger": self.ledger, "dataset": self.dataset, "entry": self.entry, "hash": self.hash}


@dataclass(frozen=True)
class Receipt:
    """Proof that a question was charged."""

    number: int
    """The charge's place in the history."""
    cost: Guarantee
    at: datetime
    key: str
    """The question's key, empty when it cannot be asked again for free."""
    once: str = ""
    """The key under which the same message finds this charge, if it came in one."""
    account: tuple[str, ...] = ()
    """The account that was charged."""
    position: Position | None = None
    """Where the charge is written down for good, if it is."""
    resumed: int = 0
    """The entry by which a charge that brought no answer was taken up again; 0 for the first attempt."""
    continued: bool = False
    """Whether several attempts may answer it, of which the first counts."""


@dataclass(frozen=True)
class Stored:
    """An answer released before, with its date."""

    answer: Mapping[str, Any]
    at: datetime
    cost: Guarantee
