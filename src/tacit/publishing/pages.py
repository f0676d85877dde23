"""The page of a publication: one HTML file that needs no other, in words for readers who know nothing of privacy.

Whatever is not written here is escaped where it is put in. The page has no script and loads nothing.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from tacit.answers import Answers
from tacit.answers.results import INTERVAL, Result, remarks
from tacit.answers.several import show_error
from tacit.answers.values import show, show_key
from tacit.publishing.pictures import picture
from tacit.publishing.statement import NEIGHBOURS, releases_of, spent_on

if TYPE_CHECKING:
    from tacit.publishing.asking import Published
    from tacit.publishing.edition import Asked

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2.5rem; } svg { width: 100%; font: 13px system-ui, sans-serif; }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto; }
th, td { padding: .3rem .8rem; border-bottom: 1px solid #ddd; text-align: left; } td.number { text-align: right; }
.quiet { color: #595959; font-size: .9rem; } code { overflow-wrap: anywhere; } .bad { color: #a00; font-weight: bold; }
"""


def page(found: Published) -> str:
    """The whole page."""
    edition = found.edition
    about = f"<p>{escape(edition.about)}</p>" if edition.about else ""
    shown = "".join(_question(asked, found.results[asked.name], found) for asked in edition.questions)
    seeded = "" if all(a.private for r in found.results.values() for a in r.values()) else (
        '<p class="bad">Not private: made with a seeded source, for tests only.</p>'
    )  # fmt: skip
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{escape(edition.title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f'<h1>{escape(edition.title)}</h1>\n{seeded}{about}<p class="quiet">Period {escape(edition.period)}, version '
        f"{escape(edition.version)} of the data.</p>\n{_reading()}{shown}{_protection(found)}\n"
        "</main>\n</body>\n</html>\n"
    )


def _reading() -> str:
    return (
        "<h2>How to read these numbers</h2><p>Every number was changed a little by chance before it was published, so "
        "that nobody can tell from it whether any one person is in the data. How much is known: beside each number "
        "stands the range that holds, 95 times out of 100, what is named below it.</p>\n"
    )


def _question(asked: Asked, found: Answers, whole: Published) -> str:
    head, rows = _cells(found)
    kept = [i for i, name in enumerate(head) if name != INTERVAL or any(row[i] for row in rows)]
    top = "".join(f'<th scope="col">{escape(head[i])}</th>' for i in kept)
    body = "".join("<tr>" + "".join(_cell(row[i]) for i in kept) + "</tr>" for row in rows)
    note = f"<p>{escape(asked.note)}</p>" if asked.note else ""
    cost = whole.costs[asked.name].short()
    files = f'<a href="{asked.name}.csv">CSV</a>, <a href="{asked.name}.parquet">Parquet</a>'
    return (
        f'<section id="{asked.name}"><h2>{escape(asked.title)}</h2>{note}{picture(found, asked.title)}'
        f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
        f"<p>{escape(' '.join(remarks(found)))}</p>"
        f'<p class="quiet">Asked: <code>{escape(asked.words)}</code>, for {escape(cost)}. {files}</p></section>\n'
    )


def _cells(found: Answers) -> tuple[list[str], list[list[str]]]:
    if isinstance(found, Result):
        return found.shown()
    rows = [[show_key(key), show(answer.value), show_error(answer)] for key, answer in found.items()]
    return [found.name, "value", INTERVAL], rows


def _cell(text: str) -> str:
    number = text[:1].isdigit() or (text[:1] == "-" and text[1:2].isdigit())
    return f'<td class="number">{escape(text)}</td>' if number and " to " not in text else f"<td>{escape(text)}</td>"


def _protection(found: Published) -> str:
    spent = spent_on(releases_of(found))
    cost = "Nothing was charged." if spent is None else f"This publication cost {spent.short()}. {spent.describe()}"
    held = "".join(f"<li>{escape(sentence)}</li>" for sentence in found.protection.values())
    kinds = " or ".join(found.kinds)
    return (
        f"<section><h2>What is protected, and what it cost</h2><p>Protected is any one {escape(kinds)}, with all their "
        f"rows. {escape(NEIGHBOURS)}</p><p>{escape(cost)}</p><ul>{held}</ul>"
        '<p class="quiet">For programs: <a href="privacy.json">privacy statement</a>. What was drawn and charged, for '
        '<code>tacit verify</code>: <a href="certificate.json">certificate</a>.</p></section>'
    )
