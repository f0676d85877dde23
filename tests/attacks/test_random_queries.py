"""Random SQL under limits of time and memory: a cost or a `TacitError` comes, nothing else, and soon.

150 queries are planned here, 10^5 by `benchmarks/attacks.py`; each has a second of processor time and 512 MB.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.attacks import odd_sql

QUERIES = 150


def test_every_query_is_planned_or_refused_soon() -> None:
    done = odd_sql.attack(18, QUERIES)
    assert done.failures == []
    assert done.queries == done.planned + done.refused == QUERIES
    assert done.planned > QUERIES / 20
    assert done.refused > QUERIES / 4


def unbounded() -> Callable[[str, str], object]:
    """A planner without bounds: it computes every number it is given, and takes some time for what is long."""
    from tacit import TacitError

    def plan(text: str, epsilon: str) -> object:
        if text == "SELECT COUNT(*) FROM t":
            return None
        if "QUANTILE" in text and len(text) > 1000:
            while True:
                pass
        if text.count("9") > 900:
            return [0] * 10**9
        if "GROUP BY" in text:
            return int(text.rpartition("GROUP BY")[2])
        raise TacitError

    return plan


def test_planted_faults_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planner that never ends, that takes all memory, and whose errors are Python's."""
    monkeypatch.setattr(odd_sql, "LATE", 3.0)
    done = odd_sql.attack(18, 300, "tests.attacks.test_random_queries")
    kinds = {failure.partition(":")[0] for failure in done.failures}
    assert {"no end", "MemoryError", "ValueError"} <= kinds
    assert done.queries == 300


if __name__ == "__main__":
    odd_sql.main(unbounded)
