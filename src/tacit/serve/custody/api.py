"""The custodian's side of the HTTP interface, and an analyst's requests for approval.

Actions come in two steps: the same fields without ``confirm`` say what would happen, and with the code that came back
it is done. Every action is in the ledger and in the audit log; a new token is in the response and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tacit import ledger as books
from tacit.errors import InvalidInput
from tacit.ledger import texts
from tacit.serve.custody.actions import Action, Desk, Done, Proposal, perform, propose
from tacit.serve.custody.catalogue import read_action
from tacit.serve.custody.requests import read_reason, request_approval
from tacit.serve.custody.summary import act_facts, summary
from tacit.serve.gateway import NotHere
from tacit.serve.web import Forbidden, Visit, check_mark, chore, download, execute, read_json, state, visit
from tacit.serve.work import question_facts

MOST_ACTS = 1_000
"""The most acts in one response."""
FILES: dict[str, tuple[Any, str]] = {
    "report.md": (books.report, "text/markdown"),
    "charges.csv": (books.to_csv, "text/csv"),
    "history.json": (books.to_json, "application/json"),
}
"""What is exported of a dataset's ledger."""


def custodian(request: Request) -> Visit:
    """The custodian; everybody else is refused."""
    known = visit(request)
    if not known.caller.custodian:
        raise Forbidden("this is the custodian's view; log in with the custodian's token.")
    return known


def at_the_machine(request: Request) -> bool:
    """Whether a request comes from this machine itself, and not through a proxy that stands on it."""
    server = state(request).gateway.config.server
    passed_on = {"forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"} & set(request.headers.keys())
    here = request.client is not None and _loopback(request.client.host) and _loopback(request.url.hostname or "")
    return here and not passed_on and not server.address


def _loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def desk(request: Request, known: Visit, way: str) -> Desk:
    """Where a known custodian acts."""
    return Desk(state(request).gateway, known.caller.shown, way, at_the_machine(request))


async def take(request: Request, at: Desk, action: Action, code: str) -> Proposal | Done:
    """Propose an action, or do it if it is confirmed; what was done counts at once, everywhere."""
    if not code:
        return await chore(request, lambda: propose(at, action))
    here = state(request)
    done = await chore(request, lambda: perform(at, action, code))
    here.log.write("act", number=done.number, action=action.key, who=at.who, way=at.way)
    await here.following.follow()
    return done


async def overview(request: Request) -> Response:
    """Datasets, analysts, requests and what the file does not say."""
    custodian(request)
    gateway = state(request).gateway
    return JSONResponse(await chore(request, lambda: summary(gateway)))


async def acts(request: Request) -> Response:
    """What was done, oldest first."""
    custodian(request)
    after = request.query_params.get("after", "0")
    if not re.fullmatch(r"[0-9]{1,15}", after):
        raise InvalidInput("after must be a whole number.")
    ledger = state(request).gateway.ledger
    found = await chore(request, lambda: ledger.acts(int(after))[:MOST_ACTS])
    return JSONResponse({"acts": [act_facts(entry) for entry in found]})


async def actions(request: Request) -> Response:
    """Say what an action would do, or do it."""
    known = custodian(request)
    check_mark(request, known, request.headers.get("x-csrf-token", ""))
    body = await read_json(request)
    if not isinstance(body, Mapping):
        raise InvalidInput("send a JSON object such as {'action': 'pause analyst', 'name': 'ada'}.")
    fields = dict(body)
    code = fields.pop("confirm", "")
    if not isinstance(code, str):
        raise InvalidInput("confirm must be the code that came with the words.")
    found = await take(request, desk(request, known, "http"), read_action(fields), code)
    if isinstance(found, Proposal):
        return JSONResponse({"done": None, "words": found.words, "confirm": found.code, "final": found.final})
    return JSONResponse({"done": found.number, "words": found.words, **found.secret})


async def file(request: Request) -> Response:
    """A report or an export of one dataset's ledger."""
    known = custodian(request)
    here, name, wanted = state(request), request.path_params["dataset"], request.path_params["file"]
    if name not in here.gateway.config.datasets or wanted not in FILES:
        raise NotHere("there is no such file; see the custodian's view.")
    make, kind = FILES[wanted]
    text = await chore(request, lambda: make(here.gateway.ledger, name))
    here.log.write("exported", dataset=name, file=wanted, who=known.caller.shown)
    return download(text, f"{name}-{wanted}", kind)


async def ask_approval(request: Request) -> Response:
    """An analyst's request to approve one question."""
    known = visit(request)
    check_mark(request, known, request.headers.get("x-csrf-token", ""))
    body = await read_json(request)
    if not isinstance(body, Mapping):
        raise InvalidInput("send a question as a JSON object, with a reason.")
    fields = dict(body)
    reason = read_reason(fields.pop("reason", ""))
    found = await send_request(request, known, request.path_params["dataset"], fields, reason)
    return JSONResponse(found)


async def send_request(
    request: Request, known: Visit, name: str, fields: Mapping[str, Any], reason: str
) -> dict[str, Any]:
    """Preview a question and write the request down."""
    here = state(request)
    if known.caller.custodian:
        raise NotHere("the custodian asks no questions here; use an analyst's token.")
    question = here.gateway.read_question(known.caller, name, fields)
    seen = await execute(here.previews, known, "preview", dataset=name, question=question_facts(question))
    cost = texts.parsed(seen.body.decode())["cost"]
    found = await chore(request, lambda: request_approval(here.gateway, known.caller, name, question, cost, reason))
    here.log.write("approval requested", analyst=known.caller.name, dataset=name, cost=dict(question.amounts))
    await here.following.follow()
    return found.to_dict()


async def approvals(request: Request) -> Response:
    """The caller's own requests."""
    known, gateway, name = visit(request), state(request).gateway, request.path_params["dataset"]
    gateway.session(known.caller, name)
    found = gateway.standing.requests_of(known.caller.name, name)
    return JSONResponse({"approvals": [each.to_dict() for each in found]})


_APPROVALS = "/v1/datasets/{dataset}/approvals"
ROUTES = [
    Route("/v1/custodian", overview),
    Route("/v1/custodian/acts", acts),
    Route("/v1/custodian/actions", actions, methods=["POST"]),
    Route("/v1/custodian/datasets/{dataset}/{file}", file),
    Route(_APPROVALS, approvals),
    Route(_APPROVALS, ask_approval, methods=["POST"]),
]
