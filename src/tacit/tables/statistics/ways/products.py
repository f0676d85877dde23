"""Second moments of columns: variance and covariance from capped totals, correlations and lines from capped vectors.

Both begin with `ways.centres`: a count, and the mean of each column with how far persons reach beyond it.

TOTALS  A person's total is Σ(x − c)², or Σ(x − c)(y − d), over their rows, around the released means. It is added up as
any other total (`ways.totals`), for the rest of the cost: no value is clipped. Squares have far heavier tails than
values, so their design goes higher for a cap (`SQUARES`), and what persons above it count for follows the tail: with
N(C) and N(C/4) persons above the cap and above a quarter of it, both released, a tail that falls like C^-a has
a = log(N(C/4)/N(C))/log 4, and its members a/(a − 1) caps on average.

VECTORS  A correlation or a line needs all products of v columns at once, capped alike: a person who weighs less must
weigh less in all of them. For each column a cap on Σ(x − c)² is chosen that few persons exceed
(`mechanisms.totals.vector_cap`); it becomes the column's scale. Then a person's vector of the number of their rows, of
Σ(x − c) and of all products, each in these scales and the former two with half the weight, is scaled to an ℓ1 norm of
at most v, and every entry of the sum gets noise for v.

BY GROUP  The quartiles of every group are drawn by levels (`ways.levels`): its median is its centre, their distance its
scale. Then the counts, the distances from the centres and their squares are three vectors over all groups, each capped
at a norm of its own (`ways.vectors`).

PROMISE  Each costs the allowance. PROOF  Adaptive composition of draws; the vector moves by at most v in ℓ1 when a
person joins or leaves (`engines.requests.ProductTotals`), so noise for v on each entry keeps its share.

ACCURACY  benchmarks/moments.py: beside AVG(x²) − AVG(x)² with caps that know the data, and beside fits on blocks of
persons and a fit that clips knowing the data.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import isqrt, log

from tacit.answers import Answer, Answers
from tacit.answers.moments import Gram, SecondMoment, Wanted
from tacit.answers.quotients import Quotient
from tacit.answers.totals import CappedTotal, TotalDesign
from tacit.engines.requests import (
    FAR,
    HALF,
    Bucket,
    GroupSteps,
    HasValue,
    Ordered,
    Product,
    ProductTotals,
    RowCount,
    Steps,
    TotalBuckets,
    Value,
)
from tacit.mechanisms.totals.scan_and_release import CAPS
from tacit.numbers.exact import REAL
from tacit.tables.releasing.room import Allowance, Room
from tacit.tables.statistics.base import Per, noisy, noisy_vector
from tacit.tables.statistics.ways.caps import persons_above
from tacit.tables.statistics.ways.centres import BEYOND, Located, locate
from tacit.tables.statistics.ways.groups import Groups
from tacit.tables.statistics.ways.levels import draw_quantiles
from tacit.tables.statistics.ways.totals import Capper, Released
from tacit.tables.statistics.ways.vectors import capped_vectors, choose_level

SQUARES = TotalDesign(power=4)
"""How totals of products are capped: the weight of a cap falls with its square, not with its fourth power."""
TAIL = Fraction(1, 15)
"""What the number of persons above a quarter of the cap takes of what the centres leave."""
QUARTER = 4
NEAR = 8
"""Where the root of a second moment is more than the radius over this, the radius seems to have cut it off."""
LEAST, MOST = Fraction(5, 4), Fraction(4)
"""What a person above the cap counts for, at least and at most, in caps."""

CUT_OFF = "A person's values seem to cancel out and to lie far apart: this may be far too small."
"""Said where the persons' sums, which tell how far values reach, seem to tell far too little."""

VECTORS = "vectors of products around released means, capped at a norm in privately chosen scales, then noise on each"
"""How correlations and lines are made."""

AROUND = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
"""The quantiles by which each group finds its centre and its scale."""
QUARTILES = Fraction(1, 5)
"""What they take of the cost."""

SCALING = Fraction(1, 5)
"""What the caps on the columns' squares take of what the centres leave."""
LEFT = 10
"""How many persons, times ε, are left above each of them."""
FULL = HALF // BEYOND
"""How many steps a column's scale has: the square of it is what a person's Σ(x − c)² may be."""


def second_moment(room: Room, words: str, values: Sequence[Value], per: Per, wanted: Wanted) -> Answer:
    """The variance of a column or the covariance of two that have values in the same rows; or root or total of it."""
    found = locate(room, values, per)
    left, right = found.columns[0], found.columns[-1]
    alone = len(values) == 1
    tail = TAIL if alone and not found.rest.concentrated else Fraction(0)
    capper = Capper.of(found.rest.share(1 - tail), SQUARES)
    with room.second(found.rest.guarantee) as second:
        (totals,) = second.ask(TotalBuckets(Product(left, right, per == "person"), capper.boundaries))
    released = capper.release(room, totals, signed=not alone, part="" if alone else "products")
    if isinstance(released.noise, CappedTotal):
        released = _with_tail(room, released.noise, totals.positive, found.rest.share(TAIL))
    unit = float(left.step * left.value.unit * right.step * right.value.unit)
    spread = SecondMoment(released.value, found.count, released.noise, found.noise, unit, found.means, wanted)
    return room.answer(
        words,
        spread.value,
        mechanism=f"products around released means over a count, each by: {capper.name}",
        spread=spread,
        per=per,
        unit=REAL,
        notes=(CUT_OFF,) if per == "row" and NEAR**2 * abs(released.value) > HALF**2 * max(found.count, 1) else (),
    )


def _with_tail(room: Room, drawn: CappedTotal, buckets: Sequence[Bucket], allowance: Allowance) -> Released:
    """The same total, with persons above the cap counted as the tail tells."""
    place = bisect_right(CAPS, drawn.cap // QUARTER)
    law, _ = noisy(sum(bucket.count for bucket in buckets[place:]), allowance)
    below, beyond = CAPS[max(place, 1) - 1], max(room.draw(law), 1)
    clear = max(float(drawn.above - drawn.design.allowed / drawn.epsilon), 1.0)  # what noise alone does not make
    falling = log(beyond / clear) / log(max(drawn.cap / below, 2))
    counted = MOST if falling <= 1 else min(max(Fraction(falling / (falling - 1)).limit_denominator(100), LEAST), MOST)
    told = replace(drawn, design=replace(drawn.design, counted=counted))
    return Released(told.value, told.counted, told)


def grouped_moments(room: Room, words: str, value: Value, groups: Groups, per: Per, wanted: Wanted) -> Answers:
    """The variance of a column in each group, or its root, around a centre for each group."""
    quartiles, rest = room.allowance.share(QUARTILES), room.allowance.share(1 - QUARTILES)
    with room.second(quartiles.guarantee) as first:
        drawn = draw_quantiles(first, Ordered(value.expression), AROUND, per, groups)
    places = tuple(_place(value, *(Fraction(one[q]) for q in AROUND)) for one in drawn.values)
    mean = per == "person"
    counting = HasValue(value.expression) if mean else RowCount(value.expression)
    entries = (counting, *(GroupSteps(value, places, squared, mean) for squared in (False, True)))
    with room.second(rest.guarantee) as second:
        counts, sums, squares = capped_vectors(second, entries, groups)
    answers = {}
    for i, label in enumerate(groups.labels):
        number, step = counts.totals[i], float(Fraction(places[i][1], HALF) * value.unit)
        off = Quotient(sums.totals[i], number, sums.noise, counts.noise, step * counts.fine / sums.fine)
        unit = step**2 * counts.fine / squares.fine
        spread = SecondMoment(squares.totals[i], number, squares.noise, counts.noise, unit, (off,), wanted)
        answers[label] = room.answer(
            f"{words} where {groups.name} is {label}",
            spread.value,
            mechanism="vectors of counts, distances from rough medians and their squares, each capped at a chosen norm",
            spread=spread,
            per=per,
            unit=REAL,
        )
    return Answers(answers, room.cost, groups.name)


def _place(value: Value, low: Fraction, middle: Fraction, high: Fraction) -> tuple[int, int]:
    """A middle and a radius in units, from the quartiles of a group."""
    centre = max(-FAR, min(round(middle / value.unit), FAR))
    width = max(1, -int((low - high) / value.unit // 1))
    return centre, min(1 << (width * BEYOND - 1).bit_length(), FAR)


def gram(room: Room, values: Sequence[Value], per: Per) -> Gram:
    """The noisy sums of all products of columns that have values in the same rows."""
    found, mean = locate(room, values, per), per == "person"
    with room.second(found.rest.guarantee) as second:
        squares = second.ask(*(TotalBuckets(Product(one, one, mean), CAPS) for one in found.columns))
        each, left = found.rest.share(SCALING / len(values)), LEFT / room.allowance.epsilon
        columns = []
        for column, buckets in zip(found.columns, squares, strict=True):
            above = persons_above([bucket.count for bucket in buckets.positive])
            columns.append(_scaled(column, CAPS[choose_level(room, CAPS, above, len(values), each, left)]))
        asked = ProductTotals(tuple(columns), _weights(found), len(values) * FULL**2, mean)
        (sums,) = second.ask(asked)
    vector, noise = noisy_vector(sums, found.rest.share(1 - SCALING), asked.cap)
    units = [float(column.value.unit) for column in columns]
    return Gram(
        room.draw(vector),
        asked.weights,
        noise,
        tuple(float(column.step) * unit for column, unit in zip(columns, units, strict=True)),
        tuple(float(column.centre) * unit for column, unit in zip(columns, units, strict=True)),
    )


def _scaled(column: Steps, cap: int) -> Steps:
    """The column in steps of which `FULL` squared is the cap, given in its steps so far, around the same centre."""
    radius = max(1, min(isqrt(cap * column.radius**2 * BEYOND**2 // HALF**2) + 1, FAR))
    shift = round(column.shift * Fraction(column.radius, radius))
    return replace(column, radius=radius, shift=max(-HALF, min(shift, HALF)))


def _weights(found: Located) -> tuple[int, int]:
    """Those of the number of rows and of the distances: half of what a person of so many rows may weigh."""
    rows = max(found.rows, 1)
    return max(1, FULL**2 // (2 * rows)), max(1, FULL // (2 * isqrt(rows)))
