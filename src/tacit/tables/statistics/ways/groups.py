"""Groups: what rows are grouped by, which keys are public, and statistics that are answered for each of them.

Keys that are not public are found in the data, for some δ:

1. A cap κ is chosen on the number of keys one person takes part in; a person with more keeps κ of them, chosen
   by a secret hash of their own.
2. Every key's number of persons gets noise and is released only above a threshold
   (`tacit.mechanisms.choose.stable_keys`): a key that a single person brings is never released, nor one of fewer
   persons than ``at_least``. Where persons have many keys and more than their number is asked, each gives their keys
   a weight that falls with how many they have, instead of keeping κ of them. Which groups are shown for certain
   follows from the noise, and the answers say it.
3. Where more than the number of persons is asked, the statistic of the found groups is then asked for the rest of
   the cost, with noise of its own, to which finding them is nothing. With ``other`` the rows of all groups that are
   not shown are one more group, so that the groups together are the whole.

ERROR  Shown keys were lucky; what that does to the interval stands in `tacit.answers.groups`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, Self, cast

from tacit.answers import Answer, Answers
from tacit.answers.groups import ShownCount
from tacit.engines.requests import KeyCounts, KeysPerPerson, KeyWeights, check_by
from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.guarantees import Approx, Guarantee, Pure
from tacit.language import build
from tacit.language.expressions import Expression, Literal
from tacit.language.types import INTEGER, Kind
from tacit.mechanisms.choose.stable_keys import StableKeys, stable_keys, weighted_keys, weights
from tacit.noises import TruncatedLaplace
from tacit.tables.releasing.room import Allowance, Room
from tacit.tables.statistics.base import Per, Statistic, check_delta
from tacit.tables.statistics.ways.caps import choose_cap, levels

MOST_KEYS = 10_000
"""The most groups one question may have, so that what comes back stays small."""


@dataclass(frozen=True)
class Groups:
    """Given groups: what rows are grouped by, and the public keys."""

    by: tuple[Expression, ...]
    keys: tuple[tuple[Literal, ...], ...]
    labels: tuple[Any, ...]
    """The keys as the analyst wrote them."""
    name: str

    def __post_init__(self) -> None:
        check_by(self.by)


DIGITS = 60
"""Digits in which keys are written: more than any exact number has, so that no two look alike."""


def written(key: Any) -> Any:
    """A key as people write it: exact decimals as Decimal."""
    if not isinstance(key, Fraction):
        return key
    with localcontext(prec=DIGITS):
        return Decimal(key.numerator) / Decimal(key.denominator)


class Grouped(Statistic, phrase="{name} by {groups.name}"):
    """A statistic for each of some groups: a frozen dataclass with a field for them."""

    groups: Groups

    @property
    def by(self) -> tuple[Expression, ...]:
        """What rows are grouped by."""
        return self.groups.by

    @property
    def counts_persons(self) -> bool:
        """Whether it is the number of persons, which finding the groups tells already."""
        return False

    def among(self, groups: Groups) -> Self:
        """The same for other groups."""
        return replace(self, groups=groups)  # type: ignore[type-var]

    @abstractmethod
    def release(self, room: Room) -> Answers:
        """An answer for each group."""


def listed(values: Iterable[Any], name: str) -> list[Any]:
    """Several values as a list; a single text is not a list of its letters."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidInput(f"{name} must list values, such as ['red', 'blue'].")
    return list(values)


def given(by: tuple[Expression, ...], names: tuple[str, ...], keys: Sequence[Any]) -> Groups:
    """Groups with public keys; each key a value, or a tuple of values for several columns."""
    if not 1 <= len(keys) <= MOST_KEYS:
        raise InvalidInput(f"keys must list 1 to {MOST_KEYS} different groups.")
    check_by(by)
    literals = []
    for key in keys:
        parts = key if len(by) > 1 else (key,)
        if not isinstance(parts, tuple | list) or len(parts) != len(by):
            raise InvalidInput("keys must hold a tuple with one value for each column grouped by.")
        literals.append(
            tuple(
                cast(Literal, build.widen(build.literal(part, "keys"), expression.type, "keys"))
                for part, expression in zip(parts, by, strict=True)
            )
        )
    if len(set(literals)) < len(literals):
        raise InvalidInput("keys must not name a group twice.")
    labels = tuple(tuple(map(_plain, key)) if isinstance(key, tuple | list) else _plain(key) for key in keys)
    return Groups(by, tuple(literals), labels, ", ".join(names))


def candidates(expression: Expression, name: str, values: Iterable[Any]) -> Groups:
    """The given values of one column."""
    return given((expression,), (name,), listed(values, "candidates"))


def _plain(part: Any) -> Any:
    """A value of NumPy as Python's own, which can be kept and compared."""
    return part.item() if hasattr(part, "item") and type(part).__module__.partition(".")[0] == "numpy" else part


KEY_LEVELS = levels(2**20)
"""Caps on keys per person."""

CAP_SHARE = Fraction(1, 10)
"""What the choice of the cap takes of ε."""

FIND_SHARE = Fraction(1, 2)
"""What finding the keys takes of ε, cap included, when more than persons is asked."""

MOST_FOUND = 10_000
"""The most found groups that are asked about: those with the largest released counts."""

MOST_OTHER = 500
"""The most of them where the rest is asked about too: each is a case that tells its rows from the rest."""

OTHER = "other"
"""What all rows of groups that are not shown are called together."""


@dataclass(frozen=True)
class Found:
    """Groups that were found, and how."""

    law: StableKeys
    released: Mapping[Any, int]
    """What was released about each key when it was looked for."""
    note: str

    @property
    def keys(self) -> list[Any]:
        """The largest first."""
        return sorted(self.released, key=lambda key: (-self.released[key], repr(key)))


@dataclass(frozen=True)
class FoundGroups(Statistic, tag="FoundGroups"):
    """A grouped statistic over keys found in the data."""

    rereads = True

    statistic: Grouped
    per: Per = "row"
    at_least: int = field(default=2, repr=False)
    """Groups of fewer persons are never shown."""
    other: bool = field(default=False, repr=False)
    """Whether the rows of groups that are not shown are answered for too, as one."""
    single: bool = field(default=False, repr=False)
    """Whether a person has one row, by public facts, and so takes part in one group: no cap is to be chosen."""

    @property
    def key(self) -> str:
        """That of what is asked."""
        return self.statistic.key

    @property
    def words(self) -> str:
        """Those of what is asked."""
        return self.statistic.words

    @property
    def by(self) -> tuple[Expression, ...]:
        """What rows are grouped by."""
        return self.statistic.by

    @property
    def core(self) -> Statistic:
        """What is asked of the groups that are found."""
        return self.statistic

    @property
    def quotient_of(self) -> tuple[Statistic, Statistic] | None:
        """Those of what is asked, over keys that are found, too."""
        parts = self.statistic.quotient_of
        if parts is None or not all(isinstance(part, Grouped) for part in parts):
            return None
        first, second = (replace(self, statistic=cast(Grouped, part)) for part in parts)
        return first, second

    def suits(self, several: bool) -> None:
        """Keys are found where a row concerns one person."""
        if several:
            raise UnsupportedQuery(
                f"Tacit does not find groups where a row concerns several persons; name those of the {self.words} with "
                "keys=, with IN, or by a public table."
            )

    @property
    def of_single_rows(self) -> Statistic:
        """What is asked of the groups, of persons instead of rows."""
        suited = self.statistic.of_single_rows
        return replace(self, statistic=suited if isinstance(suited, Grouped) else self.statistic, single=True)

    def check(self, cost: Guarantee) -> None:
        """Finding keys needs δ."""
        check_delta(cost, "groups without public keys need", "give keys= to avoid it")
        if self.other and any(expression.type.kind is Kind.FLOAT for expression in self.by):
            raise InvalidInput("other= needs keys that are told apart exactly, and floats are not; round or cast them.")

    def release(self, room: Room) -> Answers:
        """Find keys, then answer for them."""
        if self.statistic.counts_persons and not self.other:
            found = self.find(room, Fraction(1), only_persons=True)
            return Answers(self.persons(room, found), room.cost, self.statistic.groups.name)
        found = self.find(room, FIND_SHARE, only_persons=False)
        answers = self.answer(room, found, self.statistic, 1 - FIND_SHARE)
        return Answers(answers, room.cost, self.statistic.groups.name)

    def find(self, room: Room, share: Fraction, only_persons: bool) -> Found:
        """The keys that are shown, for a share of ε and all of δ."""
        assert isinstance(room.cost, Approx)
        epsilon, delta = room.cost.epsilon * share, room.cost.delta
        cap, rest = 1, epsilon
        if not self.single:
            (counts,) = room.ask(KeysPerPerson(self.by, KEY_LEVELS))
            cap = choose_cap(room, KEY_LEVELS, counts, Allowance(epsilon * CAP_SHARE, concentrated=False))
            rest = epsilon * (1 - CAP_SHARE)
        law, note = self._found(room, cap, rest, delta, only_persons)
        released = room.draw(law)
        return Found(law, dict(released), note)

    def persons(self, room: Room, found: Found) -> dict[Any, Answer]:
        """The number of persons of each group that was found, which finding it tells."""
        return {
            _label(key): room.answer(
                f"number of persons where {self.statistic.groups.name} is {_label(key)}",
                found.released[key],
                mechanism=f"{found.law.noise.name} noise and a threshold on persons per key",
                spread=ShownCount(found.law.noise, found.law.threshold),
                per="person",
                notes=(found.note,),
            )
            for key in found.keys
        }

    def answer(self, room: Room, found: Found, statistic: Grouped, share: Fraction) -> dict[Any, Answer]:
        """A statistic of the groups that were found, for a share of ε."""
        assert isinstance(room.cost, Approx)
        keys, groups = found.keys[: MOST_OTHER if self.other else MOST_FOUND], statistic.groups
        if not keys and not self.other:
            return {}
        inside = replace(
            groups,
            keys=tuple(
                tuple(Literal(expression.type, part) for part, expression in zip(key, groups.by, strict=True))
                for key in keys
            ),
            labels=tuple(_label(key) for key in keys),
        )
        with room.second(Pure(room.cost.epsilon * share)) as second:
            answers = dict(statistic.among(_with_rest(inside) if self.other else inside).release(second))
        return {key: _noted(answer, found.note) for key, answer in answers.items()}

    def _found(
        self, room: Room, cap: int, epsilon: Fraction, delta: Fraction, only_persons: bool
    ) -> tuple[StableKeys, str]:
        """The law of what is shown, and which groups are: by persons, or by their weights where they have many keys."""
        by, least = self.by, self.at_least
        never = f"those of fewer than {least:,} never"
        if only_persons or isinstance(stable_keys({}, epsilon, delta, cap, least).noise, TruncatedLaplace):
            (counts,) = room.ask(KeyCounts(by, cap, least, room.secret()))
            law = stable_keys(dict(counts), epsilon, delta, cap, least)
            shown = f"Groups of {law.surely:,} such persons or more are shown, {never}."
            return law, f"A person takes part in at most {cap:,} group{'s' * (cap > 1)}. {shown}"
        most = min(2 * cap, KEY_LEVELS[-1])  # the more keys a person may have, the higher the threshold
        steps = (*(level for level in KEY_LEVELS if level < most), most)
        (found,) = room.ask(KeyWeights(by, steps, weights(steps), least))
        law = weighted_keys(dict(found), epsilon, delta, steps, least)
        (weight,) = weights((cap,))
        shown = f"Groups of {-(-law.surely // weight):,} persons in at most {cap:,} groups each are shown, {never}."
        return law, f"Persons in more than {most:,} groups are left out when groups are looked for. {shown}"


@dataclass(frozen=True)
class PickedGroups(FoundGroups, tag="PickedGroups"):
    """Groups found with another least number of persons, or with the rest of them as one."""

    at_least: int = 2
    other: bool = False


def _noted(answer: Answer, note: str) -> Answer:
    return replace(answer, notes=(*answer.notes, note))


def _with_rest(groups: Groups) -> Groups:
    """These groups, and all other rows as one more."""
    branches = []
    for place, key in enumerate(groups.keys):
        same = [
            build.is_null(part) if value.value is None else build.comparison("=", part, value)
            for part, value in zip(groups.by, key, strict=True)
        ]
        branches.append((build.logic("AND", same), Literal(INTEGER, place)))
    rest = Literal(INTEGER, len(branches))
    number = build.case(branches or [(build.is_null(groups.by[0]), rest)], rest)
    keys = tuple((Literal(INTEGER, place),) for place in range(len(groups.keys) + 1))
    name = OTHER
    while name in groups.labels:
        name = f"({name})"
    return Groups((number,), keys, (*groups.labels, name), groups.name)


def _label(key: tuple[Any, ...]) -> Any:
    parts = tuple(map(written, key))
    return parts[0] if len(parts) == 1 else parts


def for_each(statistic: Statistic, groups: Groups, at_least: int | None = None, other: bool = False) -> Statistic:
    """A statistic for each group: of those that are named, or of those that are found."""
    grouped = statistic.grouped(groups)
    if type(groups) is not Groups:
        from tacit.tables.statistics.ways.margins import MarginGroups, margins_of

        assert isinstance(groups, MarginGroups)
        return margins_of(grouped, groups)
    if groups.keys or not isinstance(grouped, Grouped):
        return grouped
    if at_least is None and not other:
        return FoundGroups(grouped)
    return PickedGroups(grouped, at_least=2 if at_least is None else at_least, other=other)
