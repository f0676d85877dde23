"""Cancelling: one's own question, waiting or being answered, in any worker; a charge stays; nothing is told by it."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from tacit import Pure
from tacit.ledger import charges, open_ledger
from tacit.serve.cancelling import Cancelling, called
from tacit.serve.executors import Executors
from tacit.serve.running import Busy, Pace
from tacit.serve.tokens import ANALYST, Caller
from tests.serve.support import token
from tests.support import until

ASK, CANCEL = "/v1/datasets/visits/ask", "/v1/datasets/visits/cancel"
ENDLESS = "SELECT COUNT(*) FROM visits -- spin"


@pytest.mark.parametrize("nobody", [{"extra": "[limits]\nper_analyst = 1\nfailures = 10"}], indirect=True)
def test_a_question_of_ones_own_is_taken_back(tmp_path: Path, nobody: httpx.Client) -> None:
    mine = {"Authorization": f"Bearer {token('ada')}"}
    hers = {"Authorization": f"Bearer {token('grace')}"}

    def ask(key: str, sql: str) -> httpx.Response:
        return nobody.post(ASK, json={"sql": sql, "epsilon": "0.5"}, headers=mine | {"Idempotency-Key": key})

    def cancel(key: str, who: dict[str, str] = mine) -> tuple[int, Any]:
        response = nobody.post(CANCEL, json={"key": key}, headers=who)
        return response.status_code, response.json()

    def waits(count: int) -> bool:
        return nobody.get("/metrics").text.rstrip().endswith(f" {count}")  # the last line says how many wait

    with ThreadPoolExecutor(3) as pool:
        paid: Future[httpx.Response] = pool.submit(ask, "paid", f"{ENDLESS}, paid")
        until(lambda: charges_of(tmp_path), "the question was not charged")
        second = pool.submit(ask, "second", ENDLESS)
        third = pool.submit(ask, "third", ENDLESS)
        until(lambda: waits(2), "nobody waits")
        assert cancel("second", hers) == cancel("nothing") == (202, {"status": "cancelling"})  # it tells nothing
        assert cancel("second") == (202, {"status": "cancelling"})
        gone = second.result(200)
        assert (gone.status_code, gone.json()["error"]) == (409, "cancelled")
        assert "before it began, and nothing was spent" in gone.json()["message"]
        assert not paid.done()
        cancel("paid")
        ended = paid.result(200)
        assert (ended.status_code, ended.json()["error"]) == (409, "cancelled")
        assert "stays charged" in ended.json()["message"]
        until(lambda: waits(0), "the third did not begin")
        cancel("third")  # it works in the planner, where nothing was charged
        assert "nothing was spent" in third.result(200).json()["message"]
    assert charges_of(tmp_path) == ["failed"]
    again = ask("paid", f"{ENDLESS}, paid")
    assert (again.status_code, again.json()["error"]) == (409, "charged_before")
    budget = nobody.get("/v1/datasets/visits/budget", headers=mine).json()
    assert (budget["spent"], budget["failures_left"]) == ("Pure 1/2", 9)
    wrongs: list[Any] = [
        {},
        {"key": ""},
        {"key": 7},
        {"key": "a b"},
        {"key": "x" * 101},
        {"key": "a", "b": 1},
        [],
        "key",
    ]
    for wrong in wrongs:
        assert nobody.post(CANCEL, json=wrong, headers=mine).status_code == 400
    assert nobody.post("/v1/datasets/no/cancel", json={"key": "a"}, headers=mine).status_code == 404
    assert nobody.post(CANCEL, json={"key": "a"}).status_code == 401
    log = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    assert {line["analyst"] for line in log if line["event"] == "cancelled"} == {"ada", "grace"}


def charges_of(folder: Path) -> list[str]:
    with open_ledger(folder / "ledger.db", read_only=True) as ledger:
        found = charges(ledger, "visits")
        assert all(charge.guarantee == Pure("0.5") for charge in found)
        return [charge.status for charge in found]


def test_other_workers_hear_of_it(tmp_path: Path) -> None:
    class Told:
        def __init__(self) -> None:
            self.names: list[str] = []

        def cancel(self, name: str) -> None:
            self.names.append(name)

    async def two() -> None:
        path, pools = tmp_path / "cancelled", (Told(), Told())
        first, second = (Cancelling(cast(Executors, pool), path) for pool in pools)
        first.cancel("before")
        first.start()
        second.start()
        first.cancel("a")
        second.cancel("b")
        async with asyncio.timeout(30):
            while "b" not in pools[0].names or "a" not in pools[1].names:
                await asyncio.sleep(0.01)
        assert "before" not in pools[1].names  # of questions that were there before this worker
        await first.close()
        await second.close()

    asyncio.run(two())
    ada, eve = Caller(ANALYST, "ada"), Caller(ANALYST, "eve")
    assert len({called(ada, "d", "k"), called(eve, "d", "k"), called(ada, "e", "k"), called(ada, "d", "l")}) == 4


def test_workers_share_a_pace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All workers together let somebody ask as often as one would, and an analyst may have a pace of their own."""
    workers = [Pace(30, {"analyst:eve": 2}, tmp_path) for _ in range(3)]

    monkeypatch.setattr("tacit.serve.running.time.monotonic", lambda: 1.0)

    def taken(name: str) -> int:
        for i in range(100):
            try:
                workers[i % 3].take(name)
            except Busy:
                return i
        return 100

    assert taken("analyst:ada") == 30
    assert taken("analyst:eve") == 2
    assert taken("analyst:../../ada") == 30
    assert taken("analyst:ada") == 0
    monkeypatch.setattr("tacit.serve.running.time.monotonic", lambda: 11.0)
    assert taken("analyst:ada") == 5  # ten seconds later
    assert {path.parent for path in tmp_path.iterdir()} == {tmp_path}
    for path in tmp_path.iterdir():
        path.write_bytes(b"torn")
    assert taken("analyst:ada") == 30
