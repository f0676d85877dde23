"""The number of persons: moved by one when a person joins or leaves, so noise for one is enough."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt
from typing import ClassVar

from tacit.answers import Answer
from tacit.answers.spreads import Additive
from tacit.engines.requests import Flags, HasValue, Persons, Presence
from tacit.guarantees import Approx, Guarantee, Pure, Zcdp
from tacit.language import build
from tacit.language.expressions import Expression
from tacit.tables.releasing.room import Allowance, Room
from tacit.tables.statistics.asking import Amount, AnswerT, Asking, Audited, Entry, Made
from tacit.tables.statistics.base import Operand, Per, Statistic, noisy
from tacit.tables.statistics.ways.groups import Groups
from tacit.tables.statistics.ways.vectors import GroupedTotals


@dataclass(frozen=True)
class PersonCount(Statistic, tag="PersonCount", sampled="persons"):
    """How many persons have at least one row, or at least one value of a column."""

    expression: Expression | None = None
    name: str | None = None
    per: Per = "person"
    title: str = field(default="number of persons", repr=False, compare=False)
    """What each group's number is called."""
    key = "persons"

    @classmethod
    def of(cls, column: Operand | None = None, title: str = "number of persons") -> PersonCount:
        """Of all persons, or of those with a value."""
        return cls(title=title) if column is None else cls(column.expression, column.name, title=title)

    @property
    def words(self) -> str:
        """Of all, or of those with a value."""
        return "number of persons" if self.name is None else f"number of persons with {self.name}"

    def noise_std(self, cost: Guarantee) -> float:
        """That of the noise for one person, whatever the count."""
        _, noise = noisy(0, Allowance.of(cost))
        return sqrt(noise.variance)

    def grouped(self, groups: Groups) -> Statistic:
        """Persons with at least one row in each group, or at least one value there."""
        entry = Presence() if self.expression is None else HasValue(self.expression)
        return GroupedTotals(entry, self.title, groups, "person", self.key)

    def release(self, room: Room) -> Answer:
        """One count with its noise."""
        if self.expression is None:
            (count,) = room.ask(Persons())
        else:
            (flags,) = room.ask(Flags(build.negation(build.is_null(self.expression))))
            count = flags.true
        law, noise = noisy(count, room.allowance)
        return room.answer(
            self.words, room.draw(law), mechanism="noise on a count", spread=Additive(noise), per=self.per
        )


class AsksPersons(Asking[AnswerT]):
    """The number of persons."""

    _entries: ClassVar[tuple[Entry, ...]] = (
        Entry(
            PersonCount,
            "number of persons",
            sql={"CountPersons": lambda call: PersonCount.of(call.operand)},
            written="COUNT(DISTINCT {})",
            of="persons",
            made=Made("COUNT(DISTINCT person)", lambda _: PersonCount()),
            audited=(
                Audited("persons", Pure(1), lambda t, **c: t.persons(**c)),
                Audited("persons, Gaussian noise", Zcdp("0.1"), lambda t, **c: t.persons(**c)),
                Audited("persons by found group", Approx(4, "0.2"), lambda t, **c: t.group_by("group").persons(**c)),
            ),
        ),
    )

    def persons(
        self, *, epsilon: Amount = None, delta: Amount = None, rho: Amount = None, fresh: bool = False
    ) -> AnswerT:
        """How many persons have at least one row.

        Args:
            epsilon, delta, rho: what the answer may cost: ε, or ε with δ, or ρ.
            fresh: ask and pay again even if the same was answered before.

        >>> orders.persons(epsilon=0.5)
        Answer(number of persons: ..., Pure(0.5))
        """
        return self._one(PersonCount(), epsilon, delta, rho, fresh)
