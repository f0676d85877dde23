"""The custodian's pages: analysts, requests, datasets, the log; every button leads to a page that asks once more.

Everything works by links and forms, without a script. Forms carry the mark against forgery as all others do.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from html import escape
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from tacit.errors import TacitError
from tacit.guarantees.base import LETTERS
from tacit.ledger import texts
from tacit.serve import fragments
from tacit.serve.custody import forms
from tacit.serve.custody.actions import Proposal
from tacit.serve.custody.api import at_the_machine, custodian, desk, send_request, take
from tacit.serve.custody.catalogue import read_action
from tacit.serve.custody.requests import read_reason
from tacit.serve.custody.standing import OPEN, until_words
from tacit.serve.custody.summary import act_facts, summary
from tacit.serve.past import address
from tacit.serve.web import Visit, check_mark, chore, page, read_form, state, status, visit

LATEST = 200
"""How many acts the page of the log shows."""
LIMIT = (
    "Altogether, with what they have spent. Empty: up to the budget that all share. It can be no more than that. Where "
    "they had no access, this gives it."
)
APPROVAL = "Each question that costs more than this waits for you. Empty: none does, up to their limit."


def custodians_page(request: Request, known: Visit, title: str, body: str, number: int = 200) -> Response:
    """A page with the custodian's bar."""
    count = forms.waiting(state(request).gateway.standing.requests.values())
    links = [(to, f"{words} ({count})" if words == "Requests" and count else words) for to, words in forms.LINKS]
    return page(request, known, title, body, number, links=links)


async def analysts(request: Request) -> Response:
    """Who may ask what, and what they have left."""
    known = custodian(request)
    here = state(request)
    mark = here.doorkeeper.mark(known.cookie)
    found = await chore(request, lambda: summary(here.gateway))
    rows = [_analyst(each, mark) for each in found["analysts"]]
    names = [each["name"] for each in found["analysts"] if each["state"] != "revoked"]
    datasets = [each["name"] for each in found["datasets"]]
    head = ("name", "state", "may ask", "tokens", "")
    listed = fragments.table(head, rows, cards=True, label="analysts") if rows else "<p>Nobody is invited yet.</p>"
    body = f"<h1>Analysts</h1><section>{listed}</section>"
    if datasets:
        body += invite(mark, datasets)
    if names and datasets:
        body += _rule(mark, "Set a limit", "set limit", LIMIT, names, datasets)
        body += _rule(mark, "Require approval", "require approval", APPROVAL, names, datasets)
    return custodians_page(request, known, "Analysts", body)


def _rule(mark: str, title: str, action: str, hint: str, names: list[str], datasets: list[str]) -> str:
    """The form of what one analyst may spend of one dataset."""
    where = action.replace(" ", "-")
    return (
        f'<section><h2>{title}</h2><form method="post" action="{forms.ACT}">'
        f"{forms.hidden({'mark': mark, 'action': action})}<div class='grid'>"
        f"{forms.chooser('name', 'Who', names, where=f'{where}-')}"
        f"{forms.chooser('dataset', 'Dataset', datasets, where=f'{where}-')}"
        f"{_amounts(where)}</div><p class='hint'>{hint}</p>"
        f'<p><button class="second">{title}</button></p></form></section>'
    )


def invite(mark: str, datasets: list[str], name: str = "") -> str:
    """The form that invites an analyst."""
    return (
        f'<section id="invite"><h2>Invite an analyst</h2><form method="post" action="{forms.ACT}">'
        f"{forms.hidden({'mark': mark, 'action': 'add analyst'})}<div class='grid'>"
        f"{forms.field('name', 'Name', name, required='', placeholder='ada.lovelace')}"
        f"{forms.chooser('dataset', 'May ask', datasets)}"
        f"{_amounts('invite')}</div><p class='hint'>A limit of their own in ε, or ρ where the budget counts so; "
        'empty: up to the budget that all share.</p><p><button class="main">Invite</button></p></form></section>'
    )


def _amounts(where: str) -> str:
    pieces = []
    for name, label in (("epsilon", "ε"), ("delta", "δ"), ("rho", "ρ")):
        pieces.append(
            f'<p><label for="{where}-{name}">{label}</label><input id="{where}-{name}" name="{name}" '
            'inputmode="decimal" autocomplete="off"></p>'
        )
    return pieces[0] + f"<details><summary>δ or ρ</summary>{pieces[1]}{pieces[2]}</details>"


def _analyst(facts: dict[str, Any], mark: str) -> tuple[str, ...]:
    name = facts["name"]
    revoked = facts["state"] == "revoked"
    access = "".join(
        f"<div>{escape(key)}: {forms.spending(each)}{'' if revoked else _withdraw(mark, name, key)}</div>"
        for key, each in facts["access"].items()
    )
    if revoked:
        return escape(name), forms.pill("revoked"), access, "", ""
    tokens = "".join(
        f'<div><code class="whole">{escape(each)}…</code> {_revoke(mark, name, each)}</div>' for each in facts["tokens"]
    )
    tokens += forms.button(mark, "New token", "add token", name=name)
    turn = ("Resume", "resume analyst") if facts["state"] == "paused" else ("Pause", "pause analyst")
    actions = forms.button(mark, *turn, name=name) + forms.button(
        mark, "Revoke", "revoke analyst", "tiny danger", name=name
    )
    return (
        escape(name),
        forms.pill(facts["state"]),
        access or "nothing",
        tokens,
        f'<div class="buttons">{actions}</div>',
    )


def _revoke(mark: str, name: str, token: str) -> str:
    return forms.button(mark, "Revoke token", "revoke token", "tiny danger", name=name, token=token)


def _withdraw(mark: str, name: str, dataset: str) -> str:
    return forms.button(mark, "Withdraw", "withdraw access", name=name, dataset=dataset)


async def requests(request: Request) -> Response:
    """Questions that wait for approval, and those decided."""
    known = custodian(request)
    here = state(request)
    mark, found = here.doorkeeper.mark(known.cookie), list(here.gateway.standing.requests.values())
    body = (
        "<h1>Requests</h1><p>An approval is for one question as it stands here, once, at its cost, besides the limit "
        "of whoever asks. The budget of the dataset holds all the same.</p>"
        f"{forms.requests((each for each in found if each.state == OPEN), mark)}"
    )
    used = await chore(request, lambda: {each.number for each in found if here.gateway.used(each)})
    decided = forms.past_requests((each for each in found if each.state != OPEN), used, mark)
    return custodians_page(request, known, "Requests", body + (f"<section>{decided}</section>" if decided else ""))


async def datasets(request: Request) -> Response:
    """What is served, and what the file does not say."""
    known = custodian(request)
    here = state(request)
    mark = here.doorkeeper.mark(known.cookie)
    found = await chore(request, lambda: summary(here.gateway))
    rows = [
        (
            escape(each["name"]),
            forms.spending(each),
            f'<a href="/custodian/{escape(each["name"])}/report.md" download>report</a>',
            forms.button(mark, "Withdraw", "withdraw dataset", "tiny danger", name=each["name"]),
        )
        for each in found["datasets"]
    ]
    bad = "".join(fragments.notice("bad", f"{name} is not served: {why}") for name, why in found["unopened"].items())
    said = "".join(fragments.notice("warn", words) for words in found["overrides"])
    more = (
        '<p><a class="button" href="/custodian/start">Add a dataset</a></p>'
        if at_the_machine(request)
        else "<p>Datasets are added at the machine: there open this page at its loopback address, or run <code>tacit "
        "custodian add-dataset</code>.</p>"
    )
    if rows and at_the_machine(request):
        more += (
            f'<details><summary>Newer data of a dataset</summary><form method="post" action="{forms.ACT}">'
            f"{forms.hidden({'mark': mark, 'action': 'add version'})}<div class='grid'>"
            f"{forms.chooser('name', 'Dataset', [each['name'] for each in found['datasets']])}"
            f"{forms.field('version', 'Version', required='')}{forms.field('source', 'A file', required='')}"
            f"{forms.field('table', 'Table, if there are several')}</div>"
            '<p><button class="second">Go on with it</button></p></form></details>'
        )
    listed = fragments.table(("name", "budget", "", ""), rows, cards=True, label="datasets") if rows else ""
    return custodians_page(request, known, "Datasets", f"<h1>Datasets</h1>{bad}{said}<section>{listed}{more}</section>")


async def log(request: Request) -> Response:
    """What was done, the latest first."""
    known = custodian(request)
    ledger = state(request).gateway.ledger
    found, problems = await chore(request, lambda: (ledger.acts(), ledger.verify_acts()))
    rows = []
    for facts in map(act_facts, reversed(found[-LATEST:])):
        said = f'<div class="loose">{escape(_said(facts["facts"]))}</div>'
        who = f"{facts['who']} ({facts['way']})" if facts["way"] else facts["who"]
        rows.append((str(facts["number"]), fragments.when(facts["at"]), escape(who), escape(facts["act"]), said))
    whole = "; ".join(problems) or f"{len(found)} acts, each chained to the one before it; nothing is missing."
    body = (
        f"<h1>Log</h1>{fragments.notice('bad' if problems else 'good', whole)}<section>"
        f"{fragments.table(('act', 'when', 'who', 'what', 'facts'), rows, cards=True, label='acts')}</section>"
    )
    return custodians_page(request, known, "Log", body)


def _said(facts: Mapping[str, Any]) -> str:
    """The facts of an act for people; what only programs compare is left to the export."""
    told = (f"{key.replace('_', ' ')}: {_plain(key, value)}" for key, value in facts.items() if key != "identity")
    return "; ".join(told)


def _plain(key: str, value: Any) -> str:
    """A fact in letters and times that people read; one that somebody damaged as it is."""
    try:
        if key == "cost":
            return texts.guarantee(value).short()
        return until_words(value) if key == "until" else _short(value)
    except (TacitError, TypeError, ValueError):
        return str(value)[:240]


def _short(value: Any) -> str:
    if isinstance(value, Mapping) and value and set(value) <= set(LETTERS):
        return ", ".join(f"{LETTERS[letter]} = {float(Fraction(amount)):g}" for letter, amount in value.items())
    text = _said(value) if isinstance(value, Mapping) else value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 240 else f"{text[:239]}…"


async def act(request: Request) -> Response:
    """A button was pressed: say what would happen, or do it."""
    known = custodian(request)
    given = await read_form(request)
    check_mark(request, known, given.pop("mark", ""))
    code, back = given.pop("confirm", ""), given.pop("back", "") or _back(given.get("action", ""))
    back = back if back in _BACKS else "/custodian"
    mark = state(request).doorkeeper.mark(known.cookie)
    filled = {name: text for name, text in given.items() if text.strip()}
    try:
        found = await take(request, desk(request, known, "page"), read_action(filled), code)
    except TacitError as error:
        said = fragments.notice("bad", error.told("page"))
        sorry = f"<h1>That did not work</h1>{said}{forms.again(mark, filled, back)}"
        return custodians_page(request, known, "That did not work", sorry, status(error)[0])
    if isinstance(found, Proposal):
        body = forms.confirmation(mark, filled, found.words, found.final, found.code, back)
        return custodians_page(request, known, "Confirm", body)
    first = given["action"] == "add dataset" and not state(request).gateway.config.analysts
    further = '<a class="button" href="/custodian/analysts#invite">Invite an analyst</a> ' if first else ""
    body = forms.done(found.words, found.number, found.secret, back, address(request), further)
    return custodians_page(request, known, "Done", body)


_BACKS = {to for to, _ in forms.LINKS}


def _back(action: str) -> str:
    if action in ("approve", "decline", "withdraw approval"):
        return "/custodian/requests"
    if "dataset" in action:
        return "/custodian/datasets"
    return "/custodian" if action == "renew failures" else "/custodian/analysts"


async def ask_approval(request: Request) -> Response:
    """An analyst's form: ask the custodian to approve one question."""
    known = visit(request)
    given = await read_form(request)
    check_mark(request, known, given.pop("mark", ""))
    name = request.path_params["dataset"]
    reason = read_reason(given.pop("reason", ""))
    await send_request(request, known, name, given, reason)
    return RedirectResponse(f"/datasets/{name}#requests", 303)


ROUTES = [
    Route("/custodian/analysts", analysts),
    Route("/custodian/requests", requests),
    Route("/custodian/datasets", datasets),
    Route("/custodian/acts", log),
    Route("/custodian/act", act, methods=["POST"]),
    Route("/datasets/{dataset}/approvals", ask_approval, methods=["POST"]),
]
