"""What the custodian can do: each action says first, in words, what would happen, and is done once that is confirmed.

An action is plain fields, the same from the page, over HTTP and from the command line. `propose` checks it and returns
its words with a code; `perform` wants that code back. The code covers the action and the number of the last act, so
what is confirmed is what was read, and if anything was done meanwhile it must be read again.

PROMISE. An act is recorded at most once for each confirmation, whoever confirms at the same time.
PROOF. It is recorded as the act that follows the one the words were made after (`Ledger.record`), which the ledger
admits once.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from hashlib import sha256
from typing import Any, ClassVar

from tacit.errors import InvalidInput, TacitError
from tacit.guarantees import Guarantee
from tacit.ledger import texts
from tacit.serve.custody.standing import REVOKED, Request
from tacit.serve.gateway import Gateway, NotHere
from tacit.tables.releasing.room import cost_of

AMOUNTS = ("epsilon", "delta", "rho")


class LocalOnly(TacitError):
    """Only for whoever sits at the machine."""


class Unconfirmed(TacitError):
    """An action that nobody confirmed, or whose confirmation was for something else."""


@dataclass(frozen=True)
class Desk:
    """Where a custodian acts: a gateway that follows, and who acts there."""

    gateway: Gateway
    who: str
    """The custodian's name, as it is written down."""
    way: str
    """"page", "http" or "command line"."""
    local: bool = False
    """Whether the custodian sits at the machine, and may name its files."""

    def analyst(self, name: str) -> str:
        """An analyst's name, if there is one."""
        if name not in self.gateway.config.analysts:
            raise NotHere(f"there is no analyst {name!r}; see the custodian's view.")
        if self.gateway.standing.states.get(name) == REVOKED:
            raise InvalidInput(f"analyst {name!r} is revoked, for good; invite them under another name.")
        return name

    def dataset(self, name: str) -> str:
        """A dataset's name, if it is served."""
        if name not in self.gateway.config.datasets:
            raise NotHere(f"there is no dataset {name!r}; see the custodian's view.")
        return name

    def request(self, number: str, *states: str) -> Request:
        """A request by its number, in one of some states."""
        known = self.gateway.standing.requests
        found = known.get(int(number)) if re.fullmatch(r"[0-9]{1,15}", number) else None
        if found is None or found.state not in states:
            raise NotHere(f"there is no request {number!r} that is {' or '.join(states)}; see the custodian's view.")
        return found


@dataclass(frozen=True)
class Act:
    """What is recorded, and what is shown once and not recorded."""

    what: str
    body: Mapping[str, Any]
    secret: Mapping[str, str] | None = None


class Action(ABC):
    """Something a custodian can do."""

    key: ClassVar[str]
    """How it is called, over HTTP and in forms."""
    final: ClassVar[bool] = False
    """Whether it cannot be undone."""
    local: ClassVar[bool] = False
    """Whether it names files of the machine."""

    @abstractmethod
    def words(self, desk: Desk) -> str:
        """What would happen, in a sentence or two; raises what speaks against it."""

    @abstractmethod
    def act(self, desk: Desk) -> Act:
        """What is recorded when it is done."""

    def follow_up(self, desk: Desk) -> None:  # noqa: B027 - most have nothing more to do
        """What is done besides, once it is recorded."""


@dataclass(frozen=True)
class Proposal:
    """What an action would do, and the code that confirms it."""

    words: str
    code: str
    final: bool


@dataclass(frozen=True)
class Done:
    """What was done."""

    number: int
    words: str
    secret: Mapping[str, str]
    """A new token, shown here and never again."""


def propose(desk: Desk, action: Action) -> Proposal:
    """What would happen; nothing is done."""
    if action.local and not desk.local:
        raise LocalOnly(
            "files of the machine are named at the machine only, and nothing was done; use `tacit custodian` there, or "
            "open the page there at its loopback address."
        )
    given = [action.key, {item.name: getattr(action, item.name) for item in fields(action)}]  # type: ignore[arg-type]
    code = sha256(texts.canonical([*given, desk.gateway.standing.number]).encode()).hexdigest()[:24]
    return Proposal(action.words(desk), code, action.final)


def perform(desk: Desk, action: Action, code: str) -> Done:
    """Do what was confirmed."""
    number, proposal = desk.gateway.standing.number, propose(desk, action)
    if code != proposal.code:
        raise Unconfirmed(
            "this was confirmed for something else, or something was done meanwhile, so nothing was done; read it "
            "again and confirm it."
        )
    made = action.act(desk)
    body = {**made.body, "who": desk.who, "way": desk.way}
    entry = desk.gateway.ledger.record(made.what, body, after=number)
    action.follow_up(desk)
    return Done(entry.number, proposal.words, made.secret or {})


def amount_of(given: Any) -> Guarantee | None:
    """The guarantee that an action's ε, δ and ρ mean; None where it has none."""
    amounts = {name: getattr(given, name) or None for name in AMOUNTS}
    return None if not any(amounts.values()) else cost_of(**amounts)


def settings_of(amount: Guarantee) -> dict[str, str]:
    """A guarantee as the file would have it, exactly."""
    numbers: Mapping[str, Any] = vars(amount)
    return {name: str(numbers[name]) for name in AMOUNTS if name in numbers}
