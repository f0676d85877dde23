"""Privacy-loss distributions: exact composition of many mechanisms that are fixed in advance, in integers.

The privacy loss of a mechanism is ln(P[M(x)=y]/P[M(x')=y]) for y drawn from M(x). Losses of independent mechanisms add
up, so the law of the total is a convolution, and δ(ε) = E[(1−e^{ε−L})₊].

PROMISE. The (ε, δ) read off holds for all the mechanisms together, with nothing left to floating point.

PROOF. Each mechanism is replaced by a law on a lattice of losses whose hockey stick is nowhere below its own
(`units.atoms`: chords between points of it), with masses rounded up and what is too small put at infinity. Domination
is kept by composition, more mass only raises every δ, and products of integers are exact. The steps of the lattice are
ln(1 + 1/K), so that e^L is rational on it.

ACCURACY. A chord adds about a sixth of the squared step to a mechanism's variance; at the usual step of 0.001, 100
Gaussian mechanisms of ρ = 0.005 come out 0.01 % above the truth. A sample of the persons is counted in the worse of the
two directions for each mechanism, which is a little more than the worse of the two sums. COST. One product of integers
of some million digits for each doubling: half a second for 100 mechanisms.

What it must not be used for: an adaptive filter. Stopping when the composed distribution reaches a budget, while the
mechanisms or their costs are chosen in the light of earlier answers, has no valid guarantee; the list of mechanisms
must be fixed before the first answer is seen. So this is not a `Guarantee`, and no budget accepts it; a budget with
``composition="tight"`` is the adaptive side of the same arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal, Inexact
from fractions import Fraction

from tacit.errors import InvalidInput
from tacit.guarantees import units
from tacit.guarantees.kinds import Approx, Pure, probability
from tacit.guarantees.renyi_curves import RenyiCurve
from tacit.guarantees.rounding import shortened, written
from tacit.guarantees.subsampling import share
from tacit.numbers.enclosures import Enclosure
from tacit.numbers.exact import Number, non_negative, positive, whole

__all__ = ["LossDistribution"]

INTERVAL = Fraction(1, 1000)
"""The lattice step of losses, about, unless another is given."""

NODES = 300
"""At how many losses a mechanism's own curve is computed, about."""

MOST = 1 << 16
"""The most steps that losses may spread over."""

BITS = 96
_LEAST = 1 << (BITS - 84)
"""Masses at the ends that may be lost, all together on each side."""

_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[Inexact])


@dataclass(frozen=True)
class _Losses:
    """Masses in units of 2^-96 from a lowest loss in steps on, each rounded up, and what is at infinity."""

    lowest: int
    masses: tuple[int, ...]
    lost: int

    @classmethod
    def of(cls, atoms: Sequence[tuple[int, int]], lost: int) -> _Losses:
        lowest, highest = (end(loss for loss, _ in atoms) for end in (min, max))
        masses = [0] * (highest - lowest + 1)
        for loss, mass in atoms:
            masses[loss - lowest] = (mass >> (units.BITS - BITS)) + 1
        return cls(lowest, tuple(masses), (lost >> (units.BITS - BITS)) + 1).trimmed()

    def plus(self, other: _Losses) -> _Losses:
        """Of both together."""
        if len(self.masses) + len(other.masses) > MOST:
            raise InvalidInput("these losses spread over too many steps; give a larger interval, such as 0.01.")
        summed = [(mass >> BITS) + 1 for mass in convolved(self.masses, other.masses)]
        return _Losses(self.lowest + other.lowest, tuple(summed), self.lost + other.lost).trimmed()

    def trimmed(self) -> _Losses:
        """Without the ends that hardly count: what is lost above is at infinity, what is lost below moves up."""
        masses = list(self.masses)
        end, above = len(masses), 0
        while end > 1 and above + masses[end - 1] <= _LEAST:
            above += masses[end - 1]
            end -= 1
        begin, below = 0, 0
        while begin < end - 1 and below + masses[begin] <= _LEAST:
            below += masses[begin]
            begin += 1
        masses[begin] += below
        return _Losses(self.lowest + begin, tuple(masses[begin:end]), self.lost + above)


def convolved(a: Sequence[int], b: Sequence[int]) -> list[int]:
    """The sums Σ_i a_i·b_{j−i} of integers that are not negative, by one product of two long numbers.

    They are written in decimal digits, for `decimal` alone multiplies long numbers in almost linear time.
    """
    size = len(str(max(a) * max(b) * min(len(a), len(b))))
    left, right = (Decimal("".join(f"{n:0{size}d}" for n in each)) for each in (a, b))
    count = len(a) + len(b) - 1
    product = str(_EXACT.multiply(left, right)).rjust(size * count, "0")
    return [int(product[i * size : (i + 1) * size]) for i in range(count)]


@dataclass(frozen=True, eq=False, repr=False)
class LossDistribution:
    """The law of the privacy loss of mechanisms that are fixed in advance.

    >>> from tacit.guarantees import LossDistribution
    >>> (LossDistribution.laplace("0.1") * 20).to(Approx, delta="1e-6")
    Approx(1.7..., 1e-06)
    """

    text: str
    """How it was made."""
    interval: Fraction
    _losses: _Losses

    @classmethod
    def of(cls, guarantee: Pure | Approx | RenyiCurve, *, interval: Number = INTERVAL) -> LossDistribution:
        """The worst mechanism with this guarantee, or a list of mechanisms.

        Args:
            guarantee: a Pure, an Approx, or what a `RenyiCurve` lists.
            interval: the step of the lattice, about.

        >>> from tacit.guarantees import LossDistribution
        >>> LossDistribution.of(Pure(1)).epsilon("1e-6") <= 1
        True
        """
        if not isinstance(guarantee, Pure | Approx | RenyiCurve):
            raise InvalidInput("guarantee must be Pure or Approx; for a Zcdp of Gaussian noise use .gaussian(rho).")
        if isinstance(guarantee, RenyiCurve):
            return cls._made(guarantee, repr(guarantee), 1, interval)
        found = cls._made(RenyiCurve.pure(guarantee.epsilon), f"LossDistribution.of({guarantee!r})", 1, interval)
        if isinstance(guarantee, Pure):
            return found
        own = -(-(guarantee.delta.numerator << BITS) // guarantee.delta.denominator)
        losses = _Losses(found._losses.lowest, found._losses.masses, found._losses.lost + own)
        return cls(found.text, found.interval, losses)

    @classmethod
    def laplace(cls, epsilon: Number, *, sampling: Number = 1, interval: Number = INTERVAL) -> LossDistribution:
        """Laplace noise with a density; ``sampling`` is the share of persons drawn by Poisson sampling."""
        return cls._named("laplace", (epsilon,), sampling, interval)

    @classmethod
    def discrete_laplace(
        cls, epsilon: Number, sensitivity: int = 1, *, sampling: Number = 1, interval: Number = INTERVAL
    ) -> LossDistribution:
        """Noise with P(z) ∝ e^{−(ε/d)|z|} on the integers, added to what one person moves by at most d."""
        return cls._named("discrete_laplace", (epsilon, sensitivity), sampling, interval)

    @classmethod
    def gaussian(cls, rho: Number, *, sampling: Number = 1, interval: Number = INTERVAL) -> LossDistribution:
        """Continuous Gaussian noise of variance Δ²/(2ρ)."""
        return cls._named("gaussian", (rho,), sampling, interval)

    @classmethod
    def discrete_gaussian(
        cls, rho: Number, sensitivity: int = 1, *, sampling: Number = 1, interval: Number = INTERVAL
    ) -> LossDistribution:
        """Noise with P(z) ∝ e^{−ρz²/d²} on the integers, added to what one person moves by at most d."""
        return cls._named("discrete_gaussian", (rho, sensitivity), sampling, interval)

    @classmethod
    def _named(cls, name: str, numbers: tuple[Number, ...], sampling: Number, interval: Number) -> LossDistribution:
        amount, *more = (positive(number, "the amount") for number in numbers)
        curve: RenyiCurve = getattr(RenyiCurve, name)(amount, *map(int, more))
        p = share(sampling)
        arguments = ", ".join([written(amount), *(str(int(number)) for number in more)])
        sampled = "" if p == 1 else f", sampling={written(p)}"
        return cls._made(curve, f"LossDistribution.{name}({arguments}{sampled})", p, interval)

    @classmethod
    def _made(cls, curve: RenyiCurve, text: str, sampling: Number, interval: Number) -> LossDistribution:
        k = max(1, int(1 / positive(interval, "interval")))
        found: LossDistribution | None = None
        for part, times in curve.sampled(sampling).parts:
            each = cls(text, Fraction(1, k), _Losses.of(*units.atoms(part, k, NODES))) * times
            found = each if found is None else found + each
        assert found is not None
        return cls(text, Fraction(1, k), found._losses)

    def __repr__(self) -> str:
        return self.text

    def __add__(self, other: LossDistribution) -> LossDistribution:
        """Composition with mechanisms that were fixed in advance too, on the same lattice."""
        if not isinstance(other, LossDistribution):
            raise InvalidInput("a loss distribution composes with another one; make it with LossDistribution.of(...).")
        if other.interval != self.interval:
            raise InvalidInput("loss distributions compose on one lattice; give both the same interval.")
        return LossDistribution(f"{self.text} + {other.text}", self.interval, self._losses.plus(other._losses))

    def __mul__(self, times: int) -> LossDistribution:
        """Composition with itself."""
        n = whole(times, "times", 1)
        text = self.text if " + " not in self.text else f"({self.text})"
        power = found = self._losses
        for digit in f"{n:b}"[1:]:
            found = found.plus(found)
            found = found.plus(power) if digit == "1" else found
        return LossDistribution(f"{text} * {times}", self.interval, found)

    __rmul__ = __mul__

    def delta(self, epsilon: Number) -> Fraction:
        """The δ at this ε, rounded up; 1 promises nothing.

        Args:
            epsilon: 0 or more.

        >>> from tacit.guarantees import LossDistribution
        >>> float(LossDistribution.gaussian("0.005").delta("0.3"))
        0.0001...
        """
        steps = units.steps_within(self._k, non_negative(epsilon, "epsilon"))
        height, slope = self._above(steps)
        x = Fraction(units.powers(self._k, steps + 1)[steps], units.ONE)  # e^ε is no less than this
        return min(Fraction(1), shortened(height - x * slope, up=True))

    def epsilon(self, delta: Number) -> Fraction:
        """The ε at this δ, rounded up.

        Args:
            delta: between 0 and 1.

        >>> from tacit.guarantees import LossDistribution
        >>> float((LossDistribution.gaussian("0.005") * 4).epsilon("1e-6"))
        0.86...
        """
        wanted = probability(delta)
        if Fraction(self._losses.lost, 1 << BITS) > wanted:
            raise InvalidInput("no finite epsilon belongs to this delta; give a larger delta.")
        low, high = -1, max(0, self._losses.lowest + len(self._losses.masses))
        while high - low > 1:
            middle = (low + high) // 2
            height, slope = self._above(middle)
            x = Fraction(units.powers(self._k, middle + 1)[middle], units.ONE)
            low, high = (low, middle) if height - x * slope <= wanted else (middle, high)
        if high == 0:
            return Fraction(0)
        height, slope = self._above(low)  # between the two steps the hockey stick falls in a straight line
        return shortened(Enclosure.of((height - wanted) / slope, 192).log().high, up=True)

    @property
    def _k(self) -> int:
        return int(1 / self.interval)

    def _above(self, step: int) -> tuple[Fraction, Fraction]:
        """The mass of losses above a step, and what it is under the other law: H(x) = the first − x·the second."""
        first = max(0, step + 1 - self._losses.lowest)
        masses = self._losses.masses[first:]
        lowest = self._losses.lowest + first
        if lowest + len(masses) <= 0 or not masses:
            return Fraction(self._losses.lost, 1 << BITS), Fraction(0)
        x = units.powers(self._k, lowest + len(masses))
        other = sum((mass << units.BITS) // (x[lowest + i] + 1) for i, mass in enumerate(masses))
        return Fraction(sum(masses) + self._losses.lost, 1 << BITS), Fraction(other, 1 << BITS)

    def to(self, kind: type[Approx], *, delta: Number) -> Approx:
        """The (ε, δ) guarantee of the whole composition, for mechanisms that were fixed in advance.

        Args:
            kind: `Approx`.
            delta: between 0 and 1.

        >>> from tacit.guarantees import LossDistribution
        >>> LossDistribution.of(Pure("0.1")).to(Approx, delta="1e-6").delta
        Fraction(1, 1000000)
        """
        if kind is not Approx:
            raise InvalidInput("a loss distribution converts to Approx only; for other kinds use RenyiCurve.")
        return Approx(self.epsilon(delta), delta)
