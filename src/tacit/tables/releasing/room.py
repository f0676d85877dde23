"""The trusted room in which one statistic is answered: it asks the engine, draws from laws and counts what it spends.

Everything an answer shows is made from what `draw` returned and from public facts. So the privacy of a statistic is the
privacy of its draws, one after the other, each allowed to depend on those before: adaptive composition. Draws for
disjoint sets of persons cost as much as the dearest of them: parallel composition. Such a set is a ``part``: the name
of a division of the persons and one character for the side of it, as in "sum+" and "sum-". Divisions may cut across
each other, so what they cost adds up.

WHAT IT MAY SPEND. ``epsilon=`` means pure mechanisms (Laplace noise), ``rho=`` Gaussian noise under zCDP. A step that
has a curve of its own is paid by it: a choice of bounded range (the exponential mechanism, cuts) takes ε = √(8ρ) for a
share ρ, a search by Gaussian looks the share itself. What is pure and nothing else (a scan, permute-and-flip) takes the
largest ε with ε·tanh(ε/2) ≤ ρ.

``epsilon=, delta=`` may be spent either way: as ε, for Pure(ε) is within (ε, δ), or as the largest ρ whose tight
conversion is. `Allowance.of` decides from ε, δ and how many noises or choices the statistic makes, public facts all, so
that a δ never makes an answer worse: as ε, unless ρ is better by whatever measure. Where m noises fall on what one
person may move, ε divides by m and ρ by √m: Laplace noise has the variance 2m²/ε², Gaussian noise m/(2ρ). At equal
variance half of Laplace noise lies within 0.49 standard deviations and half of Gaussian noise within 0.67, so ρ is
spent from 2mρ ≥ ε² on, where Gaussian noise has at most half of the variance. Of k choices each has ε/k, or √(8ρ/k): ρ
is spent from 8kρ > ε² on.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeVar

from tacit.answers import Answer
from tacit.answers.spreads import Spread
from tacit.answers.values import Value
from tacit.engines import Engine, Opening, Snapshot
from tacit.engines.requests import (
    MAX_ROWS,
    Blocks,
    Incidence,
    Relation,
    Request,
    Touches,
    WeighedRows,
    WeighedValues,
)
from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Guarantee, Pure, Zcdp
from tacit.language.expressions import Expression, Literal
from tacit.mechanisms.choose.exponential import epsilon_within
from tacit.mechanisms.law import Law
from tacit.numbers.exact import WHOLE, Number, Unit, positive
from tacit.progress import doing
from tacit.randomness import Randomness
from tacit.tables.releasing.certifying import Drawn

if TYPE_CHECKING:
    import pyarrow as pa

LEAST = Fraction(1, 10**20)
"""The least ε of a question: below that noise drowns 64-bit sums of everybody alive."""

MOST = 10**6
"""The largest ε or ρ of a question: exact arithmetic would only grow, and there is no privacy to lose any more."""


def cost_of(epsilon: Number | None = None, delta: Number | None = None, rho: Number | None = None) -> Guarantee:
    """The guarantee that an analyst names as ε, as ε with δ, or as ρ."""
    for name, amount, least in (("epsilon", epsilon, LEAST), ("rho", rho, LEAST**2)):
        if amount is not None and not least <= positive(amount, name) <= MOST:
            raise InvalidInput(
                f"{name} must lie between {float(least):g} and {MOST:g}; an answer outside is useless or not private."
            )
    if rho is not None:
        if epsilon is not None or delta is not None:
            raise InvalidInput("give either rho= or epsilon= (with delta= if wanted), not both.")
    elif epsilon is None:
        raise InvalidInput("name what the answer may cost: epsilon=0.5, or rho=0.01, or epsilon=0.5, delta=1e-6.")
    return Guarantee.of(epsilon=epsilon, delta=delta, rho=rho)


@dataclass(frozen=True)
class Allowance:
    """What a statistic may spend on its steps: ε of pure privacy or ρ of concentrated privacy."""

    amount: Fraction
    concentrated: bool

    @classmethod
    def of(cls, cost: Guarantee, *, noises: int = 1, choices: Fraction | int = 1) -> Allowance:
        """The allowance that a cost buys; of ε with δ, that which serves so many noises, or so many choices, better."""
        match cost:
            case Pure(epsilon):
                return cls(epsilon, concentrated=False)
            case Zcdp(rho):
                return cls(rho, concentrated=True)
            case Approx(epsilon, _):
                rho = Zcdp.within(cost).rho
                smaller = 2 * noises * rho >= epsilon**2 or (choices > 1 and 8 * choices * rho > epsilon**2)
                return cls(rho, concentrated=True) if smaller else cls(epsilon, concentrated=False)
        raise InvalidInput("a question costs epsilon, rho, or epsilon with delta; convert other guarantees first.")

    def share(self, part: Fraction) -> Allowance:
        """A part of it."""
        return Allowance(self.amount * part, self.concentrated)

    @property
    def epsilon(self) -> Fraction:
        """The ε of a pure step that this pays for, where the step has no better curve."""
        return Pure.within(Zcdp(self.amount)).epsilon if self.concentrated else self.amount

    @property
    def choosing(self) -> Fraction:
        """The ε of a choice of bounded range that this pays for."""
        return epsilon_within(self.amount) if self.concentrated else self.amount

    @property
    def keywords(self) -> dict[str, Any]:
        """How a mechanism that has a curve of its own is told: epsilon= or rho=."""
        return {"rho" if self.concentrated else "epsilon": self.amount}

    @property
    def guarantee(self) -> Guarantee:
        """The promise of a step that uses all of it."""
        return Zcdp(self.amount) if self.concentrated else Pure(self.amount)


T = TypeVar("T")

Keys = Sequence[tuple[Literal, ...]]
MostGroups = Callable[[Relation, Sequence[Expression], Keys], int]
"""In how many groups of a relation one person can have rows, as far as public facts tell."""


class Desk:
    """Where laws are drawn from, what was drawn is noted, and what it costs is added up."""

    def __init__(self, source: Randomness, cost: Guarantee, protected: str) -> None:
        self._source = source
        self.cost = self._spendable = cost
        """What the whole answer costs: the guarantee it states."""
        self.protected = protected
        """Who is protected."""
        self._spent: dict[str, list[Guarantee]] = {}
        self.drawn: list[Drawn] = []
        """What was drawn, in order, for the certificate."""

    @cached_property
    def allowance(self) -> Allowance:
        """What the draws in this room may spend of the cost."""
        return Allowance.of(self._spendable)

    @property
    def delta(self) -> Fraction:
        """The δ that a draw in this room may use."""
        return self._spendable.delta if isinstance(self._spendable, Approx) else Fraction(0)

    @property
    def rho(self) -> Fraction:
        """The ρ that all draws in this room may use where they are charged as ρ."""
        return Zcdp.within(self._spendable).rho

    @property
    def private(self) -> bool:
        """Whether the source of its draws is a true one; a seeded one protects nobody."""
        return self._source.private

    def allow(self, *, noises: int = 1, choices: Fraction | int = 1) -> Allowance:
        """What all draws of this room may spend, which make so many noises, or so many choices: public facts."""
        self.allowance = Allowance.of(self._spendable, noises=noises, choices=choices)
        return self.allowance

    def turn(self) -> Allowance:
        """What is left of the ρ that ε with δ buys, for all further draws, which are charged as ρ from here on.

        Whether to turn may depend on what was drawn: on paths that do not, the ε add up to ε, on those that do the ρ of
        all draws add up to that ρ, and the two kinds of paths together are within (ε, δ) (`tacit.budgets.filters`).
        """
        self.allowance = Allowance(self.rho, concentrated=True)
        return Allowance(self.allowance.amount - self._total(_rho)[0], concentrated=True)

    def draw(self, law: Law[T], part: str = "") -> T:
        """One draw, its guarantee added to what is spent on the part (the empty part is everybody)."""
        self._spent.setdefault(part, []).append(law.guarantee)
        with doing("drawing the answer"):
            value: T = law._draw(self._source)
        self.drawn.append(Drawn.of(part, law, value))
        return value

    @property
    def spent(self) -> Guarantee:
        """What the draws so far promise together: sums of (ε, δ) where a draw needs δ, else in the allowance's kind."""
        drawn = [guarantee for part in self._spent.values() for guarantee in part]
        if any(isinstance(guarantee, Approx) for guarantee in drawn):
            return Approx(*self._total(_with_delta))
        return Zcdp(*self._total(_rho)) if self.allowance.concentrated else Pure(*self._total(_epsilon))

    def _total(self, amounts: Callable[[Guarantee], tuple[Fraction, ...]]) -> tuple[Fraction, ...]:
        """The sum over everybody's draws and the dearest part of each division."""
        sums = {part: _added(map(amounts, drawn)) for part, drawn in self._spent.items()}
        return _added(tuple(map(max, zip(*parts, strict=True))) for parts in by_division(sums).values())

    def answer(
        self,
        statistic: str,
        value: Value,
        *,
        mechanism: str,
        spread: Spread | None = None,
        per: str = "row",
        unit: Unit = WHOLE,
        cap: Value = None,
        notes: tuple[str, ...] = (),
    ) -> Answer:
        """An answer with the facts of this room filled in."""
        return Answer(
            statistic=statistic,
            value=value,
            guarantee=self.cost,
            mechanism=mechanism,
            protected=self.protected,
            per="person" if per == "person" else "row",
            unit=str(unit),
            spread=spread,
            cap=cap,
            notes=notes,
            private=self.private,
        )


class Room(Desk):
    """What a statistic may do with the data."""

    def __init__(
        self,
        engine: Engine,
        snapshot: Snapshot,
        relation: Relation,
        source: Randomness,
        cost: Guarantee,
        protected: str,
        max_rows: int = MAX_ROWS,
        most_groups: MostGroups | None = None,
        opening: Opening | None = None,
    ) -> None:
        super().__init__(source, cost, protected)
        self._opening = opening or engine.snapshot
        self._max_rows, self._most_groups = max_rows, most_groups
        self._snapshot, self._relation = snapshot, relation
        self.several = bool(relation.others)
        """Whether a row may concern several persons."""
        self.alike = self.several and len({kind for kind, _ in relation.persons}) == 1
        """Whether these are all of one kind."""

    def most_groups(self, by: Sequence[Expression], keys: Keys) -> int:
        """In how many of these groups one person can have rows, as far as public facts tell."""
        return len(keys) if self._most_groups is None else self._most_groups(self._relation, by, keys)

    def beside(self, draw: Callable[[], T]) -> T | None:
        """What is drawn to tell how far off an answer lies, and changes none; left out where the truth is known."""
        return draw()

    def once(self, what: Hashable, make: Callable[[], T]) -> T:
        """What is made of rows, made each time; where rows are made up and never change, it may be remembered."""
        return make()

    @contextmanager
    def second(self, spend: Guarantee) -> Iterator[Self]:
        """A room beside this one, with two further rounds, for a part of the cost that this one does not spend."""
        with self._opening() as snapshot:
            room = copy(self)  # what both spend adds up
            room._snapshot, room._spendable, room.allowance = snapshot, spend, Allowance.of(spend)
            yield room

    def secret(self) -> bytes:
        """Thirty-two fresh random bytes, never released."""
        return self._source.bits(256).to_bytes(32, "big")

    def ask(self, *requests: Request[Any]) -> tuple[Any, ...]:
        """One round of requests over the relation."""
        with doing("reading rows"):
            return self._snapshot.ask(self._relation, requests)

    def touches(self, request: Incidence) -> Touches:
        """Whom the rows concern, as bare numbers."""
        with doing("reading rows and whom they concern"):
            return self._snapshot.touches(self._relation, replace(request, limit=self._max_rows))

    def weigh(self, request: WeighedRows) -> WeighedValues:
        """The values of rows that weigh their part of a person."""
        return self._snapshot.weigh(self._relation, request)

    def blocks(self, request: Blocks) -> pa.Table:
        """Rows with the number of their block, for a function that runs apart."""
        return self._snapshot.blocks(self._relation, request)


def by_division(parts: Mapping[str, T]) -> dict[str | None, list[T]]:
    """What is known of each part, listed by the division that it is a side of; None is everybody."""
    found: dict[str | None, list[T]] = {}
    for part, known in parts.items():
        found.setdefault(part[:-1] if part else None, []).append(known)
    return found


def _added(vectors: Iterable[tuple[Fraction, ...]]) -> tuple[Fraction, ...]:
    return tuple(sum(axis, Fraction(0)) for axis in zip(*vectors, strict=True))


def _epsilon(guarantee: Guarantee) -> tuple[Fraction, ...]:
    return (guarantee.to(Pure).epsilon,)


def _rho(guarantee: Guarantee) -> tuple[Fraction, ...]:
    return (guarantee.to(Zcdp).rho,)


def _with_delta(guarantee: Guarantee) -> tuple[Fraction, ...]:
    if isinstance(guarantee, Approx):
        return guarantee.epsilon, guarantee.delta
    return *_epsilon(guarantee), Fraction(0)
