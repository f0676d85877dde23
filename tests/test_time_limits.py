"""No test waits for ever, and one that would is the only one that fails."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent

HANGS = """
import subprocess, pytest
@pytest.mark.timeout(1)
def test_hangs():
    with subprocess.Popen(["sleep", "60"]):  # and waits for it at the end
        pass
@pytest.mark.parametrize("n", range(6))
def test_fine(n):
    pass
"""


def test_a_test_that_hangs_is_ended_and_the_others_run(tmp_path: Path) -> None:
    (tmp_path / "test_hanging.py").write_text(HANGS)
    command = [sys.executable, "-m", "pytest", "-n", "2", "-p", "tests.conftest", "-p", "no:cacheprovider"]
    settings = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path), str(tmp_path)]
    found = subprocess.run([*command, *settings], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert found.returncode == 1
    last = [line for line in found.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    assert len(last) == 1
    assert "test_hangs" in last[0]
    assert found.stdout.count(".") >= 6
