"""Policies: what one question may do, apart from what it costs altogether.

A policy speaks of public facts only: the cost of the question, the columns it reads, the statistics it computes. It
is checked before anything is charged. A question that does not say what it reads is refused where columns are limited.
"""

from __future__ import annotations

from dataclasses import dataclass

from tacit.budgets.filters import Filter
from tacit.budgets.questions import Question
from tacit.errors import BudgetExceeded, UnsupportedQuery
from tacit.guarantees import Guarantee


@dataclass(frozen=True)
class Policy:
    """Limits on single questions; None means no limit."""

    largest: Guarantee | None = None
    """The largest cost of one question."""
    columns: frozenset[str] | None = None
    """The columns that may be read, as "table.column" or "table.*"."""
    statistics: frozenset[str] | None = None
    """The statistics that may be computed."""

    def check(self, filter_: Filter, cost: Guarantee, question: Question | None, whose: str) -> None:
        """Refuse a question that goes beyond the policy."""
        if self.largest is not None:
            asked, allowed = filter_.measure(cost), filter_.measure(self.largest)
            if any(a > b for a, b in zip(asked, allowed, strict=True)):
                raise BudgetExceeded(
                    f"one question may cost at most {self.largest!r} by the policy of {whose}, and this one costs "
                    f"{cost!r}; nothing was spent: ask with a smaller cost."
                )
        if self.columns is not None:
            self._listed("column", question.columns if question else (), self.columns, whose)
        if self.statistics is not None:
            self._listed("statistic", question.statistics if question else (), self.statistics, whose)

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
