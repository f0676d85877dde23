"""The house: each package imports only those before it, and importing Tacit stays quick."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tacit

SOURCE = Path(__file__).parent.parent / "src" / "tacit"

# A package may import itself and what stands before it in this list.
PACKAGES = [
    "data",
    "errors",
    "closing",
    "progress",
    "proofs",
    "numbers",
    "randomness",
    "guarantees",
    "noises",
    "answers",
    "grids",
    "curves",
    "mechanisms",
    "flows",
    "budgets",
    "ledger",
    "language",
    "engines",
    "tables",
    "black_boxes",
    "functions",
    "forecasts",
    "plots",
    "audit",
    "checks",
    "checker",
    "serve",
    "publishing",
    "cli",
]
# Packages that stand apart although the list would let them meet.
STRANGERS = {
    "serve": {"audit"},
    "checks": {"audit", "plots", "forecasts", "black_boxes", "functions"},
    "language": {"mechanisms", "curves", "grids", "guarantees", "budgets", "ledger", "answers", "flows"},
    "engines": {"mechanisms", "curves", "grids", "guarantees", "budgets", "ledger", "answers", "flows"},
}

HEAVY = [
    "duckdb",
    "sqlglot",
    "numpy",
    "scipy",
    "pandas",
    "pyarrow",
    "pyspark",
    "polars",
    "dp_accounting",
    "typer",
    "rich",
    "matplotlib",
    "starlette",
    "uvicorn",
    "httpx",
    "z3",
    "cvc5",
]


def package(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def named(path: Path) -> set[str]:
    """Everything of Tacit that a file imports, in full."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def imports(path: Path) -> set[str]:
    """The packages a file imports from, by public names too: `from tacit import Answer` counts as one of answers."""
    found = {name.split(".")[1] for name in named(path) if name.startswith("tacit.")}
    public = found & set(tacit.__all__)
    homes = {getattr(getattr(tacit, name), "__module__", "tacit.errors").split(".")[1] for name in public}
    return (found - public) | homes


def test_packages_depend_only_on_packages_before_them() -> None:
    wrong = []
    for path in sorted(SOURCE.rglob("*.py")):
        if path.parent == SOURCE and path.stem in ("__init__", "__main__"):
            continue
        here = package(path)
        assert here in PACKAGES, path
        for other in imports(path):
            if PACKAGES.index(other) > PACKAGES.index(here) or other in STRANGERS.get(here, set()):
                wrong.append(f"{path.relative_to(SOURCE)} imports tacit.{other}")
    assert wrong == []


def test_the_table_of_packages_is_complete_and_in_order() -> None:
    page = (SOURCE.parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = re.search(r"\| package \|.*?\n\n", page, re.DOTALL)
    assert table is not None
    listed = [name for line in table[0].strip().splitlines()[2:] for name in re.findall("`(\\w+)`", line.split("|")[1])]
    assert listed == PACKAGES


def test_import_is_quick_and_loads_nothing_heavy() -> None:
    # Processor time of the fastest of five runs is compared, so that a busy machine does not fail the test.
    code = (
        "import time, sys; start = time.process_time(); import tacit; "
        f"print(time.process_time() - start, *[m for m in {HEAVY} if m in sys.modules])"
    )
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200, check=True)
        for _ in range(5)
    ]
    words = [run.stdout.split() for run in runs]
    assert all(len(w) == 1 for w in words), words[0]
    assert min(float(w[0]) for w in words) < 0.3


def test_every_public_name_can_be_loaded() -> None:
    for name in tacit.__all__:
        assert getattr(tacit, name) is not None
    with pytest.raises(AttributeError):
        _ = tacit.no_such_name


def test_only_the_custodian_can_look_at_rows() -> None:
    """The check of the data shows facts about rows: only its package looks; only the custodian's doors lead there."""
    doors = {
        "tacit.engines.inspection": {"checks"},
        "tacit.checks": {"checks", "cli/check.py", "serve/checking.py"},
        "tacit.serve.checking": {
            "serve/server.py",
            "serve/custodian.py",
            "serve/custody/datasets.py",
            "serve/custody/first.py",
        },
    }
    for path in SOURCE.rglob("*.py"):
        names = named(path)
        for module, allowed in doors.items():
            if any(name == module or name.startswith(module + ".") for name in names):
                assert {package(path), path.relative_to(SOURCE).as_posix()} & allowed, f"{path} imports {module}"
