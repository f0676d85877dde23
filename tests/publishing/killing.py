"""Publications that are killed with SIGKILL at random moments, and what the ledger and the folders say after each.

    python -m tests.publishing.killing FOLDER --publications 4 --seed 7

Each publication is about a year of its own, in a process of its own, which is killed after a time drawn from zero to a
little more than a publication takes; then it is started again, and killed again, until an attempt is let through. After
every kill it is checked that no question was charged twice, and that a folder that is there is paid for and holds what
is in the ledger; at the end that each year paid exactly once, and that the history is sound.
"""

from __future__ import annotations

import argparse
import csv
import json
import multiprocessing
import os
import random
import signal
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import duckdb  # noqa: F401 - imported before the first fork, and not used there
import pyarrow as pa
import pyarrow.parquet as parquet
import sqlglot  # noqa: F401

from tacit import Pure
from tacit.answers.storing import decode_answer
from tacit.budgets import Calendar
from tacit.engines.duckdb import engine  # noqa: F401
from tacit.ledger import open_ledger, verify
from tacit.publishing import publish, read_edition

FIRST = 1800
QUESTIONS = 3
MOST_KILLS = 4
"""After so many kills an attempt is let through."""


@dataclass
class Outcome:
    """What happened."""

    publications: int = 0
    attempts: int = 0
    kills: int = 0
    before: int = 0
    """Attempts that ended before their kill came."""
    between: int = 0
    """Kills after which a charge had no answer: the next attempt had to go on with it."""
    partly: int = 0
    """Kills after which some questions were answered and others not."""
    twice: int = 0
    """Questions that were charged twice: none."""
    unpaid: int = 0
    """Folders that held what the ledger did not: none."""
    unfinished: int = 0
    """Folders that were there and not whole: none."""
    unsound: list[str] = field(default_factory=list)
    seconds: float = 0.0


def prepare(folder: Path, years: int, ledger: str) -> Path:
    """A table with rows of every year, and what is to be published of each."""
    rows = [
        (f"p{i % 60}", date(FIRST + y, 1 + i % 12, 1), ("a", "b")[i % 2], i % 50)
        for y in range(years)
        for i in range(120)
    ]
    names = ("who", "day", "place", "minutes")
    parquet.write_table(
        pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))), folder / "visits.parquet"
    )
    path = folder / "report.toml"
    path.write_text(
        f"""
title = "Visits in {{period}}"
folder = "published/{{period}}"
ledger = "{ledger}"
epsilon = 3
[datasets.visits]
budget.epsilon = {3 * years}
periods = {{ every = "year", each.epsilon = 3 }}
tables.visits = {{ source = "visits.parquet", person = "who", date = "day" }}
[questions.persons]
sql = "SELECT COUNT(DISTINCT who) AS people FROM visits"
[questions.places]
sql = "SELECT place, COUNT(*) AS visits FROM visits WHERE place IN ('a', 'b') GROUP BY place"
[questions.median]
table = "visits"
call = "median"
with = {{ column = "minutes" }}
"""
    )
    return path


def attempt(path: Path, period: str) -> None:
    """One publication, in this process."""
    publish(read_edition(path, period=period))


def run(folder: Path, publications: int, seed: int, ledger: str = "ledger.db") -> Outcome:
    """Publish, kill, look, and go on."""
    path, chance, found = prepare(folder, publications, ledger), random.Random(seed), Outcome()
    context = multiprocessing.get_context("fork")
    usual, begun = 0.0, time.monotonic()

    def started(period: str) -> Any:
        process = context.Process(target=attempt, args=(path, period))
        process.start()
        found.attempts += 1
        return process

    for number in range(publications):
        period = f"{FIRST + number}"
        kills = 0
        while True:
            start = time.monotonic()
            process = started(period)
            last = number == 0 or kills >= chance.randint(1, MOST_KILLS)  # the first says how long one takes
            if not last:
                process.join(chance.uniform(0, 1.1 * usual))
                if process.exitcode is None:
                    os.kill(process.pid, signal.SIGKILL)
                    kills += 1
            process.join(600)
            if process.exitcode == 0:
                found.before += not last
                usual = time.monotonic() - start if number == 0 else usual
                break
            assert process.exitcode == -signal.SIGKILL, process.exitcode
            look(folder, path, period, found)
        found.kills += kills
        found.publications += 1
        look(folder, path, period, found, ended=True)
    with open_ledger(read_edition(path, period=period).ledger, read_only=True) as kept:
        found.unsound += verify(kept, "visits").problems
        calendar = Calendar.find(kept.budget("visits"))
        assert calendar is not None
        found.twice += sum(line.spent != Pure(3) for line in calendar.lines)
    found.seconds = time.monotonic() - begun
    return found


def look(folder: Path, path: Path, period: str, found: Outcome, *, ended: bool = False) -> None:
    """Hold the ledger and the folder against each other."""
    charged: Counter[str] = Counter()
    answers: dict[int, Any] = {}
    numbers = set()
    edition = read_edition(path, period=period)
    if not Path(edition.ledger).exists() and "://" not in edition.ledger:
        return
    with open_ledger(edition.ledger, read_only=True) as ledger:
        for entry in ledger.history("visits") if "visits" in ledger.names() else ():
            if entry.what == "charged" and entry.body["account"].endswith(f"period:{period}"):
                charged[entry.body["key"]] += 1
                numbers.add(entry.number)
            elif entry.what == "answered" and entry.body["charge"] in numbers:
                assert entry.body["charge"] not in answers, "two answers to one charge"
                answers[entry.body["charge"]] = decode_answer(entry.body["answer"])
    found.twice += sum(count - 1 for count in charged.values())
    found.between += not ended and len(answers) < len(numbers)
    found.partly += not ended and 0 < len(answers) < QUESTIONS
    place = folder / "published" / period
    if ended or place.exists():
        if not all(
            (place / name).is_file() for name in ("index.html", "privacy.json", "certificate.json", "persons.csv")
        ):
            found.unfinished += 1
        elif len(answers) != QUESTIONS or _values(place) != _paid(answers):
            found.unpaid += 1


def _values(place: Path) -> Counter[str]:
    """The numbers in the folder's tables."""
    named = {"persons": "people", "places": "visits", "median": "value"}
    rows = [row[column] for name, column in named.items() for row in csv.DictReader((place / f"{name}.csv").open())]
    return Counter(rows)


def _paid(answers: dict[int, Any]) -> Counter[str]:
    several = [list(found.values()) if hasattr(found, "values") else [found] for found in answers.values()]
    return Counter(str(answer.value) for found in several for answer in found)


def main() -> None:
    """Print what happened as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--publications", type=int, default=4)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    print(json.dumps(asdict(run(given.folder, given.publications, given.seed))))


if __name__ == "__main__":
    main()
