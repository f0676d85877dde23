"""Statistics where a row may concern several persons, by the cap curve of a flow or by its down profile.

L(λ) is the statistic when no person may carry more than λ (`tacit.flows`). Adding a person raises it by something in
[0, λ]. It is released at a privately chosen cap, charged together (`tacit.mechanisms.totals.capped_flow`); with
Gaussian noise the choice and the release are charged apart. Counts choose the cap by weights ("exponential"), sums,
which may count in small units, by a "scan". "shifted_inverse" releases a value that the statistic falls to without a
few persons: more error, but one that is counted in persons and leaves out no cap's bias.

Where all persons of a row are of one kind, as in the patterns of a graph, rows are counted at twice the level that was
chosen: few persons have most rows there, and a cap higher up, with less of the cost for its choice, leaves out
less. Keys join persons of different kinds, who have more alike numbers of rows, and the level itself is the better cap.
Which kinds there are is public.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from tacit.answers import Answer
from tacit.answers.capped import CappedBelow
from tacit.answers.flows import DOUBLED, SCANNED, WEIGHED, FlowDesign, rounding
from tacit.engines.requests import Touches
from tacit.flows.incidences import Incidences
from tacit.mechanisms.totals.capped_flow import capped_flow, choice, octaves
from tacit.tables.releasing.room import Allowance, Room
from tacit.tables.statistics.base import Per, noisy
from tacit.tables.statistics.ways.fallen import inverse_release
from tacit.tables.statistics.ways.totals import Released

if TYPE_CHECKING:
    from tacit.flows.curve import CappedStatistic

SCAN_SHARE, WEIGH_SHARE = Fraction(1, 2), Fraction(1, 4)
"""What the choice of the cap takes of ρ, by a scan or by weights, whose range is bounded."""

Levels = tuple[int, ...]
COUNTS: Levels = octaves(2**40)
"""Caps for numbers of rows or values."""

NAME = "cap chosen on the cap curve of a flow, and the value at that cap, charged together"
APART = "cap chosen on the cap curve of a flow by the exponential mechanism, then noise for that cap"
INVERSE = "shifted inverse sensitivity on the down profile of a flow"


def rows_of(touches: Touches, sign: int = 1) -> Incidences:
    """The engine's rows as a flow problem; person 0 is nobody."""
    columns = [np.ma.masked_equal(column, 0) for column in touches.persons]
    return Incidences.from_columns(sign * touches.weights, columns, touches.kinds)


def weighing(room: Room) -> FlowDesign:
    """How rows are counted where a level is found by weights: which cap it stands for, by public facts."""
    return DOUBLED if room.alike and not room.allowance.concentrated else WEIGHED


def flow_release(
    room: Room,
    capped: CappedStatistic,
    allowance: Allowance,
    method: str,
    levels: Levels,
    weights: FlowDesign = WEIGHED,
) -> Released:
    """A capped statistic with noise."""
    design = SCANNED if method == "scan" else weights
    if not allowance.concentrated:
        joint = room.once(
            (id(capped), allowance.amount, levels, design),
            lambda: capped_flow(capped, allowance.amount, levels=levels, design=design),
        )
        drawn = room.draw(joint)
        return Released(drawn.value, drawn.cap, drawn)
    share = SCAN_SHARE if method == "scan" else WEIGH_SHARE
    paid = allowance.share(share)
    if method == "scan":
        law = choice(design, capped, paid.epsilon, levels)
    else:
        law = choice(design, capped, paid.choosing, levels, paid.guarantee)
    cap = design.factor * levels[int(room.draw(law))]
    value, noise = noisy(capped.at(cap), allowance.share(1 - share), cap)
    return Released(room.draw(value), cap, rounding(noise, cap))


def flow_answer(
    room: Room,
    words: str,
    capped: CappedStatistic,
    method: str | None,
    per: Per = "row",
    weights: FlowDesign = WEIGHED,
) -> Answer:
    """The answer of a statistic that counts rows or values."""
    if method == "shifted_inverse":
        found, spread = inverse_release(room, capped.profile, room.allowance)
        return room.answer(words, found, mechanism=INVERSE, spread=spread, per=per)
    released = flow_release(room, capped, room.allowance, method or "exponential", COUNTS, weights)
    return room.answer(
        words, released.value, mechanism=name(room), spread=CappedBelow(released.noise), per=per, cap=released.cap
    )


def name(room: Room) -> str:
    """How a capped statistic is released for the room's kind of cost."""
    return APART if room.allowance.concentrated else NAME
