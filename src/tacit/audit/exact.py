"""Exact verification: the largest privacy loss over all neighbouring pairs of small datasets, rigorously.

For a mechanism that can state its law, privacy on a small universe is a finite computation. For every pair of
neighbours x, x' and every output y the ratio P[M(x)=y]/P[M(x')=y] is enclosed by intervals that surely contain it:

- `Pure(ε)`: the largest |log ratio| is compared with ε;
- `Approx(ε, δ)`: Σ_y max(0, P[M(x)=y] − e^ε·P[M(x')=y]) is compared with δ;
- `Zcdp(ρ)` and `Renyi(α, ε)`: the Rényi divergence at the order (several orders for ρ) is compared with αρ or ε.

Outputs beyond a law's window count together as one more output, which is post-processing, so a violation found is
real. An enclosure that lies above the promise is *broken*. One that does not is *tight* when it reaches 99 % of
the promise, else *loose*; it holds up to the enclosure's width, which is required to be below 2^-40.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

from tacit.enclosures import BITS, Enclosure, exp
from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Guarantee, Pure, Renyi, Zcdp
from tacit.mechanisms.law import Law

Dataset = tuple[Any, ...]
Mechanism = Callable[[Dataset], Law[Any]]

SLACK = Fraction(1, 2**40)
"""How wide the enclosure of a measured loss may be, relative to the promise."""

ORDERS = (Fraction(11, 10), Fraction(3, 2), Fraction(2), Fraction(4), Fraction(8), Fraction(32))
"""Rényi orders at which a ρ-zCDP promise is checked."""


@dataclass(frozen=True)
class Verification:
    """What an exhaustive check found."""

    promised: Guarantee
    measured: Enclosure
    """The worst loss, in the unit of the promise: ε, δ, ρ or the Rényi ε."""
    worst: tuple[Dataset, Dataset] | None
    pairs: int

    @property
    def limit(self) -> Fraction:
        """The promised number the measured one is compared with."""
        match self.promised:
            case Pure(epsilon):
                return epsilon
            case Approx(_, delta):
                return delta
            case Zcdp(rho):
                return rho
            case Renyi(_, epsilon):
                return epsilon
        raise InvalidInput("this kind of guarantee has no exact verification.")

    @property
    def broken(self) -> bool:
        """Whether some pair surely exceeds the promise."""
        return self.measured.low > self.limit

    @property
    def holds(self) -> bool:
        """Whether no pair exceeds the promise by more than the arithmetic's width."""
        return self.measured.high <= self.limit * (1 + SLACK) + Fraction(1, 2**60)

    @property
    def tightness(self) -> float:
        """Measured over promised."""
        return float(self.measured) / float(self.limit) if self.limit else float(self.measured)

    @property
    def verdict(self) -> str:
        """One of tight, loose, broken or undecided."""
        if self.broken:
            return "broken"
        if not self.holds:
            return "undecided"
        return "tight" if self.tightness >= 0.99 else "loose"


def datasets(universe: Sequence[Any], persons: int) -> list[Dataset]:
    """Every multiset of at most ``persons`` records from the universe, as sorted tuples."""
    return [x for n in range(persons + 1) for x in combinations_with_replacement(universe, n)]


def neighbours(collection: Iterable[Dataset]) -> list[tuple[Dataset, Dataset]]:
    """Every pair (x, x without one person) inside the collection."""
    known = set(collection)
    pairs: dict[tuple[Dataset, Dataset], None] = {}
    for x in known:
        for i in range(len(x)):
            smaller = x[:i] + x[i + 1 :]
            if smaller in known:
                pairs[(x, smaller)] = None
    return sorted(pairs, key=lambda p: (len(p[0]), repr(p)))


def table(law: Law[Any], points: Iterable[Hashable], bits: int = BITS) -> dict[Hashable, Enclosure]:
    """The law as outcome → probability, with what is left under the key None."""
    probabilities = {y: law.pmf(y, bits).clamp(0, 1) for y in points}
    rest = Enclosure.of(1, bits)
    for p in probabilities.values():
        rest = rest - p
    probabilities[None] = rest.clamp(0, 1)
    return probabilities


def verify(
    mechanism: Mechanism,
    pairs: Sequence[tuple[Dataset, Dataset]],
    promised: Guarantee,
    bits: int = 192,
    points: Iterable[Hashable] | None = None,
) -> Verification:
    """The worst privacy loss of ``mechanism`` over the neighbouring ``pairs``, both ways round, against the promise.

    ``points`` names the outputs to compare where a law has too many to list; all others count as one together.
    """
    laws = {x: mechanism(x) for x in dict.fromkeys(z for pair in pairs for z in pair)}
    listed = _common_points(laws.values()) if points is None else list(points)
    tables = {x: table(law, listed, bits) for x, law in laws.items()}
    low, high, worst = Fraction(0), Fraction(0), None
    for pair in pairs:
        p, q = (tables[x] for x in pair)
        for loss in (_loss(p, q, promised, bits), _loss(q, p, promised, bits)):
            low = max(low, loss.low)
            if loss.high > high:
                high, worst = loss.high, pair
    return Verification(promised, Enclosure.between(low, high, bits), worst, len(pairs))


def _common_points(laws: Iterable[Law[Any]]) -> list[Hashable]:
    points: dict[Hashable, None] = {}
    for law in laws:
        points.update(dict.fromkeys(law.outcomes()))
    return list(points)


def _loss(p: dict[Hashable, Enclosure], q: dict[Hashable, Enclosure], promised: Guarantee, bits: int) -> Enclosure:
    match promised:
        case Pure():
            return max_divergence(p, q, bits)
        case Approx(epsilon, _):
            return hockey_stick(p, q, epsilon, bits)
        case Zcdp():
            losses = [renyi_divergence(p, q, order, bits) / order for order in ORDERS]
            return Enclosure.between(max(x.low for x in losses), max(x.high for x in losses), bits)
        case Renyi(order, _):
            return renyi_divergence(p, q, order, bits)
    raise InvalidInput("this kind of guarantee has no exact verification.")


_NEVER = Fraction(1, 2**120)
"""A left-over probability below this is the arithmetic's width, not an outcome."""

_INFINITE = Fraction(10**9)


def _is_width(key: Hashable, p: Enclosure) -> bool:
    return key is None and p.high < _NEVER


def max_divergence(p: dict[Hashable, Enclosure], q: dict[Hashable, Enclosure], bits: int = BITS) -> Enclosure:
    """max_y ln(p(y)/q(y)), 10^9 standing for infinity."""
    low, high = Fraction(0), Fraction(0)
    for y, a in p.items():
        b = q[y]
        if a.high == 0 or (_is_width(y, a) and _is_width(y, b)):
            continue
        if b.high == 0 and a.low > 0:
            return Enclosure.of(_INFINITE, bits)
        if a.low <= 0 or b.low <= 0:
            if y is None:  # what is left is not resolved: it says nothing either way
                continue
            high = _INFINITE
            continue
        ratio = (a / b).log()
        low, high = max(low, ratio.low), max(high, ratio.high)
    return Enclosure.between(low, high, bits)


def hockey_stick(
    p: dict[Hashable, Enclosure], q: dict[Hashable, Enclosure], epsilon: Fraction, bits: int = BITS
) -> Enclosure:
    """Σ_y max(0, p(y) − e^ε q(y))."""
    factor, result = exp(epsilon, bits), Enclosure.of(0, bits)
    for y, a in p.items():
        if _is_width(y, a):
            continue
        gap = a - factor * q[y]
        result = result + Enclosure.between(max(gap.low, Fraction(0)), max(gap.high, Fraction(0)), bits)
    return result


def renyi_divergence(
    p: dict[Hashable, Enclosure], q: dict[Hashable, Enclosure], order: Fraction, bits: int = BITS
) -> Enclosure:
    """ln(Σ_y p^α q^{1−α})/(α − 1) over the enumerated outputs."""
    moment = Enclosure.of(0, bits)
    for y, a in p.items():
        b = q[y]
        if _is_width(y, a) or a.high == 0:
            continue
        if a.low <= 0 or b.low <= 0:
            if y is None:
                continue
            return Enclosure.between(0, _INFINITE, bits)
        moment = moment + (a.log() * order + b.log() * (1 - order)).exp()
    return moment.log() / (order - 1)
