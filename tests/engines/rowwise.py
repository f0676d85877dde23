"""What an engine makes of expressions, row by row, beside what they mean."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from tacit.engines.requests import Ordered
from tacit.engines.rows import Rows
from tacit.engines.script import ALL_ROWS, Script, fragment
from tacit.language.expressions import Expression
from tacit.language.types import Kind
from tests.engines import cases, oracle
from tests.engines.questions import SCOPE, relation

_AS_NUMBER = (Kind.DATE, Kind.TIMESTAMP, Kind.BOOLEAN)


def values(snapshot: Any, asked: Sequence[Expression]) -> dict[int, list[object]]:
    """The values of expressions in all rows with a person, dates and times as numbers."""
    rows = Rows(snapshot.dialect, relation(), snapshot.tables)
    names = [rows.plain(SCOPE.find("number"))]
    names += [rows.ordered(Ordered(e)) if e.type.kind in _AS_NUMBER else rows.plain(e) for e in asked]
    found = snapshot.fetch_rows(Script(tuple(rows.parts()), fragment(f"SELECT {', '.join(names)} FROM ", ALL_ROWS)))
    return {int(row[0]): [bits(v) for v in row[1:]] for row in found}


def bits(found: Any) -> object:
    """A value so that two are equal only if all their bits are; zeros have no sign."""
    if isinstance(found, float):
        return found.hex() if found else 0.0
    return found if found is None or isinstance(found, str) else int(found)


def expected(expression: Expression, row: cases.Row) -> object:
    """What an expression means in a row."""
    wanted = oracle.evaluate(expression, row)
    if isinstance(wanted, date | datetime):
        wanted = oracle.in_order(Ordered(expression), row)
    return bits(wanted)


def differences(
    snapshot: Any, asked: Sequence[tuple[str, Expression]], table: Sequence[cases.Row]
) -> list[tuple[str, object, object, dict[str, object]]]:
    """Where an engine gives something else than what is meant: text, value, meaning and the row."""
    found = values(snapshot, [expression for _, expression in asked])
    wrong: list[tuple[str, object, object, dict[str, object]]] = []
    for row in table:
        for (text, expression), got in zip(asked, found[row["number"]], strict=True):
            wanted = expected(expression, row)
            if got != wanted or type(got) is not type(wanted):
                wrong.append((text, got, wanted, {c.name: row[c.name] for c in expression.columns()}))
    return wrong
