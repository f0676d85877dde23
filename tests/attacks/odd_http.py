"""Requests that are odd in every way, given to the application itself: methods, paths, headers, cookies, bodies.

Nothing but a valid question may charge; nothing may end in a 5xx but the failure of an engine (503); every response
carries the headers that browsers are to obey.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tacit.serve.app import HEADERS
from tests.serve.support import token

App = Callable[..., Any]
ASK = "/v1/datasets/visits/ask"
PAGE = "/datasets/visits"


@dataclass(frozen=True)
class Sent:
    """A request as the application sees it."""

    method: str
    path: str
    query: bytes = b""
    headers: tuple[tuple[bytes, bytes], ...] = ()
    body: tuple[bytes, ...] = (b"",)

    @property
    def may_charge(self) -> bool:
        """Whether it is sent where questions are asked."""
        return self.method == "POST" and (self.path == ASK or self.path == PAGE)


@dataclass
class Tried:
    """What a run did."""

    requests: int = 0
    charged: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


_METHODS = [
    *["GET"] * 8,
    *["POST"] * 12,
    "PUT",
    "DELETE",
    "HEAD",
    "OPTIONS",
    "PATCH",
    "TRACE",
    "get",
    "FOO",
    "",
    "PO ST",
]
_DATASETS = [
    "visits",
    "visits",
    "visits",
    "Visits",
    "none",
    "..",
    ".",
    "%2e%2e",
    "a/b",
    "\x00",
    "é",
    "x" * 5000,
    "visits ",
    "{dataset}",
    "'",
]
_PATHS = [
    "/", "/login", "/logout", "/healthz", "/metrics", "/static/", "/static/../app.py", "/static/%2e%2e/app.py", "/v1/openapi.json",
    "/v1/datasets", "/v1/datasets/{d}", "/v1/datasets/{d}/budget", "/v1/datasets/{d}/cost", "/v1/datasets/{d}/ask",
    "/v1/datasets/{d}/history", "/v1/datasets/{d}/answers/{n}", "/v1/datasets/{d}/plan", "/custodian", "/custodian/audit",
    "/custodian/{d}/report.md", "/custodian/{d}/{d}", "/datasets/{d}", "/datasets/{d}/answers/{n}", "/datasets/{d}/questions.py",
    "//", "/v1", "/v1/", "/v2/datasets", "*", "/\ud800", "/v1/datasets/{d}/ask/", "/v1//datasets/{d}/ask",
]  # fmt: skip
_NUMBERS = ["0", "1", "-1", "9" * 30, "1e9", "1.5", "", "½", "٣", "0x1", "9" * 5000]
_QUERIES = ["", "after=-1", "limit=" + "9" * 50, "limit=½", "epsilon=1e999999", "epsilon=" + "9" * 5000, "statistic=%ED%A0%80", "%ff=%00", "&&&=&",
            "persons=1e9", "statistic=sum&epsilon=1&persons=10", "shape=none&statistic=sum&epsilon=1", "after=1&after=2"]  # fmt: skip
_VALUES: list[Any] = [
    None, True, 0, -1, 1.5, 10**400, -(10**400), 1e308, "", "1", "1/3", "1e-7000000", "1e10000000", "9" * 5000, "\x00", "\ud800", "é", "nan",
    [], [[]], {}, {"a": 1}, ["a", 1, None], "x" * 100_000, [None] * 1000, {"table": "visits", "statistic": "count"}, {"statistic": {}},
    "SELECT COUNT(*) FROM visits", "SELECT * FROM visits", "SELECT", "0.001", float("nan"), float("inf"),
]  # fmt: skip
_FIELDS = [
    "sql",
    "question",
    "keys",
    "epsilon",
    "delta",
    "rho",
    "fresh",
    "table",
    "statistic",
    "column",
    "where",
    "quantile",
    "",
    "__proto__",
]
_RAW = [b"", b"{", b"[]", b"null", b"1", b'"a"', b"\xff\xfe", b"[" * 5000, b'{"a":' * 2000, b"{}" * 3, b'{"sql": 1, "sql": 2}', b"NaN", b"\x00" * 100,
        b'{"epsilon": 1e999999999}', b'{"epsilon": ' + b"9" * 10000 + b"}", b'{"sql": "\\ud800", "epsilon": 1}', b"a=b&a=c&%ff=%00&mark="]  # fmt: skip
_KINDS = ["application/json", "application/json", "application/json", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data",
          "application/json; charset=utf-16", "application/json;" * 50, "", "é", "multipart/form-data; boundary=" + "x" * 300]  # fmt: skip
_KEYS = ["abc", "", " ", "x" * 500, "é", "\x00", "a b", "\n"]


def request(draw: Random) -> Sent:
    """A random one; a few are good questions."""
    known = (b"authorization", f"Bearer {token(draw.choice(('ada', 'ada', 'ada', 'grace', 'custodian')))}".encode())
    if draw.random() < 0.03:
        good = {"sql": "SELECT COUNT(*) FROM visits", "epsilon": f"0.01{draw.randrange(1000)}"}
        return Sent("POST", ASK, b"", (known, (b"content-type", b"application/json")), (json.dumps(good).encode(),))
    path = draw.choice(_PATHS).replace("{d}", draw.choice(_DATASETS), 1).replace("{n}", draw.choice(_NUMBERS))
    path = path.replace("{d}", draw.choice(_DATASETS))
    headers = [known] if draw.random() < 0.8 else []
    if draw.random() < 0.8:
        headers.append((b"content-type", draw.choice(_KINDS).encode()))
    for _ in range(draw.choice((0, 0, 1, 2, 5))):
        headers.append(_header(draw))
    return Sent(draw.choice(_METHODS), path, _bytes(draw.choice(_QUERIES)), tuple(headers), _body(draw))


def _header(draw: Random) -> tuple[bytes, bytes]:
    name = draw.choice(
        (
            "idempotency-key",
            "x-csrf-token",
            "cookie",
            "authorization",
            "host",
            "content-length",
            "origin",
            "accept",
            "x" * 300,
            "",
        )
    )
    forged = f"tacit=analyst:ada:99999999999:{'0' * 64}:{'0' * 64}"
    odd = [
        *_KEYS,
        forged,
        "tacit=",
        "tacit=::::",
        ";;;=",
        "tacit=a:b:²:d:e",
        "Bearer",
        "Bearer \ud800",
        "Basic eDp5",
        "-1",
        "9" * 20,
        "evil.test",
    ]
    return name.encode(), _bytes(draw.choice(odd))


def _body(draw: Random) -> tuple[bytes, ...]:
    kind = draw.random()
    if kind < 0.25:
        whole = draw.choice(_RAW)
    elif kind < 0.5:
        fields = draw.sample(_FIELDS, draw.randint(1, 5))
        whole = "&".join(f"{name}={draw.choice(_VALUES)}" for name in fields).encode(errors="surrogatepass")
    else:
        base: dict[str, Any] = (
            {"sql": "SELECT SUM(minutes) FROM visits", "epsilon": "0.001"} if draw.random() < 0.7 else {}
        )
        base |= {draw.choice(_FIELDS): draw.choice(_VALUES) for _ in range(draw.randint(1, 3))}
        whole = json.dumps(base).encode()
    cut = draw.randint(0, len(whole))
    return (whole,) if draw.random() < 0.8 else (whole[:cut], b"", whole[cut:])


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


def attack(app: App, spent: Callable[[], object], draw: Random, requests: int) -> Tried:
    """Send so many, one after the other, and look at the ledger after each."""
    return asyncio.run(_attack(app, spent, draw, requests))


async def _attack(app: App, spent: Callable[[], object], draw: Random, requests: int) -> Tried:
    done, before = Tried(), spent()
    stop, life = await _started(app)
    try:
        for _ in range(requests):
            sent = request(draw)
            status, headers = await asyncio.wait_for(_send(app, sent), 60)
            done.requests += 1
            done.statuses[status] += 1
            shown = f"{sent.method} {sent.path!a:.80}?{sent.query!r:.40} {sent.headers[1:]!r:.200} {b''.join(sent.body)!r:.200}"
            if status >= 500 and status != 503:
                done.failures.append(f"{status}: {shown}")
            if absent := [name for name in HEADERS if name.encode() not in headers]:
                done.failures.append(f"without {absent[0]}: {shown}")
            if (now := spent()) != before:
                done.charged += 1
                if not (sent.may_charge and status in (200, 503)):
                    done.failures.append(f"charged: {shown}")
                before = now
    finally:
        stop.set()
        await asyncio.wait_for(life, 60)
    return done


async def _started(app: App) -> tuple[asyncio.Event, asyncio.Task[None]]:
    """The application's life, until the event."""
    ready, stop, told = asyncio.Event(), asyncio.Event(), iter(("lifespan.startup", "lifespan.shutdown"))

    async def receive() -> dict[str, Any]:
        kind = next(told)
        if kind == "lifespan.shutdown":
            await stop.wait()
        return {"type": kind}

    async def send(message: dict[str, Any]) -> None:
        ready.set()

    life = asyncio.ensure_future(app({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, receive, send))
    await asyncio.wait_for(ready.wait(), 60)
    return stop, life


async def _send(app: App, sent: Sent) -> tuple[int, set[bytes]]:
    found: list[tuple[int, set[bytes]]] = []
    parts = iter(sent.body)
    left = len(sent.body)

    async def receive() -> dict[str, Any]:
        nonlocal left
        left -= 1
        if left < 0:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": next(parts), "more_body": left > 0}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            found.append((message["status"], {name.lower() for name, _ in message["headers"]}))

    path = _bytes(sent.path)
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": sent.method, "scheme": "http", "root_path": "",
        "path": path.decode(errors="replace"), "raw_path": path, "query_string": sent.query, "headers": list(sent.headers),
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80), "state": {},
    }  # fmt: skip
    await app(scope, receive, send)
    return found[0] if found else (599, {name.encode() for name in HEADERS})
