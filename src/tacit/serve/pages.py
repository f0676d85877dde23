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

from tacit.errors import InvalidInput, TacitError
from tacit.serve import drawings, fragments
from tacit.serve.api import MOST_LINES, answer_question, read_number
from tacit.serve.questions import SentQuestion, compose
from tacit.serve.tokens import LIFETIME
from tacit.serve.web import (
    COOKIE,
    Forbidden,
    Unknown,
    Visit,
    check_mark,
    chore,
    download,
    execute,
    read_form,
    refuse_stranger,
    state,
    status,
    visit,
)
from tacit.serve.work import question_facts


def _paid(given: Mapping[str, str]) -> dict[str, str]:
    """The cost that a form names: ρ where there is one, else ε and δ."""
    filled = {letter: given[letter] for letter in fragments.LETTERS if given.get(letter, "").strip()}
    return {"rho": filled["rho"]} if "rho" in filled else filled


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
    return HTMLResponse(_door(""))


def _door(remark: str) -> str:
    body = (
        f"<h1>Private answers</h1>{remark}"
        "<p>Ask questions about tables that nobody here can see. Every answer is protected, and is paid for from a "
        "budget.</p>"
        '<form method="post" action="/login" class="door"><p><label for="token">Your token</label>'
        '<input id="token" name="token" type="password" required autofocus autocomplete="current-password"></p>'
        '<p><button class="main">Log in</button></p></form>'
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
            return HTMLResponse(_door(fragments.notice("bad", str(error))), 401)
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


def page(request: Request, known: Visit, title: str, body: str, number: int = 200) -> Response:
    """A page for somebody we know."""
    mark = state(request).doorkeeper.mark(known.cookie)
    caller = known.caller
    return HTMLResponse(fragments.layout(title, body, who=caller.name, custodian=caller.custodian, mark=mark), number)


async def dataset(request: Request) -> Response:
    """One dataset: ask, columns, budget, history."""
    known = visit(request)
    return await _dataset(request, known, {})


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
            sql = compose(_fields(given), session, gateway.config.limits.query_characters)
            return await _dataset(request, known, given | {"sql": sql})
        question = gateway.read_question(known.caller, name, {"sql": given.get("sql", "")} | _paid(given))
        if given.get("action") == "ask":
            key = f"{given.get('key', '')}-{question.fingerprint[:16]}"  # a form may be gone back to and changed
            found = await answer_question(request, known, name, question, key, begun, page=True)
            shown = f'<section id="answer" tabindex="-1"><h2>Answer</h2>{found.body.decode()}</section>'
            return await _dataset(request, known, given, shown)
        return await _dataset(request, known, given, preview=await _preview(request, known, question, given))
    except TacitError as error:
        remark = f'<section id="answer" tabindex="-1">{fragments.notice("bad", error.told("page"))}</section>'
        return await _dataset(request, known, given, remark, number=status(error)[0])


def _fields(given: Mapping[str, str]) -> dict[str, str]:
    """The fields of a question clicked together; the values of groups become a condition."""
    found = {name: given.get(name, "") for name in ("table", "statistic", "column", "where", "group_by")}
    values = [value.strip() for value in given.get("groups", "").split(",") if value.strip()]
    if values and found["group_by"]:
        listed = ", ".join(_literal(value) for value in values)
        column = '"' + found["group_by"].replace('"', '""') + '"'
        condition = f"{column} IN ({listed})"
        found["where"] = f"({found['where']}) AND {condition}" if found["where"] else condition
    return found


def _literal(value: str) -> str:
    plain = re.fullmatch(r"-?\d{1,18}(\.\d{1,18})?|true|false", value)
    return value if plain else "'" + value.strip("'").replace("'", "''") + "'"


async def _preview(request: Request, known: Visit, question: SentQuestion, given: Mapping[str, str]) -> str:
    here, name = state(request), request.path_params["dataset"]
    facts = {"dataset": name, "question": question_facts(question)}
    seen = json.loads((await execute(here.previews, known, "preview", **facts)).body)
    found = fragments.notice("plain" if seen["fits"] else "bad", seen["words"])
    count, epsilon = given.get("persons", ""), given.get("epsilon", "")
    if seen["forecast"] and re.fullmatch("[0-9]{1,9}", count):
        wanted = {"statistic": seen["forecast"], "persons": int(count), "epsilon": epsilon, "shape": "lognormal"}
        try:
            forecast = await execute(here.forecasts, known, "forecast", dataset=name, **wanted)
        except InvalidInput as error:
            return found + fragments.notice("plain", error.told("page"))
        found += fragments.notice("plain", json.loads(forecast.body)["words"])
    return found


async def _dataset(
    request: Request, known: Visit, given: Mapping[str, str], shown: str = "", preview: str = "", number: int = 200
) -> Response:
    """The page of a dataset, with what was just answered on top."""
    here, name = state(request), request.path_params["dataset"]
    gateway, caller = here.gateway, known.caller

    def gathered() -> tuple[Any, ...]:
        facts, budget = gateway.facts(caller, name), gateway.session(caller, name).budget
        terms = "" if budget.least is None else f"; each aggregate costs at least {fragments.price(budget.least)}"
        if (failures := budget.failures_left) is not None:
            terms += f"; {failures or 'no'} failed question{'s' * (failures != 1)} left"
        left = gateway.burn_down(caller, name)
        return facts, gateway.history(caller, name), left, budget.total, budget.remaining, terms

    facts, lines, left, total, remaining, terms = await chore(request, gathered)
    first = next((table["name"] for table in facts["tables"] if table["private"]), "")
    filled = {"sql": f"SELECT COUNT(*) FROM {first}", "epsilon": "0.5"} | dict(given)
    hidden = {"mark": here.doorkeeper.mark(known.cookie), "key": secrets.token_hex(16)}
    others = "" if len(gateway.datasets(caller)) == 1 else '<p><a href="/">Choose another dataset</a></p>'
    export = (
        f'<p><a href="/datasets/{escape(name)}/questions.py" download>A Python script that repeats them</a></p>'
        if lines
        else ""
    )
    ask = f"<section><h2>Ask</h2>{fragments.form(name, facts, filled, total.pays, hidden, preview)}</section>"
    if caller.custodian:
        ask = ""  # the custodian asks no questions
    body = (
        f"<h1>{escape(name)}</h1>{others}"
        f'<p class="budget">Left for you: <strong>{escape(fragments.price(remaining))}</strong> of '
        f"{escape(fragments.price(total))}{escape(terms)}</p>"
        f"{shown}{ask}"
        f"<section><h2>Columns</h2>{fragments.columns(facts)}</section>"
        f"<section><h2>Your budget</h2>{drawings.burn_down(left, fragments.price(total))}</section>"
        f"<section><h2>Your questions</h2>{fragments.history(name, lines)}{export}</section>"
    )
    response = page(request, known, name, body, number)
    response.headers["cache-control"] = "private, no-cache"  # so that the way back from an answer works
    return response


async def past(request: Request) -> Response:
    """An answer of before."""
    known = visit(request)
    here, name, wanted = state(request), request.path_params["dataset"], read_number(request)
    line = await chore(request, lambda: here.gateway.line(known.caller, name, wanted))
    found = await execute(here.previews, known, "past", dataset=name, outcome=line.outcome, page=True)
    body = (
        f"<h1>Answer {line.number}</h1><p><code>{escape(line.text)}</code></p>{found.body.decode()}"
        f'<p><a href="/datasets/{escape(name)}">Back to {escape(name)}</a></p>'
    )
    return page(request, known, f"Answer {line.number}", body)


async def export(request: Request) -> Response:
    """A Python script that repeats the caller's questions."""
    known = visit(request)
    here, name = state(request), request.path_params["dataset"]
    address = here.gateway.config.server.address or f"{request.url.scheme}://{request.url.netloc}"
    lines = await chore(request, lambda: here.gateway.history(known.caller, name)[-MOST_LINES:])
    facts = {"dataset": name, "address": address, "lines": [(line.number, line.outcome) for line in lines]}
    found = await execute(here.previews, known, "script", **facts)
    return download(found.body, "questions.py", "text/x-python")


ROUTES = [
    Route("/", start),
    Route("/login", door),
    Route("/login", log_in, methods=["POST"]),
    Route("/logout", log_out, methods=["POST"]),
    Route("/datasets/{dataset}", dataset),
    Route("/datasets/{dataset}", act, methods=["POST"]),
    Route("/datasets/{dataset}/answers/{number}", past),
    Route("/datasets/{dataset}/questions.py", export),
]
