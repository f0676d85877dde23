"""Totals of persons, added up without bounds: what counts and sums share.

With ``epsilon=`` the default is `tacit.mechanisms.totals.scan_and_release`, charged jointly. With Gaussian noise a cap
λ is chosen first, and Σ_u min(s_u, λ), which one person moves by at most λ, gets noise of variance λ²/(2ρ). A person's
total is either positive or negative, so the two parts of a signed sum concern disjoint persons and are released side by
side for the cost of one.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from tacit.answers import Answer
from tacit.answers.capped import CappedSum
from tacit.engines import requests
from tacit.engines.requests import Deviation, PersonMean, RowCount, TotalBuckets, Value
from tacit.errors import UnsupportedQuery
from tacit.numbers.units import WHOLE, Unit
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.base import Per, Statistic
from tacit.tables.statistics.methods import SHARED_ROWS, check_method
from tacit.tables.statistics.ways.capped_sums import Capper, Released


@dataclass(frozen=True)
class Total(Statistic, sampled="total"):
    """A number for each person, and the sum of them."""

    total: Value | RowCount
    name: str | None = None
    per: Per = "row"
    method: str | None = None
    """Where a row may concern several persons: one of `SHARED_ROWS`."""
    several = True
    signed: ClassVar[bool] = False
    """Whether a person's number can be negative."""

    def __post_init__(self) -> None:
        check_method(self.method, SHARED_ROWS)

    @property
    def unit(self) -> Unit:
        """The step in which totals are counted."""
        return WHOLE

    def suits(self, several: bool) -> None:
        """Methods are for rows of several persons."""
        super().suits(several)
        if self.method is not None and not several:
            raise UnsupportedQuery("method is for rows that concern several persons; leave it out where they do not.")

    def release(self, room: Room) -> Answer:
        """One capped sum with its noise."""
        if room.several:
            return self.shared(room)
        capper = Capper.of(room.allowance)
        (buckets,) = room.ask(TotalBuckets(total_of(self.total, self.per), capper.boundaries))
        return self.capped(room, capper.release(room, buckets, signed=self.signed), capper.name)

    @abstractmethod
    def shared(self, room: Room) -> Answer:
        """The answer where a row may concern several persons."""

    def capped(self, room: Room, released: Released, mechanism: str) -> Answer:
        """The answer that a capped sum gives."""
        return room.answer(
            self.words,
            self.unit.value(released.value),
            mechanism=mechanism,
            spread=CappedSum(released.noise, self.unit),
            per=self.per,
            unit=self.unit,
            cap=self.unit.value(released.cap),
        )


def total_of(total: Value | RowCount | Deviation, per: Per, parts: int = 1) -> requests.Total:
    """A person's total, or per person the mean of their values in parts of the unit."""
    return total if per == "row" or isinstance(total, RowCount) else PersonMean(total, parts)
