"""Spark executors that are lost: the same answer where Spark finds another, else one sentence and the charge stays."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.spark import needed

pytestmark = needed


def test_executors_that_are_killed(tmp_path: Path) -> None:
    """In a process of its own, for a process can have one Spark only; the persons' names are to be seen nowhere."""
    program = [sys.executable, "-m", "tests.engines.executors", str(tmp_path)]
    ran = subprocess.run(program, capture_output=True, text=True, timeout=600)
    assert ran.stdout.split() == ["replaced", "lost", "refunded"], ran.stderr[-2000:]
    assert "secret" not in ran.stderr
