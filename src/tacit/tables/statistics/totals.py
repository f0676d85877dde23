"""Persons, rows and sums, without bounds.

With ``epsilon=`` the default is `tacit.mechanisms.totals.scan_and_release`, charged jointly. With Gaussian noise a cap
λ is chosen first, and Σ_u min(s_u, λ), which one person moves by at most λ, gets noise of variance λ²/(2ρ). A person's
total is either positive or negative, so the two parts of a signed sum concern disjoint persons and are released side by
side for the cost of one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tacit.answers import Answer
from tacit.answers.capped import CappedSum
from tacit.answers.spreads import Additive
from tacit.engines import requests
from tacit.engines.requests import Deviation, Flags, Incidence, PersonMean, Persons, RowCount, TotalBuckets, Value
from tacit.errors import UnsupportedQuery
from tacit.language import build
from tacit.language.expressions import Expression
from tacit.numbers.units import WHOLE, Unit
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.base import Per, Statistic, known_method, noisy, unit_of
from tacit.tables.statistics.capped import Capper, Released


@dataclass(frozen=True)
class PersonCount(Statistic):
    """How many persons have at least one row, or at least one value of a column."""

    expression: Expression | None = None
    name: str | None = None
    per: Per = "person"
    key = "persons"

    @property
    def words(self) -> str:
        """What is asked."""
        return "number of persons" if self.name is None else f"number of persons with {self.name}"

    def release(self, room: Room) -> Answer:
        """One count, moved by one when a person joins or leaves."""
        if self.expression is None:
            (count,) = room.ask(Persons())
        else:
            (flags,) = room.ask(Flags(build.negation(build.is_null(self.expression))))
            count = flags.true
        law, noise = noisy(count, room.allowance)
        return room.answer(
            self.words, room.draw(law), mechanism="noise on a count", spread=Additive(noise), per=self.per
        )


@dataclass(frozen=True)
class Total(Statistic):
    """The number of rows, or the sum of a column."""

    total: Value | RowCount
    name: str | None = None
    per: Per = "row"
    method: str | None = None
    """Where a row may concern several persons: one of `tacit.tables.statistics.joint`."""
    several = True

    def __post_init__(self) -> None:
        known_method(self.method)

    def suits(self, several: bool) -> None:
        """Methods are for rows of several persons."""
        super().suits(several)
        if self.method is not None and not several:
            raise UnsupportedQuery("method is for rows that concern several persons; leave it out where they do not.")

    @property
    def key(self) -> str:
        """Its name for policies."""
        return "sum" if isinstance(self.total, Value) else "count"

    @property
    def words(self) -> str:
        """What is asked."""
        if isinstance(self.total, Value):
            return f"sum of {self.name}"
        return "number of rows" if self.name is None else f"number of rows with {self.name}"

    @property
    def unit(self) -> Unit:
        """The step in which totals are counted."""
        return unit_of(self.total.expression.type, self.total.unit) if isinstance(self.total, Value) else WHOLE

    def release(self, room: Room) -> Answer:
        """One capped sum with its noise."""
        if room.several:
            return self._joint(room)
        capper = Capper.of(room.allowance)
        (buckets,) = room.ask(TotalBuckets(total_of(self.total, self.per), capper.boundaries))
        return self._capped(room, capper.release(room, buckets, signed=isinstance(self.total, Value)), capper.name)

    def _capped(self, room: Room, found: Released, mechanism: str) -> Answer:
        return room.answer(
            self.words,
            self.unit.value(found.value),
            mechanism=mechanism,
            spread=CappedSum(found.noise, self.unit),
            per=self.per,
            unit=self.unit,
            cap=self.unit.value(found.cap),
        )

    def _joint(self, room: Room) -> Answer:
        """A row may concern several persons; the two signs of a sum may concern the same ones and share the cost."""
        from tacit.flows.sums import capped_sum
        from tacit.mechanisms.totals.capped_flow import LEVELS
        from tacit.tables.statistics import joint

        touches = room.touches(Incidence(self.total))
        if isinstance(self.total, RowCount):
            return joint.joint_answer(room, self.words, capped_sum(joint.rows_of(touches)), self.method)
        half = room.allowance.share(Fraction(1, 2))
        signs = [capped_sum(joint.rows_of(touches, sign)) for sign in (1, -1)]
        if self.method == "shifted_inverse":
            positive, negative = (joint.inverse_release(room, capped, half.epsilon)[0] for capped in signs)
            value = self.unit.value(positive - negative)
            note = "Both signs are underestimates; how far off their difference is cannot be said."
            return room.answer(self.words, value, mechanism=joint.INVERSE, unit=self.unit, notes=(note,))
        released = [joint.joint_release(room, capped, half, self.method or "scan", LEVELS) for capped in signs]
        return self._capped(room, released[0].minus(released[1]), joint.name(room))


def total_of(total: Value | RowCount | Deviation, per: Per, parts: int = 1) -> requests.Total:
    """A person's total, or per person the mean of their values in parts of the unit."""
    return total if per == "row" or isinstance(total, RowCount) else PersonMean(total, parts)
