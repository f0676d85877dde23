"""What Tacit releases: a value with its guarantee and an honest statement of its error.

An answer holds nothing that was not released: the value, public facts about how it was made, and the cap or range
that the mechanism itself released. Noise is known exactly, so its interval is stated; what a cap leaves out cannot be
bounded without an assumption, so an interval says what it covers: "truth", or "capped value" where the cap's bias is
not in it. A capped value is what the data would give if nobody had more than the cap, or, of sums and counts made by
`tacit.mechanisms.totals.scan_and_release`, if each person above its limit had the answer's cap and any other at most a
smaller one: it may lie below or above the truth.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Any, Literal

from tacit.answers.certificates import Release, certificate_of
from tacit.answers.nonnegative import BELOW, below_zero, clamped
from tacit.answers.spreads import SURE, SUREST, Covers, Spread
from tacit.answers.values import Value, percent, plain, show, show_range
from tacit.errors import InvalidInput
from tacit.numbers.exact import Number, between

if TYPE_CHECKING:
    from tacit.guarantees import Guarantee

NOT_PRIVATE = "NOT PRIVATE (seeded randomness)."


@dataclass(frozen=True)
class Interval:
    """A confidence interval that says what it covers.

    Iterating over it gives both ends.

    >>> interval = orders.persons(epsilon=1).interval()
    >>> print(interval)
    95 % of the truth: 296 to 302
    >>> low, high = interval
    >>> (low, high, interval.covers)
    (296, 302, 'truth')
    """

    low: Any
    """The lower end, as the answer's value is; -inf where nothing bounds it."""
    high: Any
    """The upper end, as the answer's value is; inf where nothing bounds it."""
    covers: Covers
    """What it covers: "truth", or the value that a cap or a sample leaves of it."""
    confidence: Fraction = SURE
    """The least probability with which it does so."""
    of: str = ""
    """What it covers in words, such as "the truth" or "the sum with nobody counted beyond 800"."""
    truth: str = ""
    """What is known of the truth, where that is not what it covers."""

    def __str__(self) -> str:
        ends = f"{percent(self.confidence)} of {self.of or f'the {self.covers}'}: {show_range(self.low, self.high)}"
        return f"{ends}; {self.truth}" if self.truth else ends

    def __iter__(self) -> Iterator[Any]:
        return iter((self.low, self.high))


@dataclass(frozen=True)
class Answer:
    """One released value, what it costs, and how far it may be off.

    Printing it tells all this in a few sentences; `explain` tells the whole story.

    >>> answer = orders.persons(epsilon=1)
    >>> answer
    Answer(number of persons: 299, Pure(1))
    >>> answer.value, answer.guarantee
    (299, Pure(1))
    """

    statistic: str
    """What was asked, in words: "sum of amount"."""
    value: Value
    """The released value, as the column is; not clamped."""
    guarantee: Guarantee
    """What the person's protection costs."""
    mechanism: str
    """How the value was made."""
    protected: str
    """Who is protected: the neighbours of the guarantee."""
    per: Literal["row", "person"] = "row"
    """Whether rows or persons weigh one."""
    unit: str = "1"
    """The step in which values were counted."""
    spread: Spread | None = None
    """The error as far as it is known: an interval, a standard deviation, persons above the cap."""
    cap: Value = None
    """The released cap on one person's contribution, or None."""
    notes: tuple[str, ...] = ()
    """Further sentences that a careful reader wants."""
    private: bool = True
    """False when a seeded source made the noise: such an answer protects nobody."""
    asked: datetime = field(default_factory=lambda: datetime.now(UTC))
    """When it was released."""
    stored: bool = False
    """Whether this is an earlier answer to the same question, returned at no cost."""
    name: str | None = None
    """What a query calls it: SELECT SUM(amount) AS total; None where it gives it no name."""
    version: str = ""
    """The public label of the version of the data that it is about; empty where they have none."""
    releases: tuple[Release, ...] = field(default=(), repr=False, compare=False)
    """What was charged and drawn for it, for its certificate."""

    @property
    def title(self) -> str:
        """What was asked, after the name that the query gave it.

        >>> session.sql("SELECT COUNT(*) AS n FROM orders", epsilon=1).title
        'n (number of rows)'
        """
        return self.statistic if self.name is None else f"{self.name} ({self.statistic})"

    def interval(self, confidence: Number = "0.95") -> Interval:
        """The interval that covers what its `covers` names with at least this confidence.

        Args:
            confidence: a number between 0 and 1, such as 0.95 or "0.99".

        >>> print(orders.persons(epsilon=1).interval("0.99"))
        99 % of the truth: 295 to 303
        """
        level = _level(confidence)
        if self.spread is None or self.value is None:
            return Interval(-inf, inf, "truth", level)
        low, high = self.spread.interval(self.value, level)
        return Interval(low, high, self.spread.covers, level, *self.spread.meaning(self, level))

    @property
    def noise_std(self) -> float | None:
        """The standard deviation of the added noise, in the value's unit; None where noise is not additive.

        >>> round(orders.persons(epsilon=1).noise_std, 3)
        1.357
        """
        return None if self.spread is None else self.spread.std

    def persons_above_cap(self, confidence: Number = "0.95") -> int | None:
        """With this confidence no more persons than this exceed the cap; None where there is no cap.

        Of a minimum or maximum these are the persons who lie beyond it. Of a sum or count they are those above the
        larger number that its interval names, which is no more than the cap; persons between the two numbers it names
        are cut to the smaller one, and how many they are is not known.

        Args:
            confidence: a number between 0 and 1, such as 0.95 or "0.99".

        >>> total = orders.sum("amount", epsilon=1)
        >>> total.persons_above_cap(), total.persons_above_cap("0.999")
        (3, 9)
        """
        level = _level(confidence)
        return None if self.spread is None else self.spread.persons_above(level)

    def at_least(self, confidence: Number = "0.95") -> Any:
        """The truth is at least this with this confidence, whatever the data; None where nothing bounds it below.

        Args:
            confidence: a number between 0 and 1, such as 0.95 or "0.99".

        >>> orders.persons(epsilon=1).at_least()
        296
        """
        level = _level(confidence)
        return None if self.spread is None or self.value is None else self.spread.at_least(self.value, level)

    def __float__(self) -> float:
        if not isinstance(self.value, int | float | Decimal):
            raise InvalidInput("this answer is not a number; use .value.")
        return float(self.value)

    def __str__(self) -> str:
        return " ".join(sentences(self))

    def __repr__(self) -> str:
        capped = f" capped at {show(self.cap)}" if _proviso(self) else ""
        earlier = "" if (first := answered(self)) is None else f"answered on {_day(first.asked)}; "
        return f"Answer({earlier}{self.title}: {show(self.value)}{capped}, {self.guarantee!r})"

    def explain(self) -> str:
        """The whole story: what was asked, how it was answered, how far it may be off, what was paid.

        >>> print(orders.persons(epsilon=1).explain())
        question     number of persons (each person counted once)
        value        299 (counted in steps of 1)
        mechanism    noise on a count
        guarantee    Pure(1): Pure differential privacy with ε = 1: ...
        protects     any one customer with all their rows
        error        Noise interval, 95 % of the truth: 296 to 302.
        asked        ... UTC
        NOT PRIVATE: made with a seeded source.
        """
        earlier = warning(self)
        lines = [
            *([] if earlier is None else [f"earlier      {earlier}"]),
            f"question     {self.title} ({_PER[self.per]})",
            f"value        {show(self.value)}{_proviso(self)} (counted in steps of {self.unit})",
            f"mechanism    {self.mechanism}",
            f"guarantee    {self.guarantee!r}: {self.guarantee.describe()}",
            f"protects     {self.protected}",
        ]
        if self.spread is not None:
            lines += [f"error        {sentence}" for sentence in self.spread.sentences(self)]
        lines += [f"note         {note}" for note in self.notes]
        lines += [f"version      {self.version}"] if self.version else []
        lines.append(f"asked        {self.asked:%Y-%m-%d %H:%M:%S} UTC" + (" (stored)" if self.stored else ""))
        if not self.private:
            lines.append("NOT PRIVATE: made with a seeded source.")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; decimals and dates as text, null for what is unbounded.

        >>> orders.persons(epsilon=1).to_dict()["interval"]
        {'low': 296, 'high': 302, 'covers': 'truth', 'confidence': 0.95, 'of': 'the truth', 'truth': ''}
        """
        interval = self.interval()
        named = {} if self.name is None else {"name": self.name}
        label = {"version": self.version} if self.version else {}
        earlier = {} if (said := warning(self, "")) is None else {"warning": said}
        return (
            earlier
            | named
            | label
            | {
                "statistic": self.statistic,
                "value": plain(self.value),
                "guarantee": repr(self.guarantee),
                "mechanism": self.mechanism,
                "per": self.per,
                "unit": self.unit,
                "protected": self.protected,
                "interval": {
                    "low": plain(interval.low),
                    "high": plain(interval.high),
                    "covers": interval.covers,
                    "confidence": float(interval.confidence),
                    "of": interval.of,
                    "truth": interval.truth,
                },
                "noise_std": plain(self.noise_std),
                "cap": plain(self.cap),
                "persons_above_cap": self.persons_above_cap(),
                "notes": list(self.notes),
                "private": self.private,
                "asked": self.asked.isoformat(),
                "stored": self.stored,
            }
        )

    def certificate(self) -> dict[str, Any]:
        """What was drawn for this answer, from which laws, at which price, as plain values: `tacit verify` checks it.

        It tells nothing that was not paid for. An answer of a version that gave no certificates has none.

        >>> certificate = orders.persons(epsilon=1).certificate()
        >>> certificate["releases"][0]["spent"]
        'Pure 1'
        """
        return certificate_of(self.releases)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(line[:13].strip())}</th>"
            f"<td style='text-align:left'>{html.escape(line[13:])}</td></tr>"
            for line in self.explain().splitlines()
        )
        return f"<table>{rows}</table>"

    def nonnegative(self) -> Answer:
        """The same answer, a count that noise took below 0 shown as 0; it costs nothing.

        >>> orders.persons(epsilon=1).nonnegative().value
        299
        """
        return clamped(self)

    def as_stored(self) -> Answer:
        """The same answer, marked as returned again at no cost.

        >>> orders.persons(epsilon=1).as_stored().stored
        True
        """
        return replace(self, stored=True)


_PER = {"row": "over all rows", "person": "each person counted once"}


def sentences(answer: Answer) -> Iterator[str]:
    """What printing an answer says: that it is an earlier one, the value, and last whom it protects."""
    if (earlier := warning(answer)) is not None:
        yield earlier
    if not answer.private:
        yield NOT_PRIVATE
    value = "no answer" if answer.value is None else show(answer.value)
    title = answer.title if answer.name else answer.title[:1].upper() + answer.title[1:]
    yield f"{title}, {_PER[answer.per]}: {value}{_proviso(answer)}."
    if answer.spread is not None:
        yield from answer.spread.sentences(answer)
    yield from answer.notes
    if below_zero(answer):
        yield f"{BELOW}."
    yield f"Protects {answer.protected} with {answer.guarantee!r}.{weakness(answer.guarantee)}"
    yield from of_version(answer, "answer")


WEAK = 20
"""An ε above this promises next to nothing."""


def weakness(guarantee: Guarantee) -> str:
    """What to say of a guarantee that is one in name only; mostly nothing."""
    epsilon = getattr(guarantee, "epsilon", 0)
    said = f" An ε above {WEAK} promises next to nothing: it lets one answer tell who is in the data."
    return said if epsilon > WEAK else ""


def of_version(answer: Answer, what: str) -> Iterator[str]:
    """Which version of the data an answer is about, where they have one."""
    if answer.stored and answer.version:
        yield f"Stored {what} of {_day(answer.asked)} for version {answer.version}, returned at no cost."
    elif answer.version:
        yield f"Version {answer.version} of the data."


def answered(answer: Answer) -> Answer | None:
    """What of an answer was released earlier, to data without a version: itself, or the oldest that it is made of."""
    parts = [part for part in getattr(answer.spread, "parts", ()) if isinstance(part, Answer)]
    earlier = [part for part in (answer, *parts) if part.stored and not part.version]
    return min(earlier, key=lambda part: part.asked, default=None)


def warning(answer: Answer, how: str = " with fresh=True") -> str | None:
    """What must be read before an earlier answer is; None for one that was just paid for, or has a version."""
    first = answered(answer)
    if first is None:
        return None
    what = "Answered" if answer.stored else f"Made of the {first.statistic}, answered"
    return f"{what} on {_day(first.asked)} at {first.guarantee.short()}; if the data have changed since, ask anew{how}."


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def _proviso(answer: Answer) -> str:
    """What must not be missed about the value."""
    return "" if answer.spread is None or answer.value is None else answer.spread.proviso(answer)


def _level(confidence: Number) -> Fraction:
    return between(confidence, "confidence", 0, SUREST)
