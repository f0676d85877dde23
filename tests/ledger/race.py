"""Processes that race for one durable budget while some are killed: the harness of the test and of the benchmark.

A worker charges, and only then "releases" its answer by appending the charge's number to a file of its own. Whatever
dies whenever, every release must be a charge of the ledger, no charge may be counted twice, and the sums must be right.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from tacit.budgets import Question
from tacit.errors import BudgetExceeded
from tacit.guarantees import Guarantee, Pure
from tacit.ledger import charges, open_ledger, verify

ROOT = Path(__file__).parent.parent.parent
COST = Fraction(1, 100)


def work(where: str, releases: str, calm: str) -> None:
    """Charge and release until the budget is used up; at leisure while the file ``calm`` exists."""
    budget = open_ledger(where, create=False).budget("race")
    question = Question("sum(t.x)", "SELECT SUM(x) FROM t", ("sum",), ("t.x",), str(os.getpid()))
    out = os.open(releases, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    while True:
        try:
            receipt = budget.charge(Pure(COST), question)
        except BudgetExceeded:
            return
        os.write(out, f"{receipt.number}\n".encode())
        if os.path.exists(calm):
            time.sleep(random.random() * 0.02)


@dataclass(frozen=True)
class Outcome:
    """What a race left behind."""

    affordable: int
    charged: int
    """Charges in the ledger's history."""
    spent: Guarantee
    released: list[int]
    """The charge numbers of all released answers."""
    recorded: set[int]
    """The charge numbers of the ledger."""
    kills: int
    failures: int
    """Workers that ended with an error of their own."""
    sound: bool
    seconds: float

    @property
    def holds(self) -> bool:
        """Whether nothing was overspent, nothing lost and nothing counted twice."""
        return (
            len(self.released) == len(set(self.released))
            and set(self.released) <= self.recorded
            and self.charged == len(self.recorded) == self.affordable
            and self.spent == Pure(self.affordable * COST)
            and self.sound
            and not self.failures
        )


def race(where: str, place: Path, *, affordable: int, processes: int, kills: int, seed: int) -> Outcome:
    """Let processes race for a budget that affords so many charges, killing some at random moments."""
    chance, started, killed, failures = random.Random(seed), time.monotonic(), 0, 0
    open_ledger(where).register("race", Pure(affordable * COST))
    calm = place / "calm"
    calm.touch()
    running: list[subprocess.Popen[bytes]] = []
    launched = 0

    def launch() -> None:
        nonlocal launched
        launched += 1
        command = [sys.executable, "-m", "tests.ledger.race", where, str(place / f"releases-{launched}"), str(calm)]
        running.append(subprocess.Popen(command, cwd=ROOT))

    for _ in range(processes):
        launch()
    while killed < kills:
        time.sleep(chance.random() * 0.05)
        victim = running.pop(chance.randrange(len(running)))
        if victim.poll() is not None:
            raise RuntimeError("a worker ended before all kills were done; give the race a larger budget")
        victim.send_signal(signal.SIGKILL)
        victim.wait(200)
        killed += 1
        launch()
    calm.unlink()
    failures = sum(process.wait(600) != 0 for process in running)
    released = [int(line) for file in place.glob("releases-*") for line in file.read_text().split()]
    with open_ledger(where, read_only=True) as ledger:
        recorded = [charge.number for charge in charges(ledger, "race")]
        spent, sound = ledger.budget("race").spent, verify(ledger, "race").sound
    return Outcome(
        affordable, len(recorded), spent, released, set(recorded), killed, failures, sound, time.monotonic() - started
    )


if __name__ == "__main__":
    work(*sys.argv[1:4])
