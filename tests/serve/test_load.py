"""Many analysts at once, and workers that are killed: nothing overspent, nothing lost, no server error."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.serve.load import crowd, hammer, kill, settled
from tests.serve.support import serving

pytestmark = pytest.mark.timeout(900)  # on a busy machine


def test_fifty_analysts_at_once(tmp_path: Path) -> None:
    path, tokens = crowd(tmp_path, 50, total="0.5", limit="0.2", workers=1, seconds=100)
    with serving(str(path), tokens=tokens) as served:
        seen = hammer(served, seconds=400, most=120)
    found = settled(tmp_path, seen)
    assert set(seen.statuses) == {200, 403}  # the budget lasts for about the first sixty, and then refuses
    assert found == {"questions": len(seen.answered), "answered": len(seen.answered)}


def test_workers_that_are_killed_leave_a_sound_ledger(tmp_path: Path) -> None:
    path, tokens = crowd(tmp_path, 3, total="100", limit="50", workers=2, seconds=15)
    with serving(str(path), tokens=tokens) as served:
        seen = hammer(served, seconds=400, most=36, meanwhile=lambda seen: kill(served, seen, 2, 8))
    found = settled(tmp_path, seen)
    assert set(seen.statuses) <= {200, 409, 503}  # 409: charged, and lost twice
    assert seen.statuses[503] <= found.get("failed", 0)  # a busy machine may let a question run out of time
    assert found["answered"] >= seen.statuses[200]
    assert seen.broken
