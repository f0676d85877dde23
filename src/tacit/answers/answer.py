"""What Tacit releases: a value with its guarantee and an honest statement of its error.

An answer holds nothing that was not released: the value, public facts about how it was made, and the cap or range
that the mechanism itself released. Noise is known exactly, so its interval is stated; what a cap leaves out cannot be
bounded without an assumption, so an interval says what it covers: "truth", or "capped value" where the cap's bias is
not in it. A capped value is what the data would give if nobody had more than the cap, or, of sums and counts made by
`tacit.mechanisms.totals.scan_and_release`, if each person above the cap had twice that: it may lie below or above the
truth.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Any, Literal

from tacit.answers.spreads import Covers, Spread
from tacit.answers.values import Value, percent, plain, show
from tacit.errors import InvalidInput
from tacit.numbers.exact import Number, between

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from tacit.guarantees import Guarantee


SUREST = Decimal("0.9999999999999")
"""The largest confidence: beyond it a double no longer tells what is missed."""


@dataclass(frozen=True)
class Interval:
    """A confidence interval that says what it covers."""

    low: Any
    high: Any
    covers: Covers
    confidence: Fraction = Fraction(95, 100)

    def __str__(self) -> str:
        return f"{percent(self.confidence)} for the {self.covers}: {show(self.low)} to {show(self.high)}"

    def __iter__(self) -> Iterator[Any]:
        return iter((self.low, self.high))


@dataclass(frozen=True)
class Answer:
    """One released number."""

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
    stored: bool = False
    """Whether this is an earlier answer to the same question, returned at no cost."""

    def interval(self, confidence: Number = "0.95") -> Interval:
        """The interval that covers what its `covers` names with at least this confidence."""
        level = between(confidence, "confidence", 0, SUREST)
        if self.spread is None or self.value is None:
            return Interval(-inf, inf, "truth", level)
        low, high = self.spread.interval(self.value, level)
        return Interval(low, high, self.spread.covers, level)

    @property
    def noise_std(self) -> float | None:
        """The standard deviation of the added noise, in the value's unit; None where noise is not additive."""
        return None if self.spread is None else self.spread.std

    def persons_above_cap(self, confidence: Number = "0.95") -> int | None:
        """At most so many persons exceed the cap, with this confidence; None where there is no cap."""
        level = between(confidence, "confidence", 0, SUREST)
        return None if self.spread is None else self.spread.persons_above(level)

    def at_least(self, confidence: Number = "0.95") -> Any:
        """The truth is at least this with this confidence, whatever the data; None where nothing bounds it below."""
        level = between(confidence, "confidence", 0, SUREST)
        if self.spread is None or self.value is None:
            return None
        if self.spread.covers != "truth":
            found = getattr(self.spread, "at_least", None)
            return None if found is None else found(self.value, level)
        low, _ = self.spread.interval(self.value, level)
        return None if low == -inf else low

    def __float__(self) -> float:
        if not isinstance(self.value, int | float | Decimal):
            raise InvalidInput("this answer is not a number; use .value.")
        return float(self.value)

    def __str__(self) -> str:
        return " ".join(self._sentences())

    def __repr__(self) -> str:
        return f"Answer({self.statistic}: {show(self.value)}, {self.guarantee!r})"

    def _sentences(self) -> Iterator[str]:
        if not self.private:
            yield "NOT PRIVATE (seeded randomness)."
        value = "no answer" if self.value is None else show(self.value)
        yield f"{self.statistic[:1].upper()}{self.statistic[1:]}, {_PER[self.per]}: {value}."
        if self.spread is not None:
            yield from self.spread.sentences(self)
        yield from self.notes
        yield f"Protects {self.protected} with {self.guarantee!r}."
        if self.stored:
            yield f"Stored answer of {self.asked:%Y-%m-%d %H:%M} UTC, returned at no cost."

    def explain(self) -> str:
        """The whole story: what was asked, how it was answered, how far it may be off, what was paid."""
        lines = [
            f"question     {self.statistic} ({_PER[self.per]})",
            f"value        {show(self.value)} (counted in steps of {self.unit})",
            f"mechanism    {self.mechanism}",
            f"guarantee    {self.guarantee!r}: {self.guarantee.describe()}",
            f"protects     {self.protected}",
        ]
        if self.spread is not None:
            lines += [f"error        {sentence}" for sentence in self.spread.sentences(self)]
        lines += [f"note         {note}" for note in self.notes]
        lines.append(f"asked        {self.asked:%Y-%m-%d %H:%M:%S} UTC" + (" (stored)" if self.stored else ""))
        if not self.private:
            lines.append("NOT PRIVATE: made with a seeded source.")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        interval = self.interval()
        return {
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
            },
            "noise_std": self.noise_std,
            "cap": plain(self.cap),
            "persons_above_cap": self.persons_above_cap(),
            "notes": list(self.notes),
            "private": self.private,
            "asked": self.asked.isoformat(),
            "stored": self.stored,
        }

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(line[:13].strip())}</th>"
            f"<td style='text-align:left'>{html.escape(line[13:])}</td></tr>"
            for line in self.explain().splitlines()
        )
        return f"<table>{rows}</table>"

    def as_stored(self) -> Answer:
        """The same answer, returned again."""
        return replace(self, stored=True)


class Answers(Mapping[Any, Answer]):
    """Several answers released together, in order, for one guarantee."""

    def __init__(self, answers: Mapping[Any, Answer], guarantee: Guarantee, name: str = "key") -> None:
        self._answers: dict[Any, Answer] = dict(answers)
        self.guarantee = guarantee
        self.name = name

    def __getitem__(self, key: Any) -> Answer:
        return self._answers[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._answers)

    def __len__(self) -> int:
        return len(self._answers)

    def _records(self) -> list[dict[str, Any]]:
        records = []
        for key, answer in self.items():
            interval = answer.interval()
            names = self.name.split(", ")
            keys = dict(zip(names, key, strict=True)) if isinstance(key, tuple) else {self.name: key}
            records.append(
                keys
                | {
                    "value": answer.value,
                    "low": interval.low,
                    "high": interval.high,
                    "covers": interval.covers,
                    "cap": answer.cap,
                }
            )
        return records

    def to_pandas(self) -> pd.DataFrame:
        """A frame with one row for each answer."""
        import pandas as pd

        return pd.DataFrame(self._records())

    def to_arrow(self) -> pa.Table:
        """An Arrow table with one row for each answer."""
        import pyarrow as pa

        records = self._records()
        names = list(records[0]) if records else [self.name, "value"]
        return pa.table({name: pa.array(_fitting([record[name] for record in records])) for name in names})

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "guarantee": repr(self.guarantee),
            "answers": [{"key": plain(key), **answer.to_dict()} for key, answer in self.items()],
        }

    def as_stored(self) -> Answers:
        """The same answers, returned again."""
        return Answers({k: a.as_stored() for k, a in self.items()}, self.guarantee, self.name)

    def __str__(self) -> str:
        """A table of values and intervals, then what they have in common."""
        if not self._answers:
            return f"No group was large enough to be shown. All together: {self.guarantee!r}."
        rows = []
        for key, answer in self.items():
            interval = answer.interval()
            bounded = interval.low != -inf or interval.high != inf
            span = f"{show(interval.low)} to {show(interval.high)}" if bounded else ""
            label = ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)
            rows.append((label, "no answer" if answer.value is None else show(answer.value), span))
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        lines = [f"{a:<{widths[0]}}  {b:>{widths[1]}}  {c}".rstrip() for a, b, c in rows]
        return "\n".join([*lines, *self._common()])

    def _common(self) -> Iterator[str]:
        """What holds for all of them, said once."""
        answers = list(self.values())
        if not all(answer.private for answer in answers):
            yield "NOT PRIVATE (seeded randomness)."
        covers = {answer.interval().covers for answer in answers if answer.spread is not None}
        if any(answer.interval().low != -inf for answer in answers):
            yield f"Intervals hold the {' or the '.join(sorted(covers))} with 95 % confidence each."
        sentences = [list(answer._sentences())[1:-1] for answer in answers if answer.private and not answer.stored]
        shared = [s for s in (sentences[0] if sentences else []) if all(s in other for other in sentences)]
        if shared:
            yield " ".join(shared)
        yield f"Protects {answers[0].protected} with {self.guarantee!r} for all together."
        if answers[0].stored:
            yield f"Stored answers of {answers[0].asked:%Y-%m-%d %H:%M} UTC, returned at no cost."

    def __repr__(self) -> str:
        inside = ", ".join(f"{key!r}: {show(answer.value)}" for key, answer in self.items())
        return f"Answers({{{inside}}}, {self.guarantee!r})"

    def _repr_html_(self) -> str:
        head = [self.name, "value", "95 % interval", "covers"]
        rows = [
            [str(key), show(answer.value), f"{show(i.low)} to {show(i.high)}", i.covers]
            for key, answer in self.items()
            for i in [answer.interval()]
        ]
        cells = "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in rows)
        top = "".join(f"<th>{html.escape(h)}</th>" for h in head)
        return f"<table><tr>{top}</tr>{cells}</table><p>{html.escape(repr(self.guarantee))} for all together</p>"


_PER = {"row": "each row counting", "person": "each person weighing one"}


def _fitting(values: list[Any]) -> list[Any]:
    """A column that Arrow can hold: numbers beyond 64 bits all as decimals, or as floats where that is not enough."""
    numbers: list[Any] = [abs(value) for value in values if isinstance(value, int | Decimal)]
    if max(numbers, default=0) < 2**63:
        return values
    floats = any(isinstance(value, float) for value in values) or max(numbers) >= 10**60
    return [(float if floats else Decimal)(value) if isinstance(value, int | Decimal) else value for value in values]
