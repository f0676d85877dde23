"""One cap at a time: the capped total and a fractional removal that proves it.

Two shapes of what peeling leaves are flows, exact in integers:
- every group one row, every row two persons: a maximum flow on the double cover, with nodes u and u', edges S→u and
  u'→T of u's room, and u→v', v→u' of the row's weight. Its value is twice the capped total, and a minimum cut gives
  x_u = ½[u cut off] + ½[u' reached];
- every row one person: persons send their room, groups take their weight; x_u = [u cut off].
Anything else is a linear program (`packing`, and `programs` where that is not enough).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tacit.flows.incidences import Integers, add_at, exact_sum, multiply
from tacit.flows.maxflow import max_flow
from tacit.flows.packing import Packing
from tacit.flows.peeling import Core, Peeled, peel
from tacit.flows.programs import Program, over_common_denominator, pack, propose

LEAST = -1
"""The effort for bounds that are only near each other."""


@dataclass(frozen=True)
class Support:
    """A line above the cap curve that touches it at ``cap``, up to the arithmetic of a linear program.

    For every λ, L(λ) ≤ remaining + λ·removed, exactly; at the cap, ``low`` ≤ L(cap) ≤ ``high``, exactly. Flows give
    ``low`` = ``high``.
    """

    cap: Fraction
    removed: Fraction
    """Persons removed, Σx."""
    remaining: Fraction
    """What the total falls to when they are."""
    low: Fraction

    @property
    def high(self) -> Fraction:
        """The line at the cap."""
        return self.remaining + self.cap * self.removed

    def __repr__(self) -> str:
        return "<a supporting line of a cap curve>"


def solve(core: Core, cap: Fraction, effort: int = 0) -> Support:
    """The capped total at ``cap`` > 0; ``effort``, from `LEAST`, tightens a linear program's bounds, up to equality."""
    peeled = peel(core.scaled(cap.denominator), cap.numerator)
    if peeled.core.empty:
        low = high = removed = Fraction(0)
    elif _is_graph(peeled.core):
        low, removed = _double_cover(peeled)
        high = low
    elif _is_assignment(peeled.core):
        low, removed = _assignment(peeled)
        high = low
    else:
        low, high, removed = _program(peeled, effort)
    low, high = ((peeled.core.free + value) / cap.denominator for value in (low, high))
    removed += peeled.full
    return Support(cap, removed, high - cap * removed, low)


def _is_graph(core: Core) -> bool:
    """Whether every group is one row that touches two persons."""
    lengths = np.bincount(core.row)
    return core.weight.size == core.group.size and bool((lengths == 2).all())


def _is_assignment(core: Core) -> bool:
    """Whether every row touches one person."""
    return core.row.size == core.group.size


def _used(peeled: Peeled) -> tuple[Integers, Integers]:
    """The room of the persons that the remaining rows touch, and for each pair the number of its person among them."""
    known, number = np.unique(peeled.core.person, return_inverse=True)
    return peeled.room[known], number


def _double_cover(peeled: Peeled) -> tuple[Fraction, Fraction]:
    room, number = _used(peeled)
    n, first, second = room.size, number[0::2], number[1::2]
    people, source, sink = np.arange(n), 2 * n, 2 * n + 1
    tail = np.concatenate([np.full(n, source), people + n, first, second])
    head = np.concatenate([people, np.full(n, sink), second + n, first + n])
    weight = peeled.core.weight[peeled.core.group]
    flow, reached = max_flow(
        2 * n + 2, tail, head, multiply(np.concatenate([room, room, weight, weight])), source, sink
    )
    removed = int((~reached[:n]).sum()) + int(reached[n : 2 * n].sum())
    return Fraction(flow, 2), Fraction(removed, 2)


def _assignment(peeled: Peeled) -> tuple[Fraction, Fraction]:
    room, number = _used(peeled)
    n, weight, group = room.size, peeled.core.weight, peeled.core.group
    people, values, source, sink = np.arange(n), n + np.arange(weight.size), n + weight.size, n + weight.size + 1
    tail = np.concatenate([np.full(n, source), number, values])
    head = np.concatenate([people, n + group, np.full(weight.size, sink)])
    capacity = multiply(np.concatenate([room, weight[group], weight]))
    flow, reached = max_flow(n + weight.size + 2, tail, head, capacity, source, sink)
    return Fraction(flow), Fraction(int((~reached[:n]).sum()))


def _program(peeled: Peeled, effort: int) -> tuple[Fraction, Fraction, Fraction]:
    """Rigorous bounds by a linear program with a variable for each row: lower, upper, and the persons removed."""
    room, number = _used(peeled)
    for near in (True, False)[max(effort + 1, 0) :]:
        found = Packing(room, peeled.core.weight, peeled.core.group, peeled.core.row, number).bounds(near)
        if found is not None:
            return found
    effort = max(effort, 0)
    weight, group, row = (peeled.core.weight.astype(object), peeled.core.group, peeled.core.row)
    limit = np.concatenate([room.astype(object), weight])
    constraint = np.concatenate([number, room.size + group])
    variable = np.concatenate([row, np.arange(group.size)])
    gain, ones = np.ones(group.size, dtype=np.int64), np.ones(variable.size, dtype=np.int64)
    proposal = propose(Program(gain, limit, constraint, variable, ones), effort)
    carried = pack(proposal.primal, variable, constraint, limit * proposal.denominator)
    x, unit = over_common_denominator([min(max(v, Fraction(0)), Fraction(1)) for v in proposal.dual[: room.size]])
    uncovered = np.maximum(unit - add_at(group.size, row, x[number]), 0)
    worst = np.zeros(weight.size, dtype=object)
    np.maximum.at(worst, group, uncovered)
    high = Fraction(exact_sum(room.astype(object) * x) + exact_sum(weight * worst), unit)
    return Fraction(exact_sum(carried), proposal.denominator), high, Fraction(exact_sum(x), unit)
