"""Whether a study is older than its code.

A study's code is its script and the modules, of the benchmarks, the tests and Tacit, that its process had loaded when
it stored its results; they are stored by name, so an edit of what it never loaded leaves it fresh. Where a study starts
processes of its own, its code is all that its modules could import, unless its workers say what they had loaded: a
study in parts keeps the code of each. A fingerprint is a hash of what that code does: comments, docstrings and the
layout of lines do not count. It is stored with the results, and compared with the code of today. For results from
before there were fingerprints nobody knows, and they count as older.

What a module could import follows from its text: the imports in it but those for type checkers, what it takes from
Tacit by attributes (`tacit.audit.exact`), constants given to `import_module`, and what the face of a package names to
load it later. A module that lists a package by `pkgutil` may load all of it. Each name means the file that Python would
find, first beside the script.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent / "src"
APART = {
    *("record", "freshness", "environments", "lines"),
    *("report", "asked", "latest", "extension", "scoreboard", "layout", "__main__"),
}
"""Scripts that keep, draw and show results, or say where peers run: no part of what is measured."""
WHOLE = ("attacks", "conformance", "crowd", "first_answer", "publishing", "serve")
"""Studies that start the tool or tests in processes of their own: all of Tacit is their code."""
PROCESSES = {"subprocess", "multiprocessing", "concurrent"}
"""Whoever imports one of these may load in other processes what this one never sees."""
UNKNOWN = "from before fingerprints"


def fingerprint(study: str, loaded: Iterable[str] | None = None) -> str:
    """A hash of what the code of a study does, or the files it had loaded; empty where one of them is gone."""
    files = code(study) if loaded is None else [HERE.parent / name for name in loaded]
    if not files or not all(path.exists() for path in files):
        return ""
    whole = hashlib.sha256()
    for path in files:
        whole.update(f"{path.relative_to(HERE.parent)} {_read(path).does}\n".encode())
    return whole.hexdigest()[:16]


def loaded(study: str, worker: bool = False, alone: bool = False) -> list[str] | None:
    """The files of the project that this process has loaded; None where others may have loaded more.

    A ``worker`` was started by the study's own script, and answers for itself. ``alone``: the study knows that the
    processes it starts, such as servers and Java, run no code of the project.
    """
    files = {Path(file).resolve() for one in [*sys.modules.values()] if (file := getattr(one, "__file__", None))}
    ours = sorted(path for path in files if path.suffix == ".py" and _measured(path))
    script = HERE / f"{study}.py"
    others = not alone and any(_starts(path) for path in ours if not (worker and path == script))
    if script not in ours or others or (study in WHOLE and not worker):
        return None
    return [str(path.relative_to(HERE.parent)) for path in ours]


def traced(study: str, files: Iterable[str] | None) -> dict[str, object]:
    """What is stored of the code of a study, or of one of its parts, that had loaded these files."""
    names = None if files is None else sorted(files)
    return {"code": fingerprint(study, names)} | ({"loaded": names} if names else {})


def _measured(path: Path) -> bool:
    """Whether a file is part of what can be measured."""
    if path.parent == HERE:
        return path.stem not in APART
    return any(path.is_relative_to(place) for place in (HERE, SOURCE, HERE.parent / "tests"))


def _starts(path: Path) -> bool:
    """Whether a module may start processes."""
    return any(name.split(".")[0] in PROCESSES for name in _read(path).names)


def code(study: str) -> list[Path]:
    """The script of a study and all that it could import, in a fixed order."""
    script = HERE / f"{study}.py"
    found: set[Path] = set()
    waiting = [script] if script.exists() else []
    if waiting and study in WHOLE:
        waiting += SOURCE.rglob("*.py")
    while waiting:
        path = waiting.pop()
        if path not in found and _measured(path):
            found.add(path)
            waiting += imported(path)
    return sorted(found)


@cache
def imported(path: Path) -> tuple[Path, ...]:
    """The files of the project that a file could import, wherever in it; a package brings its `__init__`."""
    found: dict[Path, None] = {}
    for name in _read(path).names:
        files = list(_files(name))
        if "pkgutil" in _read(path).names and files and files[-1].name == "__init__.py":
            files += sorted(files[-1].parent.rglob("*.py"))
        found |= dict.fromkeys(files)
    return tuple(found)


def _files(name: str) -> Iterator[Path]:
    """The file of a module and of the packages around it; of a name in a module, that module."""
    first, *rest = name.split(".")
    roots = (HERE, SOURCE, HERE.parent)  # in this order, as Python searches when a script runs
    place = next((root / first for root in roots if _file(root / first)), None)
    while place is not None and (file := _file(place)):
        yield file
        place = place / rest.pop(0) if rest else None


def _file(place: Path) -> Path | None:
    """The file of the package or the module of that name."""
    return next((file for file in (place / "__init__.py", place.with_suffix(".py")) if file.exists()), None)


@dataclass(frozen=True)
class _Text:
    """What is to be known about a file."""

    names: tuple[str, ...]
    """What it may import, in full."""
    does: str
    """A hash of its code without its docstrings."""


@cache
def _read(path: Path) -> _Text:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = tuple(dict.fromkeys(_names(tree, path.name == "__init__.py")))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [part for part in body if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))]
            node.body = kept  # type: ignore[attr-defined]
    return _Text(names, hashlib.sha256(ast.dump(tree).encode()).hexdigest())


def _names(tree: ast.Module, face: bool) -> Iterator[str]:
    """What a module may import, wherever in it; the face of a package names in strings what it loads later."""
    waiting: list[ast.AST] = [tree]
    lists = False
    texts: list[str] = []
    while waiting:
        node = waiting.pop()
        waiting += _run(node)
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
            lists = lists or any(alias.name == "pkgutil" for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute) and (dotted := _dotted(node)).startswith("tacit."):
            yield dotted
        elif isinstance(node, ast.Call) and _dotted(node.func).endswith("import_module"):
            yield from (str(each.value) for each in node.args[:1] if isinstance(each, ast.Constant))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("tacit."):
            texts.append(node.value)
    if face or lists:
        yield from (text for text in texts if all(part.isidentifier() for part in text.split(".")))


def _dotted(node: ast.AST) -> str:
    """A name with its attributes, as written; empty for anything else."""
    if isinstance(node, ast.Attribute):
        before = _dotted(node.value)
        return f"{before}.{node.attr}" if before else ""
    return node.id if isinstance(node, ast.Name) else ""


def _run(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node that are run: what stands below TYPE_CHECKING is for type checkers."""
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        yield from node.orelse
    else:
        yield from ast.iter_child_nodes(node)


def state(study: str, facts: Mapping[str, object]) -> str:
    """The word fresh, or why a study is not, or one of its parts; it takes the files as they are, and no history."""
    if not (HERE / f"{study}.py").exists():
        return "its script is gone"
    if isinstance(parts := facts.get("parts"), dict):
        found = {name: state(study, part) for name, part in parts.items()}
        return next((f"{name}: {what}" for name, what in found.items() if what != "fresh"), "fresh")
    stored, names = facts.get("code"), facts.get("loaded")
    if not stored:
        return UNKNOWN
    today = fingerprint(study, [str(name) for name in names] if isinstance(names, list) else None)
    return "fresh" if stored == today else "its code has changed since"
