"""A Python script that repeats somebody's questions: at no cost while the ledger remembers the answers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from tacit.guarantees import Approx, Guarantee, Pure, Zcdp
from tacit.ledger import texts
from tacit.serve.history import Line
from tacit.tables.plans import split


def script(address: str, dataset: str, lines: Sequence[Line]) -> str:
    """The questions, each once; aggregates that were asked together are one question again."""
    asked: dict[tuple[str, str], None] = {}
    for (_, text, cost), group in groupby(lines, key=lambda line: (line.request or line.number, line.text, line.cost)):
        whole = split(texts.guarantee(cost), 1, len(list(group)))
        if text:
            asked[text, _written(whole)] = None
    calls = [f"print(session.sql({text!r}, {cost}))" for text, cost in asked]
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


def _written(cost: Guarantee) -> str:
    match cost:
        case Pure(epsilon):
            return f'epsilon="{epsilon}"'
        case Approx(epsilon, delta):
            return f'epsilon="{epsilon}", delta="{delta}"'
        case Zcdp(rho):
            return f'rho="{rho}"'
    raise TypeError(type(cost).__name__)
