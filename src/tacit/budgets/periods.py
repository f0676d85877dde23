"""Periods: a budget for each stretch of new data, and one bound for everything about a person.

A calendar hangs below the budget; each of its periods is an account. A charge to a period counts in the period and in
the budget above, which is the bound for a lifetime, and must fit into both (`tacit.budgets.accounts`; in a ledger in
one transaction). A question that is charged to a period sees only rows that are dated in it (``date=`` of a table).

PROMISE. For whoever asks, and however each question was chosen in view of the answers so far:
- *event*: any one row of a dated table is protected by what its period may cost;
- *period*: so are all rows of one person that are dated in one period, together;
- *lifetime*: any one person, with all rows in all periods, is protected by the bound for a lifetime. One who has rows
  in k periods is protected by k times what a period may cost, if that is less.
Tables without a date are read whole in every period: their rows are protected by the bound for a lifetime alone.

PROOF. Let two histories of the data differ, in every state, in rows of one person that are dated in a set S of periods.
A question that is charged to a period outside S reads the same rows in both and, given the answers so far, has the same
law. So the privacy loss is that of the charges to the periods of S. Those to one period are kept by its own filter
(`filters`) to what it may cost: that is *period*, and *event*, for a row is dated in one. Those to several add up, and
all charges together are kept by the filter of the budget above: *lifetime*. A row whose date is corrected later lies in
two periods of the history, so that person is one of two periods. Nothing is charged outside of a period
(`Policy.dated`), so there is nothing else to add.

CARRYING OVER. What a period leaves is gone when the next begins, unless somebody carries it over: then the older period
may spend no more than it has, and the newer one as much more. The sum stays what it was; rows of the newer period are
protected by its larger limit, which the calendar shows.

WITHOUT A BOUND FOR A LIFETIME every period has its budget and nothing adds them up: who has rows in k periods is
protected by k times a period's budget only, and k grows as long as data come. After a hundred periods of ε = 1 the
promise is ε = 100, which is none. It must be asked for by name (``without_lifetime_bound=True``), and every face says
that it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

from tacit.errors import InvalidInput
from tacit.guarantees import Guarantee
from tacit.numbers.exact import check_listed

_FORMS: dict[str, tuple[str, str]] = {
    "day": (r"(\d{4})-(\d\d)-(\d\d)", "2026-11-16"),
    "week": (r"(\d{4})-W(\d\d)", "2026-W47"),
    "month": (r"(\d{4})-(\d\d)", "2026-11"),
    "quarter": (r"(\d{4})-Q([1-4])", "2026-Q4"),
    "year": (r"(\d{4})", "2026"),
}
EVERY = tuple(_FORMS)
"""How long the periods of a calendar may be."""


def _months(year: int, month: int, count: int) -> tuple[date, date]:
    last = year * 12 + month - 1 + count
    return date(year, month, 1), date(last // 12, last % 12 + 1, 1)


_SPANS: dict[str, Callable[..., tuple[date, date]]] = {
    "day": lambda year, month, day: (date(year, month, day), date(year, month, day) + timedelta(1)),
    "week": lambda year, week: ((day := date.fromisocalendar(year, week, 1)), day + timedelta(7)),
    "month": lambda year, month: _months(year, month, 1),
    "quarter": lambda year, quarter: _months(year, 3 * quarter - 2, 3),
    "year": lambda year: _months(year, 1, 12),
}


@dataclass(frozen=True)
class Period:
    """A stretch of a calendar, by its public name.

    >>> from tacit.budgets.periods import Period
    >>> november = Period.of("2026-11", "month")
    >>> str(november.start), str(november.end)
    ('2026-11-01', '2026-12-01')
    """

    name: str
    every: str
    start: date
    end: date
    """The first day after it."""

    @classmethod
    def of(cls, name: object, every: str) -> Period:
        """The period of a name, such as "2026-11" of a calendar of months.

        Args:
            name: the period as it is written: 2026-11-16, 2026-W47, 2026-11, 2026-Q4 or 2026.
            every: how long the periods are: "day", "week", "month", "quarter" or "year".

        >>> from tacit.budgets.periods import Period
        >>> str(Period.of("2026-W47", "week").start)
        '2026-11-16'
        """
        form, example = _FORMS[every]
        found = re.fullmatch(form, name, re.ASCII) if isinstance(name, str) else None
        try:
            if found is not None:
                return cls(found[0], every, *_SPANS[every](*map(int, found.groups())))
        except (ValueError, OverflowError):
            pass  # no such day
        raise InvalidInput(f"period= must be a {every} such as '{example}'; give one.")


@dataclass(frozen=True)
class Periods:
    """A budget for each period of new data, and a bound for a person's lifetime, as ``budget=`` of a session takes it.

    >>> budget = tacit.Periods("month", Pure(1), lifetime=Pure(6))
    >>> budget
    Periods('month', Pure(1), lifetime=Pure(6))
    """

    every: str
    """How long a period is: "day", "week", "month", "quarter" or "year"."""
    each: Guarantee
    """What all questions about one period may cost."""
    lifetime: Guarantee | None = None
    """What all questions about all periods may cost: the protection of whoever has rows in many."""
    without_lifetime_bound: bool = False
    """True, in place of a lifetime, for budgets that are refreshed without an end: then whoever has rows in k periods
    is protected by k times a period's budget only."""

    def __post_init__(self) -> None:
        check_listed(self.every, "every", EVERY)
        if not isinstance(self.each, Guarantee) or (self.lifetime is None) != (self.without_lifetime_bound is True):
            raise InvalidInput(
                "budgets by period need each=, and lifetime=, a bound for whoever has rows in many periods; without "
                "one a person in k periods is protected by k times each= only, which must be asked for by "
                "without_lifetime_bound=True."
            )

    @property
    def above(self) -> Guarantee:
        """The total of the budget that the calendar hangs below."""
        return self.each if self.lifetime is None else self.lifetime

    def __repr__(self) -> str:
        bound = "without_lifetime_bound=True" if self.lifetime is None else f"lifetime={self.lifetime!r}"
        return f"Periods({self.every!r}, {self.each!r}, {bound})"


@dataclass(frozen=True)
class PeriodLine:
    """One period of a calendar as it stands."""

    name: str
    limit: Guarantee
    """What it may cost: as every period, or less or more where something was carried over."""
    spent: Guarantee
    left: Guarantee
    """In view of the bound for a lifetime, too."""


def holds(every: str, each: Guarantee, lifetime: Guarantee | None, largest: Guarantee | None = None) -> dict[str, str]:
    """What holds for whom, in a sentence for each: "event", "period" and "lifetime".

    ``largest`` is what the dearest period may cost, where something was carried over.
    """
    most = each if largest is None else largest
    carried = "" if most == each else f" ({each!r}, and what was carried over)"
    cost = f"what all questions about that {every} may cost together, {most!r}{carried}"
    found = {
        "event": f"Any one row lies in one {every} and is protected by {cost}.",
        "period": f"All rows of any one person in one {every} are protected together by {cost}.",
    }
    if lifetime is not None:
        several = f"one who has rows in k of them by k times {each!r}, if that is less"
        bound = f"in however many {every}s, is protected by the bound for a lifetime, {lifetime!r}; {several}."
        return found | {"lifetime": f"Any one person, with all their rows {bound}"}
    return found | {
        "lifetime": f"There is no bound for a lifetime, as was asked for: one who has rows in k {every}s is protected "
        f"by k times {each!r} only, after twelve of them by {each * 12!r}, and by less with each further one."
    }
