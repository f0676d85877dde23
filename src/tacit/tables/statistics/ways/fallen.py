"""Totals by shifted inverse sensitivity: a value to which a total falls without a few persons, and no cap.

A total of parts that are not negative falls, without its j largest persons, to D_j; where a row concerns one person D_j
is the sum of all but the j largest totals. The shifted inverse of that profile lies between D_w and the total itself,
with stated confidence, so its interval covers the truth, from below: nothing bounds a total from above without an
assumption. A capped sum has less error where persons differ, and an interval about the capped value alone.

The two signs of a sum concern different persons and cost as much as one. Their difference has no interval, and each of
them is at least what the answer says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import accumulate
from operator import sub

from tacit.answers import Answer
from tacit.answers.order import Fallen, Levels, persons_at
from tacit.answers.spreads import SURE
from tacit.answers.values import show
from tacit.curves import DownProfile
from tacit.engines.requests import MOST_ENDS, OuterTotals
from tacit.engines.requests import Total as OfRows
from tacit.grids import Grid, digits
from tacit.mechanisms.inverse.shifted_inverse import shifted_inverse
from tacit.numbers.exact import WHOLE, Unit
from tacit.tables.releasing.room import Allowance, Room
from tacit.tables.statistics.base import Per
from tacit.tables.statistics.extremes import reach, spending, windows
from tacit.tables.statistics.ways.ends import MISS

PRECISION = 4
"""Significant digits of a total released from its down profile."""

INVERSE = "shifted inverse sensitivity on the total without its largest persons"

Profile = Callable[[int], Sequence[int]]
"""What a total falls to without 0, 1, …, k persons, for a given k."""


def inverse_release(
    room: Room, profile: Profile, allowance: Allowance, unit: Unit = WHOLE, part: str = ""
) -> tuple[int, Fallen]:
    """A value to which a total falls without a few persons, in units, and what that tells."""
    found, least, known = _released(room, profile, allowance, part)
    return found, Fallen(known, unit.value(least))


def _released(room: Room, profile: Profile, allowance: Allowance, part: str) -> tuple[int, int, Levels]:
    """The value, what the total is at least, and for which confidences without how many persons."""
    grid, spent = _totals(), spending(allowance)
    fallen = DownProfile([min(value, grid.highest or 0) for value in profile(reach(grid, **spent))])
    law = shifted_inverse(fallen, grid, **spent, beta=MISS)
    found = int(room.draw(law, part))
    place = grid.index(found)
    assert place is not None  # a law draws from its grid
    # Values are rounded up to the grid, so the total itself lies above the grid value before the answer.
    least = 0 if place == grid.first else int(grid.value(place - 1)) + 1
    return found, least, windows(law)


@cache
def _totals() -> Grid:
    """Numbers of units that a total may have."""
    return digits(PRECISION, 0, 40).between(0, None)


def of_persons(room: Room, words: str, total: OfRows, signed: bool, per: Per, unit: Unit = WHOLE) -> Answer:
    """The answer where a row concerns one person: both signs of a sum, or one that has no other."""
    removals = min(reach(_totals(), **spending(room.allowance)), MOST_ENDS)
    (outer,) = room.ask(OuterTotals(total, removals))
    sides = {"+": (outer.above, outer.largest), "-": (-outer.below, [-t for t in outer.smallest])}
    if not signed:
        found, spread = inverse_release(room, _without(*sides["+"]), room.allowance, unit)
        return room.answer(words, unit.value(found), mechanism=INVERSE, spread=spread, per=per, unit=unit)
    up, down = (_released(room, _without(*sides[side]), room.allowance, f"total{side}") for side in "+-")
    ends = [show(unit.value(least)) for least in (up[1], -down[1])]
    note = "How far off the difference of both signs is cannot be said."
    if persons_at(up[2], SURE) is not None:  # the same for both signs
        note = (
            f"Positive totals add up to at least {ends[0]} and negative ones to at most {ends[1]} (95 % each). {note}"
        )
    return room.answer(words, unit.value(up[0] - down[0]), mechanism=INVERSE, per=per, unit=unit, notes=(note,))


def _without(total: int, largest: Sequence[int]) -> Profile:
    """The sum without its largest parts; those of the other sign are none.

    It ends with the parts that are known, so that what is not listed is the grid's lowest value: a total that stopped
    falling there would not be what a total without one person less falls to.
    """
    return lambda removals: list(accumulate((max(part, 0) for part in largest[:removals]), sub, initial=total))
