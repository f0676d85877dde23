"""Descriptions: what was released about a table and each of its columns, as lines for people, JSON or a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.answers.answer import NOT_PRIVATE, Answer, weakness
from tacit.answers.certificates import Release, certificate_of, together
from tacit.answers.several import Answers, show_error, warned
from tacit.answers.values import counted, show
from tacit.errors import Face, tell

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
"""What is shown of a quartile that lies far outside the range; its value is in the description."""

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

    def lines(self, per: str) -> Iterator[Line]:
        """What is told of it."""
        for what in (EMPTY, "distinct", "mean"):
            if (answer := self.one(what)) is not None:
                yield what, _value(answer), show_error(answer)
        if quartiles := self.several("quartiles"):
            errors = dict.fromkeys(show_error(each) for each in quartiles.values())
            yield "quartiles", "  ".join(map(self._quartile, quartiles.values())), max(errors, key=len, default="")
        for what, side in (("lowest", "below"), ("highest", "above")):
            if (answer := self.one(what)) is not None:
                beyond = answer.persons_above_cap()
                persons = "" if beyond is None else counted(beyond, "person")
                known = f"needs more than {persons}" if answer.value is None else f"at most {persons} {side}"
                yield what, _value(answer), known if persons else ""
        for value, answer in self.values.items():
            yield value, _value(answer), show_error(answer)
        more = len(self.several("top")) - MOST_VALUES
        if more > 0:
            yield f"and {more:,} more", "", ""
        if "top" in self.answers and not self.values:
            yield "no value is frequent enough to be shown", "", ""

    def _quartile(self, answer: Answer) -> str:
        """A quartile, unless it lies far beyond both ends or there are none: then ε or persons are too few."""
        ends = [end for what in ("lowest", "highest") if (end := self.one(what)) is not None]
        if len(ends) < 2:
            return _value(answer)
        (low, high), value = (end.value for end in ends), answer.value
        if low is high is None:
            return UNCLEAR
        try:
            wide: Any = high - low  # type: ignore[operator]
            far = value < low - wide or value > high + wide
        except (TypeError, OverflowError):
            far = False
        return UNCLEAR if far else _value(answer)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON.

        >>> orders.describe(["returned"], epsilon=1).columns[0].to_dict()["type"]
        'boolean'
        """
        return {"name": self.name, "type": self.type} | {what: each.to_dict() for what, each in self.answers.items()}


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
            "columns": [column.to_dict() for column in self.columns],
            "left_out": list(self.left_out),
        }

    def to_html(self) -> str:
        """A page of its own with pictures, which loads nothing.

        >>> orders.describe(["amount"], epsilon=1).to_html().startswith("<!doctype html>")
        True
        """
        from tacit.answers.description_page import page

        return page(self)

    def sentences(self, face: Face) -> Iterator[str]:
        """What holds for all of it, in the words of a face."""
        answers = list(self.answers.values())
        yield "Intervals in the last column hold what was released of the data as capped, with 95 % confidence each."
        if any("quartiles" in column.answers for column in self.columns):
            yield "Ranks are bounds, and quartiles are mostly far closer."
        if any(UNCLEAR in value for column in self.columns for _, value, _ in column.lines(self.per)):
            yield (
                "Where a quartile is unclear, noise took it far outside the range, or there are too few persons for a "
                "range: more ε or fewer columns help."
            )
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
        blocks = [(self.table, [(what, _value(each), show_error(each)) for what, each in self.whole.items()])]
        blocks += [(f"{column.name} ({column.type})", list(column.lines(self.per))) for column in self.columns]
        every = [line for _, lines in blocks for line in lines]
        wide = [min(WIDEST[i], max((len(line[i]) for line in every), default=0)) for i in (0, 1)]
        shown = [*first, COUNTED[self.per], ""]
        for title, lines in blocks:
            shown.append(title)
            shown += [
                f"  {_cut(what):<{wide[0]}}  {value:>{wide[1]}}  {error}".rstrip() for what, value, error in lines
            ]
        return "\n".join([*shown, "", *self.sentences(face)])

    def __str__(self) -> str:
        return self.told("python")

    def __repr__(self) -> str:
        names = ", ".join(column.name for column in self.columns)
        return f"<Description of {self.table}: {names}; {self.guarantee!r}>"

    def _repr_html_(self) -> str:
        from tacit.answers.description_page import fragment

        return fragment(self)


def _value(answer: Answer) -> str:
    return "no answer" if answer.value is None else show(answer.value)


def _cut(text: str) -> str:
    """A value of a text that fits its place on one line."""
    line = " ".join(text.split()) or repr(text)
    return line if len(line) <= 40 else f"{line[:39]}…"
