"""`best_of`: run a private algorithm a secret random number of times and keep the best, say to choose its parameters.

PROMISE  What `tacit.mechanisms.repeat.repeat_and_select` promises, given that *one* call of the algorithm, its score
included, keeps the guarantee that the caller states for it on the data. That statement is trusted: the algorithm reads
the data itself, and nothing here can check it.

PROOF  That of `tacit.mechanisms.repeat.repeat_promises`, for the law of one call with a parameter drawn uniformly from
the candidates: a mixture of private laws of the same guarantee has that guarantee. A call that fails (an exception, no
pair, a score that is no finite number) is an output like any other, of the lowest score: post-processing. What it
raised is not passed on. The budget is charged before the first call.

The time taken shows the number of calls, and that number must stay secret: let nobody time it who sees the output.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from numbers import Integral, Real
from typing import Any

from tacit.answers import Answer
from tacit.answers.values import show
from tacit.black_boxes.records import fresh_name
from tacit.budgets import Budget, Question, open_budget
from tacit.errors import InvalidInput
from tacit.guarantees import Guarantee
from tacit.mechanisms.repeat.repeat_and_select import best
from tacit.mechanisms.repeat.repeat_promises import promised
from tacit.mechanisms.repeat.run_counts import RunCount
from tacit.numbers.exact import Number
from tacit.randomness import SYSTEM, Randomness, uniform_below
from tacit.tables import Session
from tacit.tables.releasing.releaser import charge_and_release


@dataclass(frozen=True)
class Selection:
    """The best of several runs: all of it may be released, for the guarantee that its score states.

    >>> from tacit.mechanisms import NegativeBinomial
    >>> best = tacit.best_of(lambda: (1, "found"), NegativeBinomial(1, "0.2"), guarantee=Pure("0.1"), budget=Pure(1))
    >>> best.output
    'found'
    """

    score: Answer
    """The best score, as an answer that states what was paid; its value is None where no run succeeded."""
    output: Any = None
    """What the algorithm returned with that score."""
    candidate: Any = None
    """The parameter it was called with."""

    def __str__(self) -> str:
        marked = "" if self.score.private else "NOT PRIVATE (seeded randomness). "
        scored = "No run succeeded" if self.score.value is None else f"The best run scored {show(self.score.value)}"
        chosen = "" if self.candidate is None else f" with the candidate {self.candidate!r}"
        return f"{marked}{scored}{chosen}. Protects {self.score.protected} with {self.score.guarantee!r}."


def best_of(
    run: Callable[..., tuple[Any, Any]],
    runs: RunCount,
    *,
    guarantee: Guarantee,
    candidates: Sequence[Any] | None = None,
    budget: Guarantee | Budget | None = None,
    session: Session | None = None,
    order: Number | None = None,
    delta: Number | None = None,
    randomness: Randomness = SYSTEM,
) -> Selection:
    """The best of a random number of calls of ``run``, which returns (score, output) and is private by itself.

    Args:
        run: the algorithm; it returns a score and an output, and reads the data itself.
        runs: how the number of calls is drawn: `NegativeBinomial(eta, gamma)` or `Poisson(mean)` of `tacit.mechanisms`.
        guarantee: the guarantee of one call, including its score; Tacit does not check it.
        candidates: parameters for ``run``; each call gets one of them at random.
        budget: what pays: a guarantee or an open budget. The whole costs the guarantee of `repeat_and_select`.
        session: a session whose budget pays instead.
        order: the order of the whole's `Renyi` guarantee, where one is wanted.
        delta: the δ of the whole's `Approx` guarantee, where one is wanted.
        randomness: where the number of calls and the candidates come from.

    >>> from tacit.mechanisms import NegativeBinomial
    >>> def fit(width):  # here a private algorithm would read the data and draw noise
    ...     return -width, f"model of width {width}"
    >>> tacit.best_of(fit, NegativeBinomial(1, "0.2"), guarantee=Pure("0.1"), candidates=[1, 2], budget=Pure(1)).score
    Answer(score of the best of several runs: ..., Pure(0.3))
    """
    if not callable(run):
        raise InvalidInput("run must be a function that returns (score, output).")
    if not isinstance(runs, RunCount):
        raise InvalidInput("runs must be NegativeBinomial(eta, gamma) or Poisson(mean) of tacit.mechanisms.")
    if not isinstance(guarantee, Guarantee):
        raise InvalidInput("guarantee must say what one call of run keeps, such as Pure('0.1').")
    if candidates is not None and len(candidates) == 0:
        raise InvalidInput("candidates must not be empty; leave them out if run takes no argument.")
    if (budget is None) == (session is None):
        raise InvalidInput("give either budget=, such as budget=Pure(1), or session=, whose budget pays.")
    paying = budget if session is None else session.budget
    payer = paying if isinstance(paying, Budget) else open_budget(paying)  # type: ignore[arg-type]
    cost = promised(guarantee, runs, order=order, delta=delta)
    question = Question(identity=f"best_of {fresh_name()}", text="best of several runs", statistics=("best_of",))
    kept: list[tuple[Any, Any, Any]] = []

    def once() -> tuple[Any, Any, Any] | None:
        candidate = None if candidates is None else candidates[uniform_below(len(candidates), source=randomness)]
        try:
            score, output = run() if candidates is None else run(candidate)
            number = int(score) if isinstance(score, Integral) else float(score)
        except Exception:  # what it says may show rows
            return None
        return (number, output, candidate) if isinstance(score, Real) and isfinite(number) else None

    def release() -> Answer:
        found = best(filter(None, (once() for _ in range(runs.draw(randomness)))), lambda result: result[0])
        if found is not None:
            kept.append(found)
        return Answer(
            statistic="score of the best of several runs",
            value=None if found is None else found[0],
            guarantee=cost,
            mechanism=f"the best of a secret number of runs, {runs!r}, each {guarantee!r}",
            protected="any one person with all their records",
            private=randomness.private,
        )

    answer = charge_and_release(payer, cost, question, release)
    assert isinstance(answer, Answer)
    return Selection(answer, *kept[0][1:]) if kept else Selection(answer)
