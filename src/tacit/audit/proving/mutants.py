"""Mutants: mechanisms with a parameter changed at random, each proved or not, and verified exhaustively.

A rate is multiplied, a bound or a threshold moved, a direction turned, a loss charged for moves that are not its own.
The same change is made in the argument and in the law. A mutant that the verifier breaks must not be proved; one that
is proved must be private. A mutant that is neither is one for which the proof asks more than these few data show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from random import Random
from typing import Any

from tacit.answers.totals import Charges
from tacit.audit.cases import capped_flow as flows
from tacit.audit.cases import scan_and_release as totals
from tacit.audit.cases.subsampling import INSIDE, PROMISED, SHARE, subsampled
from tacit.audit.exact import Dataset, Mechanism, datasets, neighbours, verify
from tacit.audit.proving.twins import ChangedTotals
from tacit.audit.small import COUNT, MAXIMUM, MEDIAN, Small
from tacit.curves import StepLoss
from tacit.grids import integers
from tacit.guarantees import Approx, Guarantee, Pure, Zcdp, subsampling
from tacit.mechanisms.choose import exponential, noisy_max, permute_and_flip, stable_argmin, stable_mode
from tacit.mechanisms.noise import noise
from tacit.mechanisms.search import binary_search, threshold_scan, tree_descent
from tacit.mechanisms.search.scan_rates import Rates, rates
from tacit.mechanisms.totals import bounded_mean, capped_flow, ratio, scan_and_release
from tacit.mechanisms.totals.ratio_counts import CountedRatio
from tacit.noises import DiscreteGaussian, DiscreteLaplace, TruncatedLaplace, discrete_gaussian, discrete_laplace
from tacit.noises import truncated_laplace as truncated
from tacit.proofs import Argument, Proof, prove
from tacit.proofs.argument import Build

NUMBER = 200
SEED = 26
FACTORS = [Fraction(x, 20) for x in (8, 14, 18, 19, 20, 20, 21, 22, 26, 40)]
"""By how much a rate changes: also not at all."""


@dataclass(frozen=True)
class Mutant:
    """A change of a mechanism: what it is, the argument for it, and its law on small data."""

    what: str
    build: Build
    law: Mechanism
    promised: Guarantee
    collection: Sequence[Dataset]
    pairs: Callable[[Sequence[Dataset]], list[tuple[Dataset, Dataset]]] = neighbours


@dataclass(frozen=True)
class Judged:
    """What became of a mutant."""

    mutant: Mutant
    proof: str
    """The word of the proof's verdict."""
    broken: bool
    """Whether the verifier breaks it."""
    worst: tuple[Dataset, Dataset] | None

    @property
    def sound(self) -> bool:
        """Whether it was not proved, or is private."""
        return not (self.proof == "proved" and self.broken)


def judge(mutant: Mutant) -> Judged:
    """Prove it and verify it."""
    verdict = prove(Proof(mutant.what, "mutant", repr(mutant.promised), mutant.build))
    found = verify(mutant.law, mutant.pairs(mutant.collection), mutant.promised)
    return Judged(mutant, verdict.word, found.broken, found.worst)


def _pinned(build: Build, **values: Any) -> Build:
    """The argument for these values of its parameters alone; names with spaces and letters of any kind are allowed."""

    def pinned(p: Argument) -> None:
        p.pinned.update(values)
        build(p)

    return pinned


FEW = datasets((0, 1, 2), 2)
ONE = Pure(1)


def _laplace(random: Random) -> Mutant:
    f = random.choice(FACTORS)
    return Mutant(
        f"discrete Laplace noise, rate times {f}",
        _pinned(partial(discrete_laplace.argue, rule=lambda e, s: DiscreteLaplace(f * e / s)), s=2),
        lambda x: noise.NoisyInteger(sum(x), DiscreteLaplace(f / 2), ONE),
        ONE,
        FEW,
    )


def _gaussian(random: Random) -> Mutant:
    f, promised = random.choice(FACTORS), Zcdp(Fraction(1, 2))
    return Mutant(
        f"discrete Gaussian noise, variance over {f}",
        _pinned(partial(discrete_gaussian.argue, rule=lambda r, s: DiscreteGaussian(s * s / (2 * r * f))), s=2),
        lambda x: noise.NoisyInteger(sum(x), DiscreteGaussian(4 / f), promised),
        promised,
        datasets((0, 2), 1),
    )


def _truncated(random: Random) -> Mutant:
    short, promised = random.randrange(-2, 3), Approx(1, Fraction(1, 20))
    full = TruncatedLaplace.for_approx(promised.epsilon, promised.delta, 2)
    cut = TruncatedLaplace(full.rate, full.bound - short)
    return Mutant(
        f"truncated Laplace noise, {short} steps too short",
        _pinned(partial(truncated.argue, short=short), s=2),
        lambda x: noise.TruncatedInteger(sum(x), cut, promised),
        promised,
        FEW,
    )


def _on(small: Small, law: Callable[[StepLoss], Any]) -> Mechanism:
    return lambda x: law(small.loss(x))


def _chosen(random: Random) -> Mutant:
    """A choice by weights or by a race, charged for moves that may not be the loss's own."""
    f, small = random.choice(FACTORS), random.choice((MAXIMUM, MEDIAN, COUNT))
    charged = random.choice(((0, 1), (1, 1)))
    own = {"r": 1 if small is MEDIAN else 0, "s": 1}
    kind = random.choice(("weights", "permute-and-flip", "Laplace noise", "exponential noise"))

    def rule(epsilon: Any, moves: Any) -> Any:
        return f * exponential.factor(epsilon, charged)

    def law(loss: StepLoss) -> Any:
        declared = replace(loss, one_directional=charged == (0, 1))
        if kind == "weights":
            return exponential.exponential(declared, f)
        if kind == "permute-and-flip":
            return permute_and_flip.permute_and_flip(declared, f)
        return noisy_max.noisy_max(declared, f, kind.partition(" ")[0].lower())

    build = (
        partial(exponential.argue, rule=rule)
        if kind == "weights"
        else partial(permute_and_flip.argue, rule=rule, sides=2 if kind == "Laplace noise" else 1)
    )
    return Mutant(
        f"choice by {kind}, {small.name}, rate times {f}, charged for {charged}",
        _pinned(build, **own),
        _on(small, law),
        ONE,
        datasets(small.universe, 3),
    )


def _scanned(random: Random) -> Mutant:
    f1, f2, up = random.choice(FACTORS), random.choice(FACTORS), random.random() < 0.5
    small, charged = random.choice((MAXIMUM, MEDIAN, COUNT)), random.choice(((0, 1), (1, 1)))
    share, own = Fraction(2, 5), {"r": 1 if small is MEDIAN else 0, "s": 1}

    def rule(epsilon: Any, moves: Any, split: Any) -> Rates:
        right = rates(epsilon, charged, split)
        return Rates(f1 * right.threshold, f2 * right.each)

    pair = rule(Fraction(1), charged, share)
    return Mutant(
        f"scan {'up' if up else 'down'}, {small.name}, rates times {f1} and {f2}, charged for {charged}",
        _pinned(partial(threshold_scan.argue, rule=rule, up=up), share=share, **own),
        _on(small, lambda loss: threshold_scan.ScanLaw(loss, up, pair, 2, ONE)),
        ONE,
        datasets(small.universe, 3),
    )


def _halved(random: Random) -> Mutant:
    f, tree = random.choice(FACTORS), random.random() < 0.5
    small = random.choice((MAXIMUM, COUNT))
    if tree:

        def node(epsilon: Any, depth: Any, sensitivity: Any) -> Any:
            return DiscreteLaplace(f * tree_descent.laplace_node(epsilon, depth, sensitivity).rate)

        build: Build = partial(tree_descent.argue, rule=node)
        return Mutant(
            f"tree descent, {small.name}, rate times {f}",
            build,
            _on(small, lambda loss: tree_descent.tree_descent(loss, f)),
            ONE,
            datasets(small.universe, 3),
        )

    def look(epsilon: Any, count: Any) -> Any:
        return DiscreteLaplace(f * binary_search.laplace_look(epsilon, count).rate)

    return Mutant(
        f"binary search, {small.name}, rate times {f}",
        partial(binary_search.argue, rule=look),
        _on(small, lambda loss: binary_search.binary_search(loss, 1, epsilon=f)),
        ONE,
        datasets(small.universe, 3),
    )


def _total(random: Random) -> Mutant:
    """One of the four rates of one of the two designs, multiplied; or the sides exchanged."""
    name, f = random.choice(list(vars(totals.SMALL.charges(True)))), random.choice(FACTORS)
    which, turned = random.choice(list(scan_and_release.KINDS)), random.random() < 0.2

    def change(right: Charges) -> Charges:
        if turned:
            return Charges(right.within_down, right.within_up, right.above_down, right.above_up)
        return replace(right, **{name: f * getattr(right, name)})

    @dataclass(frozen=True)
    class Changed(ChangedTotals):
        def charges(self, many: bool, handful: bool = False) -> Charges:
            right = totals.SMALL.charges(many, handful)
            return change(right) if (many, handful) == scan_and_release.KINDS[which] else right

    design = Changed(**vars(totals.SMALL))

    def build(p: Argument) -> None:
        for kind in scan_and_release.KINDS:
            scan_and_release.argue(p, kind=kind, designs=lambda p, kind: [design])

    said = "sides exchanged" if turned else f"{name} times {f}"
    return Mutant(
        f"scan and release, {which}, {said}",
        build,
        lambda x: scan_and_release.scan_and_release(
            *totals.buckets(x, totals.CAPS), totals.EPSILON, caps=totals.CAPS, design=design
        ),
        Pure(totals.EPSILON),
        datasets((2, 7), 2),
    )


def _flow(random: Random) -> Mutant:
    up, down, scan = random.choice(FACTORS), random.choice(FACTORS), random.random() < 0.5
    right, base = (flows.SCANNED, flows.RISING) if scan else (flows.WEIGHED, flows.FALLING)
    pair = (up * right.up, down * right.down)
    design = (flows._WrongScanned if scan else flows._WrongWeighed)(**vars(right), rates=pair)
    argue = capped_flow.argue_scanned if scan else capped_flow.argue_weighed
    moves = (lambda cap: (0, cap)) if scan else (lambda cap: (0, cap - 1, cap))
    return Mutant(
        f"capped flow, {'scanned' if scan else 'weighed'}, rates times {up} and {down}",
        partial(argue, design=lambda p: design),
        flows._of_values(base, design),
        Pure(flows.EPSILON),
        flows.changed(base, moves),
        flows.changes,
    )


def _counted(random: Random) -> Mutant:
    """A mean by two sums, a ratio, or a vector, with noise for another sensitivity."""
    f, kind = random.choice(FACTORS), random.choice(("mean", "ratio", "vector"))
    promised = Pure(12)
    if kind == "mean":
        return Mutant(
            f"mean by two sums, sensitivity over {f}",
            partial(bounded_mean.argue, rule=lambda width, public: bounded_mean.sensitivity(width, public) / f),
            lambda x: _two_sums(x, f, promised),
            promised,
            FEW,
        )
    if kind == "ratio":
        return Mutant(
            f"ratio by two counts, rate times {f}",
            partial(ratio.argue, rule=lambda *given: f * ratio.count_rate(*given)),
            lambda x: CountedRatio(x.count(1), len(x) - x.count(1), f * 6, "two_counts", Pure(6)),
            Pure(6),
            datasets((0, 1), 2),
        )
    return Mutant(
        f"Laplace noise on a vector, rate times {f}",
        _pinned(partial(noise.argue_vector, rule=lambda e, s: DiscreteLaplace(f * e / s)), s=2),
        lambda x: noise.NoiseVector((sum(x), len(x)), DiscreteLaplace(f * 3), Pure(6)),
        Pure(6),
        datasets((0, 1), 2),
    )


def _two_sums(x: Dataset, f: Fraction, promised: Pure) -> Any:
    law, rate = bounded_mean.bounded_mean(x, 0, 2, promised.epsilon, unit=1), DiscreteLaplace(f * promised.epsilon / 2)
    law._above = noise.NoisyInteger(sum(x), rate, promised)
    law._below = noise.NoisyInteger(2 * len(x) - sum(x), rate, promised)
    return law


def _released(random: Random) -> Mutant:
    """A stable release with its threshold moved."""
    low, epsilon, delta = random.randrange(-2, 3), Fraction(1), Fraction(1, 10)
    promised = Approx(epsilon, delta)
    if random.random() < 0.5:

        def mode(x: Dataset) -> Any:
            law = stable_mode.stable_mode(x, epsilon, delta)
            law.threshold -= low
            return law

        return Mutant(
            f"stable mode, threshold {low} lower",
            partial(stable_mode.argue, lower=low),
            mode,
            promised,
            datasets(("a", "b"), 6),
        )

    def argmin(x: Dataset) -> Any:
        votes = StepLoss.from_losses(integers(0, 2), [sum(v != y for v in x) for y in range(3)], one_directional=True)
        law = stable_argmin.stable_argmin(votes, epsilon, delta)
        law.threshold -= low
        return law

    return Mutant(
        f"stable arg-min, threshold {low} lower",
        partial(stable_argmin.argue, low=low),
        argmin,
        promised,
        datasets((0, 1, 2), 5),
    )


def _told(random: Random) -> Mutant:
    """Randomised response with other odds, or a sample larger or smaller than it is charged for."""
    if random.random() < 0.5:
        power, size = random.choice((1, 1, 2, 3)), random.choice((2, 3, 4))
        return Mutant(
            f"randomised response among {size}, odds to the power {power}",
            _pinned(partial(noise.argue_response, other=lambda odds, size: odds**power), size=size),
            lambda x: noise.RandomisedResponse(len(x) % size, size, Fraction(power), ONE),
            ONE,
            datasets((1,), 3),
        )
    drawn = Fraction(random.randrange(1, 9), 12)
    return Mutant(
        f"a sample of {drawn}, charged as one of {SHARE}",
        partial(subsampling.argue, share=lambda p: SHARE, drawn=lambda p: drawn),
        lambda x: subsampled(x, drawn, INSIDE.epsilon),
        PROMISED,
        datasets((1,), 3),
    )


FAMILIES = (
    _laplace, _gaussian, _truncated, _chosen, _chosen, _scanned, _scanned, _scanned,
    _halved, _total, _total, _flow, _counted, _released, _told,
)  # fmt: skip


def mutants(number: int = NUMBER, seed: int = SEED) -> Iterator[Mutant]:
    """So many, drawn with a seed."""
    random = Random(seed)
    for i in range(number):
        yield FAMILIES[i % len(FAMILIES)](random)
