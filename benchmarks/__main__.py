"""All studies with one command, each in a process of its own, and the page that says what they found.

    python -m benchmarks [--quick] [--graph FILE --profile FILE] [--graphs FILE FILE] [study …]
    python -m benchmarks report [--check]

The whole takes hours; ``--quick`` shows in minutes that everything runs, at sizes whose figures mean little, and leaves
the stored results alone. The graph is the SNAP file p2p-Gnutella31.txt, its profile the published one, and the other
two are the GEMSEC files of Deezer, edges of Hungary and Romania; what needs them is skipped without them, and says so.
TPC-H is generated. RESULTS.md is made from the stored results and from nothing else.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import environments  # noqa: E402
import report  # noqa: E402


@dataclass(frozen=True)
class Study:
    """A script with its arguments; None where a quick run leaves it out."""

    full: tuple[str, ...] = ()
    quick: tuple[str, ...] | None = ("--quick",)
    graph: bool = False
    profile: bool = False
    graphs: bool = False
    tpch: bool = False


SMALL_LEDGER = (
    *("--stores", "sqlite", "--processes", "4", "--kills", "5", "--charges", "300"),
    *("--seconds", "0.5", "--rounds", "1", "--entries", "500"),
)

STUDIES = {
    "accuracy": Study(),
    "speed": Study(),
    "joins": Study(quick=None, graph=True, profile=True, tpch=True),
    "patterns": Study(quick=None, graph=True, graphs=True, tpch=True),
    "tpch_queries": Study(quick=None, tpch=True),
    "baselines": Study(graph=True),
    "flows": Study(quick=None, graph=True, profile=True),
    "samplers": Study(quick=()),
    "searches": Study(quick=("--draws", "20")),
    "bound_free_sum": Study(full=("--full",), quick=None),
    "median": Study(quick=("--draws", "5")),
    "quantiles": Study(),
    "moments": Study(),
    "coverage": Study(),
    "ratio": Study(quick=("--draws", "100")),
    "subsampling": Study(quick=("--draws", "1000")),
    "black_boxes": Study(quick=("speed",)),
    "ledger": Study(quick=SMALL_LEDGER),
    "publishing": Study(),
    "engine": Study(full=("10000000", "100000000"), quick=("1000000",)),
    "engines": Study(full=("10000000", "100000000")),
    "spark": Study(),
    "serve": Study(quick=None),
    "crowd": Study(),
    "first_answer": Study(),
    "exactness": Study(),
    "conformance": Study(),
    "expressions": Study(),
    "attacks": Study(),
    "growth": Study(),
    "beside_plain": Study(),
    "changes": Study(),
    "delta": Study(),
    "vector_caps": Study(full=("--tune",), tpch=True),
    "series": Study(),
    "shared_groups": Study(quick=None, tpch=True),
    "workload": Study(),
}


def command(name: str, given: argparse.Namespace) -> list[str] | None:
    """What to run, or nothing."""
    study, script = STUDIES[name], HERE / f"{name}.py"
    arguments = study.quick if given.quick else study.full
    if arguments is None or not script.exists():
        return None
    found = [sys.executable, str(script), *arguments]
    if study.tpch:
        found += ["--tpch", str(environments.tpch())]
    if study.graph and given.graph:
        found += ["--graph", str(given.graph)]
    if study.profile and given.profile:
        found += ["--profile", str(given.profile)]
    if study.graphs and given.graphs:
        found += ["--graphs", *map(str, given.graphs)]
    return found


def run(names: Sequence[str], given: argparse.Namespace) -> list[str]:
    """Run studies one after the other; the names of those that failed."""
    place = dict(os.environ)
    if given.quick:
        place["TACIT_BENCH_RESULTS"] = str(HERE / ".quick")
    failed, begun = [], time.perf_counter()
    for name in names:
        asked = command(name, given)
        if asked is None:
            print(f"== {name}: left out", flush=True)
            continue
        print(f"== {name}", flush=True)
        if subprocess.run(asked, env=place, cwd=HERE.parent).returncode:
            failed.append(name)
        print(f"== {name}: {time.perf_counter() - begun:.0f} s since the start", flush=True)
    return failed


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, in minutes; stored results are left alone")
    parser.add_argument("--check", action="store_true", help="with report: fail if a study is older than its code")
    parser.add_argument("--graph", type=Path, help="p2p-Gnutella31.txt")
    parser.add_argument("--profile", type=Path, help="its published profile")
    parser.add_argument("--graphs", type=Path, nargs=2, metavar="FILE", help="the two Deezer graphs")
    parser.add_argument("studies", nargs="*", metavar="study", help=f"{', '.join(STUDIES)}; or report: the page alone")
    given = parser.parse_args()
    unknown = [name for name in given.studies if name not in (*STUDIES, "report")]
    if unknown:
        parser.error(f"no study is called {', '.join(unknown)}; choose from {', '.join((*STUDIES, 'report'))}")
    names = [name for name in given.studies or STUDIES if name != "report"]  # report alone runs nothing
    if given.check:
        old = report.check()
        sys.exit(f"older than their code: {', '.join(old)}" if old else 0)
    failed = run(names, given)
    if not given.quick:
        report.save()
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
