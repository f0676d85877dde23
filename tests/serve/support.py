"""Gateways for tests: as real processes on a free port, and small configurations."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tacit.serve.tokens import new_token

COMMAND = [sys.executable, "-c", "from tacit.cli import main; main()", "serve", "--port", "0", "--json"]
PLANTED = "from tacit.serve import zygote; zygote.ENGINES += ({module!r},); "
"""Before it: executors of one worker carry a module of the tests."""
NAMES = ("ada", "grace", "custodian")
TOKENS = {name: new_token() for name in NAMES}


@dataclass(frozen=True)
class Served:
    """A gateway that runs."""

    address: str
    tokens: dict[str, str]
    process: subprocess.Popen[str]
    seconds: float
    """From the command to a page."""
    work: float
    """The processor's part of it, which other processes do not make longer; or the same where that is not known."""

    def line(self, name: str) -> httpx.Client:
        return httpx.Client(
            base_url=self.address, headers={"Authorization": f"Bearer {self.tokens[name]}"}, timeout=200
        )


@contextmanager
def serving(
    *arguments: str, tokens: dict[str, str] | None = None, folder: Path | None = None, planted: str = ""
) -> Iterator[Served]:
    """Run `tacit serve` with these arguments, in a folder, until the block ends; executors load what is planted."""
    start = time.monotonic()
    python, flag, code, *rest = COMMAND
    command = [python, flag, (PLANTED.format(module=planted) if planted else "") + code, *rest]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=folder
    )
    late = threading.Timer(200, process.kill)
    late.start()
    try:
        assert process.stdout is not None
        text = ""
        for line in process.stdout:
            text += line
            if line == "}\n":
                break
        assert text, process.stderr.read() if process.stderr else ""
        ready = json.loads(text)
        late.cancel()
        while True:
            try:
                httpx.get(f"{ready['address']}/login", timeout=200).raise_for_status()
                break
            except httpx.TransportError:
                assert process.poll() is None
                assert time.monotonic() - start < 200
                time.sleep(0.02)
        seconds = time.monotonic() - start
        yield Served(ready["address"], tokens or ready["tokens"], process, seconds, worked(process.pid, seconds))
    finally:
        late.cancel()
        process.terminate()
        try:
            process.communicate(timeout=100)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate(timeout=100)


def worked(process: int, otherwise: float) -> float:
    """Seconds of processor time that a process has used."""
    try:
        words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return otherwise
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def processes(parent: int) -> set[int]:
    """All processes below one."""
    found: set[int] = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(words[1]) == parent and words[0] != "Z":
            number = int(path.parent.name)
            found |= {number} | processes(number)
    return found


def people(folder: Path, persons: int = 200) -> Path:
    """A table of made-up visits: three for each of some persons."""
    path = folder / "visits.csv"
    rows = [f"p{i},{(i * 7 + j) % 50},{'north' if i % 2 else 'south'}" for i in range(persons) for j in range(3)]
    path.write_text("who,minutes,place\n" + "\n".join(rows) + "\n")
    return path


PATIENT = {"preview_seconds": 60, "seconds": 85}


def patient(extra: str) -> str:
    """Settings by which previews and questions may take long, unless they say otherwise: the machine may be busy."""
    head, _, rest = extra.partition("[limits]\n")
    more = "".join(
        f"{name} = {seconds}\n" for name, seconds in PATIENT.items() if not re.search(rf"^{name}\b", rest, re.M)
    )
    return f"{head}\n[limits]\n{more}{rest}"


def configuration(
    folder: Path,
    *,
    epsilon: str = "10",
    limit: str = "datasets.visits.limit.epsilon = 1",
    extra: str = "",
    workers: int = 1,
) -> Path:
    """A configuration for ada, grace and a custodian, with the tokens of this module."""
    people(folder)
    path = folder / "tacit.toml"
    path.write_text(
        f"""
[server]
log = "audit.jsonl"
workers = {workers}
[custodian]
token = "{TOKENS["custodian"][1]}"
[datasets.visits]
budget.epsilon = {epsilon}
persons = 200
tables.visits = {{ source = "visits.csv", person = "who" }}
[[analysts]]
name = "ada"
token = "{TOKENS["ada"][1]}"
[[analysts]]
name = "grace"
token = "{TOKENS["grace"][1]}"
{limit}
{patient(extra)}
"""
    )
    return path


def token(name: str) -> str:
    return TOKENS[name][0]
