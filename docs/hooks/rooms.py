"""The reference of a room: every public name, by the module it stands in.

A page of the reference says ``<!-- all of tacit.mechanisms -->`` where the names of a room shall stand; those that a
page of the reference names itself are left out. A name is looked up where the room imports it from: a function that is
called as its module is (`tacit.mechanisms.exponential`) would otherwise be taken for that module, and vanish. Its
heading is the name that people import: `tacit.Session`.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

REFERENCE = Path(__file__).parents[1] / "reference"
WANTED = re.compile(r"^<!-- all of (\S+) -->$", re.MULTILINE)
ROOMS = (
    "tacit",
    "tacit.mechanisms",
    "tacit.guarantees",
    "tacit.budgets",
    "tacit.curves",
    "tacit.black_boxes",
    "tacit.functions",
    "tacit.grids",
    "tacit.plots",
    "tacit.answers",
    "tacit.ledger",
    "tacit.tables",
    "tacit.noises",
    "tacit.proofs",
)
"""The rooms whose public names the reference has."""


@cache
def homes(room: str) -> dict[str, str]:
    """Each public name of a room, with the module that it is imported from, or the room itself."""
    spec = find_spec(room)
    assert spec is not None
    assert spec.origin is not None
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    imported = {
        alias.asname or alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    own = {node.name: room for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    listed = next((_names(node) for node in tree.body if _names(node) is not None), None)
    names = [name for name in own if not name.startswith("_")] if listed is None else listed
    public = [name for name in names if not name.startswith("_")]
    return {name: _deepest(imported[name], name) if name in imported else room for name in public}


def _names(node: ast.stmt) -> list[str] | None:
    """What __all__ is, where a statement says so."""
    if isinstance(node, ast.Assign) and any(isinstance(to, ast.Name) and to.id == "__all__" for to in node.targets):
        return [str(name) for name in ast.literal_eval(node.value)]
    return None


def _deepest(module: str, name: str) -> str:
    """The module that defines a name, where a room imports it from another room."""
    return homes(module).get(name, module) if module in ROOMS else module


def told() -> set[str]:
    """What pages of the reference name themselves."""
    pages = (page.read_text(encoding="utf-8") for page in REFERENCE.glob("*.md"))
    return {name for page in pages for name in re.findall(r"^::: (\S+)", page, re.MULTILINE)}


def filled(markdown: str) -> str:
    """A page with the names of its rooms in their places."""
    known = told()

    def names(found: re.Match[str]) -> str:
        lines = [
            f"::: {home}.{name}"
            for name, home in homes(found[1]).items()
            if home not in known and not {f"{home}.{name}", f"{found[1]}.{name}"} & known
        ]
        return "\n\n".join(lines)

    return NAMED.sub(_headed, WANTED.sub(names, markdown))


NAMED = re.compile(r"^::: (\S+)(\n    options:)?$", re.MULTILINE)


def _headed(found: re.Match[str]) -> str:
    """A name under the heading by which it is imported; what no room exports keeps its own."""
    owner, _, member = found[1].rpartition(".")
    public = imports().get(found[1]) or (f"{imports()[owner]}.{member}" if owner in imports() else None)
    if public is None:
        return found[0]
    return f"::: {found[1]}\n    options:\n      heading: {public}\n      toc_label: {public.rpartition('.')[2]}"


@cache
def imports() -> dict[str, str]:
    """Where each public name is, with the name by which it is imported: that of the first room that has it."""
    return {f"{home}.{name}": f"{room}.{name}" for room in reversed(ROOMS) for name, home in homes(room).items()}
