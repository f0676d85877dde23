"""All proofs, gathered from the files of the mechanisms they stand beside, and their common fingerprint."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from hashlib import sha256

from tacit.proofs.proof import Proof

HOMES = ("tacit.noises", "tacit.guarantees", "tacit.mechanisms")
"""The packages whose modules may have a tuple named PROOFS."""


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
    """A hash of everything that all proofs assume and claim; it needs no solver, and changes when a proof does.

    Example:
        >>> from tacit.proofs import fingerprint
        >>> len(fingerprint())
        64
    """
    return sha256("\n".join(sorted(proof.fingerprint for proof in proofs())).encode()).hexdigest()
