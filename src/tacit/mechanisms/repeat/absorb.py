"""Absorb failures: where an answer failed, return a correct one in its place, and pay for it in δ.

PROMISE  For a law that is (ε, δ)-DP (δ = 0: pure) the result is (ε, δ + (1 + e^ε)·β)-DP, whatever the caller claims
about failures. If the law fails with probability at most β on the data at hand, the result never fails.

PROOF  A failed answer is replaced with probability q = min(1, β/p), p at least the law's failure probability on the
data. So P[replaced] ≤ β on every dataset, and the result M~ differs from M with probability at most β. For any event S
    P[M~(x) ∈ S] ≤ P[M(x) ∈ S] + β ≤ e^ε·P[M(x') ∈ S] + δ + β ≤ e^ε·(P[M~(x') ∈ S] + β) + δ + β.
The term e^ε·β cannot be saved: let M tell one bit by randomised response, so that a wrong bit is a failure of
probability β = 1/(1 + e^ε). Absorbed, the bit is released as it is, δ = 1 = (1 + e^ε)·β. An answer that is good for x
may be the one replaced for x', which a bound of δ + β overlooks.

WHY A δ  Without one nothing never fails, pure or concentrated: both promises make the same answers possible on all
datasets. An answer that is a failure on one of them and possible on another is possible on the first.

ACCURACY  A failure of utility becomes one of privacy, so β must be as small as a δ. For a larger one, see
`condition_on_success`. COST  One pass over the law's outcomes, then a draw of the law.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction
from typing import Any, TypeVar

from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Guarantee, Zcdp, rounding
from tacit.mechanisms.law import Law
from tacit.numbers.enclosures import BITS, Enclosure, exp
from tacit.numbers.exact import Number, between
from tacit.proofs import Argument, Proof
from tacit.proofs import rules as by
from tacit.randomness import bernoulli
from tacit.randomness.source import Randomness

T = TypeVar("T")


class Absorbed(Law[T]):
    """The law of `absorb`."""

    def __init__(
        self, law: Law[T], correct: T, failed: Callable[[T], bool], replaced: Fraction | None, guarantee: Guarantee
    ) -> None:
        """A failed answer is replaced with probability at most ``replaced`` over all, or always if that is None."""
        self.name = f"{law.name}, failures absorbed,"
        self.guarantee = guarantee
        self._law, self._correct, self._failed = law, correct, failed
        chance = self._failure(64).high
        self._replace = Fraction(1) if replaced is None or chance <= replaced else replaced / chance

    def _failure(self, bits: int) -> Enclosure:
        """The probability that the law fails; outcomes that it does not list may fail or not."""
        failing, rest = Enclosure.of(0, bits), Enclosure.of(1, bits)
        for y in self._law.outcomes():
            p = self._law.pmf(y, bits)
            rest = rest - p
            if self._failed(y):
                failing = failing + p
        return (failing + Enclosure.between(0, max(rest.high, Fraction(0)), bits)).clamp(0, 1)

    def _draw(self, source: Randomness) -> T:
        y = self._law._draw(source)
        replaced = bernoulli(self._replace, source=source)  # tossed in any case: time should not tell
        return self._correct if replaced and self._failed(y) else y

    def pmf(self, y: T, bits: int = BITS) -> Enclosure:
        """The law's own probability, less what is replaced, plus all replacements for the correct answer."""
        kept = self._law.pmf(y, bits) * (1 - self._replace if self._failed(y) else 1)
        return kept + self._failure(bits) * self._replace if y == self._correct else kept

    def outcomes(self) -> Iterable[T]:
        """The law's, and the correct answer."""
        return dict.fromkeys([*self._law.outcomes(), self._correct])

    def outcomes_to_follow(self) -> list[T]:
        """The correct answer: a failed one may not be left at all."""
        return [self._correct]

    def key(self) -> Hashable:
        """The law, the answer in place of failures, and which of its listed outcomes fail."""
        failing = frozenset(y for y in self._law.outcomes() if self._failed(y))
        return type(self), self.guarantee, self._law.key(), self._correct, self._replace, failing


def absorb(
    law: Law[T], correct: T, failed: Callable[[T], bool], beta: Number, *, law_delta: Number | None = None
) -> Absorbed[T]:
    """The law with a failed answer replaced by a correct one, Approx(ε, δ + (1 + e^ε)β).

    ``failed`` tells of an answer whether it is too bad for the data at hand and ``correct`` is one that is not; both
    may use the private data. ``beta`` bounds, for every dataset, the probability that the law fails. ``law_delta`` is
    the δ at which a law of concentrated privacy is taken for an approximate one.

    >>> from tacit.mechanisms import absorb, laplace
    >>> law = absorb(laplace(100, epsilon=1), 100, lambda y: abs(y - 100) > 20, "1e-6")
    >>> law.guarantee
    Approx(1, 3.71828182846e-06)
    """
    chance = between(beta, "beta", 0, 1)
    return Absorbed(law, correct, failed, chance, absorbed(approximate(law.guarantee, law_delta), chance))


def approximate(guarantee: Guarantee, delta: Number | None) -> Guarantee:
    """A concentrated guarantee as (ε, δ) at this δ; any other as it is."""
    if isinstance(guarantee, Zcdp):
        if delta is None:
            raise InvalidInput("a law of concentrated privacy needs law_delta=, the delta at which it is converted.")
        return guarantee.to(Approx, delta=delta)
    if delta is not None:
        raise InvalidInput("law_delta is for laws of concentrated privacy; this one has its own guarantee.")
    return guarantee


def absorbed(guarantee: Guarantee, beta: Fraction) -> Approx:
    """(ε, δ + (1 + e^ε)β), rounded up."""
    epsilon, delta = two_parameters(guarantee)
    total = rounding.up(lambda bits: (exp(epsilon, bits) + 1) * beta + delta)
    if total >= 1:
        raise InvalidInput("beta is too large to be absorbed: delta would reach 1; give a beta as small as a delta.")
    return Approx(epsilon, total)


def two_parameters(guarantee: Guarantee) -> tuple[Fraction, Fraction]:
    """ε and δ of a pure or approximate guarantee; other kinds are refused."""
    bound = guarantee.ratio_bound()
    if bound is None:
        raise InvalidInput("the law must be Pure or Approx; no such rule is known for other kinds of guarantee.")
    return bound


def argue(
    p: Argument, *, replaced: Any = lambda beta: beta, price: Any = lambda factor, beta: (1 + factor) * beta
) -> None:
    """An event S: at most ``replaced`` of the probability moves from anywhere to the correct answer, on either side."""
    factor, delta, beta = p.real("e^ε", lambda x: x >= 1), p.within("δ", 0, 1), p.within("β", 0, 1)
    chances = [p.within(name, 0, 1) for name in ("P[M(x) ∈ S]", "P[M(x') ∈ S]")]
    absorbed_ = [p.within(name, 0, 1) for name in ("P[M~(x) ∈ S]", "P[M~(x') ∈ S]")]
    p.assume(chances[0] <= factor * chances[1] + delta)
    for plain, changed in zip(chances, absorbed_, strict=True):
        p.assume(changed <= plain + replaced(beta), plain <= changed + replaced(beta))
    by.ratio(p, absorbed_[0], absorbed_[1], factor, delta + price(factor, beta))


PROOFS = (
    Proof(
        "failures absorbed",
        "mechanisms.absorb",
        "Approx(ε, δ + (1 + e^ε)·β)",
        argue,
        "the law is (ε, δ); on every dataset an answer is replaced with probability at most β",
    ),
)
