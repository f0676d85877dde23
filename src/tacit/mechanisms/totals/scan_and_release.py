"""A sum over persons without bounds: choose a cap, release what lies within it and how many persons lie above it.

Every person has a total s > 0 (rows counted, values added); n persons have one, N(C) of them a total above C. Drawn
one after the other, and all released, with shares of ε from a public `TotalDesign`:

1. *many, few or a handful*: many if n + Z ≥ B, a handful if n + Z < A, few otherwise, Z discrete Laplace of rate η.
2. *the cap* C of a public list, without end for all purposes. Many: P(C) ∝ C^-p·e^{-κ·N(C)}. Few: the upward threshold
   scan, the first C with N(C) ≤ c − ξ + ν, ξ ~ Geom(ε1) once and ν ~ Geom(ε2) at every cap it visits. A handful: a scan
   with rates, a threshold and a stride of its own. The *limit* L ≥ C is the cap some places further up the list.
3. *within* = Σ_{s≤L} min(s, C) + Z', and *above* = N(L) + Z'', noises that fall like e^{-up·z} above 0 and like
   e^{-down·|z|} below.

PROMISE  One draw is Pure(ε), although the parts add up to far more: they are charged together.

PROOF  Add a person of total s. The logarithm of each probability moves by something in

                            many          few             a handful
    the test                [0, η]        [−η, η]         [−η, 0]
    the cap, if s > C       [−κ, 0]       [−ε2, ε1]       [−ε2, ε1]
    the cap, if s ≤ C       [0, κ]        [0, ε1 + ε2]    [0, ε1 + ε2]

and just one of the two numbers moves: *above* by 1 if s > L, *within* by min(s, C) otherwise. A move by m upward
changes the noise's log-probability by something in [−down·m, up·m]. So these rates, up and down, keep every sum within
[−ε, ε], with ε1 and ε2 of the scan that was drawn:

                        many                     few                             a handful
    above               ε − η,      ε − κ        ε − ε1 − η,       ε − ε2 − η    ε − ε1,       ε − ε2 − η
    within, times C     ε − κ − η,  ε − κ        ε − ε1 − ε2 − η,  ε − ε2 − η    ε − ε1 − ε2,  ε − ε2 − η

The persons between C and L ask for these downward rates of *within*; where L = C it is ε with many persons, or ε − η.
Where a handful is not told apart (A = 0) the test of few moves by [−η, 0] alone, and its upward rates gain η.

The test: each P[Z = z] moves by a factor within e^{±η} when n grows by one, and the two tails only one way. The cap,
many: the weight of C falls by e^{-κ} if s > C and stays if not, so the sum of all weights falls by a factor in
[e^{-κ}, 1]. Few: the caps below s see one person more. If s > C these are all caps visited, and a shift of ξ by one
undoes it: at most e^{ε1}; unshifted, each "go on" gains and the "stop" loses at most e^{ε2}. If s ≤ C the stop is as
before and each go on gains: at least 1; with ξ shifted by one each go on loses and the stop gains at most e^{ε2}: at
most e^{ε1+ε2}. Never stopping gives the last cap, which without its stop factor stays within the same bounds. Each
bound is attained: ε is tight. The list, the strides and the limits are public.

SIGNS  A person's total is positive or negative, so the positive and the negative part concern disjoint persons.
Adding one leaves the law of the other part as it is: both together are Pure(ε) (`signed_scan_and_release`).

ERROR  The noises do not depend on the choice, so what they promise holds whatever the data and for every cap:
- N(L) = above − Z'' is more than above + k with probability P[Z'' < −k] (`persons_above_cap`);
- `reach` encloses the noise of within + G·above, which is the total with every person above the limit counted as
  G and any other as at most C; `value` counts only persons beyond what noise alone makes likely, within + G·max(0,
  above − x/ε) with x = a + d/(ε·above), for few persons above the limit may well be none, and adds a part of C/ε for
  those between cap and limit;
- those above the limit have at least L each, so the truth is at least Σ_{s≤L} min(s, C) + L·N(L) = within + L·above − W
  with W = Z' + L·Z'', and exceeds within + L·above − k unless W > k (`at_least`).
How much those above the cap really have cannot be known. Of a sum of either sign, both parts have such a least value;
the sum itself has none, for nothing bounds the other part from above.

ACCURACY  Chosen and measured in benchmarks/bound_free_sum.py against the best cap that knows the data. The scan finds
a cap for some fifty persons/ε in any range, the weights choose better but need n·κ > p·ln C: hence the test. A scan in
wide steps with most of ε finds one for twenty persons/ε, and leaves little of it for the noise.

COST  Linear in the length of the list: about a millisecond.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property, partial
from itertools import accumulate, product
from math import ceil
from typing import Any, Self

from tacit.answers.totals import DESIGN, CappedTotal, Scan, SignedTotal, TotalDesign
from tacit.curves import StepLoss
from tacit.errors import InvalidInput
from tacit.grids import integers
from tacit.guarantees import Pure
from tacit.mechanisms.choose.exponential import weigh
from tacit.mechanisms.law import Law, Named
from tacit.mechanisms.noise.noise import beyond
from tacit.mechanisms.search.scan_rates import Rates
from tacit.mechanisms.search.threshold_scan import ScanLaw, walk
from tacit.noises import DiscreteLaplace
from tacit.numbers.enclosures import BITS, Enclosure
from tacit.numbers.exact import Number, positive, whole
from tacit.proofs import Argument, Proof
from tacit.proofs import rules as by
from tacit.proofs.terms import either
from tacit.randomness import Categorical
from tacit.randomness.source import Randomness

CAPS = (
    *(1, 2, 3, 4, 5, 6, 8),
    *(digits * 10**zeros for zeros in range(37) for digits in (10, 12, 15, 20, 25, 30, 40, 50, 60, 80)),
)
"""Ten caps for each power of ten, readable numbers, up to beyond any sum of 2^63 values of 63 bits."""


LISTED = 16
"""The most caps whose outcomes are listed."""

_PRECISION = 512
"""Bits with which the choice of a cap begins: its weights differ by that much."""


class CappedTotalLaw(Law[CappedTotal]):
    """The law of `scan_and_release`."""

    name = "scan and release"

    def __init__(
        self, counts: Sequence[int], sums: Sequence[int], epsilon: Fraction, caps: tuple[int, ...], design: TotalDesign
    ) -> None:
        self.caps, self.design, self.guarantee = caps, design, Pure(epsilon)
        self._epsilon = epsilon
        self._persons = sum(counts)
        self._over = list(accumulate(reversed(counts[1:])))[::-1]
        self._limits = [min(i + design.beyond, len(caps) - 1) for i in range(len(caps))]
        self._above = [self._over[i] for i in self._limits]
        self._within = [
            within + cap * (over - above)
            for within, cap, over, above in zip(accumulate(sums[:-1]), caps, self._over, self._above, strict=True)
        ]
        self._test = DiscreteLaplace(design.test * epsilon)
        self._enough = ceil(design.size / epsilon)
        self._handful = min(ceil(design.handful / epsilon), self._enough)
        self._places = {cap: i for i, cap in enumerate(caps)}

    def named(self) -> Named:
        """The rates of the test, of the choices of a cap and of the noises, the caps, and how a total follows."""
        design, epsilon, known = self.design, self._epsilon, dict[str, Any]()
        for many, handful in self._kinds:
            scan, charges = design.scan(handful), design.charges(many, handful)
            noises = (charges.within_up, charges.within_down, charges.above_up, charges.above_down)
            chosen = (design.choice,) if many else (scan.threshold, scan.each)
            kind = "many" if many else "handful" if handful else "few"
            known[kind] = [str(rate * epsilon) for rate in (*chosen, *noises)]
        caps = "readable" if self.caps == CAPS else " ".join(map(str, self.caps))
        value = [epsilon, design.counted, design.allowed]
        value += [design.doubted, design.lifted, design.scanned_doubted, design.scanned_lifted]
        facts = {"test": str(design.test * epsilon), "beyond": str(design.beyond), "caps": caps}
        return {"law": "scan and release", **facts, **known, "value": [str(number) for number in value]}

    @cached_property
    def _weighed(self) -> Categorical:
        """The choice for many persons."""
        weights = list(zip(self.design.weights(self.caps), self._over, strict=True))
        return Categorical(weights, self.design.choice * self._epsilon, _PRECISION)

    @cached_property
    def _scans(self) -> dict[bool, ScanLaw]:
        """The choice for a handful of persons, and that for few: places among the caps each scan visits."""
        return {handful: self._scan(self.design.scan(handful)) for many, handful in self._kinds if not many}

    def _scan(self, scan: Scan) -> ScanLaw:
        visited = self._over[:: scan.stride]
        rates = Rates(scan.threshold * self._epsilon, scan.each * self._epsilon)
        loss = StepLoss.from_losses(integers(0, len(visited) - 1), visited, one_directional=True)
        return ScanLaw(loss, True, rates, int(scan.offset / self._epsilon), Pure(rates.threshold + rates.each))

    def _draw(self, source: Randomness) -> CappedTotal:
        seen = self._persons + self._test.draw(source)
        many, handful = seen >= self._enough, self._handful > 0 and seen < self._handful
        if many:
            i = int(self._weighed.draw(source))
        else:
            i = self._scans[handful]._draw_index(source) * self.design.scan(handful).stride
        within, above = self.design.noises(many, self.caps[i], self._epsilon, handful)
        return self._total(i, int(within.draw(source)), int(above.draw(source)), many, handful)

    def _total(self, i: int, within: int, above: int, many: bool, handful: bool) -> CappedTotal:
        """What is released at a cap with these noises."""
        limit = None if self.design.beyond == 0 else self.caps[self._limits[i]]
        numbers = self._within[i] + within, self._above[i] + above
        return CappedTotal(self.caps[i], *numbers, many, self._epsilon, self.design, limit, handful)

    def _pmf_choice(self, many: bool, i: int, bits: int, handful: bool = False) -> Enclosure:
        """P[many, few or a handful, and this cap]."""
        if many:
            return self._test.tail(self._enough - self._persons, bits) * self._weighed.pmf(i, bits)
        place, rest = divmod(i, self.design.scan(handful).stride)
        if rest or (not handful and self._handful == self._enough):
            return Enclosure.of(0, bits)
        chance = self._below(self._handful, bits) if handful else self._between(bits)
        return chance * self._scans[handful]._pmf_at(place, bits)

    def _below(self, bound: int, bits: int) -> Enclosure:
        """P[n + Z < bound]."""
        return self._test.tail(1 + self._persons - bound, bits)

    def _between(self, bits: int) -> Enclosure:
        """P[few], from tails on the side where they are small."""
        low, high = self._handful, self._enough
        if not low:
            return self._below(high, bits)
        if self._persons >= high:
            return self._below(high, bits) - self._below(low, bits)
        return self._test.tail(low - self._persons, bits) - self._test.tail(high - self._persons, bits)

    def pmf(self, y: CappedTotal, bits: int = BITS) -> Enclosure:
        """A rigorous enclosure of P[output = y]."""
        i = self._places.get(y.cap)
        if i is None or y != self._total(i, y.within - self._within[i], y.above - self._above[i], y.many, y.handful):
            return Enclosure.of(0, bits)
        within, above = self.design.noises(y.many, y.cap, self._epsilon, y.handful)
        noise = within.mass(y.within - self._within[i], bits) * above.mass(y.above - self._above[i], bits)
        return self._pmf_choice(y.many, i, bits, y.handful) * noise

    @property
    def _kinds(self) -> list[tuple[bool, bool]]:
        """Many, few, and a handful where it is told apart."""
        return [(False, False), (True, False), *([(False, True)] if self._handful else [])]

    def outcomes(self) -> Iterable[CappedTotal]:
        """The noiseless numbers at every cap and those beside them: there each noise shows both its rates."""
        if len(self.caps) > LISTED:
            raise InvalidInput(f"the scan and release law is listed for at most {LISTED} caps; verify it on fewer.")
        for i, kind in product(range(len(self.caps)), self._kinds):
            for within, above in product((-1, 0, 1), repeat=2):
                yield self._total(i, within, above, *kind)

    def key(self) -> Hashable:
        """The persons above every cap, their totals below it, and the design."""
        data = tuple(self._over), tuple(self._within), self._persons
        return type(self), self.guarantee, self.caps, self.design, data

    def telling_points(self, laws: Sequence[Self]) -> list[CappedTotal]:
        """At every cap that divides the persons of some dataset, and beside it, numbers beyond all of theirs."""
        steps = {i for law in laws for i in range(1, len(self.caps)) if law._over[i] != law._over[i - 1]}
        steps |= {max(0, i - self.design.beyond) for i in steps}
        points = []
        for place in sorted({0, len(self.caps) - 1} | steps | {max(0, i - 1) for i in steps}):
            within = beyond([law._within[place] for law in laws])
            above = beyond([law._above[place] for law in laws])
            for (s, n), kind in product(product(within, above), self._kinds):
                points.append(self._total(place, s - self._within[place], n - self._above[place], *kind))
        return points

    def outcomes_to_follow(self) -> list[CappedTotal]:
        """Without noise, the lowest cap and the first that no more persons are above than the last."""
        first = self._over.index(self._over[-1])
        return [self._total(i, 0, 0, many=False, handful=False) for i in dict.fromkeys((0, first))]


def scan_and_release(
    counts: Sequence[int],
    sums: Sequence[int],
    epsilon: Number,
    *,
    caps: tuple[int, ...] = CAPS,
    design: TotalDesign = DESIGN,
) -> CappedTotalLaw:
    """The law of what is released about the sum of positive person totals, Pure(ε), no bound given.

    ``counts`` and ``sums`` describe the persons with totals in (0, caps[0]], (caps[0], caps[1]], …, (caps[-1], ∞):
    how many, and the sum of their totals.

    >>> from tacit.mechanisms import scan_and_release
    >>> caps = (1, 10, 100)  # three persons of 7 each: the second of four buckets
    >>> law = scan_and_release([0, 3, 0, 0], [0, 21, 0, 0], epsilon=1, caps=caps)
    >>> law.guarantee
    Pure(1)
    """
    total = positive(epsilon, "epsilon")
    if len(counts) != len(caps) + 1 or len(sums) != len(counts):
        raise InvalidInput("counts and sums must have one entry for each cap and one for the persons above the last.")
    return CappedTotalLaw(
        [whole(count, "counts", 0) for count in counts], [whole(s, "sums", 0) for s in sums], total, caps, design
    )


class SignedTotalLaw(Law[SignedTotal]):
    """The law of `signed_scan_and_release`: two independent parts about disjoint persons."""

    name = "signed scan and release"

    def __init__(self, positive: CappedTotalLaw, negative: CappedTotalLaw) -> None:
        self._positive, self._negative, self.guarantee = positive, negative, positive.guarantee

    def _draw(self, source: Randomness) -> SignedTotal:
        return SignedTotal(self._positive._draw(source), self._negative._draw(source))

    def pmf(self, y: SignedTotal, bits: int = BITS) -> Enclosure:
        """A rigorous enclosure of P[output = y]."""
        return self._positive.pmf(y.positive, bits) * self._negative.pmf(y.negative, bits)

    def outcomes(self) -> Iterable[SignedTotal]:
        """All pairs of the parts' windows."""
        return (SignedTotal(a, b) for a, b in product(self._positive.outcomes(), self._negative.outcomes()))

    def key(self) -> Hashable:
        """Those of both parts."""
        return type(self), self._positive.key(), self._negative.key()

    def telling_points(self, laws: Sequence[Self]) -> list[SignedTotal]:
        """All pairs of the parts' telling points."""
        positive = self._positive.telling_points([law._positive for law in laws])
        negative = self._negative.telling_points([law._negative for law in laws])
        return [SignedTotal(a, b) for a, b in product(positive, negative)]

    def outcomes_to_follow(self) -> list[SignedTotal]:
        """All pairs of the parts'."""
        pairs = product(self._positive.outcomes_to_follow(), self._negative.outcomes_to_follow())
        return [SignedTotal(a, b) for a, b in pairs]


Buckets = tuple[Sequence[int], Sequence[int]]
"""Counts and sums of persons between the caps."""


def signed_scan_and_release(
    positive: Buckets, negative: Buckets, epsilon: Number, *, caps: tuple[int, ...] = CAPS, design: TotalDesign = DESIGN
) -> SignedTotalLaw:
    """The law of a sum of totals of either sign, Pure(ε); the negative totals are given by their absolute values.

    >>> from tacit.mechanisms import signed_scan_and_release
    >>> owed, owned = ([0, 1, 0], [0, 5, 0]), ([0, 3, 0], [0, 21, 0])  # up to 1, up to 10, beyond
    >>> signed_scan_and_release(owned, owed, epsilon=1, caps=(1, 10)).guarantee
    Pure(1)
    """
    parts = (scan_and_release(*part, epsilon, caps=caps, design=design) for part in (positive, negative))
    return SignedTotalLaw(*parts)


RATES = ("test", "choice", "threshold", "each", "handful_threshold", "handful_each")
KINDS = {"many": (True, False), "few": (False, False), "handful": (False, True)}
"""Many, few, or a handful of persons: the two answers of the test."""


def any_designs(p: Argument, kind: str, made: Callable[..., TotalDesign] = TotalDesign) -> Iterator[TotalDesign]:
    """Designs of which nothing is known but that their noises exist: with a limit above the cap, and a handful told
    apart, or without.
    """
    for further, handful in product((0, 1), (0, 1)):
        said = "a limit above the cap" if further else "no limit"
        with p.case(f"{said}, {'with' if handful else 'without'} a handful"):
            if kind != "handful" or handful:
                known = {"beyond": further, "handful": Fraction(handful)}
                design = made(**{name: p.positive(name) for name in RATES}, **known)
                p.assume(*(rate >= 0 for rate in vars(design.charges(*KINDS[kind])).values()))
                yield design


def _test(p: Argument, design: TotalDesign, rate: Any, sign: int, kind: str) -> Any:
    """The price of the test, where the number of persons moves by 1 up or down: what it said is said again."""
    persons, enough, least, z = p.count("n"), p.whole("B"), p.whole("A"), p.whole("Z")
    between = kind == "few" and design.handful
    lift = -sign if between else (sign < 0) - 0 if kind == "many" else -(sign > 0)

    def said(seen: Any) -> Any:
        if kind == "many":
            return seen >= enough
        return seen < least if kind == "handful" else (seen < enough) & ((seen >= least) if between else True)

    by.keep(p, said(persons + z), said(persons + sign + z + lift))
    return by.shift(p, lift, rate, rate)


def _prices(p: Argument, design: TotalDesign, epsilon: Any, sign: int, kind: str, twice: bool) -> Any:
    """The price of one draw, where a person is added (sign 1) or removed (−1)."""
    cap, total = p.count("C", 1), p.count("s", 1)
    limit = p.count("limit", 1) if design.beyond else cap
    p.assume(limit >= cap)
    over, beyond_limit = total > cap, total > limit
    low, high = min(0, sign), max(0, sign)
    price = _test(p, design, design.test * epsilon, sign, kind)
    if kind == "many":
        price += weigh(p, design.choice * epsilon, low, high, either(over, sign, 0))
    else:
        scan = design.scan(kind == "handful")
        pair = Rates(scan.threshold * epsilon, scan.each * epsilon)
        with p.case("the person above the cap", over):
            above = walk(p, pair, low, sign, visited=lambda: sign)
        with p.case("the person within the cap", total <= cap):
            within = walk(p, pair, low, 0, visited=lambda: p.steps("any move", low, high))
        price += either(over, above, within)
    inside, outside = design.noises(KINDS[kind][0], cap, epsilon, KINDS[kind][1])
    counted = either(beyond_limit, cap if twice else 0, either(over, cap, total))
    price += by.noise(p, sign * counted, inside.up, inside.down)
    return price + by.noise(p, either(beyond_limit, sign, 0), outside.up, outside.down)


def argue(p: Argument, *, kind: str, designs: Any = any_designs, twice: bool = False) -> None:
    """A person of total s, within the cap, between cap and limit, or above it; ``twice`` counts the last in both."""
    epsilon = p.positive("ε")
    for design in designs(p, kind):
        for sign in (1, -1):
            with p.case("a person added" if sign > 0 else "a person removed"):
                p.promise(_prices(p, design, epsilon, sign, kind, twice), epsilon)


def argue_signed(p: Argument, *, both: bool = False) -> None:
    """Two parts, of positive and of negative totals: a person is in one of them."""
    epsilon, moved = p.positive("ε"), p.real("price of a part")
    p.assume(moved <= epsilon)
    still = moved if both else 0
    p.promise(by.parallel(p, moved, still), epsilon)


_GIVEN = "a person has one total s > 0 and moves N(C) by 1 where C < s, the sum within by min(s, C) up to the limit"

PROOFS = (
    *(
        Proof(f"scan and release, {kind}", "mechanisms.scan_and_release", "Pure(ε)", partial(argue, kind=kind), _GIVEN)
        for kind in KINDS
    ),
    Proof(
        "scan and release, totals of either sign",
        "mechanisms.signed_scan_and_release",
        "Pure(ε)",
        argue_signed,
        "a person's total is positive or negative; each part is Pure(ε) by the proofs above",
    ),
)
