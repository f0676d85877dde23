"""Noise that may be scaled to a smooth sensitivity: what each admits, its exact tails, and how it is drawn.

Released is f(x) + (S(x)/s)·Z, where |f(x) − f(x')| ≤ S(x) and S(x) ≤ e^t·S(x') for neighbours in either order. Moving
from x to x' shifts by at most s in units of the scale, then changes the scale by a factor between e^{-t} and e^t.

PROMISE AND PROOF, h the density of Z:
- Power, h ∝ 1/(1 + |z|^γ), γ > 1: Pure(ε) if s·(γ−1)^{(γ−1)/γ} + t·max(1, γ−1) ≤ ε. The derivative of ln(1 + |z|^γ),
  γu^{(γ−1)/γ}/(1 + u) with u = |z|^γ, is largest at u = γ − 1; and ln(e^λ·h(e^λ z)) has the derivative 1 − γw/(1 +
  w), w ≥ 0, in λ, which lies in [1 − γ, 1].
- Student, h ∝ (1 + z²/d)^{-(d+1)/2}: Pure(ε) if s·(d+1)/(2√d) + t·max(1, d) ≤ ε, by the same two derivatives:
  (d+1)z/(d+z²) is largest at √d, and 1 − (d+1)w/(1+w) lies in [−d, 1].
- Laplace, h = ½·e^{-|z|}: Approx(ε, δ) if s + t ≤ ε and (e^t − 1)·ln(1/δ) ≤ ε − s + t. To a larger scale the log
  ratio is at most s + t. To a scale smaller by e^{-λ}, 0 < λ ≤ t, it is at most s − λ + (e^λ − 1)|Z|, which exceeds ε
  with probability e^{-(ε−s+λ)/(e^λ−1)}; the exponent falls in λ, so this is at most δ.
- Laplace-log-normal, Z = X·e^{σY}, X Laplace and Y standard normal: Zcdp(ρ) if s·e^{3σ²/2} + t/σ ≤ √(2ρ). With W =
  e^{-σY} the density is ½E[W·e^{-|z|W}], so the derivative of its logarithm is E[W²e^{-|z|W}]/E[W·e^{-|z|W}], a mean
  of W under a law that favours small W ever more as |z| grows: at most E[W²]/E[W] = e^{3σ²/2}. So the shift is pure
  at ε₀ = s·e^{3σ²/2}, hence (ε₀²/2)-zCDP. The scale is a shift of σY by at most t: (t²/2σ²)-zCDP. Hölder's inequality
  gives D_α(P‖R) ≤ (α−1/p)/(α−1)·D_{pα}(P‖Q) + D_{(pα−1)/(p−1)}(Q‖R), and with the best p the roots of ρ add up.

PARAMETERS  The decay r = e^{-t} is a rational number, so that S is exact, and s is the largest that the condition
admits, rounded down from a rigorous enclosure. t takes half of ε (for Laplace: the t with the largest t·s), which is
best where local sensitivity grows in proportion to the distance: the error is then proportional to 1/(t·s). The shape
is the one that makes E|Z|/(t·s) least: d = 2 (3.00·4/ε²), γ = 2.7 (3.00·4/ε²), σ = 1/2.

COST  Tails: power laws and arctan by `alternating_series`; Laplace-log-normal by the trapezoidal rule, whose error
for a function analytic in a strip of half-width a, with integrals there of at most M, is at most 2M/(e^{2πa/h} − 1).
About 2 ms at 192 bits, the last 20 ms; only verification needs them. A draw takes 0.1 to 0.4 ms.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import cos, inf, sin
from math import exp as float_exp
from math import log as float_log
from math import pi as float_pi
from math import sqrt as float_sqrt

from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Guarantee, Pure, Zcdp
from tacit.guarantees.rounding import shortened
from tacit.numbers.alternating_series import alternating, arctan
from tacit.numbers.enclosures import BITS, Enclosure, exp, log, pi, sqrt
from tacit.randomness import LazyExponential, Randomness, rounded_laplace, rounded_power, rounded_student
from tacit.randomness.continuous import Real, _normal, _released

DIGITS = 6
"""Significant digits of s."""


@dataclass(frozen=True)
class SmoothNoise(ABC):
    """A symmetric noise with a promise for scales that are smooth."""

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What one draw costs."""

    def named(self) -> dict[str, str] | None:
        """Its name and shape as certificates name them; None where they do not know it."""
        return None

    @abstractmethod
    def largest_shift(self, t: Enclosure) -> Enclosure:
        """The largest s that the condition admits with this t."""

    @property
    @abstractmethod
    def pace(self) -> float:
        """The t that parameters are chosen for."""

    @abstractmethod
    def tail(self, z: Fraction, bits: int = BITS) -> Enclosure:
        """P[Z > z] for z ≥ 0, with about ``bits`` significant bits."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """Var Z, infinite where the tails are too heavy."""

    @abstractmethod
    def draw(self, center: Fraction, scale: Fraction, lattice: Fraction, source: Randomness) -> Fraction:
        """center + scale·Z rounded to the lattice, exactly."""

    def parameters(self) -> tuple[Fraction, Fraction]:
        """The decay e^{-t} and the shift s, both exact, that this noise admits."""
        return _parameters(self)

    def mass(self, low: Fraction, high: Fraction, bits: int = BITS) -> Enclosure:
        """P[low < Z < high], with about ``bits`` significant bits."""
        if high <= 0:
            low, high = -high, -low
        work = bits + 40 + 2 * int(max(abs(low), abs(high)) / (high - low)).bit_length()
        if low >= 0:
            return (self._tail(low, work) - self._tail(high, work)).clamp(0, 1)
        return (1 - self._tail(-low, work) - self._tail(high, work)).clamp(0, 1)

    def _tail(self, z: Fraction, bits: int) -> Enclosure:
        return _cached_tail(self, z, bits)

    def reach(self, confidence: Fraction) -> tuple[Fraction, Fraction]:
        """Equal numbers (down, up) with P[−down ≤ Z ≤ up] ≥ confidence, at most 1 % larger than need be."""
        beta = 1 - confidence
        low, high = Fraction(0), Fraction(1)
        while 2 * self.tail(high, 64).high > beta:
            low, high = high, 2 * high
        while high - low > high / 100:
            middle = (low + high) / 2
            low, high = (low, middle) if 2 * self.tail(middle, 64).high <= beta else (middle, high)
        return high, high


@lru_cache(maxsize=1 << 14)
def _cached_tail(noise: SmoothNoise, z: Fraction, bits: int) -> Enclosure:
    return noise.tail(z, bits)


@lru_cache(maxsize=1024)
def _parameters(noise: SmoothNoise) -> tuple[Fraction, Fraction]:
    t = noise.pace
    steps = 1 << max(4, int(256 / t).bit_length())
    decay = Fraction(int(float_exp(-t) * steps) + 1, steps)  # a little above e^{-t}: what holds is decided below
    shift = shortened(noise.largest_shift(-log(decay)).low, up=False, digits=DIGITS)
    if not 0 < decay < 1 or shift <= 0:
        raise InvalidInput("the noise admits no scale at this budget; take a larger epsilon or delta.")
    return decay, shift


@dataclass(frozen=True)
class PureNoise(SmoothNoise):
    """A noise that is pure."""

    epsilon: Fraction

    @property
    def guarantee(self) -> Pure:
        """Pure(ε)."""
        return Pure(self.epsilon)


@dataclass(frozen=True)
class StudentNoise(PureNoise):
    """Student's law with whole degrees of freedom."""

    degrees: int = 2

    def named(self) -> dict[str, str]:
        """As certificates name it."""
        return {"noise": "Student", "degrees": str(self.degrees)}

    def largest_shift(self, t: Enclosure) -> Enclosure:
        """(ε − t·max(1, d))·2√d/(d + 1)."""
        d = self.degrees
        return (self.epsilon - t * max(1, d)) * sqrt(d) * Fraction(2, d + 1)

    @property
    def pace(self) -> float:
        """Half of ε."""
        return float(self.epsilon) / (2 * self.degrees)

    def tail(self, z: Fraction, bits: int = BITS) -> Enclosure:
        """With z = √d·tan θ: ½ − ∫_0^θ cos^{d−1}/∫_{−π/2}^{π/2} cos^{d−1}, by parts down to cos^0 or cos^1."""
        d = self.degrees
        work = bits + 16 + 2 * d * max(1, int(z).bit_length() + 1)
        square = Fraction(d) / (d + z * z)  # cos²θ
        sine = sqrt(1 - square, work)
        part = arctan(z * z / d, work) if d % 2 else sine
        whole = pi(work) if d % 2 else Enclosure.of(2, work)
        cosine = sqrt(square, work) if d % 2 else Enclosure.of(square, work)  # cos^{j−1}θ for the first j
        for j in range(2 + (d - 1) % 2, d, 2):
            part = cosine * sine / j + part * Fraction(j - 1, j)
            whole = whole * Fraction(j - 1, j)
            cosine = cosine * square
        return (Fraction(1, 2) - part / whole).clamp(0, 1)

    @property
    def variance(self) -> float:
        """d/(d − 2)."""
        return self.degrees / (self.degrees - 2) if self.degrees > 2 else inf

    def draw(self, center: Fraction, scale: Fraction, lattice: Fraction, source: Randomness) -> Fraction:
        """By `rounded_student`."""
        return rounded_student(center, scale, lattice, self.degrees, source=source)


@dataclass(frozen=True)
class PowerNoise(PureNoise):
    """Density in proportion to 1/(1 + |z|^γ)."""

    gamma: Fraction = Fraction(27, 10)

    def largest_shift(self, t: Enclosure) -> Enclosure:
        """(ε − t·max(1, γ − 1))/(γ − 1)^{(γ−1)/γ}."""
        steep = _power(self.gamma - 1, (self.gamma - 1) / self.gamma, BITS)
        return (self.epsilon - t * max(Fraction(1), self.gamma - 1)) / steep

    @property
    def pace(self) -> float:
        """Half of ε."""
        dilation: float = max(1.0, float(self.gamma) - 1)
        return float(self.epsilon) / (2 * dilation)

    def tail(self, z: Fraction, bits: int = BITS) -> Enclosure:
        """∫_z^∞ over twice ∫_0^∞ of 1/(1 + u^γ)."""
        work = bits + 16
        whole = _half(self.gamma, work)
        part = whole - _near(z, self.gamma, work) if z <= 1 else _far(z, self.gamma, work)
        return (part / (whole * 2)).clamp(0, 1)

    @property
    def variance(self) -> float:
        """sin(π/γ)/sin(3π/γ)."""
        turn = float_pi / float(self.gamma)
        return sin(turn) / sin(3 * turn) if self.gamma > 3 else inf

    def draw(self, center: Fraction, scale: Fraction, lattice: Fraction, source: Randomness) -> Fraction:
        """By `rounded_power`."""
        return rounded_power(center, scale, lattice, self.gamma, source=source)


def best_gamma() -> Fraction:
    """The γ, in tenths, with the least E|Z|/(t·s), E|Z| = 1/(2·cos(π/γ)); floats only choose among public values."""

    def error(gamma: float) -> float:
        steep: float = (gamma - 1) ** ((gamma - 1) / gamma)
        return steep * max(1.0, gamma - 1) / (2 * cos(float_pi / gamma))

    return min((Fraction(i, 10) for i in range(21, 61)), key=lambda gamma: error(float(gamma)))


@dataclass(frozen=True)
class LaplaceNoise(SmoothNoise):
    """Laplace's law, which needs δ."""

    epsilon: Fraction
    delta: Fraction

    @property
    def guarantee(self) -> Approx:
        """Approx(ε, δ)."""
        return Approx(self.epsilon, self.delta)

    def named(self) -> dict[str, str]:
        """As certificates name it."""
        return {"noise": "Laplace"}

    def largest_shift(self, t: Enclosure) -> Enclosure:
        """The smaller of ε − t and ε + t − (e^t − 1)·ln(1/δ)."""
        rare = -log(self.delta)
        ends = self.epsilon - t, t + self.epsilon - (t.exp() - 1) * rare
        return Enclosure.between(min(x.low for x in ends), min(x.high for x in ends))

    @property
    def pace(self) -> float:
        """The t in 256ths of ε with the largest t·s; floats only choose among public values."""
        epsilon, rare = float(self.epsilon), -float_log(self.delta.numerator) + float_log(self.delta.denominator)

        def gain(t: float) -> float:
            return t * min(epsilon - t, epsilon + t - (float_exp(t) - 1) * rare)

        candidates = [epsilon * i / 256 for i in range(1, 256)]
        return max(candidates, key=gain)

    def tail(self, z: Fraction, bits: int = BITS) -> Enclosure:
        """½·e^{-z}."""
        return laplace_tail(z, bits)

    @property
    def variance(self) -> float:
        """Twice the squared scale."""
        return 2.0

    def draw(self, center: Fraction, scale: Fraction, lattice: Fraction, source: Randomness) -> Fraction:
        """By `rounded_laplace`."""
        return rounded_laplace(center, scale, lattice, source=source)


@dataclass(frozen=True)
class LogNormalNoise(SmoothNoise):
    """A Laplace variable times e^{σY}, Y standard normal."""

    rho: Fraction
    sigma: Fraction = Fraction(1, 2)

    @property
    def guarantee(self) -> Zcdp:
        """Zcdp(ρ)."""
        return Zcdp(self.rho)

    def named(self) -> dict[str, str]:
        """As certificates name it."""
        return {"noise": "Laplace-log-normal", "sigma": str(self.sigma)}

    def largest_shift(self, t: Enclosure) -> Enclosure:
        """e^{-3σ²/2}·(√(2ρ) − t/σ)."""
        return (sqrt(2 * self.rho) - t / self.sigma) * exp(-3 * self.sigma**2 / 2)

    @property
    def pace(self) -> float:
        """Half of √(2ρ)."""
        return float(self.sigma) * float_sqrt(2 * float(self.rho)) / 2

    def tail(self, z: Fraction, bits: int = BITS) -> Enclosure:
        """½E[exp(−z·e^{σY})] by the trapezoidal rule: |integrand| ≤ e^{a²/2}·φ(Re y) for |Im y| ≤ a ≤ π/2σ."""
        work = bits + 24
        nodes = _nodes(self.sigma, work)
        result = Enclosure.of(0, work)
        for weight, stretch in nodes.parts:
            height = stretch * z
            if height.low < 2 * work:  # else e^{-height} is far below the bound on what is left out
                result = result + weight * (-height).exp()
            else:
                result = result + Enclosure.between(0, Fraction(1, 1 << 2 * work), work) * weight
        return ((result + Enclosure.between(-nodes.error, nodes.error, work)) * Fraction(1, 2)).clamp(0, 1)

    @property
    def variance(self) -> float:
        """2·e^{2σ²}."""
        return 2 * float_exp(2 * float(self.sigma) ** 2)

    def draw(self, center: Fraction, scale: Fraction, lattice: Fraction, source: Randomness) -> Fraction:
        """From a lazy exponential and a lazy normal variable."""
        return _released(center, scale, lattice, lambda: self._magnitude(source), source)

    def _magnitude(self, source: Randomness) -> Real:
        laplace = LazyExponential(source)
        while (normal := _normal(source)) is None:
            pass
        factor = self.sigma if source.bits(1) else -self.sigma

        def magnitude(bits: int) -> tuple[int, int]:
            stretch = (Enclosure(*normal(bits), -bits, bits + 64) * factor).exp()
            return (laplace.enclosure(bits) * stretch).fixed(bits)

        return magnitude


def laplace_tail(z: Fraction, bits: int = BITS) -> Enclosure:
    """P[Z > z] for Z of density ½·e^{-|z|}."""
    return exp(-z, bits) * Fraction(1, 2) if z >= 0 else 1 - exp(z, bits) * Fraction(1, 2)


@dataclass(frozen=True)
class _Nodes:
    """A trapezoidal rule: weights h·φ(y) and stretches e^{σy}, and a bound on all that the rule leaves out."""

    parts: list[tuple[Enclosure, Enclosure]]
    error: Fraction


@lru_cache(maxsize=32)
def _nodes(sigma: Fraction, bits: int) -> _Nodes:
    # Half-width a below π/(2σ); step h with 2πa/h − a²/2 above bits·ln 2; width B with B²/2 above it too.
    need = Fraction(7 * bits, 10) + 4
    a = min(Fraction(3, 2) / sigma, Fraction(int(float_sqrt(2 * need)) + 1))
    step = Fraction(6) * a / (need + a * a / 2)
    last = int(Fraction(int(float_sqrt(2 * need)) + 2) / step) + 1
    root = (pi(bits) * 2).sqrt()
    parts = []
    for k in range(-last, last + 1):
        y = k * step
        parts.append((exp(-y * y / 2, bits) * step / root, exp(sigma * y, bits)))
    rule = exp(a * a / 2, bits) * 2 / (exp(6 * a / step, bits) - 1)  # 6 < 2π
    edge = last * step
    rest = exp(-edge * edge / 2, bits) * 2 / edge  # Σ_{|k| > last} h·φ(kh) ≤ 2·∫_edge^∞ φ ≤ 2·φ(edge)/edge
    return _Nodes(parts, (rule + rest).high)


@lru_cache(maxsize=64)
def _half(gamma: Fraction, bits: int) -> Enclosure:
    """∫_0^∞ du/(1 + u^γ)."""
    return _near(Fraction(1), gamma, bits) + _far(Fraction(1), gamma, bits)


def _near(z: Fraction, gamma: Fraction, bits: int) -> Enclosure:
    """∫_0^z du/(1 + u^γ) for 0 ≤ z ≤ 1."""
    if z == 0:
        return Enclosure.of(0, bits)
    return alternating(_power(z, gamma, bits), Fraction(1), gamma, bits) * z


def _far(z: Fraction, gamma: Fraction, bits: int) -> Enclosure:
    """∫_z^∞ du/(1 + u^γ) for z ≥ 1."""
    return alternating(_power(1 / z, gamma, bits), gamma - 1, gamma, bits) * _power(1 / z, gamma - 1, bits)


def _power(x: Fraction, exponent: Fraction, bits: int) -> Enclosure:
    """x^exponent for x > 0."""
    if exponent.denominator == 1:
        return Enclosure.of(x, bits) ** exponent.numerator
    return (log(x, bits) * exponent).exp()
