"""Exact verification: the largest privacy loss over all neighbouring pairs of small datasets, rigorously.

For a mechanism that can state its law, privacy on a small universe is a finite computation. For every pair of
neighbours x, x' and every output y the ratio P[M(x)=y]/P[M(x')=y] is enclosed by intervals that surely contain it:

- `Pure(ε)`: the largest |log ratio| is compared with ε;
- `Approx(ε, δ)`: Σ_y max(0, P[M(x)=y] − e^ε·P[M(x')=y]) is compared with δ;
- `Zcdp(ρ)` and `Renyi(α, ε)`: the Rényi divergence at the order (several orders for ρ) is compared with αρ or ε.

Outputs beyond a law's window count together as one more output, which is post-processing, so a violation found is
real. An enclosure that lies above the promise is *broken*. One that does not is *tight* when it reaches 99 % of
the promise, else *loose*; it holds up to the enclosure's width, which is required to be below 2^-40.

`examine` does the same for any function from small datasets to a law, or to a plain table of probabilities, and adds
what a promise leaves out: the exact largest loss, δ as a function of ε, and the Rényi divergence of every order asked.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from math import lcm
from typing import Any

from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Guarantee, Pure, Renyi, Zcdp
from tacit.mechanisms.law import Law
from tacit.numbers.enclosures import BITS, Enclosure, exp
from tacit.numbers.exact import Number, exact
from tacit.randomness import Categorical, Randomness

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

    exhaustive = True
    """The measured loss is exact, not a bound from samples."""

    @property
    def loss(self) -> float:
        """What was measured, in the unit of the promise."""
        return float(self.measured)

    @property
    def shown(self) -> str:
        """The measured loss for people."""
        return f"{self.promised.decisive[0]} = {'∞' if self.loss >= 10**9 else f'{self.loss:.5g}'}"

    @property
    def limit(self) -> Fraction:
        """The promised number the measured one is compared with."""
        return self.promised.decisive[1]

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
        """Measured over promised; where the measured loss is only bounded, its bound."""
        return float(self.measured.high / self.limit) if self.limit else float(self.measured.high)

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
    bits: int = 96,
    points: Iterable[Hashable] | None = None,
    *,
    until_broken: bool = False,
) -> Verification:
    """The worst privacy loss of ``mechanism`` over the neighbouring ``pairs``, both ways round, against the promise.

    ``points`` names the outputs to compare where a law has too many to list; all others count as one together. With
    ``until_broken`` the pairs are looked at one by one, the last first, until one exceeds the promise.
    """
    if until_broken:
        for pair in reversed(pairs):
            alone = verify(mechanism, [pair], promised, bits, points)
            if alone.broken:
                return alone
    tables = _tables({x: mechanism(x) for x in _involved(pairs)}, points, bits)
    low, high, worst = Fraction(0), Fraction(0), None
    for pair in pairs:
        p, q = (tables[x] for x in pair)
        for loss in (_loss(p, q, promised, bits), _loss(q, p, promised, bits)):
            low = max(low, loss.low)
            if loss.high > high:
                high, worst = loss.high, pair
    return Verification(promised, Enclosure.between(low, high, bits), worst, len(pairs))


def _involved(pairs: Iterable[tuple[Dataset, Dataset]]) -> list[Dataset]:
    """Every dataset of some pair, once."""
    return list(dict.fromkeys(x for pair in pairs for x in pair))


def _tables(
    laws: Mapping[Dataset, Law[Any]], points: Iterable[Hashable] | None, bits: int
) -> dict[Dataset, dict[Hashable, Enclosure]]:
    listed = _common_points(laws.values()) if points is None else list(points)
    return {x: table(law, listed, bits) for x, law in laws.items()}


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


_NEVER = Fraction(1, 2**64)
"""A left-over probability below this is the arithmetic's width, not an outcome."""

_INFINITE = Fraction(10**9)


def _is_width(key: Hashable, p: Enclosure) -> bool:
    return key is None and p.high < _NEVER


def max_divergence(p: dict[Hashable, Enclosure], q: dict[Hashable, Enclosure], bits: int = BITS) -> Enclosure:
    """max_y ln(p(y)/q(y)), 10^9 standing for infinity."""
    largest, unbounded = Enclosure.of(1, bits), False
    for y, a in p.items():
        b = q[y]
        if _is_width(y, a) and _is_width(y, b):
            continue
        if a.positive and b.positive:
            largest = largest.larger(a / b)
        elif b.zero and a.positive:
            return Enclosure.of(_INFINITE, bits)
        elif a.high > 0:
            unbounded |= y is not None  # what is left is not resolved: it says nothing either way
    return Enclosure.between(largest.log(), _INFINITE, bits) if unbounded else largest.log()


def hockey_stick(
    p: dict[Hashable, Enclosure], q: dict[Hashable, Enclosure], epsilon: Fraction, bits: int = BITS
) -> Enclosure:
    """Σ_y max(0, p(y) − e^ε q(y))."""
    factor, nothing = exp(epsilon, bits), Enclosure.of(0, bits)
    result = nothing
    for y, a in p.items():
        if _is_width(y, a):
            continue
        gap = a - factor * q[y]
        result = result + gap.larger(nothing)
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


# ---- the whole picture of a mechanism ---------------------------------------------------------------------------

EPSILONS = tuple(Fraction(i, 4) for i in range(9))
"""Where δ is computed unless others are asked for: 0, ¼, …, 2."""


class Listed(Law[Any]):
    """A law given as a table of exact probabilities that add up to 1."""

    name = "listed"

    def __init__(self, probabilities: Mapping[Any, Number], guarantee: Guarantee) -> None:
        self._probabilities = {y: exact(p, "probabilities") for y, p in probabilities.items()}
        self.guarantee = guarantee
        if sum(self._probabilities.values()) != 1 or min(self._probabilities.values()) < 0:
            raise InvalidInput("probabilities must be at least 0 and add up to 1 exactly; give them as fractions.")
        common = lcm(*(p.denominator for p in self._probabilities.values()))
        self._drawn = Categorical([(int(p * common), 0) for p in self._probabilities.values()], Fraction(1))

    def _draw(self, source: Randomness) -> Any:
        return list(self._probabilities)[self._drawn.draw(source)]

    def pmf(self, y: Any, bits: int = BITS) -> Enclosure:
        """The probability as it was given."""
        return Enclosure.of(self._probabilities.get(y, Fraction(0)), bits)

    def outcomes(self) -> Iterable[Any]:
        """Every output of the table."""
        return list(self._probabilities)

    def key(self) -> Hashable:
        """The table."""
        return type(self), self.guarantee, frozenset(self._probabilities.items())


@dataclass(frozen=True)
class Examination:
    """All that an exhaustive look at a mechanism found; every number encloses the truth rigorously."""

    promised: Verification
    """The comparison with the promise: its verdict is tight, loose, broken or undecided."""
    loss: Enclosure
    """The largest log ratio of probabilities, the exact pure ε on this universe; 10^9 stands for infinity."""
    worst: tuple[Dataset, Dataset] | None
    """The neighbouring pair where it is largest."""
    deltas: Mapping[Fraction, Enclosure]
    """ε → the smallest δ with which (ε, δ) holds for all pairs."""
    divergences: Mapping[Fraction, Enclosure]
    """Order → the largest Rényi divergence."""

    @property
    def verdict(self) -> str:
        """One of tight, loose, broken or undecided."""
        return self.promised.verdict


def examine(
    mechanism: Callable[[Dataset], Law[Any] | Mapping[Any, Number]],
    universe: Sequence[Any],
    persons: int = 3,
    promised: Guarantee | None = None,
    *,
    epsilons: Iterable[Number] = EPSILONS,
    orders: Iterable[Number] = ORDERS,
    points: Iterable[Hashable] | None = None,
    bits: int = BITS,
) -> Examination:
    """Examine any function from small datasets to a law over all datasets of at most ``persons`` from the universe.

    A table of exact probabilities will do for a law. The promise is the laws' own unless ``promised`` is given.
    """
    pairs = neighbours(datasets(universe, persons))
    laws: dict[Dataset, Law[Any]] = {}
    for x in _involved(pairs):
        found = mechanism(x)
        if isinstance(found, Law):
            laws[x] = found
        elif promised is not None:
            laws[x] = Listed(found, promised)
        else:
            raise InvalidInput("promised must be given for a mechanism that returns tables of probabilities.")
    if not pairs:
        raise InvalidInput("universe and persons must allow at least one person; otherwise there are no neighbours.")
    promise = promised or next(iter(laws.values())).guarantee
    listed = None if points is None else list(points)
    tables = _tables(laws, listed, bits)
    both = [(tables[x], tables[z], (x, z)) for a, b in pairs for x, z in ((a, b), (b, a))]
    losses = [(max_divergence(p, q, bits), pair) for p, q, pair in both]
    worst = max(losses, key=lambda found: found[0].high)
    return Examination(
        promised=verify(laws.__getitem__, pairs, promise, bits, listed),
        loss=_largest((loss for loss, _ in losses), bits),
        worst=worst[1] if worst[0].high > 0 else None,
        deltas={
            e: _largest((hockey_stick(p, q, e, bits) for p, q, _ in both), bits)
            for e in (exact(epsilon, "epsilons") for epsilon in epsilons)
        },
        divergences={
            a: _largest((renyi_divergence(p, q, a, bits) for p, q, _ in both), bits)
            for a in (exact(order, "orders") for order in orders)
        },
    )


def _largest(values: Iterable[Enclosure], bits: int) -> Enclosure:
    found = list(values)
    return Enclosure.between(max(x.low for x in found), max(x.high for x in found), bits)
