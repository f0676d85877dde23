"""The gateway while one analyst does their worst: what others notice of it.

    python benchmarks/hostile_gateway.py [--seconds 120] [--quick]

A real `tacit serve` with its default limits. Mallory, in a process of her own, keeps ten connections busy: previews
that once froze everybody, questions that never end or end late, forecasts of the largest size, pages. Ada and Grace
preview a question each second, and ask one every five seconds; their times are measured, first alone and then beside
Mallory. All run on one machine, so the clients' own work slows the gateway down too. Results go to
benchmarks/results/hostile_gateway.json.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from itertools import count
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import httpx  # noqa: E402
from record import write  # noqa: E402

from tacit.data import WAGES  # noqa: E402
from tacit.ledger import charges, open_ledger, verify  # noqa: E402
from tacit.serve.config import ServedDataset  # noqa: E402
from tacit.serve.tokens import new_token  # noqa: E402
from tests.serve.support import Served, processes, serving  # noqa: E402

NAMES = ("mallory", "ada", "grace")
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
HONEST = [
    "SELECT SUM(wage) FROM wages WHERE age > {}",
    "SELECT AVG(wage) FROM wages WHERE age <> {}",
    "SELECT COUNT(*) FROM wages WHERE age = {}",
    "SELECT COUNT(DISTINCT woman) FROM wages WHERE age < {}",
]


def configuration(folder: Path) -> tuple[Path, dict[str, str]]:
    """Default limits, three analysts, and joins of every size where that is a setting."""
    tokens = {name: new_token() for name in NAMES}
    allowed = "expanding_joins = true\n" if "expanding_joins" in {item.name for item in fields(ServedDataset)} else ""
    people = "".join(f'[[analysts]]\nname = "{name}"\ntoken = "{line}"\n' for name, (_, line) in tokens.items())
    path = folder / "tacit.toml"
    path.write_text(
        f'[server]\nlog = "audit.jsonl"\n[datasets.wages]\nbudget.epsilon = 1000000\npersons = 5000\n{allowed}'
        f"tables.wages = {{ source = '{WAGES}', person = \"woman\" }}\n{people}"
    )
    return path, {name: token for name, (token, _) in tokens.items()}


def mallory(address: str, token: str, told: Any) -> None:
    """Ten connections until the process is ended; what came back is told every second."""
    seen: Counter[str] = Counter()
    numbers = count()

    def line(kind: str) -> None:
        with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {token}"}, timeout=200) as client:
            while True:
                n = next(numbers)
                try:
                    if kind == "preview":
                        body = {"sql": PREVIEWS[n % len(PREVIEWS)], "epsilon": "1"}
                        response = client.post(f"{PATH}/cost", json=body)
                    elif kind == "question":
                        body = {"sql": QUESTIONS[n % len(QUESTIONS)], "epsilon": f"10{n}"}
                        response = client.post(f"{PATH}/ask", json=body)
                    elif kind == "forecast":
                        facts = {"statistic": "nunique", "persons": "100000", "epsilon": f"1.{n}"}
                        response = client.get(f"{PATH}/plan", params=facts)
                    else:
                        response = client.get(f"{PATH}/history", params={"limit": "1000"})
                except httpx.TransportError:
                    seen[f"{kind} broken"] += 1
                    continue
                seen[f"{kind} {response.status_code}"] += 1
                if response.status_code == 429:
                    time.sleep(0.1)

    for kind in ("preview",) * 4 + ("question",) * 4 + ("forecast", "history"):
        threading.Thread(target=line, args=(kind,), daemon=True).start()
    while True:
        time.sleep(1)
        told.send(dict(seen))


def honest(served: Served, name: str, seconds: float, numbers: count[int]) -> dict[str, list[float]]:
    """A preview each second and a question every five; their times."""
    times: dict[str, list[float]] = {"previews": [], "questions": []}
    lock = threading.Lock()

    def ask() -> None:
        with served.line(name) as line:
            while time.monotonic() < end:
                _timed(line, "ask", next(numbers), times["questions"], lock)
                time.sleep(5)

    end = time.monotonic() + seconds
    asking = threading.Thread(target=ask)
    asking.start()
    with served.line(name) as line:
        while (begun := time.monotonic()) < end:
            _timed(line, "cost", next(numbers), times["previews"], lock)
            time.sleep(max(0.0, begun + 1 - time.monotonic()))
    asking.join()
    return times


def _timed(line: httpx.Client, what: str, number: int, times: list[float], lock: threading.Lock) -> None:
    body = {"sql": HONEST[number % len(HONEST)].format(18 + number % 40), "epsilon": f"100.{number}"}
    begun = time.perf_counter()
    response = line.post(f"{PATH}/{what}", json=body)
    passed = time.perf_counter() - begun
    assert response.status_code == 200, response.text
    with lock:
        times.append(passed)


def measured(served: Served, seconds: float, numbers: count[int]) -> dict[str, Any]:
    """Ada's and Grace's times together."""
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda name: honest(served, name, seconds, numbers), NAMES[1:]))
    return {f"{what}_ms": _summary(both[0][what] + both[1][what]) for what in ("previews", "questions")}


def _summary(seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    return {
        "number": len(ordered),
        "p50": round(1000 * statistics.median(ordered), 1),
        "p95": round(1000 * ordered[int(0.95 * (len(ordered) - 1) + 0.999)], 1),
        "max": round(1000 * ordered[-1], 1),
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    seconds = 10.0 if args.quick else args.seconds
    numbers, loads = count(1), [round(os.getloadavg()[0], 1)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, tokens = configuration(folder)
        with serving(str(path), tokens=tokens) as served:
            measured(served, 3, numbers)  # executors are started by whoever comes first
            alone = measured(served, min(seconds, 20), numbers)
            mine, theirs = multiprocessing.get_context("spawn").Pipe(duplex=False)
            peak: list[int] = []
            over = threading.Event()
            watching = threading.Thread(target=watched, args=(served.process.pid, peak, over))
            hostile = multiprocessing.get_context("spawn").Process(
                target=mallory, args=(served.address, tokens["mallory"], theirs), daemon=True
            )
            hostile.start()
            watching.start()
            time.sleep(3)
            beside = measured(served, seconds, numbers)
            seen: dict[str, int] = {}
            while mine.poll():
                seen = mine.recv()
            hostile.kill()
            hostile.join()
            over.set()
            watching.join()
            loads.append(round(os.getloadavg()[0], 1))
        log = [json.loads(line) for line in (folder / "audit.jsonl").read_text().splitlines()]
        with open_ledger(folder / "ledger.db", read_only=True) as ledger:
            assert verify(ledger, "wages").sound
            outcomes = Counter(charge.status for charge in charges(ledger, "wages"))
    assert not [line for line in log if line["event"] == "unforeseen"]
    found = {
        "seconds": seconds,
        "connections": 10,
        "alone": alone,
        "beside": beside,
        "hostile": dict(sorted(seen.items())),
        "ended": dict(Counter(line["pool"] for line in log if line["event"] == "stopped" and "pool" in line)),
        "charges": dict(outcomes),
        "megabytes": max(peak),
        "load": loads,
    }
    print(json.dumps(found, indent=2))
    write("hostile_gateway", found)


if __name__ == "__main__":
    main()
