"""Several answers released together for one guarantee: a mapping that prints as a table."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from itertools import zip_longest
from math import inf
from typing import TYPE_CHECKING, Any

from tacit.answers.answer import NOT_PRIVATE, Answer, Interval, answered, of_version, sentences, warning, weakness
from tacit.answers.certificates import Release, certificate_of, together
from tacit.answers.nonnegative import BELOW, below_zero
from tacit.answers.spreads import SURE
from tacit.answers.values import plain, show, show_key, show_range
from tacit.errors import Face, tell

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from tacit.guarantees import Guarantee


class Answers(Mapping[Any, Answer]):
    """Several answers released together, in order, for one guarantee.

    Keys are groups, or quantiles, or the aliases of a SQL question; groups by several columns have tuples as keys.
    Printing shows a table of values and intervals, then what all answers have in common.

    Args:
        answers: the answers by their keys.
        guarantee: what all of them together cost.
        name: what the keys are: the name of a column, or several with commas between them.
        releases: what was charged and drawn for them; that of the answers unless given.

    >>> answers = orders.group_by("region", keys=["north", "south"]).count(epsilon=1)
    >>> list(answers)
    ['north', 'south']
    >>> answers["north"].value
    374
    >>> print(answers)
    north  374  341 to 407
    south  272  239 to 305
    NOT PRIVATE (seeded randomness).
    Intervals hold the count with nobody counted beyond 8 over all groups with 95 % confidence each; the truth ...
    Protects any one customer with all their rows with Pure(1) for all together.
    """

    def __init__(
        self,
        answers: Mapping[Any, Answer],
        guarantee: Guarantee,
        name: str = "key",
        releases: tuple[Release, ...] = (),
    ) -> None:
        self._answers: dict[Any, Answer] = dict(answers)
        self.releases = releases or together(answer.releases for answer in self.values())
        self.guarantee = guarantee
        self.name = name

    def __getitem__(self, key: Any) -> Answer:
        return self._answers[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._answers)

    def __len__(self) -> int:
        return len(self._answers)

    @property
    def stored(self) -> bool:
        """Whether all of these are earlier answers, returned at no cost."""
        return all(answer.stored for answer in self.values())

    def nonnegative(self) -> Answers:
        """The same answers, counts that noise took below 0 shown as 0; it costs nothing.

        Totals of such answers are too large on average, those of answers as released are right.

        >>> answers = orders.group_by("region", keys=["north", "moon"]).count(epsilon=1).nonnegative()
        >>> answers["moon"].value >= 0
        True
        """
        answers = {key: answer.nonnegative() for key, answer in self.items()}
        return Answers(answers, self.guarantee, self.name, self.releases)

    def as_stored(self) -> Answers:
        """The same answers, marked as returned again at no cost.

        >>> Answers({}, Pure(1)).as_stored().stored
        True
        """
        answers = {key: answer.as_stored() for key, answer in self.items()}
        return Answers(answers, self.guarantee, self.name, self.releases)

    def certificate(self) -> dict[str, Any]:
        """What was drawn for these answers, from which laws, at which price, as plain values; see `Answer.certificate`.

        >>> answers = orders.group_by("region", keys=["north", "south"]).count(epsilon=1)
        >>> len(answers.certificate()["releases"])
        1
        """
        return certificate_of(self.releases)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON: the common guarantee, and a list of answers, each with its key.

        >>> answers = orders.group_by("region", keys=["north", "south"]).count(epsilon=1)
        >>> [(one["key"], one["value"]) for one in answers.to_dict()["answers"]]
        [('north', 374), ('south', 272)]
        """
        earlier = {} if (said := common_warning(self, "")) is None else {"warning": said}
        return earlier | {
            "guarantee": repr(self.guarantee),
            "answers": [{"key": plain(key), **answer.to_dict()} for key, answer in self.items()],
        }

    def to_pandas(self) -> pd.DataFrame:
        """A data frame with one row for each answer: its key, value, 95 % interval and what that covers, and cap.

        >>> orders.group_by("region", keys=["north", "south"]).count(epsilon=1).to_pandas()
          region  value  low  high        covers  cap
        0  north    374  341   407  capped value    8
        1  south    272  239   305  capped value    8
        """
        import pandas as pd

        return pd.DataFrame(self._records())

    def to_arrow(self) -> pa.Table:
        """An Arrow table with one row for each answer, as `to_pandas`.

        Numbers beyond 64 bits make their column decimals, or floats where that is not enough.

        >>> orders.group_by("region", keys=["north", "south"]).count(epsilon=1).to_arrow().column_names
        ['region', 'value', 'low', 'high', 'covers', 'cap']
        """
        records = self._records()
        return self._arrow(records, list(records[0]) if records else [self.name, "value"])

    def to_polars(self) -> pl.DataFrame:
        """A Polars frame with one row for each answer, as `to_pandas`.

        >>> orders.group_by("region", keys=["north", "south"]).count(epsilon=1).to_polars().columns
        ['region', 'value', 'low', 'high', 'covers', 'cap']
        """
        import polars as pl

        return pl.DataFrame(pl.from_arrow(self.to_arrow()))

    @staticmethod
    def _arrow(records: Sequence[Mapping[str, Any]], names: Sequence[str]) -> pa.Table:
        import pyarrow as pa

        return pa.table({name: pa.array(_fitting([record[name] for record in records])) for name in names})

    def _records(self) -> list[dict[str, Any]]:
        records = []
        for key, answer in self.items():
            interval = answer.interval()
            keys = dict(zip_longest(self.name.split(", "), key)) if isinstance(key, tuple) else {self.name: key}
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

    def __str__(self) -> str:
        """A table of values and intervals, then what they have in common."""
        if not self._answers:
            return f"No group was large enough to be shown. All together: {self.guarantee!r}."
        rows = []
        for key, answer in self.items():
            value = "no answer" if answer.value is None else show(answer.value)
            rows.append((show_key(key), value, show_error(answer)))
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        lines = [f"{a:<{widths[0]}}  {b:>{widths[1]}}  {c}".rstrip() for a, b, c in rows]
        return "\n".join([*first_lines(self), *lines, *common_sentences(self)])

    def __repr__(self) -> str:
        inside = ", ".join(f"{key!r}: {show(answer.value)}" for key, answer in self.items())
        first = min((found.asked for found in map(answered, self.values()) if found is not None), default=None)
        earlier = "" if first is None else f"answered on {first:%Y-%m-%d %H:%M} UTC; "
        return f"Answers({earlier}{{{inside}}}, {self.guarantee!r})"

    def _repr_html_(self) -> str:
        head = [self.name, "value", "95 % interval", "covers"]
        rows = [
            [show_key(key), show(answer.value), show_error(answer), answer.interval().covers]
            for key, answer in self.items()
        ]
        cells = "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in rows)
        top = "".join(f"<th>{html.escape(h)}</th>" for h in head)
        said = " ".join(common_sentences(self)) if self else f"{self.guarantee!r} for all together"
        return f"{first_paragraph(self)}<table><tr>{top}</tr>{cells}</table><p>{html.escape(said)}</p>"


MOST_KINDS = 3
"""So many kinds of intervals are told in words; of more only whether they hold the truth."""


def first_lines(several: Answers) -> list[str]:
    """What stands before a table of answers: that some of them are earlier ones."""
    earlier = common_warning(several)
    return [] if earlier is None else [earlier]


def first_paragraph(several: Answers) -> str:
    """The same in a notebook."""
    return "".join(f"<p><strong>{html.escape(line)}</strong></p>" for line in first_lines(several))


def show_error(answer: Answer) -> str:
    """The 95 % interval of an answer as a table shows it, or what is known in its place."""
    low, high = answer.interval()
    if low != -inf or high != inf:
        return show_range(low, high)
    if answer.spread is None or answer.value is None:
        return ""
    return answer.spread.brief(SURE) or ("unbounded" if isinstance(answer.value, int | float | Decimal) else "")


def common_sentences(several: Answers) -> Iterator[str]:
    """What holds for all of some answers, said once."""
    answers = list(several.values())
    if not all(answer.private for answer in answers):
        yield NOT_PRIVATE
    intervals = [answer.interval() for answer in answers if answer.spread is not None]
    if any(interval.low != -inf or interval.high != inf for interval in intervals):
        yield _held(intervals)
    anew = [replace(answer, stored=False, version="") for answer in answers if answer.private]
    told = [list(sentences(answer))[1:-1] for answer in anew]
    shared = [s for s in (told[0] if told else []) if all(s in other for other in told)]
    shared = [s for s in shared if not s.startswith(("Noise interval", BELOW))]  # each has its own, in the table
    if any(map(below_zero, answers)):
        yield f"{BELOW}."
    errors = [error for error in map(show_error, answers) if error.startswith("rank")]
    if errors and "its rank is off" not in " ".join(shared):
        rows = " of rows as capped" if any(error.endswith("rows") for error in errors) else ""
        yield f"With values rounded as the answers are, ranks{rows} are off by at most what is stated (95 % each)."
    if shared:
        yield " ".join(shared)
    reasons = (note for answer in answers if answer.value is None for note in answer.notes)
    yield from (f"No answer: {note[:1].lower()}{note[1:]}" for note in dict.fromkeys(reasons) if note not in shared)
    protected = f"Protects {answers[0].protected} with {several.guarantee!r} for all together."
    yield f"{protected}{weakness(several.guarantee)}"
    yield from of_version(answers[0], "answers")


def common_warning(several: Answers, how: str = " with fresh=True") -> str | None:
    """What must be read before some answers are, where one of them is an earlier one; see `warning`."""
    earlier = [answer for answer in several.values() if answered(answer) is not None]
    if not earlier:
        return None
    oldest = min(earlier, key=lambda answer: answer.asked)
    said = warning(oldest, how)
    if len(earlier) == len(several) or said is None:
        return said
    return f"{oldest.title}: {said[:1].lower()}{said[1:]}"


def told(found: Answer | Answers, face: Face) -> str:
    """An answer in words, in which the warning speaks as a face does."""
    said = warning(found) if isinstance(found, Answer) else common_warning(found)
    return str(found) if said is None else str(found).replace(said, tell(said, face), 1)


def warned(found: Answer | Answers, face: Face) -> str | None:
    """What must be read before an earlier answer is, in the words of a face."""
    said = warning(found) if isinstance(found, Answer) else common_warning(found)
    return None if said is None else tell(said, face)


def _held(intervals: Sequence[Interval]) -> str:
    """What some intervals hold: each in words where they are of a few kinds, or what they cover."""
    bounded = [interval for interval in intervals if interval.low != -inf or interval.high != inf]
    kinds = list(dict.fromkeys((interval.of, interval.truth) for interval in bounded))
    if 1 < len(kinds) <= MOST_KINDS:
        each = "; ".join(f"{of}, where {truth}" if truth else of for of, truth in kinds)
        return f"Intervals hold with 95 % confidence each: {each}."
    of, truth = kinds[0]
    if len(kinds) > 1:
        covered = {interval.covers for interval in bounded}
        of = " or ".join(f"the {covers}" for covers in sorted(covered))
        truth = "" if covered == {"truth"} else "the truth may be far from a capped or sampled value"
    return f"Intervals hold {of} with 95 % confidence each{f'; {truth}' if truth else ''}."


def _fitting(values: list[Any]) -> list[Any]:
    """A column that Arrow can hold: numbers beyond 64 bits all as decimals, or as floats where that is not enough.

    Decimals beside floats are floats. An end that is not bounded is absent beside dates and times.
    """
    if any(isinstance(value, date) for value in values):
        return [value if isinstance(value, date) else None for value in values]
    numbers: list[Any] = [abs(value) for value in values if isinstance(value, int | Decimal)]
    beside = any(isinstance(value, float) for value in values)
    if max(numbers, default=0) < 2**63 and not (beside and any(isinstance(number, Decimal) for number in numbers)):
        return values
    floats = beside or max(numbers) >= 10**60
    return [(float if floats else Decimal)(value) if isinstance(value, int | Decimal) else value for value in values]
