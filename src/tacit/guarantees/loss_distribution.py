"""Privacy-loss distributions: numerical composition of many mechanisms fixed in advance, by the dp-accounting library.

The privacy loss of a mechanism is ln(P[M(x)=y]/P[M(x')=y]) for y drawn from M(x). Losses of independent mechanisms add
up, so the law of the total is a convolution, and δ(ε) = E[(1−e^{ε−L})₊]. The library puts losses on a lattice of step
``interval``, rounding so that δ(ε) only grows (pessimistic), and convolves by fast Fourier transform.

What is promised: the (ε, δ) read off is an upper bound up to floating-point error. That error is not rigorous; it is
allowed for by adding `FLOAT_ERROR` to every δ, and parameters are rounded towards less privacy before they become
floats. For promises that rest on exact arithmetic alone use `Pure`, `Zcdp` or `RenyiCurve`, at a somewhat larger ε.

What it must not be used for: an adaptive filter. Stopping when the composed distribution reaches a budget, while the
mechanisms or their costs are chosen in the light of earlier answers, has no valid guarantee; the list of mechanisms
must be fixed before the first answer is seen. So this is not a `Guarantee`, and no budget accepts it.

The library is optional and takes seconds to import, so it is imported only when a distribution is made.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import inf, isfinite, nextafter
from typing import TYPE_CHECKING, Any, cast

from tacit.errors import InvalidInput
from tacit.guarantees import rounding
from tacit.guarantees.kinds import Approx, Pure, probability
from tacit.guarantees.rounding import written
from tacit.guarantees.subsampling import share
from tacit.numbers.enclosures import sqrt
from tacit.numbers.exact import Number, non_negative, positive, whole

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["FLOAT_ERROR", "LossDistribution"]

FLOAT_ERROR = Fraction(1, 10**11)
"""Added to every δ for what double precision and the Fourier transform may lose."""

INTERVAL = Fraction(1, 10**4)
"""The lattice step of losses, unless another is given."""


@dataclass(frozen=True, eq=False, repr=False)
class LossDistribution:
    """The law of the privacy loss of mechanisms that are fixed in advance."""

    text: str
    """How it was made."""
    interval: Fraction
    _losses: Any = field(repr=False)

    @classmethod
    def of(cls, guarantee: Pure | Approx, *, interval: Number = INTERVAL) -> LossDistribution:
        """The worst mechanism with this guarantee."""
        if not isinstance(guarantee, Pure | Approx):
            raise InvalidInput("guarantee must be Pure or Approx; for a Zcdp of Gaussian noise use .gaussian(rho).")
        step = positive(interval, "interval")
        delta = guarantee.delta if isinstance(guarantee, Approx) else Fraction(0)
        library = _library()
        parameters = library.common.DifferentialPrivacyParameters(_above(guarantee.epsilon), _above(delta))
        made = library.privacy_loss_distribution.from_privacy_parameters(parameters, float(step))
        return cls(f"LossDistribution.of({guarantee!r})", step, made)

    @classmethod
    def laplace(cls, epsilon: Number, *, sampling: Number = 1, interval: Number = INTERVAL) -> LossDistribution:
        """Laplace noise with a density; ``sampling`` is the share of persons drawn by Poisson sampling."""
        e = positive(epsilon, "epsilon")
        return cls._made("laplace", written(e), (_below(1 / e), 1), sampling, interval)

    @classmethod
    def discrete_laplace(
        cls, epsilon: Number, sensitivity: int = 1, *, sampling: Number = 1, interval: Number = INTERVAL
    ) -> LossDistribution:
        """Noise with P(z) ∝ e^{−(ε/d)|z|} on the integers, added to what one person moves by at most d."""
        e, d = positive(epsilon, "epsilon"), whole(sensitivity, "sensitivity", 1)
        return cls._made("discrete_laplace", f"{written(e)}, {d}", (_above(e / d), d), sampling, interval)

    @classmethod
    def gaussian(cls, rho: Number, *, sampling: Number = 1, interval: Number = INTERVAL) -> LossDistribution:
        """Continuous Gaussian noise of variance Δ²/(2ρ)."""
        r = positive(rho, "rho")
        return cls._made("gaussian", written(r), (_below(sqrt(1 / (2 * r)).low), 1), sampling, interval)

    @classmethod
    def discrete_gaussian(
        cls, rho: Number, sensitivity: int = 1, *, sampling: Number = 1, interval: Number = INTERVAL
    ) -> LossDistribution:
        """Noise with P(z) ∝ e^{−ρz²/d²} on the integers, added to what one person moves by at most d."""
        r, d = positive(rho, "rho"), whole(sensitivity, "sensitivity", 1)
        scale = _below(sqrt(d * d / (2 * r)).low)
        return cls._made("discrete_gaussian", f"{written(r)}, {d}", (scale, d), sampling, interval)

    @classmethod
    def _made(
        cls, name: str, arguments: str, parameters: tuple[float, int], sampling: Number, interval: Number
    ) -> LossDistribution:
        step, p = positive(interval, "interval"), share(sampling)
        make = getattr(_library().privacy_loss_distribution, f"from_{name}_mechanism")
        noise, sensitivity = parameters
        losses = make(
            noise,
            sensitivity=sensitivity,
            value_discretization_interval=float(step),
            sampling_prob=min(1.0, _above(p)),
            use_connect_dots=True,
        )
        sampled = "" if p == 1 else f", sampling={written(p)}"
        return cls(f"LossDistribution.{name}({arguments}{sampled})", step, losses)

    def __repr__(self) -> str:
        return self.text

    def __add__(self, other: LossDistribution) -> LossDistribution:
        """Composition with mechanisms that were fixed in advance too, on the same lattice."""
        if not isinstance(other, LossDistribution):
            raise InvalidInput("a loss distribution composes with another one; make it with LossDistribution.of(...).")
        if other.interval != self.interval:
            raise InvalidInput("loss distributions compose on one lattice; give both the same interval.")
        return LossDistribution(f"{self.text} + {other.text}", self.interval, self._losses.compose(other._losses))

    def __mul__(self, times: int) -> LossDistribution:
        """Composition with itself."""
        n = whole(times, "times", 1)
        text = self.text if " + " not in self.text else f"({self.text})"
        return LossDistribution(f"{text} * {n}", self.interval, self._losses.self_compose(n))

    __rmul__ = __mul__

    def delta(self, epsilon: Number) -> Fraction:
        """The δ at this ε, rounded up and with `FLOAT_ERROR` added; 1 promises nothing."""
        found = self._losses.get_delta_for_epsilon(_below(non_negative(epsilon, "epsilon")))
        return min(Fraction(1), rounding.shortened(Fraction(max(0.0, float(found))) + FLOAT_ERROR, up=True))

    def epsilon(self, delta: Number) -> Fraction:
        """The ε at this δ, of which `FLOAT_ERROR` is set aside, rounded up."""
        kept = probability(delta) - FLOAT_ERROR
        if kept <= 0:
            raise InvalidInput("delta must be above 1e-11, the precision of this computation; use RenyiCurve below it.")
        found = float(self._losses.get_epsilon_for_delta(_below(kept)))
        if not isfinite(found):
            raise InvalidInput("no finite epsilon belongs to this delta; give a larger delta.")
        return rounding.shortened(Fraction(found) * (1 + FLOAT_ERROR), up=True)

    def to(self, kind: type[Approx], *, delta: Number) -> Approx:
        """The (ε, δ) guarantee of the whole composition, for mechanisms that were fixed in advance."""
        if kind is not Approx:
            raise InvalidInput("a loss distribution converts to Approx only; for other kinds use RenyiCurve.")
        return Approx(self.epsilon(delta), delta)


def _library() -> ModuleType:
    try:
        from dp_accounting import pld
    except ImportError:
        raise InvalidInput(
            "privacy-loss distributions need the dp-accounting library; install it with pip install tacit[accounting]."
        ) from None
    return cast("ModuleType", pld)


def _above(x: Fraction) -> float:
    """The least float that is not below x."""
    try:
        nearest = float(x)
    except OverflowError:
        raise InvalidInput("the parameters are beyond double precision; use RenyiCurve, which is exact.") from None
    return nearest if Fraction(nearest) >= x else nextafter(nearest, inf)


def _below(x: Fraction) -> float:
    """The largest float that is not above x."""
    return -_above(-x)
