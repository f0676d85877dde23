"""Answers for other programs: what a gateway sends about an answer, and how Tacit's own client reads it.

`Answer.to_dict` is for everybody: plain values whose names and order are public. `report` has these, the answer in
words, and the answer whole, as `tacit.answers.storing` writes it, from which intervals of any confidence follow.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.answers import Answer
from tacit.answers.several import Answers, told, warned
from tacit.answers.storing import decode_answer, encode


def report(answer: Answer | Answers) -> dict[str, Any]:
    """An answer as plain values, as a sentence, and whole, with its certificate where it has one."""
    return {
        "answer": answer.to_dict(),
        "words": told(answer, "json"),
        "warning": warned(answer, "json"),
        "cost": answer.guarantee.text(),
        "stored": answer.stored,
        "whole": encode(answer),
        "certificate": answer.certificate() if answer.releases else None,
    }


def read_report(facts: Mapping[str, Any]) -> Answer | Answers:
    """The answer that was reported."""
    return decode_answer(facts["whole"])
