"""Stable mode: the most frequent value, of any kind and without a list of candidates, if it is clearly ahead.

PROMISE  Approx(ε, δ) for one draw; the output is a value that occurs in the data, or None (a refusal).

PROOF  Propose-test-release with bound 0. Let lead be the votes of the most frequent value minus those of the next, 0
in a tie. One person, with at most one vote for each of any number of values, moves the lead by at most 1. Release when
lead − 1 + Z ≥ T, Z discrete Laplace of rate ε, T the least integer with P[Z ≥ T] = e^{-εT}/(1 + e^{-ε}) ≤ δ; never in
a tie. Neighbours with the same unique mode pay ε for the test. Otherwise one of them is tied or their modes differ,
each by at most 1: every lead is at most 1, and a release has probability at most P[Z ≥ T] ≤ δ. The noise needs both
signs, as for `stable_argmin`.

ACCURACY  A mode that leads by T + k, P[Z ≥ k] ≤ β, is released with probability 1 − β. No noise is added to it.

COST  One count of the values and one draw.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from tacit.guarantees import Approx
from tacit.mechanisms.law import Accuracy, Law, Named
from tacit.mechanisms.person_values import counted
from tacit.noises import DiscreteLaplace
from tacit.numbers.enclosures import BITS, Enclosure
from tacit.numbers.exact import Number, between, positive
from tacit.proofs import Argument, Proof
from tacit.proofs import rules as by
from tacit.randomness import Randomness


class StableModeLaw(Law[Hashable | None]):
    """The law of the stable mode: one value with some probability, None with the rest."""

    name = "stable mode"

    def __init__(self, mode: Hashable | None, lead: int, epsilon: Fraction, delta: Fraction) -> None:
        self.guarantee = Approx(epsilon, delta)
        self._noise, self._mode, self._lead = DiscreteLaplace(epsilon), mode, lead
        self.threshold = self._noise.threshold(delta)

    def named(self) -> Named:
        """The noise of the test, and what it must reach."""
        return {"law": "stable mode", "rate": str(self._noise.rate), "threshold": str(self.threshold)}

    def _draw(self, source: Randomness) -> Hashable | None:
        return self._mode if self._lead - 1 + self._noise.draw(source) >= self.threshold else None

    def pmf(self, y: Hashable | None, bits: int = BITS) -> Enclosure:
        """A rigorous enclosure of P[output = y]; None is a refusal."""
        released = self._noise.tail(self.threshold - self._lead + 1, bits)
        released = Enclosure.of(0, bits) if self._mode is None else released
        if y is None:
            return (1 - released).clamp(0, 1)
        return released if y == self._mode else Enclosure.of(0, bits)

    def outcomes(self) -> Iterable[Hashable]:
        """The mode; what is left is a refusal."""
        return [] if self._mode is None else [self._mode]

    def key(self) -> Hashable:
        """The mode and its lead."""
        return type(self), self.guarantee, self._mode, self._lead

    def accuracy(self, beta: Number) -> Accuracy:
        """The lead from which the mode is released."""
        failure = between(beta, "beta", 0, 1)
        lead = self.threshold + self._noise.threshold(failure)
        statement = f"a value ahead by {lead} or more is released with probability at least {1 - failure}"
        return Accuracy(failure, lead, statement)


def lead(votes: Iterable[Hashable] | Mapping[Hashable, int]) -> tuple[Hashable | None, int]:
    """The most frequent value and how many votes it is ahead of the next; (None, 0) in a tie. NOT PRIVATE."""
    counts: Counter[Hashable] = Counter()
    for vote, persons in counted(votes):
        if vote is not None:
            counts[vote] += persons
    (mode, most), (_, second) = (*counts.most_common(2), (None, 0), (None, 0))[:2]
    return (mode, most - second) if most > second else (None, 0)


def stable_mode(votes: Iterable[Hashable] | Mapping[Hashable, int], epsilon: Number, delta: Number) -> StableModeLaw:
    """The most frequent value, one vote for each person, if it is clearly ahead of all others; otherwise None.

    >>> from tacit.mechanisms import stable_mode
    >>> law = stable_mode(["north"] * 60 + ["south"], epsilon=1, delta="1e-6")
    >>> round(float(law.pmf("north")), 3)
    1.0
    """
    return StableModeLaw(*lead(votes), positive(epsilon, "epsilon"), between(delta, "delta", 0, 1))


def decide(
    p: Argument, epsilon: Any, delta: Any, lead: Any, other: Any, *, same: bool, room: Any, sides: int = 2
) -> None:
    """A release when lead + Z ≥ T, of the same value on both datasets or not; P[Z ≥ T − room] ≤ δ by the choice of T.

    The leads of both datasets differ by at most 1; where the released values differ, both are at most ``room``.
    """
    z, threshold = p.whole("Z"), p.whole("T")
    move = other - lead
    released, again = lead + z >= threshold, other + z - move >= threshold
    price = by.shift(p, -move, epsilon, epsilon if sides == 2 else None)
    by.keep(p, ~released, ~again)
    p.promise(price, epsilon)
    if same:
        by.keep(p, released, again)
    else:
        p.promise(by.event(p, released, z, threshold - room, delta), delta)


def argue(p: Argument, *, lower: int = 0, sides: int = 2) -> None:
    """Votes a > b for the modes of one dataset and of another; ``lower`` is how much too low T is. A tie is never
    released.
    """
    epsilon, delta = p.positive("ε"), p.positive("δ")
    for joins in (1, -1):
        a, b = p.count("a"), p.count("b")
        low, high = min(0, joins), max(0, joins)
        more, fewer = p.steps("move of a", low, high), p.steps("move of b", low, high)
        with p.case("the same mode"):
            second = by.extreme(p, "move of the next", low, high)
            ahead = p.count("lead", 1)
            decide(p, epsilon, delta, ahead - 1, ahead + more - second - 1, same=True, room=-lower, sides=sides)
        with p.case("another mode, or a tie", a > b, b + fewer >= a + more):
            ahead, other = p.steps("lead", 0, a - b), p.steps("other lead", 0, b + fewer - a - more)
            p.derive((ahead <= 1) & (other <= 1))
            decide(p, epsilon, delta, ahead - 1, other - 1, same=False, room=-lower, sides=sides)
            shown = p.within("P[the other releases]", 0, delta)
            by.ratio(p, 1, 1 - shown, 1, delta)  # a tie refuses with certainty, the other but for δ


PROOFS = (
    Proof(
        "stable mode",
        "mechanisms.stable_mode",
        "Approx(ε, δ)",
        argue,
        "a person moves each vote by 0 or 1, all up or all down; P[Z ≥ T] ≤ δ by the choice of T",
    ),
)
