"""From `pip install` to an analyst's first answer on one's own file: the guide, step by step, with a clock beside it.

    python benchmarks/first_answer.py [--quick]

The steps are those of docs/how-to/first-answer.md: install into a new environment, start, point at a file, name the
person, choose a budget, invite an analyst, log in, ask. Pages are asked for and forms are sent as a browser would, each
found in the page before it; what a person needs for reading and typing comes on top. `--quick` installs nothing and
runs the package at hand. Results go to benchmarks/results/first_answer.json.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(Path(__file__).resolve().parent))

import httpx  # noqa: E402
import record  # noqa: E402

ROWS = 50_000
"""Of the file that is pointed at."""
LIMIT = 300
"""Seconds that were asked for."""


def fields(page: str, action: str) -> dict[str, str]:
    """The hidden fields of a page's form to an address."""
    form = re.search(rf'<form[^>]*action="{re.escape(action)}"[^>]*>(.*?)</form>', page, re.S)
    assert form is not None, f"there is no form to {action}"
    found = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form[1])
    return {unescape(name): unescape(value) for name, value in found}


class Clock:
    """Times of steps, by their names."""

    def __init__(self) -> None:
        self.steps: dict[str, float] = {}

    def run(self, name: str, step: Callable[[], Any]) -> Any:
        """Do a step and keep its time."""
        begin = time.monotonic()
        found = step()
        self.steps[name] = round(time.monotonic() - begin, 2)
        return found


def write_file(folder: Path) -> None:
    """Somebody's own data: visits of made-up patients."""
    lines = (f"p{i % 5000},{(i * 7919) % 240},{'north' if i % 3 else 'south'}" for i in range(ROWS))
    (folder / "visits.csv").write_text("patient,minutes,ward\n" + "\n".join(lines) + "\n")


def install(folder: Path) -> list[str]:
    """A new environment with the package; the command that runs it."""
    subprocess.run([sys.executable, "-m", "venv", str(folder / "env")], check=True)
    python = str(folder / "env" / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "-q", f"{ROOT}[serve]"], check=True, stdout=subprocess.DEVNULL)
    return [python, "-m", "tacit"]


def start(command: list[str], folder: Path) -> tuple[subprocess.Popen[str], str, str]:
    """`tacit serve` in a folder without a configuration; its address and the custodian's token."""
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [*command, "serve", "--port", "0"], stdout=subprocess.PIPE, text=True, cwd=folder, env=environment
    )
    late = threading.Timer(120, process.kill)
    late.start()
    assert process.stdout is not None
    address = process.stdout.readline().split()[-1]
    token = process.stdout.readline().split()[-1]
    late.cancel()
    while True:
        try:
            httpx.get(f"{address}/login").raise_for_status()
            return process, address, token
        except httpx.TransportError:
            time.sleep(0.05)


def log_in(line: httpx.Client, token: str) -> str:
    """The page that a token opens."""
    return line.post("/login", data={"token": token}).raise_for_status().text


def confirm(line: httpx.Client, page: str) -> str:
    """Press the button of a page that asks once more."""
    return line.post("/custodian/act", data=fields(page, "/custodian/act")).raise_for_status().text


def measure(command: list[str] | None) -> dict[str, float]:
    """All steps, in a folder that is gone at the end."""
    clock = Clock()
    with tempfile.TemporaryDirectory(prefix="tacit-first-") as name:
        folder = Path(name)
        write_file(folder)
        ran = clock.run("install", lambda: install(folder)) if command is None else command
        process, address, token = clock.run("start", lambda: start(ran, folder))
        try:
            with httpx.Client(base_url=address, follow_redirects=True, timeout=120) as line:
                page = clock.run("log in as custodian", lambda: log_in(line, token))
                here = "/custodian/start"
                sent = fields(page, here) | {"source": "visits.csv"}
                page = clock.run("point at the file", lambda: line.post(here, data=sent).raise_for_status().text)
                named = fields(page, here) | {"person": "patient", "name": "visits"}
                page = clock.run("name the person", lambda: line.post(here, data=named).raise_for_status().text)
                chosen = fields(page, "/custodian/act") | {"epsilon": "2"}
                page = clock.run(
                    "choose a budget", lambda: confirm(line, line.post("/custodian/act", data=chosen).text)
                )
                invited = fields(line.get("/custodian/analysts").text, "/custodian/act")
                invited |= {"action": "add analyst", "name": "ada", "dataset": "visits", "epsilon": "1"}
                page = clock.run(
                    "invite an analyst", lambda: confirm(line, line.post("/custodian/act", data=invited).text)
                )
                given = re.search(r'value="(tacit_[^"]+)"', page)
                assert given is not None
            with httpx.Client(base_url=address, follow_redirects=True, timeout=120) as line:
                page = clock.run("log in as analyst", lambda: log_in(line, given[1]))
                place = "/datasets/visits"
                query = {"sql": "SELECT AVG(minutes) FROM visits", "epsilon": "0.5", "action": "ask"}
                asked = fields(page, place) | query
                page = clock.run("ask", lambda: line.post(place, data=asked).raise_for_status().text)
                assert "ean of minutes" in page
        finally:
            process.terminate()
            process.wait(60)
    return clock.steps


def main() -> None:
    """Measure and store."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true", help="install nothing; run the package at hand")
    quick = parser.parse_args().quick
    steps = measure([sys.executable, "-m", "tacit"] if quick else None)
    whole = round(sum(steps.values()), 1)
    for name, seconds in steps.items():
        print(f"{name:<22} {seconds:8.2f} s")
    print(f"{'altogether':<22} {whole:8.2f} s of {LIMIT}")
    found = {"rows": ROWS, "steps": steps, "seconds": whole, "asked": LIMIT, "installed": not quick}
    record.write("first_answer", found)


if __name__ == "__main__":
    main()
