"""A Python script that repeats somebody's questions: at no cost while the ledger remembers the answers.

The ledger keeps the text of a question, not its keys; those of a grouped answer are in the answer itself. Only where δ
was paid may they have been found in the data: such a line, and one with keys that a script cannot write, stays a
remark, because it might ask something else and be charged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from tacit.answers import Answer, Answers
from tacit.guarantees import Approx, Guarantee
from tacit.ledger import texts
from tacit.serve.history import Line


def script(
    address: str, dataset: str, lines: Sequence[Line], released: Callable[[Line], Answer | Answers | None]
) -> str:
    """The questions, each once; aggregates that were asked together are one question again."""
    calls: dict[str, None] = {}
    for _, group in groupby(lines, key=lambda line: (line.request or line.number, line.text, line.cost)):
        together = list(group)
        calls[_call(together[0], len(together), released)] = None
    return "\n".join(
        [
            '"""Questions asked before; the same question at the same cost is answered again at no cost."""',
            "",
            "import os",
            "",
            "import tacit",
            "",
            f"session = tacit.connect({address!r}, dataset={dataset!r}, token=os.environ['TACIT_TOKEN'])",
            *calls,
            "",
        ]
    )


def _call(line: Line, times: int, released: Callable[[Line], Answer | Answers | None]) -> str:
    cost = texts.guarantee(line.cost) * times
    keys = ""
    sure = bool(line.text)
    if "group by" in " ".join(line.text.lower().split()):
        found = released(line)
        sure = sure and isinstance(found, Answers) and not isinstance(cost, Approx) and all(map(_plain, found))
        keys = f"keys={list(found)!r}, " if sure and isinstance(found, Answers) else ""
    call = f"print(session.sql({line.text!r}, {keys}{_written(cost)}))"
    return call if sure else f"# {call}  # check the keys: another question would be charged"


def _plain(key: Any) -> bool:
    if isinstance(key, tuple):
        return all(map(_plain, key))
    return key is None or isinstance(key, str | int | float)


def _written(cost: Guarantee) -> str:
    return ", ".join(f'{name}="{number}"' for name, number in cost.keywords().items())
