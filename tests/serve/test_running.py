"""Turns: a share for each name, names one after the other, and queues that are nobody else's."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable

import pytest

from tacit.serve.running import Busy, Cancelled, Lately, Pool, SharedLook, Threads, Ticket, Turns

Step = Callable[[], Awaitable[None]]


class Gate(Pool[str]):
    """Work that ends when it is told to."""

    def __init__(self, places: int, share: int, waiting: int, lately: Lately | None = None) -> None:
        super().__init__(Turns(places, share, waiting, lately=lately))
        self.begun: list[str] = []
        self.open: dict[str, asyncio.Event] = {}

    async def _done(self, work: str, ticket: Ticket) -> str:
        self.begun.append(work)
        self.open[work] = asyncio.Event()
        await self.open[work].wait()
        return work

    async def sent(self, *works: str) -> list[asyncio.Task[str]]:
        found = [asyncio.create_task(self.run(work[0], work, [f"the {work}", work])) for work in works]
        await settled()
        return found

    async def ends(self, work: str) -> None:
        self.open[work].set()
        await settled()


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def _shares() -> None:
    gate = Gate(places=3, share=2, waiting=10)
    await gate.sent("a1", "a2", "a3", "a4", "a5")
    assert gate.begun == ["a1", "a2"]  # one place stays free for others
    await gate.sent("b1", "b2", "c1", "c2")
    assert gate.begun[2:] == ["b1"]
    assert (gate.turns.held, gate.turns.queued) == (3, 6)
    for ended, begins in (("b1", "b2"), ("b2", "c1"), ("a1", "a3"), ("c1", "c2"), ("a2", "a4")):
        await gate.ends(ended)
        assert gate.begun[-1] == begins  # in turn, and nobody beyond their share
    for last in ("a3", "a4", "c2"):
        await gate.ends(last)
    await gate.ends("a5")
    assert gate.begun[-1] == "a5"
    assert (gate.turns.held, gate.turns.queued) == (0, 0)


async def _full() -> None:
    gate = Gate(places=2, share=2, waiting=2)  # a share of all is one less than all
    *_, refused = await gate.sent("a1", "a2", "a3", "a4")
    with pytest.raises(Busy, match="your requests"):
        await refused
    await gate.sent("b1")
    assert gate.begun == ["a1", "b1"]
    waiting = (await gate.sent("b2"))[0]
    closing = asyncio.create_task(gate.close())
    await settled()
    with pytest.raises(Busy, match="stopping, and nothing was spent"):
        await waiting
    assert not closing.done()
    await gate.ends("a1")
    await gate.ends("b1")
    await closing


async def _gone() -> None:
    gate = Gate(places=1, share=1, waiting=5)
    first, second, third = await gate.sent("a1", "a2", "b1")
    first.cancel()  # a caller who goes away does not stop the work
    await settled()
    assert gate.turns.held == 1
    await gate.ends("a1")
    assert gate.begun == ["a1", "a2"]
    await gate.ends("a2")
    await gate.ends("b1")
    assert [await second, await third] == ["a2", "b1"]


async def _taken_back() -> None:
    gate = Gate(places=2, share=1, waiting=5)
    first, second, third = await gate.sent("a1", "a2", "a3")
    gate.cancel("the a2")
    gate.cancel("nothing")
    await settled()
    with pytest.raises(Cancelled, match="nothing was spent"):
        await second
    assert (gate.turns.held, gate.turns.queued) == (1, 1)
    [ticket] = gate.tickets["a1"]
    gate.cancel("a1")  # what is worked on hears of it, and ends by itself
    await settled()
    assert ticket.cancelled
    assert not first.done()
    await gate.ends("a1")
    assert gate.begun == ["a1", "a3"]
    await gate.ends("a3")
    assert [await first, await third] == ["a1", "a3"]
    assert gate.tickets == {}
    gate.turns.refuse()
    late = (await gate.sent("b1"))[0]
    with pytest.raises(Busy, match="stopping"):
        await late


async def _cancelled() -> None:
    turns = Turns(1, 1, 5)

    async def one() -> None:
        async with turns.turn("a"):
            pass

    async with turns.turn("b"):
        waiting = [asyncio.create_task(one()) for _ in range(3)]
        await settled()
        waiting[1].cancel()
        await settled()
        assert (turns.held, turns.queued) == (1, 2)
    await asyncio.gather(*waiting, return_exceptions=True)
    async with turns.turn("b"):
        last = asyncio.create_task(one())
        await settled()
    last.cancel()  # it was given its place in this very moment
    await settled()
    assert (turns.held, turns.queued) == (0, 0)


async def _nameless() -> None:
    """The empty name is a name: whoever waits under it, or behind it, gets a place (before nobody ever did again)."""
    turns, begun = Turns(2, 1, 5), []

    async def one(name: str) -> None:
        async with turns.turn(name):
            begun.append(name)
            await asyncio.sleep(0)

    await asyncio.gather(*map(one, ["", "", "a", "a", "", "b"]))
    assert sorted(begun) == ["", "", "", "a", "a", "b"]
    assert (turns.held, turns.queued) == (0, 0)


async def _look() -> None:
    """Many who look at once make one look, and its mistake is everybody's."""
    looked, opened = [], threading.Event()

    def work() -> None:
        looked.append(opened.wait(200))
        if len(looked) > 1:
            raise ZeroDivisionError

    look = SharedLook(work, "test")
    looking = [asyncio.create_task(look.run()) for _ in range(20)]
    await settled()
    looking[0].cancel()  # who goes away does not stop it
    opened.set()
    await asyncio.gather(*looking[1:])
    assert looked == [True]
    for found in await asyncio.gather(look.run(), look.run(), return_exceptions=True):
        assert isinstance(found, ZeroDivisionError)
    assert len(looked) == 2
    look.close()


def test_what_was_taken_lately_is_forgotten_by_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("tacit.serve.running.time.monotonic", lambda: now[0])
    lately = Lately(most=10)
    assert lately.seconds("a") == 0
    lately.begins("a")
    now[0] += 8
    assert (lately.seconds("a"), lately.greedy("a")) == (8, False)  # what is held now counts already
    lately.ends("a")
    lately.begins("a")
    now[0] += Lately.HALF
    lately.ends("a")
    assert (lately.seconds("a"), lately.greedy("a")) == (4 + Lately.HALF, True)
    now[0] += Lately.HALF
    assert lately.seconds("a") == (4 + Lately.HALF) / 2
    lately.begins("a")
    lately.begins("a")
    now[0] += 1
    assert lately.seconds("a") == pytest.approx((4 + Lately.HALF) / 2 * 0.5 ** (1 / Lately.HALF) + 2)
    assert not lately.seconds("b")
    assert not lately.greedy("b")


async def _greedy() -> None:
    """Whoever held places for long lately gets one at a time; what is held stays, and nobody else notices."""
    gate = Gate(places=4, share=2, waiting=5, lately=Lately(most=1000))
    await gate.sent("a1", "a2", "a3", "b1")
    assert gate.begun == ["a1", "a2", "b1"]
    gate.turns.lately = lately = Lately(most=-1)  # everybody is greedy
    lately.begins("a")
    await gate.sent("b2")
    await gate.ends("a1")
    assert gate.begun == ["a1", "a2", "b1"]
    await gate.ends("a2")
    assert gate.begun[3:] == ["a3"]
    gate.turns.lately = Lately(most=1000)
    await gate.ends("a3")
    assert gate.begun[4:] == ["b2"]
    for last in ("b1", "b2"):
        await gate.ends(last)
    assert (gate.turns.held, gate.turns.queued) == (0, 0)


async def _threads() -> None:
    threads = Threads(Turns(2, 1, 5), 2, "test")
    assert await threads.run("a", lambda: 6 * 7) == 42
    with pytest.raises(ZeroDivisionError):
        await threads.run("a", lambda: 1 // 0)
    await threads.close()


@pytest.mark.parametrize("case", [_shares, _greedy, _full, _gone, _taken_back, _cancelled, _nameless, _look, _threads])
def test_turns(case: Step) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(20):
            await case()

    asyncio.run(bounded())
