"""Python that repeats questions at no cost: a script, or a notebook, of calls whose answers the ledger remembers.

Only what was found again (`tacit.serve.repeating`) becomes a call. A line that was not, or whose keys a script cannot
write, stays a remark, because it might ask something else and be charged.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tacit.serve.repeating import Past

HEAD = '"""Questions asked before; the same question at the same cost is answered again at no cost."""'


def script(address: str, dataset: str, asked: Sequence[Past]) -> str:
    """The questions as a Python file, each once."""
    calls = dict.fromkeys(f"print({call})" if sure else f"# {call}  # {WARNING}" for call, sure in map(_call, asked))
    return "\n".join([HEAD, "", *_opening(address, dataset), *calls, ""])


def notebook(address: str, dataset: str, asked: Sequence[Past]) -> str:
    """The questions as a Jupyter notebook, a cell for each."""
    cells = [_cell("markdown", [f"# Questions about {dataset}", "", *HEAD.strip('"').splitlines()])]
    cells.append(_cell("code", _opening(address, dataset)))
    for call, sure in dict.fromkeys(map(_call, asked)):
        cells.append(_cell("code", [call if sure else f"# {call}  # {WARNING}"]))
    facts = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return json.dumps({"cells": cells, "metadata": facts, "nbformat": 4, "nbformat_minor": 4}, indent=1) + "\n"


WARNING = "check it: another question would be charged"


def _opening(address: str, dataset: str) -> list[str]:
    return [
        "import os",
        "",
        "import tacit",
        "",
        f"session = tacit.connect({address!r}, dataset={dataset!r}, token=os.environ['TACIT_TOKEN'])",
    ]


def _cell(kind: str, lines: Sequence[str]) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": [f"{line}\n" for line in lines[:-1]]}
    cell["source"].append(lines[-1])
    return cell if kind == "markdown" else cell | {"execution_count": None, "outputs": []}


def _call(asked: Past) -> tuple[str, bool]:
    """The call, and whether it surely asks the same."""
    sure = asked.repeats and (asked.keys is None or all(map(_plain, asked.keys)))
    keys = [f"keys={list(asked.keys)!r}"] if sure and asked.keys is not None else []
    amounts = [f'{name}="{number}"' for name, number in asked.amounts.items()]
    return f"session.sql({', '.join([repr(asked.text), *keys, *amounts])})", sure


def _plain(key: Any) -> bool:
    if isinstance(key, tuple):
        return all(map(_plain, key))
    return key is None or isinstance(key, str | int | float)
