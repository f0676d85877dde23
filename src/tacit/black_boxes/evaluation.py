"""Every subset's value, each computed once, by several processes at a time."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tacit.black_boxes.lattice import Lattice
from tacit.black_boxes.processes import Worker, Workers
from tacit.black_boxes.subsets import missing_sets

if TYPE_CHECKING:
    from tacit.black_boxes.lattice import Layer

CHUNK = 2**14
"""So many subsets are handed out at a time to calls made together."""

FEW = 64
"""So many to calls made alone, and after an evaluator of calls made together failed."""

Chunk = tuple[int, int, int]
"""Missing persons, first rank, and the rank after the last."""


def layers(
    workers: Workers, blobs: Sequence[bytes], lattice: Lattice, trusted: bool, tell: Callable[[int], None]
) -> list[Layer]:
    """The places of a function's value for every set of missing persons of the lattice."""
    found = [np.zeros(size, dtype=np.int64) for size in lattice.sizes()]

    def alone(worker: Worker, chunk: Chunk) -> None:
        missing, start, stop = chunk
        for rank, absent in enumerate(missing_sets(len(blobs), missing, start, stop), start):
            gone = set(absent)
            found[missing][rank] = worker.alone([blob for i, blob in enumerate(blobs) if i not in gone])[0]
        tell(stop - start)

    def together(worker: Worker, chunk: Chunk) -> None:
        missing, start, stop = chunk
        while start < stop:
            answered: array[int] | None = worker.together(missing, start, stop)
            if not answered:  # one of the next calls broke the evaluator: find out which
                alone(worker, (missing, start, min(start + FEW, stop)))
                start = min(start + FEW, stop)
                continue
            found[missing][start : start + len(answered)] = answered
            start += len(answered)
            tell(len(answered))

    if trusted:
        workers.each(lambda worker: worker.load(blobs))
    workers.over(_chunks(lattice, CHUNK if trusted else FEW), together if trusted else alone)
    return found


def _chunks(lattice: Lattice, size: int) -> Iterator[Chunk]:
    for missing, count in enumerate(lattice.sizes()):
        for start in range(0, count, size):
            yield missing, start, min(start + size, count)
