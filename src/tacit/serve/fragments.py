"""Pieces of the pages as HTML text. Whatever is not written here is escaped where it is put in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from html import escape
from typing import Any

from tacit.answers import Answer, Answers
from tacit.answers.results import Result, remarks
from tacit.answers.several import show_error
from tacit.answers.values import show, show_key
from tacit.guarantees import Guarantee
from tacit.ledger import texts
from tacit.serve import drawings
from tacit.serve.history import Line
from tacit.tables.statistics.catalogue import callable_in_sql


def price(amount: Guarantee) -> str:
    """A cost or a budget in letters, as text."""
    return amount.short()


def _digits(number: Fraction) -> str:
    return f"{float(number):.6g}"


LATEST = 100
"""How many questions of the past a page shows."""
LETTERS = {"epsilon": "ε", "delta": "δ (only where needed)", "rho": "ρ (instead of ε)"}


def layout(title: str, body: str, *, who: str = "", custodian: bool = False, mark: str = "") -> str:
    """A whole page."""
    home = "/custodian" if custodian else "/"
    out = (
        f'<form method="post" action="/logout"><span class="who">{escape(who)}</span>'
        f'<input type="hidden" name="mark" value="{escape(mark)}"><button class="quiet">Log out</button></form>'
        if who
        else ""
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)} – Tacit</title>\n"
        '<link rel="stylesheet" href="/static/page.css">\n<link rel="icon" href="/static/icon.svg">\n'
        f'<meta name="mark" content="{escape(mark)}">\n'
        '<script src="/static/page.js" defer></script>\n</head>\n<body>\n'
        '<a class="skip" href="#main">Skip to the content</a>\n'
        f'<header><a class="home" href="{home}">Tacit</a>{out}</header>\n'
        f'<main id="main">\n{body}\n</main>\n</body>\n</html>\n'
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """A table of cells that are HTML already; wide ones scroll inside their own box."""
    named = f"<caption>{escape(caption)}</caption>" if caption else ""
    top = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table>{named}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def notice(kind: str, text: str) -> str:
    """A remark that is read out: "good", "bad" or "plain"."""
    role = "alert" if kind == "bad" else "status"
    return f'<p class="notice {kind}" role="{role}">{escape(text[:1].upper() + text[1:])}</p>'


def answer(found: Answer | Answers) -> str:
    """An answer as a sentence with its interval drawn."""
    if isinstance(found, Answer):
        return f'<p class="sentence">{escape(str(found))}</p>{drawings.interval(found)}{_story(found)}'
    head, rows = _cells(found)
    common = escape(" ".join(remarks(found)))
    return f'{table(head, rows) if rows else ""}<p class="sentence">{common}</p>'


def _cells(found: Answers) -> tuple[list[str], list[list[str]]]:
    """The head and the cells of a table; one column of answers is drawn on a common scale, too."""
    if isinstance(found, Result):
        head, texts = found.shown()
        rows = [[escape(text) for text in row] for row in texts]
        if len(found.released) != 1:
            return head, rows
    else:
        head = [found.name, "value", "95 % interval"]
        rows = [
            [
                escape(show_key(key)),
                f"<strong>{escape(show(each.value))}</strong>",
                escape(show_error(each)),
            ]
            for key, each in found.items()
        ]
    over = drawings.scale(list(found.values()))
    drawn = [drawings.small(each, over) if over else "" for each in found.values()]
    return [*head, ""], [[*row, picture] for row, picture in zip(rows, drawn, strict=True)]


def _story(found: Answer) -> str:
    return f"<details><summary>How this was made</summary><pre>{escape(found.explain())}</pre></details>"


def columns(facts: Mapping[str, Any]) -> str:
    """The public facts of all tables."""
    pieces = []
    for each in facts["tables"]:
        rows = [(f"<code>{escape(c['name'])}</code>", escape(c["type"])) for c in each["columns"]]
        pieces.append(
            f"<details open><summary><strong>{escape(each['name'])}</strong> <span class='quiet'>"
            f"{escape(each['declared'])}</span></summary>{table(('column', 'type'), rows)}</details>"
        )
    return "".join(pieces)


def history(name: str, lines: Sequence[Line]) -> str:
    """A caller's questions, the latest first."""
    if not lines:
        return '<p class="quiet">Nothing was asked yet.</p>'
    rows = []
    for line in reversed(lines[-LATEST:]):
        link = f'<a class="whole" href="/datasets/{escape(name)}/answers/{line.number}">answer {line.number}</a>'
        state = link if line.status == "answered" else escape(_STATES[line.status])
        rows.append(
            (when(line.at), f"<code>{escape(line.text)}</code>", whole(price(texts.guarantee(line.cost))), state)
        )
    caption = f"The latest {LATEST} of {len(lines)}" if len(lines) > LATEST else ""
    return table(("when (UTC)", "question", "cost", ""), rows, caption)


def whole(text: str) -> str:
    """A text that is not broken into lines."""
    return f'<span class="whole">{escape(text)}</span>'


def when(at: str) -> str:
    """A time of the ledger, to the minute."""
    return escape(at[:16].replace("T", " "))


_STATES = {"charged": "charged, no answer recorded", "failed": "charged, no answer"}


def options(choices: Iterable[tuple[str, str]], chosen: str = "") -> str:
    """The choices of a list."""
    return "".join(
        f'<option value="{escape(value)}"{" selected" if value == chosen else ""}>{escape(words)}</option>'
        for value, words in choices
    )


def builder(facts: Mapping[str, Any], given: Mapping[str, str]) -> str:
    """Lists to click a question together; a column is one of all tables'."""
    tables = [each for each in facts["tables"] if each["private"]]
    names = dict.fromkeys(c["name"] for each in tables for c in each["columns"])
    every = [("", "–"), *((name, name) for name in names)]

    statistics = [(key, entry.words) for key, entry in callable_in_sql().items()]

    def field(name: str, label: str, inside: str) -> str:
        return f'<p><label for="b-{name}">{label}</label>{inside}</p>'

    def chooser(name: str, choices: Iterable[tuple[str, str]]) -> str:
        return f'<select id="b-{name}" name="{name}">{options(choices, given.get(name, ""))}</select>'

    def box(name: str, hint: str) -> str:
        value = escape(given.get(name, ""))
        return f'<input id="b-{name}" name="{name}" value="{value}" placeholder="{escape(hint)}" autocomplete="off">'

    return (
        '<details class="builder"><summary>Build a question</summary><div class="grid">'
        + field("statistic", "What", chooser("statistic", statistics))
        + field("column", "of the column", chooser("column", every))
        + field("table", "in the table", chooser("table", ((t["name"], t["name"]) for t in tables)))
        + field("where", "only rows where", box("where", "age < 30"))
        + field("group_by", "for each", chooser("group_by", every))
        + field("groups", "of these values", box("groups", "1, 2, 3"))
        + '</div><button name="action" value="compose" class="second">Write it as SQL</button></details>'
    )


def form(
    name: str,
    facts: Mapping[str, Any],
    given: Mapping[str, str],
    costs: Sequence[str],
    hidden: Mapping[str, str],
    preview: str,
) -> str:
    """The form in which a question is written, previewed and asked; ``costs`` are the letters its budget knows."""
    sql = escape(given.get("sql", ""))
    persons = escape(given.get("persons") or str(facts["persons"] or ""))

    def cost(field: str, label: str, value: str) -> str:
        return (
            f'<p><label for="{field}">{label}</label><input id="{field}" name="{field}" value="{escape(value)}" '
            'inputmode="decimal" autocomplete="off" size="8"></p>'
        )

    return (
        f'<form method="post" action="/datasets/{escape(name)}" id="ask" data-dataset="{escape(name)}">'
        + "".join(f'<input type="hidden" name="{key}" value="{escape(value)}">' for key, value in hidden.items())
        + '<button name="action" value="preview" class="default" tabindex="-1" aria-hidden="true">Preview</button>'
        f"{builder(facts, given)}"
        '<p><label for="sql">Question, as SQL</label>'
        f'<textarea id="sql" name="sql" rows="4" spellcheck="false" required>{sql}</textarea></p>'
        '<fieldset><legend>What it may cost</legend><div class="grid">'
        '<p id="slide" hidden><label for="slider">private ← ε → accurate</label>'
        '<input type="range" id="slider" min="0" max="60" step="1"></p>'
        + "".join(cost(letter, LETTERS[letter], given.get(letter, "")) for letter in costs)
        + f'<p><label for="persons">persons, about</label><input id="persons" name="persons" value="{persons}" '
        'inputmode="numeric" autocomplete="off" size="8"></p></div></fieldset>'
        f'<div id="preview" aria-live="polite">{preview}</div>'
        '<p class="buttons"><button name="action" value="ask" class="main">Ask and pay</button> '
        '<button name="action" value="preview" class="second">Preview, free</button></p></form>'
    )
