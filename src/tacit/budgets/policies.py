"""Policies: what one question may do, apart from what it costs altogether.

A policy speaks of public facts only: the cost of the question, the columns it reads, the statistics it computes, and
how many questions failed before. It is checked before anything is charged. A question that does not say what it reads
is refused where columns are limited.

A least price bounds how many questions fit. PROMISE. While the least price of an account is the share s, no more than
1/s charges are admitted to it and to all accounts below it, whatever the composition. PROOF. Each charge takes at least
the share s of the account's budget on every axis that counts ε or ρ, and the budget is full when one of them is. A
charge in a share took it when the share was opened; one to a part that takes less, because another part was dearer, is
counted with what it falls short of s (see `accounts`). That bounds what can be told by anything an answer shows beside
its value, such as that it failed (see `books`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tacit.budgets.filters import Filter
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
        self._priced(filter_, cost, whose)
        self.reads(question, whose)

    def _priced(self, filter_: Filter, cost: Guarantee, whose: str) -> None:
        if self.largest is not None:
            asked, allowed = filter_.measure(cost), filter_.measure(self.largest)
            if any(a > b for a, b in zip(asked, allowed, strict=True)):
                raise BudgetExceeded(
                    f"one question may cost at most {self.largest!r} by the policy of {whose}, and this one costs "
                    f"{cost!r}; nothing was spent: ask with a smaller cost."
                )
        if self.least is not None and filter_.portion(cost) < self.least:
            raise BudgetExceeded(
                f"a question, and each of its aggregates, costs at least {filter_.smallest(self.least)!r} by the "
                f"policy of {whose}, and this one costs {cost!r}; nothing was spent: ask with a larger cost."
            )

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
