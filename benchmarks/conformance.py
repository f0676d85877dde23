"""How long the engines take to show that they agree: the conformance suite, by engine.

    python benchmarks/conformance.py [--quick]

Runs test_conformance.py and test_expressions.py of tests/engines, the whole list on Spark too (quickly: on DuckDB
alone), and adds up what each engine's tests took, set-up included. Engines that are not there are left out. Results go
to benchmarks/results/conformance.json.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

from record import write

ROOT = Path(__file__).resolve().parent.parent
ENGINES = ("duckdb", "postgresql", "spark")
EVERYTHING = {"TACIT_CONFORMANCE": "full", "PYSPARK_SUBMIT_ARGS": "--driver-memory 4g pyspark-shell"}
"""One session of Spark is asked all, for a quarter of an hour: more than the memory of the tests' own."""


def measured(quick: bool) -> dict[str, Any]:
    """For each engine: tests that passed, failed and were skipped, and their seconds."""
    with tempfile.TemporaryDirectory() as place:
        report = Path(place) / "report.xml"
        asked = [f"tests/engines/test_{name}.py" for name in ("conformance", "expressions")]
        command = [sys.executable, "-m", "pytest", "-q", *asked, f"--junitxml={report}"]
        subprocess.run(
            command + (["-k", "duckdb"] if quick else []), cwd=ROOT, env=os.environ | EVERYTHING, capture_output=True
        )
        cases = list(ElementTree.parse(report).getroot().iter("testcase"))
    found: dict[str, Any] = {}
    for case in cases:
        engine = next((name for name in ENGINES if name[:5] in case.get("name", "").lower()), "all engines")
        row = found.setdefault(
            engine, {"passed": 0, "failed": 0, "skipped": 0, "seconds": 0.0, "names of the failed": []}
        )
        outcome = next((tag for tag in ("skipped", "failure", "error") if case.find(tag) is not None), "passed")
        if outcome in ("failure", "error"):
            row["names of the failed"].append(case.get("name", ""))
        row["failed" if outcome in ("failure", "error") else outcome] += 1
        row["seconds"] += float(case.get("time", 0))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    found = measured(parser.parse_args().quick)
    for engine, row in found.items():
        print(engine, row)
    write("conformance", {"engines": found})


if __name__ == "__main__":
    main()
