"""Condition on success: repeat until a noisy loss is small, a bounded number of times, and never answer badly.

Each of N rounds draws an answer y of the law and a noisy loss ℓ(y) + Z, Z truncated Laplace noise on {−R, …, R}; the
first y with ℓ(y) + Z ≤ α + R is the answer, and the caller's substitute if there is none.

PROMISE  Let one round be (ε̄, δ̄)-DP, the sum of the law's promise and the noise's, and succeed with probability at
least 1 − β on every dataset, which ℓ(y) ≤ α with probability 1 − β implies. With δ̄ < 1 − β the answer is (ε~, δ~)-DP,
    ε~ = 2ε̄ − ln(1 − δ̄/(1−β)),    δ~ = δ̄/(1−β) + β^N.
Its loss is at most α + 2R with certainty, if the substitute's is.

PROOF  For answers S let s(S) be the probability that a round succeeds with an answer in S, and σ = s(everything) ≥ 1−β.
Success at last in S has probability s(S)·g(σ), g(σ) = Σ_{k<N} (1−σ)^k. As a round is private, s(S) ≤ e^ε̄·s'(S) + δ̄ and
σ ≥ e^{−ε̄}(σ' − δ̄) ≥ σ'/c with c = e^ε̄/(1 − δ̄/(1−β)). Now g falls in σ and σ·g(σ) = 1 − (1−σ)^N rises, so g(σ) ≤
g(σ'/c) ≤ c·g(σ'). Hence s(S)g(σ) ≤ e^ε̄·c·s'(S)g(σ') + δ̄·g(σ), and g(σ) ≤ 1/(1−β). The substitute is returned with
probability (1−σ)^N ≤ β^N, and nothing needs to be known about it: it may be a correct answer made from the data.

β MUST BE PROVED for every dataset: unlike the other parts it is not checked, and privacy rests on it. An exponential
mechanism or permute-and-flip has α = `law.accuracy(beta).window`, if on every dataset some value has loss 0.

COST  All N rounds are run, whatever the first success is, so that the time taken tells nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction
from typing import Any, TypeVar

from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Guarantee, rounding
from tacit.mechanisms.law import Law
from tacit.mechanisms.repeat.absorb import approximate, two_parameters
from tacit.noises import TruncatedLaplace
from tacit.numbers.enclosures import BITS, Enclosure, log
from tacit.numbers.exact import Number, between, positive, whole
from tacit.proofs import Argument, Proof
from tacit.proofs import rules as by
from tacit.proofs.terms import equal, implies
from tacit.randomness.source import Randomness

T = TypeVar("T")


class Conditioned(Law[T]):
    """The law of `condition_on_success`."""

    def __init__(
        self,
        law: Law[T],
        loss: Callable[[T], int],
        substitute: T,
        noise: TruncatedLaplace,
        alpha: int,
        repeats: int,
        guarantee: Guarantee,
    ) -> None:
        self.name = f"{law.name}, conditioned on success,"
        self.guarantee, self.repeats = guarantee, repeats
        self.limit = alpha + noise.bound
        """A noisy loss up to this is a success."""
        self.worst_loss = self.limit + noise.bound
        """No answer's loss exceeds this, if the substitute's does not."""
        self._law, self._loss, self._substitute, self._noise = law, loss, substitute, noise
        self._known: dict[int, tuple[Enclosure, Enclosure]] = {}

    def _draw(self, source: Randomness) -> T:
        answer, found = self._substitute, False
        for _ in range(self.repeats):  # to the end: time should not tell which round succeeded
            y = self._law._draw(source)
            success = self._loss(y) + self._noise.draw(source) <= self.limit
            if success and not found:
                answer, found = y, True
        return answer

    def _succeeding(self, y: T, bits: int) -> Enclosure:
        """The probability that one round succeeds with this answer."""
        return self._law.pmf(y, bits) * self._noise.tail(self._loss(y) - self.limit, bits)

    def _rounds(self, bits: int) -> tuple[Enclosure, Enclosure]:
        """g(σ), and (1−σ)^N: how often an answer counts, and the chance that no round succeeds."""
        if bits not in self._known:
            success, rest = Enclosure.of(0, bits), Enclosure.of(1, bits)
            for y in self._law.outcomes():
                rest = rest - self._law.pmf(y, bits)
                success = success + self._succeeding(y, bits)
            unlisted = Enclosure.between(0, max(rest.high, Fraction(0)), bits)
            failure = (1 - success - unlisted).clamp(0, 1)
            powers = [Enclosure.of(1, bits)]
            for _ in range(self.repeats):
                powers.append(powers[-1] * failure)
            tries = powers[0]
            for power in powers[1:-1]:
                tries = tries + power
            self._known[bits] = tries, powers[-1]
        return self._known[bits]

    def pmf(self, y: T, bits: int = BITS) -> Enclosure:
        """A rigorous enclosure of P[output = y]."""
        tries, none = self._rounds(bits)
        first = self._succeeding(y, bits) * tries
        return (first + none if y == self._substitute else first).clamp(0, 1)

    def outcomes(self) -> Iterable[T]:
        """The law's, and the substitute."""
        return dict.fromkeys([*self._law.outcomes(), self._substitute])

    def key(self) -> Hashable:
        """The law, the losses of its listed outcomes, the substitute and the public numbers."""
        losses = frozenset((y, self._loss(y)) for y in self._law.outcomes())
        public = self.guarantee, self.limit, self.repeats, self._noise
        return type(self), public, self._law.key(), losses, self._substitute


def condition_on_success(
    law: Law[T],
    loss: Callable[[T], int],
    substitute: T,
    *,
    epsilon: Number,
    delta: Number,
    beta: Number,
    alpha: int,
    repeats: int = 64,
    law_delta: Number | None = None,
) -> Conditioned[T]:
    """The law repeated until its noisy loss is small.

    ``loss`` gives the loss of an answer on the data at hand, a whole number that one person moves by at most 1 for each
    answer; ``epsilon`` and ``delta`` are spent on its noise in one round, beside what the law spends. On every dataset
    the law's loss must exceed ``alpha`` with probability at most ``beta``. ``law_delta`` is the δ at which a law of
    concentrated privacy is taken for an approximate one.

    >>> from tacit.mechanisms import condition_on_success, laplace
    >>> law = condition_on_success(laplace(0, 1), abs, 0, epsilon=1, delta="1e-6", beta="0.1", alpha=40)
    >>> type(law.guarantee).__name__
    'Approx'
    """
    chance = between(beta, "beta", 0, 1)
    each = Approx(positive(epsilon, "epsilon"), between(delta, "delta", 0, 1))
    noise = TruncatedLaplace.for_approx(each.epsilon, each.delta)
    rounds = whole(repeats, "repeats", 1)
    promise = conditioned(each + approximate(law.guarantee, law_delta), chance, rounds)
    return Conditioned(law, loss, substitute, noise, whole(alpha, "alpha"), rounds, promise)


def conditioned(one_round: Guarantee, beta: Fraction, repeats: int) -> Approx:
    """(2ε̄ − ln(1 − δ̄/(1−β)), δ̄/(1−β) + β^N), rounded up."""
    epsilon, delta = two_parameters(one_round)
    if delta >= 1 - beta:
        raise InvalidInput("delta of one round must be below 1 − beta; give a smaller delta or a law that fails less.")
    share = delta / (1 - beta)
    total = rounding.shortened(share + beta**repeats, up=True)
    if total >= 1:
        raise InvalidInput("delta would reach 1; allow more repeats, or give a smaller delta or beta.")
    return Approx(rounding.up(lambda bits: 2 * epsilon - log(1 - share, bits)), total)


def argue(p: Argument, *, chance: Any = lambda beta: 1 - beta, noisy: bool = True) -> None:
    """An event S: s and s' are the chances that a round succeeds in S, σ and σ' that it succeeds, g(σ) = Σ (1−σ)^k.

    ``chance`` is the least that a round succeeds with; without noise on the test a round promises nothing about it.
    """
    factor, delta, beta = p.real("e^ε̄", lambda x: x >= 1), p.within("δ̄", 0, 1), p.within("β", 0, 1)
    p.assume(beta < 1, delta < 1 - beta)
    own, other = p.within("s", 0, 1), p.within("s'", 0, 1)
    success, its_success = p.within("σ", chance(beta), 1), p.within("σ'", chance(beta), 1)
    tries, its_tries, none = p.positive("g(σ)"), p.positive("g(σ')"), p.within("β^N", 0, 1)
    p.assume(success > 0, its_success > 0)
    p.assume(success * tries <= 1, implies(success >= its_success, tries <= its_tries))  # g falls,
    p.assume(implies(success <= its_success, success * tries <= its_success * its_tries))  # σ·g(σ) rises up to 1
    p.assume(own <= factor * other + delta)
    if noisy:
        p.assume(its_success <= factor * success + delta)
    c = p.real("c", lambda x: equal(x * (1 - beta - delta), factor * (1 - beta)))
    with p.lemma() as known:
        p.derive(c >= factor)
        p.derive(success * c >= its_success)
        known.append(p.derive(tries <= c * its_tries))
    p.derive(tries * (1 - beta) <= 1)
    end = p.real("δ̄/(1−β)", lambda x: equal(x * (1 - beta), delta))
    found, mixed, its = p.real("s·g(σ)"), p.real("s'·g(σ)"), p.real("s'·g(σ')", lambda x: x >= 0)
    with p.lemma() as results:
        p.assume(equal(found, own * tries), equal(mixed, other * tries), equal(its, other * its_tries))
        p.derive(delta * tries <= end)
        results.append(p.derive(found <= factor * mixed + end))
        results.append(p.derive(mixed <= c * its))
    by.ratio(p, found + none, its, factor * c, end + none)


PROOFS = (
    Proof(
        "conditioned on success",
        "mechanisms.condition_on_success",
        "Approx(2ε̄ − ln(1 − δ̄/(1−β)), δ̄/(1−β) + β^N)",
        argue,
        "a round is (ε̄, δ̄) and succeeds with probability at least 1 − β on every dataset, which the caller must know",
    ),
)
