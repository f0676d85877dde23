"""Checks of Tacit's promises that anyone can run. Nothing in the library imports this room.

`check` verifies a function of your own on all small datasets.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.audit.claims import check

__all__ = ["check"]


def __getattr__(name: str) -> Any:
    if name == "check":
        return import_module("tacit.audit.claims").check
    raise AttributeError(f"module 'tacit.audit' has no attribute {name!r}")
