"""What a gateway reports about an answer is plain JSON, and its client reads the same answer from it."""

import json
from fractions import Fraction
from math import inf, nan
from typing import Any

import pytest

from tacit import Answer, Answers, Pure
from tacit.answers.sending import read_report, report
from tacit.answers.spreads import Additive
from tacit.noises import DiscreteLaplace

ONE = Answer("sum of x", 5, Pure("0.5"), "noise", "anyone", spread=Additive(DiscreteLaplace(Fraction(1, 2))))


def sent(answer: Answer | Answers) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(report(answer), allow_nan=False))
    return found


def test_an_answer_is_reported_whole() -> None:
    facts = sent(ONE)
    assert list(facts) == ["answer", "words", "warning", "cost", "stored", "whole", "certificate"]
    assert (facts["words"], facts["cost"], facts["stored"]) == (str(ONE), "Pure 1/2", False)
    assert facts["answer"]["interval"]["covers"] == "truth"
    assert read_report(facts) == ONE
    assert facts["warning"] is None
    earlier = sent(ONE.as_stored())
    assert earlier["stored"]
    assert "ask anew" in earlier["warning"]


def test_several_answers_are_reported_whole() -> None:
    several = Answers({"a": ONE, "b": ONE.as_stored()}, Pure("0.5"), "x")
    facts = sent(several)
    assert not facts["stored"]
    again = read_report(facts)
    assert isinstance(again, Answers)
    assert dict(again) == dict(several)
    assert sent(several.as_stored())["stored"]


@pytest.mark.parametrize("value", [inf, -inf, nan])
def test_numbers_that_json_cannot_hold_are_null(value: float) -> None:
    assert sent(Answer("x", value, Pure(1), "noise", "anyone"))["answer"]["value"] is None
