"""Which kind of budget serves a list of questions best, from their costs alone.

Every kind that promises at most a given (ε, δ) is opened in memory and charged with the list, again and again, until it
refuses. The kinds are: plain sums, advanced and tight composition of `Approx`, and the largest `Zcdp`, `ApproxZcdp` and
`Gdp` whose conversion stays within (ε, δ). Nothing is read, nothing is spent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tacit.budgets.accounts import Charge
from tacit.budgets.budget import Budget, open_budget
from tacit.errors import BudgetExceeded, InvalidInput
from tacit.guarantees import Approx, ApproxZcdp, Gdp, Zcdp

MOST = 200
"""After so many rounds it does not matter any more how many more there are."""


@dataclass(frozen=True)
class Advice:
    """How many times a list of questions fits into each kind of budget."""

    total: Approx
    """What all of them promise."""
    rounds: dict[str, int]
    """For each kind, as it would be opened, how many times the list fits."""

    @property
    def best(self) -> str:
        """The kind into which it fits most often; of equals the simplest."""
        return max(self.rounds, key=lambda kind: self.rounds[kind])

    def __str__(self) -> str:
        counts = ", ".join(f"{_times(n)} into {kind}" for kind, n in self.rounds.items())
        return f"Within {self.total!r} these questions fit {counts}. Best: {self.best}."


def _times(n: int) -> str:
    return f"{MOST} times or more" if n >= MOST else "once" if n == 1 else f"{n} times"


def advise(total: Approx, charges: Sequence[Charge]) -> Advice:
    """Which kind of budget within (ε, δ) takes these charges most often.

    Args:
        total: the (ε, δ) that every kind is held to.
        charges: what each question costs, with what is asked for it or None.

    >>> from tacit.budgets import advise
    >>> advise(Approx(1, "1e-6"), [(Pure("0.01"), None)]).best
    'Approx(1, 1e-06), composition="tight"'
    """
    if not isinstance(total, Approx) or total.epsilon == 0:
        raise InvalidInput('total must be an Approx with an epsilon above 0, such as Approx(1, "1e-6").')
    if not charges:
        raise InvalidInput("there are no questions to advise on; give at least one cost.")
    kinds = {repr(total): open_budget(total)}
    kinds |= {f'{total!r}, composition="{how}"': open_budget(total, how) for how in ("advanced", "tight")}
    within = (kind.within(total) for kind in (Zcdp, ApproxZcdp, Gdp))
    kinds |= {repr(each): open_budget(each) for each in within}
    return Advice(total, {name: _rounds(budget, charges) for name, budget in kinds.items()})


def _rounds(budget: Budget, charges: Sequence[Charge]) -> int:
    for n in range(MOST):
        try:
            for cost, question in charges:
                budget.charge(cost, question)
        except (BudgetExceeded, InvalidInput):
            return n
    return MOST
