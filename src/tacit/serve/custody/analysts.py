"""What the custodian does about analysts: invite, pause and revoke them and their tokens, say what they may spend."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from tacit.budgets import Link
from tacit.errors import InvalidInput
from tacit.guarantees import Guarantee
from tacit.serve.config import NAME, Access
from tacit.serve.custody.actions import Act, Action, Desk, amount_of, settings_of
from tacit.serve.custody.standing import PAUSED
from tacit.serve.gateway import NotHere
from tacit.serve.tokens import PREFIX, new_token


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


def _was_known(desk: Desk, name: str) -> bool:
    """Whether the acts or a ledger know somebody of this name."""
    ledger, word = desk.gateway.ledger, f"{Link.ANALYST.value}:{name}"
    accounts = (account for dataset in ledger.names() for account in ledger.accounts(dataset))
    return desk.gateway.standing.knew(name) or any(word in account.split("/") for account in accounts)


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
        if _was_known(desk, self.name):
            raise InvalidInput(
                f"{self.name!r} was somebody's before, whose questions and tokens would be theirs; choose another "
                "name, or put the same person back into the file."
            )
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
