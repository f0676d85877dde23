"""Poisson subsampling by person: each person enters the sample with probability p, independently and secretly.

Promise: a mechanism that is (ε, δ) on the sample is (ln(1+p(e^ε−1)), pδ) on the whole; δ = 0 is the pure case.
Why it holds: let u be the person added, A the law of the result when u is left out of the sample and B when u is in it.
Without u the result has law A, with u it has law (1−p)A + pB. As B ≤ e^ε·A + δ, the second is at most
(1+p(e^ε−1))·A + pδ. The other way round, A ≤ e^ε·B + δ gives (1−p)A + pB ≥ (1−p+pe^{−ε})·A − pe^{−ε}δ; multiply by
e^{ε'} = 1+p(e^ε−1), use (1−p+pe^{−ε})(1−p+pe^ε) ≥ 1 and e^{ε'−ε} ≤ 1 to get A ≤ e^{ε'}((1−p)A + pB) + pδ.
The sample must be secret and drawn afresh: where one sample serves several mechanisms, compose first, amplify once.
ρ-zCDP has no such rule (the divergence at high orders is not amplified), so it is refused.

Cost in accuracy: a total of the sample is divided by p, and so is its noise. For noise of scale 1/ε the ratio to the
noise without sampling is ε'/(p·ε), between 1 and 1/p (`subsampling_plan`): about 1 + ε'(1−p)/(2p) while ε' is below p,
and it grows towards 1/p beyond. Sampling error comes on top, √((1−p)/p·Σx²) for a total of x over persons. So at the
same promise a sample is never more accurate than everybody.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.errors import InvalidInput
from tacit.guarantees import rounding
from tacit.guarantees.base import G, Guarantee
from tacit.guarantees.conversions import exp_minus
from tacit.guarantees.kinds import Pure
from tacit.numbers.enclosures import Enclosure, log
from tacit.numbers.exact import Number, exact
from tacit.proofs import Argument, Proof
from tacit.proofs import rules as by

__all__ = ["SubsamplingPlan", "allowance", "amplify", "subsampling_plan"]


def amplify(guarantee: G, probability: Number) -> G:
    """What a guarantee on a secret sample means for everyone: ε' = ln(1+p(e^ε−1)) rounded up, δ' = pδ.

    >>> from tacit.guarantees import Pure, amplify
    >>> round(float(amplify(Pure(1), "0.1").epsilon), 3)
    0.159
    """
    p = share(probability)
    epsilon, delta = _bound(guarantee)
    return _like(guarantee, amplified(epsilon, p), p * delta)


def allowance(target: G, probability: Number) -> G:
    """The most that may be spent on the sample so that everyone keeps ``target``: the inverse of `amplify`.

    ε = ln(1+(e^{ε'}−1)/p) rounded down, δ = δ'/p, which must stay below 1.

    >>> from tacit.guarantees import Pure, allowance
    >>> round(float(allowance(Pure("0.1"), "0.1").epsilon), 3)
    0.719
    """
    p = share(probability)
    epsilon, delta = _bound(target)
    if delta >= p:
        raise InvalidInput("delta must be below the sampling probability; give a smaller delta or sample more.")
    return _like(target, _allowed(epsilon, p), delta / p)


def _bound(guarantee: Guarantee) -> tuple[Fraction, Fraction]:
    """ε and δ; other kinds are not amplified."""
    bound = guarantee.ratio_bound()
    if bound is None:
        name = type(guarantee).__name__
        raise InvalidInput(f"{name} is not amplified by sampling; convert it with .to(Approx, delta=...) first.")
    return bound


def _like(guarantee: G, *numbers: Fraction) -> G:
    """A guarantee of the same kind: ε, and δ where it has one."""
    return type(guarantee)(*numbers[: len(guarantee.numbers)])


@dataclass(frozen=True)
class SubsamplingPlan:
    """What sampling persons does to noise, from public facts alone."""

    probability: Fraction
    promised: Pure
    """What everybody is promised."""
    inside: Pure
    """What is spent on the sample."""
    noise_ratio: float
    """The noise of a total, over its noise without sampling at the same promise: ε'/(p·ε), at least 1."""

    def __str__(self) -> str:
        return (
            f"A sample of {float(100 * self.probability):g} % of the persons keeps {self.promised!r} with ε = "
            f"{float(self.inside.epsilon):.4g} inside; the noise of a total is {self.noise_ratio:.4g} times that "
            "without sampling, and sampling error comes on top."
        )


def subsampling_plan(epsilon: Number, probability: Number) -> SubsamplingPlan:
    """What it costs in noise to answer from a sample at the same promise ε.

    >>> from tacit.guarantees import subsampling_plan
    >>> round(float(subsampling_plan("0.1", "0.1").noise_ratio), 2)
    1.39
    """
    promised, p = Pure(epsilon), share(probability)
    inside = allowance(promised, p)
    return SubsamplingPlan(p, promised, inside, float(promised.epsilon / (p * inside.epsilon)))


def amplified(epsilon: Fraction, p: Fraction) -> Fraction:
    """ε + ln(p + (1−p)e^{−ε}), which is ln(1+p(e^ε−1)) written so that a large ε does no harm."""

    def bound(bits: int) -> Enclosure:
        return (exp_minus(epsilon, bits) * (1 - p) + p).log() + epsilon

    return epsilon if p == 1 or epsilon == 0 else min(epsilon, rounding.up(bound))


def _allowed(epsilon: Fraction, p: Fraction) -> Fraction:
    def bound(bits: int) -> Enclosure:
        return (1 - exp_minus(epsilon, bits) * (1 - p)).log() - log(p, bits) + epsilon

    if p == 1 or epsilon == 0:
        return epsilon
    most = rounding.down(bound)
    while amplified(most, p) > epsilon:  # rounding up what was rounded down: one unit less
        most -= rounding.unit(most)
    return most


def share(probability: Number) -> Fraction:
    """A sampling probability, above 0 and at most 1."""
    p = exact(probability, "probability")
    if not 0 < p <= 1:
        raise InvalidInput("probability must be above 0 and at most 1; give the chance that a person is sampled.")
    return p


def argue(
    p: Argument,
    *,
    share: Any = lambda p: p.real("p", lambda x: x > 0, lambda x: x <= 1),
    inside: Any = lambda target, p: 1 + (target - 1) / p,
    drawn: Any = lambda p: p,
) -> None:
    """An event with chance A if the person is not in the sample and B if they are, e^ε and δ inside.

    ``inside`` says e^ε for a promise of e^{ε'}; ``drawn`` says how likely the person is in the sample.
    """
    target, delta = p.real("e^ε'", lambda x: x >= 1), p.within("δ inside", 0, 1)
    chance, out, sampled = share(p), p.within("A", 0, 1), p.within("B", 0, 1)
    factor = inside(target, chance)
    p.assume(factor >= 1, sampled <= factor * out + delta, out <= factor * sampled + delta)
    with_person = (1 - drawn(chance)) * out + drawn(chance) * sampled
    with p.case("a person added"):
        by.ratio(p, out, with_person, target, chance * delta)
    with p.case("a person removed"):
        by.ratio(p, with_person, out, target, chance * delta)


PROOFS = (
    Proof(
        "amplification by sampling persons",
        "guarantees.allowance",
        "Approx(ε', pδ) from Approx(ε, δ), e^{ε'} = 1 + p(e^ε − 1); δ = 0 is Pure",
        argue,
        "a person is in the secret sample with probability p, independently of all others",
    ),
)
