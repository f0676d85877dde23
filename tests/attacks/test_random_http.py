"""Random HTTP against the application: no 5xx but an engine's, headers on everything, no charge but for a question.

250 requests here, 10^4 in `benchmarks/attacks.py`. What the description of the interface allows is sent by
`tests/serve/test_hostile.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tacit import Pure
from tacit.ledger import open_ledger
from tacit.serve.app import application
from tacit.serve.config import load
from tests.attacks.odd_http import App, attack
from tests.serve.support import configuration

REQUESTS = 250
MANY = "[limits]\nper_minute = 1000000\nlogins_per_minute = 1000000\nleast_price = 0"


def opened(folder: Path) -> tuple[App, Callable[[], object]]:
    """An application, and what its ledger says is spent."""
    path = configuration(folder, epsilon="1000", limit="datasets.visits.limit.epsilon = 500", extra=MANY)
    app = application(load(path), bytes(32))
    ledger = open_ledger(folder / "ledger.db", read_only=True)
    return app, lambda: ledger.budget("visits").spent


def test_no_request_breaks_the_gateway_or_charges_by_itself(tmp_path: Path) -> None:
    app, spent = opened(tmp_path)
    done = attack(app, spent, Random(18), REQUESTS)
    assert done.failures == []
    assert done.requests == REQUESTS
    assert 0 < done.charged < REQUESTS / 10
    assert {200, 400, 401, 404, 405} <= set(done.statuses)


def raises(app: App, folder: Path) -> App:
    """A handler that does not know what to do with a number."""

    async def faulty(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and "answers" in scope["path"]:
            await send({"type": "http.response.start", "status": 500, "headers": []})
            await send({"type": "http.response.body"})
        else:
            await app(scope, receive, send)

    return faulty


def bare(app: App, folder: Path) -> App:
    """Some responses without the headers."""

    async def faulty(scope: Any, receive: Any, send: Any) -> None:
        async def sending(message: Any) -> None:
            await send(message | ({"headers": []} if "static" in scope.get("path", "") else {}))

        await app(scope, receive, sending)

    return faulty


def charges(app: App, folder: Path) -> App:
    """A preview that is paid for."""
    budget = open_ledger(folder / "ledger.db").budget("visits")

    async def faulty(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"].endswith("/cost"):
            budget.settle(budget.charge(Pure("0.1")), {})
        await app(scope, receive, send)

    return faulty


@pytest.mark.parametrize(
    ("fault", "words"), [(raises, "500: "), (bare, "without "), (charges, "charged: ")], ids=lambda part: str(part)[:16]
)
def test_planted_faults_are_found(fault: Callable[[App, Path], App], words: str, tmp_path: Path) -> None:
    app, spent = opened(tmp_path)
    found = attack(fault(app, tmp_path), spent, Random(18), 150).failures
    assert any(failure.startswith(words) for failure in found)
