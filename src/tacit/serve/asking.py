"""Where a question is written: the tables to read, questions to begin with, lists to click, the editor, the cost.

Everything works as plain forms and links. Where there is a script it reads what it knows from this HTML: which columns
belong to which table, and of which kind they are (`static/ask.js`, `static/editor.js`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import urlencode

from tacit.errors import TacitError
from tacit.serve.composing import COMPARISONS, STEPS, compose, quoted
from tacit.serve.fragments import LETTERS, options
from tacit.tables import Private, Session
from tacit.tables.statistics.catalogue import callable_in_sql

_OF_NUMBERS = ("sum", "mean", "variance", "std")
_OF_ORDERED = ("median", "quantile", "min", "max")
_CODES = ("id", "key", "code", "year", "month", "day", "number", "zip")
WORDS = (
    "SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "HAVING", "LIMIT", "JOIN", "LEFT JOIN", "ON", "AND", "OR", "NOT",
    "IN", "BETWEEN", "IS NULL", "IS NOT NULL", "LIKE", "AS", "DISTINCT", "CASE WHEN", "THEN", "ELSE", "END", "TRUE",
    "FALSE", "DESC", "DATE", "TIMESTAMP",
)  # fmt: skip
"""Words that the editor completes, beside names and aggregates."""


def kind(column: Mapping[str, str]) -> str:
    """Which kind of column it is, for lists: number, text, date, boolean or other."""
    name = column["type"].partition("(")[0]
    kinds = {"integer": "number", "decimal": "number", "float": "number", "timestamp": "date"}
    return kinds.get(name, name if name in ("text", "date", "boolean") else "other")


def schema(facts: Mapping[str, Any]) -> str:
    """The tables and their columns, with a box to search them."""
    pieces = []
    for each in facts["tables"]:
        of = f'data-table="{escape(each["name"])}"'
        items = "".join(
            f'<li data-find="{escape(each["name"])} {escape(c["name"])} {escape(c["type"])}">'
            f'<code data-insert="{escape(quoted(c["name"]))}" {of} data-kind="{kind(c)}">'
            f'{escape(c["name"])}</code> <span class="quiet small">{escape(c["type"])}</span></li>'
            for c in each["columns"]
        )
        secret = "private" if each["private"] else "public"
        pieces.append(
            f'<details open data-holds><summary><strong data-table="{escape(each["name"])}" '
            f'data-insert="{escape(quoted(each["name"]))}">{escape(each["name"])}</strong> '
            f'<span class="pill{"" if each["private"] else " good"}">{secret}</span></summary>'
            f'<p class="hint">{escape(each["declared"])}</p><ul class="schema">{items}</ul></details>'
        )
    return (
        '<p hidden><label for="find">Search tables and columns</label>'
        '<input id="find" type="search" data-search="tables" autocomplete="off">'
        '<span id="find-found" class="hint" role="status"></span></p>'
        f'<div id="tables">{"".join(pieces)}</div>'
    )


def samples(session: Session, facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Questions to begin with, made of names and types alone: words and SQL."""
    table = next((each for each in facts["tables"] if each["private"]), None)
    if table is None:
        return []
    declared = session._tables.declared[table["name"]]
    persons = {person.column for person in declared.persons} if isinstance(declared, Private) else set()
    columns = [c for c in table["columns"] if c["name"] not in persons]
    measures = sorted(
        (c for c in columns if kind(c) == "number" and not _code(c["name"])), key=lambda c: c["type"] == "integer"
    )
    truths = [c["name"] for c in columns if kind(c) == "boolean"]
    wanted: list[tuple[str, dict[str, str]]] = [
        ("How many rows are there?", {"statistic": "count"}),
        ("How many persons?", {"statistic": "persons"}),
    ]
    if measures:
        name = measures[0]["name"]
        wanted.append((f"What is the mean {name}?", {"statistic": "mean", "column": name}))
        other = measures[1 % len(measures)]["name"]
        wanted.append((f"What is the median {other}?", {"statistic": "median", "column": other}))
        wanted += [
            (f"The mean {name} for each {truth}", {"statistic": "mean", "column": name, "group_by": truth})
            for truth in truths[:1]
        ]
    wanted += [(f"Rows for each {truth}", {"statistic": "count", "group_by": truth}) for truth in truths[:1]]
    found = []
    for words, fields in wanted:
        try:
            found.append((words, compose({"table": table["name"]} | fields, session, 10_000)))
        except TacitError:
            continue  # not of this table
    return found


def _code(name: str) -> bool:
    """Whether a column is rather a name for something than a measure, as far as its own name tells."""
    return name.lower() in _CODES or name.lower().endswith(tuple(f"_{word}" for word in _CODES))


def sample_links(name: str, found: Sequence[tuple[str, str]], epsilon: str) -> str:
    """Samples as links that fill the form; they ask nothing."""
    items = "".join(
        f'<li><a class="button tiny" data-sql="{escape(sql)}" '
        f'href="{escape(question_link(name, sql, {"epsilon": epsilon}))}">{escape(words)}</a></li>'
        for words, sql in found
    )
    return f'<ul class="samples" aria-label="Questions to begin with">{items}</ul>' if items else ""


def question_link(name: str, sql: str, amounts: Mapping[str, str]) -> str:
    """An address that opens a question, filled in and not asked."""
    return f"/datasets/{name}?{urlencode({'sql': sql, **{k: v for k, v in amounts.items() if v}})}"


def _columns(facts: Mapping[str, Any], chosen: str, table: str) -> Iterator[str]:
    """The columns of all private tables, table by table."""
    yield '<option value="">–</option>'
    for each in facts["tables"]:
        if each["private"]:
            kinds = {c["name"]: kind(c) for c in each["columns"]}
            picked = chosen if each["name"] == table else ""
            inside = options(((name, name) for name in kinds), picked, kind=kinds)
            yield f'<optgroup label="{escape(each["name"])}">{inside}</optgroup>'


def builder(facts: Mapping[str, Any], given: Mapping[str, str]) -> str:
    """Lists to click a question together."""
    tables = [each["name"] for each in facts["tables"] if each["private"]]
    table = given.get("table") or (tables[0] if tables else "")
    known = callable_in_sql()
    takes = {
        key: "number" if key in _OF_NUMBERS else "ordered" if key in _OF_ORDERED else entry.of
        for key, entry in known.items()
    }

    def field(name: str, label: str, inside: str) -> str:
        return f'<p data-field="{name}"><label for="b-{name}">{label}</label>{inside}</p>'

    def chooser(name: str, inside: str) -> str:
        return f'<select id="b-{name}" name="{name}">{inside}</select>'

    def columns(name: str) -> str:
        return chooser(name, "".join(_columns(facts, given.get(name, ""), table)))

    def box(name: str, hint: str) -> str:
        value = escape(given.get(name, ""))
        return f'<input id="b-{name}" name="{name}" value="{value}" placeholder="{escape(hint)}" autocomplete="off">'

    statistics = options(
        ((key, entry.words) for key, entry in known.items()), given.get("statistic", "count"), takes=takes
    )
    comparisons = options(COMPARISONS.items(), given.get("filter_is", "="))
    steps = options([("", "–"), *((step, step) for step in STEPS)], given.get("group_step", ""))
    opened = " open" if given.get("action") == "compose" else ""
    return (
        f'<details class="builder" id="builder"{opened}><summary>Build a question</summary>'
        '<fieldset><legend>What</legend><div class="grid">'
        + field("table", "in the table", chooser("table", options(((t, t) for t in tables), table)))
        + field("statistic", "the", chooser("statistic", statistics))
        + field("column", "of the column", columns("column"))
        + field("quantile", "which quantile, from 0 to 1", box("quantile", "0.9"))
        + '</div></fieldset><fieldset><legend>For each</legend><div class="grid">'
        + field("group_by", "value of", columns("group_by"))
        + field("group_step", "in steps of a", chooser("group_step", steps))
        + field("groups", "of these values", box("groups", "north, south"))
        + '</div></fieldset><fieldset><legend>Only rows where</legend><div class="grid">'
        + field("filter_column", "the column", columns("filter_column"))
        + field("filter_is", "compares so", chooser("filter_is", comparisons))
        + field("filter_value", "with", box("filter_value", "30"))
        + '</div></fieldset><p id="built" class="hint" role="status"></p>'
        '<button name="action" value="compose" class="second">Write it as SQL</button></details>'
    )


def form(
    name: str,
    facts: Mapping[str, Any],
    given: Mapping[str, str],
    costs: Sequence[str],
    hidden: Mapping[str, str],
    preview: str,
    begin: str = "",
) -> str:
    """The form in which a question is written, previewed and asked; ``costs`` are the letters its budget knows."""
    sql = escape(given.get("sql", ""))
    persons = escape(given.get("persons") or str(facts["persons"] or ""))
    calls = " ".join(dict.fromkeys(entry.call.partition("(")[0] for entry in callable_in_sql().values()))

    def cost(field: str, label: str, value: str) -> str:
        return (
            f'<p><label for="{field}">{label}</label><input id="{field}" name="{field}" value="{escape(value)}" '
            'inputmode="decimal" autocomplete="off" size="8"></p>'
        )

    return (
        f'<form method="post" action="/datasets/{escape(name)}" id="ask" data-dataset="{escape(name)}">'
        + "".join(f'<input type="hidden" name="{key}" value="{escape(value)}">' for key, value in hidden.items())
        + '<button name="action" value="preview" class="default" tabindex="-1" aria-hidden="true">Preview</button>'
        f'{begin}<div class="beside">{builder(facts, given)}'
        '<div><p><label for="sql">Question, as SQL</label></p>'
        f'<div class="editor" data-words="{escape(", ".join(WORDS))}" data-calls="{escape(calls)}">'
        '<textarea id="sql" name="sql" rows="6" spellcheck="false" autocapitalize="off" autocomplete="off" required>'
        f"{sql}</textarea></div>"
        '<p class="hint" id="keys" hidden>Ctrl+Enter asks, Ctrl+Space completes a name.</p>'
        '<fieldset><legend>What it may cost</legend><div class="grid">'
        '<p id="slide" hidden><label for="slider">private ← ε → accurate</label>'
        '<input type="range" id="slider" min="0" max="60" step="1"></p>'
        + "".join(cost(letter, LETTERS[letter], given.get(letter, "")) for letter in costs)
        + f'<p><label for="persons">persons, about</label><input id="persons" name="persons" value="{persons}" '
        'inputmode="numeric" autocomplete="off" size="8" placeholder="for a forecast"></p></div></fieldset>'
        f'<p><label class="check"><input type="checkbox" name="fresh" value="1"{" checked" * bool(given.get("fresh"))}>'
        "Ask anew and pay again, even if the same was answered before</label></p>"
        f'<div id="preview" aria-live="polite">{preview}</div>'
        '<p class="buttons"><button name="action" value="ask" class="main">Ask and pay</button> '
        '<button name="action" value="preview" class="second">Preview, free</button>'
        '<button type="button" id="cancel" class="danger" hidden>Cancel</button></p></div></div></form>'
    )


def expected(found: Mapping[str, Any]) -> str:
    """How far off the answers will be, an item for each aggregate."""
    items = (
        "".join(f"<li>{escape(each['words'])}</li>" for each in found["errors"]) or f"<li>{escape(found['words'])}</li>"
    )
    return f'<div class="notice plain"><strong>Expected error</strong><ul>{items}</ul></div>'
