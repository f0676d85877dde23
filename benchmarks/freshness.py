"""Whether a study is older than its code.

A study's code is its script and the modules, of the benchmarks and of Tacit, that its process had loaded when it stored
its results; they are stored by name, so an edit of what it never loaded leaves it fresh. Where a study starts processes
of its own, its code is all that its modules could import. Its fingerprint is a hash of what that code does: comments,
docstrings and the layout of lines do not count. It is stored with the results, and compared with the code of today. For
results from before there were fingerprints, git tells whether the code changed since they were stored.
"""

from __future__ import annotations

import ast
import hashlib
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent / "src"
KEEPING = ("record.py", "freshness.py", "environments.py", "lines.py")
"""How results are kept and drawn and where peers run is no part of what is measured."""
WHOLE = ("attacks", "conformance", "crowd", "first_answer", "publishing", "serve")
"""Studies that start the tool or tests in processes of their own: all of Tacit is their code."""


PROCESSES = ("subprocess", "multiprocessing", "concurrent.futures")
"""Whoever imports one of these may load in other processes what this one never sees."""


def fingerprint(study: str, loaded: Iterable[str] | None = None) -> str:
    """A hash of what the code of a study does, or the files it had loaded; empty where one of them is gone."""
    files = code(study) if loaded is None else [HERE.parent / name for name in loaded]
    if not files or not all(path.exists() for path in files):
        return ""
    whole = hashlib.sha256()
    for path in files:
        whole.update(f"{path.relative_to(HERE.parent)} {_does(path)}\n".encode())
    return whole.hexdigest()[:16]


def loaded(study: str) -> list[str] | None:
    """The files of the project that this process has loaded; None where others may have loaded more."""
    files = {Path(file).resolve() for one in [*sys.modules.values()] if (file := getattr(one, "__file__", None))}
    ours = sorted(path for path in files if path.name not in KEEPING and path.suffix == ".py" and _own(path))
    script = HERE / f"{study}.py"
    if study in WHOLE or script not in ours or any(_starts(path) for path in ours if path.is_relative_to(HERE)):
        return None
    return [str(path.relative_to(HERE.parent)) for path in ours]


def _own(path: Path) -> bool:
    return path.is_relative_to(HERE) or path.is_relative_to(SOURCE)


def _starts(path: Path) -> bool:
    """Whether a script starts processes."""
    return any(name.startswith(PROCESSES) for name in _names(_tree(path), path))


def code(study: str) -> list[Path]:
    """The script of a study and all that it imports, in a fixed order."""
    script = HERE / f"{study}.py"
    found: set[Path] = set()
    waiting = [script] if script.exists() else []
    if waiting and study in WHOLE:
        waiting += SOURCE.rglob("*.py")
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += imported(path)
    return sorted(path for path in found if path.name not in KEEPING)


@cache
def imported(path: Path) -> tuple[Path, ...]:
    """The files of the project that a file imports, wherever in it; a package brings its `__init__`."""
    return tuple(dict.fromkeys(file for name in _names(_tree(path), path) for file in _files(name)))


def _names(tree: ast.Module, path: Path) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and path.name == "__init__.py":
            yield node.value  # a face that loads lazily names its modules


def _files(name: str) -> Iterator[Path]:
    """The file of a module and of the packages around it; of a name in a module, that module."""
    parts = name.split(".")
    if not all(part.isidentifier() for part in parts):
        return
    for root in (SOURCE, HERE, HERE.parent):
        for many in range(1, len(parts) + 1):
            place = root.joinpath(*parts[:many])
            for file in (place.with_suffix(".py"), place / "__init__.py"):
                if file.exists():
                    yield file


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def _does(path: Path) -> str:
    """The code of a file without its docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [part for part in body if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))]
            node.body = kept  # type: ignore[attr-defined]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


def state(study: str, facts: dict[str, object]) -> str:
    """The word fresh, or why a study is not."""
    if not code(study):
        return "its script is gone"
    stored = facts.get("code")
    if stored:
        names = facts.get("loaded")
        today = fingerprint(study, [str(name) for name in names] if isinstance(names, list) else None)
        return "fresh" if stored == today else "its code has changed since"
    then, now = _committed([HERE / "results" / f"{study}.json"]), _committed(code(study))
    if not then or not now:
        return "from before fingerprints, and git does not know"
    return "fresh" if now <= then else "its code has changed since"


def _committed(paths: Iterable[Path]) -> int:
    """When one of the files was last committed, in seconds; 0 where git does not tell."""
    command = ["git", "-C", str(HERE), "log", "-1", "--format=%ct", "--", *map(str, paths)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return 0
    return int(done.stdout.strip() or 0)
