"""Two hundred analysts at once, one of them hostile: what the others notice of it.

    python benchmarks/crowd.py [--seconds 120] [--analysts 200] [--quick]

A real `tacit serve` with its default limits, but for failures, which would soon end the hostile analyst. Three phases:

1. alone: one analyst previews and asks at random moments, every 0.6 seconds on average. Nobody else is there.
2. among: 199 analysts preview a question every ten seconds and ask one every thirty, each at a moment of their own.
3. beside: the same 199, and Mallory. She is slow (bodies that arrive byte by byte), huge (bodies, queries and joins
   beyond all limits), malformed (bytes that are no HTTP, no JSON, no SQL), replayed (the same keys again and again, and
   with other words) and parallel (as many connections as she gets): previews that once froze everybody, questions that
   never end or end late, forecasts of the largest size, long histories.

Every question is a new one and a cheap one, a count with a condition. Times are those of whole requests over loopback,
each on a connection of its own. Afterwards the ledger is read: nothing overspent, nothing charged twice, nobody else
refused.

All run on one machine, so the clients' own work slows the gateway down too. Those of the honest are needed to read a
clock. Mallory's process would stand elsewhere, so it stands back by `ELSEWHERE` steps of niceness; what she sent in a
second is reported. She sends to loopback only, ends by herself soon after the phase, and sends no more than `MOST`.
Results go to benchmarks/results/crowd.json.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from record import write  # noqa: E402

from tacit.data import WAGES  # noqa: E402
from tacit.ledger import charges, open_ledger, verify  # noqa: E402
from tacit.serve.tokens import new_token  # noqa: E402
from tests.serve.support import processes, serving  # noqa: E402

PATH = "/v1/datasets/wages"
JOIN = "FROM wages v JOIN wages a ON v.college = a.college JOIN wages b ON a.college = b.college"
PREVIEWS = [
    "SELECT QUANTILE_CONT(wage, 1e-7000000) FROM wages",
    "SELECT SUM(" + "CASE " * 40 + "wage" + " WHEN 1 THEN 2 WHEN 3 THEN 4 END" * 40 + ") FROM wages",
    "SELECT " + ", ".join(f"SUM(wage + {i})" for i in range(300)) + " FROM wages",
    "SELECT COUNT(*) FROM wages WHERE " + " OR ".join(f"age = {i}" for i in range(900)),
    "SELECT SUM(" + "wage + " * 1200 + "1) FROM wages",
    "SELECT COUNT(*) FROM wages WHERE " + "(" * 2000 + "true" + ")" * 2000,
]
"""What costs the planner most, whether it refuses it or not."""
QUESTIONS = [
    f"SELECT COUNT(*) {JOIN} WHERE v.woman = 1 AND v.age >= 18",
    f"SELECT SUM(v.wage) {JOIN}",
    "SELECT " + ", ".join(f"MEDIAN(wage + {i}), SUM(wage * {i + 1})" for i in range(10)) + " FROM wages",
    "SELECT COUNT(*) FROM wages v JOIN wages a ON v.age = a.age",
]
PREVIEW_EVERY, ASK_EVERY = 10.0, 30.0
ALONE_EVERY = 0.6
"""Seconds, on average, between two questions of one analyst alone."""
ELSEWHERE = 10
MOST = 100_000
"""Requests that Mallory sends at most."""
QUERY = "SELECT COUNT(*) FROM wages WHERE age > {}"


def configuration(folder: Path, analysts: int) -> tuple[Path, dict[str, str]]:
    """Many analysts of one dataset, Mallory among them, each with a limit."""
    tokens = {name: new_token() for name in ("mallory", *(f"a{i}" for i in range(analysts - 1)))}
    limits = dict.fromkeys(tokens, 100) | {"mallory": 3000}
    people = "".join(
        f'[[analysts]]\nname = "{name}"\ntoken = "{line}"\ndatasets.wages.limit.epsilon = {limits[name]}\n'
        for name, (_, line) in tokens.items()
    )
    path = folder / "tacit.toml"
    path.write_text(
        '[server]\nlog = "audit.jsonl"\n[limits]\nfailures = 100000\n'
        f"[datasets.wages]\nbudget.epsilon = 5000\npersons = 5000\nexpanding_joins = true\n"
        f"tables.wages = {{ source = '{WAGES}', person = \"woman\" }}\n{people}"
    )
    return path, {name: token for name, (token, _) in tokens.items()}


async def sent(address: str, token: str, path: str, body: Any, key: str = "") -> tuple[int, float]:
    """One request on a connection of its own: its status, and the seconds from the first byte to the last."""
    where = urlsplit(address)
    data, verb = (b"", "GET") if body is None else (json.dumps(body).encode(), "POST")
    more = f"Idempotency-Key: {key}\r\n" if key else ""
    head = (
        f"{verb} {PATH}{path} HTTP/1.1\r\nHost: {where.netloc}\r\nAuthorization: Bearer {token}\r\n{more}"
        f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\nConnection: close\r\n\r\n"
    )
    begun = time.perf_counter()
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    try:
        writer.write(head.encode() + data)
        found = await reader.read()
    finally:
        writer.close()
    return int(found.split(b" ", 2)[1] or 0), time.perf_counter() - begun


class Crowd:
    """What honest analysts did and saw."""

    def __init__(self, address: str, tokens: dict[str, str], number: int) -> None:
        """Questions are numbered on from a number, so that each is a new one."""
        self._address, self._tokens, self._number = address, tokens, number
        self.previews: list[float] = []
        self.questions: list[float] = []
        self.statuses: Counter[str] = Counter()
        self.asked: Counter[str] = Counter()
        """Questions of each analyst."""

    def times(self) -> dict[str, Any]:
        """What was measured."""
        return {"previews_ms": _summary(self.previews), "questions_ms": _summary(self.questions)}

    async def one(self, name: str, what: str) -> None:
        """A preview or a question, timed; every question is a new one."""
        self._number += 1
        body = {"sql": QUERY.format(18 + self._number % 40), "epsilon": f"0.5{self._number:06}"}
        key = f"{name}-{self._number}" if what == "ask" else ""
        status, seconds = await sent(self._address, self._tokens[name], f"/{what}", body, key)
        self.statuses[f"{what} {status}"] += 1
        if what == "ask":
            self.asked[name] += status == 200
        (self.questions if what == "ask" else self.previews).append(seconds)

    async def live(self, name: str, seconds: float) -> None:
        """One analyst: previews and questions, each at its own pace, from moments of their own."""
        draw, end = random.Random(name), time.monotonic() + seconds

        async def every(pause: float, what: str) -> None:
            await asyncio.sleep(draw.random() * pause)
            while time.monotonic() < end:
                begun = time.monotonic()
                await self.one(name, what)
                await asyncio.sleep(max(0.0, begun + pause - time.monotonic()))

        await asyncio.gather(every(PREVIEW_EVERY, "cost"), every(ASK_EVERY, "ask"))


async def alone(crowd: Crowd, rounds: int) -> None:
    """One analyst with the gateway to themselves, who asks at moments that nobody knows before."""
    draw = random.Random("alone")
    for _ in range(rounds):
        for what in ("cost", "ask"):
            await asyncio.sleep(draw.expovariate(2 / ALONE_EVERY))
            await crowd.one("a0", what)


async def together(crowd: Crowd, names: list[str], seconds: float) -> None:
    """Many, each at their own pace."""
    await asyncio.gather(*(crowd.live(name, seconds) for name in names))


def mallory(address: str, token: str, told: Any, seconds: float) -> None:
    """Everything at once for some seconds; what came back is told every second."""
    seen: Counter[str] = Counter()
    where = urlsplit(address)
    assert where.hostname == "127.0.0.1"
    os.nice(ELSEWHERE)
    draw, end = random.Random(7), time.monotonic() + seconds

    async def noted(kind: str, path: str, body: Any = None, key: str = "") -> None:
        try:
            status, _ = await asyncio.wait_for(sent(address, token, path, body, key), 120)
        except (OSError, ValueError, IndexError, TimeoutError):
            seen[f"{kind} broken"] += 1
            return
        seen[f"{kind} {status}"] += 1
        if status == 429:
            await asyncio.sleep(0.2)

    async def parallel(number: int) -> None:
        while True:
            number += 100
            if number % 2:
                await noted("preview", "/cost", {"sql": draw.choice(PREVIEWS), "epsilon": "1"})
            else:
                await noted("question", "/ask", {"sql": draw.choice(QUESTIONS), "epsilon": f"10.{number:07}"})

    async def looking() -> None:
        number = 0
        while True:
            number += 1
            await noted("forecast", f"/plan?statistic=nunique&persons=100000&epsilon=1.{number}")
            await noted("history", "/history?limit=1000")

    async def replayed() -> None:
        while True:
            key = f"again-{draw.randrange(5)}"
            words = draw.choice([QUERY.format(30), QUERY.format(31)])
            await noted("replay", "/ask", {"sql": words, "epsilon": "0.7", "fresh": True}, key)

    async def huge() -> None:
        while True:
            await noted("huge", "/ask", {"sql": "SELECT " + "1+" * 400_000 + "1", "epsilon": "1"})
            await noted("huge", "/ask", {"sql": "SELECT COUNT(*) FROM wages WHERE " + "(" * 4_900, "epsilon": "1"})
            await asyncio.sleep(0.1)

    async def raw(kind: str, body: bytes, pause: float) -> None:
        while True:
            try:
                reader, writer = await asyncio.open_connection(where.hostname, where.port)
                for at in range(0, len(body), 64 if pause else len(body)):
                    writer.write(body[at : at + 64] if pause else body)
                    await writer.drain()
                    await asyncio.sleep(pause)
                answer = await asyncio.wait_for(reader.read(200), 30)
                seen[f"{kind} {answer.split(b' ', 2)[1].decode() if answer.startswith(b'HTTP') else 'closed'}"] += 1
                writer.close()
            except (OSError, TimeoutError, IndexError):
                seen[f"{kind} broken"] += 1
            await asyncio.sleep(0.1)

    async def everything() -> None:
        head = f"POST {PATH}/ask HTTP/1.1\r\nHost: {where.netloc}\r\nAuthorization: Bearer {token}\r\n".encode()
        json_head = head + b"Content-Type: application/json\r\n"
        odd = [
            b"\x00\xff\x16\x03\x01 no HTTP at all\r\n\r\n",
            json_head + b"Content-Length: 7\r\nConnection: close\r\n\r\n{{{{{{{",
            json_head + b"Content-Length: -1\r\n\r\n",
            head + b"Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\nzz\r\n\r\n",
            b"GET /" + b"a" * 40_000 + b" HTTP/1.1\r\n\r\n",
        ]
        slow = json_head + b"Content-Length: 60000\r\n\r\n" + b" " * 60_000
        async with asyncio.TaskGroup() as tasks:
            for i in range(10):
                tasks.create_task(parallel(i))
            for body in odd:
                tasks.create_task(raw("malformed", body, 0))
            for _ in range(100):
                tasks.create_task(raw("slow", slow, 1.0))
            for work in (replayed(), replayed(), replayed(), huge(), looking()):
                tasks.create_task(work)
            while time.monotonic() < end and seen.total() < MOST:
                await asyncio.sleep(1)
                told.send(dict(seen))
            os._exit(0)

    asyncio.run(everything())


def settled(folder: Path, answered: int) -> dict[str, Any]:
    """What the ledger says: sound, nothing overspent, every question charged once and answered."""
    with open_ledger(folder / "ledger.db", read_only=True) as ledger:
        checked = verify(ledger, "wages")
        assert checked.sound, checked.problems
        found = charges(ledger, "wages")
        whole = ledger.budget("wages")
        over = [name for name, budget in ledger.accounts("wages").items() if not budget.spent <= budget.total]
        assert not over, over
        assert whole.spent <= whole.total
    honest = [charge for charge in found if charge.who != "mallory"]
    assert len({(charge.who, charge.cost, charge.text) for charge in honest}) == len(honest), "charged twice"
    outcomes = Counter(charge.status for charge in honest)
    assert set(outcomes) == {"answered"}, outcomes
    assert outcomes["answered"] == answered
    replays = [charge for charge in found if charge.who == "mallory" and charge.cost == "Pure 7/10"]
    assert len(replays) <= 5, "a key was charged twice"
    return {
        "honest": dict(outcomes),
        "mallory": dict(Counter(charge.status for charge in found if charge.who == "mallory")),
        "replayed_keys_charged": len(replays),
    }


def watched(process: int, peak: list[int], over: threading.Event) -> None:
    """The most memory that the gateway and all its executors held at once, in megabytes."""
    while not over.wait(0.5):
        held = 0
        for number in {process} | processes(process):
            try:
                _, resident, shared, *_ = map(int, Path(f"/proc/{number}/statm").read_text().split())
            except (OSError, ValueError):
                continue
            held += (resident - shared) * os.sysconf("SC_PAGESIZE") >> 20
        peak.append(held)


def _summary(seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds)

    def at(share: float) -> float:
        return round(1000 * ordered[int(share * (len(ordered) - 1))], 1)

    return {"number": len(ordered), "p50": at(0.5), "p95": at(0.95), "max": at(1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--analysts", type=int, default=200)
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    seconds, analysts = (12.0, 40) if args.quick else (min(args.seconds, 600), min(args.analysts, 1000))
    loads = [round(os.getloadavg()[0], 1)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, tokens = configuration(folder, analysts)
        names = [name for name in tokens if name != "mallory"]
        with serving(str(path), tokens=tokens) as served:
            warm, one, among, beside = (Crowd(served.address, tokens, number) for number in range(0, 400_000, 100_000))
            asyncio.run(alone(warm, 5))  # executors are started by whoever comes first
            asyncio.run(alone(one, int(seconds / 2 / ALONE_EVERY)))
            asyncio.run(together(among, names, seconds / 2))
            mine, theirs = multiprocessing.get_context("spawn").Pipe(duplex=False)
            peak, over = [0], threading.Event()
            watching = threading.Thread(target=watched, args=(served.process.pid, peak, over))
            hostile = multiprocessing.get_context("spawn").Process(
                target=mallory, args=(served.address, tokens["mallory"], theirs, seconds + 10), daemon=True
            )
            hostile.start()
            watching.start()
            time.sleep(5)
            asyncio.run(together(beside, names, seconds))
            seen: dict[str, int] = {}
            while mine.poll():
                seen = mine.recv()
            hostile.kill()
            hostile.join()
            over.set()
            watching.join()
        loads.append(round(os.getloadavg()[0], 1))
        log = [json.loads(line) for line in (folder / "audit.jsonl").read_text().splitlines()]
        assert not [line for line in log if line["event"] == "unforeseen"]
        phases = (warm, one, among, beside)
        statuses = sum((crowd.statuses for crowd in phases), Counter[str]())
        assert set(statuses) == {"cost 200", "ask 200"}, statuses  # nobody else refused
        ledger = settled(folder, sum(crowd.asked.total() for crowd in phases))
    times = {"alone": one.times(), "among": among.times(), "beside": beside.times()}
    found = {
        "seconds": seconds,
        "analysts": analysts,
        **times,
        "question_ratio": {
            f"p95_beside_to_p95_{phase}": round(
                times["beside"]["questions_ms"]["p95"] / times[phase]["questions_ms"]["p95"], 2
            )
            for phase in ("alone", "among")
        },
        "statuses": dict(statuses),
        "hostile": dict(sorted(seen.items())),
        "hostile_per_second": round(sum(seen.values()) / (seconds + 5)),
        "ended": dict(Counter(line["pool"] for line in log if line["event"] == "stopped" and "pool" in line)),
        "ledger": ledger,
        "megabytes": max(peak),
        "load": loads,
    }
    print(json.dumps(found, indent=2))
    write("crowd", found)


if __name__ == "__main__":
    main()
