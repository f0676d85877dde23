"""Counts and sums of given groups where a row may concern several persons (`tacit.mechanisms.totals.flow_cap`).

One reading lists the rows of all groups. Declared keys may say that a person has rows in few groups, such as a customer
of one nation: then the noise is for so many. With δ the noise is Laplace or Gaussian, whichever is smaller for the
number of groups, a public fact; so δ never makes it larger.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tacit.answers.flows import rounding
from tacit.engines.requests import Incidence, Touches, Value
from tacit.flows.curve import CappedStatistic
from tacit.flows.sums import capped_sum
from tacit.mechanisms.totals import flow_cap
from tacit.mechanisms.totals.capped_flow import LEVELS
from tacit.noises import Noise
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.base import noisy_vector
from tacit.tables.statistics.ways import shared_rows

if TYPE_CHECKING:
    from tacit.tables.statistics.ways.vectors import GroupedTotals

NAME = "one cap for all groups chosen on the cap curve of a flow, then noise on every group's capped flow"


def flow_totals(room: Room, statistic: GroupedTotals) -> tuple[tuple[int, ...], int, Noise]:
    """The noisy totals of the groups, the cap and the noise."""
    groups, entry = statistic.groups, statistic.entry
    assert not statistic.counts_persons  # refused before, for a person is not one of the persons of a row
    touches = room.touches(Incidence(entry, by=groups.by, keys=groups.keys))  # type: ignore[arg-type]
    most = room.most_groups(groups.by, groups.keys)
    signs = (1, -1) if isinstance(entry, Value) else (1,)
    allowance = room.allow(noises=most)
    cost = allowance.share(flow_cap.SHARE).epsilon
    left = flow_cap.target(len(groups.keys), most, allowance.epsilon, allowance.concentrated)
    curve = _curve(touches, len(groups.keys))
    law = flow_cap.flow_cap(curve, cost, levels=LEVELS, most=most * len(signs), target=left)
    cap = flow_cap.cap_of(LEVELS[int(room.draw(law))])
    values = [sum(sign * _flow(touches, g, sign).at(cap) for sign in signs) for g in range(len(groups.keys))]
    moved = flow_cap.sensitivity(cap, most, allowance.concentrated)
    vector, noise = noisy_vector(values, allowance.share(1 - flow_cap.SHARE), moved)
    for _ in signs:  # the flow of each sign was rounded
        noise = rounding(noise, cap)
    return room.draw(vector), cap, noise


class _Steepest:
    """A cap curve that is not computed below a cap at which it is as steep as it can be.

    Every row has a person of some column of n persons, so L(λ) ≤ n·λ. Where L(λ) itself, before it is rounded, is n·λ,
    it is n·μ for every μ ≤ λ, being concave from 0; a multiple of μ is rounded to itself.
    """

    def __init__(self, curve: CappedStatistic, persons: int) -> None:
        self._curve, self._persons, self._full = curve, persons, 0

    def at(self, cap: int) -> int:
        """L(cap)."""
        if cap <= self._full:
            return self._persons * cap
        value = self._curve.at(cap)
        if value == self._persons * cap and self._curve.bounds(cap)[0] == value:
            self._full = cap
        return value

    def above(self, cap: int) -> int:
        """At least L(cap)."""
        return min(self._curve.above(cap), self._persons * cap)


def _curve(touches: Touches, groups: int) -> _Steepest:
    """The cap curve of all rows, every person taken apart by group and by the sign of the row's weight."""
    assert touches.groups is not None
    place = 2 * touches.groups + (touches.weights < 0)
    columns = [np.where(person == 0, 0, 2 * groups * person + place) for person in touches.persons]
    apart = replace(touches, weights=np.abs(touches.weights), persons=tuple(columns))
    sizes = [len(np.unique(column)) for column in columns if np.all(column != 0)]
    return _Steepest(capped_sum(shared_rows.rows_of(apart)), min(sizes, default=sum(map(len, columns))))


def _flow(touches: Touches, group: int, sign: int) -> CappedStatistic:
    """The rows of one group and one sign, capped."""
    inside = (touches.groups == group) & (sign * touches.weights > 0)
    persons = tuple(person[inside] for person in touches.persons)
    return capped_sum(shared_rows.rows_of(replace(touches, weights=touches.weights[inside], persons=persons), sign))
