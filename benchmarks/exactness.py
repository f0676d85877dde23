"""Every promise checked exhaustively on small data and by samples: `tacit audit`, kept beside the other results.

    python benchmarks/exactness.py [--quick]

Quickly only the threshold scans, otherwise every mechanism and statistic. Results go to
benchmarks/results/exactness.json.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter

from record import write


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    only = ["threshold_scan"] if parser.parse_args().quick else []
    command = [sys.executable, "-c", "from tacit.cli import main; main()", "audit", "--json", *only]
    found = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
    lines = found.pop("lines")
    counts = {kind: Counter(line["verdict"] for line in lines if line["kind"] == kind) for kind in _kinds(lines)}
    rows = [[line[name] for name in ("kind", "name", "promised", "exact", "sampled", "verdict")] for line in lines]
    print(found, counts)
    write("exactness", {**found, "verdicts": counts, "lines": rows})


def _kinds(lines: list[dict[str, str]]) -> list[str]:
    return list(dict.fromkeys(line["kind"] for line in lines))


if __name__ == "__main__":
    main()
