"""How often a mechanism is repeated: random whole numbers K with exact probabilities, generating functions and draws.

- `NegativeBinomial(eta, gamma)`, truncated to K ≥ 1, η > −1 and 0 < γ < 1: P[K = k] ∝ (1−γ)^k·Π_{l<k} (l+η)/(l+1), for
  η = 0 ∝ (1−γ)^k/k. η = 1 is the geometric law, η = 0 the logarithmic one; a smaller η costs less privacy and has a
  longer tail at the same mean. E[z^K] = ((1−(1−γ)z)^{−η} − 1)/(γ^{−η} − 1), or ln(1−(1−γ)z)/ln γ, and
  E[K] = η(1−γ)/(γ(1−γ^η)), or (1/γ−1)/ln(1/γ).
- `Poisson(mean)`: K may be 0. E[z^K] = e^{−mean·(1−z)}.

Draws are exact: K is the k with P[K < k] ≤ U < P[K ≤ k] for one uniform real U. The probabilities come from the first
by exact ratios, (1−γ)(k+η)/(k+1) and mean/(k+1), in integers rounded both ways; where they do not decide, more bits do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from fractions import Fraction

from tacit.errors import InvalidInput
from tacit.numbers.enclosures import BITS, Enclosure, exp
from tacit.numbers.exact import Number, between, exact, positive
from tacit.randomness.lazy import WORD, LazyUniform
from tacit.randomness.source import Randomness

GUARD = 32
"""Further bits of the tables from which K is drawn."""

LEAST = Fraction(1, 10**6)
"""The smallest γ."""


class RunCount(ABC):
    """The law of a random number of runs, a public fact; the number drawn is secret."""

    first: int
    """The smallest possible K."""

    def __init__(self) -> None:
        self._tables: dict[int, _Table] = {}

    @abstractmethod
    def _start(self, bits: int) -> Enclosure:
        """P[K = first]."""

    @abstractmethod
    def _ratio(self, k: int) -> Fraction:
        """P[K = k + 1]/P[K = k]."""

    @abstractmethod
    def generating(self, z: Enclosure) -> Enclosure:
        """E[z^K], for z in [0, 1]."""

    @abstractmethod
    def mean(self, bits: int = BITS) -> Enclosure:
        """E[K]."""

    def pmf(self, k: int, bits: int = BITS) -> Enclosure:
        """P[K = k]."""
        if k < self.first:
            return Enclosure.of(0, bits)
        result = self._start(bits + 8)
        for i in range(self.first, k):
            result = result * self._ratio(i)
        return result

    def draw(self, source: Randomness) -> int:
        """One exact draw."""
        uniform, bits = LazyUniform(source), WORD
        while True:
            if bits not in self._tables:
                self._tables[bits] = _Table(self, bits)
            found = self._tables[bits].find(uniform.top(bits))
            if found is not None:
                return found
            bits *= 2

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{value}' for value in self._parameters())})"

    @abstractmethod
    def _parameters(self) -> tuple[Fraction, ...]: ...


class _Table:
    """Integers below and above P[K ≤ k]·2^bits, as far as they were needed."""

    def __init__(self, count: RunCount, bits: int) -> None:
        self._count, self._bits = count, bits
        self._low, self._high = count._start(bits + GUARD).fixed(bits + GUARD)
        self._sums = [(self._low, self._high)]
        self._above = [-(-self._high >> GUARD)]

    def find(self, known: int) -> int | None:
        """The k of a uniform real with these first bits, or None where they do not decide it."""
        while self._above[-1] <= known:
            if self._high <= 1:  # what is left is less than the table can tell
                return None
            self._extend()
        place = bisect_right(self._above, known)
        below = self._sums[place][0] >> GUARD
        return self._count.first + place if known < below else None

    def _extend(self) -> None:
        ratio = self._count._ratio(self._count.first + len(self._sums) - 1)
        n, d = ratio.numerator, ratio.denominator
        self._low, self._high = self._low * n // d, -(-self._high * n // d)
        low, high = self._sums[-1]
        self._sums.append((low + self._low, high + self._high))
        self._above.append(-(-self._sums[-1][1] >> GUARD))


class NegativeBinomial(RunCount):
    """The truncated negative binomial law: K ≥ 1, geometric for η = 1 and logarithmic for η = 0."""

    first = 1

    def __init__(self, eta: Number, gamma: Number) -> None:
        super().__init__()
        self.eta, self.gamma = exact(eta, "eta"), between(gamma, "gamma", 0, 1)
        if self.gamma < LEAST:
            raise InvalidInput(f"gamma must be at least {LEAST}; a smaller one means millions of runs.")
        if not -1 < self.eta <= 1000:
            raise InvalidInput("eta must be above -1 and at most 1000; 1 is the geometric law, 0 the logarithmic one.")

    def _power(self, base: Enclosure) -> Enclosure:
        """base^{−η} − 1, or −ln(base) for η = 0: what the probabilities up to a point are proportional to."""
        return -base.log() if self.eta == 0 else (base.log() * -self.eta).exp() - 1

    def _start(self, bits: int) -> Enclosure:
        return (1 - self.gamma) * (self.eta or 1) / self._power(Enclosure.of(self.gamma, bits + GUARD))

    def _ratio(self, k: int) -> Fraction:
        return (1 - self.gamma) * (k + self.eta) / (k + 1)

    def generating(self, z: Enclosure) -> Enclosure:
        """E[z^K], for z in [0, 1]."""
        base = Enclosure.of(1, z.bits) - z * (1 - self.gamma)
        return self._power(base) / self._power(Enclosure.of(self.gamma, z.bits))

    def mean(self, bits: int = BITS) -> Enclosure:
        """η(1−γ)/(γ(1−γ^η)), or (1/γ−1)/ln(1/γ)."""
        gamma = Enclosure.of(self.gamma, bits + GUARD)
        if self.eta == 0:
            return (1 / self.gamma - 1) / -gamma.log()
        return self.eta * (1 - self.gamma) / ((1 - (gamma.log() * self.eta).exp()) * self.gamma)

    def _parameters(self) -> tuple[Fraction, ...]:
        return self.eta, self.gamma


class Poisson(RunCount):
    """The Poisson law: K may be 0, and then there is no output."""

    first = 0

    def __init__(self, mean: Number) -> None:
        super().__init__()
        self.rate = positive(mean, "mean")
        if self.rate > 10**4:
            raise InvalidInput("mean must be at most 10000 runs; give a smaller one.")

    def _start(self, bits: int) -> Enclosure:
        return exp(-self.rate, bits)

    def _ratio(self, k: int) -> Fraction:
        return self.rate / (k + 1)

    def generating(self, z: Enclosure) -> Enclosure:
        """E[z^K], for z in [0, 1]."""
        return ((z - 1) * self.rate).exp()

    def mean(self, bits: int = BITS) -> Enclosure:
        """E[K]."""
        return Enclosure.of(self.rate, bits)

    def _parameters(self) -> tuple[Fraction, ...]:
        return (self.rate,)
