"""Interior point: a recursive search for a small value of a loss that falls and then rises along the grid.

PROMISE  Approx(ε, δ), with ε = ε_s + ε_b + ε_f, for every loss of sensitivity 1, whatever its shape.

THE SEARCH  (Recursion on scales, after Beimel, Nissim and Stemmer; one partition with a random shift instead of two.)
Positions 0..n−1. M(j) = the smallest v such that some 2^j neighbouring positions all have a loss of at most v.
1. Scale: choose j in 0..⌊log2 n⌋ by the loss max{M(j) − h, h − M(j+1), 0} (M = ∞ beyond the grid), with the exponential
   mechanism at ε_s or, one level deeper, by this search itself. Let K = 2^j; cells are positions cK..cK+K−1.
2. Block: cut the cells into blocks of W cells, the first cut at a uniform place. The block of smallest loss is released
   by the stable arg-min at (ε_b, δ), or nothing is.
3. Value: among the cells' first positions in that block and the next cell's, choose with the exponential mechanism at
   ε_f. If no block was released, choose among all values instead.

PROOF  M is a minimum of maxima of losses, so it has sensitivity 1, and so have the loss of step 1, which takes maxima
of ±M and constants, and a block's smallest loss. Step 1 is ε_s-DP (or (ε_s, δ_s) by induction), step 2 is (ε_b, δ_b)-DP
for every j and shift, step 3 is ε_f-DP whatever step 2 released, since both ways of choosing cost ε_f. The shift is
independent of the data. Adaptive composition adds ε and δ.

ACCURACY  For a loss that falls and then rises along the grid and is 0 somewhere ("at most the target" counts as 0).
The largest j with M(j) ≤ h has loss 0 in step 1, so with probability 1 − β/4 the chosen one has at most w':
M(j) ≤ h + w' and M(j+1) ≥ h − w' = g. Positions of loss below g are neighbours and fewer than 2K, so they touch at
most three cells, and the shift cuts them apart with probability at most 2/W ≤ β/4. Then one block holds all of them
and is ahead by g, which is what the stable arg-min needs to release it with probability 1 − β/4. A position m* of
loss 0 lies in it; positions of loss at most h + w' are neighbours and at least K, m* among them, so they hold a window
of K positions around m*, in it one multiple of K, and that is a candidate of step 3. With probability 1 − β/4 step 3
exceeds it by at most e. In all the answer's loss is at most w = h + w' + e = 2w' + g + e.

CONSTANTS  Shares (3, 3, 2)/8 of ε. One level: w' = (2/ε_s)·ln(4(⌊log2 n⌋ + 1)/β), g = 2(T + k) − 3 with T about
ln(1/δ)/ε_b and k about ln(4/β)/ε_b, e = (2/ε_f)·ln(4(W + 1)/β), W = 8/β rounded up to a power of two. The grid enters
by log log n only; each further level doubles w' and adds g + e, which is the 2^{O(log*|Y|)} of the literature. At
|Y| = 2^64, ε = 1, δ = 10^-6, β = 5 % the window is 262, where the exponential mechanism has 94 without any δ. One level
has the smaller window only from |Y| = 2^195 on (at 2^1024 it is 292 against 1425), and a second level on no grid that
could be written down. It stands here as a reference; on every grid in practical use another search is better.

COST  A draw is linear in the number of runs. The exact law sums over scales, shifts and blocks: on grids of at most 64.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

from tacit.curves import Run, StepLoss
from tacit.errors import InvalidInput
from tacit.grids import integers
from tacit.guarantees import Approx
from tacit.mechanisms.choose.exponential import ExponentialLaw, excess, exponential, factor, weigh
from tacit.mechanisms.choose.stable_argmin import StableArgminLaw, stable_argmin
from tacit.mechanisms.grid_law import GridLaw, finite_size
from tacit.mechanisms.law import Accuracy, Named
from tacit.mechanisms.search.scan_rates import BETA
from tacit.noises import DiscreteLaplace
from tacit.numbers.enclosures import Enclosure
from tacit.numbers.exact import Number, between, positive, whole
from tacit.proofs import Argument, Proof
from tacit.proofs import rules as by
from tacit.proofs.terms import equal, largest
from tacit.randomness.basic import _below
from tacit.randomness.source import Randomness

LARGEST = 64
"""The largest grid whose exact probabilities are computed; drawing has no such limit."""


@dataclass(frozen=True)
class InteriorDesign:
    """What is fixed before the data are seen."""

    scale: Fraction
    """ε_s, for the scale; with ``inner`` it is that design's own."""
    block: Fraction
    """ε_b."""
    value: Fraction
    """ε_f."""
    delta: Fraction
    """δ of the block's release."""
    width: int
    """W, the cells in a block."""
    depth: int
    """h."""
    window: int
    """w."""
    inner: InteriorDesign | None = None
    """How the scale is chosen; None is by the exponential mechanism."""


class InteriorPointLaw(GridLaw):
    """The law of the recursive search."""

    name = "interior point"
    guarantee: Approx

    def __init__(
        self, loss: StepLoss, design: InteriorDesign, guarantee: Approx, beta: Fraction, target: int = 0
    ) -> None:
        self.grid, self.guarantee, self.design, self.beta, self.target = loss.grid, guarantee, design, beta, target
        first, self._size = loss.grid.first or 0, int(loss.grid.size)
        runs = (Run((run.first or 0) - first, (run.last or 0) - first, max(0, run.loss - target)) for run in loss.runs)
        self._loss = loss
        self._excess = StepLoss.joined(integers(0, self._size - 1), runs, loss.one_directional)
        self._scales = self._scale_law()
        self._blocks = lru_cache(maxsize=256)(self._block_law)
        self._values = lru_cache(maxsize=256)(self._value_law)
        self._table = lru_cache(maxsize=2)(self._compute_table)

    def _scale_law(self) -> GridLaw:
        loss, design = scale_loss(self._excess, self.design.depth), self.design
        if design.inner is None:
            return exponential(loss, design.scale)
        return InteriorPointLaw(loss, design.inner, self.guarantee, self.beta)

    def _block_law(self, cell: int, shift: int) -> StableArgminLaw:
        blocks = block_loss(self._excess, cell * self.design.width, cell * shift)
        return stable_argmin(blocks, self.design.block, self.design.delta)

    def _value_law(self, cell: int, shift: int, block: int | None) -> ExponentialLaw:
        """The choice among the candidates of a block, as numbers of cells; or among all values."""
        if block is None:
            return exponential(self._excess, self.design.value)
        start = max(0, block * self.design.width - shift)
        end = min((self._size - 1) // cell, (block + 1) * self.design.width - shift)
        return exponential(spaced_loss(self._excess, cell, start, end), self.design.value)

    def _draw_index(self, source: Randomness) -> int:
        cell = 1 << int(self._scales._draw(source))
        shift = _below(self.design.width, source)
        block = self._blocks(cell, shift)._draw(source)
        chosen = int(self._values(cell, shift, None if block is None else int(block))._draw(source))
        return (self.grid.first or 0) + (chosen if block is None else chosen * cell)

    def _pmf_at(self, index: int, bits: int) -> Enclosure:
        if self._size > LARGEST:
            raise InvalidInput(
                f"the interior point law is computed on grids of at most {LARGEST} values; draw from it."
            )
        return self._table(bits)[index - (self.grid.first or 0)]

    def _compute_table(self, bits: int) -> list[Enclosure]:
        work = bits + 16
        result = [Enclosure.of(0, work)] * self._size
        everything = self._values(1, 0, None)
        for j in self._scales.outcomes():
            cell = 1 << int(j)
            for shift, times in self._shifts(cell):
                chance = self._scales.pmf(j, work) * Fraction(times, self.design.width)
                blocks = self._blocks(cell, shift)
                ways: list[tuple[Enclosure, ExponentialLaw, int]] = [(blocks.pmf(None, work), everything, 1)]
                for block in blocks.outcomes():
                    released = blocks.pmf(block, work)
                    if released.high > 0:
                        ways.append((released, self._values(cell, shift, int(block or 0)), cell))
                for released, values, unit in ways:
                    for c in values.outcomes():
                        at = int(c) * unit
                        result[at] = result[at] + chance * released * values.pmf(c, work)
        return [Enclosure.between(p, p, bits).clamp(0, 1) for p in result]

    def _shifts(self, cell: int) -> Iterator[tuple[int, int]]:
        """One shift for each way to cut the cells, and how many shifts cut them so."""
        cells, width = (self._size - 1) // cell + 1, self.design.width
        cuts = {s: tuple(c for c in range(1, cells) if (c + s) % width == 0) for s in range(width)}
        for cut, times in Counter(cuts.values()).items():
            yield next(s for s in cuts if cuts[s] == cut), times

    def _parameters(self) -> Hashable:
        return self.design, self.target

    def named(self) -> Named:
        """The choices by weights and the tests of a lead that the search makes, level by level."""
        design, moves, beside, tests = self.design, self._loss.moves, [], []
        while True:
            beside.append([str(factor(design.value, moves)), str(sum(moves))])
            tests.append([str(design.block), str(DiscreteLaplace(design.block).threshold(design.delta))])
            moves = (1, 1)  # of a scale's loss
            if design.inner is None:
                beside.append([str(factor(design.scale, moves)), str(sum(moves))])
                return {"law": "tests", "tests": tests, "beside": beside, "of": self.grid.named()}
            design = design.inner

    def accuracy(self, beta: Number) -> Accuracy:
        """The largest loss of the answer, for losses that fall and then rise along the grid."""
        failure = between(beta, "beta", 0, 1)
        if failure < self.beta:
            raise InvalidInput("beta must be at least that of the law; build the law with a smaller beta.")
        window = self.target + self.design.window
        statement = (
            f"for a loss that falls and then rises along the grid and is at most {self.target} somewhere, the answer's "
            f"loss is at most {window}, with probability at least {1 - failure}"
        )
        return Accuracy(failure, window, statement)


def scale_loss(loss: StepLoss, depth: int) -> StepLoss:
    """max{M(j) − h, h − M(j+1), 0} over the scales j, from a loss on positions 0..n−1."""
    reach = sorted(
        _stretches(loss)
    )  # (v, how many neighbours of loss at most v there are in a row around one of loss v)
    heights: list[int] = []
    for value, length in reach:
        while 1 << len(heights) <= length:
            heights.append(value)
    losses = [max(here - depth, depth - above, 0) for here, above in pairwise(heights)]
    losses.append(max(heights[-1] - depth, 0))
    return StepLoss.from_losses(integers(0, len(losses) - 1), losses)


def _stretches(loss: StepLoss) -> Iterator[tuple[int, int]]:
    """For every run, its loss and the length of the widest stretch around it on which no loss is larger."""
    runs = [(run.first or 0, run.last or 0, run.loss) for run in loss.runs]
    ends = dict[int, int]()  # the last position of each run's stretch
    waiting: list[int] = []  # runs that have met no larger loss yet, their losses falling
    starts: list[int] = []
    for i, (first, _, value) in enumerate(runs):
        start = first
        while waiting and runs[waiting[-1]][2] < value:
            ends[waiting.pop()] = first - 1
        if waiting:
            larger = waiting[-1]
            start = starts[larger] if runs[larger][2] == value else runs[larger][1] + 1
        else:
            start = runs[0][0]
        starts.append(start)
        waiting.append(i)
    for i in waiting:
        ends[i] = runs[-1][1]
    return ((value, ends[i] - starts[i] + 1) for i, (_, _, value) in enumerate(runs))


def block_loss(loss: StepLoss, length: int, offset: int) -> StepLoss:
    """The smallest loss in each block of positions; block b holds those with (position + offset)//length = b."""
    pieces: list[Run] = []
    for run in loss.runs:
        first, last = ((run.first or 0) + offset) // length, ((run.last or 0) + offset) // length
        value = run.loss
        if pieces and pieces[-1].last == first:  # the block that this run shares with the one before
            shared = pieces.pop()
            if shared.first is not None and shared.first < first:
                pieces.append(Run(shared.first, first - 1, shared.loss))
            pieces.append(Run(first, first, min(shared.loss, value)))
            first += 1
        if first <= last:
            pieces.append(Run(first, last, value))
    blocks = integers(pieces[0].first, pieces[-1].last)
    return StepLoss.joined(blocks, pieces, loss.one_directional)


def spaced_loss(loss: StepLoss, cell: int, start: int, end: int) -> StepLoss:
    """The loss at positions start·cell, (start + 1)·cell, …, end·cell, by the number of the cell."""
    ranges = ((-(-(run.first or 0) // cell), (run.last or 0) // cell, run.loss) for run in loss.runs)
    runs = (Run(max(start, first), min(end, last), value) for first, last, value in ranges)
    kept = (run for run in runs if (run.first or 0) <= (run.last or 0))
    return StepLoss.joined(integers(start, end), kept, loss.one_directional)


# The public rule

SHARES = (Fraction(3, 8), Fraction(3, 8), Fraction(2, 8))
"""Shares of ε for the scale, the block and the value."""


@lru_cache(maxsize=256)
def design_for(
    size: int, epsilon: Fraction, delta: Fraction, beta: Fraction, levels: int, one_directional: bool
) -> InteriorDesign:
    """The parameters of a search on this number of levels, for a grid of ``size`` values."""
    scale, block, value = (share * epsilon for share in SHARES)
    scales, part = size.bit_length(), beta / 4
    inner = None if levels == 1 else design_for(scales, scale, delta * (levels - 1) / levels, part, levels - 1, False)
    step = excess(scale / 2, scales, part) if inner is None else inner.window
    own = delta / levels
    width = 1 << (-(-8 * beta.denominator // beta.numerator) - 1).bit_length()
    two = StepLoss.from_losses(integers(0, 1), [0, 1], one_directional)
    gap = stable_argmin(two, block, own).accuracy(part).window
    assert gap is not None  # the stable arg-min counts its gap in persons
    depth = step + gap
    last = excess(value if one_directional else value / 2, width + 1, part)
    return InteriorDesign(scale, block, value, own, width, depth, depth + step + last, inner)


def interior_point(
    loss: StepLoss,
    epsilon: Number,
    delta: Number,
    target: int = 0,
    *,
    levels: int | None = None,
    beta: Number = BETA,
) -> InteriorPointLaw:
    """A grid value of small loss, by a search over scales, for a loss that falls and then rises along the grid.

    Losses up to ``target`` count as 0. ``levels`` is the depth of the recursion: unless given, that of the smallest
    window for failure probability ``beta``.

    >>> from tacit.curves import StepLoss
    >>> from tacit.grids import integers
    >>> from tacit.mechanisms import interior_point
    >>> loss = StepLoss.from_losses(integers(0, 3), [3, 1, 0, 2])
    >>> interior_point(loss, epsilon=1, delta="1e-6").guarantee
    Approx(1, 1e-06)
    """
    budget, failure = positive(epsilon, "epsilon"), between(beta, "beta", 0, 1)
    chance, ground = between(delta, "delta", 0, 1), whole(target, "target", 0)
    size = finite_size(loss.grid)
    depths = (1, 2, 3) if levels is None else (whole(levels, "levels", 1),)
    designs = [design_for(size, budget, chance, failure, n, loss.one_directional) for n in depths]
    return InteriorPointLaw(
        loss, min(designs, key=lambda design: design.window), Approx(budget, chance), failure, ground
    )


def argue(p: Argument, *, shares: Any = SHARES, own: Any = lambda delta, levels: delta / levels) -> None:
    """A scale, a block and a value one after the other, on losses made of minima and maxima of the loss.

    The induction over levels: a scale chosen by a search of one level less costs what its design says.
    """
    epsilon, delta, levels, depth = p.positive("ε"), p.positive("δ"), p.count("levels", 1), p.count("h")
    scale, block, value = (share * epsilon for share in shares)
    for low, high in by.both_ways(p, -1, 1):
        here, above = by.extreme(p, "move of M(j)", low, high), by.extreme(p, "move of M(j+1)", low, high)
        first, second = p.count("M(j)"), p.count("M(j+1)")
        with p.lemma() as known:
            before = largest(largest(first - depth, depth - second), 0)
            after = largest(largest(first + here - depth, depth - second - above), 0)
            move = p.whole("move of the scale's loss")
            p.assume(equal(move, after - before))
            known.append(p.derive((move >= low) & (move <= high)))
        chosen = weigh(p, factor(scale, (1, 1)), low, high, move)
        stable = p.real("price of the block", lambda x: x <= block)  # `stable_argmin`
        last = weigh(p, factor(value, (1, 1)), low, high, p.steps("move at the value", low, high))
        with p.case("one level"):
            p.promise(chosen + stable + last, epsilon)
        with p.case("one level more"):
            inner = p.real("price of the scale", lambda x: x <= scale)  # by induction
            p.promise(inner + stable + last, epsilon)
            p.promise(own(delta, levels) + own(delta, levels) * (levels - 1), delta)


PROOFS = (
    Proof(
        "interior point",
        "mechanisms.interior_point",
        "Approx(ε, δ)",
        argue,
        "a person moves the loss of every value by at most 1; the block is found by the stable arg-min",
    ),
)
