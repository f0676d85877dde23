"""Executors one by one: what they say, what they hold, and how they are replaced."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import Awaitable, Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tacit.budgets import Unanswered
from tacit.errors import EngineError, InvalidInput
from tacit.serve.config import load
from tacit.serve.executors import BACK, FAR, Bounds, Executors, Unforeseen, _raised
from tacit.serve.gateway import Gateway, NotHere
from tacit.serve.running import Lately, Turns
from tacit.serve.tokens import ANALYST, Caller
from tacit.serve.wire import Parcel
from tacit.serve.work import ExecutorSetup, Work, question, question_facts
from tests.serve.conftest import ZYGOTE
from tests.serve.support import configuration, people

Case = Callable[[Executors, Path], Awaitable[None]]


def preview(remark: str = "") -> Work:
    asked = {"sql": f"SELECT COUNT(*) FROM visits -- {remark}", "keys": None, "amounts": [["epsilon", "1"]]}
    facts = {"dataset": "visits", "question": asked | {"fresh": False}}
    return {"kind": "preview", "caller": ["analyst", "ada"], **facts}


async def number(pool: Executors) -> int:
    (spare,) = pool._spare
    return (await spare)._number


async def _replaced(pool: Executors, folder: Path) -> None:
    """Who holds on to memory, or died while idle, is replaced; who behaves is kept."""
    assert json.loads((await pool.run("ada", preview())).body)["cost"] == "Pure 1"
    first = await number(pool)
    await pool.run("ada", preview())
    assert await number(pool) == first
    await pool.run("ada", preview("swell"))
    second = await number(pool)
    assert second != first
    os.kill(second, signal.SIGKILL)
    for _ in range(1000):
        if not (await pool._spare[0]).alive:
            break
        await asyncio.sleep(0.01)
    assert (await pool.run("ada", preview())).body
    assert await number(pool) not in (first, second)
    with pytest.raises(NotHere):
        await pool.run("ada", {**preview(), "caller": ["analyst", "eve"]})
    with pytest.raises(Unforeseen, match="KeyError"):
        await pool.run("ada", preview("surprise"))


async def _long(pool: Executors, folder: Path) -> None:
    """Work stands where it was put, and back when it takes much; then somebody else takes its place."""
    await pool.run("ada", preview())
    first, own = await number(pool), os.getpriority(os.PRIO_PROCESS, 0)
    assert os.getpriority(os.PRIO_PROCESS, first) == own + 3
    await pool.run("ada", preview("nap"))
    assert await number(pool) == first  # whoever waits takes nothing from others
    work = asyncio.create_task(pool.run("ada", preview("toil")))
    while os.getpriority(os.PRIO_PROCESS, first) != own + 3 + BACK:
        await asyncio.sleep(0.01)
    await work
    assert await number(pool) != first


async def _greedy(pool: Executors, folder: Path) -> None:
    """Whoever held places for long lately stands further back, and begins there; nobody else does."""
    await pool.run("ada", preview())
    first, own = await number(pool), os.getpriority(os.PRIO_PROCESS, 0)
    pool.turns.lately = lately = Lately(most=100)
    work = asyncio.create_task(pool.run("ada", preview("nap")))
    await asyncio.sleep(0.1)
    assert os.getpriority(os.PRIO_PROCESS, first) == own + 3
    lately._known["ada"] = (1000, time.monotonic(), 1)
    while os.getpriority(os.PRIO_PROCESS, first) != min(own + 3 + FAR, 19):
        await asyncio.sleep(0.01)
    await work
    second = await number(pool)
    assert second != first
    await pool.run("ada", preview())  # by the one that stood back already
    assert [each._number for each in pool._behind] == [first]
    await pool.run("grace", {**preview(), "caller": ["analyst", "grace"]})
    assert await number(pool) == second
    assert os.getpriority(os.PRIO_PROCESS, second) == own + 3


async def _changed(pool: Executors, folder: Path) -> None:
    """A table that is not as it was when the gateway opened it is not asked, and no path is told."""
    (folder / "visits.csv").write_text("who,minutes,place,age\np1,2,north,30\n")
    with pytest.raises(EngineError, match=r"cannot be reached as they were.*Nothing was charged\.$") as told:
        await pool.run("ada", preview())
    (folder / "visits.csv").unlink()
    with pytest.raises(EngineError, match=r"Nothing was charged\.$") as gone:
        await pool.run("ada", preview())
    assert str(folder) not in str(told.value) + str(gone.value)
    people(folder)
    assert (await pool.run("ada", preview())).body


@pytest.mark.parametrize("case", [_replaced, _long, _greedy, _changed])
def test_executors(tmp_path: Path, case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.serve.executors.LONG", 0.2 if case is _long else 60)
    config = load(configuration(tmp_path))
    gateway = Gateway(config)
    ended: list[Mapping[str, Any]] = []
    setup, bounds = ExecutorSetup(config, 3, 300, gateway.columns()), Bounds(20, 300)

    async def bounded() -> None:
        async with asyncio.timeout(60):
            pool = Executors(Turns(2, 1, 5), ZYGOTE, setup, bounds, lambda work, _: ended.append(work))
            await case(pool, tmp_path)
            await pool.close()

    asyncio.run(bounded())
    gateway.close()
    assert not ended


def test_mistakes_keep_their_kind() -> None:
    for kind in (InvalidInput, Unanswered, NotHere):
        names = [each.__name__ for each in kind.__mro__]
        with pytest.raises(kind, match=r"^what happened\.$"):
            _raised(Parcel({"error": ["SomethingElse", *names], "message": "what happened."}))
    _raised(Parcel({"stored": True}))


def test_a_question_is_the_same_there(tmp_path: Path) -> None:
    gateway = Gateway(load(configuration(tmp_path)))
    sent = {
        "sql": "SELECT 'é'",
        "epsilon": "1/3",
        "keys": [["a", 1], None, True, Decimal("2.5"), "é"],
        "fresh": True,
    }
    asked = gateway.read_question(Caller(ANALYST, "ada"), "visits", sent)
    there = question(json.loads(json.dumps(question_facts(asked))))
    assert there == asked
    assert there.fingerprint == asked.fingerprint
    gateway.close()
