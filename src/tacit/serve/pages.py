"""The page for people: log in, choose a dataset, ask, read, look back.

Everything works by links and forms; the script only previews while somebody types. Each form carries a key, so that a
form sent twice is charged once.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Mapping
from html import escape
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from tacit.budgets import FailuresUsedUp
from tacit.errors import BudgetExceeded, InvalidInput, TacitError
from tacit.serve import asking, drawings, fragments, past
from tacit.serve.api import answer_question
from tacit.serve.composing import FIELDS, compose, quoted
from tacit.serve.custody import forms
from tacit.serve.questions import SentQuestion
from tacit.serve.tokens import LIFETIME
from tacit.serve.web import (
    COOKIE,
    Forbidden,
    Unknown,
    Visit,
    check_mark,
    chore,
    execute,
    page,
    read_form,
    refuse_stranger,
    state,
    status,
    visit,
)
from tacit.serve.wire import Parcel
from tacit.serve.work import question_facts
from tacit.tables.releasing.room import cost_of

SHOWN = 6
"""How many questions of the past stand below the form."""


def _paid(given: Mapping[str, str]) -> dict[str, Any]:
    """The cost that a form names, ρ where there is one, else ε and δ, and whether it is to be paid again."""
    filled = {letter: given[letter] for letter in fragments.LETTERS if given.get(letter, "").strip()}
    return ({"rho": filled["rho"]} if "rho" in filled else filled) | {"fresh": bool(given.get("fresh"))}


def mistake(request: Request, error: TacitError) -> Response:
    """A page that says what is wrong; whoever is not known is sent to the door."""
    if isinstance(error, Unknown) and request.url.path != "/login":
        return RedirectResponse("/login", 303)
    return sorry(error.told("page"), status(error)[0])


def sorry(words: str, number: int) -> Response:
    """A page with one sentence."""
    body = f'<h1>That did not work</h1>{fragments.notice("bad", words)}<p><a href="/">Back to the start</a></p>'
    return HTMLResponse(fragments.layout("That did not work", body), number)


async def door(request: Request) -> Response:
    """Where a token is asked for."""
    return HTMLResponse(_door(request, ""))


def _door(request: Request, remark: str) -> str:
    terms = state(request).gateway.config.sign_in
    signs_in = f'<p><a class="main" href="/sign-in">Sign in with {escape(terms.label)}</a></p>' if terms.issuer else ""
    body = (
        f'<section class="door-card"><h1>Private answers</h1>{remark}'
        "<p>Ask questions about tables that nobody here can see. Every answer is protected, and is paid for from a "
        "budget.</p>"
        f"{signs_in}"
        '<form method="post" action="/login" class="door"><p><label for="token">Your token</label>'
        '<input id="token" name="token" type="password" required autofocus autocomplete="current-password"></p>'
        '<p><button class="main">Log in</button></p></form></section>'
    )
    return fragments.layout("Log in", body)


async def log_in(request: Request) -> Response:
    """Take a token once and hand out a cookie."""
    here = state(request)
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise Forbidden("log in from our own page.")
    caller = here.doorkeeper.who((await read_form(request)).get("token", "").strip())
    if caller is None:
        try:
            refuse_stranger(here)
        except Unknown as error:
            return HTMLResponse(_door(request, fragments.notice("bad", str(error))), 401)
    here.log.write("login", name=caller.name)
    response = RedirectResponse("/custodian" if caller.custodian else "/", 303)
    response.set_cookie(
        COOKIE, here.doorkeeper.cookie(caller), LIFETIME, secure=here.secure, httponly=True, samesite="strict"
    )
    return response


async def log_out(request: Request) -> Response:
    """Forget the cookie, here and in the browser."""
    known = visit(request)
    check_mark(request, known, (await read_form(request)).get("mark", ""))
    if known.cookie:
        state(request).doorkeeper.forget(known.cookie)
    response = RedirectResponse("/login", 303)
    response.delete_cookie(COOKIE, secure=state(request).secure, httponly=True, samesite="strict")
    return response


async def start(request: Request) -> Response:
    """The datasets to choose from; a single one at once."""
    known = visit(request)
    if known.caller.custodian:
        return RedirectResponse("/custodian", 303)
    names = state(request).gateway.datasets(known.caller)
    if len(names) == 1:
        return RedirectResponse(f"/datasets/{names[0]}", 303)
    items = "".join(f'<li><a href="/datasets/{escape(name)}">{escape(name)}</a></li>' for name in names)
    return page(request, known, "Datasets", f'<h1>Choose a dataset</h1><ul class="choices">{items}</ul>')


async def dataset(request: Request) -> Response:
    """One dataset: ask, columns, budget, history. An address may fill the form in; it asks nothing."""
    known, given = visit(request), dict(request.query_params)
    longest = state(request).gateway.config.limits.query_characters
    filled = {name: given[name][:longest] for name in ("sql", "persons", *fragments.LETTERS) if name in given}
    if re.fullmatch("[0-9]{1,18}", number := given.get("from", "")):
        filled |= await _as_before(request, known, int(number))
    return await _dataset(request, known, filled)


async def _as_before(request: Request, known: Visit, number: int) -> dict[str, str]:
    """The fields of the form as they were for a question of before."""
    here, name = state(request), request.path_params["dataset"]
    line = await chore(request, lambda: here.gateway.line(known.caller, name, number))
    found = await execute(here.previews, known, "past", dataset=name, lines=past.numbers([line]), page=True)
    return {"sql": line.text, **found.facts["amounts"]}


async def act(request: Request) -> Response:
    """A form was sent: write it as SQL, preview it, or ask it."""
    begun = time.monotonic()
    known = visit(request)
    given = await read_form(request)
    check_mark(request, known, given.get("mark", ""))
    gateway, name = state(request).gateway, request.path_params["dataset"]
    session = gateway.session(known.caller, name)
    try:
        if given.get("action") == "compose":
            fields = {name: given[name] for name in FIELDS if given.get(name)}
            sql = compose(fields, session, gateway.config.limits.query_characters)
            return await _dataset(request, known, given | {"sql": sql})
        question = gateway.read_question(known.caller, name, {"sql": given.get("sql", "")} | _paid(given))
        if given.get("action") == "ask":
            key = f"{given.get('key', '')}-{question.fingerprint[:16]}"  # a form may be gone back to and changed
            found = await answer_question(request, known, name, question, key, begun, page=True)
            tools = await _tools(request, known, found, question.sql, dict(question.amounts))
            shown = f'<section id="answer" tabindex="-1"><h2>Answer</h2>{found.body.decode()}{tools}</section>'
            return await _dataset(request, known, given, shown)
        return await _dataset(request, known, given, preview=await _preview(request, known, question, given))
    except TacitError as error:
        refused = isinstance(error, BudgetExceeded) and not isinstance(error, FailuresUsedUp)  # by a limit or a rule
        offer = "" if not refused else await _offer(request, known, question, given)
        remark = f'<section id="answer" tabindex="-1">{fragments.notice("bad", error.told("page"))}{offer}</section>'
        return await _dataset(request, known, given, remark, number=status(error)[0])


async def _offer(request: Request, known: Visit, question: SentQuestion, given: Mapping[str, str]) -> str:
    """The form that asks the custodian to approve a question that was refused, if the dataset's budget has room."""
    gateway, name = state(request).gateway, request.path_params["dataset"]
    named = dict(question.amounts)
    if named:  # a cost inside the SQL is left to the custodian: nothing is parsed here
        cost = cost_of(named.get("epsilon"), named.get("delta"), named.get("rho"))
    if named and not await chore(request, lambda: gateway.whole(name).fits(cost)):
        return '<p class="hint">No approval helps: the budget of the whole dataset has less left than this costs.</p>'
    mark = state(request).doorkeeper.mark(known.cookie)
    amounts = {name: text for name, text in _paid(given).items() if isinstance(text, str)}  # fresh or not
    return forms.approval_form(name, {"sql": given.get("sql", ""), **amounts}, mark)


async def _tools(request: Request, known: Visit, found: Parcel, sql: str, amounts: dict[str, str]) -> str:
    """What can be done with an answer that stands in the caller's history; nothing with one of public tables alone."""
    here, name, keys = state(request), request.path_params["dataset"], found.facts["keys"]

    def number() -> int | None:
        lines = reversed(here.gateway.history(known.caller, name))
        return next((line.number for line in lines if line.key in keys and line.status == "answered"), None)

    stands = await chore(request, number) if keys else None
    return "" if stands is None else past.toolbar(request, name, stands, sql, amounts)


async def _preview(request: Request, known: Visit, question: SentQuestion, given: Mapping[str, str]) -> str:
    here, name = state(request), request.path_params["dataset"]
    facts = {"dataset": name, "question": question_facts(question)}
    seen = json.loads((await execute(here.previews, known, "preview", **facts)).body)
    found = fragments.notice("plain" if seen["fits"] else "bad", seen["told"])
    persons = int(given["persons"]) if re.fullmatch("[0-9]{1,9}", given.get("persons", "")) else None
    try:
        forecast = await execute(here.forecasts, known, "expected", **facts, persons=persons, shape="lognormal")
    except InvalidInput as error:
        return found + fragments.notice("plain", error.told("page"))
    return found + asking.expected(json.loads(forecast.body))


async def _dataset(
    request: Request, known: Visit, given: Mapping[str, str], shown: str = "", preview: str = "", number: int = 200
) -> Response:
    """The page of a dataset, with what was just answered on top."""
    here, name = state(request), request.path_params["dataset"]
    gateway, caller = here.gateway, known.caller

    def gathered() -> tuple[Any, ...]:
        facts, budget = gateway.facts(caller, name), gateway.session(caller, name).budget
        terms = [] if budget.least is None else [f"Each aggregate costs at least {fragments.price(budget.least)}."]
        if (failures := budget.failures_left) is not None:
            terms.append(f"{failures or 'No'} charged question{'s' * (failures != 1)} may still fail.")
        left, begin = gateway.burn_down(caller, name), asking.samples(gateway.session(caller, name), facts)
        asked = list(gateway.standing.requests_of(caller.name, name))
        own = forms.own_requests(asked, {each.number for each in asked if gateway.used(each)})
        return facts, gateway.history(caller, name), left, budget.total, budget.remaining, terms, begin, own

    facts, lines, left, total, remaining, terms, begin, own = await chore(request, gathered)
    first = next((table["name"] for table in facts["tables"] if table["private"]), "")
    filled = {"sql": f"SELECT COUNT(*) FROM {quoted(first)}", "epsilon": "0.5"} | dict(given)
    hidden = {"mark": here.doorkeeper.mark(known.cookie), "key": secrets.token_hex(16)}
    asked = past.questions(lines)
    number_of = "Your question" if len(asked) == 1 else f"All {len(asked)} questions"
    more = f'<p><a href="/datasets/{escape(name)}/history">{number_of}: search, compare, repeat</a></p>'
    samples = asking.sample_links(name, begin, filled["epsilon"])
    form = asking.form(name, facts, filled, total.pays, hidden, preview, samples)
    ask = "" if caller.custodian else f"<section><h2>Ask</h2>{form}</section>"  # the custodian asks no questions
    spent = fragments.price(total)
    body = (
        f'<div class="foot"><h1>{escape(name)}</h1><div class="budget"><p>Left for you: '
        f"<strong>{escape(fragments.price(remaining))}</strong> of {escape(spent)}</p>"
        f"{drawings.gauge(left[-1][1], '')}</div></div>"
        f'<div class="columns"><div>{shown}{ask}'
        f"<section><h2>Your questions</h2>{past.listing(name, asked[-SHOWN:])}{more if asked else ''}</section>"
        f"{own}</div>"
        f"<div><section><h2>Tables</h2>{asking.schema(facts)}</section>"
        f"<section><h2>Your budget</h2>{drawings.burn_down(left, spent)}"
        f"{''.join(f'<p class=hint>{escape(term)}</p>' for term in terms)}</section></div></div>"
    )
    links = past.links(name) if len(gateway.datasets(caller)) == 1 else [("/", "Datasets"), *past.links(name)]
    scripts = ["editor.js", "ask.js"]
    response = page(request, known, name, body, number, scripts=scripts, links=links, roomy=True)
    response.headers["cache-control"] = "private, no-cache"  # so that the way back from an answer works
    return response


ROUTES = [
    Route("/", start),
    Route("/login", door),
    Route("/login", log_in, methods=["POST"]),
    Route("/logout", log_out, methods=["POST"]),
    Route("/datasets/{dataset}", dataset),
    Route("/datasets/{dataset}", act, methods=["POST"]),
    *past.ROUTES,
]
