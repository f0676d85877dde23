"""Questions that are put together from fields, as the page and programs send them, written as SQL.

So there is one way to ask, and everybody can see what was asked. Names are quoted where they need it and values are
written as their column's type has them: what is not such a value is refused. Only ``where`` is taken as it is written;
like all SQL it is understood, or refused, later.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal

from tacit.errors import InvalidInput
from tacit.language.parsing import writable
from tacit.language.types import ColumnType, Kind
from tacit.numbers.exact import check_listed
from tacit.tables import Private, Session
from tacit.tables.statistics.asking import Entry
from tacit.tables.statistics.catalogue import callable_in_sql

FIELDS = {
    "table": "the table",
    "statistic": "what is asked of it",
    "column": "the column it is asked of",
    "quantile": "which quantile",
    "where": "a condition, as SQL",
    "filter_column": "a column that must be so",
    "filter_is": "how it compares",
    "filter_value": "what it is compared with; several with commas between them",
    "group_by": "the column whose values make groups",
    "group_step": "day, month or year, where that is a date or a time",
    "groups": "the groups: some values with commas between them, or 'low to high'",
}
"""The fields of a question, with what each of them is."""

COMPARISONS = {
    "=": "is",
    "<>": "is not",
    "<": "is below",
    "<=": "is at most",
    ">": "is above",
    ">=": "is at least",
    "in": "is one of",
    "null": "is missing",
    "not null": "is not missing",
}
"""How a filter compares, with words for it."""

STEPS = ("day", "month", "year")
_NUMBER = re.compile(r"-?\d{1,18}(\.\d{1,18})?")


def compose(question: object, session: Session, longest: int) -> str:
    """Write a question that is composed of fields as SQL."""
    if not isinstance(question, Mapping) or not set(question) <= set(FIELDS):
        raise InvalidInput(f"a question is composed of {', '.join(FIELDS)}.")
    given = {name: checked_text(value, name, longest) for name, value in question.items() if value not in (None, "")}
    table, statistic = given.get("table", ""), given.get("statistic", "")
    check_listed(table, "table", session.tables)
    known = callable_in_sql()
    check_listed(statistic, "statistic", known)
    entry, columns = known[statistic], dict(session.schema(table).columns)
    quantile = given.get("quantile", "0.5")
    if not re.fullmatch(r"0?\.\d{1,18}|[01](\.0*)?|\d{1,9}/\d{1,9}", quantile):
        raise InvalidInput("quantile must be a number between 0 and 1, such as 0.9.")
    aggregate = entry.call.format(_asked(entry, given, table, session), quantile=quantile)
    selected, grouped, ranged = _groups(given, columns)
    conditions = _filter(given, columns) + ranged
    if "where" in given:
        conditions.insert(0, f"({given['where']})" if conditions else given["where"])
    lines = [f"SELECT {selected}{aggregate}", f"FROM {quoted(table)}"]
    if conditions:
        lines.append("WHERE " + "\n  AND ".join(conditions))
    return "\n".join(lines + grouped)


def _asked(entry: Entry, given: Mapping[str, str], table: str, session: Session) -> str:
    """What is counted or added up."""
    if entry.of == "persons":
        declared = session._tables.declared[table]
        if not isinstance(declared, Private) or len(declared.persons) != 1:
            raise InvalidInput("the number of persons is asked of a table with one person column; choose another.")
        return quoted(declared.persons[0].column)
    if "column" in given:
        return quoted(given["column"])
    if entry.of == "rows":
        return "*"
    raise InvalidInput(f"the {entry.words} needs a column; choose one.")


def _filter(given: Mapping[str, str], columns: Mapping[str, ColumnType]) -> list[str]:
    """The condition that a column is so."""
    name, how = given.get("filter_column"), given.get("filter_is", "=")
    if name is None:
        return []
    kind = _type(name, columns, "filter_column")
    check_listed(how, "filter_is", COMPARISONS)
    if how in ("null", "not null"):
        return [f"{quoted(name)} IS {how.upper()}"]
    if "filter_value" not in given:
        raise InvalidInput(f"say what {name} is compared with.")
    if how == "in":
        return [f"{quoted(name)} IN ({_list(given['filter_value'], kind, name)})"]
    return [f"{quoted(name)} {how} {_literal(given['filter_value'], kind, name)}"]


def _groups(given: Mapping[str, str], columns: Mapping[str, ColumnType]) -> tuple[str, list[str], list[str]]:
    """What is selected beside the aggregate, the GROUP BY, and the conditions that say which groups there are."""
    name = given.get("group_by")
    if name is None:
        return "", [], []
    kind, step = _type(name, columns, "group_by"), given.get("group_step", "")
    shown, by = f"{quoted(name)}, ", quoted(name)
    if step and kind.kind in (Kind.DATE, Kind.TIMESTAMP):
        check_listed(step, "group_step", STEPS)
        if step != "day" or kind.kind is Kind.TIMESTAMP:
            shown, by = f"DATE_TRUNC('{step}', {quoted(name)}) AS {step}, ", "1"
    values = given.get("groups", "").strip()
    ends = re.split(r"\s+to\s+", values)
    if not values:
        conditions = []
    elif len(ends) == 2:
        low, high = (_literal(end, kind, name) for end in ends)
        conditions = [f"{quoted(name)} BETWEEN {low} AND {high}"]
    else:
        conditions = [f"{quoted(name)} IN ({_list(values, kind, name)})"]
    return shown, [f"GROUP BY {by}"], conditions


def _type(name: str, columns: Mapping[str, ColumnType], field: str) -> ColumnType:
    check_listed(name, field, columns)
    return columns[name]


def _list(values: str, kind: ColumnType, name: str) -> str:
    found = [_literal(value, kind, name) for value in values.split(",") if value.strip()]
    if not found:
        raise InvalidInput(f"name at least one value of {name}.")
    return ", ".join(found)


def _literal(value: str, kind: ColumnType, name: str) -> str:
    """A value of a column, as SQL writes it."""
    text = value.strip()
    if len(text) > 1 and text[0] == text[-1] == "'":
        text = text[1:-1].replace("''", "'")
    if kind.number:
        if not _NUMBER.fullmatch(text):
            raise InvalidInput(f"{name} is a number; write one such as 30.")
        return text
    if kind.kind is Kind.BOOLEAN:
        if text.lower() not in ("true", "false"):
            raise InvalidInput(f"{name} is true or false.")
        return text.upper()
    if kind.kind in (Kind.DATE, Kind.TIMESTAMP):
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise InvalidInput(f"{name} is a date; write one such as {date(2024, 12, 31)}.") from None
        day = kind.kind is Kind.DATE
        return f"DATE '{moment.date()}'" if day else f"TIMESTAMP '{moment.replace(tzinfo=None)}'"
    return "'" + text.replace("'", "''") + "'"


def quoted(name: str) -> str:
    """A name as SQL reads it; plain words stay plain, for whoever reads the question."""
    from sqlglot.dialects.duckdb import DuckDB

    if re.fullmatch(r"[a-z_][a-z0-9_]*", name) and name.upper() not in DuckDB.Tokenizer.KEYWORDS:
        return name
    return '"' + name.replace('"', '""') + '"'


def checked_text(value: object, name: str, longest: int) -> str:
    """A text that may be written down, or a number as one; refused if it is too long."""
    text = str(value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else value
    if not isinstance(text, str) or len(text) > longest or not writable(text):
        raise InvalidInput(
            f"{name} must be a text of at most {longest} characters, without NUL characters or unpaired surrogates."
        )
    return text
