"""Made-up rows that answer for themselves what an engine would be asked about them hundreds of times.

Each person has one row, no value is missing, and all are whole numbers, so a person's sum and mean are the value. Rows
that are alike are kept once, with their number. Integers have 64 bits here: a request whose numbers may not fit, and
every other request than these, is left to the engine. `tests/forecasts/test_rows.py` compares both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from math import gcd
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.engines import Engine, Snapshot
from tacit.engines.remembering import Remembering
from tacit.engines.requests import (
    HALF,
    WEIGHT,
    Bucket,
    Buckets,
    Deviation,
    Extremes,
    Filled,
    PersonMean,
    Product,
    ProductTotals,
    Ranks,
    RankSteps,
    Relation,
    Request,
    RowCount,
    Step,
    Steps,
    TotalBuckets,
    Value,
)
from tacit.engines.requests.operands import Total
from tacit.engines.requests.products import Distance
from tacit.language.expressions import Expression

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

LARGEST = 2**62
"""What the numbers of an answer may reach."""
WORD = 32
"""Bits of a half by which long sums are made: as doubles, sums of as many halves as there are persons are exact."""
EMPTY = Bucket(0, 0)


class MadeUpRows:
    """The rows of made-up persons, one for each of them."""

    def __init__(self, columns: Mapping[Expression, Integers]) -> None:
        """Take the columns in the order of the persons, and what each is called in requests."""
        new = np.any([np.diff(column, prepend=column[0] - 1) != 0 for column in columns.values()], axis=0)
        starts = np.flatnonzero(new)
        self._columns = {name: column[starts] for name, column in columns.items()}
        self._exact: Callable[[int], Fraction] = cache(Fraction)
        self._number = np.diff(starts, append=len(new))
        self._reach = {name: max(map(abs, map(int, (c.min(), c.max())))) for name, c in self._columns.items()}

    def answer(self, request: Request[Any]) -> Any:
        """The answer of an engine; None where it has to be asked."""
        try:
            match request:
                case TotalBuckets():
                    return self._buckets(self._total(request.total), request.boundaries)
                case ProductTotals():
                    return self._products(request)
                case RankSteps():
                    return self._ranks(request)
                case Extremes():
                    return self._extremes(request)
        except _Beyond:
            pass
        return None

    def _column(self, expression: Expression, factor: int = 1, less: int = 0) -> Integers:
        """A column, if nothing overflows when that is taken away and the rest is multiplied."""
        if expression not in self._columns or (self._reach[expression] + abs(less)) * factor > LARGEST:
            raise _Beyond
        return self._columns[expression]

    def _total(self, total: Total | Product) -> Integers:
        """The total of a person of each kind."""
        match total:
            case Value():
                return self._column(total.expression)
            case RowCount(expression) | Filled(Value(expression)):
                return np.ones_like(self._number if expression is None else self._column(expression))
            case Deviation(value, centre):
                return self._column(value.expression, less=centre) - centre
            case PersonMean(Value(expression), parts):
                return self._column(expression, parts) * parts
            case PersonMean(Deviation(value, centre), parts):
                return (self._column(value.expression, parts, centre) - centre) * parts
            case Product():
                return self._product(total)
        raise _Beyond

    def _product(self, product: Product) -> Integers:
        """Of exact distances rounded at last, or of each in steps."""
        sides = product.exact
        if sides is None:
            return self._steps(product.left) * self._steps(product.right)
        left, right = map(self._distance, sides)
        parts = [side.parts for side in sides]
        if product.mean:
            return _toward_zero(left, parts[0]) * _toward_zero(right, parts[1])
        return _toward_zero(left * right, parts[0] * parts[1])

    def _distance(self, distance: Distance) -> Integers:
        """An exact distance."""
        column = self._column(distance.steps.value.expression, less=distance.steps.middle)
        return distance.k * (np.clip(column, distance.low, distance.high) - distance.steps.middle) - distance.t

    def _steps(self, steps: Steps) -> Integers:
        """How many steps a row's number lies from the centre."""
        low, width, parts = steps.middle - steps.radius, 2 * steps.radius, 2 * HALF
        shared = gcd(width, parts)
        if width * (parts // shared) > LARGEST:
            raise _Beyond
        above = np.clip(self._column(steps.value.expression, less=low) - low, 0, width)
        counted: Integers = above * (parts // shared) // (width // shared) - (HALF + steps.shift)
        return counted

    def _buckets(self, totals: Integers, boundaries: Sequence[int]) -> Buckets:
        """Where the totals lie."""
        fences, sides = np.array([b for b in boundaries if b < LARGEST], np.int64), []
        for chosen in (totals > 0, totals < 0):
            sizes, number = np.abs(totals[chosen]), self._number[chosen]
            places = np.searchsorted(fences, sizes)
            halves = np.ones_like(sizes), sizes >> WORD, sizes & (1 << WORD) - 1
            sums = [np.bincount(places, half * number, len(boundaries) + 1).astype(np.int64) for half in halves]
            buckets = [EMPTY] * (len(boundaries) + 1)
            for place in np.flatnonzero(sums[0]).tolist():
                count, high, low = (int(each[place]) for each in sums)
                buckets[place] = Bucket(count, (high << WORD) + low)
            sides.append(tuple(buckets))
        return Buckets(*sides)

    def _products(self, request: ProductTotals) -> tuple[int, ...]:
        """The sums of the scaled vectors; those of few persons are scaled, by integers of any length."""
        columns, (one, each) = [self._steps(column) for column in request.columns], request.weights
        entries = [np.full_like(self._number, one), *(column * each for column in columns)]
        entries += [left * right for i, left in enumerate(columns) for right in columns[i:]]
        vectors = np.array(entries)
        norms = np.abs(vectors).sum(axis=0)
        far = norms > request.cap
        shrunk = np.abs(vectors[:, far]).astype(object) * request.cap // norms[far]
        vectors[:, far] = np.sign(vectors[:, far]) * shrunk.astype(np.int64)
        return tuple((vectors @ self._number).tolist())

    def _ranks(self, request: RankSteps) -> Ranks:
        """The steps by their ranks, in whole persons."""
        values, number = self._ascending(request.value.expression)
        after = np.cumsum(number)
        before, found = after - number, []
        for q in request.quantiles:
            p, d = q.numerator, q.denominator
            gap, target = max(p, d - p) * (request.cap or 1), p * int(after[-1])
            low = np.maximum((d * before - target) // gap, -request.reach)
            crossed = low < np.minimum((d * after - target) // gap, request.reach)
            sides = (side[crossed].tolist() for side in (values, before, after))
            found.append(tuple(Step(self._exact(v), b * WEIGHT, a * WEIGHT) for v, b, a in zip(*sides, strict=True)))
        return Ranks(int(after[-1]) * WEIGHT, tuple(found))

    def _extremes(self, request: Extremes) -> tuple[Fraction, ...]:
        """The values of as many persons."""
        values, number = self._ascending(request.value.expression)
        if request.largest:
            values, number = values[::-1], number[::-1]
        return tuple(map(self._exact, np.repeat(values[: request.k], number[: request.k])[: request.k].tolist()))

    def _ascending(self, expression: Expression) -> tuple[Integers, Integers]:
        """The different values of a column, ascending, and how many persons have each."""
        values, places = np.unique(self._column(expression), return_inverse=True)
        return values, np.bincount(places, self._number).astype(np.int64)


class Answering(Remembering):
    """The engine of made-up rows, asked only for what they do not answer for themselves."""

    def __init__(self, engine: Engine, relation: Relation, rows: MadeUpRows) -> None:
        super().__init__(engine)
        self._relation, self._rows = relation, rows

    def remember(self, asked: tuple[Any, ...], ask: Callable[[Snapshot], Any]) -> Any:
        """The answer to what was ``asked``, of the rows or the engine."""
        known = self._known.get(asked)  # looked up once: hashing a request takes longer than many an answer
        if known is None and (known := self._answers(*asked)) is not None:
            self._known[asked] = known
        return super().remember(asked, ask) if known is None else known

    def _answers(self, relation: object, requests: object) -> tuple[Any, ...] | None:
        """An answer for each request of a round, or none of them."""
        if relation != self._relation or not isinstance(requests, tuple):
            return None
        answers = tuple(map(self._rows.answer, requests))
        return None if any(answer is None for answer in answers) else answers


class _Beyond(Exception):
    """A request that the rows do not answer for themselves."""


def _toward_zero(numbers: Integers, parts: int) -> Integers:
    """The quotients."""
    return numbers if parts == 1 else np.sign(numbers) * (np.abs(numbers) // parts)
