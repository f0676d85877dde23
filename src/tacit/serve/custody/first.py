"""The first start: point at a file, say whose rows they are, choose a budget with help, invite an analyst.

Each step is a form; the last one is the action that adds the dataset, confirmed as any other. What is shown of the file
(its columns, how many rows and persons, what the check of the data found) is for the custodian at the machine alone.
"""

from __future__ import annotations

import re
from fractions import Fraction
from html import escape
from math import ceil, exp
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tacit.engines import list_tables
from tacit.errors import InvalidInput, TacitError
from tacit.noises.discrete_laplace import DiscreteLaplace
from tacit.serve import checking, fragments
from tacit.serve.custody import forms
from tacit.serve.custody.actions import LocalOnly
from tacit.serve.custody.api import at_the_machine, custodian
from tacit.serve.custody.pages import custodians_page
from tacit.serve.web import Visit, check_mark, chore, read_form, state, status
from tacit.tables import Private
from tacit.tables.face.reading import schema as read_schema

START = forms.START
SECONDS = 20.0
"""For the check of a file that is pointed at."""
BUDGETS = ("0.5", "1", "2", "4", "8")
USUAL = "1"
"""What is chosen unless somebody chooses."""
QUESTIONS = 20
"""Into how many questions the help divides a budget."""
_IDENTIFIER = re.compile(r"(^|_)(id|person|patient|customer|user|member|client|who|subject|employee|household)", re.I)


async def start(request: Request) -> Response:
    """Point at a file."""
    known = custodian(request)
    return _first(request, known, "")


def _first(request: Request, known: Visit, remark: str, source: str = "", number: int = 200) -> Response:
    mark = state(request).doorkeeper.mark(known.cookie)
    if at_the_machine(request):
        body = (
            f'<form method="post" action="{START}">{forms.hidden({"mark": mark})}'
            f"{forms.field('source', 'A file, or the address of a database', source, HINT, required='', autofocus='')}"
            '<p><button class="main">Look at it</button></p></form>'
        )
    else:
        body = (
            "<p>Files are pointed at by whoever sits at the machine. There, open this page at its loopback address, or "
            "run <code>tacit custodian add-dataset NAME FILE --person COLUMN --epsilon 1</code>.</p>"
        )
    steps = _steps(1)
    return custodians_page(
        request, known, "Add a dataset", f"<h1>Add a dataset</h1>{steps}{remark}<section>{body}</section>", number
    )


HINT = "CSV, Parquet, JSON or DuckDB, such as /data/orders.parquet; or postgresql://…"


def _steps(now: int) -> str:
    words = ("Point at the data", "Say whose they are", "Choose a budget", "Invite an analyst")
    items = "".join(
        f"<li{' aria-current=step' if i == now else ''}>{'<strong>' if i == now else ''}{each}"
        f"{'</strong>' if i == now else ''}</li>"
        for i, each in enumerate(words, 1)
    )
    return f'<ol class="steps">{items}</ol>'


async def proceed(request: Request) -> Response:
    """The next step with what is known so far."""
    known = custodian(request)
    given = {name: text.strip() for name, text in (await read_form(request)).items()}
    check_mark(request, known, given.pop("mark", ""))
    if not at_the_machine(request):
        raise LocalOnly("files of the machine are named at the machine only, and nothing was done.")
    source = given.get("source", "")
    folder = state(request).gateway.file.folder
    where = source if "://" in source else str(folder / Path(source).expanduser())
    try:
        if given.get("person"):
            return await _third(request, known, given | {"source": where})
        return await _second(request, known, given | {"source": where})
    except TacitError as error:
        return _first(request, known, fragments.notice("bad", error.told("page")), source, status(error)[0])


async def _second(request: Request, known: Visit, given: dict[str, str]) -> Response:
    """Say whose rows they are."""
    mark, where, inside = state(request).doorkeeper.mark(known.cookie), given["source"], given.get("inside", "")
    tables = await chore(request, lambda: list_tables(where))
    if tables and not inside:
        choose = forms.chooser("inside", "Which table", tables)
        fields = forms.hidden({"mark": mark, "source": where})
        body = f'<form method="post" action="{START}">{fields}{choose}<p><button class="main">Go on</button></p></form>'
        return custodians_page(
            request, known, "Add a dataset", f"<h1>Add a dataset</h1>{_steps(1)}<section>{body}</section>"
        )
    columns = await chore(request, lambda: read_schema(where, table=inside or None).columns)
    names = [name for name, _ in columns]
    likely = next((name for name in names if _IDENTIFIER.search(name)), names[0])
    stem = re.sub(r"[^A-Za-z0-9_]", "_", inside or Path(where).stem) or "data"
    rows = [(f"<code>{escape(name)}</code>", escape(str(kind))) for name, kind in columns]
    body = (
        f'<form method="post" action="{START}">{forms.hidden({"mark": mark, "source": where, "inside": inside})}'
        f"{forms.chooser('person', 'Which column says whom a row is about?', names, likely)}"
        '<p class="hint">Everybody in it is protected with all their rows: the person, not the order or the visit.</p>'
        f"{forms.field('name', 'What analysts call the dataset', stem, required='')}"
        '<p><button class="main">Look at the persons</button></p></form>'
        f"<details><summary>{len(columns)} columns</summary>{fragments.table(('column', 'type'), rows)}</details>"
    )
    return custodians_page(
        request, known, "Add a dataset", f"<h1>Whose rows are they?</h1>{_steps(2)}<section>{body}</section>"
    )


async def _third(request: Request, known: Visit, given: dict[str, str]) -> Response:
    """Choose a budget, with help."""
    mark = state(request).doorkeeper.mark(known.cookie)
    inside = given.get("inside", "")
    reader: dict[str, Any] = {"table": inside} if inside else {}

    tables = {"data": Private(given["source"], given["person"], **reader)}
    found = await chore(request, lambda: checking.look(tables, SECONDS))
    facts = found.facts.get("data", {})
    persons = sum(each["persons"] for each in facts.get("persons", {}).values())
    if not persons:
        raise InvalidInput(
            f"no row says whom it is about in {given['person']!r}; choose another column or another file."
        )
    findings = "".join(fragments.notice("bad" if each.serious else "warn", each.text) for each in found.findings)
    fields = {"mark": mark, "action": "add dataset", "name": given.get("name", "data"), "source": given["source"]}
    fields |= {"person": given["person"], "inside": inside}
    rows = [
        (
            f'<label class="check whole"><input type="radio" name="epsilon" value="{each}"'
            f"{' checked' if each == USUAL else ''}>ε = {each}</label>",
            f"{guess(each)} %",
            f"± {within(each):,} of {persons:,}",
        )
        for each in BUDGETS
    ]
    head = ("budget", "a guess is right at most", "a count is within")
    body = (
        f"<p>For you alone: {escape(checking.in_words(facts))}.</p>{findings}"
        f'<form method="post" action="{forms.ACT}">{forms.hidden({k: v for k, v in fields.items() if v})}'
        f"{fragments.table(head, rows, 'The budget of all questions that are ever asked', cards=True)}"
        '<p class="hint">A guess: whether somebody is in the data, from even odds, with all answers at hand. A count: '
        f"of persons, in 19 of 20 cases, if {QUESTIONS} questions share the budget.</p>"
        '<p class="hint">Smaller is safer. It stays as it is for good, so begin low: the same data cannot get a second '
        "budget. Analysts get limits within it.</p>"
        f"{forms.field('persons', 'About how many persons, if that may be public', hint=ROUGH, inputmode='numeric')}"
        '<p><button class="main">Go on</button></p></form>'
    )
    return custodians_page(
        request, known, "Add a dataset", f"<h1>Choose a budget</h1>{_steps(3)}<section>{body}</section>"
    )


ROUGH = "A round number, for forecasts of accuracy; leave it empty to tell nobody."


def guess(epsilon: str) -> str:
    """The best chance, in percent, to guess whether somebody is in the data; it never reads as certain."""
    share = 100 / (1 + exp(-float(epsilon)))
    return f"{ceil(10 * share) / 10:.1f}" if share < 99.9 else f"{ceil(100 * share) / 100:.2f}"


def within(epsilon: str) -> int:
    """How close a count of persons is, in 19 of 20 cases, for its share of a budget."""
    return DiscreteLaplace(Fraction(epsilon) / QUESTIONS).reach(0.95)[1]


ROUTES = [Route(START, start), Route(START, proceed, methods=["POST"])]
