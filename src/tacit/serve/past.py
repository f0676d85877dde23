"""Pages about questions of before: the history, an answer with its files, two answers compared.

Everything here is looked at by GET and charges nothing, and everybody sees their own questions only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import reduce
from html import escape
from itertools import groupby
from operator import add
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tacit.ledger import texts
from tacit.serve import fragments
from tacit.serve.api import MOST_LINES, read_number
from tacit.serve.asking import question_link
from tacit.serve.gateway import NotHere
from tacit.serve.history import Line
from tacit.serve.recalling import KINDS
from tacit.serve.web import Visit, chore, download, execute, page, state, visit

LATEST = 500
"""How many questions of the past a page shows."""
_STATES = {"charged": "charged, no answer recorded", "failed": "charged, no answer"}


def questions(lines: Sequence[Line]) -> list[list[Line]]:
    """The lines of each question, oldest first: aggregates that were asked together are one question."""
    return [list(group) for _, group in groupby(lines, key=lambda line: (line.request or line.number, line.text))]


def listing(name: str, asked: Sequence[list[Line]], *, choose: bool = False) -> str:
    """Questions of before, the latest first."""
    if not asked:
        return '<p class="quiet">Nothing was asked yet.</p>'
    rows, finds = [], []
    for lines in reversed(asked):
        last = lines[-1]
        status = "answered" if all(line.status == "answered" for line in lines) else last.status
        link = f'<a class="whole" href="/datasets/{escape(name)}/answers/{last.number}">answer {last.number}</a>'
        again = f'<a class="whole" href="/datasets/{escape(name)}?from={last.number}">edit</a>'
        cost = reduce(add, (texts.guarantee(line.cost) for line in lines))
        box = (
            f'<input type="checkbox" name="n" value="{last.number}" aria-label="compare answer {last.number}">'
            if status == "answered"
            else ""
        )
        cells = [
            fragments.when(last.at),
            f"<code>{escape(last.text)}</code>",
            fragments.whole(fragments.price(cost)),
            f"{link if status == 'answered' else escape(_STATES[last.status])} {again}",
        ]
        rows.append([box, *cells] if choose else cells)
        finds.append(f"{last.text} {fragments.price(cost)} {last.at[:10]}")
    head = ("when", "question", "cost", "")
    return fragments.table(
        ("compare", *head) if choose else head, rows, cards=True, label="your questions", finds=finds if choose else ()
    )


async def history(request: Request, refusal: str = "") -> Response:
    """All questions of the caller, with a search, and two of them to compare."""
    known, here, name = visit(request), state(request), request.path_params["dataset"]
    wanted = request.query_params.get("q", "")[:200]
    lines = await chore(request, lambda: here.gateway.history(known.caller, name))
    asked = questions(lines)
    fitting = [each for each in asked if all(word in each[0].text.lower() for word in wanted.lower().split())]
    count = f"{len(fitting)} of {len(asked)}" if wanted else str(len(asked))
    more = f'<p class="hint">The latest {LATEST} are shown; search for others.</p>' if len(fitting) > LATEST else ""
    address = f"/datasets/{escape(name)}"
    body = (
        f'<p class="trail"><a href="{address}">{escape(name)}</a></p><h1>Your questions</h1>'
        f"{fragments.notice('bad', refusal) if refusal else ''}"
        f'<section><form method="get" action="{address}/history" class="buttons" role="search">'
        f'<p class="grow"><label for="q">Search</label>'
        f'<input id="q" name="q" type="search" value="{escape(wanted)}" data-search="asked" autocomplete="off"></p>'
        f'<button>Search</button></form><p class="hint" role="status" id="q-found">{count} questions</p>'
        f'<form method="get" action="{address}/compare" id="asked">'
        f"{listing(name, fitting[-LATEST:], choose=True)}{more}"
        f'<p class="buttons"><button>Compare two</button> {_scripts(name) if lines else ""}</p></form></section>'
    )
    return page(request, known, "Your questions", body, 400 if refusal else 200, links=links(name), roomy=True)


def _scripts(name: str) -> str:
    return "".join(
        f'<a class="button tiny" href="/datasets/{escape(name)}/questions.{kind}" download>{words}</a> '
        for kind, words in (("py", "A Python script that repeats them"), ("ipynb", "A notebook"))
    )


def links(name: str) -> list[tuple[str, str]]:
    """The pages of a dataset, for the bar."""
    return [(f"/datasets/{name}", name), (f"/datasets/{name}/history", "Your questions")]


def toolbar(request: Request, name: str, number: int, sql: str, amounts: dict[str, str]) -> str:
    """What can be done with an answer."""
    base = f"/datasets/{name}/answers/{number}"

    def files(*kinds: tuple[str, str]) -> str:
        return "".join(
            f'<a class="button tiny" href="{escape(base)}/answer.{kind}" download>{words}</a>' for kind, words in kinds
        )

    keep, repeat = (("csv", "CSV"), ("parquet", "Parquet"), ("json", "JSON")), (("py", "Python"), ("ipynb", "Notebook"))
    return (
        '<div class="toolbar"><p class="buttons">'
        '<button type="button" class="tiny" data-copy="copied" hidden>Copy</button>'
        '<button type="button" class="tiny" data-copy="address" hidden>Copy link</button>'
        f'<a class="button tiny" href="{escape(base)}">Link</a>'
        f'<a class="button tiny" href="{escape(question_link(name, sql, amounts))}">Change</a>'
        f'<a class="button tiny" href="/datasets/{escape(name)}/history">Compare</a></p>'
        f'<p class="buttons"><span class="quiet small">Download</span>{files(*keep)}</p>'
        f'<p class="buttons"><span class="quiet small">Repeat, free</span>{files(*repeat)}</p>'
        f'<span id="address" hidden>{escape(address(request))}{escape(base)}</span></div>'
    )


def address(request: Request) -> str:
    """Where people reach this gateway."""
    return state(request).gateway.config.server.address or f"{request.url.scheme}://{request.url.netloc}"


async def past(request: Request) -> Response:
    """An answer of before."""
    known, here, name, wanted = visit(request), state(request), request.path_params["dataset"], read_number(request)
    line = await chore(request, lambda: here.gateway.line(known.caller, name, wanted))
    found = await execute(here.previews, known, "past", dataset=name, lines=numbers([line]), page=True)
    tools = toolbar(request, name, wanted, line.text, found.facts["amounts"]) if found.facts["answered"] else ""
    body = (
        f'<p class="trail"><a href="/datasets/{escape(name)}">{escape(name)}</a> · '
        f'<a href="/datasets/{escape(name)}/history">Your questions</a></p>'
        f"<h1>Answer {wanted}</h1><section><p><code>{escape(line.text)}</code></p>"
        f"<p>{fragments.when(line.at)}</p></section>"
        f'<section id="answer" tabindex="-1"><h2>Answer</h2>{found.body.decode()}{tools}</section>'
    )
    return page(request, known, f"Answer {wanted}", body, links=links(name))


def numbers(lines: Sequence[Line]) -> list[tuple[int, int | None, str]]:
    """Lines as an executor finds them again."""
    return [(line.number, line.outcome, line.at) for line in lines]


async def answer_file(request: Request) -> Response:
    """An answer as a file, or as Python that repeats it."""
    known, here, name, wanted = visit(request), state(request), request.path_params["dataset"], read_number(request)
    line = await chore(request, lambda: here.gateway.line(known.caller, name, wanted))
    return await _file(request, known, f"answer.{request.path_params['kind']}", [line], f"answer-{wanted}")


async def questions_file(request: Request) -> Response:
    """Python that repeats the caller's questions."""
    known, here, name = visit(request), state(request), request.path_params["dataset"]
    if request.path_params["kind"] not in ("py", "ipynb"):
        raise NotHere("there is no such file; see your history.")
    lines = await chore(request, lambda: here.gateway.history(known.caller, name)[-MOST_LINES:])
    return await _file(request, known, f"questions.{request.path_params['kind']}", _once(lines), "questions")


def _once(lines: Sequence[Line]) -> list[Line]:
    """The last line of each question: it leads to all of it."""
    return [group[-1] for group in questions(lines)]


async def _file(request: Request, known: Visit, file: str, lines: Sequence[Line], called: str) -> Response:
    kind = file.rpartition(".")[2]
    if kind not in KINDS:
        raise NotHere("there is no such file; see the answer's page.")
    facts: dict[str, Any] = {"dataset": request.path_params["dataset"], "lines": numbers(lines), "file": file}
    found = await execute(state(request).previews, known, "file", **facts, address=address(request))
    return download(found.body, f"{called}.{kind}", KINDS[kind])


async def compare(request: Request) -> Response:
    """Two answers beside each other."""
    known, here, name = visit(request), state(request), request.path_params["dataset"]
    wanted = request.query_params.getlist("n")
    if len(wanted) != 2:
        return await history(request, f"choose two answers to compare; you chose {len(wanted)}.")
    if not all(re.fullmatch(r"[0-9]{1,18}", text) for text in wanted):
        raise NotHere("choose two answers of your history to compare.")
    lines = await chore(request, lambda: [here.gateway.line(known.caller, name, int(text)) for text in wanted])
    found = await execute(here.previews, known, "compare", dataset=name, lines=numbers(lines))
    told, *both = json.loads(found.body)
    costs = found.facts["costs"]
    sides = "".join(
        f'<section><h2>{words}: <a href="/datasets/{escape(name)}/answers/{line.number}">answer {line.number}</a></h2>'
        f"<p><code>{escape(line.text)}</code></p><p>{fragments.when(line.at)} "
        f"{fragments.whole(cost)}</p>{shown}</section>"
        for words, line, cost, shown in zip(("First", "Second"), lines, costs, both, strict=True)
    )
    body = (
        f'<p class="trail"><a href="/datasets/{escape(name)}">{escape(name)}</a> · '
        f'<a href="/datasets/{escape(name)}/history">Your questions</a></p><h1>Two answers</h1>'
        f'<section id="answer" tabindex="-1"><h2>The difference</h2>{told}</section><div class="halves">{sides}</div>'
    )
    return page(request, known, "Two answers", body, links=links(name), roomy=True)


ROUTES = [
    Route("/datasets/{dataset}/history", history),
    Route("/datasets/{dataset}/compare", compare),
    Route("/datasets/{dataset}/answers/{number}", past),
    Route("/datasets/{dataset}/answers/{number}/answer.{kind}", answer_file),
    Route("/datasets/{dataset}/questions.{kind}", questions_file),
]
