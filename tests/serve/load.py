"""Many analysts asking at once, and what must be true afterwards.

Every question has a cost of its own, 1/n, so that each answer can be found in the ledger by its cost. A question whose
line breaks is sent again under the same key, as `tacit.connect` does.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count
from pathlib import Path
from threading import Lock

import httpx

from tacit.ledger import charges, open_ledger, verify
from tacit.serve.tokens import new_token
from tests.serve.support import Served, people

ASK = "/v1/datasets/visits/ask"
QUERIES = ("SELECT SUM(minutes) FROM visits", "SELECT COUNT(*) FROM visits", "SELECT COUNT(DISTINCT who) FROM visits")


@dataclass
class Seen:
    """What came back."""

    statuses: Counter[int] = field(default_factory=Counter)
    answered: list[str] = field(default_factory=list)
    """The costs of answers that were sent, as the ledger writes them."""
    seconds: list[float] = field(default_factory=list)
    """How long each of them took."""
    broken: int = 0
    """Lines that broke."""
    lock: Lock = field(default_factory=Lock)

    def add(self, status: int, seconds: float, cost: str | None) -> None:
        with self.lock:
            self.statuses[status] += 1
            if cost is not None:
                self.seconds.append(seconds)
                self.answered.append(cost)


def crowd(
    folder: Path, analysts: int, *, total: str, limit: str, workers: int, seconds: float = 30, persons: int = 200
) -> tuple[Path, dict[str, str]]:
    """A configuration with many analysts."""
    people(folder, persons)
    tokens = {f"a{i}": new_token() for i in range(analysts)}
    listed = "".join(
        f'[[analysts]]\nname = "{name}"\ntoken = "{line}"\ndatasets.visits.limit.epsilon = {limit}\n'
        for name, (_, line) in tokens.items()
    )
    path = folder / "tacit.toml"
    path.write_text(
        f'[server]\nlog = "audit.jsonl"\nworkers = {workers}\n[limits]\nper_minute = 100000\nseconds = {seconds}\n'
        "least_price = 0\nfailures = 100\n"
        f"question_seconds = {2 * seconds + 5}\n"
        f"[datasets.visits]\nbudget.epsilon = {total}\n"
        f'tables.visits = {{ source = "visits.csv", person = "who" }}\n{listed}'
    )
    return path, {name: token for name, (token, _) in tokens.items()}


def hammer(served: Served, seconds: float, most: int, meanwhile: Callable[[Seen], object] = lambda _: None) -> Seen:
    """All analysts ask until so many questions were asked and what happens meanwhile is over, or the time is."""
    seen, numbers, end = Seen(), count(100), time.monotonic() + seconds

    def one(name: str) -> None:
        draw = random.Random(name)
        with served.line(name) as line:
            while time.monotonic() < end and ((number := next(numbers)) < 100 + most or not other.done()):
                body = {"sql": draw.choice(QUERIES), "epsilon": f"1/{number}", "fresh": draw.random() < 0.2}
                _asked(line, body, f"{name}-{number}", seen)

    with ThreadPoolExecutor(len(served.tokens) + 1) as pool:
        other = pool.submit(meanwhile, seen)
        for done in [pool.submit(one, name) for name in served.tokens]:
            done.result(seconds + 120)
        other.result(seconds + 120)
    return seen


def _asked(line: httpx.Client, body: dict[str, object], key: str, seen: Seen) -> None:
    start = time.monotonic()
    for _ in range(100):
        try:
            response = line.post(ASK, json=body, headers={"Idempotency-Key": key})
            found = response.json()
        except (httpx.TransportError, ValueError):
            seen.broken += 1
            time.sleep(0.05)
            continue
        if response.status_code == 429:  # the first attempt may still be alive; nothing more was charged
            time.sleep(0.2)
            continue
        seen.add(response.status_code, time.monotonic() - start, found.get("cost"))
        return
    raise AssertionError("the gateway did not come back")


def settled(folder: Path, seen: Seen) -> dict[str, int]:
    """Check the ledger against what was sent; returns what it holds."""
    with open_ledger(folder / "ledger.db", read_only=True) as ledger:
        checked = verify(ledger, "visits")
        assert checked.sound, checked.problems
        charged = charges(ledger, "visits")
        costs = Counter(charge.cost for charge in charged)
        assert not costs or max(costs.values()) == 1, "a question was charged twice"
        assert set(seen.answered) <= set(costs), "an answer was sent that had not been charged"
        whole = ledger.budget("visits")
        exact = sum(charge.guarantee.epsilon for charge in charged)  # type: ignore[attr-defined]
        assert 0 <= whole.spent.epsilon - exact < Fraction(1, 10**90)  # type: ignore[attr-defined]
        for budget in (whole, *ledger.accounts("visits").values()):
            assert budget.spent <= budget.total
    outcomes = Counter(charge.status for charge in charged)
    return {"questions": len(charged), **outcomes}


def worker(served: Served) -> int:
    """The process that answers just now."""
    text = httpx.get(f"{served.address}/metrics", timeout=200).text
    return int(text.partition('worker="')[2].partition('"')[0])


def kill(served: Served, seen: Seen, times: int, between: int) -> int:
    """kill -9 a worker so many times, each time after so many further answers; returns how many were killed.

    Where no connection was lost, because the victim had none, up to four times as many are.

    Fails if answers do not come for five minutes.
    """
    killed = 0
    while killed < times or (not seen.broken and killed < 4 * times):
        start, end = len(seen.answered), time.monotonic() + 300
        while len(seen.answered) < start + between:
            assert time.monotonic() < end, "no answers come"
            time.sleep(0.005)
        try:
            victim = worker(served)
        except httpx.TransportError:
            continue
        assert victim != served.process.pid
        os.kill(victim, signal.SIGKILL)
        killed += 1
    return killed
