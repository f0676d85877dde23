"""Accounts: a budget, its shares, its analysts and its parallel parts, as one tree of sums.

PROMISE. However charges are spread over the tree, everything released satisfies the root's total.

PROOF. All questions are one-shot mechanisms, so what several analysts ask at the same time is one adaptive sequence in
the order of the charges, and the filter theorem of `filters` applies as soon as the sums are right on every path:
- a *share* (a sub-session) takes its whole total from its parent when it is opened (`Filter.reserve`), and its own
  filter keeps its charges within it;
- an *analyst* is a second limit: each charge is added to the analyst's sums and to the parent's;
- *parts* of a *group* hold disjoint persons. Two neighbours differ in one person, who lies in one part, and answers
  about the other parts have the same law for both. So for that pair only the charges to one part count, at most the
  largest of the parts' sums: the parent pays the growth of that maximum, axis by axis.

A charge changes at most one account for each level of the tree, so it costs the same however long the history is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from tacit.budgets.amounts import Vector, larger, less, plus
from tacit.budgets.filters import Filter
from tacit.budgets.policies import UNLIMITED, Policy
from tacit.budgets.questions import Question
from tacit.errors import BudgetExceeded
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


def check(path: Sequence[Account], cost: Guarantee, question: Question | None) -> None:
    """Hold a question against the policies from its account up to the root."""
    for account in path:
        account.policy.check(account.filter, cost, question, account.label)


def charge(path: Sequence[Account], cost: Guarantee) -> list[Account]:
    """The accounts that change, as they are after the charge; BudgetExceeded, and nothing changes, if one refuses.

    ``path`` leads from the charged account to the root.
    """
    changed: list[Account] = []
    growth = path[0].filter.measure(cost)
    for account in path:
        if account.link is Link.GROUP:
            after = replace(account, sums=larger(account.sums, changed[-1].sums))
            growth = less(after.sums, account.sums)
        else:
            after = replace(account, sums=plus(account.sums, growth))
            if not account.filter.admits(after.sums):
                raise exceeded(account, repr(cost))
        changed.append(after)
        if account.link in (Link.SHARE, Link.ROOT) or not any(growth):
            break
    return changed


def exceeded(account: Account, cost: str) -> BudgetExceeded:
    """The refusal of a cost, with what is left."""
    left = repr(account.filter.remaining(account.sums))
    return BudgetExceeded(
        f"this costs {cost} and {account.label} of {account.filter.total!r} has {left} left; nothing was spent: "
        "ask with a smaller cost, or leave the question out."
    )


def admits(path: Sequence[Account], cost: Guarantee) -> bool:
    """Whether a charge would be admitted by every account on the path."""
    try:
        charge(path, cost)
    except BudgetExceeded:
        return False
    return True


def opened(parent: Account, name: str, link: Link, filter_: Filter | None, policy: Policy) -> list[Account]:
    """A new child, and its parent when opening the child takes something from it.

    An analyst and a part add up on their parent's axes, so that what reaches the parent needs no conversion.
    """
    rule = filter_ or parent.filter
    child = Account((*parent.name, name), link, rule, rule.nothing, policy)
    if link is not Link.SHARE:
        return [child]
    assert filter_ is not None
    after = replace(parent, sums=plus(parent.sums, parent.filter.reserve(filter_)))
    if not parent.filter.admits(after.sums):
        raise exceeded(parent, f"a share of {filter_.total!r}")
    return [child, after]
