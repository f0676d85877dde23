"""Above threshold: numbers of persons, asked one after the other until one is above a threshold, for one price.

PROMISE  Pure(ε) for all answers together, however many questions are asked, and although each may depend on the answers
before it. A question is a number that adding a person raises by at most one and never lowers, such as how many persons
there are with some property. Every answer is "below" or "above"; the first "above" is the last answer.

PROOF  Draw ξ ~ Geom(ε1) once and ν_i ~ Geom(ε2) afresh for every question, ε1 + ε2 = ε. Question i is "above" when
q_i + ν_i ≥ T + ξ. That is the walk of `threshold_scan` with the need n_i = T − q_i, which adding a person moves by
something in [−1, 0]: Pure(ε1 + ε2). As long as there is something to ask, all answers so far were "below", so whoever
asks follows one sequence of questions, which does not depend on the data. Other answers given meanwhile may be used: an
interactive mechanism that is Pure(ε) is an interactive post-processing of one coin that is Pure(ε), tossed before the
first question. So a budget may charge it at the start as any other draw, and what is asked between does not matter.

ACCURACY  Of m questions, with probability 1 − β: no number that is below T − d is called "above", where m·P[ν − ξ > d]
≤ β/2, and none that is T + b or more is called "below", where P[ξ > b] ≤ β/2. `reach` states d and b.

COST  Two draws at the first question and one at each other. ξ must stay secret and is kept in memory alone: whoever
loses it pays for another.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from tacit.curves import StepLoss
from tacit.errors import InvalidInput
from tacit.grids import integers
from tacit.guarantees import Pure
from tacit.mechanisms.search.scan_rates import BETA, Rates, best_share, rates
from tacit.mechanisms.search.threshold_scan import ScanLaw, argue
from tacit.numbers.enclosures import log_ceiling
from tacit.numbers.exact import Number, between, positive, whole
from tacit.proofs import Proof
from tacit.randomness.discrete import _geometric
from tacit.randomness.source import SYSTEM, Randomness

MOVES = (1, 0)
"""How far adding a person can move a need, T − q, down and up."""

EXPECTED = 100
"""How many questions the rates of the two noises are made for; any number may be asked."""


class AboveThreshold:
    """Questions under one noisy threshold: ask until one is above. It holds a secret and cannot be copied or stored."""

    def __init__(self, threshold: int, pair: Rates, source: Randomness = SYSTEM) -> None:
        self.threshold, self.rates = whole(threshold, "threshold"), pair
        self.guarantee = Pure(pair.threshold + pair.each)
        self.asked, self.ended = 0, False
        self._source, self._noise = source, self._drawn(pair.threshold, source)

    @staticmethod
    def _drawn(rate: Fraction, source: Randomness) -> int:
        return _geometric(rate.numerator, rate.denominator, source)

    def above(self, number: int) -> bool:
        """Whether a number is above the noisy threshold; after the first that is, nothing can be asked."""
        if self.ended:
            raise InvalidInput("one was above, and that was the last answer; open another to ask on.")
        self.asked += 1
        self.ended = number + self._drawn(self.rates.each, self._source) >= self.threshold + self._noise
        return self.ended

    def law(self, numbers: Sequence[int]) -> ScanLaw:
        """The law of where it ends if these numbers were asked, whatever its own noise is."""
        return _law(numbers, self.threshold, self.rates)

    def reach(self, questions: int, beta: Number = BETA) -> tuple[int, int]:
        """(d, b): how far below the threshold an "above" may be, and how far above it a "below"."""
        half = between(beta, "beta", 0, 1) / 2
        return max(0, self.rates.need_for(whole(questions, "questions", 1), half) - 1), self.late(half)

    def late(self, chance: Fraction) -> int:
        """The least b with P[ξ ≥ b + 1] = e^{-ε1(b+1)} ≤ a chance."""
        return max(0, log_ceiling(1 / self.rates.threshold, 1 / chance) - 1)

    def __repr__(self) -> str:
        state = "ended" if self.ended else "open"
        return f"<above threshold {self.threshold:,}, {state} after {self.asked} questions, {self.guarantee!r}>"

    def __reduce__(self) -> Any:
        raise InvalidInput("its noise is secret and for one use: it cannot be copied or stored.")


def split(epsilon: Number) -> Rates:
    """The rates of both noises for an ε, by the public rule of scans for a hundred questions."""
    total = positive(epsilon, "epsilon")
    return rates(total, MOVES, best_share(total, MOVES, EXPECTED, False, BETA))


def above_threshold(numbers: Sequence[int], threshold: int, epsilon: Number) -> ScanLaw:
    """The place of the first of some numbers that is above a noisy threshold; their count where none is.

    A person must raise every number by at most one and lower none. This is the law of what `AboveThreshold` answers.

    >>> from tacit.mechanisms import above_threshold
    >>> above_threshold([3, 5, 90], 50, epsilon=1).guarantee
    Pure(1)
    """
    return _law(numbers, whole(threshold, "threshold"), split(epsilon))


def _law(numbers: Sequence[int], threshold: int, pair: Rates) -> ScanLaw:
    # An upward scan of the losses top − q, with the offset top − T: the needs are T − q. A walk that does not stop
    # returns its last value, which stands for no question.
    known = [whole(number, "a number") for number in numbers]
    top = max([threshold, *known])
    loss = StepLoss.from_losses(integers(0, len(known)), [*(top - number for number in known), 0])
    return ScanLaw(loss, True, pair, top - threshold, Pure(pair.threshold + pair.each), MOVES)


PROOFS = (
    Proof(
        "above threshold",
        "mechanisms.above_threshold",
        "Pure(ε)",
        partial(argue, change=MOVES),
        "adding a person raises every number by at most 1 and lowers none; the first one above is the last answer",
    ),
)
