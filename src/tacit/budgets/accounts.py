"""Accounts: a budget, its shares, its analysts and its parallel parts, as one tree of sums.

PROMISE. However charges are spread over the tree, everything released satisfies the root's total.

PROOF. All questions are one-shot mechanisms, so what several analysts ask at the same time is one adaptive sequence in
the order of the charges, and the filter theorem of `filters` applies as soon as the sums are right on every path:
- a *share* (a sub-session) takes its whole total from its parent when it is opened (`Filter.reserve`), and its own
  filter keeps its charges within it;
- an *analyst* is a second limit: each charge is added to the analyst's sums and to the parent's;
- *parts* of a *group* hold disjoint persons. Two neighbours differ in one person, who lies in one part, and answers
  about the other parts have the same law for both. So for that pair only the charges to one part count, at most the
  largest of the parts' sums: the parent pays the growth of that maximum, axis by axis. Who lies in which part is fixed
  for one state of the data only: a group therefore belongs to one version of it (`tacit.tables.parts`), and what the
  groups of several versions cost adds up at their parent like any charges.

A charge changes at most one account for each level of the tree, so it costs the same however long the history is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from tacit.budgets.amounts import Vector, larger, less, plus, smaller
from tacit.budgets.filters import Filter
from tacit.budgets.policies import UNLIMITED, Policy
from tacit.budgets.questions import Question
from tacit.errors import BudgetExceeded, InvalidInput
from tacit.guarantees import Guarantee

Name = tuple[str, ...]
"""Where an account hangs: () is the root, its parent's name is all but the last word."""


class Link(Enum):
    """How an account hangs on its parent."""

    ROOT = "budget"
    SHARE = "share"
    ANALYST = "analyst"
    GROUP = "group"
    PART = "part"


@dataclass(frozen=True)
class Account:
    """One node of the tree: a filter, what has been added up, and what single questions may do."""

    name: Name
    link: Link
    filter: Filter
    sums: Vector
    policy: Policy = UNLIMITED

    @property
    def label(self) -> str:
        """The account in words for a message."""
        return "the budget" if self.link is Link.ROOT else f"the {self.link.value} {self.name[-1].partition(':')[2]!r}"


def asking(name: Name) -> Name:
    """The account of who asks: parts and their groups belong to the nearest account above them that is neither."""
    while name and name[-1].partition(":")[0] in (Link.GROUP.value, Link.PART.value):
        name = name[:-1]
    return name


def check(path: Sequence[Account], cost: Guarantee, question: Question | None) -> None:
    """Hold a question against the policies from its account up to the root."""
    for account in path:
        account.policy.check(account.filter, cost, question, account.label)


def check_recall(path: Sequence[Account], question: Question) -> None:
    """Hold a question that was paid for against what may be read; prices and failures that changed since do not."""
    for account in path:
        account.policy.reads(question, account.label)


def allowance(path: Sequence[Account]) -> int | None:
    """How many charges of the first account may fail; None without a limit."""
    return min((account.policy.failures for account in path if account.policy.failures is not None), default=None)


def charge(path: Sequence[Account], cost: Guarantee, times: int = 1) -> list[Account]:
    """The accounts that change, as they are after the charge; BudgetExceeded, and nothing changes, if one refuses.

    ``path`` leads from the charged account to the root; ``times`` is how often the same is charged.
    """
    return _admitted(path, tuple(x * times for x in path[0].filter.measure(cost)), cost)


def _admitted(path: Sequence[Account], growth: Vector, cost: Guarantee) -> list[Account]:
    changed = absorb(path, growth)
    for before, after in zip(path, changed, strict=False):
        if before.link is not Link.GROUP and not after.filter.admits(after.sums):
            raise _exceeded(before, cost)
    return changed


def absorb(path: Sequence[Account], growth: Vector) -> list[Account]:
    """The accounts that change when the first one grows by a measured cost, admitted or not."""
    changed: list[Account] = []
    for account in path:
        if account.link is Link.GROUP:
            after = replace(account, sums=larger(account.sums, changed[-1].sums))
            growth = less(after.sums, account.sums)
        else:
            after = replace(account, sums=plus(account.sums, growth))
        changed.append(after)
        if account.link in (Link.SHARE, Link.ROOT) or not any(growth):
            break
    return changed


def _exceeded(account: Account, cost: Guarantee) -> BudgetExceeded:
    rule, left = account.filter, account.filter.remaining(account.sums)
    here = "" if type(cost) is type(rule.total) else f", here {rule.spent(rule.measure(cost))!r},"
    return BudgetExceeded(
        f"{cost!r}{here} does not fit {account.label} of {rule.total!r}, which has {left!r} left; nothing was spent: "
        "ask with a smaller cost."
    )


def remaining(path: Sequence[Account]) -> Guarantee:
    """What is left for the first account, in view of those above it."""
    account, *above = path
    own = account.filter.remaining(account.sums)
    if account.link in (Link.ROOT, Link.SHARE):
        return own
    if account.link is Link.ANALYST:
        return smaller(own, remaining(above))
    if account.link is Link.GROUP:
        return remaining(above)
    free = less(above[0].sums, account.sums)  # what the dearest part has paid already, this one need not pay again
    return remaining([replace(payer, sums=less(payer.sums, free)) for payer in above[1:]])


def admits(path: Sequence[Account], cost: Guarantee) -> bool:
    """Whether a charge would be admitted by every account on the path."""
    try:
        charge(path, cost)
    except BudgetExceeded:
        return False
    return True


def opened(above: Sequence[Account], word: str, link: Link, rule: Filter | None, policy: Policy) -> list[Account]:
    """A new child of the first account above it, and those that change because a share is taken from them.

    Analysts, groups and parts add up on their parent's axes, so that what reaches the parent needs no conversion.
    """
    own = rule or above[0].filter
    child = Account((*above[0].name, word), link, own, own.nothing, policy)
    taken = _admitted(above, above[0].filter.reserve(own), own.total) if link is Link.SHARE else []
    return [child, *taken]


def amended(account: Account, rule: Filter | None, policy: Policy | None) -> Account:
    """The account with an analyst's new limit, or a new policy; totals that were promised never change."""
    if rule is not None and account.link is not Link.ANALYST:
        raise InvalidInput(f"only an analyst's limit may change, not {account.label}; open a new one instead.")
    return replace(account, filter=rule or account.filter, policy=account.policy if policy is None else policy)
