"""Windows over a person's rows in SQL, each by the rule that `tacit.language.windows` states.

A window that depends on places has an order in which no two rows tie unless they are alike in everything that the table
knows of them; then it does not matter which is which, as long as all windows agree: so where several orders are asked
for, rows are numbered once, and ties in each order broken by that number. A window that depends on values alone has the
written order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tacit.engines.aggregates import direction, mean
from tacit.engines.chains import Steps
from tacit.engines.requests.operands import value as counted
from tacit.engines.term import Term, combine, fill
from tacit.language.aggregates import sum_scale
from tacit.language.expressions import Expression, Literal
from tacit.language.inside import Frame, Ordering, Window
from tacit.language.types import Kind
from tacit.language.windows import IN_FRAME, NEIGHBOURS, PLACED

if TYPE_CHECKING:
    from tacit.engines.requests.derived import PersonRows
    from tacit.engines.rows import Rows

_WHOLE = Frame("rows", None, None)
_UP_TO_EQUALS = Frame("range", None, 0)


class Windows:
    """The windows of one table of rows, over the names that its chain of ``steps`` knows."""

    def __init__(self, rows: Rows, steps: Steps, table: PersonRows) -> None:
        self._rows, self.steps, self.dialect = rows, steps, rows.dialect
        self._table = table

    def value(self, window: Window) -> Term:
        """What a window is in each row."""
        return _WRITTEN[window.function](self, window)

    # ---- the steps ------------------------------------------------------------------------------------------------

    def operand(self, window: Window, place: int = 0) -> Term:
        """An operand's own value; zeros have no sign."""
        operand = window.operands[place]
        if isinstance(operand, Literal):
            return Term(self.dialect.constant(operand), short=True)
        return self.steps.read(self._rows.shown(operand))

    def number(self, window: Window) -> Term:
        """The first operand as a 64-bit count of its units."""
        return self.steps.read(self._rows.value(counted(window.operands[0])))

    def over(
        self, function: Term, window: Window, *, ties: bool, frame: Frame | None = None, equals: bool = False
    ) -> Term:
        """A function over a window, under a name.

        With ``ties`` no two different rows are equally placed. With ``equals`` it sees only rows that the written
        order places as the present one.
        """
        partition = [self.steps.read("person"), *(self._read(self._rows.distinct, part) for part in window.partition)]
        order = [(direction(item, term.sql), term) for item, term in self._ordered(window)]
        if equals:
            partition, order = partition + [term for _, term in order], []
        if ties:
            order += [(f"{term.sql} ASC NULLS LAST", term) for term in self._ties() if term not in partition]
            order = order or [("person", partition[0])]
        by = f" ORDER BY {', '.join(sql for sql, _ in order)}" if order else ""
        written = f" {_framed(frame)}" if frame is not None else ""
        sql = f"{function.sql} OVER (PARTITION BY {', '.join(term.sql for term in partition)}{by}{written})"
        return self.steps.bind(combine(sql, function, *partition, *(term for _, term in order)))

    def _ordered(self, window: Window) -> list[tuple[Ordering, Term]]:
        return [(item, self._read(self._rows.shown, item.by)) for item in window.order]

    def _read(self, how: Callable[[Expression], str], expression: Expression) -> Term:
        return self.steps.read(how(expression))

    def _ties(self) -> list[Term]:
        """What tells equally placed rows apart: all that is known of them, or their number by all that is known."""
        places = {
            (window.partition, window.order)
            for _, window in self._table.windows
            if window.function in (*PLACED, *NEIGHBOURS, *IN_FRAME) or self.frame(window)[1]
        }
        if len(places) < 2:
            return self._known()
        order = ", ".join(f"{term.sql} ASC NULLS LAST" for term in self._known())
        numbered = f"ROW_NUMBER() OVER (PARTITION BY person ORDER BY {order or 'person'})"
        return [self.steps.bind(combine(numbered, self.steps.read("person"), *self._known()))]

    def _known(self) -> list[Term]:
        """All that the table knows of a row, by keys where there are any."""
        known = [expression for _, expression in self._table.shown]
        for _, window in self._table.windows:
            known += [*window.partition, *(item.by for item in window.order), *window.operands]
        told = [e for e in known if not isinstance(e, Literal) and e.type.kind is not Kind.OTHER]
        return list(dict.fromkeys(self._read(self._rows.distinct, expression) for expression in told))

    def frame(self, window: Window) -> tuple[Frame | None, bool]:
        """The frame as it is written, and whether it depends on places."""
        frame = window.frame or (_UP_TO_EQUALS if window.order else _WHOLE)
        if (frame.start, frame.end) == (None, None):
            return None, False  # without an order it is all rows
        return frame, frame.unit == "rows"

    def framed(self, function: Term, window: Window) -> Term:
        """An aggregate of the frame."""
        frame, places = self.frame(window)
        if frame is None:
            window = Window(window.type, window.function, window.operands, window.partition)
        return self.over(function, window, ties=places, frame=frame)


def _framed(frame: Frame) -> str:
    def end(rows: int | None, unlimited: str) -> str:
        if rows is None:
            return f"UNBOUNDED {unlimited}"
        return "CURRENT ROW" if not rows else f"{abs(rows)} {'PRECEDING' if rows < 0 else 'FOLLOWING'}"

    return f"{frame.unit.upper()} BETWEEN {end(frame.start, 'PRECEDING')} AND {end(frame.end, 'FOLLOWING')}"


# ---- each window ----------------------------------------------------------------------------------------------------


def _whole(windows: Windows, found: Term) -> Term:
    """A count in 64 bits, which some engines make in 32."""
    return fill(f"CAST({{}} AS {windows.dialect.int64})", found)


def _row_number(windows: Windows, window: Window) -> Term:
    return _whole(windows, windows.over(Term("ROW_NUMBER()"), window, ties=True))


def _tiles(windows: Windows, window: Window) -> Term:
    (number,) = window.operands
    assert isinstance(number, Literal)
    return _whole(windows, windows.over(Term(f"NTILE({number.value})"), window, ties=True))


def _rank(function: str) -> Callable[[Windows, Window], Term]:
    def rank(windows: Windows, window: Window) -> Term:
        if not window.order:
            return Term(f"CAST(1 AS {windows.dialect.int64})", short=True)
        return _whole(windows, windows.over(Term(function), window, ties=False))

    return rank


def _percent_rank(windows: Windows, window: Window) -> Term:
    place, rows = _rank("RANK()")(windows, window), _rows(windows, window)
    double = windows.dialect.float64
    share = f"CAST({{}} - 1 AS {double}) / CAST(NULLIF({{}} - 1, 0) AS {double})"
    return fill(f"COALESCE({share}, {windows.dialect.double(0.0)})", place, rows)


def _cume_dist(windows: Windows, window: Window) -> Term:
    upto = windows.framed(Term("COUNT(*)"), window)
    double = windows.dialect.float64
    return fill(f"CAST({{}} AS {double}) / CAST({{}} AS {double})", upto, _rows(windows, window))


def _rows(windows: Windows, window: Window) -> Term:
    """How many rows the partition has."""
    return windows.framed(Term("COUNT(*)"), Window(window.type, "count", (), window.partition))


def _neighbour(windows: Windows, window: Window) -> Term:
    away, default = window.operands[1], windows.operand(window, 2)
    assert isinstance(away, Literal)
    value = windows.operand(window)
    asked = combine(f"{window.function.upper()}({value.sql}, {away.value}, {default.sql})", value, default)
    return windows.over(asked, window, ties=True)


def _end_of_frame(windows: Windows, window: Window) -> Term:
    """The first or last value: where the frame ends at equals by the written order, that of these by all else."""
    frame, places = windows.frame(window)
    asked = fill(f"{window.function.upper()}({{}})", windows.operand(window))
    if places:
        return windows.over(asked, window, ties=True, frame=frame)
    end = (frame or _WHOLE).start if window.function == "first_value" else (frame or _WHOLE).end
    return windows.over(asked, window, ties=True, frame=_WHOLE, equals=end == 0)


def _nth_value(windows: Windows, window: Window) -> Term:
    """The value at a place; a frame that begins at the first row has it if it has so many rows."""
    frame, places = windows.frame(window)
    number = window.operands[1]
    assert isinstance(number, Literal)
    asked = fill(f"NTH_VALUE({{}}, {number.value})", windows.operand(window))
    found = windows.over(asked, window, ties=True, frame=frame if places else _WHOLE)
    if places:
        return found
    return fill(f"CASE WHEN {{}} >= {number.value} THEN {{}} END", windows.framed(Term("COUNT(*)"), window), found)


def _count(windows: Windows, window: Window) -> Term:
    counted_value = windows.operand(window) if window.operands else Term("*")
    return windows.framed(fill("COUNT({})", counted_value), window)


def _total(windows: Windows, window: Window) -> Term:
    x = windows.number(window)
    return windows.framed(combine(windows.dialect.total_over(x.sql), x), window)


def _sum(windows: Windows, window: Window) -> Term:
    total = _total(windows, window)
    return combine(windows.dialect.narrow(total.sql), total)


def _average(windows: Windows, window: Window) -> Term:
    number = windows.framed(fill("COUNT({})", windows.number(window)), window)
    return mean(windows.steps, _total(windows, window), number, sum_scale(window.operands[0].type))


def _extreme(largest: bool) -> Callable[[Windows, Window], Term]:
    def extreme(windows: Windows, window: Window) -> Term:
        words = ("BOOL_AND", "BOOL_OR") if window.type.kind is Kind.BOOLEAN else ("MIN", "MAX")
        return windows.framed(fill(f"{words[largest]}({{}})", windows.operand(window)), window)

    return extreme


_WRITTEN: dict[str, Callable[[Windows, Window], Term]] = {
    "row_number": _row_number,
    "ntile": _tiles,
    "rank": _rank("RANK()"),
    "dense_rank": _rank("DENSE_RANK()"),
    "percent_rank": _percent_rank,
    "cume_dist": _cume_dist,
    "lag": _neighbour,
    "lead": _neighbour,
    "first_value": _end_of_frame,
    "last_value": _end_of_frame,
    "nth_value": _nth_value,
    "count": _count,
    "sum": _sum,
    "avg": _average,
    "min": _extreme(False),
    "max": _extreme(True),
    "bool_and": _extreme(False),
    "bool_or": _extreme(True),
}
