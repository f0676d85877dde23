"""How much a larger cap would gain at each of a list of levels, and a level drawn by that, as lazily as can be.

L(λ) is a capped statistic, k(X) = ⌊R·(L(2X) − L(X))/X⌋ the loss of a level X (`capped_flow` says why). A level costs up
to two programs to look at, small levels far more than large ones, and small levels are hardly ever drawn.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable
from fractions import Fraction
from functools import cached_property
from math import exp, inf, log
from typing import Any, Protocol, Self

from tacit.answers.flows import Weighed, step_of
from tacit.curves import StepLoss
from tacit.grids import integers
from tacit.guarantees import Guarantee, Pure
from tacit.mechanisms.choose.exponential import ExponentialLaw, exponential
from tacit.mechanisms.choose.priors import Decaying, Piece, Prior
from tacit.mechanisms.grid_law import GridLaw
from tacit.mechanisms.law import Named, range_loss
from tacit.numbers.enclosures import Enclosure, total
from tacit.progress import doing
from tacit.randomness.inversion import Inversion
from tacit.randomness.source import Randomness

_SLIGHT = 2.0**-12
"""Levels that together weigh no more than this are looked at only if they are drawn."""
_BEGIN = 64
"""Bits with which a draw begins."""


class Curve(Protocol):
    """L in whole units, at whole caps."""

    def at(self, cap: int, /) -> int:
        """L(cap): concave up to its rounding, and raised by something in [0, cap] when a person is added."""
        ...

    def above(self, cap: int, /) -> int:
        """At least L(cap), at little cost."""
        ...


class Slopes:
    """k over the levels, found from the largest level down, as far as somebody asks.

    The average slope of a concave curve only rises towards 0, so a loss bounds those below it: L is rounded by less
    than a step at either end, which moves k by less than R·(steps)/X, and by one more as k is rounded.
    """

    def __init__(self, curve: Curve, levels: tuple[int, ...], parts: int, limit: int) -> None:
        self._curve, self._levels, self._parts, self.limit = curve, levels, parts, limit
        self._known: list[int] = []
        self._values: dict[int, int] = {}
        self._least = 0

    @property
    def unknown(self) -> int:
        """How many levels, the smallest ones, have not been looked at."""
        return len(self._levels) - len(self._known)

    def known(self) -> list[int]:
        """The losses of the other levels, the smallest level first."""
        return self._known[::-1]

    def find(self) -> None:
        """Look at the next smaller level, or at no more where all below are at the limit."""
        level, parts = self._levels[self.unknown - 1], self._parts
        with doing("weighing caps, the largest first"):
            loss = parts * (self._at(2 * level) - self._curve.above(level)) // level
            if loss <= self.limit:
                loss = parts * (self._at(2 * level) - self._at(level)) // level
        self._least = max(self._least, loss - self._doubt(level))
        self._known.append(max(0, min(loss, self.limit)))
        if self._least - self._doubt(self._levels[0]) - 1 >= self.limit:
            self._known.extend([self.limit] * self.unknown)

    def below(self) -> list[int]:
        """At least the losses of the levels that are unknown, the smallest level first.

        Where L(2X) is known, an upper bound of L(X) bounds the loss of X at no cost, and with it those further below.
        """
        least, found = self._least, list[int]()
        for level in reversed(self._levels[: self.unknown]):
            doubt = self._doubt(level)
            bound = least - doubt - 1
            if self._least > 0 and 2 * level in self._values:
                here = self._parts * (self._values[2 * level] - self._curve.above(level)) // level
                bound, least = max(bound, here), max(least, here - doubt)
            found.append(max(0, min(self.limit, bound)))
        return found[::-1]

    def _at(self, cap: int) -> int:
        """L(cap), remembered."""
        if cap not in self._values:
            self._values[cap] = self._curve.at(cap)
        return self._values[cap]

    def all(self) -> StepLoss:
        """All of them."""
        while self.unknown:
            self.find()
        return StepLoss.from_losses(integers(0, len(self._levels) - 1), self.known())

    def _doubt(self, level: int) -> int:
        """How far rounding moves R·(L(2X) − L(X))/X at most, rounded up."""
        return -(-self._parts * (step_of(2 * level) + step_of(level)) // level)


class _Enough(ExponentialLaw):
    """The choice as far as it is known: of the levels before ``cut`` only the largest weight they may have.

    No piece reaches across the cut, in doubt or not. A piece is drawn from by fresh bits, so a uniform real means the
    same before and after the doubt is settled if the pieces are the same. (Were a level in doubt in one piece with a
    known one of the same loss, that would hold only for priors that fall by more than half from level to level.)
    """

    def __init__(self, loss: StepLoss, cut: int, doubtful: bool, *rest: Any, **options: Any) -> None:
        super().__init__(loss, *rest, **options)
        parts = [
            (part, run.loss, last < cut)
            for run in loss.runs
            for first, last in _divided(run.first or 0, run.last or 0, cut)
            for part in self.prior.pieces(first, last)
        ]
        self._pieces = [(part, loss) for part, loss, _ in parts]
        self._doubtful = doubtful * sum(early for _, _, early in parts)
        self.inversion = Inversion(self._table)

    def _compute_weights(self, bits: int) -> tuple[list[Enclosure], Enclosure]:
        weights, _ = super()._compute_weights(bits)
        doubtful = [Enclosure.between(0, weight, bits) for weight in weights[: self._doubtful]]
        weights[: self._doubtful] = doubtful
        return weights, total(weights, bits)

    def locate(self, first: int, bits: int) -> Piece | None:
        """Where a uniform real falls whose first bits are these, if that is known."""
        below, above = self.inversion.table(bits)
        category = bisect_right(above, first)
        return self._pieces[category][0] if first < below[category] else None


def _divided(first: int, last: int, cut: int) -> list[tuple[int, int]]:
    """A range of indices, in two where it reaches across the cut."""
    return [(first, cut - 1), (cut, last)] if first < cut <= last else [(first, last)]


class WeighedLaw(GridLaw):
    """The law of a level's index, in proportion to a prior and e^{-γ·k}.

    It is the exponential mechanism on `Slopes`, drawn by inverting a uniform real. The smallest levels are the most
    work and hardly ever drawn: they are looked at only as long as all below may weigh more than a `_SLIGHT` share, and
    again where the real falls into what is still in doubt. So the law is the same, and the draw too.
    """

    name = "exponential mechanism"

    def __init__(
        self, slopes: Slopes, cost: Fraction, levels: int, design: Weighed, guarantee: Guarantee | None = None
    ) -> None:
        self.grid, self.guarantee = integers(0, levels - 1), guarantee or Pure(cost)
        self._slopes, self._cost, self._design = slopes, cost, design
        self._gamma = float(cost / (3 * design.parts))

    @cached_property
    def _whole(self) -> ExponentialLaw:
        return exponential(self._slopes.all(), self._cost, self._prior, change=self._change)

    @cached_property
    def _everything(self) -> _Enough:
        """All of it, in the pieces of what was enough at first."""
        return _Enough(self._slopes.all(), self._cut, False, self._cost, self._prior, self._change)

    def named(self) -> Named:
        """As the exponential mechanism, which it is, without looking at a loss."""
        return self._chosen("exponential mechanism", self._cost / sum(self._change), self._change)

    @property
    def _prior(self) -> Prior:
        return Decaying(1, self._design.ratio)

    @property
    def _change(self) -> tuple[int, int]:
        return self._design.parts, 2 * self._design.parts

    @cached_property
    def _enough(self) -> _Enough:
        slopes = self._slopes
        while slopes.unknown and self._doubt() > log(_SLIGHT):
            slopes.find()
        self._cut = slopes.unknown
        loss = StepLoss.from_losses(self.grid, slopes.below() + slopes.known())
        return _Enough(loss, self._cut, True, self._cost, self._prior, self._change)

    def _doubt(self) -> float:
        """The logarithm of what all unknown levels weigh at most, over what the known ones do."""
        slopes, fall = self._slopes, log(self._design.ratio)
        if not slopes.known():
            return inf
        unknown = [i * fall - self._gamma * k for i, k in enumerate(slopes.below())]
        known = [i * fall - self._gamma * k for i, k in enumerate(slopes.known(), slopes.unknown)]
        top = max(known)
        most = max(unknown)
        return most + log(sum(exp(one - most) for one in unknown)) - top

    def _draw_index(self, source: Randomness) -> int:
        first = source.bits(_BEGIN)
        piece = self._enough.locate(first, _BEGIN)
        if piece is not None:
            return piece.draw(source)
        everything = self._everything
        return everything._pieces[everything.inversion.locate(first, _BEGIN, source)][0].draw(source)

    def _pmf_at(self, index: int, bits: int) -> Enclosure:
        return self._whole._pmf_at(index, bits)

    def key(self) -> Hashable:
        """That of the whole law."""
        return self._whole.key()

    def concentrated_loss(self, other: Self) -> Enclosure:
        """At most r²/8 for log ratios in an interval of length r."""
        return range_loss(self, other)

    def steps(self) -> list[int]:
        """Of the whole law."""
        return self._whole.steps()
