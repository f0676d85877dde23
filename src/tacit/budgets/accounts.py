"""Accounts: a budget, its shares, its analysts and its parallel parts, as one tree of sums.

PROMISE. However charges are spread over the tree, everything released satisfies the root's total.

PROOF. All questions are one-shot mechanisms, so what several analysts ask at the same time is one adaptive sequence in
the order of the charges, and the filter theorem of `filters` applies as soon as the sums are right on every path:
- a *share* (a sub-session) takes its whole total from its parent when it is opened (`Filter.reserve`), and its own
  filter keeps its charges within it;
- an *analyst* is a second limit: each charge is added to the analyst's sums and to the parent's; so is a *period* of a
  *calendar*, through which growth passes to the parent (`periods`; not where a calendar is *refreshing*);
- *parts* of a *group* hold disjoint persons. Two neighbours differ in one person, who lies in one part, and answers
  about the other parts have the same law for both. So for that pair only the charges to one part count, at most the
  largest of the parts' sums: the parent pays the growth of that maximum, axis by axis. Who lies in which part is fixed
  for one state of the data only: a group therefore belongs to one version of it (`tacit.tables.releasing.parts`), and
  what the groups of several versions cost adds up at their parent like any charges.

A charge to a part may cost the accounts above it less than the least price there, or nothing. What it falls short of
is kept beside the sums (`Account.short`) and counted as if it were spent, so that the bound below holds. Where
a share lies between, whose total was paid when it was opened, the whole least price is counted.

A charge changes at most one account for each level of the tree, so it costs the same however long the history is.

POLICIES. A policy says what one question may do, apart from what it costs altogether. It speaks of public facts only:
the cost of the question, the columns it reads, the statistics it computes, and how many questions failed before. It is
checked before anything is charged. A question that does not say what it reads is refused where columns are limited.

A least price bounds how many questions fit. PROMISE. While the least price of an account is the share s, no more than
1/s charges are admitted to it and to all accounts below it, whatever the composition. PROOF. Each charge takes at least
the share s of the account's budget on every axis that counts ε or ρ, and the budget is full when one of them is. A
charge in a share took it when the share was opened; one to a part that takes less, because another part was dearer, is
counted with what it falls short of s, as above. That bounds what can be told by anything an answer shows beside
its value, such as that it failed (see `books`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from functools import reduce
from operator import add

from tacit.budgets.filters import Filter, Vector, larger, less, plus, smaller
from tacit.budgets.questions import Question
from tacit.errors import BudgetExceeded, InvalidInput, UnsupportedQuery
from tacit.guarantees import Guarantee
from tacit.numbers.exact import exact, whole


def statistics() -> frozenset[str]:
    """The names of statistics, the same for each group; "quantile" allows medians too.

    The catalogue stands above this package, so Tacit itself is asked for its names, once a policy lists some.
    """
    import tacit

    return tacit._statistics()


@dataclass(frozen=True)
class Policy:
    """Limits on single questions; None means no limit."""

    largest: Guarantee | None = None
    """The largest cost of one question."""
    columns: frozenset[str] | None = None
    """The columns that may be read, as "table.column" or "table.*"."""
    statistics: frozenset[str] | None = None
    """The statistics that may be computed, by the names in `statistics()`."""
    least: Fraction | None = None
    """The least share of the budget that each charge must take."""
    failures: int | None = None
    """How many charges of each account may fail until its allowance is renewed."""
    dated: bool = False
    """Whether every charge must be made to a period, because there is a calendar."""

    def __post_init__(self) -> None:
        for name in ("columns", "statistics"):
            listed = getattr(self, name)
            if isinstance(listed, str):
                raise InvalidInput(f"{name} must be a set of texts, such as {{'{listed}'}}.")
            object.__setattr__(self, name, None if listed is None else frozenset(listed))
        if self.statistics:
            known = statistics()
            for unknown in sorted(self.statistics - known, key=str):
                raise InvalidInput(f"there is no statistic {unknown!r}; there are {', '.join(sorted(known))}.")
        if self.least is not None:
            object.__setattr__(self, "least", exact(self.least, "least"))
            if not 0 <= self.least <= 1:
                raise InvalidInput("least must lie between 0 and 1; give a share of the budget such as '1e-4'.")
        if self.failures is not None:
            whole(self.failures, "failures", 1)

    def check(self, filter_: Filter, cost: Guarantee, question: Question | None, whose: str) -> None:
        """Refuse a question that goes beyond the policy."""
        if self.largest is not None:
            asked, allowed = filter_.measure(cost), filter_.measure(self.largest)  # both without what is run
            if any(a > b for a, b in zip(asked, allowed, strict=True)):
                raise BudgetExceeded(
                    f"one question may cost at most {self.largest!r} by the policy of {whose}, and this one costs "
                    f"{cost!r}; nothing was spent: ask with a smaller cost."
                )
        if self.least is not None and filter_.portion(cost, question.runs if question else None) < self.least:
            raise BudgetExceeded(
                f"a question, and each of its aggregates, costs at least {filter_.smallest(self.least)!r} by the "
                f"policy of {whose}, and this one costs {cost!r}; nothing was spent: ask with a larger cost."
            )
        self.reads(question, whose)

    def reads(self, question: Question | None, whose: str) -> None:
        """Refuse a question about what may not be read; prices are for what is charged, not for what was."""
        if self.columns is not None:
            self._listed("column", question.columns if question else (), self.columns, whose)
        if self.statistics is not None:
            more = frozenset({"median"} if "quantile" in self.statistics else ())
            self._listed("statistic", question.statistics if question else (), self.statistics | more, whose)

    @staticmethod
    def _listed(what: str, asked: tuple[str, ...], allowed: frozenset[str], whose: str) -> None:
        if not asked:
            raise UnsupportedQuery(
                f"the policy of {whose} limits the {what}s of a question and this one does not say which it uses; "
                "nothing was spent: ask through a session."
            )
        for name in asked:
            if name not in allowed and f"{name.rpartition('.')[0]}.*" not in allowed:
                raise UnsupportedQuery(
                    f"the policy of {whose} does not allow the {what} {name!r}; nothing was spent: use one of "
                    f"{', '.join(sorted(allowed)) or 'none'}."
                )


UNLIMITED = Policy()
"""The policy of an account that limits nothing."""


Name = tuple[str, ...]
"""Where an account hangs: () is the root, its parent's name is all but the last word."""


class Link(Enum):
    """How an account hangs on its parent."""

    ROOT = "budget"
    SHARE = "share"
    ANALYST = "analyst"
    GROUP = "group"
    PART = "part"
    CALENDAR = "calendar"
    REFRESHING = "refreshing"
    """A calendar whose periods count for themselves alone."""
    PERIOD = "period"


NAMES_ONLY = (Link.GROUP, Link.CALENDAR, Link.REFRESHING)
"""Accounts that hold others together and limit nothing themselves."""


@dataclass(frozen=True)
class Account:
    """One node of the tree: a filter, what has been added up, and what single questions may do."""

    name: Name
    link: Link
    filter: Filter
    sums: Vector
    policy: Policy = UNLIMITED
    short: Fraction = Fraction(0)
    """By what share of the budget, altogether, charges to parts below fell short of the least price."""

    @property
    def load(self) -> Vector:
        """What may not exceed the limits: the sums and, under a least price, what charges fell short of it."""
        return self.filter.with_share(self.sums, self.short) if self.policy.least else self.sums

    @property
    def left(self) -> Guarantee:
        """A cost that still fits here."""
        load = zip(self.sums, self.load, self.filter.limits, strict=True)
        return self.filter.remaining(tuple(max(own, min(x, limit)) for own, x, limit in load))

    @property
    def label(self) -> str:
        """The account in words for a message."""
        if self.link is Link.ROOT:
            return "the bound for a lifetime" if self.policy.dated else "the budget"
        return f"the {self.link.value} {self.name[-1].partition(':')[2]!r}"


def asking(name: Name) -> Name:
    """The account of who asks: parts and their groups belong to the nearest account above them that is neither."""
    while name and name[-1].partition(":")[0] in (Link.GROUP.value, Link.PART.value):
        name = name[:-1]
    return name


def check(path: Sequence[Account], cost: Guarantee, question: Question | None) -> None:
    """Hold a question against the policies from its account up to the root."""
    if path[-1].policy.dated and not any(account.link is Link.PERIOD for account in path):
        raise InvalidInput("this budget is for periods, and nothing is charged outside of one; give period=.")
    for account in path:
        account.policy.check(account.filter, cost, question, account.label)


def check_recall(path: Sequence[Account], question: Question) -> None:
    """Hold a question that was paid for against what may be read; prices and failures that changed since do not."""
    for account in path:
        account.policy.reads(question, account.label)


def allowance(path: Sequence[Account]) -> int | None:
    """How many charges of the first account may fail; None without a limit."""
    return min((account.policy.failures for account in path if account.policy.failures is not None), default=None)


Charge = tuple[Guarantee, Question | None]
"""A cost, and what is asked for it."""


def measured(path: Sequence[Account], charges: Sequence[Charge]) -> Vector:
    """What some charges, one after the other, add to the sums of the first account."""
    rule, growth = path[0].filter, path[0].filter.nothing
    left = room(path)
    for cost, question in charges:
        growth = plus(growth, rule.measure(cost, question.runs if question else None, less(left, growth)))
    return growth


def charge(path: Sequence[Account], *charges: Charge) -> list[Account]:
    """The accounts that change, as they are after the charges; BudgetExceeded, and nothing changes, if one refuses.

    ``path`` leads from the charged account to the root.
    """
    return _admitted(path, measured(path, charges), [cost for cost, _ in charges])


_ENDS = (Link.SHARE, Link.REFRESHING, Link.ROOT)
"""Beyond these a charge counts nowhere: it was paid when a share was opened, or nothing adds it up."""


def room(path: Sequence[Account]) -> Vector:
    """What is left on each axis for whoever the first account's answers are about, up to the next share or the root."""
    left, free = list[Vector](), path[0].filter.nothing
    for account, below in zip(path, (None, *path), strict=False):
        if account.link is Link.GROUP and below is not None:
            free = plus(free, less(account.sums, below.sums))  # what the dearest part has paid already
        elif account.link is not Link.PART and account.link not in NAMES_ONLY:
            left.append(plus(less(account.filter.limits, account.sums), free))
        if account.link in _ENDS:
            break
    return reduce(lambda a, b: tuple(map(min, a, b)), left)


def _admitted(
    path: Sequence[Account], growth: Vector, costs: Sequence[Guarantee], times: int | None = None
) -> list[Account]:
    changed = absorb(path, growth, len(costs) if times is None else times)
    before = {account.name: account for account in path}
    for after in changed:
        if after.link not in NAMES_ONLY and not after.filter.admits(after.load):
            raise _exceeded(before[after.name], costs, path[0].filter, growth)
    return changed


def absorb(path: Sequence[Account], growth: Vector, times: int = 1) -> list[Account]:
    """The accounts that change when the first one grows by a measured cost, admitted or not.

    ``times`` is how many charges that is: none when a share is taken.
    """
    changed: list[Account] = []
    arrives, of_part = True, False  # whether growth comes up to this account, and whether a part lies below it
    for account in path:
        after = account
        if arrives and account.link is Link.GROUP:
            after = replace(account, sums=larger(account.sums, changed[-1].sums))
            growth = less(after.sums, account.sums)
        elif arrives:
            after = replace(account, sums=plus(account.sums, growth))
        if of_part and account.policy.least:
            lacking = account.policy.least * times - (account.filter.share_of(growth) if arrives else 0)
            after = replace(after, short=plus((account.short,), (max(lacking, Fraction(0)),))[0])
        if arrives or after != account:
            changed.append(after)
        of_part = of_part or account.link is Link.PART
        arrives = arrives and account.link not in _ENDS and any(growth)
    return changed


def _exceeded(account: Account, costs: Sequence[Guarantee], measure: Filter, growth: Vector) -> BudgetExceeded:
    """The refusal of an account, which may lie above a share of another kind, where growth is not counted as here."""
    rule, left, cost = account.filter, account.left, reduce(add, costs)
    same = type(rule) is type(measure) and type(rule.total) is type(measure.total)
    here = f", here {rule.spent(growth)!r}," if same and type(cost) is not type(rule.total) else ""
    return BudgetExceeded(
        f"{cost!r}{here} does not fit: {account.label} has {left!r} left of {rule.total!r}; nothing was spent: ask "
        "with a smaller cost."
    )


def remaining(path: Sequence[Account]) -> Guarantee:
    """What is left for the first account, in view of those above it; a part's least price may not fit any more."""
    account, *above = path
    own = account.left
    if account.link in (Link.ROOT, Link.SHARE):
        return own
    if account.link is Link.PERIOD and above[0].link is Link.REFRESHING:
        return own
    if account.link in (Link.ANALYST, Link.PERIOD):
        return smaller(own, remaining(above))
    if account.link in NAMES_ONLY:
        return remaining(above)
    free = less(above[0].sums, account.sums)  # what the dearest part has paid already, this one need not pay again
    return remaining([replace(payer, sums=less(payer.sums, free)) for payer in above[1:]])


def admits(path: Sequence[Account], *charges: Charge) -> bool:
    """Whether charges would be admitted by every account on the path."""
    try:
        charge(path, *charges)
    except BudgetExceeded:
        return False
    return True


def opened(above: Sequence[Account], word: str, link: Link, rule: Filter | None, policy: Policy) -> list[Account]:
    """A new child of the first account above it, and those that change because a share is taken from them.

    Analysts, groups and parts add up on their parent's axes, so that what reaches the parent needs no conversion.
    """
    own = rule or above[0].filter
    if link in (Link.CALENDAR, Link.REFRESHING):
        return _with_calendar(above, word, link, own)
    child = Account((*above[0].name, word), link, own, own.nothing, policy)
    taken = _admitted(above, above[0].filter.reserve(own, room(above)), [own.total], 0) if link is Link.SHARE else []
    return [child, *taken]


def _with_calendar(above: Sequence[Account], word: str, link: Link, own: Filter) -> list[Account]:
    """A calendar, and the budget above it, which is charged through periods only from then on."""
    parent = above[0]
    if parent.link is not Link.ROOT or parent.policy.dated or any(parent.sums):
        raise InvalidInput(
            "periods are for a budget from which nothing was spent, and for the whole of it, once; register the data "
            "under a new name."
        )
    child = Account((word,), link, own, own.nothing)
    return [child, replace(parent, policy=replace(parent.policy, dated=True))]


def carried(older: Account, newer: Account) -> list[Account]:
    """Two periods, after what the older one leaves was given to the newer one."""
    if type(newer.filter).__name__ not in ("Basic", "Concentrated"):
        raise InvalidInput("what is left is carried over where costs are plain sums; not under this composition.")
    left = less(older.filter.limits, older.load)
    moved = tuple(max(amount, Fraction(0)) for amount in left)
    limits = plus(newer.filter.limits, moved)
    return [
        replace(older, filter=replace(older.filter, limits=less(older.filter.limits, moved))),
        replace(newer, filter=replace(newer.filter, limits=limits, total=newer.filter.spent(limits))),
    ]


def amended(account: Account, rule: Filter | None, policy: Policy | None) -> Account:
    """The account with an analyst's new limit, or a new policy; totals that were promised never change."""
    if rule is not None and account.link is not Link.ANALYST:
        raise InvalidInput(f"only an analyst's limit may change, not {account.label}; open a new one instead.")
    return replace(account, filter=rule or account.filter, policy=account.policy if policy is None else policy)
