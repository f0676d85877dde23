"""The application: routes, the headers that every response carries, and the last net for what is unforeseen.

A worker process makes its own from the configuration (`from_environment`). Nothing that a caller wrote is parsed or
computed in it, beyond a bounded body: that is for three pools of executors, which it watches. When it is told to stop,
it answers what is in flight, and waits until every charged question has its outcome in the ledger.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from types import FrameType
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tacit.errors import TacitError
from tacit.serve import api, custodian, pages, sign_in
from tacit.serve.assistants import here as assistants
from tacit.serve.cancelling import Cancelling
from tacit.serve.config import Config, load
from tacit.serve.custody import api as custody_api
from tacit.serve.custody import first as custody_first
from tacit.serve.custody import pages as custody_pages
from tacit.serve.custody.following import Following
from tacit.serve.executors import GREEDY, Bounds, Executors, Unforeseen
from tacit.serve.gateway import Gateway, NotHere
from tacit.serve.records import AuditLog
from tacit.serve.running import Lately, Pace, SharedLook, Threads, Turns
from tacit.serve.telemetry import OUTCOME, telemetry
from tacit.serve.tokens import ANALYST, Caller, Doorkeeper, Revoked
from tacit.serve.web import UNFORESEEN, State, problem, state
from tacit.serve.work import ExecutorSetup, Work
from tacit.serve.zygote import Zygote, shared_zygote

CONFIG = "TACIT_SERVE_CONFIG"
SECRET = "TACIT_SERVE_SECRET"
LEDGER_ID = "TACIT_SERVE_LEDGER_ID"
LOGGED_OUT = "TACIT_SERVE_LOGGED_OUT"
"""The environment in which a worker finds its configuration, the secret of the cookies, the identity of the ledger that
was opened at the start, and the file in which workers tell each other who logged out."""

CHORES = 2
"""Threads for what is quick."""
BEHIND = 5
"""How far forecasts stand back for questions, previews and pages."""

PLAIN = ("/static/", "/healthz", "/readyz", "/metrics", "/v1/openapi.json")
"""Addresses that are the same for everybody, whatever the custodian did."""
STATIC = Path(__file__).parent / "static"

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


def from_environment() -> ASGIApp:
    """The application of a worker process."""
    config = load(os.environ[CONFIG])
    config = replace(config, server=replace(config.server, ledger_id=os.environ[LEDGER_ID]))
    return application(config, bytes.fromhex(os.environ[SECRET]), Path(os.environ[LOGGED_OUT]))


def application(config: Config, secret: bytes, logged_out: Path | None = None, zygote: Zygote | None = None) -> ASGIApp:
    """The application for a configuration; workers that share the secret accept each other's cookies.

    ``logged_out`` is the file in which they tell each other of cookies that no longer count.
    """
    limits = config.limits
    gateway, log, copied = Gateway(config), AuditLog(config.server.log), zygote or shared_zygote()
    doorkeeper = Doorkeeper(config.digests, secret, Revoked(logged_out))
    pools: list[tuple[Executors, int]] = []
    lately = Lately(GREEDY + float(limits.padding_seconds))

    def setup(niceness: int) -> ExecutorSetup:
        known = replace(gateway.config, digests={}, settings={})  # executors know no token
        return ExecutorSetup(known, niceness, limits.memory_mb, gateway.columns())

    def executors(
        kind: str, places: int, share: int, seconds: Decimal, niceness: int, after: Turns | None = None
    ) -> Executors:
        def stopped(work: Work, charged: list[Mapping[str, Any]]) -> None:
            caller = Caller(*work["caller"])
            log.write("stopped", pool=kind, analyst=caller.name)
            with suppress(TacitError):  # the charge stands, and has no outcome
                gateway.record_failures(work["dataset"], charged)

        turns = Turns(places, share, limits.waiting, 0.0 if after else float(limits.padding_seconds), lately)
        bounds = Bounds(float(seconds), limits.memory_mb)
        pool = Executors(turns, copied, setup(niceness), bounds, stopped, after)
        pools.append((pool, niceness))
        return pool

    def changed() -> None:
        """Let the custodian's acts count in this process."""
        doorkeeper.know(gateway.standing.digests(gateway.config))
        for pool, niceness in pools:
            pool.renew(setup(niceness))

    doorkeeper.know(gateway.standing.digests(gateway.config))

    questions = executors("questions", limits.concurrency, limits.per_analyst, limits.question_seconds, 0)
    here = State(
        gateway=gateway,
        doorkeeper=doorkeeper,
        log=log,
        questions=questions,
        previews=executors("previews", limits.previews, 1, limits.preview_seconds, 0, questions.turns),
        forecasts=executors("forecasts", limits.previews, 1, limits.question_seconds, BEHIND, questions.turns),
        chores=Threads(Turns(CHORES, 1, limits.waiting), CHORES, "chores", questions.turns),
        health=SharedLook(gateway.ledger.names, "health"),
        following=Following(gateway, changed),
        pace=Pace(limits.per_minute, own_paces(config), logged_out and logged_out.with_name("paces")),
        logins=Pace(limits.logins_per_minute),
        strangers=Pace(limits.per_minute),
        assistants=assistants.Assistants(config),
        telemetry=telemetry(config.telemetry, lambda: questions.turns.held, lambda: questions.turns.queued),
        cancelling=Cancelling(questions, logged_out and logged_out.with_name("cancelled")),
        provider=sign_in.Provider(config.sign_in, config.server.address) if config.sign_in.issuer else None,
    )

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await asyncio.to_thread(copied.start)
        here.log.write("started")
        here.cancelling.start()
        with told_to_stop(here.stop):
            yield
        here.stop()
        await here.cancelling.close()
        for pool in (here.questions, here.previews, here.forecasts, here.chores):
            await pool.close()
        await here.assistants.close()
        await asyncio.to_thread(copied.tidy)
        here.health.close()
        await asyncio.to_thread(here.telemetry.close)
        here.following.close()
        here.gateway.close()
        here.log.write("stopped")

    routes = [
        Route("/healthz", health),
        Route("/readyz", readiness),
        Route("/metrics", metrics),
        Mount("/static", StaticFiles(directory=STATIC)),
        *api.ROUTES,
        *custody_api.ROUTES,
        *custody_pages.ROUTES,
        *custody_first.ROUTES,
        *custodian.ROUTES,
        *pages.ROUTES,
        *sign_in.ROUTES,
        *assistants.ROUTES,
    ]
    handlers = {TacitError: _mistake, HTTPException: _other, Exception: _unforeseen}
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)
    app.state.tacit = here
    return Shell(app, here)


def own_paces(config: Config) -> dict[str, int]:
    """Requests a minute of those who have a limit of their own."""
    return {Caller(ANALYST, name).key: pace for name, pace in config.paces.items()}


async def health(request: Request) -> Response:
    """Whether the ledger can be read; for whoever watches the server."""
    await state(request).health.run()
    return JSONResponse({"status": "ok"})


async def readiness(request: Request) -> Response:
    """Whether questions are taken: not while it starts or stops, nor without the ledger; for a balancer."""
    here = state(request)
    if here.stopping:
        return JSONResponse({"status": "stopping"}, 503)
    await here.health.run()
    return JSONResponse({"status": "ready"})


@contextmanager
def told_to_stop(stop: Callable[[], None]) -> Iterator[None]:
    """Hear the signal that ends the server, before the server waits for what is in flight."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

    def heard(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(stop)
        if callable(next_one := before[signal.Signals(number)]):
            next_one(number, frame)

    for number in before:
        signal.signal(number, heard)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


async def metrics(request: Request) -> Response:
    """Counts of this worker, without names, data or times."""
    here = state(request)
    turns = here.questions.turns
    gauges = {"tacit_questions_in_flight": turns.held, "tacit_questions_waiting": turns.queued}
    return PlainTextResponse(here.counts.text(gauges), media_type="text/plain; version=0.0.4")


def _programs(request: Request) -> bool:
    return request.url.path.startswith(("/v1", "/healthz", "/readyz", "/metrics", assistants.PATH))


def _mistake(request: Request, error: Exception) -> Response:
    assert isinstance(error, TacitError)
    return problem(error) if _programs(request) else pages.mistake(request, error)


def _other(request: Request, error: Exception) -> Response:
    """What the router itself refuses: no such address, another method."""
    assert isinstance(error, HTTPException)
    missing = NotHere("there is nothing at this address.")
    if error.status_code == 404:
        return _mistake(request, missing)
    words = "this address takes no such request, and nothing was done."
    if _programs(request):
        return JSONResponse({"error": "not_found", "message": words, "python": words}, error.status_code, error.headers)
    response = pages.sorry(words, error.status_code)
    response.headers.update(error.headers or {})
    return response


def _unforeseen(request: Request, error: Exception) -> Response:
    """The same for all: the error's own words may hold anything, so only its kind is written down."""
    kind = error.kind if isinstance(error, Unforeseen) else type(error).__name__
    state(request).log.write("unforeseen", kind=kind)
    if _programs(request):
        return JSONResponse({"error": "unforeseen", "message": UNFORESEEN, "python": UNFORESEEN}, 500)
    return pages.sorry(UNFORESEEN, 500)


class Shell:
    """Around everything: headers, counts, and an end for errors that nobody foresaw."""

    def __init__(self, app: ASGIApp, here: State) -> None:
        self._app, self._here = app, here
        self._headers = dict(HEADERS)
        if here.secure:
            self._headers["strict-transport-security"] = "max-age=31536000"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        begun, status = time.time_ns(), 500

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                self._here.counts.add("tacit_requests_total", "status", str(message["status"]))
                present = {name.lower() for name, _ in message["headers"]}
                own = [(n.encode(), v.encode()) for n, v in self._headers.items() if n.encode() not in present]
                message["headers"] = [*message["headers"], *own]
            await send(message)

        with suppress(Exception):  # answered by `_unforeseen`; its words go nowhere
            try:
                if not scope["path"].startswith(PLAIN):
                    await self._here.following.follow()
            except TacitError as error:  # who may come in cannot be known
                await _mistake(Request(scope), error)(scope, receive, sending)
            else:
                await self._app(scope, receive, sending)
        route = getattr(scope.get("route"), "path", "other")
        outcome, role = scope.get(OUTCOME, ""), scope.get("tacit.role", "")
        self._here.telemetry.answered(scope["method"], route, status, outcome, role, begun)
