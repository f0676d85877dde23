"""Every promise checked exhaustively on small data and by samples: `tacit audit`, kept beside the other results.

    python benchmarks/exactness.py [--quick]

Quickly only the threshold scans, otherwise every mechanism and statistic. Every sampler that can be compared with the
law it draws from is, by 10^5 draws (quickly 10^3); the tests draw fewer. Results go to
benchmarks/results/exactness.json.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from record import write


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    only = ["threshold_scan"] if quick else []
    command = [sys.executable, "-c", "from tacit.cli import main; main()", "audit", "--json", *only]
    found = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
    lines = found.pop("lines")
    counts = {kind: Counter(line["verdict"] for line in lines if line["kind"] == kind) for kind in _kinds(lines)}
    rows = [[line[name] for name in ("kind", "name", "promised", "exact", "sampled", "verdict")] for line in lines]
    astray = strays(10**3 if quick else 10**5)
    print(found, counts, astray)
    write("exactness", {**found, "verdicts": counts, "lines": rows, "samplers that stray from their law": astray})


def strays(draws: int) -> list[str]:
    """The samplers whose draws do not agree with their law; a right one is among them with probability 1e-7."""
    from tacit.audit.registry import cases
    from tests.support import follows

    compared = [(case, dataset) for case in cases() for dataset in case.sampled]
    return [f"{case.name}, {dataset}" for case, dataset in compared if not follows(case.law(dataset), draws)]


def _kinds(lines: list[dict[str, str]]) -> list[str]:
    return list(dict.fromkeys(line["kind"] for line in lines))


if __name__ == "__main__":
    main()
