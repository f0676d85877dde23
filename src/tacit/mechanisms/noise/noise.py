"""Noise on an integer or on each part of a vector, and randomised response.

An integer f(x) of integer sensitivity s (|f(x) − f(x')| ≤ s for neighbours) is released as f(x) + Z.

PROMISE AND PROOF
- `laplace`: Pure(ε), with noise of `tacit.noises.discrete_laplace`.
- `gaussian`: Zcdp(ρ), with noise of `tacit.noises.discrete_gaussian`.
- `truncated_laplace`: Approx(ε, δ), with noise of `tacit.noises.truncated_laplace`. Each is proved there.
- `randomised_response`: one of ``size`` answers, the true one with odds e^ε against each other. Pure(ε), whatever moves
  the true one: every probability is w or e^ε·w with the same w.
- `laplace_vector`: Pure(ε) for integers whose ℓ1 distance between neighbours is at most s: Π_i e^{−ε|y_i−v_i|/s}
  changes by at most e^{ε‖v−v'‖₁/s} ≤ e^ε.
- `gaussian_vector`: Zcdp(ρ) where their ℓ2 distance is: Rényi divergences of independent parts add,
  Σ_i α(v_i−v'_i)²/(2σ²) ≤ αs²/(2σ²) = αρ with σ² = s²/(2ρ).

ACCURACY: `law.reach(beta)` is the smallest a with P[|Z| ≤ a] ≥ 1 − β (for a Gaussian of v > 4096 at most one more).
VERIFICATION: the ratio of Laplace noise on two values is attained beyond both; Gaussian noise has a formula.
COST: 6 to 20 µs a draw at any scale, one for each part of a vector.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from typing import Any, Self, SupportsIndex

from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Guarantee, Pure, Zcdp
from tacit.mechanisms.law import Accuracy, Law, Named
from tacit.mechanisms.together import Together
from tacit.noises import DiscreteGaussian, DiscreteLaplace, IntegerNoise, TruncatedLaplace
from tacit.numbers.enclosures import BITS, Enclosure, decay
from tacit.numbers.exact import Number, between, positive, whole
from tacit.proofs import Argument, Proof
from tacit.proofs import rules as by
from tacit.proofs.terms import equal
from tacit.randomness import Categorical, uniform_below
from tacit.randomness.source import Randomness

WINDOW = Fraction(1, 2**40)
"""What the window of listed outputs leaves out has at most this probability."""

LISTED = 2**16
"""The most outputs a law lists one by one."""


class NoisyInteger(Law[int]):
    """The law of an integer plus independent symmetric noise."""

    def __init__(
        self, value: int | SupportsIndex, noise: IntegerNoise, guarantee: Guarantee, sensitivity: int | None = None
    ) -> None:
        self._value = whole(value, "value")
        self.name, self.noise, self.guarantee, self.sensitivity = noise.name, noise, guarantee, sensitivity

    def named(self) -> Named | None:
        """The noise, and how far a person moves what it is added to."""
        return noise_named(self.noise, self.sensitivity, None)

    def _draw(self, source: Randomness) -> int:
        return self._value + self.noise.draw(source)

    def pmf(self, y: int, bits: int = BITS) -> Enclosure:
        """A rigorous enclosure of P[output = y]."""
        return self.noise.mass(y - self._value, bits).clamp(0, 1)

    def cdf(self, y: int, bits: int = BITS) -> Enclosure:
        """A rigorous enclosure of P[output ≤ y], which is P[Z ≥ value − y]."""
        return self.noise.tail(self._value - y, bits).clamp(0, 1)

    def reach(self, beta: Number) -> int:
        """The smallest a for which P[|Z| ≤ a] ≥ 1 − β is certain: how far the noise goes, a public fact."""
        return self.noise.limit(between(beta, "beta", 0, 1) / 2)

    def accuracy(self, beta: Number) -> Accuracy:
        """The output is within `reach(beta)` of the value."""
        promise = between(beta, "beta", 0, 1)
        reach = self.reach(promise)
        return Accuracy(promise, None, f"the noise is at most {reach} with probability at least {1 - promise}.")

    def outcomes(self) -> Iterable[int]:
        """All outputs but a share of 2^-40."""
        return self._within(self.reach(WINDOW))

    def _within(self, reach: int) -> Iterable[int]:
        if 2 * reach >= LISTED:
            raise InvalidInput(f"the {self.name} law has too many outputs to list; take a larger budget to verify it.")
        return range(self._value - reach, self._value + reach + 1)

    def key(self) -> Hashable:
        """The value and the noise."""
        return type(self), self.guarantee, self.noise, self._value

    def telling_points(self, laws: Sequence[Self]) -> tuple[int, int]:
        """One output below and one above the values of all datasets."""
        return beyond([law._value for law in laws])

    def outcomes_to_follow(self) -> list[int]:
        """The value itself."""
        return [self._value]

    def concentrated_loss(self, other: Self) -> Enclosure | None:
        """What the noise knows about a shift by the difference of the values, where both have the same noise."""
        loss = self.noise.concentrated_loss(self._value - other._value) if self.noise == other.noise else None
        return None if loss is None else Enclosure.of(loss)


def noise_named(noise: IntegerNoise, sensitivity: int | None, parts: int | None) -> Named | None:
    """Noise on an integer, or on each of some parts, as certificates name it."""
    known = noise.named()
    if known is None or sensitivity is None:
        return None
    return {"law": "noise", **known, "sensitivity": str(sensitivity), "parts": None if parts is None else str(parts)}


class TruncatedInteger(NoisyInteger):
    """The law of an integer plus truncated noise, which is never larger than ``bound``."""

    def __init__(
        self, value: int | SupportsIndex, noise: TruncatedLaplace, guarantee: Guarantee, sensitivity: int | None = None
    ) -> None:
        super().__init__(value, noise, guarantee, sensitivity)
        self.bound = noise.bound

    def named(self) -> Named | None:
        """None: `tacit.checker` prices truncated noise only where a threshold goes with it."""
        return None

    def outcomes(self) -> Iterable[int]:
        """Every possible output."""
        return self._within(self.bound)


class RandomisedResponse(Law[int]):
    """The law of `randomised_response`."""

    name = "randomised response"

    def __init__(self, index: int | SupportsIndex, size: int, epsilon: Fraction, guarantee: Guarantee) -> None:
        self.size, self.epsilon, self.guarantee = size, epsilon, guarantee
        self._index = whole(index, "index", 0)
        if self._index >= size:
            raise InvalidInput("index must be below size; give the place of the true answer among them, from 0.")
        self._truth = Categorical([(1, 0), (size - 1, 1)], epsilon)

    def _draw(self, source: Randomness) -> int:
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


def laplace(value: int | SupportsIndex, epsilon: Number, sensitivity: int = 1) -> NoisyInteger:
    """An integer of this sensitivity with discrete Laplace noise, Pure(ε).

    >>> from tacit.mechanisms import laplace
    >>> law = laplace(100, epsilon=1)
    >>> round(float(law.pmf(100)), 3)
    0.462
    """
    guarantee = Pure(epsilon)
    noise = DiscreteLaplace.for_pure(guarantee.epsilon, whole(sensitivity, "sensitivity", 1))
    return NoisyInteger(value, noise, guarantee, sensitivity)


def gaussian(value: int | SupportsIndex, rho: Number, sensitivity: int = 1) -> NoisyInteger:
    """An integer of this sensitivity with discrete Gaussian noise of variance s²/(2ρ), Zcdp(ρ).

    >>> from tacit.mechanisms import gaussian
    >>> gaussian(100, rho="0.1").guarantee
    Zcdp(0.1)
    """
    guarantee = Zcdp(rho)
    noise = DiscreteGaussian.for_zcdp(guarantee.rho, whole(sensitivity, "sensitivity", 1))
    return NoisyInteger(value, noise, guarantee, sensitivity)


def truncated_laplace(
    value: int | SupportsIndex, epsilon: Number, delta: Number, sensitivity: int = 1
) -> TruncatedInteger:
    """An integer of this sensitivity with discrete Laplace noise that never exceeds `law.bound`, Approx(ε, δ).

    >>> from tacit.mechanisms import truncated_laplace
    >>> law = truncated_laplace(100, epsilon=1, delta="1e-6")
    >>> law.noise.bound
    14
    """
    guarantee = Approx(positive(epsilon, "epsilon"), between(delta, "delta", 0, 1))
    noise = TruncatedLaplace.for_approx(guarantee.epsilon, guarantee.delta, whole(sensitivity, "sensitivity", 1))
    return TruncatedInteger(value, noise, guarantee, sensitivity)


def randomised_response(index: int | SupportsIndex, size: int, epsilon: Number) -> RandomisedResponse:
    """One of 0, …, size − 1, the true ``index`` with odds e^ε against each other, Pure(ε).

    >>> from tacit.mechanisms import randomised_response
    >>> law = randomised_response(1, 2, epsilon=1)
    >>> round(float(law.pmf(1)), 3)
    0.731
    """
    guarantee = Pure(epsilon)
    return RandomisedResponse(index, whole(size, "size", 1), guarantee.epsilon, guarantee)


class NoiseVector(Together[int]):
    """Integers with independent noise of one kind on each."""

    name = "noise vector"

    def __init__(
        self, values: Sequence[int], noise: IntegerNoise, guarantee: Guarantee, sensitivity: int | None = None
    ) -> None:
        if not values:
            raise InvalidInput("values must list at least one number.")
        self.noise, self.sensitivity = noise, sensitivity
        self._values = [whole(value, "value") for value in values]
        super().__init__([NoisyInteger(value, noise, guarantee) for value in self._values], guarantee)

    def _draw(self, source: Randomness) -> tuple[int, ...]:
        drawn = self.noise.draws(len(self._values), source)
        return tuple(value + z for value, z in zip(self._values, drawn, strict=True))

    def named(self) -> Named | None:
        """The noise on each part, and how far a person moves all of them together."""
        return noise_named(self.noise, self.sensitivity, len(self._parts))


def laplace_vector(values: Sequence[int], epsilon: Number, sensitivity: int = 1) -> NoiseVector:
    """The law of ``values`` with discrete Laplace noise of scale sensitivity/ε on each; ℓ1-sensitivity.

    >>> from tacit.mechanisms import laplace_vector
    >>> laplace_vector([100, 20], epsilon=1, sensitivity=1).guarantee
    Pure(1)
    """
    guarantee = Pure(epsilon)
    noise = DiscreteLaplace.for_pure(guarantee.epsilon, whole(sensitivity, "sensitivity", 1))
    return NoiseVector(values, noise, guarantee, sensitivity)


def gaussian_vector(values: Sequence[int], rho: Number, sensitivity: int = 1) -> NoiseVector:
    """The law of ``values`` with discrete Gaussian noise of variance sensitivity²/(2ρ) on each; ℓ2-sensitivity.

    >>> from tacit.mechanisms import gaussian_vector
    >>> gaussian_vector([100, 20], rho="0.1", sensitivity=1).guarantee
    Zcdp(0.1)
    """
    guarantee = Zcdp(rho)
    noise = DiscreteGaussian.for_zcdp(guarantee.rho, whole(sensitivity, "sensitivity", 1))
    return NoiseVector(values, noise, guarantee, sensitivity)


def argue_response(p: Argument, *, other: Any = lambda odds, size: odds) -> None:
    """Every answer but the true one weighs ``other``: e^{-ε} against 1."""
    factor, odds, size = p.real("e^ε", lambda x: x >= 1), p.positive("e^-ε"), p.count("size", 1)
    p.assume(equal(factor * odds, 1))
    weight, total = other(odds, size), 1 + (size - 1) * other(odds, size)
    for name, first, second in (("true, then not", 1, weight), ("not true, then true", weight, 1)):
        with p.case(name, size >= 2):
            by.ratio(p, first / total, second / total, factor)


def argue_vector(p: Argument, *, rule: Any = DiscreteLaplace.for_pure) -> None:
    """Noise on parts whose moves add up to s at most: what was spent is at most the rate times what has moved."""
    epsilon, s = p.positive("ε"), p.count("s", 1)
    rate = rule(epsilon, s).rate

    def part(state: Any) -> Any:
        move = p.whole("move")
        return (state[0] + abs(move),), by.noise(p, move, rate, rate)

    spent = by.loop(p, (0,), lambda x, at: x <= rate * at[0], part, lambda at: at[0] <= s, rate * s)
    p.promise(spent, epsilon)


def argue_gaussian_vector(p: Argument, *, rule: Any = DiscreteGaussian.for_zcdp) -> None:
    """Noise on parts whose moves have squares that add up to s² at most."""
    rho, s = p.positive("ρ"), p.count("s", 1)
    variance = rule(rho, s).squared_scale

    def part(state: Any) -> Any:
        move = p.whole("move")
        return (state[0] + move * move,), by.gaussian(p, move, variance)

    bound = s * s / (2 * variance)
    spent = by.loop(p, (0,), lambda x, at: x <= at[0] / (2 * variance), part, lambda at: at[0] <= s * s, bound)
    p.promise(spent, rho)


PROOFS = (
    Proof("randomised response", "mechanisms.randomised_response", "Pure(ε)", argue_response, "any answer may change"),
    Proof(
        "Laplace noise on a vector",
        "mechanisms.laplace_vector",
        "Pure(ε)",
        argue_vector,
        "the parts' moves add up to at most s",
    ),
    Proof(
        "Gaussian noise on a vector",
        "mechanisms.gaussian_vector",
        "Zcdp(ρ)",
        argue_gaussian_vector,
        "the squares of the parts' moves add up to at most s²",
    ),
)
