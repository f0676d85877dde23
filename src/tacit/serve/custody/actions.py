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
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from typing import Any, ClassVar

from tacit.errors import InvalidInput, TacitError
from tacit.guarantees import Guarantee
from tacit.ledger import texts
from tacit.numbers.exact import whole
from tacit.serve.config import NAME, Access
from tacit.serve.custody.standing import APPROVED, OPEN, PAUSED, REVOKED, Request, until, until_words
from tacit.serve.gateway import Gateway, NotHere
from tacit.serve.tokens import PREFIX, new_token
from tacit.tables.releasing.room import cost_of

LONGEST_APPROVAL = 365
"""Days after which every approval ends."""
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


def _within(desk: Desk, dataset: str, limit: Guarantee) -> None:
    """Refuse a limit above the dataset's budget: it would promise what is not there."""
    whole_budget = desk.gateway.whole(dataset)
    rule = whole_budget._limit(limit)
    assert rule is not None
    top = whole_budget._account.filter
    if any(a > b for a, b in zip(rule.limits, top.limits, strict=True)):
        raise InvalidInput(
            f"{limit.short()} is more than the budget of {dataset!r}, which is {top.total.short()}, so nothing was "
            "done; give a lower limit."
        )


@dataclass(frozen=True)
class AddAnalyst(Action):
    """Invite an analyst: a name, what they may ask, and a token that is shown once."""

    key = "add analyst"
    name: str
    dataset: str
    epsilon: str = ""
    delta: str = ""
    rho: str = ""

    def words(self, desk: Desk) -> str:
        """What would happen."""
        if not NAME.fullmatch(self.name):
            raise InvalidInput("a name has letters, digits, '-', '_' and '.' only, at most 64; choose another.")
        if self.name in desk.gateway.config.analysts:
            raise InvalidInput(f"there is an analyst {self.name!r} already; choose another name.")
        limit = amount_of(self)
        desk.dataset(self.dataset)
        if limit is None:
            return f"{self.name} may ask {self.dataset}, up to the budget that all share, and gets a token."
        _within(desk, self.dataset, limit)
        return f"{self.name} may ask {self.dataset}, up to {limit.short()}, and gets a token."

    def act(self, desk: Desk) -> Act:
        """What is recorded."""
        token, line = new_token()
        limit = amount_of(self)
        body = {
            "analyst": self.name,
            "datasets": {self.dataset: _access(Access(limit))},
            "token": line.removeprefix(PREFIX),
        }
        return Act("analyst added", body, {"token": token})


@dataclass(frozen=True)
class PauseAnalyst(Action):
    """Let an analyst do nothing until further notice."""

    key = "pause analyst"
    name: str

    def words(self, desk: Desk) -> str:
        """What would happen."""
        if desk.gateway.standing.states.get(desk.analyst(self.name)) == PAUSED:
            raise InvalidInput(f"{self.name} is paused already.")
        return f"{self.name} is refused from now on, until you resume them; what they paid for stays theirs."

    def act(self, desk: Desk) -> Act:
        """What is recorded."""
        return Act("analyst paused", {"analyst": self.name})


@dataclass(frozen=True)
class ResumeAnalyst(Action):
    """Let a paused analyst go on."""

    key = "resume analyst"
    name: str

    def words(self, desk: Desk) -> str:
        """What would happen."""
        if desk.gateway.standing.states.get(desk.analyst(self.name)) != PAUSED:
            raise InvalidInput(f"{self.name} is not paused.")
        return f"{self.name} may ask again, as before the pause."

    def act(self, desk: Desk) -> Act:
        """What is recorded."""
        return Act("analyst resumed", {"analyst": self.name})


@dataclass(frozen=True)
class RevokeAnalyst(Action):
    """End an analyst's access for good."""

    key, final = "revoke analyst", True
    name: str

    def words(self, desk: Desk) -> str:
        """What would happen."""
        desk.analyst(self.name)
        return (
            f"{self.name} is refused from now on, with all tokens and also for questions that wait. This cannot be "
            "undone; what they spent stays spent."
        )

    def act(self, desk: Desk) -> Act:
        """What is recorded."""
        return Act("analyst revoked", {"analyst": self.name})


@dataclass(frozen=True)
class AddToken(Action):
    """A further token for an analyst, shown once."""

    key = "add token"
    name: str

    def words(self, desk: Desk) -> str:
        """What would happen."""
        count = len(desk.gateway.standing.token_ids(desk.gateway.config, desk.analyst(self.name)))
        return f"{self.name} gets one more token, besides {count or 'none'} now; it is shown once."

    def act(self, desk: Desk) -> Act:
        """What is recorded."""
        token, line = new_token()
        return Act("token added", {"analyst": self.name, "token": line.removeprefix(PREFIX)}, {"token": token})


@dataclass(frozen=True)
class RevokeToken(Action):
    """Let one token count no more."""

    key, final = "revoke token", True
    name: str
    token: str
    """Its id: the first twelve digits of its digest."""

    def words(self, desk: Desk) -> str:
        """What would happen."""
        known = desk.gateway.standing.token_ids(desk.gateway.config, desk.analyst(self.name))
        if self.token not in known:
            raise NotHere(f"{self.name} has no token {self.token!r}; there are {', '.join(known) or 'none'}.")
        left = len(known) - 1
        return (
            f"The token {self.token} of {self.name} is refused from now on, also for questions that wait and in "
            f"browsers that it opened. This cannot be undone; {left or 'no'} other token{'s' * (left != 1)} stay."
        )

    def act(self, desk: Desk) -> Act:
        """What is recorded."""
        return Act("token revoked", {"analyst": self.name, "token": self.token})


@dataclass(frozen=True)
class SetLimit(Action):
    """Set, raise or lower what an analyst may spend of a dataset; giving access, if they had none."""

    key = "set limit"
    name: str
    dataset: str
    epsilon: str = ""
    delta: str = ""
    rho: str = ""

    def words(self, desk: Desk) -> str:
        """What would happen."""
        desk.analyst(self.name)
        desk.dataset(self.dataset)
        limit, known = amount_of(self), desk.gateway.config.analysts[self.name].get(self.dataset)
        if known is not None and known.share is not None:
            raise InvalidInput(f"{self.name} has a share of {self.dataset!r}, which was set apart for good; it stays.")
        if limit is not None:
            _within(desk, self.dataset, limit)
        now = "up to the budget that all share" if limit is None else f"up to {limit.short()} altogether"
        before = (
            "nothing so far"
            if known is None
            else "so far up to the budget that all share"
            if known.limit is None
            else f"so far up to {known.limit.short()}"
        )
        return f"{self.name} may spend {now} of {self.dataset}; {before}."

    def act(self, desk: Desk) -> Act:
        """What is recorded."""
        known = desk.gateway.config.analysts[self.name].get(self.dataset, Access())
        access = _access(replace(known, limit=amount_of(self)))
        return Act("access set", {"analyst": self.name, "dataset": self.dataset, "access": access})


@dataclass(frozen=True)
class RequireApproval(Action):
    """Let a person approve each question of an analyst that costs more than this; none, if nothing is given."""

    key = "require approval"
    name: str
    dataset: str
    epsilon: str = ""
    delta: str = ""
    rho: str = ""

    def words(self, desk: Desk) -> str:
        """What would happen."""
        if self.dataset not in desk.gateway.config.analysts[desk.analyst(self.name)]:
            raise NotHere(f"{self.name} may not ask {self.dataset!r} anyway.")
        above = amount_of(self)
        if above is None:
            return f"{self.name} may ask {self.dataset} without your approval, up to their limit."
        return (
            f"each question of {self.name} to {self.dataset} that costs more than {above.short()} needs your approval."
        )

    def act(self, desk: Desk) -> Act:
        """What is recorded."""
        known = desk.gateway.config.analysts[self.name][self.dataset]
        access = _access(replace(known, approve_above=amount_of(self)))
        return Act("access set", {"analyst": self.name, "dataset": self.dataset, "access": access})


def _access(access: Access) -> dict[str, Any]:
    """What an analyst may spend, as the file would have it."""
    given = {item.name: getattr(access, item.name) for item in fields(access)}
    return {name: settings_of(amount) for name, amount in given.items() if amount is not None}


@dataclass(frozen=True)
class WithdrawAccess(Action):
    """Let an analyst ask one dataset no more."""

    key = "withdraw access"
    name: str
    dataset: str

    def words(self, desk: Desk) -> str:
        """What would happen."""
        if self.dataset not in desk.gateway.config.analysts[desk.analyst(self.name)]:
            raise NotHere(f"{self.name} may not ask {self.dataset!r} anyway.")
        return f"{self.name} may not ask {self.dataset} any more, nor look at what they asked; a new limit undoes it."

    def act(self, desk: Desk) -> Act:
        """What is recorded."""
        return Act("access withdrawn", {"analyst": self.name, "dataset": self.dataset})


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


@dataclass(frozen=True)
class RenewFailures(Action):
    """Reset an analyst's allowance of failures."""

    key = "renew failures"
    dataset: str
    account: str

    def words(self, desk: Desk) -> str:
        """What would happen."""
        known = desk.gateway.ledger.accounts(desk.dataset(self.dataset))
        if self.account not in known:
            raise NotHere("there is no such account; see the custodian's view.")
        return (
            f"Questions of {self.account} to {self.dataset} may fail again as often as allowed, after "
            f"{known[self.account].unanswered} that failed or were lost."
        )

    def act(self, desk: Desk) -> Act:
        """What is recorded."""
        return Act("failures renewed", {"dataset": self.dataset, "account": self.account})

    def follow_up(self, desk: Desk) -> None:
        """The history of the dataset says so, too."""
        desk.gateway.renew(self.dataset, self.account)
