"""Charge first, then look at the data: the one order in which an answer is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tacit.answers import Answer, Answers
from tacit.answers.storing import encode
from tacit.budgets import Budget, Question
from tacit.engines import FAILED
from tacit.errors import EngineError
from tacit.guarantees import Guarantee


def charged(
    budget: Budget, cost: Guarantee, question: Question, release: Callable[[], Answer | Answers]
) -> Answer | Answers:
    """What ``release`` returns, once the budget has paid; whatever it raises becomes one sentence without a trace."""
    receipt = budget.charge(cost, question)
    released: Answer | Answers | None = None
    kept: Mapping[str, Any] | None = None
    try:
        released = release()
        kept = encode(released)
    except Exception:
        released = None  # what went wrong may show rows; not even as a context does it leave this block
    finally:
        budget.settle(receipt, kept)
    if released is None:
        raise EngineError(FAILED)
    return released
