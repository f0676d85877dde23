"""How far off the answers to a question will be, said before it is paid for.

PROMISE. Nothing here reads private data: a forecast is made of the question, of made-up persons, and of their number,
which the caller names, the configuration states, or the caller was told in an answer that was paid for; of more than
`MOST_PERSONS` that many are made up.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from tacit.answers import Answer
from tacit.forecasts import SHAPES
from tacit.numbers.exact import check_listed
from tacit.serve.gateway import MOST_PERSONS, Gateway
from tacit.serve.questions import SentQuestion
from tacit.serve.tokens import Caller
from tacit.tables.statistics.persons import PersonCount

_ALL_PERSONS = re.compile(r'\s*select\s+count\(\s*distinct\s+"?\w+"?\s*\)\s+from\s+"?\w+"?\s*;?\s*', re.IGNORECASE)
_HINT = ("persons=10000", "as “persons”")
"""What a forecast wants to be told, in Python and on a page or over HTTP."""


def expected(
    gateway: Gateway, caller: Caller, name: str, question: SentQuestion, persons: int | None, shape: str
) -> dict[str, Any]:
    """The error to expect of each aggregate."""
    check_listed(shape, "shape", SHAPES)
    parts = gateway.understood(caller, name, question).preview(question.fresh).parts
    count = persons or gateway.config.datasets[name].persons or counted(gateway, caller, name)
    count = count and min(count, MOST_PERSONS)  # more of them only make errors smaller
    found = [part.expected_error(count, shape) for part in parts]
    found = [replace(each, words=each.words.replace(*_HINT)) for each in found]
    words = " ".join(map(str, found)) or "Only public tables are read: the answer is exact."
    return {"persons": count, "errors": list(map(vars, found)), "words": words}


def counted(gateway: Gateway, caller: Caller, name: str) -> int | None:
    """The number of persons that a caller was told last, where they asked for all of a table."""
    for line in reversed(gateway.history(caller, name)):
        if line.status == "answered" and _ALL_PERSONS.fullmatch(line.text):
            found = gateway.find_answer(name, line.outcome)
            if isinstance(found, Answer) and found.statistic == PersonCount().words and isinstance(found.value, int):
                return max(1, found.value)
    return None
