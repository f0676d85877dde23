"""The whole gateway is killed between a charge and its answer, and started anew: what was paid is answered, once."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tacit import Pure
from tacit.ledger import charges, open_ledger, verify
from tests.serve.support import configuration, serving, token

ASK = "/v1/datasets/visits/ask"
PAID = {"sql": "SELECT SUM(minutes) FROM visits -- hold, paid", "epsilon": "0.5"}
WAITS = {"sql": "SELECT COUNT(*) FROM visits", "epsilon": "0.25"}


def until(found: Callable[[], object], what: str) -> None:
    end = time.monotonic() + 200
    while not found():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def test_what_was_paid_is_answered_after_kill_9_of_everything(tmp_path: Path) -> None:
    path = configuration(tmp_path, extra="[limits]\nper_analyst = 1")
    tokens = {"ada": token("ada")}
    with serving(str(path), tokens=tokens, planted="tests.serve.planted") as served, ThreadPoolExecutor(2) as pool:
        line = served.line("ada")
        paid = pool.submit(line.post, ASK, json=PAID, headers={"Idempotency-Key": "paid"})
        until(lambda: states(tmp_path), "nothing was charged")
        waits = pool.submit(line.post, ASK, json=WAITS, headers={"Idempotency-Key": "waits"})
        until(lambda: httpx.get(f"{served.address}/metrics").text.rstrip().endswith(" 1"), "nobody waits")
        served.process.kill()  # its executors end with it: tests/attacks/test_gateway_stays_up.py
        served.process.wait(200)
        for broken in (paid, waits):
            with pytest.raises(httpx.TransportError):
                broken.result(200)
    assert states(tmp_path) == ["charged"]

    with serving(str(path), tokens=tokens, planted="tests.serve.long_after") as served:
        line = served.line("ada")
        first = line.post(ASK, json=PAID, headers={"Idempotency-Key": "paid"})
        assert first.status_code == 200, first.text
        assert states(tmp_path) == ["answered"]  # the charge of before; there is no other
        again = line.post(ASK, json=PAID, headers={"Idempotency-Key": "paid"}).json()
        assert again["answer"]["value"] == first.json()["answer"]["value"]
        assert line.post(ASK, json=WAITS, headers={"Idempotency-Key": "waits"}).status_code == 200
        assert line.get("/v1/datasets/visits/budget").json()["spent"] == "Pure 3/4"
    with open_ledger(tmp_path / "ledger.db", read_only=True) as ledger:
        assert verify(ledger, "visits").sound
        assert [charge.guarantee for charge in charges(ledger, "visits")] == [Pure("0.5"), Pure("0.25")]


def states(folder: Path) -> list[str]:
    with open_ledger(folder / "ledger.db", read_only=True) as ledger:
        return [charge.status for charge in charges(ledger, "visits")]
