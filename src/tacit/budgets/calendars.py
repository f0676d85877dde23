"""`Calendar`: the periods of a budget; `tacit.budgets.periods` says what they promise."""

from __future__ import annotations

from tacit.budgets.accounts import Account, Link
from tacit.budgets.budget import Budget
from tacit.budgets.periods import Period, PeriodLine, Periods, holds
from tacit.errors import InvalidInput
from tacit.guarantees import Guarantee

_LINKS = (Link.CALENDAR, Link.REFRESHING)


class Calendar:
    """The periods of a budget: each pays for itself, and all of them from the bound for a lifetime.

    >>> from tacit.budgets import Calendar, open_budget
    >>> periods = tacit.Periods("month", Pure(1), lifetime=Pure(6))
    >>> calendar = Calendar.open(open_budget(Pure(6)), periods)
    >>> calendar.period("2026-11").charge(Pure("0.5")).cost
    Pure(0.5)
    >>> calendar.lines[0].left
    Pure(0.5)
    """

    def __init__(self, budget: Budget, account: Account) -> None:
        self._budget, self._account = budget, account

    @classmethod
    def open(cls, budget: Budget, periods: Periods) -> Calendar:
        """Open a calendar below a budget from which nothing was spent, or find it again under the same terms.

        Args:
            budget: the whole budget; its total becomes the bound for a lifetime.
            periods: how long periods are, and what each may cost.

        >>> from tacit.budgets import Calendar, open_budget
        >>> periods = tacit.Periods("year", Pure(2), lifetime=Pure(6))
        >>> calendar = Calendar.open(open_budget(Pure(6)), periods)
        >>> calendar.every, calendar.each, calendar.lifetime
        ('year', Pure(2), Pure(6))
        """
        if periods.above != budget.total:
            raise InvalidInput(
                f"the budget above has {budget.total!r} in all, and {periods!r} names another; open it with the same."
            )
        known = cls.find(budget)
        if known is not None and known.terms != periods:
            raise InvalidInput(f"there is a calendar already, {known.terms!r}, not {periods!r}; open it with the same.")
        if known is not None:
            return known
        each = budget._limit(periods.each)
        if any(a > b for a, b in zip(periods.each.numbers, periods.above.numbers, strict=True)):
            raise InvalidInput("one period may not cost more than a lifetime; name a smaller each=, or a larger bound.")
        link = Link.REFRESHING if periods.lifetime is None else Link.CALENDAR
        budget._book.open((), f"{link.value}:{periods.every}", link, each, None)
        found = cls.find(budget)
        assert found is not None
        return found

    @classmethod
    def find(cls, budget: Budget) -> Calendar | None:
        """The calendar of a budget; None where it has none.

        Args:
            budget: the whole budget.

        >>> from tacit.budgets import Calendar, open_budget
        >>> Calendar.find(open_budget(Pure(6))) is None
        True
        """
        if not budget._book.path(())[0].policy.dated:
            return None
        found = [account for account in budget._book.below(()) if account.link in _LINKS]
        return cls(Budget(budget._book), found[0]) if found else None

    @property
    def every(self) -> str:
        """How long a period is."""
        return self._account.name[-1].partition(":")[2]

    @property
    def each(self) -> Guarantee:
        """What a period may cost, unless something was carried over."""
        return self._account.filter.total

    @property
    def lifetime(self) -> Guarantee | None:
        """What all periods together may cost; None where they are refreshed without a bound."""
        return None if self._account.link is Link.REFRESHING else self._budget.total

    @property
    def spent(self) -> Guarantee:
        """What all periods have spent together, which is what counts for a lifetime."""
        account = self._budget._book.path(self._account.name)[0]
        return account.filter.spent(account.sums)

    def describe(self) -> str:
        """The terms in a few words, and what all periods have spent.

        >>> from tacit.budgets import Calendar, open_budget
        >>> periods = tacit.Periods("month", Pure(1), lifetime=Pure(6))
        >>> print(Calendar.open(open_budget(Pure(6)), periods).describe())
        Pure(1) for each month, Pure(6) for a lifetime, of which Pure(0) is spent
        """
        if self.lifetime is None:
            return f"{self.each!r} for each {self.every}, without a bound for a lifetime; {self.spent!r} spent in all"
        bound = f"{self.lifetime!r} for a lifetime, of which {self.spent!r} is spent"
        return f"{self.each!r} for each {self.every}, {bound}"

    @property
    def terms(self) -> Periods:
        """What was agreed when it was opened."""
        return Periods(self.every, self.each, self.lifetime, self.lifetime is None)

    def period(self, name: str) -> Budget:
        """The budget of one period, opened now or found again.

        Args:
            name: the period, such as "2026-11".

        >>> from tacit.budgets import Calendar, open_budget
        >>> periods = tacit.Periods("month", Pure(1), lifetime=Pure(6))
        >>> calendar = Calendar.open(open_budget(Pure(6)), periods)
        >>> calendar.period("2026-11").total
        Pure(1)
        """
        label = Period.of(name, self.every).name
        known = [a.name for a in self._budget._book.below(self._account.name) if a.name[-1] == f"period:{label}"]
        if known:
            return Budget(self._budget._book, known[0])
        return Budget(self._budget._book, self._account.name)._child(label, Link.PERIOD, self._account.filter, None)

    @staticmethod
    def within(account: Budget) -> str | None:
        """The period that an account lies in, its own or that of an account above it; None outside of all.

        Args:
            account: the budget of a period, or a share or an analyst's of one.

        >>> from tacit.budgets import Calendar, open_budget
        >>> periods = tacit.Periods("month", Pure(1), lifetime=Pure(6))
        >>> calendar = Calendar.open(open_budget(Pure(6)), periods)
        >>> calendar.within(calendar.period("2026-11").analyst("ada"))
        '2026-11'
        """
        words = (word.partition(":") for word in account._name)
        return next((label for link, _, label in words if link == Link.PERIOD.value), None)

    def carry(self, older: str, newer: str) -> None:
        """Give what one period leaves to a later one, which may then cost as much more; the sum stays what it was.

        Args:
            older: the period that leaves something.
            newer: the period that gets it.

        >>> from tacit.budgets import Calendar, open_budget
        >>> periods = tacit.Periods("month", Pure(1), lifetime=Pure(6))
        >>> calendar = Calendar.open(open_budget(Pure(6)), periods)
        >>> receipt = calendar.period("2026-10").charge(Pure("0.25"))
        >>> calendar.carry("2026-10", "2026-11")
        >>> [(line.name, line.limit) for line in calendar.lines]
        [('2026-10', Pure(0.25)), ('2026-11', Pure(1.75))]
        """
        first, second = Period.of(older, self.every), Period.of(newer, self.every)
        if first.start >= second.start:
            raise InvalidInput(
                f"what is left is carried to a later {self.every}, and {newer!r} is not after {older!r}."
            )
        self._budget._book.carry(self.period(older)._name, self.period(newer)._name)

    @property
    def lines(self) -> tuple[PeriodLine, ...]:
        """The periods as they stand, in order."""
        found = []
        for account in self._budget._book.below(self._account.name):
            rule = account.filter
            left = Budget(self._budget._book, account.name).remaining
            limit, spent = rule.spent(rule.limits), rule.spent(account.sums)
            limit = rule.total if rule.composition != "basic" else limit
            found.append(PeriodLine(account.name[-1].partition(":")[2], limit, spent, left))
        return tuple(found)

    @property
    def holds(self) -> dict[str, str]:
        """What holds for whom, in a sentence for each: "event", "period" and "lifetime"."""
        largest = max((line.limit for line in self.lines), key=lambda limit: limit.numbers, default=None)
        most = None if largest is None or largest.numbers <= self.each.numbers else largest
        return holds(self.every, self.each, self.lifetime, most)

    def __repr__(self) -> str:
        return f"<Calendar of {self.terms!r}: {len(self.lines)} periods>"
