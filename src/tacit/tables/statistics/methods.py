"""The names that ``method=`` takes: each statistic has a table of them, and one sentence refuses all others."""

from __future__ import annotations

from collections.abc import Mapping

from tacit.errors import InvalidInput

Methods = Mapping[str, str]
"""Names, each with what it means."""

SHARED_ROWS: Methods = {
    "exponential": "a cap chosen by weights, the default of counts",
    "scan": "a cap chosen by a scan, the default of sums",
    "shifted_inverse": "a value that the statistic falls to without a few persons, and no cap",
}
"""How a flow is released where a row may concern several persons (`tacit.tables.statistics.ways.shared_rows`)."""


def check_method(method: str | None, methods: Methods, hint: str = "") -> None:
    """Refuse a method that a statistic does not have; None stands for its default."""
    if method is not None and method not in methods:
        raise InvalidInput(f"method must be one of {', '.join(methods)}; {hint or 'leave it out for the default'}.")
