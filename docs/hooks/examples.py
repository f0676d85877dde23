"""Examples of docstrings are shown as code: the lines from the first ``>>>`` on are a section of their own."""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^>>> .*", flags=re.MULTILINE | re.DOTALL)


class Examples(griffe.Extension):
    """Puts a heading, which docstrings do without, before their examples."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Mark the examples of one docstring."""
        if obj.docstring is not None:
            obj.docstring.value = _EXAMPLE.sub(_section, obj.docstring.value)


def _section(example: re.Match[str]) -> str:
    return "Examples:\n" + "\n".join(f"    {line}".rstrip() for line in example[0].splitlines())
