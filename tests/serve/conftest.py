"""A gateway in this process, fresh for each test, on a real port."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import uvicorn

from tacit.serve.app import application
from tacit.serve.config import load
from tacit.serve.connections import SETTINGS
from tacit.serve.zygote import Zygote
from tests.serve.support import configuration, token

ZYGOTE = Zygote(["tests.serve.planted"])
"""One for all gateways of this process; its executors misbehave when a question tells them to."""


@pytest.fixture
def nobody(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[httpx.Client]:
    """A client without a token; a test may ask for other settings by ``indirect`` parameters of `configuration`."""
    path = configuration(tmp_path, **getattr(request, "param", {}))
    app = application(load(path), bytes(32), zygote=ZYGOTE)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", **SETTINGS))
    listening = server.config.bind_socket()
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    end = time.monotonic() + 60
    while not server.started:
        assert time.monotonic() < end
        time.sleep(0.005)
    with httpx.Client(base_url=f"http://127.0.0.1:{listening.getsockname()[1]}", timeout=60) as client:
        yield client
    server.should_exit = True
    thread.join(60)


@pytest.fixture
def ada(nobody: httpx.Client) -> httpx.Client:
    """The same, with ada's token on every request."""
    nobody.headers["Authorization"] = f"Bearer {token('ada')}"
    return nobody
