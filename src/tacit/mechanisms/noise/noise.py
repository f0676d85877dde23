"""Noise on an integer, and randomised response.

An integer f(x) of integer sensitivity s (|f(x) − f(x')| ≤ s for neighbours) is released as f(x) + Z.

PROMISE AND PROOF
- `laplace`: P[Z = z] ∝ e^{-ε|z|/s}. Pure(ε), as P[f + Z = y]/P[f' + Z = y] = e^{ε(|y − f'| − |y − f|)/s} ≤ e^ε.
- `gaussian`: P[Z = z] ∝ e^{-z²/(2v)}, v = s²/(2ρ). Zcdp(ρ): completing the square, the moment of order α of the ratio
  is e^{α(α−1)(f−f')²/(2v)} times a sum of e^{-(z−m)²/(2v)} with a real centre m over the same sum with centre 0. By
  Poisson's formula that sum is Σ_k c_k·cos(2πkm) with c_k > 0, largest at m = 0. So D_α ≤ α(f − f')²/(2v) ≤ αρ.
- `truncated_laplace`: P[Z = z] ∝ e^{-ε|z|/s} on {−R, …, R}. Approx(ε, δ): where both have mass the ratio is at most
  e^ε, and outputs that only one of them can make have probability at most P[Z > R − s]. R is the least with that ≤ δ:
  with r = e^{-ε/s} it equals r^{R+1}(e^ε − 1)/(1 + r − 2r^{R+1}), so R + 1 = ⌈(s/ε)·ln((e^ε − 1 + 2δ)/(δ(1 + r)))⌉.
- `randomised_response`: one of ``size`` answers, the true one with odds e^ε against each other. Pure(ε), whatever moves
  the true one: every probability is w or e^ε·w with the same w.

ACCURACY: `law.reach(beta)` is the smallest a with P[|Z| ≤ a] ≥ 1 − β (for a Gaussian of v > 4096 at most one more).
TO VERIFY: the ratio of Laplace noise on two values is attained beyond both; Gaussian noise has the formula above.
COST: 6 to 20 µs a draw at any scale.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from typing import Self, SupportsIndex

from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Guarantee, Pure, Zcdp
from tacit.mechanisms.law import Accuracy, Law
from tacit.noises.gaussian_sums import decay, tail_sum, whole_sum
from tacit.numbers.enclosures import BITS, Enclosure, exp
from tacit.numbers.exact import Number, between, positive, whole
from tacit.randomness import Categorical, discrete_gaussian, discrete_laplace, uniform_below
from tacit.randomness import truncated_laplace as truncated_noise
from tacit.randomness.source import Source

WINDOW = Fraction(1, 2**40)
"""What the window of listed outputs leaves out has at most this probability."""

LISTED = 2**16
"""The most outputs a law lists one by one."""


class IntegerNoise(Law[int]):
    """An integer plus independent symmetric noise."""

    def __init__(self, value: int | SupportsIndex, guarantee: Guarantee) -> None:
        self._value = whole(value, "value")
        self.guarantee = guarantee

    @abstractmethod
    def _noise(self, source: Source) -> int:
        """One exact draw of Z."""

    @abstractmethod
    def _mass(self, z: int, bits: int) -> Enclosure:
        """P[Z = z], for z ≥ 0."""

    @abstractmethod
    def _tail(self, k: int, bits: int) -> Enclosure:
        """P[Z ≥ k], for k ≥ 1."""

    def _draw(self, source: Source) -> int:
        return self._value + self._noise(source)

    def pmf(self, y: int, bits: int = BITS) -> Enclosure:
        """A rigorous enclosure of P[output = y]."""
        return self._mass(abs(y - self._value), bits).clamp(0, 1)

    def cdf(self, y: int, bits: int = BITS) -> Enclosure:
        """A rigorous enclosure of P[output ≤ y]."""
        z = y - self._value
        below = self._tail(-z, bits) if z < 0 else 1 - self._tail(z + 1, bits)
        return below.clamp(0, 1)

    def reach(self, beta: Number) -> int:
        """The smallest a for which P[|Z| ≤ a] ≥ 1 − β is certain: how far the noise goes, a public fact."""
        half = between(beta, "beta", 0, 1) / 2
        low, high = -1, 0  # the promise fails at low, holds at high
        while not self._tail(high + 1, 64).high <= half:
            low, high = high, 2 * high + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._tail(middle + 1, 64).high <= half else (middle, high)
        return high

    def accuracy(self, beta: Number) -> Accuracy:
        """The output is within `reach(beta)` of the value."""
        promise = between(beta, "beta", 0, 1)
        reach = self.reach(promise)
        return Accuracy(promise, None, f"the noise is at most {reach} with probability at least {1 - promise}.")

    def outcomes(self) -> Iterable[int]:
        """All outputs but a share of 2^-40."""
        reach = self.reach(WINDOW)
        if 2 * reach >= LISTED:
            raise InvalidInput(f"the {self.name} law has too many outputs to list; take a larger budget to verify it.")
        return range(self._value - reach, self._value + reach + 1)

    @abstractmethod
    def _scale(self) -> Hashable:
        """The public numbers of the noise."""

    def key(self) -> Hashable:
        """The value and the noise."""
        return type(self), self.guarantee, self._scale(), self._value

    def telling_points(self, laws: Sequence[Self]) -> tuple[int, int]:
        """One output below and one above the values of all datasets."""
        return beyond([law._value for law in laws])

    def outcomes_to_follow(self) -> list[int]:
        """The value itself."""
        return [self._value]


class Laplace(IntegerNoise):
    """The law of `laplace`."""

    name = "discrete Laplace"

    def __init__(self, value: int | SupportsIndex, rate: Fraction, guarantee: Guarantee) -> None:
        super().__init__(value, guarantee)
        self.rate = rate

    def _scale(self) -> Hashable:
        return self.rate

    def _noise(self, source: Source) -> int:
        return discrete_laplace(self.rate, source=source)

    def _mass(self, z: int, bits: int) -> Enclosure:
        work = bits + 8 + int(1 / self.rate).bit_length()  # 1 − r loses as many bits as the rate is small
        r = decay(self.rate, work)
        return decay(self.rate * z, work) * (1 - r) / (1 + r)

    def _tail(self, k: int, bits: int) -> Enclosure:
        return decay(self.rate * k, bits) / (1 + decay(self.rate, bits))


class Gaussian(IntegerNoise):
    """The law of `gaussian`."""

    name = "discrete Gaussian"

    def __init__(self, value: int | SupportsIndex, variance: Fraction, guarantee: Guarantee) -> None:
        super().__init__(value, guarantee)
        self.variance = variance

    def _scale(self) -> Hashable:
        return self.variance

    def concentrated_loss(self, other: Self) -> Fraction | None:
        """(v − v')²/2σ², where both have the same variance."""
        if self.variance != other.variance:
            return None
        return (self._value - other._value) ** 2 / (2 * self.variance)

    def _noise(self, source: Source) -> int:
        return discrete_gaussian(self.variance, source=source)

    def _mass(self, z: int, bits: int) -> Enclosure:
        return decay(z * z / (2 * self.variance), bits) / whole_sum(self.variance, bits)

    def _tail(self, k: int, bits: int) -> Enclosure:
        return tail_sum(self.variance, k, bits) / whole_sum(self.variance, bits)


class TruncatedLaplace(IntegerNoise):
    """The law of `truncated_laplace`; the noise is never larger than ``bound``."""

    name = "truncated discrete Laplace"

    def __init__(self, value: int | SupportsIndex, rate: Fraction, bound: int, guarantee: Guarantee) -> None:
        super().__init__(value, guarantee)
        self.rate, self.bound = rate, bound

    def _scale(self) -> Hashable:
        return self.rate, self.bound

    def _noise(self, source: Source) -> int:
        return truncated_noise(self.rate, self.bound, source=source)

    def _mass(self, z: int, bits: int) -> Enclosure:
        return self._between(z, min(z, self.bound), bits)

    def _tail(self, k: int, bits: int) -> Enclosure:
        return self._between(k, self.bound, bits)

    def _between(self, first: int, last: int, bits: int) -> Enclosure:
        """P[first ≤ Z ≤ last], for first ≥ 0: (r^first − r^{last+1})/(1 + r − 2r^{R+1})."""
        if first > last:
            return Enclosure.of(0, bits)
        work = bits + 8 + int(1 / self.rate).bit_length()
        part = decay(self.rate * first, work) * (1 - decay(self.rate * (last - first + 1), work))
        whole = 1 + decay(self.rate, work) - 2 * decay(self.rate * (self.bound + 1), work)
        return part / whole

    def outcomes(self) -> Iterable[int]:
        """Every possible output."""
        if 2 * self.bound >= LISTED:
            raise InvalidInput(f"the {self.name} law has too many outputs to list; take a larger budget to verify it.")
        return range(self._value - self.bound, self._value + self.bound + 1)


class RandomisedResponse(Law[int]):
    """The law of `randomised_response`."""

    name = "randomised response"

    def __init__(self, index: int | SupportsIndex, size: int, epsilon: Fraction, guarantee: Guarantee) -> None:
        self.size, self.epsilon, self.guarantee = size, epsilon, guarantee
        self._index = whole(index, "index", 0)
        if self._index >= size:
            raise InvalidInput("index must be below size; give the place of the true answer among them, from 0.")
        self._truth = Categorical([(1, 0), (size - 1, 1)], epsilon)

    def _draw(self, source: Source) -> int:
        if self._truth.draw(source) == 0:
            return self._index
        other = uniform_below(self.size - 1, source=source)
        return other + (other >= self._index)

    def pmf(self, y: int, bits: int = BITS) -> Enclosure:
        """e^ε/(e^ε + size − 1) for the true answer, 1/(e^ε + size − 1) for any other."""
        if not 0 <= y < self.size:
            return Enclosure.of(0, bits)
        odds = decay(self.epsilon, bits)
        return (Enclosure.of(1, bits) if y == self._index else odds) / (1 + odds * (self.size - 1))

    def cdf(self, y: int, bits: int = BITS) -> Enclosure:
        """A rigorous enclosure of P[output ≤ y]."""
        y = min(y, self.size - 1)
        if y < 0:
            return Enclosure.of(0, bits)
        odds = decay(self.epsilon, bits)
        true = 1 if y >= self._index else 0
        return ((odds * (y + 1 - true) + true) / (1 + odds * (self.size - 1))).clamp(0, 1)

    def outcomes(self) -> Iterable[int]:
        """Every answer."""
        if self.size > LISTED:
            raise InvalidInput(f"the {self.name} law has too many outputs to list; verify it with a smaller size.")
        return range(self.size)

    def key(self) -> Hashable:
        """The true answer, among how many."""
        return type(self), self.guarantee, self.size, self._index

    def accuracy(self, beta: Number) -> Accuracy:
        """How often the answer is the true one, which ε and the size decide, and whether that is enough for β."""
        promise = between(beta, "beta", 0, 1)
        truth = self.pmf(self._index).low
        enough = "" if truth >= 1 - promise else f", less than the {1 - promise} asked: take a larger epsilon"
        return Accuracy(promise, None, f"the answer is the true one with probability {float(truth):.6g}{enough}.")


def beyond(values: Sequence[int]) -> tuple[int, int]:
    """A number below all values and one above."""
    return min(values) - 1, max(values) + 1


def laplace(value: int | SupportsIndex, epsilon: Number, sensitivity: int = 1) -> Laplace:
    """An integer of this sensitivity with discrete Laplace noise, Pure(ε)."""
    guarantee = Pure(epsilon)
    return Laplace(value, guarantee.epsilon / whole(sensitivity, "sensitivity", 1), guarantee)


def gaussian(value: int | SupportsIndex, rho: Number, sensitivity: int = 1) -> Gaussian:
    """An integer of this sensitivity with discrete Gaussian noise of variance s²/(2ρ), Zcdp(ρ)."""
    guarantee = Zcdp(rho)
    return Gaussian(value, whole(sensitivity, "sensitivity", 1) ** 2 / (2 * guarantee.rho), guarantee)


def truncated_laplace(
    value: int | SupportsIndex, epsilon: Number, delta: Number, sensitivity: int = 1
) -> TruncatedLaplace:
    """An integer of this sensitivity with discrete Laplace noise that never exceeds `law.bound`, Approx(ε, δ)."""
    guarantee = Approx(positive(epsilon, "epsilon"), between(delta, "delta", 0, 1))
    s = whole(sensitivity, "sensitivity", 1)
    bound = truncation(guarantee.epsilon, guarantee.delta, s)
    return TruncatedLaplace(value, guarantee.epsilon / s, bound, guarantee)


def randomised_response(index: int | SupportsIndex, size: int, epsilon: Number) -> RandomisedResponse:
    """One of 0, …, size − 1, the true ``index`` with odds e^ε against each other, Pure(ε)."""
    guarantee = Pure(epsilon)
    return RandomisedResponse(index, whole(size, "size", 1), guarantee.epsilon, guarantee)


def truncation(epsilon: Fraction, delta: Fraction, sensitivity: int) -> int:
    """The smallest R ≥ sensitivity with P[Z > R − sensitivity] ≤ δ for discrete Laplace noise truncated at R."""
    rate = epsilon / sensitivity
    bits = 64
    while True:
        top = exp(epsilon, bits) - 1 + 2 * delta
        real = (top / ((1 + exp(-rate, bits)) * delta)).log() / rate
        low, high = (-(-end.numerator // end.denominator) for end in (real.low, real.high))
        if low == high:  # equality would make e^{ε/s} algebraic, so the bits suffice in the end
            return max(low - 1, sensitivity)
        bits *= 2
