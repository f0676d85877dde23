"""What all requests share: who asks, how much they send, and how a mistake is said.

A request is known by a token in the Authorization header, or by the cookie of a browser. A cookie comes along by
itself, so a request that changes something must then show the mark of a form of ours as well. Bodies are read up to a
limit. A mistake becomes one sentence and a word for programs; what is unforeseen becomes one sentence for all.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response

from tacit.budgets import FailuresUsedUp, Unanswered, Unsettled
from tacit.errors import BudgetExceeded, EngineError, InvalidInput, LedgerError, TacitError, UnsupportedQuery
from tacit.ledger import Superseded
from tacit.serve import fragments
from tacit.serve.custody.actions import LocalOnly, Unconfirmed
from tacit.serve.custody.following import Following
from tacit.serve.executors import Executors
from tacit.serve.gateway import Gateway, NeedsApproval, NotHere
from tacit.serve.records import AuditLog, Counts
from tacit.serve.running import Busy, Cancelled, Pace, SharedLook, Threads
from tacit.serve.tokens import Caller, Doorkeeper, NotAdmitted
from tacit.serve.wire import Parcel

if TYPE_CHECKING:
    from tacit.serve.assistants.here import Assistants
    from tacit.serve.cancelling import Cancelling
    from tacit.serve.sign_in import Provider
    from tacit.serve.telemetry import Telemetry

T = TypeVar("T")

COOKIE = "tacit"
ARRIVAL = 9.0
"""Seconds in which a body arrives: somewhat fewer than a connection gets for all, so that there is time to say so."""


class Unknown(TacitError):
    """Nobody we know."""


class Forbidden(TacitError):
    """Known, but not allowed."""


class TooLarge(TacitError):
    """More than the limit."""


class Slow(TacitError):
    """A body that did not arrive."""


class WrongKind(TacitError):
    """Not the kind of body that is read here."""


ERRORS: list[tuple[type[TacitError], int, str]] = [
    (Unknown, 401, "unknown_token"),
    (Forbidden, 403, "forbidden"),
    (NotAdmitted, 403, "not_admitted"),
    (Unconfirmed, 409, "unconfirmed"),
    (Superseded, 409, "superseded"),
    (LocalOnly, 403, "local_only"),
    (NotHere, 404, "not_found"),
    (Slow, 408, "too_slow"),
    (TooLarge, 413, "too_large"),
    (WrongKind, 415, "wrong_kind"),
    (Busy, 429, "busy"),
    (Cancelled, 409, "cancelled"),
    (Unanswered, 409, "charged_before"),
    (Unsettled, 429, "busy"),
    (FailuresUsedUp, 403, "failures_used_up"),
    (NeedsApproval, 403, "approval_needed"),
    (BudgetExceeded, 403, "budget_exceeded"),
    (UnsupportedQuery, 422, "unsupported_query"),
    (InvalidInput, 400, "invalid_input"),
    (EngineError, 503, "engine_failed"),
    (LedgerError, 503, "ledger_failed"),
]
"""Errors with their status and their word for programs."""

UNFORESEEN = "something went wrong inside Tacit; see your history for what was charged, and tell the custodian."


def status(error: TacitError) -> tuple[int, str]:
    """The status and the word of an error."""
    return next(((number, word) for kind, number, word in ERRORS if isinstance(error, kind)), (400, "invalid_input"))


def problem(error: TacitError) -> JSONResponse:
    """An error for programs."""
    number, word = status(error)
    headers = {401: {"WWW-Authenticate": "Bearer"}, 429: {"Retry-After": "2"}}.get(number, {})
    return JSONResponse({"error": word, "message": error.told("json"), "python": str(error)}, number, headers)


def download(text: str | bytes, name: str, kind: str) -> PlainTextResponse:
    """A text that the browser keeps as a file."""
    return PlainTextResponse(text, headers={"content-disposition": f'attachment; filename="{name}"'}, media_type=kind)


@dataclass
class State:
    """What the handlers of one process share."""

    gateway: Gateway
    doorkeeper: Doorkeeper
    log: AuditLog
    questions: Executors
    previews: Executors
    """What a caller wrote and does not pay for."""
    forecasts: Executors
    """Made-up data takes longer, and must not keep people from their previews."""
    chores: Threads
    """What no caller wrote: budgets, histories, reports."""
    health: SharedLook
    """Whether the ledger can be read; for those who show no token."""
    following: Following
    """What the custodian did meanwhile, in whichever process."""
    pace: Pace
    logins: Pace
    strangers: Pace
    """For what nobody's token came with and takes some work: by the network that it came from."""
    assistants: Assistants
    cancelling: Cancelling
    telemetry: Telemetry
    provider: Provider | None = None
    """Where people sign in without a token."""
    counts: Counts = field(default_factory=Counts)
    stopping: bool = False
    """Whether the gateway was told to stop: what is in flight is finished, and nothing begins."""

    def stop(self) -> None:
        """Let nothing begin any more that could be charged; pages of what was paid are still made."""
        self.stopping = True
        for pool in (self.questions, self.previews, self.forecasts):
            pool.turns.refuse()

    @property
    def secure(self) -> bool:
        """Whether people come here by https."""
        return self.gateway.config.server.address.startswith("https://")


def state(request: Request) -> State:
    """The state of the application."""
    return cast(State, request.app.state.tacit)


@dataclass(frozen=True)
class Visit:
    """A known caller, and the cookie they came with, if any."""

    caller: Caller
    cookie: str = ""


def visit(request: Request) -> Visit:
    """Who asks; raises `Unknown` for nobody we know, `Busy` for somebody too quick."""
    here = state(request)
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        caller = here.doorkeeper.who(token.strip())
        if caller is None:
            refuse_stranger(here)
        found = Visit(caller)
    else:
        cookie = request.cookies.get(COOKIE, "")
        holder = here.doorkeeper.holder(cookie)
        if holder is None:
            raise Unknown("send your token as 'Authorization: Bearer …', or log in.")
        found = Visit(holder, cookie)
    here.pace.take(found.caller.key)
    here.gateway.standing.check(found.caller)
    request.state.key, request.scope["tacit.role"] = found.caller.key, found.caller.role
    return found


def refuse_stranger(here: State) -> NoReturn:
    """A wrong token: written down without it, and slowed down when there are many."""
    here.logins.take("login")  # first, so that a flood does not fill the log
    here.log.write("refused", reason="unknown token")
    raise Unknown("this token is not known; check it, or ask the custodian for a new one.")


def pace_stranger(request: Request) -> None:
    """Count a request of somebody unknown, or refuse it; an IPv6 network is half of an address."""
    host = request.client.host if request.client else ""
    with suppress(ValueError):
        address = ip_address(host)
        host = str(ip_network((address, 64 if address.version == 6 else 32), strict=False))
    state(request).strangers.take(host)


def check_mark(request: Request, known: Visit, mark: str) -> None:
    """A browser's request that changes something must bring back the mark of our form, from our own page."""
    site = request.headers.get("sec-fetch-site", "same-origin")
    if known.cookie and (
        site not in ("same-origin", "none") or not state(request).doorkeeper.marked(known.cookie, mark)
    ):
        raise Forbidden("this form is too old or not ours, and nothing was done; load the page again.")


async def read(request: Request) -> bytes:
    """The body, up to the limit and within `ARRIVAL` seconds."""
    most = state(request).gateway.config.limits.body_bytes
    found = bytearray()
    try:
        async with asyncio.timeout(ARRIVAL):
            async for chunk in request.stream():
                found += chunk
                if len(found) > most:
                    raise TooLarge(f"a request may have at most {most} bytes, and nothing was done; send less.")
    except (TimeoutError, ClientDisconnect):
        raise Slow("the request did not arrive whole, and nothing was done; send it again.") from None
    return bytes(found)


async def read_json(request: Request) -> Any:
    """A JSON body; numbers with a point stay as they were written."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise WrongKind("send JSON, with Content-Type: application/json.")
    body = await read(request)
    try:
        return json.loads(body, parse_float=Decimal, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise InvalidInput("the body is not JSON that can be read.") from None


def _no_constant(text: str) -> Any:
    raise ValueError(text)


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a form."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise WrongKind("send a form.")
    body = await read(request)
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=50))
    except ValueError:
        raise InvalidInput("the form cannot be read.") from None


def page(request: Request, known: Visit, title: str, body: str, number: int = 200, **options: Any) -> Response:
    """A page for somebody we know; the options are those of `fragments.layout`."""
    mark, caller = state(request).doorkeeper.mark(known.cookie), known.caller
    options |= {"who": caller.shown, "custodian": caller.custodian, "mark": mark, "here": request.url.path}
    return HTMLResponse(fragments.layout(title, body, **options), number)


async def chore(request: Request, work: Callable[[], T]) -> T:
    """Some quick work that blocks, in the turn of a caller whom `visit` knows."""
    found: T = await state(request).chores.run(request.state.key, work)
    return found


async def execute(
    pool: Executors,
    known: Visit,
    kind: str,
    called: Sequence[str] = (),
    since: float | None = None,
    **facts: Any,
) -> Parcel:
    """What an executor makes of a piece of work, in the caller's turn; the rest is as in `Pool.run`."""
    caller = known.caller
    who = [caller.role, caller.name, caller.token]
    found: Parcel = await pool.run(caller.key, {"kind": kind, "caller": who, **facts}, called, since)
    return found
