"""Windows over the rows of one person, with types checked: what each means, on every engine to the last bit.

Rows are partitioned by the person first, always, and by whatever else is written. They are ordered as written, and
equally placed ones by all else that the table knows of a row, from the least up and NULL last: so a place, a neighbour
and a frame counted in rows are the same on every engine.

================================ ===================================================================================
row_number, ntile                the row's place; which of n parts, as equal in size as can be, it is in
rank, dense_rank                 by the written order alone: one more than the rows, or different values, before it
percent_rank, cume_dist          (rank − 1) / (n − 1), 0 for one row alone; rows up to it and its equals / n
lag, lead                        a value some rows before or after, or a default where there is no such row
first_value, last_value,         of the frame, NULL included
nth_value
sum, count, avg, min, max,       of the frame, as the aggregates of these names (`tacit.language.aggregates`)
bool_and, bool_or
================================ ===================================================================================

Without a frame a window covers all rows if they have no written order, else those up to the present one and its equals
by that order.
"""

from __future__ import annotations

from collections.abc import Sequence

from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.language import build
from tacit.language.aggregates import aggregate
from tacit.language.expressions import Expression, Literal
from tacit.language.inside import Frame, Ordering, Window
from tacit.language.types import FLOAT, INTEGER, ColumnType, Kind

LARGEST_OFFSET = 10**6
"""How far away, in rows, a window may look, and the most parts of NTILE."""

PLACED = ("row_number", "ntile")
RANKED = ("rank", "dense_rank", "percent_rank", "cume_dist")
NEIGHBOURS = ("lag", "lead")
IN_FRAME = ("first_value", "last_value", "nth_value")
FRAMED = ("sum", "count", "avg", "min", "max", "bool_and", "bool_or")
WINDOWS = (*PLACED, *RANKED, *NEIGHBOURS, *IN_FRAME, *FRAMED)
"""The names of all windows."""


def window(
    function: str,
    operands: Sequence[Expression] = (),
    *,
    partition: Sequence[Expression] = (),
    order: Sequence[Ordering] = (),
    frame: Frame | None = None,
) -> Window:
    """A window over the rows of one person, by its name in any case; the person is never among ``partition``."""
    name, word, values = function.lower(), function.upper(), [build.typed(operand) for operand in operands]
    if name not in WINDOWS:
        raise UnsupportedQuery(f"{word} is no window function that is known; use one of {', '.join(WINDOWS)}.")
    if any(part.type.kind is Kind.OTHER for part in (*values, *partition, *(item.by for item in order))):
        raise InvalidInput(f"{word} needs values of a type that Tacit reads; use another column.")
    if frame is not None:
        _check_frame(frame, name, word, ordered=bool(order))
    kind, values = _typed(name, word, values)
    return Window(kind, name, tuple(values), tuple(partition), tuple(order), frame)


def _check_frame(frame: Frame, name: str, word: str, ordered: bool) -> None:
    if name in (*PLACED, *RANKED, *NEIGHBOURS):
        raise InvalidInput(f"{word} has no frame; leave ROWS or RANGE out.")
    ends = [end for end in (frame.start, frame.end) if end is not None]
    if any(abs(end) > LARGEST_OFFSET for end in ends) or (len(ends) == 2 and ends[0] > ends[1]):
        raise InvalidInput(f"a frame must begin before it ends, and reach at most {LARGEST_OFFSET:,} rows away.")
    if frame.unit == "range" and any(ends):
        raise UnsupportedQuery("RANGE with a distance is not supported; use ROWS, or RANGE up to the CURRENT ROW.")
    if frame.unit == "range" and frame.start == 0 and name == "nth_value":
        raise UnsupportedQuery("NTH_VALUE in a RANGE that starts at the CURRENT ROW is not supported; use ROWS.")
    if frame.unit == "range" and not ordered and ends:
        raise InvalidInput("RANGE up to the CURRENT ROW needs an order; write ORDER BY.")


def _typed(name: str, word: str, values: list[Expression]) -> tuple[ColumnType, list[Expression]]:
    """The result's type, and the operands as they are computed."""
    if name in FRAMED:
        found = aggregate(name, values)
        return found.type, list(found.operands)
    wanted = {"lag": (1, 3), "lead": (1, 3), "ntile": (1, 1), "nth_value": (2, 2)}
    least, most = wanted.get(name, (1, 1) if name in IN_FRAME else (0, 0))
    if not least <= len(values) <= most:
        raise InvalidInput(
            f"{word} has {len(values)} arguments; give it {least if least == most else f'{least} to {most}'}."
        )
    if name in NEIGHBOURS:
        away = values[1] if len(values) > 1 else Literal(INTEGER, 1)
        _check_number(away, word, least=0)
        if len(values) == 3:
            values[0], default = build.alike((values[0], values[2]), word)
        else:
            default = Literal(values[0].type, None)
        return values[0].type, [values[0], away, default]
    if name in ("ntile", "nth_value"):
        _check_number(values[-1], word, least=1)
    if name in IN_FRAME:
        return values[0].type, values
    return FLOAT if name in ("percent_rank", "cume_dist") else INTEGER, values


def _check_number(value: Expression, word: str, least: int) -> None:
    whole = isinstance(value, Literal) and value.type == INTEGER and isinstance(value.value, int)
    if not whole or not least <= value.value <= LARGEST_OFFSET:  # type: ignore[attr-defined]
        raise InvalidInput(f"{word} needs a constant whole number from {least} to {LARGEST_OFFSET:,}.")
