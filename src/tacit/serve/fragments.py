"""Pieces of the pages as HTML text. Whatever is not written here is escaped where it is put in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import chain, repeat

from tacit.guarantees import Guarantee


def price(amount: Guarantee) -> str:
    """A cost or a budget in letters, as text."""
    return amount.short()


LETTERS = {"epsilon": "ε", "delta": "δ (only where needed)", "rho": "ρ (instead of ε)"}


def layout(
    title: str,
    body: str,
    *,
    who: str = "",
    custodian: bool = False,
    mark: str = "",
    links: Sequence[tuple[str, str]] = (),
    here: str = "",
    scripts: Sequence[str] = (),
    roomy: bool = False,
) -> str:
    """A whole page.

    ``links`` are addresses and names for the bar, ``here`` is the address of this page among them, ``scripts`` are
    files beside page.js, and a roomy page takes all the width there is.
    """
    home = "/custodian" if custodian else "/"
    out = (
        f'<form method="post" action="/logout"><span class="who">{escape(who)}</span>'
        f'<input type="hidden" name="mark" value="{escape(mark)}"><button class="quiet">Log out</button></form>'
        if who
        else ""
    )
    bar = "".join(
        f'<a href="{escape(to)}"{" aria-current=page" if to == here else ""}>{escape(words)}</a>' for to, words in links
    )
    own = "".join(f'<script src="/static/{name}" defer></script>\n' for name in ("page.js", *scripts))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)} – Tacit</title>\n"
        '<link rel="stylesheet" href="/static/page.css">\n<link rel="icon" href="/static/icon.svg">\n'
        f'<meta name="mark" content="{escape(mark)}">\n{own}</head>\n<body>\n'
        '<a class="skip" href="#main">Skip to the content</a>\n'
        f'<header><a class="home" href="{home}">Tacit</a>'
        f"{f'<nav aria-label=Pages>{bar}</nav>' if bar else ''}{out}</header>\n"
        f'<main id="main"{" class=roomy" if roomy else ""}>\n{body}\n</main>\n</body>\n</html>\n'
    )


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    caption: str = "",
    *,
    cards: bool = False,
    label: str = "",
    finds: Iterable[str] = (),
) -> str:
    """A table of cells that are HTML already; ``label`` names it where it has no caption.

    A wide one scrolls inside its own box, which the keyboard reaches; one of ``cards`` becomes a card for each row
    where the window is narrow. ``finds`` are the words by which each row is found.
    """
    named = f"<caption>{escape(caption)}</caption>" if caption else ""
    top = "".join(f'<th scope="col">{escape(cell)}</th>' if cell else "<td></td>" for cell in head)

    def cell(name: str, inside: str) -> str:
        return f'<td data-label="{escape(name)}">{inside}</td>' if cards else f"<td>{inside}</td>"

    marks = chain((f' data-find="{escape(find)}"' for find in finds), repeat(""))
    body = "".join(f"<tr{mark}>{''.join(map(cell, head, row))}</tr>" for row, mark in zip(rows, marks, strict=False))
    words = escape(label or caption or ", ".join(filter(None, head)))
    return (
        f'<div class="wide" role="region" tabindex="0" aria-label="{words}"><table{" class=cards" if cards else ""}>'
        f"{named}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def capital(text: str) -> str:
    """A sentence with a capital letter; a Greek one stays, because the capital of ε reads as another letter."""
    return text[:1].upper() + text[1:] if text[:1].isascii() else text


def notice(kind: str, text: str) -> str:
    """A remark that is read out: "good", "bad", "warn" or "plain"."""
    role = "alert" if kind == "bad" else "status"
    return f'<p class="notice {kind}" role="{role}">{escape(capital(text))}</p>'


def options(choices: Iterable[tuple[str, str]], chosen: str = "", **data: Mapping[str, str]) -> str:
    """The choices of a list, with what a script wants to know about each."""
    return "".join(
        f'<option value="{escape(value)}"{" selected" if value == chosen else ""}'
        + "".join(f' data-{name}="{escape(known[value])}"' for name, known in data.items() if value in known)
        + f">{escape(words)}</option>"
        for value, words in choices
    )


def whole(text: str) -> str:
    """A text that is not broken into lines."""
    return f'<span class="whole">{escape(text)}</span>'


def when(at: str) -> str:
    """A time of the ledger, to the minute; the reader's clock says it where there is a script."""
    return f'<time class="whole" datetime="{escape(at[:19])}Z">{escape(at[:16].replace("T", " "))} UTC</time>'
