"""The check of the data at the gateway's start, and its report on the custodian's page.

Before anything listens, only that is checked which the promise rests on: keys that are called unique. One that is not
is a reason not to start. That takes no longer than `PATIENCE`; what was not done in time is left to the whole check,
which runs in a process of its own after the start, at low priority, and leaves its report in a file that only this user
can read. Analysts cannot reach it, and log lines say how many findings there are and no more.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

from tacit.checks import Report, check, check_keys
from tacit.checks.report import describe
from tacit.errors import InvalidInput, TacitError
from tacit.serve import fragments
from tacit.serve.config import Config, load
from tacit.serve.custody.standing import as_it_is
from tacit.serve.records import AuditLog
from tacit.serve.sparks import connect_spark, on_spark
from tacit.tables import Private, Public

PATIENCE = 10.0
"""Seconds that the start may wait for the check of a dataset's keys."""
LATER = 3.0
"""Seconds after the start at which the whole check begins."""
LONGEST = 1800.0
"""Seconds that the whole check of a dataset may take."""
GRACE = 5.0
"""Seconds that it has to end when the gateway does."""

_CODE = "import sys, time; time.sleep(float(sys.argv[2])); from tacit.serve.checking import run; run(sys.argv[1])"


def before_start(config: Config) -> None:
    """Refuse to start over keys that are called unique and are not."""
    for name, dataset in config.datasets.items():
        tables = {key: connect_spark(table) for key, table in dataset.tables.items()}
        found = check_keys(tables, PATIENCE).serious
        if found:
            raise InvalidInput(
                f"dataset {name!r}, table {found[0].table!r}: {found[0].text.rstrip('.')}, so nothing is served; "
                "correct the data or the declaration, and see more with `tacit check` and this configuration."
            )


def look(tables: Mapping[str, Private | Public], seconds: float) -> Report:
    """The whole check of tables that the custodian at the machine points at, for them alone."""
    return check(tables, seconds)


def in_words(facts: Mapping[str, Any]) -> str:
    """What a check found of one table, in a line."""
    return describe(facts)


def repeated_keys(tables: Mapping[str, Private | Public]) -> str:
    """The first key that is called unique and is not, in words; empty where there is none."""
    found = check_keys(tables, PATIENCE).serious
    return f"table {found[0].table!r}: {found[0].text}" if found else ""


@contextmanager
def in_background(path: Path, config: Config) -> Iterator[None]:
    """The whole check in a process of its own, which ends with this one."""
    report = Path(config.server.check_report)
    with suppress(OSError):
        report.unlink()
    if _on_spark(config):  # its session would be opened twice
        yield
        return
    quiet = subprocess.DEVNULL
    said = None if config.server.log == "-" else quiet
    started = subprocess.Popen(
        [sys.executable, "-c", _CODE, str(path.absolute()), str(LATER)], stdin=quiet, stdout=quiet, stderr=said
    )
    try:
        yield
    finally:
        started.terminate()
        try:
            started.wait(GRACE)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait()


def _on_spark(config: Config) -> bool:
    return any(on_spark(table) for dataset in config.datasets.values() for table in dataset.tables.values())


def run(path: str) -> None:
    """The whole check, in the process that was made for it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that files of its own are put away
    threading.Thread(target=_follow, args=(os.getppid(),), daemon=True).start()
    os.nice(10)
    leave_report(path)


def leave_report(path: str | Path) -> None:
    """Check everything and leave the report; nothing is written if that fails."""
    try:
        config = as_it_is(load(path))
        log = AuditLog(config.server.log)
        found = Report.together({name: check(one.tables, LONGEST) for name, one in config.datasets.items()})
        save(found, Path(config.server.check_report))
    except (TacitError, OSError):
        return
    log.write("checked", findings=len(found.findings), serious=len(found.serious), unchecked=len(found.unchecked))


def _follow(parent: int) -> None:
    """End with the gateway, however that ends."""
    while os.getppid() == parent:
        time.sleep(1)
    os.kill(os.getpid(), signal.SIGTERM)


def save(report: Report, file: Path) -> None:
    """Write a report that only this user can read, all at once."""
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        json.dump(report.to_dict(), stream)
    os.replace(draft, file)


def section(config: Config) -> str:
    """The last report as a section of the custodian's page."""
    file = Path(config.server.check_report)
    try:
        report = Report.of(json.loads(file.read_text(encoding="utf-8")))
        made = datetime.fromtimestamp(file.stat().st_mtime, UTC)
    except (OSError, ValueError, KeyError, TypeError):
        said = "The data are being checked, or could not be; <code>tacit check</code> does it by hand."
        return f'<section id="data"><h2>Data</h2><p>{said}</p></section>'
    if not report.facts and not report.findings:
        said = "No table was there to be checked at the last start; each one is looked at when it is added."
        return f'<section id="data"><h2>Data</h2><p>{said}</p></section>'
    facts = [(escape(name), escape(describe(part))) for name, part in report.facts.items()]
    ordered = sorted(report.findings, key=lambda finding: not finding.serious)
    rows = [
        (escape(f.table), "<strong>serious</strong>" if f.serious else "to look at", escape(f.text)) for f in ordered
    ]
    found = fragments.table(("table", "", "finding"), rows, "Findings") if rows else "<p>Nothing was found.</p>"
    left = "".join(f"<li>not checked: {escape(text)}</li>" for text in report.unchecked)
    known = fragments.table(("table", "facts"), facts)
    return (
        f'<section id="data"><h2>Data</h2><p>Checked {made:%Y-%m-%d %H:%M} UTC. This is about the rows themselves, for '
        f"you alone.</p>{known}{found}{f'<ul>{left}</ul>' if left else ''}</section>"
    )
