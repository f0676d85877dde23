"""The HTTP interface for programs, version 1; `tacit.serve.openapi` describes it."""

from __future__ import annotations

import json
import re
import time
from bisect import bisect_right

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tacit.errors import InvalidInput, TacitError
from tacit.serve.cancelling import called
from tacit.serve.composing import compose
from tacit.serve.gateway import NotHere
from tacit.serve.openapi import DESCRIPTION
from tacit.serve.questions import KEY_LENGTH, SentQuestion, number
from tacit.serve.running import pad
from tacit.serve.telemetry import OUTCOME
from tacit.serve.web import Visit, check_mark, chore, execute, read_json, state, status, visit
from tacit.serve.wire import Parcel
from tacit.serve.work import question_facts

MOST_LINES = 1_000
"""The most lines of history in one response."""


async def description(request: Request) -> Response:
    """The OpenAPI description, for everybody."""
    return JSONResponse(DESCRIPTION)


async def datasets(request: Request) -> Response:
    """The datasets of the caller."""
    return JSONResponse({"datasets": state(request).gateway.datasets(visit(request).caller)})


async def dataset(request: Request) -> Response:
    """The public facts of one dataset."""
    return JSONResponse(state(request).gateway.facts(visit(request).caller, request.path_params["dataset"]))


async def budget(request: Request) -> Response:
    """What the caller has left."""
    caller, gateway = visit(request).caller, state(request).gateway
    return JSONResponse(await chore(request, lambda: gateway.budget(caller, request.path_params["dataset"])))


async def cost(request: Request) -> Response:
    """What a question would cost."""
    known = visit(request)
    check_mark(request, known, request.headers.get("x-csrf-token", ""))
    gateway, name = state(request).gateway, request.path_params["dataset"]
    question = gateway.read_question(known.caller, name, await read_json(request))
    found = await execute(state(request).previews, known, "preview", dataset=name, question=question_facts(question))
    return _passed_on(found)


async def written(request: Request) -> Response:
    """A question that is put together from fields, as SQL."""
    known = visit(request)
    check_mark(request, known, request.headers.get("x-csrf-token", ""))
    gateway, name = state(request).gateway, request.path_params["dataset"]
    session = gateway.session(known.caller, name)
    return JSONResponse({"sql": compose(await read_json(request), session, gateway.config.limits.query_characters)})


async def expected(request: Request) -> Response:
    """How far off the answers to a question would be."""
    known = visit(request)
    check_mark(request, known, request.headers.get("x-csrf-token", ""))
    here, name = state(request), request.path_params["dataset"]
    question = here.gateway.read_question(known.caller, name, await read_json(request))
    facts = {
        "dataset": name,
        "question": question_facts(question),
        "persons": _whole(request, "persons", 0, 10**9) or None,
        "shape": request.query_params.get("shape", "lognormal"),
    }
    return _passed_on(await execute(here.forecasts, known, "expected", **facts))


def _passed_on(found: Parcel) -> Response:
    """JSON that an executor wrote."""
    return Response(found.body, media_type="application/json")


async def ask(request: Request) -> Response:
    """Ask a question and pay for it."""
    start = time.monotonic()
    known = visit(request)
    check_mark(request, known, request.headers.get("x-csrf-token", ""))
    name = request.path_params["dataset"]
    key = request.headers.get("idempotency-key", "")
    question = state(request).gateway.read_question(known.caller, name, await read_json(request))
    return _passed_on(await answer_question(request, known, name, question, key, start))


async def answer_question(
    request: Request, known: Visit, name: str, question: SentQuestion, key: str, start: float, page: bool = False
) -> Parcel:
    """Have a question answered, write down what became of it, and go on no sooner than the padding allows."""
    here = state(request)
    if key and not re.fullmatch(rf"[\x21-\x7e]{{1,{KEY_LENGTH}}}", key):
        raise InvalidInput(f"Idempotency-Key must be 1 to {KEY_LENGTH} visible ASCII characters without spaces.")
    outcome = "unforeseen"
    facts = question_facts(question)
    try:
        names = [called(known.caller, name, word) for word in _names(key, page)]
        work = {"dataset": name, "question": facts, "key": key, "page": page}
        found = await execute(here.questions, known, "ask", names, start, **work)
        outcome = "stored" if found.facts["stored"] else "answered"
        await here.following.follow()
        here.gateway.standing.check(known.caller, name, known.caller.token)  # who was sent away gets no answer
        return found
    except TacitError as error:
        outcome = status(error)[1]
        raise
    finally:
        request.scope[OUTCOME] = outcome
        here.log.write("asked", analyst=known.caller.name, dataset=name, cost=dict(question.amounts), outcome=outcome)
        await pad(start, float(here.gateway.config.limits.padding_seconds))
        here.counts.add("tacit_questions_total", "outcome", outcome)  # everybody may look at the counts


def _names(key: str, page: bool) -> list[str]:
    """How a question may be called by whoever cancels it; a form knows the first part of its key."""
    return [word for word in (key, key.rpartition("-")[0] if page else "") if word]


async def cancel(request: Request) -> Response:
    """Take back a question of one's own that waits or is being answered; says the same whether or not there is one."""
    known = visit(request)
    check_mark(request, known, request.headers.get("x-csrf-token", ""))
    here, name = state(request), request.path_params["dataset"]
    here.gateway.session(known.caller, name)
    body = await read_json(request)
    key = body.get("key") if isinstance(body, dict) and set(body) == {"key"} else None
    if not isinstance(key, str) or not re.fullmatch(rf"[\x21-\x7e]{{1,{KEY_LENGTH}}}", key):
        raise InvalidInput('send the key of the question, such as {"key": "monday-1"}.')
    here.cancelling.cancel(called(known.caller, name, key))
    here.log.write("cancelled", analyst=known.caller.name, dataset=name)
    return JSONResponse({"status": "cancelling"}, 202)


async def history(request: Request) -> Response:
    """The caller's questions, oldest first."""
    caller, gateway = visit(request).caller, state(request).gateway
    after = _whole(request, "after", 0, 2**62)
    limit = _whole(request, "limit", 100, MOST_LINES)

    def work() -> str:
        lines = gateway.history(caller, request.path_params["dataset"])
        first = bisect_right(lines, after, key=lambda line: line.number)
        return ",".join(json.dumps(line.to_dict()) for line in lines[first : first + limit])  # in small steps

    found = await chore(request, work)
    return Response(f'{{"questions":[{found}]}}', media_type="application/json")


async def answer(request: Request) -> Response:
    """An answer of the caller, as it was released."""
    known, here, name = visit(request), state(request), request.path_params["dataset"]
    wanted = read_number(request)
    line = await chore(request, lambda: here.gateway.line(known.caller, name, wanted))
    facts = {"dataset": name, "outcome": line.outcome, "line": line.to_dict(), "page": False}
    return _passed_on(await execute(here.previews, known, "past", **facts))


async def plan(request: Request) -> Response:
    """The accuracy to expect from made-up data."""
    known, here, name, given = visit(request), state(request), request.path_params["dataset"], request.query_params
    here.gateway.session(known.caller, name)
    facts = {
        "dataset": name,
        "statistic": given.get("statistic", ""),
        "persons": _whole(request, "persons", 0, 10**9) or None,
        "epsilon": number(given.get("epsilon", ""), "epsilon"),
        "shape": given.get("shape", "lognormal"),
    }
    return _passed_on(await execute(here.forecasts, known, "forecast", **facts))


def read_number(request: Request) -> int:
    """The number of an answer in an address."""
    text = request.path_params["number"]
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise NotHere("you have no question of that number; see your history.")
    return int(text)


def _whole(request: Request, name: str, default: int, most: int) -> int:
    text = request.query_params.get(name, str(default))
    if not re.fullmatch(r"[0-9]{1,19}", text) or int(text) > most:
        raise InvalidInput(f"{name} must be a whole number from 0 to {most}.")
    return int(text)


_ONE = "/v1/datasets/{dataset}"
ROUTES = [
    Route("/v1/openapi.json", description),
    Route("/v1/datasets", datasets),
    Route(_ONE, dataset),
    Route(f"{_ONE}/budget", budget),
    Route(f"{_ONE}/cost", cost, methods=["POST"]),
    Route(f"{_ONE}/compose", written, methods=["POST"]),
    Route(f"{_ONE}/expected", expected, methods=["POST"]),
    Route(f"{_ONE}/ask", ask, methods=["POST"]),
    Route(f"{_ONE}/cancel", cancel, methods=["POST"]),
    Route(f"{_ONE}/history", history),
    Route(f"{_ONE}/answers/{{number}}", answer),
    Route(f"{_ONE}/plan", plan),
]
