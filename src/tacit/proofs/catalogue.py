"""All proofs, gathered from the files of the mechanisms they stand beside, and their common fingerprint."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING

from tacit.proofs.proof import Proof

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

HOMES = ("tacit.noises", "tacit.guarantees", "tacit.mechanisms")
"""The packages whose modules may have a tuple named PROOFS."""
SOURCES = ("tacit.proofs", "tacit.answers", *HOMES)
"""The packages whose code builds the proofs: these, and what mechanisms make of what they drew."""


@cache
def proofs() -> tuple[Proof, ...]:
    """Every proof, by module name."""
    found: list[Proof] = []
    for home in HOMES:
        package = importlib.import_module(home)
        names = sorted(module.name for module in pkgutil.walk_packages(package.__path__, f"{home}."))
        for name in names:
            found += getattr(importlib.import_module(name), "PROOFS", ())
    return tuple(found)


@cache
def fingerprint() -> str:
    """A hash of the source of the kernel and of every package that may hold a proof or a part of one.

    It changes whenever a proof does, and also when code beside one does. It takes a few milliseconds, once in a
    process: nothing is imported, and no solver is asked.

    Example:
        >>> from tacit.proofs import fingerprint
        >>> len(fingerprint())
        64
    """
    from importlib.resources import files  # whoever imports Tacit need not wait for it

    return hashed(files("tacit"))


def hashed(root: Traversable) -> str:
    """The fingerprint of the proofs in one folder of Tacit's source, whatever ends its lines."""
    found = sha256()
    for package in SOURCES:
        for name, source in _sources(root.joinpath(package.removeprefix("tacit.")), package):
            found.update(f"{name} {len(source)}\n{source}".encode())
    return found.hexdigest()


def _sources(folder: Traversable, name: str) -> Iterator[tuple[str, str]]:
    """Every module below, with its text, in an order that does not depend on the machine."""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".py"):
            yield f"{name}.{entry.name}", entry.read_text(encoding="utf-8")
        elif entry.is_dir():
            yield from _sources(entry, f"{name}.{entry.name}")
