"""What a SELECT gives: rows and columns as SQL has them, each released cell with its interval."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from math import inf
from typing import TYPE_CHECKING, Any

from tacit.answers.answer import Answer
from tacit.answers.certificates import Release
from tacit.answers.several import Answers, common_sentences, first_lines, first_paragraph, show_error
from tacit.answers.values import plain, show

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from tacit.guarantees import Guarantee


@dataclass(frozen=True)
class Row:
    """One row of a result."""

    key: tuple[Any, ...]
    """The group it is about, a value for each item of GROUP BY; empty without groups."""
    cells: tuple[Any, ...]
    """An `Answer` or a plain value for each column."""


class Result(Answers):
    """What a SELECT gives: one row for each group, one column for each output.

    It is also a mapping of its answers, as `Answers`: by group, or by (group, column) where there are several columns
    of answers, or by column without groups. Frames have two more columns beside each answer, with the ends of its 95 %
    interval; an end is missing where nothing bounds it.

    Args:
        columns: the names of the columns.
        released: those of them that hold answers; the others hold keys, constants and what is computed of these.
        rows: the rows, in order.
        by: what GROUP BY names; empty without groups.
        guarantee: what all of it cost.
        releases: what was charged and drawn for it; that of the answers unless given.

    >>> query = "SELECT region, SUM(amount) AS total, COUNT(*) AS n FROM orders GROUP BY region"
    >>> result = session.sql(query, keys=["north", "south"], epsilon=1)
    >>> result.columns
    ('region', 'total', 'n')
    >>> result["north", "n"].value > 0
    True
    >>> result.to_pandas(intervals=False).columns.tolist()
    ['region', 'total', 'n']
    """

    def __init__(
        self,
        columns: Sequence[str],
        released: Sequence[str],
        rows: Sequence[Row],
        by: Sequence[str],
        guarantee: Guarantee,
        releases: tuple[Release, ...] = (),
    ) -> None:
        self.columns, self.released, self.by = tuple(columns), tuple(released), tuple(by)
        self.rows = tuple(rows)
        by_group = self.by and len(self.released) == 1
        found = {}
        for row in self.rows:
            for name, cell in zip(self.columns, row.cells, strict=True):
                if name in self.released:
                    key = row.key if by_group else (*row.key, name)
                    found[key[0] if len(key) == 1 else key] = cell
        super().__init__(found, guarantee, ", ".join((*self.by, *(() if by_group else ("column",)))), releases)

    def nonnegative(self) -> Result:
        """The same, with counts that noise took below 0 shown as 0; it costs nothing.

        >>> session.sql("SELECT COUNT(*) AS n, SUM(amount) AS total FROM orders", epsilon=1).nonnegative().columns
        ('n', 'total')
        """
        return self._each(lambda cell: cell.nonnegative())

    def as_stored(self) -> Result:
        """The same, with every answer marked as returned again at no cost.

        >>> result = session.sql("SELECT COUNT(*) AS n, SUM(amount) AS total FROM orders", epsilon=1)
        >>> result.as_stored().stored
        True
        """
        return self._each(lambda cell: cell.as_stored())

    def _each(self, change: Callable[[Answer], Answer]) -> Result:
        rows = [
            Row(row.key, tuple(change(cell) if isinstance(cell, Answer) else cell for cell in row.cells))
            for row in self.rows
        ]
        return Result(self.columns, self.released, rows, self.by, self.guarantee, self.releases)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON: the columns, the rows as in a frame, and the answers with all that is known.

        >>> result = session.sql("SELECT COUNT(*) AS n, SUM(amount) AS total FROM orders", epsilon=1)
        >>> list(result.to_dict()["rows"][0])
        ['n', 'n_low', 'n_high', 'total', 'total_low', 'total_high']
        """
        rows = [{name: plain(value) for name, value in record.items()} for record in self._records()]
        return super().to_dict() | {"columns": list(self.columns), "rows": rows}

    def to_pandas(self, intervals: bool = True) -> pd.DataFrame:
        """A data frame with one row for each group and one column for each output.

        Args:
            intervals: whether to put the ends of the 95 % interval beside each answer, as name_low and name_high.

        >>> result = session.sql("SELECT COUNT(*) AS n, SUM(amount) AS total FROM orders", epsilon=1)
        >>> result.to_pandas(intervals=False).columns.tolist()
        ['n', 'total']
        """
        import pandas as pd

        return pd.DataFrame(self._records(intervals), columns=self._names(intervals))

    def to_arrow(self, intervals: bool = True) -> pa.Table:
        """An Arrow table, as `to_pandas`.

        Args:
            intervals: whether to put the ends of the 95 % interval beside each answer.

        >>> session.sql("SELECT COUNT(*) AS n, SUM(amount) AS total FROM orders", epsilon=1).to_arrow().column_names
        ['n', 'n_low', 'n_high', 'total', 'total_low', 'total_high']
        """
        return self._arrow(self._records(intervals), self._names(intervals))

    def to_polars(self, intervals: bool = True) -> pl.DataFrame:
        """A Polars frame, as `to_pandas`.

        Args:
            intervals: whether to put the ends of the 95 % interval beside each answer.

        >>> result = session.sql("SELECT COUNT(*) AS n, SUM(amount) AS total FROM orders", epsilon=1)
        >>> result.to_polars(intervals=False).columns
        ['n', 'total']
        """
        import polars as pl

        return pl.DataFrame(pl.from_arrow(self.to_arrow(intervals)))

    def _names(self, intervals: bool = True) -> list[str]:
        """The names of a frame's columns; those of intervals make way for columns of the same name."""
        names: list[str] = []
        for name in self.columns:
            ends = [f"{name}_low", f"{name}_high"] if intervals and name in self.released else []
            names += [name, *(unused(end, {*self.columns, *names}) for end in ends)]
        return names

    def _records(self, intervals: bool = True) -> list[dict[str, Any]]:
        names = self._names(intervals)
        return [dict(zip(names, self._flat(row, intervals), strict=True)) for row in self.rows]

    def _flat(self, row: Row, intervals: bool) -> Iterator[Any]:
        for cell in row.cells:
            yield cell.value if isinstance(cell, Answer) else cell
            if intervals and isinstance(cell, Answer):
                yield from (None if end in (-inf, inf) else end for end in cell.interval())

    def shown(self) -> tuple[list[str], list[list[str]]]:
        """The head and the cells of a table for people: beside each answer its interval, where it has one.

        >>> session.sql("SELECT COUNT(*) AS n, MAX(amount) AS m FROM orders", epsilon=1).shown()[0]
        ['n', '95 % interval', 'm', '95 % interval']
        """
        head = [part for name in self.columns for part in ([name, INTERVAL] if name in self.released else [name])]
        days = {i for i in range(len(self.columns)) if all(_midnight(row.cells[i]) for row in self.rows)}
        rows = []
        for row in self.rows:
            cells: list[str] = []
            for i, cell in enumerate(row.cells):
                cells += [_value(cell), show_error(cell)] if isinstance(cell, Answer) else [_known(cell, i in days)]
            rows.append(cells)
        return head, rows

    def __str__(self) -> str:
        """A table with a head, then what all answers have in common."""
        if not self.rows:
            return f"No row is shown. All together: {self.guarantee!r}."
        head, rows = self.shown()
        kept = [i for i, name in enumerate(head) if name != INTERVAL or any(row[i] for row in rows)]
        numbers = {i for i in kept if all(_numeric(row[i]) for row in rows)}
        widths = {i: max(len(line[i]) for line in (head, *rows)) for i in kept}
        lines = [
            "  ".join(f"{line[i]:>{widths[i]}}" if i in numbers else f"{line[i]:<{widths[i]}}" for i in kept).rstrip()
            for line in (head, *rows)
        ]
        return "\n".join([*first_lines(self), *lines, *remarks(self)])

    def __repr__(self) -> str:
        return super().__repr__().replace("Answers(", "Result(", 1)

    def _repr_html_(self) -> str:
        head, rows = self.shown()
        top = "".join(f"<th>{html.escape(name)}</th>" for name in head)
        cells = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        common = html.escape(" ".join(remarks(self)))
        return f"{first_paragraph(self)}<table><tr>{top}</tr>{cells}</table><p>{common}</p>"


def remarks(found: Answers) -> list[str]:
    """What holds for all answers; where there is none, only public tables were read."""
    if isinstance(found, Result) and found.rows and not len(found):
        if any(found.guarantee.keywords().values()):
            first = "The rows come from public tables and from numbers that were answered first"
            return [f"{first}, for {found.guarantee!r}."]
        return ["Only public tables were read: the rows are exact and cost nothing."]
    return list(common_sentences(found)) if len(found) else [str(found)]


Known = tuple[tuple[tuple[Any, ...], tuple[Any, ...]], ...]
"""For each row of a result its group and the cells that hold no answer."""


def known_cells(result: Result) -> Known:
    """What a result holds beside its answers."""
    return tuple((row.key, tuple(c for c in row.cells if not isinstance(c, Answer))) for row in result.rows)


def shaped(
    answers: Sequence[Answer],
    columns: Any,
    released: Any,
    by: Any,
    known: Known,
    guarantee: Any,
    releases: tuple[Release, ...] = (),
) -> Result:
    """The result with these answers, row by row, and these other cells."""
    if len(answers) != len(known) * len(released):
        raise ValueError("other answers than cells for them")
    given, rows = iter(answers), []
    for key, cells in known:
        others = iter((*cells, *[None] * len(columns)))
        rows.append(Row(key, tuple([next(given) if name in released else next(others) for name in columns])))
    return Result(columns, released, rows, by, guarantee, releases)


def alone(answer: Answer) -> Result:
    """One answer as a row with one column."""
    name = answer.name or "value"
    return Result((name,), (name,), (Row((), (answer,)),), (), answer.guarantee)


INTERVAL = "95 % interval"
"""The head of a column of intervals."""


def _value(answer: Answer) -> str:
    return "no answer" if answer.value is None else show(answer.value)


def _known(cell: Any, day: bool) -> str:
    """A key or a constant: whole numbers as they are written, for they may be years or codes."""
    if cell is None:
        return "NULL"
    if day:
        return str(cell.date())
    return str(cell) if isinstance(cell, str | int) and not isinstance(cell, bool) else show(cell)


def _midnight(cell: Any) -> bool:
    """Whether a time is the start of a day."""
    return isinstance(cell, datetime) and cell.time() == time()


def _numeric(text: str) -> bool:
    return text[:1].isdigit() or text[:1] == "-"


def unused(name: str, taken: Sequence[str] | set[str]) -> str:
    """A name that is not taken: the name itself, or with a number after it."""
    number, fresh = 2, name
    while fresh in taken:
        fresh, number = f"{name}_{number}", number + 1
    return fresh
