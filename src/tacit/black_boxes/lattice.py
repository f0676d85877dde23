"""What a function's values on subsets say about the whole: profiles and filters over layers of missing persons.

A layer holds one whole number for every set of k missing persons, in the order of `subsets`. Each step from the sets of
k+1 missing persons to those of k looks at every pair once, in arrays: 2^20 subsets take about a second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from tacit.black_boxes.values import SPAN
from tacit.mechanisms.local.subset_extension import SLOPE, ExtensionDesign

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Layer = NDArray[np.int64]
    """Steps above the grid's bottom, for every set of missing persons of one size."""


class Lattice:
    """The subsets of some persons that miss at most ``missing`` of them."""

    def __init__(self, persons: int, missing: int) -> None:
        self.persons, self.missing = persons, min(missing, persons)
        self._ways = np.array(
            [[comb(i, k) for k in range(self.missing + 2)] for i in range(persons + 1)], dtype=np.int64
        )

    def sizes(self) -> list[int]:
        """How many subsets each layer has."""
        return [comb(self.persons, k) for k in range(self.missing + 1)]

    def profile(self, layers: Sequence[Layer]) -> list[int]:
        """D_0, D_1, …: the smallest g over the sets of j missing persons, g(z) the largest value over subsets of z."""
        largest = layers[-1]
        found = [int(largest.min())]
        for k in range(self.missing - 1, -1, -1):
            above = layers[k].copy()
            for ranks in self._smaller(k + 1):
                np.maximum.at(above, ranks, largest)
            largest = above
            found.append(int(largest.min()))
        return found[::-1]

    def filtered(self, layers: Sequence[Layer], sensitivity: int) -> int:
        """The value for everybody after every subset's is moved within reach of those one person smaller.

        Layers down to nobody are needed; `lipschitz` says what for.
        """
        below, sensitivity = layers[-1], min(sensitivity, SPAN)  # a wider claim says no more, and 64 bits hold this one
        for k in range(self.missing - 1, -1, -1):
            low = np.full(layers[k].shape, np.iinfo(np.int64).min)
            high = np.full(layers[k].shape, np.iinfo(np.int64).max)
            for ranks in self._smaller(k + 1):
                np.maximum.at(low, ranks, below - sensitivity)
                np.minimum.at(high, ranks, below + sensitivity)
            below = np.clip(layers[k], low, high)
        return int(below[0])

    def extended(self, layers: Sequence[Layer], design: ExtensionDesign) -> tuple[int, int]:
        """How few persons must be left out until a steady group is left, and the extension of the function.

        `tacit.mechanisms.local.subset_extension` says what for; where no group within its reach is steady, 0 stands
        for the extension, which is then not released but with probability δ.
        """
        distance, best = self.missing, None
        steady = np.ones(layers[-1].shape, dtype=bool)
        for k in range(self.missing, -1, -1):
            if k < self.missing:
                smaller, steady = steady, np.ones(layers[k].shape, dtype=bool)
                for ranks in self._smaller(k + 1):
                    apart = np.abs(layers[k][ranks] - layers[k + 1]) > design.claim
                    steady[ranks[apart | ~smaller]] = False
            if steady.any():
                distance = k
                if k <= design.near:
                    value = int(layers[k][steady].min()) + SLOPE * design.claim * k
                    best = value if best is None else min(best, value)
        return distance, best or 0

    def _smaller(self, missing: int) -> Iterator[NDArray[np.int64]]:
        """For every set of ``missing`` persons the rank it has without its first, second, … member."""
        sets, ways = self._sets(missing), self._ways
        before = np.zeros(len(sets), dtype=np.int64)
        after = sum((ways[sets[:, i], i] for i in range(1, missing)), start=np.zeros(len(sets), dtype=np.int64))
        for i in range(missing):
            yield before + after
            before += ways[sets[:, i], i + 1]
            if i + 1 < missing:
                after -= ways[sets[:, i + 1], i + 1]

    def _sets(self, missing: int) -> NDArray[np.int32]:
        """Every set of ``missing`` persons, one in a row."""
        sets = np.zeros((1, 0), dtype=np.int32)
        for k in range(1, missing + 1):
            smaller = [sets[: comb(last, k - 1)] for last in range(k - 1, self.persons)]
            lasts = np.repeat(np.arange(k - 1, self.persons, dtype=np.int32), [len(each) for each in smaller])
            sets = np.column_stack([np.concatenate(smaller), lasts])
        return sets
