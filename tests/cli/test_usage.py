"""What commands show in --help."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tacit.cli.app import _command, run

TYPES = re.compile(r"<[a-z]|list\[|EPSILON|\w\.\.\.$", re.MULTILINE)
"""Types of Python, and sentences that were cut off."""


def _paths(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    for name, inner in getattr(command, "commands", {}).items():
        yield from _paths(inner, (*path, name))


@pytest.mark.parametrize("columns", [40, 80])
def test_help_names_no_types_cuts_nothing_off_and_fits(
    columns: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for path in _paths(_command("")):
        assert run((*path, "--help")) == 0
        out = capfd.readouterr().out
        shown = "\n".join(line for line in out.splitlines() if not line.startswith("Usage: ") and "SOURCE" not in line)
        assert TYPES.findall(shown) == [], path
        wide = [line for line in out.splitlines() if len(line) > columns]
        assert [
            line for line in wide if not line.startswith(("    ", "Usage: "))
        ] == []  # but for examples, to be copied
