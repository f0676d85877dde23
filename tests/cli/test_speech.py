"""How the command line speaks to people and to programs."""

import os
import subprocess
import sys

import pytest

from tacit.cli import speech
from tests.cli.terminals import watched

SLOW = """
import sys, time
from tacit.cli import speech
speech.PATIENCE = 0.05
speech.QUIET.set("--quiet" in sys.argv)
with speech.working("thinking"):
    time.sleep(float(sys.argv[1]))
print("done")
"""


def shown(*arguments: str) -> str:
    """What such a command writes to a terminal on stderr."""
    code, out, err = watched([sys.executable, "-c", SLOW, *arguments], environment={**os.environ, "TERM": "xterm"})
    assert (code, out) == (0, "done\n")
    return err


def test_progress_is_shown_where_somebody_waits() -> None:
    assert "thinking" in shown("0.6")
    assert shown("0.0") == ""
    assert shown("0.3", "--quiet") == ""


def test_both_terminals_are_read_while_the_other_is_written() -> None:
    """More than a terminal holds on either of them would wait for ever where one is read after the other."""
    much = "import sys\nfor _ in range(400):\n    print('x' * 99)\n    print('y' * 99, file=sys.stderr)"
    code, out, err = watched([sys.executable, "-c", much], columns=200)
    assert (code, out.count("x"), err.count("y")) == (0, 39_600, 39_600)


def test_no_progress_where_nobody_watches() -> None:
    done = subprocess.run([sys.executable, "-c", SLOW, "0.3"], capture_output=True, text=True, timeout=200, check=True)
    assert (done.stdout, done.stderr) == ("done\n", "")


def test_an_error_passes_through_and_ends_the_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with pytest.raises(ZeroDivisionError), speech.working("thinking"):
        _ = 1 / 0


def test_lines_are_broken_at_spaces_and_keep_their_margin() -> None:
    text = "one two three\n\n  four five six seven"
    assert speech.fit_lines(text, 10) == "one two\nthree\n\n  four\n  five six\n  seven"
    assert speech.fit_lines("unbreakableword", 5) == "unbreakableword"
    assert speech.fit_lines("a b", 80, "   ") == "   a b"


def test_a_table_is_broken_between_its_columns() -> None:
    row = "  mean       28.7956  17.0693 to 40.5218"
    assert speech.fit_lines(row, 40) == row
    assert speech.fit_lines(row, 30) == "  mean       28.7956\n      17.0693 to 40.5218"
    assert speech.fit_lines(row, 19) == "  mean\n      28.7956\n      17.0693 to\n      40.5218"
    assert speech.fit_lines("checked     one two three", 20, hanging=12) == "checked     one two\n            three"
