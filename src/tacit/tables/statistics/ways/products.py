"""Second moments of columns: variance and covariance from capped totals, correlations and lines from capped vectors.

Both begin with `ways.centres`: a count, and the mean of each column with how far persons reach beyond it.

TOTALS  A person's total is Σ(x − c)², or Σ(x − c)(y − d), over their rows, around the released means. It is added up as
any other total (`ways.totals`), for the rest of the cost: no value is clipped, and persons above the cap count as
somewhat more than it. Squares have far heavier tails than values, so their design goes higher for a cap (`SQUARES`).

VECTORS  A correlation or a line needs all products of v columns at once, capped alike: a person who weighs less must
weigh less in all of them. For each column a cap on Σ(x − c)² is chosen that few persons exceed
(`mechanisms.totals.vector_cap`); it becomes the column's scale. Then a person's vector of the number of their rows, of
Σ(x − c) and of all products, each in these scales and the former two with half the weight, is scaled to an ℓ1 norm of at
most v, and every entry of the sum gets noise for v.

PROMISE  Each costs the allowance. PROOF  Adaptive composition of draws; the vector moves by at most v in ℓ1 when a
person joins or leaves (`engines.requests.ProductTotals`), so noise for v on each entry keeps its share.

ACCURACY  benchmarks/moments.py: beside AVG(x²) − AVG(x)² with caps that know the data, and beside fits on blocks of
persons and a fit that clips knowing the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import isqrt

from tacit.answers import Answer
from tacit.answers.moments import Gram, SecondMoment, Wanted
from tacit.answers.totals import TotalDesign
from tacit.engines.requests import FAR, HALF, Product, ProductTotals, Steps, TotalBuckets, Value
from tacit.mechanisms.totals import vector_cap
from tacit.mechanisms.totals.scan_and_release import CAPS
from tacit.numbers.exact import REAL
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.base import Per, noisy_vector
from tacit.tables.statistics.ways.caps import persons_above
from tacit.tables.statistics.ways.centres import BEYOND, Located, locate
from tacit.tables.statistics.ways.totals import Capper

SQUARES = TotalDesign(power=4, counted=Fraction(5, 2))
"""How totals of products are capped: the weight of a cap falls with its square, not with its fourth power."""

VECTORS = "vectors of products around released means, capped at a norm in privately chosen scales, then noise on each"
"""How correlations and lines are made."""

SCALING = Fraction(1, 4)
"""What the caps on the columns' squares take of what the centres leave."""
LEFT = 10
"""How many persons, times ε, are left above each of them."""
FULL = HALF // BEYOND
"""How many steps a column's scale has: the square of it is what a person's Σ(x − c)² may be."""


def second_moment(room: Room, words: str, values: Sequence[Value], per: Per, wanted: Wanted) -> Answer:
    """The variance of a column or the covariance of two that have values in the same rows; or root or total of it."""
    found = locate(room, values, per)
    left, right = found.columns[0], found.columns[-1]
    capper = Capper.of(found.rest, SQUARES)
    with room.second(found.rest.guarantee) as second:
        (totals,) = second.ask(TotalBuckets(Product(left, right, per == "person"), capper.boundaries))
    released = capper.release(room, totals, signed=len(values) > 1, part="products")
    unit = float(left.step * left.value.unit * right.step * right.value.unit)
    spread = SecondMoment(released.value, found.count, released.noise, found.noise, unit, found.means, wanted)
    return room.answer(
        words,
        spread.value,
        mechanism=f"products around released means over a count, each by: {capper.name}",
        spread=spread,
        per=per,
        unit=REAL,
    )


def gram(room: Room, values: Sequence[Value], per: Per) -> Gram:
    """The noisy sums of all products of columns that have values in the same rows."""
    found, mean = locate(room, values, per), per == "person"
    with room.second(found.rest.guarantee) as second:
        squares = second.ask(*(TotalBuckets(Product(one, one, mean), CAPS) for one in found.columns))
        each = found.rest.share(SCALING / len(values)).epsilon
        left = int(LEFT / room.allowance.epsilon)
        columns = []
        for column, buckets in zip(found.columns, squares, strict=True):
            above = persons_above([bucket.count for bucket in buckets.positive])
            law = vector_cap.vector_cap(above, CAPS, len(values), each, left)
            columns.append(_scaled(column, CAPS[int(room.draw(law))]))
        asked = ProductTotals(tuple(columns), _weights(found), len(values) * FULL**2, mean)
        (sums,) = second.ask(asked)
    law, noise = noisy_vector(sums, found.rest.share(1 - SCALING), asked.cap)
    units = [float(column.value.unit) for column in columns]
    return Gram(
        room.draw(law),
        asked.weights,
        noise,
        tuple(float(column.step) * unit for column, unit in zip(columns, units, strict=True)),
        tuple(float(column.middle + column.shift * column.step) * u for column, u in zip(columns, units, strict=True)),
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
