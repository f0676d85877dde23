"""Descriptions: what was released about a table and each of its columns, as lines for people, JSON or a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

from tacit.answers.answer import NOT_PRIVATE, Answer, weakness
from tacit.answers.certificates import Release, certificate_of, together
from tacit.answers.nonnegative import BELOW, below_zero, clamped
from tacit.answers.quotients import Quotient, Share
from tacit.answers.several import Answers, show_error, warned
from tacit.answers.totals import CappedTotal
from tacit.answers.values import counted, show
from tacit.errors import Face, tell
from tacit.noises.combined import Difference

if TYPE_CHECKING:
    from tacit.guarantees import Guarantee

COUNTED = {
    "person": "Each person counts once, however many rows they have.",
    "row": "Each row counts once.",
}
MOST_VALUES = 8
"""The most frequent values that are shown of a text; all that were found are in the description."""
EMPTY = "missing"
UNCLEAR = "unclear"
"""What is shown of an answer that tells nothing; its value is in the description, and why it tells nothing."""
ENDS = {"lowest": "below", "highest": "above"}
"""The ends of a range, and on which side of them others lie."""
MOST_CUT = 3
"""A cap that cuts one in so many persons leaves nothing of a mean."""

WIDEST = (18, 34)
"""How wide what is told and its value may be, so that a line with its error fits into 80 columns."""

Line = tuple[str, str, str]
"""What it is, its value, and how far it may be off."""


@dataclass(frozen=True)
class Column:
    """What was released about one column.

    >>> amount = orders.describe(["amount"], epsilon=1).columns[0]
    >>> amount.name, amount.type, list(amount.answers)
    ('amount', 'integer', ['missing', 'mean', 'quartiles', 'lowest', 'highest'])
    """

    name: str
    type: str
    answers: Mapping[str, Answer | Answers]
    """By what they say: "missing", "distinct", "mean", "quartiles", "lowest", "highest", "counts" or "top"."""

    def one(self, what: str) -> Answer | None:
        """One of its answers that is single; None where it was not asked."""
        found = self.answers.get(what)
        return found if isinstance(found, Answer) else None

    def several(self, what: str) -> dict[Any, Answer]:
        """One of its answers that are several, such as the quartiles; empty where they were not asked."""
        found = self.answers.get(what)
        return dict(found) if isinstance(found, Answers) else {}

    @property
    def values(self) -> dict[str, Answer]:
        """Persons or rows by the value they have: true and false, or the most frequent texts first."""
        found = self.several("counts") or self.several("top")
        named = {EMPTY if key is None else str(key).lower() if isinstance(key, bool) else str(key): each
                 for key, each in found.items()}  # fmt: skip
        return named if "counts" in self.answers else dict(list(named.items())[:MOST_VALUES])

    def unclear(self, persons: int | None) -> dict[str, str]:
        """Why some of its answers tell nothing, by what they say; all of it follows from what was released.

        Args:
            persons: how many there are, as released; None where that was not asked.

        >>> orders.describe(["amount"], epsilon=1).columns[0].unclear(299)
        {}
        """
        found: dict[str, str] = {}
        ends = {what: end for what in ENDS if (end := self.one(what)) is not None}
        crossed = _crossed([end.value for end in ends.values()])
        for what, end in ends.items():
            beyond = end.persons_above_cap()
            few = beyond is not None and persons is not None and beyond >= persons
            if end.value is None or few:
                found[what] = "too few persons" if beyond is None else f"needs more than {counted(beyond, 'person')}"
            elif crossed:
                found[what] = "lowest is above highest"
        if (distinct := self.one("distinct")) is not None and distinct.interval().low <= 0:
            found["distinct"] = "noise may be all of it"
        if (mean := self.one("mean")) is not None and (why := _unclear_mean(mean, persons)):
            found["mean"] = why
        if far := [str(key) for key, each in self.several("quartiles").items() if self._far(each)]:
            taken = f"noise took {', '.join(far)} far outside the range"
            found["quartiles"] = "no clear range" if self._no_range else taken
        return found

    def lines(self, persons: int | None) -> Iterator[Line]:
        """What is told of it, where there are so many persons."""
        unclear = self.unclear(persons)
        for what in (EMPTY, "distinct", "mean"):
            if (answer := self.one(what)) is not None:
                why = unclear.get(what)
                yield (what, _value(answer), error(answer)) if why is None else (what, UNCLEAR, why)
        if quartiles := self.several("quartiles"):
            errors = dict.fromkeys(show_error(each) for each in quartiles.values())
            shown = [UNCLEAR if self._far(each) else _value(each) for each in quartiles.values()]
            one = "  ".join(shown if set(shown) != {UNCLEAR} else [UNCLEAR])
            yield "quartiles", one, max(errors, key=len, default="")
        for what, side in ENDS.items():
            if (answer := self.one(what)) is not None:
                beyond = answer.persons_above_cap()
                known = "" if beyond is None else f"at most {counted(beyond, 'person')} {side}"
                hidden = what in unclear and answer.value is not None
                yield what, UNCLEAR if hidden else _value(answer), unclear.get(what, known)
        for value, answer in self.values.items():
            yield value, _value(answer), error(answer)
        more = len(self.several("top")) - MOST_VALUES
        if more > 0:
            yield f"and {more:,} more", "", ""
        if "top" in self.answers and not self.values:
            yield "no value is frequent enough to be shown", "", ""

    @property
    def _no_range(self) -> bool:
        """Whether both ends were asked and have no answer, or are crossed."""
        ends = [end.value for what in ENDS if (end := self.one(what)) is not None]
        return ends == [None, None] or _crossed(ends)

    def _far(self, quartile: Answer) -> bool:
        """Whether a quartile lies far beyond both ends, or there are none: then ε or persons are too few."""
        ends = [end.value for what in ENDS if (end := self.one(what)) is not None]
        if len(ends) < 2 or self._no_range:
            return len(ends) == 2
        (low, high), value = ends, quartile.value
        try:
            wide: Any = high - low  # type: ignore[operator]
            return bool(value < low - wide or value > high + wide)
        except (TypeError, OverflowError):
            return False

    def to_dict(self, persons: int | None = None) -> dict[str, Any]:
        """Plain values, ready for JSON: all as released, and by "unclear" which of them tell nothing, and why.

        Args:
            persons: how many there are, as released; None where that was not asked.

        >>> orders.describe(["returned"], epsilon=1).columns[0].to_dict()["type"]
        'boolean'
        """
        told = {what: each.to_dict() for what, each in self.answers.items()}
        return {"name": self.name, "type": self.type, "unclear": self.unclear(persons)} | told


@dataclass(frozen=True, repr=False)
class Description:
    """What was released about a table and its columns, for one guarantee.

    >>> description = orders.describe(["amount"], epsilon=1)
    >>> description.whole["persons"].value > 0, description.guarantee
    (True, Pure(1))
    """

    table: str
    """What is described."""
    per: str
    """Whether each "person" or each "row" counts once."""
    whole: Mapping[str, Answer]
    """The numbers of persons and rows, by "persons" and "rows"."""
    columns: tuple[Column, ...]
    guarantee: Guarantee
    """What all of it cost together."""
    left_out: tuple[str, ...] = ()
    """What is not described, and why, in sentences."""

    def __getitem__(self, name: str) -> Column:
        """The column of this name."""
        return next(column for column in self.columns if column.name == name)

    @property
    def answers(self) -> Answers:
        """Every answer, by the column, empty for the whole table, and what it says, and its key where it is several.

        >>> ("", "rows") in orders.describe(["amount"], epsilon=1).answers
        True
        """
        found: dict[Any, Answer] = {("", what): answer for what, answer in self.whole.items()}
        for column in self.columns:
            for what, each in column.answers.items():
                parts = {(): each} if isinstance(each, Answer) else {(key,): part for key, part in each.items()}
                found |= {(column.name, what, *key): part for key, part in parts.items()}
        return Answers(found, self.guarantee, "column, question, of", self.releases)

    @property
    def persons(self) -> int | None:
        """How many persons there are, as released; None where that was not asked.

        >>> orders.describe(["amount"], epsilon=1).persons > 200
        True
        """
        found = self.whole.get("persons")
        return found.value if found is not None and isinstance(found.value, int) else None

    @property
    def stored(self) -> bool:
        """Whether all of it was answered before and cost nothing."""
        return self.answers.stored

    @property
    def releases(self) -> tuple[Release, ...]:
        """What was charged and drawn for all of it."""
        parts = [*self.whole.values(), *(each for column in self.columns for each in column.answers.values())]
        return together(each.releases for each in parts)

    def certificate(self) -> dict[str, Any]:
        """What was drawn for all of it, as plain values; see `Answer.certificate`.

        >>> len(orders.describe(["returned"], epsilon=1).certificate()["releases"])
        3
        """
        return certificate_of(self.releases)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON.

        >>> orders.describe(["amount"], epsilon=1).to_dict()["guarantee"]
        'Pure(1)'
        """
        return {
            "table": self.table,
            "per": self.per,
            "guarantee": repr(self.guarantee),
            **{what: answer.to_dict() for what, answer in self.whole.items()},
            "columns": [column.to_dict(self.persons) for column in self.columns],
            "notes": list(self.notes()),
            "left_out": list(self.left_out),
        }

    def to_html(self) -> str:
        """A page of its own with pictures, which loads nothing.

        >>> orders.describe(["amount"], epsilon=1).to_html().startswith("<!doctype html>")
        True
        """
        from tacit.answers.description_page import page

        return page(self)

    def notes(self) -> Iterator[str]:
        """How to read it.

        >>> next(orders.describe(["amount"], epsilon=1).notes())
        'Intervals in the last column hold what was released of the data as capped, with 95 % confidence each.'
        """
        yield "Intervals in the last column hold what was released of the data as capped, with 95 % confidence each."
        if any("quartiles" in column.answers for column in self.columns):
            yield "Ranks are bounds, and quartiles are mostly far closer."
        if any(column.unclear(self.persons) for column in self.columns):
            yield (
                "Where something is unclear or has no answer, persons are too few at this cost, or noise took it far "
                "off: more ε or fewer columns help. Python and JSON keep what was released."
            )
        if any(map(below_zero, self.answers.values())):
            yield f"{BELOW}."

    def sentences(self, face: Face) -> Iterator[str]:
        """What holds for all of it, in the words of a face."""
        yield from self.notes()
        answers = list(self.answers.values())
        protected = f"Protects {answers[0].protected} with {self.guarantee!r} for all of it."
        yield f"{protected}{weakness(self.guarantee)}"
        yield from (tell(sentence, face) for sentence in self.left_out)

    def told(self, face: Face) -> str:
        """The description in the words of a face.

        Args:
            face: where it was asked: "python", "command line", "json" or "page".

        >>> print(orders.describe(["returned"], epsilon=1).told("command line").splitlines()[0])
        NOT PRIVATE (seeded randomness).
        """
        first = [] if all(answer.private for answer in self.answers.values()) else [NOT_PRIVATE]
        first += [] if (said := warned(self.answers, face)) is None else [said]
        blocks = [(self.table, [(what, _value(each), error(each)) for what, each in self.whole.items()])]
        blocks += [(f"{column.name} ({column.type})", list(column.lines(self.persons))) for column in self.columns]
        every = [line for _, lines in blocks for line in lines]
        wide = [min(WIDEST[i], max((len(line[i]) for line in every), default=0)) for i in (0, 1)]
        shown = [*first, COUNTED[self.per], ""]
        for title, lines in blocks:
            shown.append(title)
            shown += [f"  {_cut(what):<{wide[0]}}  {value:>{wide[1]}}  {off}".rstrip() for what, value, off in lines]
        return "\n".join([*shown, "", *self.sentences(face)])

    def __str__(self) -> str:
        return self.told("python")

    def __repr__(self) -> str:
        names = ", ".join(column.name for column in self.columns)
        return f"<Description of {self.table}: {names}; {self.guarantee!r}>"

    def _repr_html_(self) -> str:
        from tacit.answers.description_page import fragment

        return fragment(self)


def error(answer: Answer) -> str:
    """How far an answer may be off; a count that is only bounded below is at least 0."""
    low, high = answer.interval()
    return show_error(clamped(answer) if high == inf and low != -inf else answer)


def _crossed(ends: list[Any]) -> bool:
    """Whether the lowest value lies above the highest."""
    return len(ends) == 2 and None not in ends and bool(ends[0] > ends[1])


def _unclear_mean(answer: Answer, persons: int | None) -> str:
    """Why a mean tells nothing; empty where it does.

    Over a range it may be off by as much as that. Without one it has caps, whose answers say how many persons were
    above them and, where only a handful seemed to be there, how many it takes.
    """
    spread, (low, high) = answer.spread, answer.interval()
    if isinstance(spread, Share):
        return "off by as much as its range" if high - low >= (spread.high - spread.low) / 3 else ""
    if not isinstance(spread, Quotient):
        return ""
    noise = spread.top_noise
    parts = [noise.first, noise.second] if isinstance(noise, Difference) else [noise]
    totals = [part for part in parts if isinstance(part, CappedTotal)]
    wanted = max((total.wanted or 0 for total in totals), default=0)
    if persons is not None and wanted > persons and all(total.wanted for total in totals):
        return f"needs about {counted(wanted, 'person')}"
    if low == -inf and high == inf:
        return "too few persons"
    cut = sum(total.above for total in totals)
    if persons is not None and cut > 0 and MOST_CUT * cut >= persons:
        return f"its cap cuts about {counted(min(cut, max(persons, 1)), 'person')}"
    return ""


def _value(answer: Answer) -> str:
    return "no answer" if answer.value is None else show(answer.value)


def _cut(text: str) -> str:
    """A value of a text that fits its place on one line."""
    line = " ".join(text.split()) or repr(text)
    return line if len(line) <= 40 else f"{line[:39]}…"
