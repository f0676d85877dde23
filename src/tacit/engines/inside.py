"""What is computed inside persons, in SQL: one row for each group of a person's rows, or windows over them."""

from __future__ import annotations

from tacit.engines.aggregates import Aggregates
from tacit.engines.chains import Steps
from tacit.engines.dialect import Dialect
from tacit.engines.requests.derived import PERSON, PersonGroups, PersonRows
from tacit.engines.rows import Rows
from tacit.engines.script import Part, fragment
from tacit.engines.stages import DerivedSQL, placed
from tacit.engines.term import Term, combine
from tacit.engines.windows import Windows
from tacit.language.expressions import Column, Expression
from tacit.language.types import ColumnType


def write_groups(table: PersonGroups, sql: DerivedSQL, rows: Rows) -> list[Part]:
    """The parts of a table of groups: the rows, what must be known of each beforehand, the groups, what follows."""
    by = [rows.distinct(expression) for _, expression in table.by]
    aggregates = Aggregates(rows, by)
    shown: list[tuple[Term, str]] = []
    keys = dict(zip((name for name, _ in table.by), by, strict=True))
    for column, reading in sorted(sql.asked - {(PERSON, "key")}):
        if column == PERSON or column in keys:
            expression = table.source.person if column == PERSON else table.computed[column]
            read = _of_group(aggregates, rows, expression, keys.get(column, "person"), reading)
        else:
            read = aggregates.value(dict(table.aggregates)[column])
            if reading == "key":
                read = key_of(rows.dialect, aggregates.after.bind(read), sql.columns[column].kind)
        shown.append((read, placed(sql.columns[column], reading)))
    return aggregates.parts(sql.source, shown)


def _of_group(aggregates: Aggregates, rows: Rows, expression: Expression, key: str, reading: str) -> Term:
    """A reading of what rows are grouped by: all rows of a group have the same."""
    if not isinstance(expression, Column):
        found = aggregates.after.read(key)
        return key_of(rows.dialect, found, expression.type) if reading == "key" else found
    name = key if reading == "key" else rows.group(expression) if reading == "group" else rows.shown(expression)
    if name == key:
        return aggregates.after.read(key)
    return aggregates.least(aggregates.before.read(name), expression.type)


def key_of(dialect: Dialect, value: Term, kind: ColumnType) -> Term:
    """The key of a value that was computed."""
    return combine(dialect.value_key(value.sql, kind), value)


def write_rows(table: PersonRows, sql: DerivedSQL, rows: Rows) -> list[Part]:
    """The parts of a table of rows: the rows, and the windows over them."""
    steps = Steps(rows.dialect, f"{sql.source}_over_")
    windows = Windows(rows, steps, table)
    shown: list[tuple[Term, str]] = []
    for column, reading in sorted(sql.asked - {(PERSON, "key")}):
        if column == PERSON or column in table.computed:
            expression = table.source.person if column == PERSON else table.computed[column]
            read = _of_row(rows, steps, expression, reading)
        else:
            read = windows.value(dict(table.windows)[column])
            if reading == "key":
                read = key_of(rows.dialect, steps.bind(read), sql.columns[column].kind)
        shown.append((read, placed(sql.columns[column], reading)))
    parts = rows.own_parts()
    source = steps.chained(rows.every, ["person"], [term for term, _ in shown], parts)
    columns = ", ".join(["person", *(f"{term.sql} AS {alias}" for term, alias in shown)])
    return [*parts, Part(sql.source, fragment(f"SELECT {columns} FROM ", source), kept=bool(table.windows))]


def _of_row(rows: Rows, steps: Steps, expression: Expression, reading: str) -> Term:
    """A reading of what a row shows."""
    if reading == "group":
        return steps.read(rows.group(expression))
    if reading == "value":
        return steps.read(rows.shown(expression))
    if isinstance(expression, Column):
        return steps.read(rows.distinct(expression))
    return key_of(rows.dialect, steps.read(rows.shown(expression)), expression.type)
