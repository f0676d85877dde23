"""The most frequent of some given values; without a list of them, see `leading`.

A person raises the count of each candidate by 0 or 1 (per row: by at most λ rows, a privately chosen cap, divided
out), and never lowers one. So the loss "how far a candidate's count stays behind the best" may be chosen by with the
one-directional constant: what matters are differences of counts, and those of B − count for any fixed B only fall
when a person joins. `top` takes the best, removes it and goes on, each time for its part of the cost.

BY GROUP  A person's rows over all groups and candidates are scaled to λ together (per person: one for each candidate
they have in a group). What they add to a group's candidates is then at most their part of λ there, never less than
nothing, so the choices of all groups together cost what one costs (`tacit.mechanisms.together`).

WHICH CHOICE  For ε permute-and-flip, never worse than the exponential mechanism at the same ε. For ρ the exponential
mechanism, whose range is bounded: it has twice the ε that permute-and-flip would have. In groups, its log ratios lie in
an interval of length ε·w for a person's part w of λ there, and intervals of independent choices add up. Of ε with δ
the ρ is spent where k choices have √(3/2) times the ε by it that they have by ε, from 8 of them on at (1, 10^-6). Over
four shapes and 200 to 20,000 persons the rows missed are then 0.9 times as many at most, and half of them often.

OTHER CHOICES  ``method=`` names the choice. By "noisy_max" the largest count with Laplace noise wins: never better than
permute-and-flip, but what other libraries do. By "gap_max" the first is named if it is ahead of the second by more than
noise could make it (`tacit.mechanisms.choose.stable_argmin`, for ε with δ): it is the first then with certainty, and a
lead that is too small is refused, which is a released and paid answer without a value. `top` stops at a refusal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, cast

from tacit.answers import Answer, Answers
from tacit.curves import StepLoss
from tacit.engines.requests import LARGEST_ANSWER, GroupNorms, GroupTotals, Presence, RowCount
from tacit.errors import InvalidInput
from tacit.grids import integers
from tacit.guarantees import Approx, Guarantee, Pure
from tacit.mechanisms.choose.exponential import exponential
from tacit.mechanisms.choose.noisy_max import noisy_max
from tacit.mechanisms.choose.permute_and_flip import permute_and_flip
from tacit.mechanisms.choose.stable_argmin import stable_argmin
from tacit.mechanisms.law import Law
from tacit.mechanisms.together import Together
from tacit.numbers.exact import whole
from tacit.tables.releasing.room import Allowance, Room
from tacit.tables.statistics.asking import Amount, AnswerT, Asking, Audited, Entry
from tacit.tables.statistics.base import Methods, Operand, Per, Statistic, check_delta, check_method, per_of
from tacit.tables.statistics.leading import StableMode
from tacit.tables.statistics.ways.caps import choose_cap, levels
from tacit.tables.statistics.ways.each import Each
from tacit.tables.statistics.ways.groups import Groups
from tacit.tables.statistics.ways.groups import candidates as given_values
from tacit.tables.statistics.ways.vectors import FINE

MOST = 4096
"""The most candidates one question may have."""

STEPS = levels(2**40)
"""Caps on one person's rows for one candidate."""

FLIP = Fraction(2, 3)
"""What a choice by permute-and-flip is worth, where choices are counted: it does with four fifths of the ε."""

CAP_SHARE = Fraction(1, 5)
"""What the choice of that cap takes of the cost."""

XY = ["x", "y"]
"""Candidates of the small tables of the audit."""

REFUSED = "The test refused: no candidate that is left is clearly ahead. The refusal is the answer."


METHODS: Methods = {
    "permute_and_flip": "permute-and-flip, the default for ε",
    "exponential": "the exponential mechanism, the default for ρ",
    "noisy_max": "the largest of the counts, each with Laplace noise",
    "gap_max": "the largest of the counts if it is clearly ahead, else a refusal; needs δ",
}
"""How a candidate is chosen."""

NAMES = {"gap_max": "gap-max", "noisy_max": "noisy max", "exponential": "exponential mechanism"}
"""Those that are not called as they are written, without underlines."""


def behind(counts: Sequence[int]) -> StepLoss:
    """How far each candidate's count stays behind the best: what a person changes of that, goes one way."""
    best = max(counts)
    return StepLoss.from_losses(integers(0, len(counts) - 1), [best - count for count in counts], one_directional=True)


def choice_law(counts: Sequence[int], allowance: Allowance, unit: int = 1, method: str | None = None) -> Law[Any]:
    """The law of the index of a frequent candidate, for counts of which one person moves each by ``unit`` at most."""
    loss = behind(counts)
    if method == "noisy_max":
        return noisy_max(loss, allowance.epsilon / unit, "laplace")
    if method == "permute_and_flip" or not (allowance.concentrated or method):
        return permute_and_flip(loss, allowance.epsilon / unit)
    if allowance.concentrated:
        return exponential(loss, rho=allowance.amount / unit**2)
    return exponential(loss, allowance.amount / unit)


@dataclass(frozen=True)
class Frequent(Statistic, tag="Frequent", sampled="itself"):
    """The most frequent candidates."""

    groups: Groups
    k: int = 1
    single: bool = True
    per: Per = "row"
    method: str | None = field(default=None, metadata={"later": True})

    def __post_init__(self) -> None:
        check_method(self.method, METHODS)
        object.__setattr__(self, "k", whole(self.k, "k"))
        if not 1 <= self.k <= len(self.groups.keys) <= MOST:
            raise InvalidInput(f"k must lie between 1 and the number of candidates, which may be at most {MOST}.")

    @property
    def key(self) -> str:
        """One, or several."""
        return "mode" if self.single else "top"

    @property
    def words(self) -> str:
        """One, or how many."""
        name = self.groups.name
        return f"most frequent {name}" if self.k == 1 else f"{self.k} most frequent values of {name}"

    def grouped(self, groups: Groups) -> Statistic:
        """The most frequent candidates of each group, by shared weight."""
        return super().grouped(groups) if self.method else GroupedModes(self, groups, self.per)

    def check(self, cost: Guarantee) -> None:
        """A lead that is tested needs δ."""
        if self.method == "gap_max":
            check_delta(cost, "method 'gap_max' needs", "leave method out")
        super().check(cost)

    def release(self, room: Room) -> Answer | Answers:
        """Counts of the candidates, and one choice after the other, until one is refused."""
        tested = self.method == "gap_max"
        allowance = Allowance(_epsilon(room.cost), False) if tested else room.allow(choices=FLIP * self.k)
        cap, groups, entry = 1, self.groups, Presence() if self.per == "person" else RowCount()
        if self.per == "row":
            (norms,) = room.ask(GroupNorms(entry, groups.by, groups.keys, "max", STEPS))
            cap = choose_cap(room, STEPS, norms, allowance.share(CAP_SHARE))
            allowance = allowance.share(1 - CAP_SHARE)
        (totals,) = room.ask(GroupTotals(entry, groups.by, groups.keys, "max", cap))
        left = {i: total // cap for i, total in enumerate(totals)}
        each = allowance.share(Fraction(1, self.k))
        chosen: list[int | None] = []
        for _ in range(self.k):
            indices, counts = list(left), list(left.values())
            found = room.draw(self._tested(room, counts, each) if tested else choice_law(counts, each, 1, self.method))
            if found is None:
                break
            chosen.append(indices[int(found)])
            del left[indices[int(found)]]
        ranks = enumerate(chosen + [None] * (self.k - len(chosen)), 1)
        answers = {
            rank: self.answer(room, self.title(rank), None if i is None else groups.labels[i]) for rank, i in ranks
        }
        return answers[1] if self.single else Answers(answers, room.cost, "rank")

    def _tested(self, room: Room, counts: Sequence[int], each: Allowance) -> Law[Any]:
        assert isinstance(room.cost, Approx)
        return stable_argmin(behind(counts), each.amount, room.cost.delta / self.k)

    def title(self, rank: int) -> str:
        """What one of them is called."""
        return f"{'' if rank == 1 else f'number {rank} of the '}most frequent {self.groups.name}"

    def answer(self, room: Room, words: str, label: Any) -> Answer:
        """The answer that names one of the candidates."""
        method = self.method or ("exponential" if room.allowance.concentrated else "permute_and_flip")
        how = NAMES.get(method, method.replace("_", "-"))
        notes = () if label is not None or method != "gap_max" else (REFUSED,)
        return room.answer(words, label, mechanism=f"{how} on the candidates' counts", per=self.per, notes=notes)


def _epsilon(cost: Guarantee) -> Fraction:
    assert isinstance(cost, Approx)
    return cost.epsilon


@dataclass(frozen=True)
class GroupedModes(Each, tag="GroupedModes"):
    """The most frequent candidates of each group."""

    def __post_init__(self) -> None:
        values = len(cast(Frequent, self.statistic).groups.keys)
        if max(1, len(self.groups.keys)) * values > LARGEST_ANSWER:
            raise InvalidInput(f"groups times candidates must be at most {LARGEST_ANSWER:,}; name fewer.")

    def release(self, room: Room) -> Answers:
        """Counts of every candidate in every group, and a choice in each."""
        asked, groups = cast(Frequent, self.statistic), self.groups
        allowance, values = room.allow(choices=FLIP * asked.k), asked.groups
        by, keys = (*groups.by, *values.by), tuple((*group, *value) for group in groups.keys for value in values.keys)
        entry = Presence() if self.per == "person" else RowCount()
        (norms,) = room.ask(GroupNorms(entry, by, keys, "l1", STEPS))
        cap = choose_cap(room, STEPS, norms, allowance.share(CAP_SHARE))
        (totals,) = room.ask(GroupTotals(entry, by, keys, "l1", cap, FINE))
        each = allowance.share((1 - CAP_SHARE) / asked.k)
        number = len(values.keys)
        left = [dict(enumerate(totals[start : start + number])) for start in range(0, len(totals), number)]
        answers: dict[Any, Answer] = {}
        for rank in range(1, asked.k + 1):
            laws = [choice_law(list(counts.values()), each, cap * FINE) for counts in left]
            law: Law[Any] = Together(laws, each.guarantee, cap * FINE)
            for label, counts, place in zip(groups.labels, left, room.draw(law), strict=True):
                chosen = list(counts)[int(place)]
                del counts[chosen]
                words = f"{asked.title(rank)} where {groups.name} is {label}"
                parts = label if isinstance(label, tuple) else (label,)
                answers[label if asked.single else (*parts, rank)] = asked.answer(room, words, values.labels[chosen])
        return Answers(answers, room.cost, groups.name if asked.single else f"{groups.name}, rank")


def mode_of(
    column: Operand, candidates: Sequence[Any] | None = None, *, per: str = "row", method: str | None = None
) -> Statistic:
    """The most frequent of the candidates, or of all values that persons have."""
    check_method(method, METHODS)
    if candidates is None:
        if method is not None:
            raise InvalidInput("method is for a mode among candidates; give candidates, or leave method out.")
        return StableMode(column.expression, column.name, per_of(per))
    return Frequent(given_values(column.expression, column.name, candidates), per=per_of(per), method=method)


def top_of(
    column: Operand, candidates: Sequence[Any], k: int, *, per: str = "row", method: str | None = None
) -> Frequent:
    """The k best of the candidates."""
    return Frequent(given_values(column.expression, column.name, candidates), k, False, per_of(per), method)


class AsksMode(Asking[AnswerT]):
    """The most frequent value, or the k most frequent ones."""

    _entries: ClassVar[tuple[Entry, ...]] = (
        Entry(
            Frequent,
            "most frequent value",
            "mode",
            methods=METHODS,
            audited=(
                Audited("mode", Pure(4), lambda t, **c: t.mode("group", XY, **c)),
                Audited(
                    "mode by group",
                    Pure(4),
                    lambda t, **c: t.group_by("group", keys=XY).mode("value", [3, -4, 100], **c),
                ),
                Audited("mode by noisy max", Pure(4), lambda t, **c: t.mode("group", XY, method="noisy_max", **c)),
                Audited("mode by gap-max", Approx(4, "0.2"), lambda t, **c: t.mode("group", XY, method="gap_max", **c)),
                Audited("mode found", Approx(4, "0.2"), lambda t, **c: t.mode("group", per="person", **c)),
            ),
        ),
        Entry(
            Frequent,
            "most frequent values",
            "top",
            methods=METHODS,
            audited=(
                Audited("top", Pure(4), lambda t, **c: t.top("group", ["x", "y", "z"], 2, **c)),
                Audited(
                    "top by gap-max",
                    Approx(4, "0.2"),
                    lambda t, **c: t.top("group", [*XY, "z"], 2, method="gap_max", **c),
                ),
            ),
        ),
    )

    def mode(
        self, column: str, candidates: Sequence[Any] | None = None, *, per: Per = "row", method: str | None = None,
        epsilon: Amount = None, delta: Amount = None, rho: Amount = None, fresh: bool = False,
    ) -> AnswerT:  # fmt: skip
        """The most frequent of some given values.

        Without candidates, the most frequent value of all if it is clearly ahead; this needs δ.

        Args:
            column: a column, or a SQL expression of columns.
            candidates: the values to choose from; without them per must be "person" and δ be given.
            per: "row", or "person" to count each person once for each of their values.
            method: among candidates, "permute_and_flip" (default), "exponential" (default with ρ), "noisy_max", or with
                δ "gap_max", which names the first for sure or refuses.
            epsilon, delta, rho: what the answer may cost: ε, or ε with δ, or ρ.
            fresh: ask and pay again even if the same was answered before.

        >>> orders.mode("region", ["north", "south"], epsilon=4)
        Answer(most frequent region: ..., Pure(4))
        """
        asked = mode_of(self._operand(column), candidates, per=per, method=method)
        return self._one(asked, epsilon, delta, rho, fresh)

    def top(
        self, column: str, candidates: Sequence[Any], k: int, *, per: Per = "row", method: str | None = None,
        epsilon: Amount = None, delta: Amount = None, rho: Amount = None, fresh: bool = False,
    ) -> Answers:  # fmt: skip
        """The k most frequent of some given values, the best first.

        Args:
            column: a column, or a SQL expression of columns.
            candidates: the values to choose from.
            k: how many of them.
            per: "row", or "person" to count each person once for each of their values.
            method: as for `mode`; "gap_max" names them as long as each is clearly ahead of the next.
            epsilon, delta, rho: what the answer may cost: ε, or ε with δ, or ρ.
            fresh: ask and pay again even if the same was answered before.

        >>> orders.top("region", ["north", "south", "east"], 2, epsilon=4)
        Answers({1: ..., 2: ...}, Pure(4))
        """
        asked = top_of(self._operand(column), candidates, k, per=per, method=method)
        return self._many(asked, epsilon, delta, rho, fresh)
