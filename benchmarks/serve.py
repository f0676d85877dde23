"""The gateway at full size: a minute of fifty analysts, twenty kills, two thousand hostile strings, time to a page.

    python benchmarks/serve.py [--only start|load|larger|kills|hostile] [--seconds 60] [--kills 20] [--strings 2000]

Load: fifty analysts ask over loopback, each question at a cost of its own; afterwards every answer is found in the
ledger, nothing is overspent and no response was a server error. Kills: kill -9 of a worker while eight analysts ask and
repeat what broke under the same key. Latency: a question over the wire and the plain query for each person in DuckDB on
the same file, in turn, so that a noisy machine is noisy for both; the ratio is that of the medians, alone and under
load. Results go to benchmarks/results/serve.json.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from record import read, write  # noqa: E402

from tests.serve.hostile import CANARIES, SECRET, hostile, rows  # noqa: E402
from tests.serve.load import ASK, crowd, hammer, kill, settled  # noqa: E402
from tests.serve.support import Served, configuration, processes, serving, token, worked  # noqa: E402

QUERY = "SELECT SUM(minutes) FROM visits"


def start() -> dict[str, Any]:
    """From `tacit serve --demo` to a page."""
    seconds, work = [], []
    for _ in range(5):
        with serving("--demo") as served:
            seconds.append(served.seconds)
            work.append(served.work)
    median = {"median": round(statistics.median(seconds), 2), "processor_median": round(statistics.median(work), 2)}
    return {"seconds": [round(s, 2) for s in seconds], **median}


def plain(folder: Path) -> float:
    """The plain query for each person, on a connection that knows the file."""
    import duckdb

    connection = duckdb.connect()
    begun = time.perf_counter()
    connection.execute(
        f"SELECT SUM(s) FROM (SELECT SUM(minutes) AS s FROM '{folder / 'visits.csv'}' GROUP BY who)"
    ).fetchall()
    return time.perf_counter() - begun


def latency(served: Served, folder: Path, rounds: int = 31) -> dict[str, Any]:
    """A question over the wire against the plain query, in turn."""
    asked, engine = [], []
    before, own = busy(served), 0.0
    with served.line("a0") as line:
        for i in range(rounds):
            begun = time.process_time()
            engine.append(plain(folder))
            own += time.process_time() - begun
            begun = time.perf_counter()
            line.post(ASK, json={"sql": QUERY, "epsilon": f"1/{10**9 + i}"}).raise_for_status()
            asked.append(time.perf_counter() - begun)
    work = (busy(served) - before) / own
    times = {"gateway_ms": _summary(asked), "plain_ms": _summary(engine)}
    return {**times, "ratio": _ratio(asked, engine), "processor_ratio": round(work, 2)}


def larger(persons: int) -> dict[str, Any]:
    """The same on ten times the data, where the cost of a question that does not depend on them weighs less."""
    with tempfile.TemporaryDirectory() as name:
        path, tokens = crowd(Path(name), 1, total="1", limit="1", workers=2, persons=10 * persons)
        with serving(str(path), tokens=tokens) as served:
            return {"persons": 10 * persons, **latency(served, Path(name))}


def busy(served: Served) -> float:
    """Processor seconds of all workers and their executors."""
    return sum(worked(number, 0) for number in processes(served.process.pid))


def load(seconds: float, persons: int) -> dict[str, Any]:
    """Fifty analysts at once."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, tokens = crowd(folder, 50, total="1.2", limit="0.1", workers=2, persons=persons)
        with serving(str(path), tokens=tokens) as served:
            alone = latency(served, folder)
            engine: list[float] = []

            def meanwhile(_: object) -> None:
                end = time.monotonic() + seconds
                while time.monotonic() < end:
                    engine.append(plain(folder))
                    time.sleep(1)

            seen = hammer(served, seconds, 0, meanwhile)
        found = settled(folder, seen)
    assert not [status for status in seen.statuses if status >= 500], seen.statuses
    assert seen.statuses[403] > 0, "the budget was not spent, so nothing was shown: ask longer"
    assert seen.broken == 0
    return {
        "analysts": 50,
        "seconds": seconds,
        "persons": persons,
        "statuses": dict(seen.statuses),
        "ledger": found,
        "alone": alone,
        "under_load_ms": _summary(seen.seconds),  # of answers; refusals are quicker
        "ratio_under_load": _ratio(seen.seconds, engine),
    }


def kills(times: int) -> dict[str, Any]:
    """Workers killed under load."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, tokens = crowd(folder, 8, total="1000", limit="1000", workers=2, seconds=5)
        with serving(str(path), tokens=tokens) as served:
            seen = hammer(served, 1200, 0, lambda seen: kill(served, seen, times, 12))
        found = settled(folder, seen)
    assert set(seen.statuses) <= {200, 409}, seen.statuses
    return {
        "kills": times,
        "statuses": dict(seen.statuses),
        "broken_lines": seen.broken,
        "ledger": found,
        "answers_sent": len(seen.answered),
    }


def fuzz(count: int) -> dict[str, Any]:
    """Hostile strings over the wire."""
    statuses: Counter[int] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = configuration(
            folder, epsilon="1000000", extra="[limits]\nper_minute = 1000000\nleast_price = 0\nfailures = 1000"
        )
        (folder / "visits.csv").write_text(rows())
        secret = folder / "secret.txt"
        secret.write_text(SECRET)
        with serving(str(path), tokens={"ada": token("ada")}) as served, served.line("ada") as line:
            for text, reaches in hostile(count, str(secret)):
                response = line.post(ASK, json={"sql": text, "epsilon": "0.000001"})
                statuses[response.status_code] += 1
                assert response.status_code < 500, text
                assert not (reaches and response.is_success), text
                said = response.json().get("message", "") + response.json().get("words", "")
                assert not [c for c in (*CANARIES, SECRET) if c in said and c not in text], text
            assert served.process.poll() is None
        assert secret.read_text() == SECRET
        log = (folder / "audit.jsonl").read_text()
        assert '"unforeseen"' not in log
        assert "SELECT" not in log
    return {"strings": count, "statuses": dict(statuses)}


def _summary(seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    return {
        "median": round(1000 * statistics.median(ordered), 1),
        "p95": round(1000 * ordered[int(0.95 * (len(ordered) - 1))], 1),
    }


def _ratio(ours: list[float], theirs: list[float]) -> float:
    return round(statistics.median(ours) / statistics.median(theirs), 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--strings", type=int, default=2000)
    parser.add_argument("--persons", type=int, default=20_000)
    parser.add_argument("--only", choices=["start", "load", "larger", "kills", "hostile"])
    args = parser.parse_args()
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "start": start,
        "load": lambda: load(args.seconds, args.persons),
        "larger": lambda: larger(args.persons),
        "kills": lambda: kills(args.kills),
        "hostile": lambda: fuzz(args.strings),
    }
    found = {name: part for name, part in read("serve").items() if name in parts and args.only}
    for name, part in parts.items():
        if args.only in (None, name):
            found[name] = part()
            print(json.dumps({name: found[name]}, indent=2), flush=True)
    write("serve", found)


if __name__ == "__main__":
    main()
