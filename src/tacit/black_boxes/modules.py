"""The source of a function's own modules: all that a confined call may read beside installed software.

A function is sent by name or by value; either way it may need modules from the path that are not installed packages,
such as the script's neighbours. They are found without running anything: every text in the pickled function that names
such a module, and every import written in one that was found, is followed. Only Python source and compiled extensions
are taken, so that data beside them stay out of reach. What is imported in another way is not found, and the call fails.
"""

from __future__ import annotations

import ast
import os
import pickletools
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.machinery import EXTENSION_SUFFIXES, SOURCE_SUFFIXES, ModuleSpec, PathFinder
from pathlib import Path

MOST = 2_000
"""The most files that are taken."""


def list_needed(function: bytes, path: Sequence[str]) -> dict[str, bytes]:
    """The files, by their names, that a pickled function may import from a path."""
    there = {entry.partition(".")[0] for each in path if os.path.isdir(each) for entry in os.listdir(each)}
    found: dict[str, bytes] = {}
    seen: set[str] = set()
    waiting = list(_texts(function))
    while waiting and len(found) < MOST:
        name = waiting.pop()
        for each in _parents(name) if name.partition(".")[0] in there else ():
            if each in seen:
                continue
            seen.add(each)
            for file in _files(each, path):
                with suppress(OSError):
                    found[str(file)] = file.read_bytes()
                    waiting += _imports(found[str(file)], each, file.stem == "__init__")
    return found


def _texts(function: bytes) -> Iterator[str]:
    """Every text in a pickle that could name a module."""
    with suppress(Exception):
        for code, argument, _ in pickletools.genops(function):
            if isinstance(argument, str) and len(argument) < 200:
                yield from argument.split() if code.name == "GLOBAL" else (argument,)


def _parents(name: str) -> Iterator[str]:
    parts = name.split(".")
    if all(part.isidentifier() for part in parts):
        for count in range(1, len(parts) + 1):
            yield ".".join(parts[:count])


def _spec(name: str, path: Sequence[str]) -> ModuleSpec | None:
    """Where a module is, its parents looked up but not imported."""
    found, places, full = None, list(path), ""
    for part in name.split("."):
        full = f"{full}.{part}" if full else part
        found = PathFinder.find_spec(full, places)
        places = list((found and found.submodule_search_locations) or [])
        if found is None:
            return None
    return found


def _files(name: str, path: Sequence[str]) -> list[Path]:
    with suppress(Exception):
        spec = _spec(name, path)
        if spec is not None and spec.origin and spec.origin.endswith((*SOURCE_SUFFIXES, *EXTENSION_SUFFIXES)):
            return [Path(spec.origin)]
    return []


def _imports(source: bytes, module: str, package: bool) -> Iterator[str]:
    """The names that a module's imports mention, those of modules and those of what is taken from them."""
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                parts = module.split(".")
                kept = len(parts) - node.level + package
                home = [*(parts[: max(kept, 0)] if node.level else []), *([node.module] if node.module else [])]
                yield ".".join(home)
                yield from (".".join([*home, alias.name]) for alias in node.names)
