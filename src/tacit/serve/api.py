"""The HTTP interface for programs, version 1; `tacit.serve.openapi` describes it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tacit.answers import Answer, Answers
from tacit.errors import InvalidInput, TacitError
from tacit.ledger import texts
from tacit.serve.gateway import NotHere
from tacit.serve.openapi import DESCRIPTION
from tacit.serve.questions import KEY_LENGTH, Asked, number
from tacit.serve.running import padded
from tacit.serve.web import Visit, check_mark, chore, finite, read_json, state, status, visit
from tacit.tables.stored import encode

T = TypeVar("T")

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
    question = gateway.asked(known.caller, name, await read_json(request))
    return JSONResponse(await chore(request, lambda: gateway.preview(known.caller, name, question)))


async def ask(request: Request) -> Response:
    """Ask a question and pay for it."""
    start = time.monotonic()
    known = visit(request)
    check_mark(request, known, request.headers.get("x-csrf-token", ""))
    name = request.path_params["dataset"]
    key = request.headers.get("idempotency-key", "")
    question = state(request).gateway.asked(known.caller, name, await read_json(request))
    budget = state(request).gateway.session(known.caller, name).budget

    def tell(found: Answer | Answers) -> dict[str, Any]:
        return told(found) | {"remaining": texts.guarantee_text(budget.remaining)}

    return JSONResponse(await answered(request, known, name, question, key, start, tell))


async def answered(
    request: Request,
    known: Visit,
    name: str,
    question: Asked,
    key: str,
    start: float,
    tell: Callable[[Answer | Answers], T],
) -> T:
    """Ask and tell in a thread, write down what became of it, and go on no sooner than the padding allows."""
    here = state(request)
    if key and not re.fullmatch(rf"[\x21-\x7e]{{1,{KEY_LENGTH}}}", key):
        raise InvalidInput(f"Idempotency-Key must be 1 to {KEY_LENGTH} visible ASCII characters without spaces.")
    outcome = "unforeseen"

    def work() -> tuple[T, bool]:
        found = here.gateway.ask(known.caller, name, question, key)
        return tell(found), is_stored(found)

    try:
        words, stored = await here.questions.run(work)
        outcome = "stored" if stored else "answered"
        return words
    except TacitError as error:
        outcome = status(error)[1]
        raise
    finally:
        here.counts.add("tacit_questions_total", "outcome", outcome)
        here.log.write("asked", analyst=known.caller.name, dataset=name, cost=dict(question.amounts), outcome=outcome)
        await padded(start, float(here.gateway.config.limits.padding_seconds))


def is_stored(answer: Answer | Answers) -> bool:
    """Whether all of an answer had been released before."""
    return answer.stored if isinstance(answer, Answer) else all(part.stored for part in answer.values())


def told(answer: Answer | Answers) -> dict[str, Any]:
    """An answer for programs: as plain values, as a sentence, and whole, for our own client."""
    return {
        "answer": finite(answer.to_dict()),
        "words": str(answer),
        "cost": texts.guarantee_text(answer.guarantee),
        "stored": is_stored(answer),
        "whole": encode(answer),
    }


async def history(request: Request) -> Response:
    """The caller's questions, oldest first."""
    caller, gateway = visit(request).caller, state(request).gateway
    after = _whole(request, "after", 0, 2**62)
    limit = _whole(request, "limit", 100, MOST_LINES)
    lines = await chore(request, lambda: gateway.history(caller, request.path_params["dataset"]))
    found = [line.to_dict() for line in lines if line.number > after][:limit]
    return JSONResponse({"questions": found})


async def answer(request: Request) -> Response:
    """An answer of the caller, as it was released."""
    caller, gateway = visit(request).caller, state(request).gateway
    name, wanted = request.path_params["dataset"], numbered(request)

    def work() -> dict[str, Any]:
        line, found = gateway.answer(caller, name, wanted)
        return line.to_dict() | ({} if found is None else told(found))

    return JSONResponse(await chore(request, work))


async def plan(request: Request) -> Response:
    """The accuracy to expect from made-up data."""
    caller, gateway = visit(request).caller, state(request).gateway
    name, given = request.path_params["dataset"], request.query_params
    gateway.session(caller, name)
    persons = _whole(request, "persons", 0, 10**9) or None
    epsilon = number(given.get("epsilon", ""), "epsilon")
    statistic, shape = given.get("statistic", ""), given.get("shape", "lognormal")
    found = await state(request).forecasts.run(lambda: gateway.plan(name, statistic, persons, epsilon, shape))
    return JSONResponse(found.to_dict() | {"words": found.headline})


def numbered(request: Request) -> int:
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
    Route(f"{_ONE}/ask", ask, methods=["POST"]),
    Route(f"{_ONE}/history", history),
    Route(f"{_ONE}/answers/{{number}}", answer),
    Route(f"{_ONE}/plan", plan),
]
