"""Single mechanisms, with what neighbours' results can show: the Rényi divergence and the hockey stick.

The *hockey stick* of two laws P and Q at x = e^γ is H(x) = sup_E P(E) − x·Q(E), the least δ that makes them (γ, δ).
PROMISE. `stick` is at least H(x), for x ≥ 1, for every pair of neighbours' results in either order. Below 1 it follows:
H(1/x) = 1 − 1/x + H(x)/x. A convex function of x between (1 − x)₊ and 1 that bounds all pairs is the hockey stick of
one pair of laws, and that pair *dominates* the mechanism: its results are one post-processing of the pair for each pair
of neighbours (Blackwell). So whatever is true of the pair under composition is true of the mechanism.

PROOF, formula by formula, with E = e^ε:
- any ε-DP mechanism: randomised response, (E − x)/(1 + E). Among k answers, the same over the k answers' law.
- Laplace noise with a density: 1 − √(x/E). Noise that is log-concave, results moving by up to d: the likelihood ratio
  is monotone, so E is a half-line and H(x) = max_k P[Z ≥ k] − x·P[Z ≥ k + d], which grows with d. On the integers the
  best k is the first one beyond which the ratio is above x.
- exponential mechanism: log ratios lie in [t − ε, t] for some t in [0, ε]. Of all laws of such a loss the one on both
  ends has the largest hockey stick, since (1 − x·y)₊ is convex in the ratio y, and that is
  (1 − e^{t−ε})(1 − x·e^{−t})/(1 − 1/E). It is largest at t = (γ + ε)/2: (1 − √(x/E))²/(1 − 1/E).
- lopsided noise: log ratios lie in [−down, up] one way and [−up, down] the other; the two ends again.
- Gaussian noise of deviation 1/μ, μ² = 2ρ: P[N ≥ γ/μ − μ/2] − x·P[N ≥ γ/μ + μ/2]; in any dimension, where μ bounds the
  ℓ2 norm of the move.
- any ρ-zCDP mechanism: the least of e^{(α−1)(αρ−γ)}(1 − 1/α)^α/(α − 1) for some α (see `conversions`), and √(ρ/2).
- Poisson sampling of persons with probability p: a set has probability (1−p)Q + pP with the person. One way
  H(x) = p·H₀(1 + (x−1)/p); the other way (1 − (1−p)x)·H₀(px/(1 − (1−p)x)) while (1−p)x < 1, and 0 from there on.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor
from typing import TYPE_CHECKING

from tacit.guarantees import conversions, rounding
from tacit.guarantees.conversions import exp_minus
from tacit.guarantees.kinds import Pure
from tacit.guarantees.rounding import written
from tacit.guarantees.subsampling import amplified
from tacit.numbers.enclosures import Enclosure, exp, log, sqrt, total
from tacit.numbers.gaussian_sums import normal_tail, tail_sum, whole_sum

ZERO = Fraction(0)


class Mechanism:
    """One mechanism: a frozen value that knows the worst that neighbours' results can show."""

    if TYPE_CHECKING:

        @property
        def epsilon(self) -> Fraction | None:
            """Its pure guarantee; None if it has none."""

        @property
        def rho(self) -> Fraction:
            """The ρ of its zCDP."""

    def divergence(self, order: Fraction, bits: int) -> Enclosure:
        """The Rényi divergence at an order above 1, at most."""
        raise NotImplementedError

    def stick(self, x: Enclosure) -> Enclosure:
        """The hockey stick at x = e^γ ≥ 1, at most."""
        raise NotImplementedError

    def spread(self, bits: int) -> Fraction:
        """A γ from which on the hockey stick is at most 2^-bits."""
        assert self.epsilon is not None
        return self.epsilon

    def cases(self) -> tuple[Mechanism, ...]:
        """Mechanisms such that each pair of neighbours' results is dominated by one of them, the dearest one first.

        Their hockey sticks may be compared one by one, which is sharper than to compare their largest.
        """
        return (self,)

    @property
    def reverse(self) -> Mechanism:
        """The same laws in the other order; itself where both orders look alike."""
        return self

    def kinks(self, k: int, size: int) -> tuple[int, ...]:
        """Where, in steps of ln(1 + 1/k), its hockey stick bends sharply: all steps around its largest loss."""
        return tuple(range(max(0, size - 4), size))


def _positive_part(found: Enclosure) -> Enclosure:
    return Enclosure.between(max(found.low, ZERO), max(found.high, ZERO), found.bits)


def _upper(values: list[Enclosure]) -> Enclosure:
    return Enclosure.between(max(v.low for v in values), max(v.high for v in values), values[0].bits)


@dataclass(frozen=True, repr=False)
class RandomisedResponse(Mechanism):
    """The truth with e^ε times the probability of each of the others; with two answers, any ε-DP mechanism."""

    epsilon: Fraction
    size: int = 2

    @property
    def rho(self) -> Fraction:
        """By way of the pure guarantee: tight for two answers, and valid for more."""
        return Pure(self.epsilon)._rho()

    def divergence(self, order: Fraction, bits: int) -> Enclosure:
        """As for the coin among all answers."""
        return conversions.pure_renyi(self.epsilon, order, bits, self.size)

    def stick(self, x: Enclosure) -> Enclosure:
        """(E − x)/(E + k − 1)."""
        e = exp(self.epsilon, x.bits)
        return _positive_part((e - x) / (e + (self.size - 1)))

    def __repr__(self) -> str:
        if self.size == 2:
            return f"pure({written(self.epsilon)})"
        return f"randomised_response({written(self.epsilon)}, {self.size})"


@dataclass(frozen=True, repr=False)
class Laplace(Mechanism):
    """Laplace noise."""

    epsilon: Fraction
    sensitivity: int | None
    """In steps of the lattice; None where the noise has a density."""

    @property
    def rho(self) -> Fraction:
        """The Kullback–Leibler divergence, as `renyi_curves` proves."""
        return min(Pure(self.epsilon)._rho(), rounding.up(self._kullback_leibler))

    def _kullback_leibler(self, bits: int) -> Enclosure:
        change = 1 - exp_minus(self.epsilon, bits)
        if self.sensitivity is None:
            return self.epsilon - change
        r = exp_minus(self.epsilon / self.sensitivity, bits)
        return self.epsilon - change * r * 2 / (1 - r**2) * (self.epsilon / self.sensitivity)

    def divergence(self, order: Fraction, bits: int) -> Enclosure:
        """The exact one."""
        w = exp_minus((2 * order - 1) * self.epsilon, bits)
        if self.sensitivity is None:
            moment = (1 + w + (1 - w) / (2 * order - 1)) / 2
        else:
            step = self.epsilon / self.sensitivity
            r, q = exp_minus(step, bits), exp_minus((2 * order - 1) * step, bits)
            moment = (1 + w + (1 - r) * (q - w) / (1 - q)) / (1 + r)
        return moment.log() / (order - 1) + self.epsilon

    def stick(self, x: Enclosure) -> Enclosure:
        """1 − √(x/E), or on the integers the best of the half-lines that may be best."""
        if self.sensitivity is None:
            return _positive_part(1 - (x * exp(-self.epsilon, x.bits)).sqrt())
        step = self.epsilon / self.sensitivity
        r = exp(-step, x.bits)
        best = (self.sensitivity - x.log() / step) / 2  # the ratio is above x before this place
        places = range(max(0, floor(best.low) - 1), min(self.sensitivity, ceil(best.high) + 1) + 1)
        return _positive_part(_upper([self._half_line(x, r, k) for k in places or range(1)]))

    def _half_line(self, x: Enclosure, r: Enclosure, k: int) -> Enclosure:
        """P[Z ≤ k] − x·P[Z ≤ k − d] for 0 ≤ k ≤ d."""
        assert self.sensitivity is not None
        own, other = r ** (k + 1), r ** (self.sensitivity - k)
        if k == self.sensitivity:
            return 1 - own / (1 + r) - x * (1 - r / (1 + r))
        return 1 - own / (1 + r) - x * other / (1 + r)

    def __repr__(self) -> str:
        if self.sensitivity is None:
            return f"laplace({written(self.epsilon)})"
        return f"discrete_laplace({written(self.epsilon)}, {self.sensitivity})"


@dataclass(frozen=True, repr=False)
class Exponential(Mechanism):
    """The exponential mechanism: log ratios on neighbours spread over an interval of length ε."""

    epsilon: Fraction

    @property
    def rho(self) -> Fraction:
        """ε²/8, as `renyi_curves` proves."""
        return min(self.epsilon**2 / 8, Pure(self.epsilon)._rho())

    def divergence(self, order: Fraction, bits: int) -> Enclosure:
        """The largest over where the interval lies."""
        all_of_it = 1 - exp_minus(order * self.epsilon, bits)
        end = all_of_it / (1 - exp_minus((order - 1) * self.epsilon, bits)) * ((order - 1) / order)
        weight = all_of_it / (1 - exp_minus(self.epsilon, bits)) / order
        return end.log() + weight.log() / (order - 1) + self.epsilon

    def stick(self, x: Enclosure) -> Enclosure:
        """(1 − √(x/E))²/(1 − 1/E)."""
        r = exp(-self.epsilon, x.bits)
        return _positive_part(1 - (x * r).sqrt()) ** 2 / (1 - r)

    def cases(self) -> tuple[Mechanism, ...]:
        """Log ratios in [t − ε, t]: for t between a and b they lie in [a − ε, b]; t and ε − t are mirror images.

        The product b(ε − a), about the variance, stays within 2 % of (ε/2)², and no case is wider than ε/16.
        """
        found, b = list[Mechanism](), self.epsilon / 2 * Fraction(101, 100)
        while b > 0:
            down = rounding.shortened(Fraction(51, 200) * self.epsilon**2 / b, up=False, digits=6)
            down = min(down, self.epsilon, self.epsilon * Fraction(17, 16) - b)
            found.append(Ends(b, down))
            b = self.epsilon - down
        return tuple(found)

    def __repr__(self) -> str:
        return f"exponential({written(self.epsilon)})"


@dataclass(frozen=True)
class Ends(Mechanism):
    """Two laws in one order whose log ratio is up or −down, and nothing else."""

    up: Fraction
    down: Fraction

    def stick(self, x: Enclosure) -> Enclosure:
        """q(e^up − x), with q = (1 − e^{−down})/(e^up − e^{−down}) the second law's chance of the upper end."""
        e, r = exp(self.up, x.bits), exp(-self.down, x.bits)
        return _positive_part((1 - r) / (e - r) * (e - x))

    def spread(self, bits: int) -> Fraction:
        """Up."""
        return self.up

    @property
    def reverse(self) -> Mechanism:
        """With the ends exchanged."""
        return self if self.up == self.down else Ends(self.down, self.up)


@dataclass(frozen=True, repr=False)
class Lopsided(Mechanism):
    """Log ratios between −down and up when a person is added, and so between −up and down when one is removed."""

    up: Fraction
    down: Fraction

    @property
    def epsilon(self) -> Fraction:
        """The larger of the two."""
        return max(self.up, self.down)

    @property
    def rho(self) -> Fraction:
        """They spread over an interval of length up + down."""
        return min(Exponential(self.up + self.down).rho, Pure(self.epsilon)._rho())

    def divergence(self, order: Fraction, bits: int) -> Enclosure:
        """As an interval of length up + down, or as a pure guarantee."""
        found = [Exponential(self.up + self.down), RandomisedResponse(self.epsilon)]
        return min((each.divergence(order, bits) for each in found), key=lambda d: d.high)

    def stick(self, x: Enclosure) -> Enclosure:
        """The larger of the two."""
        return _upper([case.stick(x) for case in self.cases()])

    def cases(self) -> tuple[Mechanism, ...]:
        """Either way round."""
        return tuple(
            {(self.up, self.down): Ends(self.up, self.down), (self.down, self.up): Ends(self.down, self.up)}.values()
        )

    def __repr__(self) -> str:
        return f"lopsided({written(self.up)}, {written(self.down)})"


@dataclass(frozen=True, repr=False)
class Concentrated(Mechanism):
    """Any ρ-zCDP mechanism."""

    rho: Fraction
    epsilon = None

    def divergence(self, order: Fraction, bits: int) -> Enclosure:
        """αρ."""
        return Enclosure.of(order * self.rho, bits)

    def stick(self, x: Enclosure) -> Enclosure:
        """By Pinsker's inequality, or by the best of the orders around γ/(2ρ) + 1/2."""
        gamma, found = x.log(), [sqrt(self.rho / 2, x.bits)]
        centre = max(
            Fraction(1, 16), rounding.shortened(gamma.high / (2 * self.rho) - Fraction(1, 2), up=True, digits=6)
        )
        for over in (centre, centre + Fraction(1, 2), centre + 1):  # α − 1
            power = (self.rho * (over + 1) - gamma) * over
            head = log(1 - 1 / (over + 1), x.bits) * (over + 1)
            found.append((power + head - log(over, x.bits)).exp())
        return min(found, key=lambda each: each.high)

    def spread(self, bits: int) -> Fraction:
        """ρ + 2√(ρ·bits·ln 2)."""
        return rounding.shortened((sqrt(4 * self.rho * bits * Fraction(7, 10))).high + self.rho, up=True)

    def __repr__(self) -> str:
        return f"concentrated({written(self.rho)})"


@dataclass(frozen=True, repr=False)
class Gaussian(Concentrated):
    """Gaussian noise with a density, of variance Δ²/(2ρ) for moves up to Δ."""

    def stick(self, x: Enclosure) -> Enclosure:
        """On a scale on which a person moves the answer by 1: v = 1/(2ρ) is the variance."""
        v, half = 1 / (2 * self.rho), Fraction(1, 2)
        near, far = x.log() * v - half, x.log() * v + half
        own = Enclosure.between(normal_tail(v, near.high, x.bits).low, normal_tail(v, near.low, x.bits).high, x.bits)
        other = Enclosure.between(normal_tail(v, far.high, x.bits).low, normal_tail(v, far.low, x.bits).high, x.bits)
        return _positive_part(own - x * other)

    def __repr__(self) -> str:
        return f"gaussian({written(self.rho)})"


@dataclass(frozen=True, repr=False)
class DiscreteGaussian(Concentrated):
    """Gaussian noise on the integers, P(z) ∝ e^{−ρz²/d²}, added to one integer that moves by up to d."""

    sensitivity: int

    def stick(self, x: Enclosure) -> Enclosure:
        """The best of the half-lines that may be best."""
        d, v = self.sensitivity, self.sensitivity**2 / (2 * self.rho)
        best = x.log() * (v / d) - Fraction(d, 2)
        places = range(floor(best.low) - 1, ceil(best.high) + 2)
        whole = whole_sum(v, x.bits)
        return _positive_part(_upper([(_tail(v, k, x.bits) - x * _tail(v, k + d, x.bits)) / whole for k in places]))

    def __repr__(self) -> str:
        return f"discrete_gaussian({written(self.rho)}, {self.sensitivity})"


SUMMED = 2**22
"""Tails of Gaussian noise on the integers are summed up to this squared scale, and enclosed by integrals beyond."""


def _tail(v: Fraction, k: int, bits: int) -> Enclosure:
    """Σ_{z ≥ k} e^{−z²/(2v)}."""
    if k <= 0:
        return whole_sum(v, bits) - _tail(v, 1 - k, bits)
    if v > SUMMED:
        return tail_sum(v, k, bits)
    tails = _tails(v)
    low = tails[k] if k < len(tails) else 0
    return Enclosure(max(low - _SLACK, 0), low + _SLACK, -_FINE, bits)


_FINE = 320
_SLACK = 1 << 80
"""What rounding may hide: fewer than 2^17 terms, each off by fewer than 2^40 units of 2^-320."""


@lru_cache(maxsize=32)
def _tails(v: Fraction) -> list[int]:
    """Σ_{z ≥ k} e^{−z²/(2v)} for k from 0 on, in units of 2^-320, down to nothing."""
    one = 1 << _FINE
    term, ratio, fall = one, exp(-1 / (2 * v), _FINE).fixed(_FINE)[0], exp(-1 / v, _FINE).fixed(_FINE)[0]
    terms = []
    while term >> 100:
        terms.append(term)
        term, ratio = term * ratio >> _FINE, ratio * fall >> _FINE
    tails, sum_ = [], 0
    for term in reversed(terms):
        sum_ += term
        tails.append(sum_)
    return tails[::-1]


@dataclass(frozen=True, repr=False)
class Sampled(Mechanism):
    """A mechanism on a secret sample, in which each person is with probability p."""

    inner: Mechanism
    probability: Fraction

    @property
    def epsilon(self) -> Fraction | None:
        """ln(1 + p(e^ε − 1)), rounded up."""
        return None if self.inner.epsilon is None else amplified(self.inner.epsilon, self.probability)

    @property
    def rho(self) -> Fraction:
        """No less than without sampling is known for every order."""
        return min([self.inner.rho, *([Pure(self.epsilon)._rho()] if self.epsilon is not None else [])])

    def divergence(self, order: Fraction, bits: int) -> Enclosure:
        """At the next whole order α: ln(Σ_k C(α, k)(1−p)^{α−k}p^k·e^{(k−1)D_k})/(α−1), which bounds the one asked."""
        alpha, p = max(2, ceil(order)), self.probability
        plain = self.inner.divergence(order, bits)
        if alpha > _MOST_ORDER or not isinstance(self.inner, Gaussian | Laplace | RandomisedResponse):
            return plain
        terms, weight = [], Enclosure.of((1 - p) ** alpha, bits)
        for k in range(alpha + 1):
            moment = self.inner.divergence(Fraction(k), bits) * (k - 1) if k > 1 else Enclosure.of(0, bits)
            terms.append(weight * moment.exp())
            weight = weight * (Fraction(alpha - k, k + 1) * p / (1 - p)) if p < 1 else weight
        found = total(terms, bits).log() / (alpha - 1) if p < 1 else plain
        return found if found.high < plain.high else plain

    def stick(self, x: Enclosure) -> Enclosure:
        """Either way round."""
        p = self.probability
        found = [self.inner.stick((x - 1) / p + 1) * p]
        rest = 1 - x * (1 - p)
        if rest.low > 0:
            found.append(rest * self.inner.stick(x * p / rest))
        elif rest.high > 0:
            found.append(Enclosure.between(0, rest.high, x.bits))
        return _positive_part(_upper(found))

    def spread(self, bits: int) -> Fraction:
        """Where the inner mechanism's is reached."""
        return amplified(self.inner.spread(bits), self.probability)

    def __repr__(self) -> str:
        return f"{self.inner!r}.sampled({written(self.probability)})"


_MOST_ORDER = 512
