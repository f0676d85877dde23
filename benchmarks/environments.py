"""Other libraries, each in an environment of its own, so that nothing conflicts.

Environments are made once in a cache folder that git ignores (``TACIT_BENCH_CACHE`` moves it) and spoken to through
files. What cannot be installed is said so in the results, with the installer's last words.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import record

HERE = Path(__file__).parent
PEERS = {
    "opendp": ("opendp[polars]==0.16.0", "numpy==2.4.6"),
    "diffprivlib": ("diffprivlib==0.6.6", "scikit-learn<1.6", "numpy==2.4.6", "duckdb==2.0.0"),
    "python_dp": ("python-dp==1.1.5", "numpy==2.4.6", "duckdb==2.0.0"),
    "pipeline_dp": ("pipeline-dp==0.3.1", "numpy==2.4.6", "duckdb==2.0.0"),
}
APART = {"tumult": ("tmlt.analytics==0.21.0", "pyspark==3.5.9")}
"""Only where it is asked for: it needs Java, and a release is a Spark job of seconds."""
TOOLS = {"tpchgen": ("tpchgen-cli==4.0.0",)}
EVERYTHING = PEERS | APART | TOOLS


class Missing(Exception):
    """What cannot be installed here, and why."""


def folder() -> Path:
    """Where environments and generated data are kept."""
    place = Path(os.environ.get("TACIT_BENCH_CACHE") or HERE / ".cache")
    place.mkdir(parents=True, exist_ok=True)
    return place.resolve()


@cache
def interpreter(name: str) -> Path:
    """The Python of an environment, made when it is not there yet."""
    place, wanted = folder() / name, EVERYTHING[name]
    ready = place / "ready"
    if not ready.exists() or ready.read_text() != "\n".join(wanted):
        _install([sys.executable, "-m", "venv", str(place)])
        _install([str(place / "bin" / "python"), "-m", "pip", "install", "-q", *wanted])
        ready.write_text("\n".join(wanted))
    return place / "bin" / "python"


def _install(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        words = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["no reason given"]
        raise Missing(f"not installable here: {words[-1]}")


@cache
def versions(name: str) -> dict[str, str]:
    """The versions of the packages of an environment that a reader may want to know."""
    names = [wanted.split("=")[0].split("<")[0].split("[")[0] for wanted in EVERYTHING[name]]
    names += ["polars"] if name == "opendp" else []
    code = f"import importlib.metadata as m, json; print(json.dumps({{n: m.version(n) for n in {names!r}}}))"
    found = subprocess.run([str(interpreter(name)), "-c", code], capture_output=True, text=True, check=True)
    return dict(json.loads(found.stdout))


def speak(name: str, jobs: Any, timeout: float | None = None) -> Any:
    """Give a peer's script its jobs and take its replies."""
    with tempfile.TemporaryDirectory() as place:
        asked, said = Path(place) / "jobs.json", Path(place) / "replies.json"
        asked.write_text(json.dumps(jobs))
        script = HERE / "peers" / f"with_{name}.py"
        subprocess.run(
            [str(interpreter(name)), str(script), str(asked), str(said)],
            check=True,
            timeout=timeout,
            capture_output=True,
        )
        return json.loads(said.read_text())


def tpch(scale: int = 1) -> Path:
    """The TPC-H tables at this scale as Parquet files."""
    place = folder() / f"tpch-{scale}"
    if not (place / "ready").exists():
        program = interpreter("tpchgen").parent / "tpchgen-cli"
        subprocess.run([str(program), "parquet", "-s", str(scale), f"--output-dir={place}"], check=True)
        (place / "ready").touch()
    return place


def known() -> dict[str, Any]:
    """For every peer its versions, or why it was not run."""
    found: dict[str, Any] = {}
    for name in PEERS:
        try:
            interpreter(name)
            found[name] = versions(name)
        except Missing as reason:
            found[name] = str(reason)
    return found


if __name__ == "__main__":
    for peer, what in known().items():
        print(peer, what)
    record.write("peers", {"peers": known()})
