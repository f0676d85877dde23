"""Assistants over HTTP, on the gateway's own port: POST /mcp with a token.

A cookie does not count here, so no page of anybody can speak in a person's name. The Host and, where a browser sends
one, the Origin must be the gateway's own: a name that somebody points at this machine (DNS rebinding) reaches nothing.
There are no sessions and no streams: each request is answered by itself, in its own caller's name.
"""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import AsyncExitStack
from decimal import Decimal
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from tacit.serve.api import answer_question
from tacit.serve.assistants.desk import Desk
from tacit.serve.config import Config
from tacit.serve.gateway import NotHere
from tacit.serve.web import Unknown, Visit, chore, execute, state, visit
from tacit.serve.work import question_facts

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

PATH = "/mcp"
_DESK = "tacit.desk"


class Assistants:
    """The protocol's server in this process, loaded when the first assistant comes."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._manager: StreamableHTTPSessionManager | None = None
        self._starting: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()

    async def manager(self) -> StreamableHTTPSessionManager:
        """What answers requests."""
        if self._manager is None:
            ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            if self._starting is None:
                self._starting = asyncio.create_task(self._live(ready))
                self._ready = ready
            await asyncio.shield(self._ready)
        assert self._manager is not None
        return self._manager

    async def _live(self, ready: asyncio.Future[None]) -> None:
        try:
            made = await asyncio.to_thread(_manager, self._config)
            async with AsyncExitStack() as stack:
                await stack.enter_async_context(made.run())
                self._manager = made
                ready.set_result(None)
                await self._stop.wait()
        except Exception as error:
            if not ready.done():
                ready.set_exception(error)
            self._starting = None

    async def close(self) -> None:
        """End, if it ever began."""
        self._stop.set()
        if self._starting is not None:
            await asyncio.gather(self._starting, return_exceptions=True)


def _manager(config: Config) -> StreamableHTTPSessionManager:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from mcp.server.transport_security import TransportSecuritySettings

    from tacit.serve.assistants.tools import server

    hosts, origins = own_names(config)
    return StreamableHTTPSessionManager(
        server(_desk),
        json_response=True,
        stateless=True,
        max_request_body_size=config.limits.body_bytes,
        security_settings=TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins),
    )


def _desk(context: ServerRequestContext[Any]) -> Desk:
    assert context.request is not None
    found: Desk = context.request.scope[_DESK]
    return found


def own_names(config: Config) -> tuple[list[str], list[str]]:
    """The hosts and origins under which this gateway is known."""
    loopback = ["127.0.0.1", "localhost", "[::1]"]
    hosts = [*loopback, *(f"{name}:*" for name in loopback)]
    if not config.server.address:
        return hosts, [f"http://{name}:{config.server.port}" for name in loopback]
    found = urlsplit(config.server.address)
    return [found.netloc, *hosts], [f"{found.scheme}://{found.netloc}"]


class GatewayDesk(Desk):
    """The gateway in the name of a caller."""

    def __init__(self, request: Request, known: Visit) -> None:
        self._request, self._known = request, known
        self._here, self._start = state(request), time.monotonic()

    async def datasets(self) -> dict[str, Any]:
        """The caller's datasets with their budgets."""
        gateway, caller = self._here.gateway, self._known.caller

        def gathered() -> list[dict[str, Any]]:
            return [{"name": name} | gateway.budget(caller, name) for name in gateway.datasets(caller)]

        return {"datasets": await chore(self._request, gathered)}

    async def schema(self, name: str) -> dict[str, Any]:
        """Public facts."""
        return self._here.gateway.facts(self._known.caller, name)

    async def preview(self, name: str, question: dict[str, Any], persons: int | None) -> dict[str, Any]:
        """What a question would cost, and how far off its answer would be."""
        asked = self._here.gateway.read_question(self._known.caller, name, _exact(question))
        facts = question_facts(asked)
        seen = await execute(self._here.previews, self._known, "preview", dataset=name, question=facts)
        found: dict[str, Any] = json.loads(seen.body)
        about: dict[str, Any] = {"dataset": name, "question": facts, "persons": persons, "shape": "lognormal"}
        far = await execute(self._here.forecasts, self._known, "expected", **about)
        return found | {"expected_error": json.loads(far.body)["words"]}

    async def ask(self, name: str, question: dict[str, Any], key: str) -> dict[str, Any]:
        """The answer to a question, written down and padded as every other."""
        asked = self._here.gateway.read_question(self._known.caller, name, _exact(question))
        found = await answer_question(self._request, self._known, name, asked, key, self._start)
        answer: dict[str, Any] = json.loads(found.body)
        return answer


def _exact(question: dict[str, Any]) -> dict[str, Any]:
    """Keys with a point as the gateway reads them."""
    return json.loads(json.dumps(question), parse_float=Decimal)  # type: ignore[no-any-return]


class Endpoint:
    """POST /mcp; an application of its own, because the protocol's server writes the response."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let known callers in, and nobody else."""
        request = Request(scope, receive, send)
        if not find_spec("mcp"):
            raise NotHere("there is nothing at this address.")
        if not request.headers.get("authorization", "").lower().startswith("bearer "):
            raise Unknown("send your token as 'Authorization: Bearer …'.")
        known = visit(request)
        if request.method != "POST":
            await Response(status_code=405, headers={"allow": "POST"})(scope, receive, send)
            return
        scope[_DESK] = GatewayDesk(request, known)
        await (await state(request).assistants.manager()).handle_request(scope, receive, send)


ROUTES = [Route(PATH, Endpoint())]
