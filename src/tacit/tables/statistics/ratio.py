"""The share of persons with at least one true value.

Each person belongs to exactly one of two counts, those with a true row and those without, so the pair has
ℓ1-sensitivity 1 and each count gets noise at the full ε (or ρ). The share a/(a+z) is post-processing.

BY GROUP  A person is on one side in each of their m groups and counts there for min(1, κ/m), κ chosen privately. All
counts of all groups together move by at most κ when a person joins or leaves, so each gets noise for κ.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import isqrt
from typing import ClassVar, cast

from tacit.answers import Answer, Answers
from tacit.answers.quotients import Share
from tacit.engines.requests import FINE, FlagCounts, Flags, GroupFlags, GroupNorms, Presence
from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Guarantee, Pure
from tacit.language.expressions import Expression
from tacit.mechanisms.law import Law
from tacit.mechanisms.totals.ratio import ratio
from tacit.mechanisms.totals.ratio_counts import Ratio as Released
from tacit.numbers.exact import REAL, Number, between
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.asking import Amount, AnswerT, Asking, Audited, Entry, Made
from tacit.tables.statistics.base import Methods, Operand, Per, Statistic, check_method, noisy_vector
from tacit.tables.statistics.ways.caps import ROW_LEVELS
from tacit.tables.statistics.ways.each import Each
from tacit.tables.statistics.ways.groups import Groups
from tacit.tables.statistics.ways.vectors import choose_norm

METHODS: Methods = {
    "two_counts": "the share of two noisy counts of different persons",
    "naive": "both counts with noise of half the cost each",
    "local": "noise for how far the share moves near the data; needs δ",
    "staircase": "the same with staircase noise, which is smaller for ε above 1; needs δ",
    "automatic": "whichever of two_counts and local should be better; needs δ",
}
"""The methods of `tacit.mechanisms.totals.ratio`."""


BOUNDED = ("local", "staircase", "automatic")
"""Those that spend a part of ε on a bound."""

REPLACED = ", also against being replaced by any other"


@dataclass(frozen=True)
class Ratio(Statistic, tag="Ratio", phrase="share of persons with {name}", sampled="itself"):
    """Persons with at least one true row, over all persons."""

    condition: Expression
    name: str
    per: Per = "person"
    method: str | None = None
    """Another method of `tacit.mechanisms.totals.ratio`; None is the default of two noisy counts."""
    replacement: bool = field(default=False, metadata={"later": True})
    """Whether a person is protected against being replaced by another too."""
    bound_share: Fraction | None = field(default=None, metadata={"later": True})
    """The part of ε that a bound on the local sensitivity takes, where one is made."""
    key = "ratio"

    @classmethod
    def of(
        cls,
        condition: Operand,
        *,
        method: str | None = None,
        replacement: bool = False,
        bound_share: Number | None = None,
    ) -> Ratio:
        """Of persons for whom a condition is ever true."""
        share = None if bound_share is None else between(bound_share, "bound_share", 0, 1)
        return cls(condition.expression, condition.name, "person", method, bool(replacement), share)

    def __post_init__(self) -> None:
        check_method(self.method, METHODS)
        if self.bound_share is not None and self.method not in BOUNDED:
            raise InvalidInput(f"bound_share goes with method {', '.join(BOUNDED)}; leave it out.")
        Flags(self.condition)  # refuses what is not true or false

    def release(self, room: Room) -> Answer:
        """Two noisy counts and their share."""
        (flags,) = room.ask(Flags(self.condition))
        assert isinstance(flags, FlagCounts)
        if self.method not in (None, "two_counts"):
            return self._other(room, flags)
        law, noise = noisy_vector((flags.false, flags.true), room.allowance, 2 if self.replacement else 1)
        without, with_ = room.draw(law)
        spread = Share(without, with_, noise, noise)
        answer = room.answer(
            self.words,
            spread.value,
            mechanism="two noisy counts of disjoint persons, and their share",
            spread=spread,
            per=self.per,
            unit=REAL,
        )
        return self._told(answer)

    def _told(self, answer: Answer) -> Answer:
        """Who is protected against what."""
        return replace(answer, protected=answer.protected + REPLACED) if self.replacement else answer

    def grouped(self, groups: Groups) -> Statistic:
        """The share of each group's persons, from two counts."""
        counted = self.method in (None, "two_counts") and not self.replacement
        return GroupedRatios(self, groups, "person") if counted else super().grouped(groups)

    def check(self, cost: Guarantee) -> None:
        """Refuse a method that does not fit the cost."""
        super().check(cost)
        if self.method not in (None, "two_counts"):
            self._law(cost, FlagCounts(0, 0))

    def _law(self, cost: Guarantee, flags: FlagCounts) -> Law[Released]:
        stairs, persons = self.method == "staircase", flags.true + flags.false
        method = "local" if stairs else self.method
        match cost:
            case Pure(epsilon):
                return ratio(flags.true, persons, epsilon, method=method, replacement=self.replacement)
            case Approx(epsilon, delta):
                known = {"replacement": self.replacement, "bound_share": self.bound_share, "staircase": stairs}
                return ratio(flags.true, persons, epsilon, delta, method=method, **known)  # type: ignore[arg-type]
        raise InvalidInput("this method of a ratio costs epsilon, or epsilon with delta; use two_counts with rho.")

    def _other(self, room: Room, flags: FlagCounts) -> Answer:
        """A share by a method that states no interval of its own."""
        drawn = room.draw(self._law(room.cost, flags))
        stairs = " with staircase noise" if self.method == "staircase" and drawn.method == "local" else ""
        answer = room.answer(
            self.words, float(drawn.value), mechanism=f"ratio by {drawn.method}{stairs}", per=self.per, unit=REAL
        )
        return self._told(answer)


@dataclass(frozen=True)
class GroupedRatios(Each, tag="GroupedRatios"):
    """The share of each group's persons with a true row there."""

    def release(self, room: Room) -> Answers:
        """A cap on one person's groups, then two noisy counts for each group."""
        asked, groups, allowance = cast(Ratio, self.statistic), self.groups, room.allowance
        (norms,) = room.ask(GroupNorms(Presence(), groups.by, groups.keys, "l1", ROW_LEVELS))
        cap, rest = choose_norm(room, ROW_LEVELS, norms, 2 * len(groups.keys), allowance, counted=True)
        (counts,) = room.ask(GroupFlags(asked.condition, groups.by, groups.keys, cap))
        # A person counts in n groups, in each for min(1, κ/n): κ in all, and √κ in ℓ2 norm at most.
        moved = 1 + isqrt(cap * FINE**2 - 1) if rest.concentrated else cap * FINE
        law, noise = noisy_vector(counts, rest, moved)
        drawn, number = room.draw(law), len(groups.keys)
        answers = {}
        for label, without, with_ in zip(groups.labels, drawn[:number], drawn[number:], strict=True):
            spread = Share(without, with_, noise, noise, covers="capped value")
            answers[label] = room.answer(
                f"{asked.words} where {groups.name} is {label}",
                spread.value,
                mechanism="two noisy counts of disjoint persons for each group, and their share",
                spread=spread,
                per=self.per,
                unit=REAL,
                notes=(f"A person in more than {cap:,} groups counts for less in each.",),
            )
        return Answers(answers, room.cost, groups.name)


class AsksRatio(Asking[AnswerT]):
    """The share of persons with a true value."""

    _entries: ClassVar[tuple[Entry, ...]] = (
        Entry(
            Ratio,
            "share of persons",
            methods=METHODS,
            made=Made("AVG(CASE WHEN flag THEN 1.0 ELSE 0.0 END)", lambda column: Ratio.of(column("flag"))),
            audited=(
                Audited("ratio", Pure(1), lambda t, **c: t.ratio("flag", **c)),
                Audited("ratio, replaced", Pure(1), lambda t, **c: t.ratio("flag", replacement=True, **c)),
                Audited(
                    "ratio by group", Pure(4), lambda t, **c: t.group_by("group", keys=["x", "y"]).ratio("flag", **c)
                ),
            ),
        ),
    )

    def ratio(
        self, column: str, *, method: str | None = None, replacement: bool = False, bound_share: Amount = None,
        epsilon: Amount = None, delta: Amount = None, rho: Amount = None, fresh: bool = False,
    ) -> AnswerT:  # fmt: skip
        """The share of persons with at least one true value of a column or condition.

        Args:
            column: a true-or-false column, or a SQL condition.
            method: "two_counts" (default), "naive", or with δ "local", "staircase" or "automatic".
            replacement: whether a person is protected against being replaced by another too, for about twice the noise.
            bound_share: the part of ε that the latter three spend on a bound of the share's local sensitivity; a
                twentieth unless given.
            epsilon, delta, rho: what the answer may cost: ε, or ε with δ, or ρ.
            fresh: ask and pay again even if the same was answered before.

        >>> orders.ratio("amount > 50", epsilon=0.5)
        Answer(share of persons with amount > 50: ..., Pure(0.5))
        """
        asked = Ratio.of(self._operand(column), method=method, replacement=replacement, bound_share=bound_share)
        return self._one(asked, epsilon, delta, rho, fresh)
