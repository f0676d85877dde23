"""Maximum flow in exact integers of any size.

The solver underneath (scipy's Dinic) counts in 32 bits and is silently wrong beyond. So capacities are served digit by
digit: with B an upper bound of what is still to flow and 2^k the unit that brings B below 2^29, a maximum flow in
units of 2^k is found and taken out of the capacities. Across its minimum cut less than one unit per edge is left, so
what remains is below E·2^k and the next unit can be finer; the last one is 1. Capacities above B are served as B.
Residual capacities in both directions together stay below 2^30 units, so nothing overflows.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.flows.incidences import Integers, add_at, exact_sum

BITS = 29
"""Units in which a flow is asked of the solver stay below 2^BITS."""


def max_flow(
    size: int, tail: Integers, head: Integers, capacity: Integers, source: int, sink: int
) -> tuple[int, npt.NDArray[np.bool_]]:
    """The largest flow from source to sink, and which nodes are on the source's side of the smallest minimum cut."""
    from scipy.sparse import csr_array  # SciPy loads longer than most questions take, and few need it
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    room, tail, ends, starts = _both_ways(size, tail, head, capacity)
    left = min(exact_sum(room[tail == source]), exact_sum(room[ends == sink]))
    total, unit = 0, left.bit_length()
    while unit and left:
        unit = max(0, min(unit - 1, left.bit_length() - BITS))
        asked = (np.minimum(room, left) >> unit).astype(np.int32)
        flow = maximum_flow(csr_array((asked, ends, starts), shape=(size, size)), source, sink).flow
        moved = flow.data.astype(room.dtype) << unit
        assert np.array_equal(flow.indices, ends)  # both directions are listed, so none is added
        room = room - moved  # a flow is antisymmetric, so this opens the way back as well
        found = int(moved[tail == source].sum())
        total += found
        left = min(left - found, tail.size << unit)
    open_ways = csr_array(((room > 0).astype(np.int8), ends, starts), shape=(size, size))
    open_ways.eliminate_zeros()
    reached = np.zeros(size, dtype=bool)
    reached[breadth_first_order(open_ways, source, return_predecessors=False)] = True
    return total, reached


def _both_ways(
    size: int, tail: Integers, head: Integers, capacity: Integers
) -> tuple[Integers, Integers, Integers, Integers]:
    """Each edge once, with its reverse (of capacity 0 where absent), as capacities, tails, heads and row starts."""
    from scipy.sparse import csr_array

    forward = np.arange(tail.size)
    both = (np.concatenate([tail, head]), np.concatenate([head, tail]))
    order = csr_array((np.concatenate([forward, forward + tail.size]), both), shape=(size, size))
    if order.nnz < 2 * tail.size:  # parallel edges, or edges in both directions: add them up first
        keys, place = np.unique(np.concatenate([tail * size + head, head * size + tail]), return_inverse=True)
        room, tail, head = add_at(keys.size, place[: tail.size], capacity), keys // size, keys % size
        starts = np.searchsorted(tail, np.arange(size + 1))
        return room, tail, head.astype(np.int32), starts.astype(np.int32)
    order.sort_indices()
    room = np.concatenate([capacity, np.zeros_like(capacity)])[order.data]
    return room, both[0][order.data], order.indices.astype(np.int32), order.indptr.astype(np.int32)
