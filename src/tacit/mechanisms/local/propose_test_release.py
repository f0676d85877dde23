"""Propose-test-release: propose a bound on the local sensitivity, test that it holds with room, release with its noise.

PROMISE  Approx(ε, δ) for one draw. The output is None (a refusal, which is a released and charged answer) or a
`Release` of the noisy statistic and the bound b its noise was made for, on a fixed public lattice.

PROOF  Let d_b(x) = min{ k : U_k(x) > b } be the distance to the nearest dataset whose local sensitivity exceeds b, or
with an upper bound U_k a number below it: 0 where LS > b, and of sensitivity 1, since U_k(x) ≤ U_{k+1}(x').
- One bound. Go on when d_b + Z ≥ T, Z discrete Laplace of rate ε₁, T the least integer with P[Z ≥ T] = e^{-ε₁T}/(1 +
  e^{-ε₁}) ≤ δ; then release f, rounded to the lattice, with discrete Laplace noise of scale b/ε₂. The test costs ε₁.
  Neighbours with |f − f'| ≤ b then pay ε₂: b is a multiple of the lattice, and rounding to the lattice keeps a
  difference of at most b. If |f − f'| > b, both have d_b = 0 and go on with probability at most δ.
- Automatic. The bounds are the lattice times 1, 2, 4, … up to the global sensitivity. An upward threshold scan on the
  losses max(0, C + c − d_b), of sensitivity 1 and not one-directional, costs ε₁ = e₁ + 2e₂ and returns a bound, or
  stops nowhere, which is a refusal. A bound with d_b = 0 stops it when ν ≥ C + ξ, which has probability e^{-e₂C}(1 −
  e^{-e₁})/(1 − e^{-e₁−e₂}) at most; C is the least that makes all of them together at most δ. So for neighbours a
  bound below |f − f'| is chosen with probability at most δ, and with any other the release pays ε₂. Here ε = ε₁ + ε₂,
  in equal parts.

ACCURACY  `accuracy(beta)`: from which distance on there is no refusal, and how far the noise then reaches.

WHICH  A median by inverse sensitivity has a hundredth of the error (benchmarks/median.py), as the bound must hold for
everybody within some hundred persons; this is for statistics without a loss of their own and with data to spare, such
as the interquartile range. For a mode over unknown values see `stable_mode`.

COST  The local sensitivities up to distance T + ln(10^6)/ε₁: a few milliseconds for a median, 0.2 s for an
interquartile range; a draw takes 0.1 ms.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable
from fractions import Fraction
from itertools import islice
from typing import Any, NamedTuple

from tacit.curves import StepLoss
from tacit.grids import integers
from tacit.guarantees import Approx
from tacit.mechanisms.choose.stable_mode import decide
from tacit.mechanisms.law import Accuracy, Law, Named
from tacit.mechanisms.local.sensitivities import LocalStatistic
from tacit.mechanisms.noise.noise import NoisyInteger, laplace
from tacit.mechanisms.person_values import kept
from tacit.mechanisms.search.scan_rates import rates
from tacit.mechanisms.search.threshold_scan import need_of, threshold_scan, walk
from tacit.noises import DiscreteLaplace
from tacit.numbers.enclosures import BITS, Enclosure, log
from tacit.numbers.exact import Number, between, positive
from tacit.proofs import Argument, Proof
from tacit.proofs import rules as by
from tacit.randomness import Randomness

TEST_SHARE = Fraction(1, 2)
"""What the test, or the scan, takes of ε."""

LATE = Fraction(1, 1000)
"""The chance that a scan passes by a bound with all the room it needs. It must be small: the next is twice as large."""

RARE = Fraction(1, 10**6)
"""Distances from which a test fails with less than this probability are not told apart."""

POINTS = 16
"""How many values of the lattice a law lists for each bound, for verification."""


class Release(NamedTuple):
    """A released statistic and the bound its noise was made for."""

    value: Fraction
    bound: Fraction


class PtrLaw(Law[Release | None]):
    """The law of a proposal: for each bound the chance to release with it, and the noise that follows."""

    def __init__(
        self, statistic: LocalStatistic, data: Any, lattice: Fraction, bounds: list[Fraction], guarantee: Approx
    ) -> None:
        self.name = f"propose-test-release, {statistic.name}"
        self.guarantee, self.lattice, self.bounds = guarantee, lattice, tuple(bounds)
        self._epsilon = (1 - TEST_SHARE) * guarantee.epsilon
        self._window = statistic.window
        self._index = (statistic.value(data) / lattice + Fraction(1, 2)) // 1

    @abstractmethod
    def _choose(self, source: Randomness) -> int | None:
        """The place of the bound that passed; None for a refusal."""

    @abstractmethod
    def _chance(self, place: int, bits: int) -> Enclosure:
        """The probability that the bound at this place passes."""

    def _noise(self, place: int) -> NoisyInteger:
        return laplace(self._index, self._epsilon, (self.bounds[place] / self.lattice).numerator)

    def _draw(self, source: Randomness) -> Release | None:
        place = self._choose(source)
        if place is None:
            return None
        return Release(self._noise(place)._draw(source) * self.lattice, self.bounds[place])

    def pmf(self, y: Release | None, bits: int = BITS) -> Enclosure:
        """A rigorous enclosure of P[output = y]; None is a refusal."""
        if y is None:
            released = Enclosure.of(0, bits)
            for place in range(len(self.bounds)):
                released = released + self._chance(place, bits)
            return (1 - released).clamp(0, 1)
        index = y.value / self.lattice
        if y.bound not in self.bounds or index.denominator != 1:
            return Enclosure.of(0, bits)
        place = self.bounds.index(y.bound)
        return self._chance(place, bits) * self._noise(place).pmf(index.numerator, bits)

    @abstractmethod
    def _private(self) -> Hashable:
        """What the choice of a bound depends on, of the data."""

    def key(self) -> Hashable:
        """The statistic, what decides about the bounds, and the public numbers."""
        return type(self), self.guarantee, self.lattice, self.bounds, self._window, self._index, self._private()

    def outcomes(self) -> Iterable[Release]:
        """A public window of the lattice with every bound; what is left is refusals and values outside."""
        low, high = self._window
        first, last = -(-low // self.lattice), high // self.lattice
        first -= (POINTS - (last - first + 1)) // 2
        return (Release(i * self.lattice, bound) for bound in self.bounds for i in range(first, first + POINTS))


class ProposedLaw(PtrLaw):
    """One proposed bound."""

    def __init__(
        self, statistic: LocalStatistic, data: Any, lattice: Fraction, bound: Fraction, guarantee: Approx
    ) -> None:
        super().__init__(statistic, data, lattice, [bound], guarantee)
        self._test = DiscreteLaplace(TEST_SHARE * guarantee.epsilon)
        self.threshold = self._test.threshold(guarantee.delta)
        (self._distance,) = distances(statistic, data, [bound], self.threshold + self._test.threshold(RARE))

    def _choose(self, source: Randomness) -> int | None:
        return 0 if self._distance + self._test.draw(source) >= self.threshold else None

    def _private(self) -> Hashable:
        return self._distance

    def _chance(self, place: int, bits: int) -> Enclosure:
        return self._test.tail(self.threshold - self._distance, bits)

    def accuracy(self, beta: Number) -> Accuracy:
        """The distance from which there is no refusal, and the noise; β is halved between them."""
        failure = between(beta, "beta", 0, 1)
        room = self.threshold + self._test.threshold(failure / 2)
        reach = self._noise(0).reach(failure / 2) * self.lattice
        statement = (
            f"where no dataset within {room} persons has a local sensitivity above {self.bounds[0]} the answer is "
            f"released and its noise is at most {reach}, with probability at least {1 - failure}"
        )
        return Accuracy(failure, room, statement)


class ScannedLaw(PtrLaw):
    """A bound found by a threshold scan over a public list."""

    def __init__(
        self, statistic: LocalStatistic, data: Any, lattice: Fraction, bounds: list[Fraction], guarantee: Approx
    ) -> None:
        super().__init__(statistic, data, lattice, bounds, guarantee)
        total = TEST_SHARE * guarantee.epsilon
        self.room, offset, share = self._room(total, len(bounds), guarantee.delta)
        far = distances(statistic, data, bounds, self.room)
        # After the last bound comes a refusal, which a scan that stops nowhere returns.
        losses = [*(self.room - distance for distance in far), self.room]
        loss = StepLoss.from_losses(integers(0, len(bounds)), losses)
        self._scan = threshold_scan(loss, total, "up", share, offset)

    def named(self) -> Named:
        """The scan for a bound, the room it asks for, the bounds, and the rate of the noise for a bound."""
        threshold, each = map(str, self._scan.rates)
        facts = {"threshold": threshold, "each": each, "room": str(self.room - self._scan.offset)}
        bounds = {"lattice": str(self.lattice), "bounds": str(len(self.bounds)), "rate": str(self._epsilon)}
        return {"law": "proposal", **facts, **bounds}

    @classmethod
    def _room(cls, epsilon: Fraction, bounds: int, delta: Fraction) -> tuple[int, int, Fraction]:
        """C + c, c and the threshold's share of ε, in twentieths, with the smallest C + c."""
        options = [(rates(epsilon, (1, 1), Fraction(i, 20)), Fraction(i, 20)) for i in range(1, 20)]
        return min(
            (pair.need_for(bounds, delta) + pair.excess_for(LATE), pair.excess_for(LATE), share)
            for pair, share in options
        )

    def _choose(self, source: Randomness) -> int | None:
        place = self._scan._draw_index(source)
        return place if place < len(self.bounds) else None

    def _private(self) -> Hashable:
        return self._scan.key()

    def _chance(self, place: int, bits: int) -> Enclosure:
        return self._scan.pmf(place, bits)

    def accuracy(self, beta: Number) -> Accuracy:
        """The distance from which a bound passes with probability 99.9 %, and the noise in terms of the bound."""
        failure = between(beta, "beta", 0, 1)
        times = (-log(failure) / self._epsilon).high
        statement = (
            f"a bound that no dataset within {self.room} persons exceeds passes with probability at least {1 - LATE}; "
            f"the noise is at most {float(times):.4g} times the bound that passed, and one step of the lattice, with "
            f"probability at least {1 - failure}"
        )
        return Accuracy(failure, self.room, statement)


def distances(statistic: LocalStatistic, data: Any, bounds: list[Fraction], cap: int) -> list[int]:
    """For each of some increasing bounds how many persons away a larger local sensitivity is, at most ``cap``."""
    found: list[int] = []
    for k, local in enumerate(islice(statistic.growth(data), cap)):
        while len(found) < len(bounds) and local > bounds[len(found)]:
            found.append(k)
        if len(found) == len(bounds) or bounds[len(found)] >= statistic.global_sensitivity:
            break
    return found + [cap] * (len(bounds) - len(found))


def propose_test_release(
    statistic: LocalStatistic,
    data: Any,
    epsilon: Number,
    delta: Number,
    bound: Number | None = None,
    *,
    lattice: Number | None = None,
) -> PtrLaw:
    """The statistic with noise made for ``bound``, or for a bound found by a scan, where the data allow it; else None.

    ``bound`` and ``lattice`` are public numbers; a bound is rounded up to a multiple of the lattice.

    >>> from tacit.mechanisms import Quantile, propose_test_release
    >>> law = propose_test_release(Quantile(0, 9), [4] * 500, epsilon=1, delta="1e-6")
    >>> law.guarantee
    Approx(1, 1e-06)
    """
    guarantee = Approx(positive(epsilon, "epsilon"), between(delta, "delta", 0, 1))
    step = statistic.lattice if lattice is None else positive(lattice, "lattice")
    records = kept(data)
    if bound is not None:
        proposed = -(-positive(bound, "bound") // step) * step
        return ProposedLaw(statistic, records, step, proposed, guarantee)
    bounds = [step]
    while bounds[-1] < statistic.global_sensitivity:
        bounds.append(2 * bounds[-1])
    return ScannedLaw(statistic, records, step, bounds, guarantee)


def _release(p: Argument, epsilon: Any, scale: Any) -> Any:
    """The price of the noise, where the statistic moves by at most the bound, k steps of the lattice."""
    steps, move, index = p.count("k", 1), p.real("f' − f"), p.whole("move of the rounded f")
    rest = p.real("f + ½ − ⌊f + ½⌋", lambda x: x >= 0, lambda x: x < 1)
    p.assume(move <= steps, move >= -steps, index <= rest + move, rest + move < index + 1)
    p.derive((index <= steps) & (index >= -steps))
    rate = DiscreteLaplace.for_pure(epsilon, scale(steps)).rate
    return by.noise(p, index, rate, rate)


def argue(p: Argument, *, low: int = 0, scale: Any = lambda steps: steps, tested: bool = True) -> None:
    """One bound: the distance d moves by at most 1, and is 0 on both datasets where f moves by more than the bound."""
    epsilon, delta = p.positive("ε"), p.positive("δ")
    test, rest = TEST_SHARE * epsilon, (1 - TEST_SHARE) * epsilon
    with p.case("f moves by at most the bound"):
        distance, move = p.count("d"), p.steps("move of d", -1, 1)
        decide(p, test, delta, distance, distance + move, same=True, room=-low)
        p.promise(by.shift(p, -move, test, test) + _release(p, rest, scale), epsilon)
    with p.case("f moves by more"):
        distance = 0 if tested else p.count("d")
        decide(p, test, delta, distance, distance, same=False, room=-low)


def argue_scanned(p: Argument, *, room: int = 1) -> None:
    """A bound by a scan on C + c − d, or a refusal; P[ν − ξ ≥ C at some bound of d = 0] ≤ δ by the choice of C."""
    epsilon, delta, split = p.positive("ε"), p.positive("δ"), p.within("share", 0, 1)
    pair = rates(TEST_SHARE * epsilon, (1, 1), split)
    with p.case("f moves by at most the bound that passed"):
        stop = p.steps("move", -1, 1)
        price = walk(p, pair, -1, stop, visited=lambda: p.steps("any move", -1, 1))
        p.promise(price + _release(p, (1 - TEST_SHARE) * epsilon, lambda steps: steps), epsilon)
    with p.case("f moves by more than some bound, and that passes"):
        c, above, xi, nu = p.count("c"), p.count("C"), p.count("ξ"), p.count("ν")
        stops = nu >= need_of(room * above + c, c, True) + xi
        p.promise(by.event(p, stops, nu - xi, above, delta), delta)


_GIVEN = "d is the distance to a dataset where one person moves f by more than the bound, or a number below it"

PROOFS = (
    Proof("propose-test-release, one bound", "mechanisms.propose_test_release", "Approx(ε, δ)", argue, _GIVEN),
    Proof("propose-test-release, scanned", "mechanisms.propose_test_release", "Approx(ε, δ)", argue_scanned, _GIVEN),
)
