"""What the answers to functions share: a function with the public facts of its release."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from tacit.black_boxes.processes import Workers
from tacit.black_boxes.records import Frames
from tacit.mechanisms.law import Law
from tacit.tables.statistics.base import Statistic

T = TypeVar("T")
Draw = Callable[[Law[T]], T]
"""How a law is drawn from, and charged where that is due."""


@dataclass(frozen=True, kw_only=True)
class PrivateFunction(Statistic):
    """A function of records with the public facts of its release."""

    name: str
    trusted: bool
    frames: Frames | None
    """How a table's rows become records; None for a list or a mapping."""
    nonce: str
    workers: Workers | None = field(default=None, repr=False)
    per = "person"
    told_by = ("nonce",)  # nothing tells whether two functions are the same
