"""A function's own modules are found without being run, and nothing beside them is taken."""

import pickle
from pathlib import Path

import pytest

from tacit.black_boxes.modules import list_needed


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A study with neighbours; every module would fail if it were run."""
    (tmp_path / "study.py").write_text("from shared.tools import trimmed\nimport numpy\nraise AssertionError")
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "__init__.py").write_text("")
    (tmp_path / "shared" / "tools.py").write_text("from . import deeper\nfrom .deeper import more")
    (tmp_path / "shared" / "deeper.py").write_text("def late():\n    import lazy.part")
    (tmp_path / "lazy").mkdir()  # a package without __init__
    (tmp_path / "lazy" / "part.py").write_text("this is no Python")
    (tmp_path / "other.py").write_text("")
    (tmp_path / "private.csv").write_text("13")
    return tmp_path


def named(function: bytes, place: Path) -> set[str]:
    found = list_needed(function, [str(place), "/nowhere"])
    return {str(Path(name).relative_to(place)) for name in found}


@pytest.mark.parametrize("protocol", range(5))
def test_imports_are_followed(place: Path, protocol: int) -> None:
    reference = {0: b"cstudy\nf\n."}.get(protocol) or pickle.dumps(["study", "f", "private.csv"], protocol)
    expected = {"study.py", "shared/__init__.py", "shared/tools.py", "shared/deeper.py", "lazy/part.py"}
    assert named(reference, place) == expected


def test_nothing_else_is_taken(place: Path) -> None:
    assert named(pickle.dumps([len, "private", "private.csv", "numpy", "../study", ""]), place) == set()
    assert named(b"no pickle", place) == set()
