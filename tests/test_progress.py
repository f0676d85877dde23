"""What takes long says what it does, where somebody can see it, and nothing else."""

import io
import re
import time
from types import SimpleNamespace

import pytest

from tacit import progress
from tests.support import until


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    found = Terminal()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=found, modules={}))
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    monkeypatch.setattr(progress, "_EVERY", 0.02)
    return found


def shown(terminal: Terminal, text: str) -> None:
    """Wait until a text is on the screen."""
    until(lambda: text in terminal.getvalue())


def test_a_long_step_is_named_and_its_line_is_taken_away(terminal: Terminal) -> None:
    with progress.doing("reading rows"):
        shown(terminal, "reading rows")
        with progress.doing("choosing a cap"):
            shown(terminal, "choosing a cap")
    said = terminal.getvalue()
    assert re.search(r"Tacit: reading rows \(\d+ s\)", said)
    assert re.search(r"Tacit: choosing a cap \(\d+ s\)", said)
    assert said.endswith("\r\x1b[2K")
    assert not progress._shown._steps


def test_a_quick_step_and_a_pipe_show_nothing(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 30)
    with progress.doing("reading rows"):
        pass
    assert not terminal.getvalue()
    monkeypatch.setattr(progress, "PATIENCE", 0)
    pipe = io.StringIO()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=pipe, modules={}))
    with progress.doing("reading rows"):
        time.sleep(0.05)
    assert not pipe.getvalue()


def test_an_error_passes_through(terminal: Terminal) -> None:
    with pytest.raises(ZeroDivisionError), progress.doing("reading rows"):
        time.sleep(0.1 + 1 // 0)
    assert not progress._shown._steps


def test_nothing_is_shown_where_nothing_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with --quiet."""
    monkeypatch.setattr(progress, "_place", lambda: pytest.fail("a place was looked for"))
    token = progress.wanted.set(False)
    try:
        with progress.doing("thinking"):
            pass
    finally:
        progress.wanted.reset(token)
