"""A gateway in this process, fresh for each test, on a real port."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import uvicorn

from tacit.serve.app import application
from tacit.serve.config import load
from tacit.serve.connections import SETTINGS
from tacit.serve.zygote import Zygote
from tests.serve.support import configuration, token
from tests.support import until

ZYGOTE = Zygote(["tests.serve.planted"])
"""One for all gateways of this process; its executors misbehave when a question tells them to."""


@contextmanager
def gateway(configured: Callable[[str], Path]) -> Iterator[httpx.Client]:
    """A client without a token, of a gateway whose configuration may know its address."""
    listening = socket.create_server(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    app = application(load(configured(address)), bytes(32), zygote=ZYGOTE)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", **SETTINGS))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    until(lambda: server.started)
    try:
        with httpx.Client(base_url=address, timeout=200) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join(200)


@pytest.fixture
def nobody(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[httpx.Client]:
    """A client without a token; a test may ask for other settings by ``indirect`` parameters of `configuration`."""
    with gateway(lambda _: configuration(tmp_path, **getattr(request, "param", {}))) as client:
        yield client


@pytest.fixture
def ada(nobody: httpx.Client) -> httpx.Client:
    """The same, with ada's token on every request."""
    nobody.headers["Authorization"] = f"Bearer {token('ada')}"
    return nobody
