"""Mean, variance and standard deviation over a range that the data themselves give.

1. Two threshold scans choose low and high (in units) so that few persons have rows outside; per row, a third chooses a
   cap κ on rows per person.
2. With t the position of a clamped row in the range, 0 ≤ t ≤ 1, the parts (1−t, t), or (1−t, t(1−t), t²) for a
   variance, are non-negative and add up to one. Summed over rows, a person's rows scaled to weight at most κ (or
   the person's mean with weight one), the vector of sums moves by at most κ in ℓ1 when a person joins or leaves,
   and only upward. Noise of scale κ/ε on every part is ε-DP (Gaussian: ρ from the ℓ2 norm, which the ℓ1 norm
   bounds).
3. Mean and variance follow from the noisy sums.

BY GROUP  Each group has a range of its own, from two scans by shared weight (`ways.ends`), and its own sums. A person's
rows in all groups together are scaled to weight at most κ (per person: their means, to at most κ groups), so all sums
of all groups move by at most κ in ℓ1, and noise of scale κ/ε on each is ε-DP.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any, ClassVar, Literal, cast

from tacit.answers import Answer, Answers
from tacit.answers.moments import Wanted as SecondMoments
from tacit.answers.quotients import Share, Variance
from tacit.answers.values import show
from tacit.engines.requests import (
    RESOLUTION,
    Extremes,
    GroupMoments,
    GroupNorms,
    HasValue,
    Moments,
    Request,
    RowCount,
    TotalBuckets,
    Value,
)
from tacit.engines.requests.beside import OfPerson
from tacit.errors import InvalidInput
from tacit.guarantees import Pure
from tacit.language.types import INTEGER
from tacit.noises import Noise
from tacit.numbers.exact import REAL, Number
from tacit.tables.releasing.room import Allowance, Room
from tacit.tables.statistics.asking import Amount, AnswerT, Asking, Audited, Entry, Made
from tacit.tables.statistics.base import Operand, Per, Statistic, noisy_vector, per_of, range_of
from tacit.tables.statistics.extremes import depth, extreme_law, reach, spending
from tacit.tables.statistics.ways.caps import ROW_LEVELS, choose_cap
from tacit.tables.statistics.ways.centres import products_of
from tacit.tables.statistics.ways.each import Each
from tacit.tables.statistics.ways.ends import End
from tacit.tables.statistics.ways.groups import Groups
from tacit.tables.statistics.ways.products import grouped_moments, second_moment
from tacit.tables.statistics.ways.scales import Scale

RANGE_SHARE = Fraction(1, 8)
"""What each of the two scans for the range takes of the cost."""

CAP_SHARE = Fraction(1, 8)
"""What the scan for the cap on rows takes, per row."""

_SCALE = Scale(INTEGER, 3)
_LIMIT = 2**63 - 1

Wanted = Literal["mean", "variance", "standard deviation"]


def range_requests(value: Value, each: Allowance) -> list[Request[Any]]:
    """What must be known to choose a range: the smallest person minima and the largest person maxima."""
    k = reach(_SCALE.grid, **spending(each)) if each.concentrated else depth(each.epsilon)
    return [Extremes(value, k, largest=False), Extremes(value, k, largest=True)]


def draw_range(
    room: Room, lows: tuple[Fraction, ...], highs: tuple[Fraction, ...], each: Allowance
) -> tuple[int, int] | None:
    """A range (low, high) in units with few persons outside; None where too few persons show one."""
    low = room.draw(extreme_law(lows, _SCALE, False, **spending(each)))
    high = room.draw(extreme_law(highs, _SCALE, True, **spending(each)))
    return _range(low, high)


def _range(low: Any, high: Any) -> tuple[int, int] | None:
    """The range between minus ``low`` and ``high``, as drawn."""
    if _SCALE.grid.lowest in (low, high):
        return None
    ends = sorted(min(max(end, -_LIMIT), _LIMIT) for end in (floor(-low), ceil(high)))
    return (ends[0], ends[1]) if ends[0] < ends[1] else (ends[0] - 1, ends[1])


@dataclass(frozen=True)
class Moment(Statistic, tag="Moment", phrase="{wanted} of {name}", sampled="itself"):
    """Mean, variance or standard deviation."""

    rereads = True
    value: Value
    name: str
    wanted: Wanted
    per: Per = "row"
    range: tuple[int, int] | None = None
    """A public hint: the range in units."""

    def __post_init__(self) -> None:
        if self.range is not None and not all(-_LIMIT <= end <= _LIMIT for end in self.range):
            raise InvalidInput("range must lie within 64 bits of the column's unit; give a smaller one, or none.")

    @classmethod
    def of(
        cls, column: Operand, wanted: Wanted, *, per: str = "row", range: tuple[Number, Number] | None = None
    ) -> Moment:
        """Over a public range, or over one that is chosen."""
        value, ends = column.value, None
        if range is not None:
            low, high = range_of(range)
            ends = (int(low // value.unit), -int(-high // value.unit))
        return cls(value, column.name, wanted, per_of(per), ends)

    @property
    def key(self) -> str:
        """The statistic it is."""
        return "std" if self.wanted == "standard deviation" else self.wanted

    @property
    def degree(self) -> Literal[1, 2]:
        """How many moments are needed."""
        return 1 if self.wanted == "mean" else 2

    @property
    def _turned(self) -> SecondMoments:
        """What becomes of the mean square."""
        return "root" if self.wanted == "standard deviation" else "mean product"

    @property
    def totals(self) -> tuple[OfPerson, ...]:
        """What finding a centre needs, where one is to be found, and the products around it."""
        return products_of(self.value, self.value, self.per) if self.range is None and self.wanted != "mean" else ()

    def grouped(self, groups: Groups) -> Statistic:
        """The same of each group."""
        return GroupedMoments(self, groups, self.per)

    def release(self, room: Room) -> Answer:
        """Products around a released mean; over a public range, and of a mean, a cap, noisy sums and what follows."""
        if self.range is None and self.wanted != "mean":
            return second_moment(room, self.words, (self.value,), self.per, self._turned)
        found = self._range_and_cap(room)
        if found is None:
            return self.unknown(room, self.words)
        low, high, cap, allowance = found
        (sums,) = room.ask(Moments(self.value, low, high, self.degree, cap))
        top = RESOLUTION**self.degree * (cap or 1)
        law, noise = noisy_vector(sums, allowance, top)
        notes = () if cap is None else (f"A person with more than {cap:,} rows counts as {cap:,}.",)
        return self.answer(room, self.words, (low, high), room.draw(law), noise, notes)

    def unknown(self, room: Room, words: str) -> Answer:
        """The answer where too few persons show a range."""
        return room.answer(
            words,
            None,
            mechanism="threshold scans for the range",
            per=self.per,
            notes=("Too few persons to find a range of values, so nothing can be said.",),
        )

    def answer(
        self, room: Room, words: str, ends: tuple[int, int], sums: tuple[int, ...], noise: Noise, notes: tuple[str, ...]
    ) -> Answer:
        """The answer that noisy sums over a range give."""
        unit = float(self.value.unit)
        low, high = (end * unit for end in ends)
        spread = self._spread(sums, noise, low, high)
        return room.answer(
            words,
            spread.value,
            mechanism="threshold scans for the range, then noisy sums of its parts",
            spread=spread,
            per=self.per,
            unit=REAL,
            notes=(f"Values below {show(low)} and above {show(high)} count as these.", *notes),
        )

    def _range_and_cap(self, room: Room) -> tuple[int, int, int | None, Allowance] | None:
        each, rest = room.allowance.share(RANGE_SHARE), Fraction(1)
        requests: list[Request[Any]] = []
        if self.range is None:
            requests += range_requests(self.value, each)
            rest -= 2 * RANGE_SHARE
        if self.per == "row":
            requests.append(TotalBuckets(RowCount(self.value.expression), ROW_LEVELS))
            rest -= CAP_SHARE
        results = list(room.ask(*requests)) if requests else []
        ends = self.range or draw_range(room, results.pop(0), results.pop(0), each)
        cap = None
        if self.per == "row":
            counts = [bucket.count for bucket in results[0].positive]
            cap = choose_cap(room, ROW_LEVELS, counts, room.allowance.share(CAP_SHARE))
        return None if ends is None else (*ends, cap, room.allowance.share(rest))

    def _spread(self, sums: tuple[int, ...], noise: Noise, low: float, high: float) -> Share | Variance:
        if self.wanted == "mean":
            return Share(sums[0], sums[1], noise, noise, low, high, "capped value")
        return Variance((sums[0], sums[1], sums[2]), noise, high - low, self.wanted == "standard deviation")


@dataclass(frozen=True)
class GroupedMoments(Each, tag="GroupedMoments"):
    """Mean, variance or standard deviation of each group."""

    rereads = True

    def release(self, room: Room) -> Answers:
        """A range for each group and a cap for all; then, in two further rounds, noisy sums of the groups with one."""
        asked, groups = cast(Moment, self.statistic), self.groups
        if asked.range is None and asked.wanted != "mean":
            return grouped_moments(room, asked.words, asked.value, groups, self.per, asked._turned)
        ends, rest = self._ranges(room), 1 - CAP_SHARE - (0 if asked.range else 2 * RANGE_SHARE)
        entry = HasValue(asked.value.expression) if self.per == "person" else RowCount(asked.value.expression)
        (norms,) = room.ask(GroupNorms(entry, groups.by, groups.keys, "l1", ROW_LEVELS))
        cap = choose_cap(room, ROW_LEVELS, norms, room.allowance.share(CAP_SHARE))
        known = {place: found for place, found in enumerate(ends) if found is not None}
        words = [f"{asked.words} where {groups.name} is {label}" for label in groups.labels]
        answers = {label: asked.unknown(room, words[place]) for place, label in enumerate(groups.labels)}
        if known:
            what = "groups" if self.per == "person" else "rows"
            notes = (f"A person with more than {cap:,} {what} counts as {cap:,}.",)
            keys, ranges = tuple(groups.keys[place] for place in known), tuple(known.values())
            asking = GroupMoments(asked.value, groups.by, keys, ranges, asked.degree, cap, self.per == "person")
            allowance = room.allowance.share(Fraction(rest))
            with room.second(allowance.guarantee) as second:
                (sums,) = second.ask(asking)
            parts = 1 + asked.degree
            law, noise = noisy_vector(
                [part for each in sums for part in each], allowance, RESOLUTION**asked.degree * cap
            )
            drawn = room.draw(law)
            for at, place in enumerate(known):
                mine = drawn[parts * at : parts * (at + 1)]
                answers[groups.labels[place]] = asked.answer(room, words[place], ranges[at], mine, noise, notes)
        return Answers(answers, room.cost, groups.name)

    def _ranges(self, room: Room) -> Sequence[tuple[int, int] | None]:
        """A range for each group, where enough persons show one; a public one is the same for all."""
        asked, groups = cast(Moment, self.statistic), self.groups
        if asked.range is not None:
            return [asked.range] * len(groups.keys)
        each = room.allowance.share(RANGE_SHARE)
        low, high = (End(asked.value, _SCALE, largest, each, groups) for largest in (False, True))
        found = room.weigh(low.request(high))
        return list(map(_range, low.draw(room, found), high.draw(room, found, place=1)))


class AsksVariance(Asking[AnswerT]):
    """Variance and standard deviation of a column."""

    _entries: ClassVar[tuple[Entry, ...]] = (
        Entry(
            Moment,
            "variance",
            "variance",
            sql=dict.fromkeys(("Variance", "VariancePop"), lambda call: Moment.of(call.column, "variance")),
            made=Made("VAR_POP(value)", lambda column: Moment.of(column("value"), "variance"), draws=20, planned=False),
            audited=(
                Audited("variance", Pure(4), lambda t, **c: t.variance("value", **c), slow=True),
                Audited(
                    "variance by group",
                    Pure(4),
                    lambda t, **c: t.group_by("group", keys=["x", "y"]).variance("value", range=(-8, 8), **c),
                ),
            ),
        ),
        Entry(
            Moment,
            "standard deviation",
            "std",
            sql=dict.fromkeys(
                ("Stddev", "StddevPop", "StddevSamp"), lambda call: Moment.of(call.column, "standard deviation")
            ),
            made=Made(
                "STDDEV_POP(value)",
                lambda column: Moment.of(column("value"), "standard deviation"),
                draws=20,
                planned=False,
            ),
            audited=(
                Audited(
                    "standard deviation per person",
                    Pure(4),
                    lambda t, **c: t.std("value", per="person", **c),
                    slow=True,
                ),
            ),
        ),
    )

    def variance(
        self, column: str, *, per: Per = "row", range: tuple[Number, Number] | None = None,
        epsilon: Amount = None, delta: Amount = None, rho: Amount = None, fresh: bool = False,
    ) -> AnswerT:  # fmt: skip
        """The variance over rows, or over persons of their means: the population's, with n below the line.

        Args:
            column, per, range: as for `mean`.
            epsilon, delta, rho: what the answer may cost: ε, or ε with δ, or ρ.
            fresh: ask and pay again even if the same was answered before.

        >>> orders.variance("amount", epsilon=4)
        Answer(variance of amount: ..., Pure(4))
        """
        asked = Moment.of(self._operand(column), "variance", per=per, range=range)
        return self._one(asked, epsilon, delta, rho, fresh)

    def std(
        self, column: str, *, per: Per = "row", range: tuple[Number, Number] | None = None,
        epsilon: Amount = None, delta: Amount = None, rho: Amount = None, fresh: bool = False,
    ) -> AnswerT:  # fmt: skip
        """The standard deviation over rows, or over persons of their means.

        Args:
            column, per, range, epsilon, delta, rho, fresh: as for `variance`.

        >>> orders.std("amount", epsilon=4)
        Answer(standard deviation of amount: ..., Pure(4))
        """
        asked = Moment.of(self._operand(column), "standard deviation", per=per, range=range)
        return self._one(asked, epsilon, delta, rho, fresh)
