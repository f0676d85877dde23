"""The SQL of functions, by subject: for each `NamedCall` one writer, the same for all engines.

A writer gets the terms that are being made and the call, gives names to what it uses more than once, and asks the
dialect for the few things that engines spell differently. What it writes may not fail on any row, also where an engine
computes more than the branch of a CASE that is needed: what goes into a function is put inside its range first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tacit.engines.calls import casts, dates, logarithms, numbers, texts
from tacit.engines.term import Term

WRITTEN: Mapping[str, Callable[[Any, Any], Term]] = {
    **numbers.WRITTEN,
    **logarithms.WRITTEN,
    **texts.WRITTEN,
    **dates.WRITTEN,
    **casts.WRITTEN,
}
"""Writers by the function's name; a function without one is called by its name."""
