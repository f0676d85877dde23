"""Laws over the values of a grid: what the mechanisms that choose or search have in common.

Inside, everything is an integer index; a value appears only where it leaves. A value that is not on the grid has
probability 0. The probabilities of a grid's values change only where the loss does, so the laws of two datasets differ
most around the steps of their losses, or at an end of the grid.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from typing import Self

from tacit.curves import StepLoss
from tacit.errors import InvalidInput
from tacit.grids import Grid
from tacit.mechanisms.law import Accuracy, Law, Named
from tacit.numbers.enclosures import BITS, Enclosure
from tacit.numbers.exact import Number
from tacit.randomness.source import Randomness

Answer = int | Fraction
"""A value of a grid."""

ENUMERABLE = 2**16
"""The largest grid whose values a law lists one by one."""

WINDOW = 64
"""How many values of a larger grid a law lists, for verification; as many are compared one by one."""


class GridLaw(Law[Answer]):
    """The law of a mechanism that returns a value of a public grid."""

    grid: Grid
    _loss: StepLoss

    @abstractmethod
    def _draw_index(self, source: Randomness) -> int:
        """One exact draw, as a grid index."""

    @abstractmethod
    def _pmf_at(self, index: int, bits: int) -> Enclosure:
        """A rigorous enclosure of the probability of a grid index."""

    def _cdf_at(self, index: int, bits: int) -> Enclosure:
        """A rigorous enclosure of the probability of all indices up to this one; from the pmf unless overridden."""
        first = self._enumerable().first
        assert first is not None
        result = Enclosure.of(0, bits)
        for i in range(first, index + 1):
            result = result + self._pmf_at(i, bits)
        return result.clamp(0, 1)

    def _draw(self, source: Randomness) -> Answer:
        return self.grid.answer(self._draw_index(source))

    def pmf(self, y: Number, bits: int = BITS) -> Enclosure:
        """A rigorous enclosure of P[output = y]."""
        index = self.grid.index(y)
        return Enclosure.of(0, bits) if index is None else self._pmf_at(index, bits)

    def cdf(self, y: Number, bits: int = BITS) -> Enclosure:
        """A rigorous enclosure of P[output ≤ y]."""
        index = self.grid.floor(y)
        if index is None:
            return Enclosure.of(0, bits)
        return Enclosure.of(1, bits) if index == self.grid.last else self._cdf_at(index, bits)

    def outcomes(self) -> Iterable[Answer]:
        """Every value of the grid where they are few, otherwise a public window at one end, or around index 0."""
        first, last = self.grid.first, self.grid.last
        if first is None or last is None or last - first >= ENUMERABLE:
            start = first if first is not None else -WINDOW // 2 if last is None else last - WINDOW + 1
            first, last = start, start + WINDOW - 1
        return (self.grid.answer(i) for i in range(first, last + 1))

    def key(self) -> Hashable:
        """The loss, and the public numbers beside it."""
        return type(self), self.name, self.guarantee, self._loss, self._parameters()

    def _parameters(self) -> Hashable:
        """The public numbers, beside the guarantee, that the law depends on."""
        return ()

    def _chosen(self, name: str, rate: Fraction, moves: tuple[int, int]) -> Named:
        """A choice by a rate times a loss that a person moves by something in [−r, s], as certificates name it."""
        return {"law": name, "rate": str(rate), "moves": [str(part) for part in moves], "of": self.grid.named()}

    def steps(self) -> list[int]:
        """The indices at which the runs of the loss begin."""
        return [run.first for run in self._loss.runs if run.first is not None]

    def telling_points(self, laws: Sequence[Self]) -> list[Answer] | None:
        """The ends of a large grid, and the values around every step of every loss."""
        if self.grid.size <= WINDOW:
            return None
        around = {first + d for law in laws for first in law.steps() for d in (-1, 0, 1)}
        ends = {end for end in (self.grid.first, self.grid.last) if end is not None}
        return [self.grid.answer(i) for i in sorted(i for i in around | ends if self.grid.holds(i))]

    def outcomes_to_follow(self) -> list[Answer]:
        """The lowest value, a low one and a high one."""
        first, starts = self.grid.first, self.steps()
        chosen = [*([] if first is None else [first]), *(starts[1:2] or starts[:1]), *starts[-1:]]
        return [self.grid.answer(i) for i in dict.fromkeys(chosen)]

    def _enumerable(self) -> Grid:
        if self.grid.size > ENUMERABLE:
            raise InvalidInput(f"the {self.name} law has too many outputs to list; use a grid of at most {ENUMERABLE}.")
        return self.grid


LevelPmf = Callable[[int, int], Enclosure]
"""Loss and bits to the probability of one value of that loss."""


def cdf_by_runs(loss: StepLoss, index: int, level_pmf: LevelPmf, bits: int) -> Enclosure:
    """P[output ≤ index] for a law on a finite grid whose probabilities depend on the loss alone."""
    result = Enclosure.of(0, bits)
    for run, length in zip(loss.runs, lengths(loss), strict=True):
        last = run.last or 0
        if last - length >= index:
            break
        result = result + level_pmf(run.loss, bits) * (length - max(0, last - index))
    return result.clamp(0, 1)


def excess_accuracy(beta: Fraction, window: int) -> Accuracy:
    """The promise that the loss exceeds the smallest by at most a window."""
    statement = f"the loss exceeds the smallest by at most {window}, with probability at least {1 - beta}"
    return Accuracy(beta, window, statement)


def finite_size(grid: Grid) -> int:
    """How many values a finite grid has; one without end is refused."""
    if not isinstance(grid.size, int):
        raise InvalidInput("grid must be finite for this method; cut it with between(low, high), or use a scan.")
    return grid.size


def lengths(loss: StepLoss) -> list[int]:
    """How many points each run of a loss on a finite grid holds."""
    return [run.length or 0 for run in loss.runs]


def level_counts(loss: StepLoss) -> dict[int, int]:
    """How many points of a finite grid have each loss, the smallest loss first."""
    counts = dict.fromkeys(sorted({run.loss for run in loss.runs}), 0)
    for run, length in zip(loss.runs, lengths(loss), strict=True):
        counts[run.loss] += length
    return counts
