"""Where a study keeps what it measured: one JSON file, with the versions and the machine it was measured on.

Facts name no host and no path. ``TACIT_BENCH_RESULTS`` moves the files elsewhere, which is how a quick run leaves the
stored results alone.
"""

from __future__ import annotations

import json
import os
import platform
import re
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from freshness import loaded, state, traced

BEGUN = time.perf_counter()
PACKAGES = ("tacit", "duckdb", "numpy", "scipy", "sqlglot", "pyarrow")


def folder() -> Path:
    """Where results are kept."""
    place = Path(os.environ.get("TACIT_BENCH_RESULTS") or Path(__file__).parent / "results")
    place.mkdir(parents=True, exist_ok=True)
    return place


def facts() -> dict[str, Any]:
    """Versions, processor, memory and day, and how long the study took until it stored its results."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _line("/proc/cpuinfo", "model name") or platform.processor(),
        "cores": os.cpu_count(),
        "gigabytes": _gigabytes(),
        "seconds": round(time.perf_counter() - BEGUN),
        "processor_seconds": round(time.process_time() + sum(os.times()[2:4])),
        "load": round(os.getloadavg()[0], 1),
    }


def write(name: str, report: Mapping[str, Any], parts: Mapping[str, Any] | None = None) -> None:
    """Keep a study's report under its name; of a study in parts, the code of each."""
    code = {"parts": parts} if parts else traced(name, loaded(name))
    found = {"facts": facts() | code} | {key: what for key, what in report.items() if key != "facts"}
    text = json.dumps(found, indent=1, ensure_ascii=False, default=float)
    text = re.sub(r"\[[^][{}]*\]", lambda numbers: " ".join(numbers[0].split()), text)  # short lists on one line
    (folder() / f"{name}.json").write_text(text + "\n")


def read(name: str) -> Any:
    """A report as stored, or an empty one.

    A study that asks for its own goes on from it, and finds nothing where its code has changed since: no row may pass
    for newer than it is. One in parts looks at each for itself.
    """
    path = folder() / f"{name}.json"
    found = json.loads(path.read_text()) if path.exists() else {}
    facts = found.get("facts", {})
    older = Path(sys.argv[0]).stem == name and "parts" not in facts and state(name, facts) != "fresh"
    return {} if older else found


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _line(path: str, name: str) -> str:
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return ""
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(name)), "")


def _gigabytes() -> float | None:
    found = _line("/proc/meminfo", "MemTotal")
    return round(int(found.split()[0]) / 2**20, 1) if found else None
