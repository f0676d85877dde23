"""From released answers to what is shown: output columns, HAVING, ORDER BY and LIMIT. All of it is post-processing.

Rows that are kept or cut because of what was released about them may owe that to their noise: then the intervals of all
rows there were hold together (`tacit.answers.spreads.Chosen`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, cast

from tacit.answers import Answer, Answers
from tacit.answers.certificates import together
from tacit.answers.computed import compute, constant_value, parts_of
from tacit.answers.formulas import Constant, Formula, evaluate, replace_leaves
from tacit.answers.quantities import Point, Quantity
from tacit.answers.results import Result, Row
from tacit.answers.spreads import Chosen
from tacit.answers.values import show_key
from tacit.guarantees import Guarantee


@dataclass(frozen=True)
class Key:
    """The place of a part of the group's key in a formula."""

    number: int


@dataclass(frozen=True)
class Source:
    """Where a released value comes from: a statistic, and which of its answers where it has several."""

    statistic: int
    part: Any = None


@dataclass(frozen=True)
class Output:
    """A column."""

    name: str
    formula: Any
    """Over the sources' answers and the parts of the key."""
    text: str
    """As it was written."""
    named: bool
    """Whether the query gave it its name."""

    @property
    def released(self) -> bool:
        """Whether released answers are in it."""
        return bool(parts_of(self.formula))


@dataclass(frozen=True)
class Order:
    """What to order by."""

    formula: Any
    descending: bool
    nulls_first: bool


@dataclass(frozen=True)
class Layout:
    """How released answers are shown."""

    outputs: tuple[Output, ...]
    sources: tuple[Source, ...]
    by: tuple[str, ...] = ()
    """What rows are grouped by."""
    found: bool = False
    """Whether groups come in the order of what was released about them, the largest first."""
    having: Any = None
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0
    whole: bool = False
    """Whether the one output is a statistic with several answers, which are shown as they are."""

    def moved(self, placed: Callable[[Any], Any], sources: tuple[Source, ...]) -> Layout:
        """The same with other formulas in the places of released values."""
        return replace(
            self,
            outputs=tuple(replace(output, formula=replace_leaves(output.formula, placed)) for output in self.outputs),
            sources=sources,
            having=None if self.having is None else replace_leaves(self.having, placed),
            order=tuple(replace(item, formula=replace_leaves(item.formula, placed)) for item in self.order),
        )

    @property
    def _shortened(self) -> bool:
        """Whether rows may be left out."""
        return self.having is not None or self.limit == 0 or self.offset > 0

    @property
    def _by_value(self) -> bool:
        """Whether rows are in the order of what was released about them."""
        return any(parts_of(item.formula) for item in self.order) if self.order else self.found

    def show(
        self, answers: Sequence[Answer | Answers], cost: Guarantee, releases: Sequence[int] | None = None
    ) -> Answer | Answers:
        """What the query gives; ``releases`` are the numbers of the releases that the answers come from."""
        if self.whole:
            return answers[0]
        every = self._rows(answers)
        rows = [row for row in every if self.having is None or row.value(self.having) is True]
        for item in reversed(self.order):
            rows.sort(key=lambda row, of=item.formula: _rank(row.value(of)), reverse=item.descending)  # type: ignore[misc]
            rows.sort(key=lambda row, item=item: (row.value(item.formula) is None) != item.nulls_first)  # type: ignore[misc]
        kept = rows[self.offset :][: self.limit]
        chosen = self.having is not None and bool(parts_of(self.having))
        chosen = chosen or (len(kept) < len(rows) and self._by_value)
        among = len(every) if chosen else 1
        cells = [
            Row(row.key, tuple(row.cell(output, self, among, releases) for output in self.outputs)) for row in kept
        ]
        if not self.by and not self._shortened and len(self.outputs) == 1:
            return cast(Answer, cells[0].cells[0])
        names = [output.name for output in self.outputs]
        released = [output.name for output in self.outputs if output.released]
        return Result(names, released, cells, self.by, cost, together(each.releases for each in answers))

    def _rows(self, answers: Sequence[Answer | Answers]) -> list[_Row]:
        """A row for each group that every statistic has an answer for; without groups one row."""
        if not self.by:
            return [_Row((), (), [_pick(answers[source.statistic], (), source.part) for source in self.sources])]
        tables = [cast(Answers, each) for each in answers]
        labels = [self._labels(number, table) for number, table in enumerate(tables)]
        shared = [label for label in labels[0] if all(label in other for other in labels)]
        return [
            _Row(
                label if isinstance(label, tuple) and len(self.by) > 1 else (label,),
                label,
                [_pick(tables[source.statistic], (label,), source.part) for source in self.sources],
            )
            for label in shared
        ]

    def _labels(self, number: int, table: Answers) -> dict[Any, None]:
        """The groups that a statistic has answers for."""
        several = any(source.part is not None for source in self.sources if source.statistic == number)
        return dict.fromkeys((key[0] if len(key) == 2 else key[:-1]) if several else key for key in table)


@dataclass(frozen=True)
class _Row:
    """A group with what was released about it."""

    key: tuple[Any, ...]
    label: Any
    """Its key as answers are found by it: a value, or a tuple of several."""
    parts: list[Answer]
    """The answer of each source."""

    def bound(self, formula: Any) -> Formula:
        """The formula with the group's own key in it."""
        return cast(
            Formula,
            replace_leaves(formula, lambda leaf: Constant(self.key[leaf.number]) if isinstance(leaf, Key) else leaf),
        )

    def value(self, formula: Any) -> Point:
        """What a formula gives for this group."""
        return evaluate(self.bound(formula), [part.value for part in self.parts])

    def cell(self, output: Output, layout: Layout, among: int, releases: Sequence[int] | None) -> Any:
        """What stands in a column, for one of so many rows among which those shown were chosen."""
        formula = self.bound(output.formula)
        if not output.released:
            return constant_value(formula)
        where = f" where {', '.join(layout.by)} is {show_key(self.label)}" if layout.by else ""
        used = {}
        for number in parts_of(formula):
            statistic = layout.sources[number].statistic
            used[statistic if releases is None else releases[statistic]] = self.parts[number].guarantee
        answer = compute(formula, self.parts, f"{output.text}{where}", reduce(add, used.values()))
        spread = Chosen(answer.spread, among) if among > 1 and answer.spread is not None else answer.spread
        return replace(answer, spread=spread, name=output.name if output.named else None)


def _pick(answers: Answer | Answers, group: tuple[Any, ...], part: Any) -> Answer:
    """The answer about a group, or about everybody where there are none, and of several about it one."""
    if isinstance(answers, Answer):
        return answers
    places = [place for label in group for place in (label if isinstance(label, tuple) else (label,))]
    key = (*places, *(() if part is None else (part,)))
    return answers[key[0] if len(key) == 1 else key]


def _rank(point: Point) -> tuple[int, Any]:
    """Values in an order: numbers, truth values, texts."""
    if isinstance(point, Quantity):
        return 0, point.exact
    return (1, point) if isinstance(point, bool) else (2, point or "")
