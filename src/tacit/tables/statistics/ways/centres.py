"""Where the values of some columns lie: how many there are, the mean of each, and how far persons reach beyond it.

Second moments need it first: Σ(x − c)² around a good centre c needs caps only as large as persons differ.

PROMISE  It costs the allowance. PROOF  Draws one after the other, each with its share: a test for many persons, a
count, and for each column one or two capped sums (`ways.totals`). Everything else follows from what they released.

MANY PERSONS  A rough sum over the count gives a first centre, and the sum of the distances from it the mean: its cap
says how far persons reach. FEW  A rough sum would say nothing: there is one sum, and the first centre is zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, isqrt, log10, sqrt

from tacit.answers.quotients import Quotient
from tacit.answers.totals import CappedTotal, TotalDesign
from tacit.engines.requests import FAR, HALF, Deviation, Filled, FlagCounts, Flags, Squares, Steps, TotalBuckets, Value
from tacit.engines.requests.beside import OfPerson
from tacit.language import build
from tacit.language.expressions import Expression
from tacit.language.types import FLOAT
from tacit.noises import Noise
from tacit.tables.releasing.room import Allowance, Room
from tacit.tables.statistics.base import Per, noisy
from tacit.tables.statistics.ways.totals import Capper, Released, total_of

PLAIN = TotalDesign()
"""How counts and sums are capped: noise is for the cap itself, and so least for a count of one row each."""

TEST = Fraction(1, 40)
"""What the test for many persons takes of the cost."""
MANY = 800
"""How many persons, times ε, are many."""
COUNT, ROUGH, SUM = Fraction(2, 5), Fraction(1, 4), Fraction(7, 20)
"""What the count takes of the rest, and what the rough sums and the sums take together, with many persons."""
FEW_COUNT = Fraction(3, 10)
"""What the count takes with few."""
PARTS = 1000
"""Into how many parts of the unit a person's own mean is divided."""
CLEAR = 2
"""A rough sum of fewer standard deviations of its noise is taken as zero."""
BEYOND = 2**10
"""How many times farther than the cap of the sum values are told apart; what lies beyond counts as if it lay there.

Less far, by the root of the number, where a person has many rows: their sum reaches farther than any of their values,
by that root if values scatter evenly and by the number itself if they lie on one side. Steps have to be as small as
values differ, but not as small as sums do.
"""


@dataclass(frozen=True)
class Located:
    """What was released about some columns."""

    count: int
    noise: Noise
    rows: int
    """How many rows of one person count fully, about."""
    columns: tuple[Steps, ...]
    """The distances from the released means."""
    means: tuple[Quotient, ...]
    """How far the means lie from there, next to nothing, in the columns' own unit."""
    rest: Allowance
    """What is left to spend."""


def share(columns: int, many: bool) -> Fraction:
    """What finding the centres takes of the cost."""
    return Fraction(1, 5) if many else Fraction(1, 2)


def locate(room: Room, values: Sequence[Value], per: Per) -> Located:
    """Count and means of columns that have a value in the same rows; two rounds of the room."""
    allowance, boundaries = room.allowance.share(1 - TEST), Capper.of(room.allowance).boundaries
    parts = PARTS if per == "person" else 1
    rows_of = _share_of_count(values[0], per)
    counting = rows_of if isinstance(rows_of, Flags) else TotalBuckets(rows_of, boundaries)
    rows, *totals = room.ask(counting, *(TotalBuckets(total_of(v, per, parts), boundaries) for v in values))
    persons = rows.true if isinstance(rows, FlagCounts) else sum(bucket.count for bucket in rows.positive)
    law, _ = noisy(persons, room.allowance.share(TEST))
    many = room.draw(law) * room.allowance.epsilon >= MANY
    found = allowance.share(share(len(values), many))
    each = found.share(Fraction(1, len(values)))
    if isinstance(rows, FlagCounts):
        counted, noise = noisy(rows.true, found.share(COUNT if many else FEW_COUNT))
        count = Released(room.draw(counted), 1, noise)
    else:
        count = Capper.of(found.share(COUNT if many else FEW_COUNT), PLAIN).release(room, rows, signed=False)
    centres = [0] * len(values)
    if many:
        capper = Capper.of(each.share(ROUGH), PLAIN)
        rough = [capper.release(room, total, signed=True, part=f"rough{i}") for i, total in enumerate(totals)]
        centres = [rough_centre(one, max(count.value, 1) * parts, CLEAR, FAR) for one in rough]
        moved = (Deviation(v, c) for v, c in zip(values, centres, strict=True))
        totals = list(room.ask(*(TotalBuckets(total_of(one, per, parts), boundaries) for one in moved)))
    capper = Capper.of(each.share(SUM if many else 1 - FEW_COUNT), PLAIN)
    sums = [capper.release(room, total, signed=True, part=f"sum{i}") for i, total in enumerate(totals)]
    cap = count.noise.cap if isinstance(count.noise, CappedTotal) else count.cap
    columns = tuple(
        _steps(v, centre + Fraction(one.value, max(count.value, 1) * parts), -(-one.cap // parts), cap)
        for one, v, centre in zip(sums, values, centres, strict=True)
    )
    means = tuple(
        Quotient(
            *(one.value, count.value, one.noise, count.noise),
            float(column.value.unit / parts),
            float(column.value.unit * (centre - column.centre)),
        )
        for one, column, centre in zip(sums, columns, centres, strict=True)
    )
    return Located(count.value, count.noise, cap, columns, means, allowance.share(1 - share(len(values), many)))


def joint(expressions: Sequence[Expression]) -> list[Expression]:
    """The expressions, each without a value in rows where another has none."""
    if len(expressions) == 1:
        return list(expressions)
    present = build.logic("AND", [build.negation(build.is_null(expression)) for expression in expressions])
    return [build.case([(present, expression)], None) for expression in expressions]


def totals_of(values: Sequence[Value], per: Per) -> tuple[OfPerson, ...]:
    """What `locate` makes of each person's rows, whatever the first centres are."""
    parts = PARTS if per == "person" else 1
    return *(total_of(Deviation(value, 0), per, parts) for value in values), _share_of_count(values[0], per)


def products_of(left: Value, right: Value, per: Per) -> tuple[OfPerson, ...]:
    """What `locate` and then the total of products of two columns make of each person's rows.

    Doubles reach farther than their products are kept for.
    """
    values = (left,) if left == right else (left, right)
    kept = () if FLOAT in (left.expression.type, right.expression.type) else (Squares(left, right, per == "person"),)
    return *totals_of(values, per), *kept


def _share_of_count(value: Value, per: Per) -> Filled | Flags:
    """A person's share in the count."""
    return Flags(build.negation(build.is_null(value.expression))) if per == "person" else Filled(value)


def rough_centre(rough: Released, number: int, clear: int, most: int) -> int:
    """A rough sum over a number in whole units, with the digits that its noise leaves; 0 where the noise hides it.

    A sum of fewer than ``clear`` standard deviations of its noise is hidden; ``most`` bounds the centre.
    """
    noise = sqrt(rough.noise.variance)
    if abs(rough.value) < clear * noise:
        return 0
    step: int = 10 ** floor(log10(max(1.0, noise / number)))
    return max(-most, min(step * round(Fraction(rough.value, number * step)), most))


def _steps(value: Value, mean: Fraction, cap: int, rows: int) -> Steps:
    """Distances from a mean, which lies between two units as the steps allow; ``cap`` is that of persons' sums."""
    middle = max(-FAR, min(round(mean), FAR))
    radius = min(1 << (max(cap, 1) * BEYOND // min(isqrt(max(rows, 1)), BEYOND) - 1).bit_length(), FAR)
    shift = round((mean - middle) * HALF / radius)
    return Steps(value, middle, radius, max(-HALF, min(shift, HALF)))
