"""The rows of a result and the persons each of them touches.

A row carries a weight, a whole number ≥ 0, and touches a set of persons: removing any one of them removes the row. A
person named twice in a row counts once, and a row that touches nobody is dropped, as is a row of no weight, so no
input is refused for what the data say. A signed sum is the difference of two: a negative weight counts as 0 here, and
the other part is asked for with the weights negated.

Weights are 64-bit integers while their total is small enough to be doubled and scaled, Python integers beyond.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidInput
from tacit.numbers.exact import whole

Integers = npt.NDArray[Any]
"""An array of integers: int64, or Python integers where 64 bits might not do."""

WIDE = 2**61
"""Sums that stay below this are taken in 64 bits."""
_DOUBLE = 2**53
"""Sums of whole numbers that stay below this are exact in doubles, which are added fastest."""


def integers(values: npt.ArrayLike, name: str) -> Integers:
    """A one-dimensional array of whole numbers, as int64 where they fit."""
    array = np.asarray(values)
    if array.ndim == 1 and array.size == 0:
        return np.zeros(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "biuO":
        raise InvalidInput(f"{name} must be a one-dimensional array of whole numbers; convert it to integers first.")
    if array.dtype.kind in "bi":
        return array.astype(np.int64, copy=False)
    if array.dtype.kind == "O":
        array = np.array([whole(v, name) for v in array], dtype=object)
    if int(array.max()) < 2**63 and int(array.min()) >= -(2**63):
        return array.astype(np.int64)
    return array.astype(object)


def number_ids(ids: Integers) -> tuple[Integers, int]:
    """A number from 0 for each id, equal for equal ids, and how many numbers there are."""
    if ids.dtype != object and ids.size and ids.min() >= 0 and ids.max() <= 4 * ids.size:
        known = np.zeros(int(ids.max()) + 1, dtype=bool)
        known[ids] = True
        return (np.cumsum(known) - 1)[ids], int(known.sum())
    distinct, number = np.unique(ids, return_inverse=True)
    return number, distinct.size


def add_at(size: int, places: Integers, amounts: Integers) -> Integers:
    """The sum of ``amounts`` at each of ``size`` places, exactly."""
    if amounts.dtype == np.int64 and amounts.size and int(amounts.min()) >= 0 and exact_sum(amounts) < _DOUBLE:
        return np.bincount(places, weights=amounts, minlength=size).astype(np.int64)
    result = np.zeros(size, dtype=amounts.dtype)
    np.add.at(result, places, amounts)
    return result


def multiply(values: Integers, factor: int = 1) -> Integers:
    """``values`` times ``factor``, in 64 bits only where no sum of the results can overflow."""
    if values.dtype != object and factor < WIDE and exact_sum(values) * factor < WIDE:
        return values * factor if factor != 1 else values
    return values.astype(object) * factor


def exact_sum(values: Integers) -> int:
    """The sum of non-negative integers, in as many bits as it needs."""
    if values.dtype == object:
        return sum(values.tolist())
    high, low = values >> 32, values & 0xFFFFFFFF
    return (int(high.sum()) << 32) + int(low.sum())


@dataclass(frozen=True, repr=False, eq=False)
class Incidences:
    """Weighted rows with the persons they touch, as compressed lists: row t touches persons[starts[t]:starts[t+1]]."""

    weights: Integers
    starts: Integers
    persons: Integers
    """Persons numbered from 0, in each row distinct and ascending."""
    size: int
    """How many persons there are numbers for."""
    kept: Integers
    """The input row that each row comes from."""
    given: int
    """How many rows the input had."""

    @classmethod
    def from_lists(cls, weights: npt.ArrayLike, starts: npt.ArrayLike, persons: npt.ArrayLike) -> Incidences:
        """Rows from compressed lists: row t touches ``persons[starts[t]:starts[t + 1]]``, any integers."""
        amounts, ends, ids = integers(weights, "weights"), integers(starts, "starts"), integers(persons, "persons")
        if ends.size != amounts.size + 1 or ends[0] != 0 or ends[-1] != ids.size or bool((np.diff(ends) < 0).any()):
            raise InvalidInput(
                "starts must rise from 0 to the number of persons listed, with one entry more than rows."
            )
        row = np.repeat(np.arange(amounts.size, dtype=np.int64), np.diff(ends))
        number, size = number_ids(ids)
        return cls._made(amounts, row, number, size)

    @classmethod
    def from_columns(
        cls, weights: npt.ArrayLike, columns: Sequence[npt.ArrayLike], kinds: Sequence[str] | None = None
    ) -> Incidences:
        """Rows from columns of person ids; columns of different ``kinds`` name different persons.

        An entry that a numpy masked array masks is no person. Without ``kinds`` all columns share one kind.
        """
        amounts = integers(weights, "weights")
        names = ["person"] * len(columns) if kinds is None else list(kinds)
        if len(names) != len(columns) or not columns:
            raise InvalidInput("columns must hold at least one column of person ids, and kinds one name for each.")
        row_parts, number_parts, size = [], [], 0
        for kind in dict.fromkeys(names):
            mine = [column for column, name in zip(columns, names, strict=True) if name == kind]
            row, ids = _entries(mine, amounts.size)
            number, count = number_ids(ids)
            row_parts.append(row)
            number_parts.append(number + size)
            size += count
        return cls._made(amounts, np.concatenate(row_parts), np.concatenate(number_parts), size)

    @classmethod
    def _made(cls, weights: Integers, row: Integers, person: Integers, size: int) -> Incidences:
        weights = multiply(np.maximum(weights, 0))
        carrying = np.zeros(weights.size, dtype=bool)
        carrying[row] = True
        carrying &= (weights > 0).astype(bool)
        pair = row.astype(np.int64) * max(size, 1) + person
        pair = np.sort(pair[carrying[row]], kind="stable")  # a merge, for columns come in ascending runs
        pair = pair[np.diff(pair, prepend=-1) > 0]
        kept = np.flatnonzero(carrying)
        place = np.cumsum(carrying) - 1
        row, person = place[pair // max(size, 1)], pair % max(size, 1)
        bare = cls(weights[kept], np.zeros(0, dtype=np.int64), person, size, kept, weights.size)
        return bare.touching(row, person, size)

    @property
    def row(self) -> Integers:
        """The row of each entry of ``persons``."""
        return np.repeat(np.arange(self.weights.size, dtype=np.int64), np.diff(self.starts))

    def only(self, chosen: npt.NDArray[np.bool_]) -> Incidences:
        """The chosen rows, with the same numbering of persons."""
        lengths = np.diff(self.starts)
        starts = np.concatenate([[0], np.cumsum(lengths[chosen])])
        persons = self.persons[np.repeat(chosen, lengths)]
        return replace(self, weights=self.weights[chosen], starts=starts, persons=persons, kept=self.kept[chosen])

    def listed(self, order: Integers) -> Incidences:
        """The rows with the given numbers, in that order, a row as often as it is named."""
        lengths = np.diff(self.starts)[order]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        place = np.repeat(self.starts[:-1][order] - starts[:-1], lengths) + np.arange(int(starts[-1]))
        weights = multiply(self.weights[order])
        return replace(self, weights=weights, starts=starts, persons=self.persons[place], kept=self.kept[order])

    def head(self, count: int) -> Incidences:
        """The first rows."""
        end = int(self.starts[count])
        return replace(
            self,
            weights=self.weights[:count],
            starts=self.starts[: count + 1],
            persons=self.persons[:end],
            kept=self.kept[:count],
        )

    def counted(self) -> Incidences:
        """The same rows, each of weight 1."""
        return replace(self, weights=np.ones(self.weights.size, dtype=np.int64))

    def valued(self, values: npt.ArrayLike) -> Integers:
        """For each row the entry of ``values``, which has one for every row of the input."""
        listed = integers(values, "values")
        if listed.size != self.given:
            raise InvalidInput("values must have one entry for every row given.")
        return listed[self.kept]

    def merged(self, label: Integers) -> tuple[Incidences, Integers]:
        """Rows with the same label and the same persons made one, weights added; and the label of each."""
        key = self.alike(label)
        chosen = np.zeros(key.size, dtype=bool)
        chosen[np.unique(key, return_index=True)[1]] = True
        weights = add_at(int(key.max(initial=-1)) + 1, key, self.weights)
        return replace(self.only(chosen), weights=weights[key[chosen]]), label[chosen]

    def touching(self, row: Integers, person: Integers, size: int) -> Incidences:
        """The same rows with other persons: those listed with their row, rows ascending."""
        starts = np.zeros(self.weights.size + 1, dtype=np.int64)
        np.cumsum(np.bincount(row, minlength=self.weights.size), out=starts[1:])
        return replace(self, starts=starts, persons=person, size=size)

    def alike(self, label: Integers) -> Integers:
        """A number for each row, the same for rows with the same label and the same persons."""
        lengths = np.diff(self.starts)
        key, span = number_ids(label)
        for place in range(int(lengths.max(initial=0))):
            person = np.full(key.size, self.size, dtype=np.int64)
            person[lengths > place] = self.persons[self.starts[:-1][lengths > place] + place]
            if span * (self.size + 1) >= WIDE:
                key, span = number_ids(key)
            key, span = key * (self.size + 1) + person, span * (self.size + 1)
        return number_ids(key)[0]

    def __repr__(self) -> str:
        return "<rows that touch persons>"


def _entries(columns: Sequence[npt.ArrayLike], size: int) -> tuple[Integers, Integers]:
    """The entries of several columns, with the row of each."""
    rows, ids = [], []
    for column in columns:
        mask = np.ma.getmaskarray(column) if isinstance(column, np.ma.MaskedArray) else None
        values = integers(np.ma.getdata(column) if mask is not None else column, "columns")
        if values.size != size:
            raise InvalidInput("columns must each have one entry for every weight.")
        row = np.arange(size, dtype=np.int64)
        rows.append(row if mask is None else row[~mask])
        ids.append(values if mask is None else values[~mask])
    return np.concatenate(rows), np.concatenate(ids)
