"""The size of the house: files and lines, repeated lines, comments for mypy, the import, and the walk of a question.

    python benchmarks/house.py [ROOT …]

A root is a checkout, this one unless named: the same script measures an old commit beside a new one, since it asks
only through the public face. It prints one Markdown table with a column for each root.

The walk of a question counts the different functions of src/tacit that it enters, and the files they are in: the first
question of a fresh process on a small table in memory, in DuckDB, with a seeded source. Lambdas, comprehensions and all
that runs while a module is imported do not count. The import is the fastest of five fresh processes. Pairs of places
that share six lines or more are those that the command ``duplicates`` lists, where there is one; boilerplate is what it
marks as such.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

HERE = Path(__file__).resolve()
GROUPED = "SELECT region, SUM(amount) FROM orders GROUP BY region"
LISTED = "SELECT region, SUM(amount) FROM orders WHERE region IN ('north', 'south', 'west') GROUP BY region"

Rows = dict[str, str]
"""What is counted, and the count as it is shown."""


def count(root: Path) -> Rows:
    """Files and lines."""
    rows = {}
    for folder in ("src", "tests"):
        files = {path: path.read_text().count("\n") for path in sorted((root / folder).rglob("*.py"))}
        longest = max(files, key=lambda path: files[path])
        rows[f"files under {folder}"] = f"{len(files):,}"
        rows[f"lines under {folder}"] = f"{sum(files.values()):,}"
        rows[f"longest file under {folder}"] = f"{files[longest]:,} lines ({longest.relative_to(root / folder)})"
    text = "\n".join(path.read_text() for path in (root / "src").rglob("*.py"))
    rows["`type: ignore` under src"] = str(len(re.findall(r"# type: ignore\b", text)))
    rows["`cast(` under src"] = str(len(re.findall(r"\bcast\(", text)))
    return rows


def pairs(root: Path) -> Rows:
    """Places under src that share six lines or more."""
    names = ("pairs of places sharing six lines", "… and not boilerplate", "… the same to the letter")
    command = shutil.which("duplicates")
    if command is None:
        return dict.fromkeys(names, "not counted")
    words = [command, "--repo", str(root / "src"), "--most", "200", "--seconds", "120"]
    said = subprocess.run(words, capture_output=True, text=True).stdout.splitlines()
    lines = [line for line in said if re.match(r"D\d+ ", line)]
    logic = [line for line in lines if "boilerplate" not in line]
    return dict(zip(names, map(str, (len(lines), len(logic), sum("shape" not in x for x in logic))), strict=True))


def touched(root: Path) -> Rows:
    """Files that a new statistic needs: its own and a line of the catalogue; told by reading the code."""
    catalogue = root / "src" / "tacit" / "tables" / "statistics" / "catalogue.py"
    return {"files touched by a new statistic": "2" if catalogue.exists() else "about 10"}


def start(root: Path, *words: str) -> str:
    """What a fresh process says that imports the package from a root."""
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, env=environment, check=True)
    return done.stdout


def imports(root: Path) -> Rows:
    """Seconds of ``import tacit``, less those of Python itself."""

    def fastest(program: str) -> float:
        seconds = []
        for _ in range(5):
            begin = time.perf_counter()
            start(root, "-c", program)
            seconds.append(time.perf_counter() - begin)
        return min(seconds)

    names = {"import tacit": "seconds to import", "import tacit; tacit.read": "seconds to import what reads a table"}
    nothing = fastest("pass")
    return {name: f"{fastest(program) - nothing:.2f}" for program, name in names.items()}


def walks(root: Path) -> Rows:
    """The walk of each question, in a process of its own."""
    rows = {}
    for name in QUESTIONS:
        functions, files = json.loads(start(root, str(HERE), "--walk", name))
        rows[f"walk of {name}"] = f"{functions} functions in {files} files"
    return rows


def _table(budget: Any) -> Any:
    import pyarrow as pa

    import tacit
    from tacit.randomness import seeded_not_private

    rows = range(400)
    columns: Any = {
        "person": [row // 2 for row in rows],
        "region": [("north", "south", "west")[row % 3] for row in rows],
        "amount": [row % 50 for row in rows],
    }
    source = seeded_not_private(7)
    return tacit.read(pa.table(columns), person="person", budget=budget, table="orders", randomness=source)


def _sum() -> Callable[[], Any]:
    import tacit

    table = _table(tacit.Pure(1))
    return lambda: table.sum("amount", epsilon=1)


def _grouped() -> Callable[[], Any]:
    import tacit

    table = _table(tacit.Approx(1, 1e-6))
    return lambda: table.sql(GROUPED, epsilon=1, delta=1e-6)


def _listed() -> Callable[[], Any]:
    import tacit

    table = _table(tacit.Pure(1))
    return lambda: table.sql(LISTED, epsilon=1)


QUESTIONS = {"`.sum(…)`": _sum, "a grouped SQL sum": _grouped, "a grouped SQL sum, groups listed": _listed}


def walk(name: str) -> tuple[int, int]:
    """In a process of its own: the functions that a question enters, and their files."""
    import tacit

    assert tacit.__file__ is not None
    home, ask = os.path.dirname(tacit.__file__) + os.sep, QUESTIONS[name]()
    entered: set[CodeType] = set()
    importing = 0

    def see(frame: FrameType, event: str, _: Any) -> None:
        nonlocal importing
        code = frame.f_code
        if code.co_name == "<module>":
            importing += {"call": 1, "return": -1}.get(event, 0)
        elif event == "call" and not importing and code.co_filename.startswith(home) and code.co_name[0] != "<":
            entered.add(code)

    sys.setprofile(see)
    ask()
    sys.setprofile(None)
    return len(entered), len({code.co_filename for code in entered})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("roots", nargs="*", type=Path, default=[HERE.parents[1]])
    parser.add_argument("--walk", choices=QUESTIONS, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.walk:
        print(json.dumps(walk(asked.walk)))
        return
    roots = [root.resolve() for root in asked.roots]
    columns = [{**count(root), **pairs(root), **touched(root), **imports(root), **walks(root)} for root in roots]
    print("| |", " | ".join(root.name for root in roots), "|\n|---|" + "---|" * len(roots))
    for name in columns[0]:
        print(f"| {name} |", " | ".join(column[name] for column in columns), "|")


if __name__ == "__main__":
    main()
