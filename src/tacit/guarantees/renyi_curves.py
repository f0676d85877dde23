"""Rényi curves of single mechanisms: what Laplace, Gaussian or exponential choice spend at every order.

A mechanism often spends less than its kind of guarantee allows. A `RenyiCurve` keeps D_α as a function of the order α
for a fixed list of mechanisms, adds up by composition, and converts at the best order:

    (RenyiCurve.laplace("0.1") * 100).to(Approx, delta=1e-6)

Promise: at every order the curve is at least the Rényi divergence of the listed mechanisms' results on neighbours; what
`.to` returns is rounded up. Formulas, all exact for the worst pair of neighbours:

- any ε-DP mechanism, and permute-and-flip: randomised response, as in `conversions`; ρ = ε·tanh(ε/2).
- randomised response among k answers:  ε + ln((1 + (k−2)e^{−αε} + e^{−(2α−1)ε})/(1 + (k−1)e^{−ε}))/(α−1).
- Laplace noise with a density:  ε + ln((1 + w + (1−w)/(2α−1))/2)/(α−1), w = e^{−(2α−1)ε}.
- discrete Laplace on the integers, results moving by up to d, with r = e^{−ε/d}, q = r^{2α−1}, w = q^d:
  ε + ln((1 + w + (1−r)(q−w)/(1−q))/(1+r))/(α−1). For d = 1 this *is* randomised response, so the formula with a
  density would promise too much there; it is the limit of large d.
- Gaussian noise, continuous or discrete, of variance Δ²/(2ρ), and any ρ-zCDP mechanism:  αρ.
- a mechanism on a secret sample of the persons, each in it with probability p, at whole orders:
  ln(Σ_k C(α, k)(1−p)^{α−k}p^k·e^{(k−1)D_k})/(α−1). Without the person the result has law Q, with it M = (1−p)Q + pP,
  and the sum is E_Q[(M/Q)^α] term by term. The other order spends less where P and Q can be exchanged, as for a coin,
  for Laplace and for Gaussian noise (Mironov, Talwar and Zhang, 2019); other mechanisms keep their curve.
- exponential mechanism at ε: the privacy loss L lies in [t−ε, t] for some t. As E_Q[e^L] = 1, E_Q[e^{αL}] is largest
  when only the two ends occur (a convex function lies below its chord); maximised over t, D_α is
  ε + ln((α−1)(1−e^{−αε})/(α(1−e^{−(α−1)ε}))) + ln((1−e^{−αε})/(α(1−e^{−ε})))/(α−1).

**zCDP of the exponential mechanism.** ρ = ε²/8. Why: K(λ) = ln E_P[e^{λL}] vanishes at 0 and −1, and K″ is the variance
of a variable in an interval of length ε, at most ε²/4. So K(λ) − λ(λ+1)ε²/8 is concave with zeros 0 and −1,
hence not positive for λ = α−1 > 0, and K(α−1) = (α−1)D_α.

**zCDP of Laplace noise.** ρ = D_1, the Kullback–Leibler divergence: ε − (ε/d)·2r(1−r^d)/(1−r²), or ε − 1 + e^{−ε} with
a density. Why: with α = ½ + u, the moment e^{(α−1)D_α} is a positive combination of cosh(uε), cosh(uε(d−2)/d), … whose
weights do not grow towards the low frequencies. Such cosine sums have real zeros only (the polynomial with these
coefficients has its zeros in the unit disc, so its argument along the circle turns often enough), hence as a function
of s = u² the moment is a product of factors 1 + s/s_k with s_k > 0 and its logarithm is concave. It lies below its
tangent at s = ¼, that is α = 1, and s − ¼ = α(α−1): D_α ≤ α·D_1. A shift below d spends less: the moment is even and
convex in the shift.

**The order is chosen in advance.** A curve lists mechanisms that are fixed before any answer is seen, so the best order
is a public number. Where budgets are chosen along the way (an adaptive filter) fix the order first, as in
`Renyi(order, ...)`, and add up at that order: choosing the order afterwards is not private at the level it claims.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from tacit.errors import InvalidInput
from tacit.guarantees import conversions, rounding
from tacit.guarantees.base import NEIGHBOURS, Guarantee
from tacit.guarantees.kinds import Pure
from tacit.guarantees.mechanisms import (
    Concentrated,
    DiscreteGaussian,
    Exponential,
    Gaussian,
    Laplace,
    Lopsided,
    Mechanism,
    RandomisedResponse,
    Sampled,
)
from tacit.guarantees.subsampling import share
from tacit.numbers.enclosures import Enclosure, total
from tacit.numbers.exact import Number, positive, whole

__all__ = ["RenyiCurve"]

_NAMES = (
    *("pure", "randomised_response", "laplace", "discrete_laplace", "gaussian", "discrete_gaussian"),
    *("concentrated", "exponential", "lopsided"),
)
_PART = re.compile(
    r"RenyiCurve\.(?P<name>\w+)\((?P<numbers>[^()]*)\)(\.sampled\((?P<sampled>[^()]*)\))?( \* (?P<times>\d+))?"
)


@dataclass(frozen=True, init=False, repr=False)
class RenyiCurve(Guarantee):
    """The Rényi divergence, at every order, of a list of mechanisms fixed in advance."""

    parts: tuple[tuple[Mechanism, int], ...]
    """The mechanisms, each with how often it runs."""

    title = "A Rényi curve"

    def __init__(self, counts: dict[Mechanism, int]) -> None:
        object.__setattr__(self, "parts", tuple(sorted(counts.items(), key=repr)))

    @classmethod
    def pure(cls, epsilon: Number) -> RenyiCurve:
        """Any ε-DP mechanism."""
        return cls.randomised_response(epsilon)

    @classmethod
    def permute_and_flip(cls, epsilon: Number) -> RenyiCurve:
        """Permute-and-flip at ε, or any noisy maximum but Gumbel's: no better than the pure curve is promised."""
        return cls.pure(epsilon)

    @classmethod
    def randomised_response(cls, epsilon: Number, size: int = 2) -> RenyiCurve:
        """The true answer with e^ε times the probability of each of the ``size`` − 1 others."""
        return cls({RandomisedResponse(positive(epsilon, "epsilon"), whole(size, "size", 2)): 1})

    @classmethod
    def laplace(cls, epsilon: Number) -> RenyiCurve:
        """Laplace noise with a density, perhaps rounded afterwards; noise on the integers is `discrete_laplace`."""
        return cls({Laplace(positive(epsilon, "epsilon"), None): 1})

    @classmethod
    def discrete_laplace(cls, epsilon: Number, sensitivity: int = 1) -> RenyiCurve:
        """Noise with P(z) ∝ e^{−(ε/d)|z|} on the integers, added to what one person moves by at most d."""
        return cls({Laplace(positive(epsilon, "epsilon"), whole(sensitivity, "sensitivity", 1)): 1})

    @classmethod
    def gaussian(cls, rho: Number) -> RenyiCurve:
        """Gaussian noise with a density, of variance Δ²/(2ρ) in every coordinate, where a person moves by Δ in all."""
        return cls({Gaussian(positive(rho, "rho")): 1})

    @classmethod
    def discrete_gaussian(cls, rho: Number, sensitivity: int = 1) -> RenyiCurve:
        """Noise with P(z) ∝ e^{−ρz²/d²} on the integers, added to one number that one person moves by at most d."""
        return cls({DiscreteGaussian(positive(rho, "rho"), whole(sensitivity, "sensitivity", 1)): 1})

    @classmethod
    def concentrated(cls, rho: Number) -> RenyiCurve:
        """Any ρ-zCDP mechanism, such as Gaussian noise on the integers in several numbers at once."""
        return cls({Concentrated(positive(rho, "rho")): 1})

    @classmethod
    def lopsided(cls, up: Number, down: Number) -> RenyiCurve:
        """Log-probabilities that a further person moves by something between −down and up, whoever it is."""
        return cls({Lopsided(positive(up, "up"), positive(down, "down")): 1})

    @classmethod
    def exponential(cls, epsilon: Number) -> RenyiCurve:
        """The exponential mechanism that is ε-DP: log ratios on neighbours spread over an interval of length ε."""
        return cls({Exponential(positive(epsilon, "epsilon")): 1})

    def sampled(self, probability: Number) -> RenyiCurve:
        """The same mechanisms, each on a secret sample of its own in which everybody is with this probability."""
        p = share(probability)
        return self if p == 1 else RenyiCurve({Sampled(part, p): n for part, n in self.parts})

    @classmethod
    def read(cls, text: str) -> RenyiCurve:
        """Read a repr, which ledgers hold."""
        counts: Counter[Mechanism] = Counter()
        for each in text.split(" + "):
            found = _PART.fullmatch(each)
            if found is None or found["name"] not in _NAMES:
                raise InvalidInput('text must list mechanisms such as "RenyiCurve.laplace(0.1) * 2".')
            numbers = [Fraction(number.strip("'")) for number in found["numbers"].split(", ")]
            whole_ones = [int(n) if n.denominator == 1 and i else n for i, n in enumerate(numbers)]
            curve = getattr(cls, found["name"])(*whole_ones)
            if found["sampled"]:
                curve = curve.sampled(Fraction(found["sampled"].strip("'")))
            counts += Counter(dict((curve * int(found["times"] or 1)).parts))
        return cls(counts)

    def __repr__(self) -> str:
        return " + ".join(f"RenyiCurve.{part!r}" + (f" * {n}" if n > 1 else "") for part, n in self.parts)

    def __add__(self, other: Guarantee) -> RenyiCurve:
        """Composition with another curve or a `Pure`."""
        return cast(RenyiCurve, super().__add__(other))

    def _plus(self, other: Guarantee) -> RenyiCurve:
        if isinstance(other, Pure):
            other = RenyiCurve.pure(other.epsilon)
        if not isinstance(other, RenyiCurve):
            self._refuse_sum(other)
        return RenyiCurve(Counter(dict(self.parts)) + Counter(dict(other.parts)))

    def _scaled(self, by: Fraction) -> RenyiCurve:
        if by.denominator != 1:
            raise InvalidInput("a curve is composed a whole number of times; give an int.")
        return RenyiCurve({part: n * by.numerator for part, n in self.parts})

    @property
    def pure_epsilon(self) -> Fraction | None:
        """The ε of the pure guarantee; None where there is none."""
        return None if any(part.epsilon is None for part, _ in self.parts) else self._epsilon_pure()

    def divergence(self, order: Fraction, bits: int) -> Enclosure:
        """A rigorous enclosure of the curve at an order above 1."""
        return total([part.divergence(order, bits) * n for part, n in self.parts], bits)

    def _epsilon_pure(self) -> Fraction:
        if any(part.epsilon is None for part, _ in self.parts):
            self._refuse("Pure", "Gaussian noise bounds no probability ratio; account in another kind")
        return sum((part.epsilon * n for part, n in self.parts if part.epsilon is not None), Fraction(0))

    def _rho(self) -> Fraction:
        return sum((part.rho * n for part, n in self.parts), Fraction(0))

    def _epsilon_renyi(self, order: Fraction) -> Fraction:
        known = sum((order * part.rho * n for part, n in self.parts if isinstance(part, Concentrated)), Fraction(0))
        rest = RenyiCurve({part: n for part, n in self.parts if not isinstance(part, Concentrated)})
        return known + rounding.up(lambda bits: rest.divergence(order, bits))

    def _epsilon_approx(self, delta: Fraction) -> Fraction:
        order = conversions.best_order(self.divergence, delta)
        bound = rounding.up(lambda bits: conversions.renyi_approx(self.divergence(order, bits), order, delta, bits))
        if any(part.epsilon is None for part, _ in self.parts):
            return bound
        return min(bound, Pure(self._epsilon_pure())._epsilon_approx(delta))

    def _distance(self, bits: int) -> Enclosure:
        return conversions.divergence_distance(self._rho(), bits)

    def _meaning(self) -> str:
        return f"{NEIGHBOURS} moves the results by a Rényi divergence of at most this curve"
