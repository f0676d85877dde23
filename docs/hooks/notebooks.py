"""Tutorials as Markdown: the cells of a script, run in order, each with what it printed, returned and drew.

A tutorial is a plain Python file in the percent format, which notebooks open too: ``# %% [markdown]`` begins words and
``# %%`` code.
"""

from __future__ import annotations

import ast
import contextlib
import html
import io
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MARK = re.compile(r"^# %%(.*)\n", re.MULTILINE)


def cells(text: str) -> Iterator[tuple[str, str]]:
    """The kind of each cell, "words" or "code", and what it says; what stands before the first is for notebooks."""
    _, *parts = MARK.split(text)
    for title, body in zip(parts[::2], parts[1::2], strict=True):
        if "[markdown]" in title:
            yield "words", "\n".join(line.removeprefix("#").removeprefix(" ") for line in body.strip().splitlines())
        else:
            yield "code", body.strip()


def markdown(path: Path, *, run: bool = True) -> tuple[str, dict[str, bytes]]:
    """A tutorial as Markdown, and its pictures by name."""
    space: dict[str, Any] = {"__name__": "tutorial", "__file__": str(path)}
    parts: list[str] = []
    pictures: dict[str, bytes] = {}
    whole = path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder, _inside(folder):
        for kind, text in cells(whole):
            if kind == "words":
                parts.append(text)
                continue
            parts.append(f"```python\n{text}\n```")
            if run:
                printed, value = _run(text, space, path)
                parts += _shown(printed, value, path.stem, pictures)
    return "\n\n".join(parts) + "\n", pictures


@contextlib.contextmanager
def _inside(folder: str) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _run(code: str, space: dict[str, Any], path: Path) -> tuple[str, Any]:
    """Run a cell; what it printed, and the value of its last line where that is an expression."""
    tree = ast.parse(code, str(path))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(tree, str(path), "exec"), space)
        value = None if last is None else eval(compile(ast.Expression(last.value), str(path), "eval"), space)
    return out.getvalue(), value


def _shown(printed: str, value: Any, name: str, pictures: dict[str, bytes]) -> Iterator[str]:
    if printed.strip():
        yield _output(printed)
    if value is None:
        return
    if hasattr(value, "savefig"):
        out = io.BytesIO()
        value.savefig(out, format="png", dpi=110)
        picture = f"{name}-{len(pictures) + 1}.png"
        pictures[picture] = out.getvalue()
        yield f"![What the cell draws]({picture}){{ .drawn }}"
    else:
        yield _output(repr(value))


def _output(text: str) -> str:
    """What a cell gave, told apart from code by its class; no line of it is empty, or the block would end."""
    lines = html.escape(text.rstrip("\n"), quote=False).replace("\n\n", "\n&#8203;\n")
    return f'<pre class="output"><code>{lines}</code></pre>'
