"""Attacks by the clock: with padding, nothing an analyst is told says when the work on their question ended.

A question naps after its first charge, as one that looks at many rows would. The answer, the history, files of it and
whatever is asked meanwhile must tell the times of one that does not.
"""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

import httpx
import pytest

from tests.serve.conftest import ada, nobody  # noqa: F401

ASK, ONE = "/v1/datasets/visits/ask", "/v1/datasets/visits"
TWO = "SELECT COUNT(*), SUM(minutes) FROM visits -- nap, paid"
PADDING = 4.0
PADDED = {"extra": f"[limits]\npadding_seconds = {PADDING}\nfailures = 50"}
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.0-9]*(?:\+00:00|Z)?")


def times(text: str) -> set[datetime]:
    """Every time in a response, to the second where it says no more."""
    return {datetime.fromisoformat(found.replace("Z", "+00:00")) for found in _TIME.findall(text)}


@pytest.mark.parametrize("key", ["", "monday"])
def test_an_answer_tells_the_time_of_the_question_alone(ada: httpx.Client, key: str) -> None:  # noqa: F811
    """Each of its releases is charged and answered a second after the one before; all say when they were asked."""
    headers = {"Idempotency-Key": key} if key else {}
    answer = ada.post(ASK, json={"sql": TWO, "epsilon": "0.5"}, headers=headers)
    assert answer.status_code == 200
    (asked,) = times(answer.text)
    lines: list[Any] = ada.get(f"{ONE}/history").json()["questions"]
    assert len(lines) == 2
    assert len({line["at"] for line in lines}) == 1  # the second was charged when the first had been answered
    for line in lines:
        found = ada.get(f"{ONE}/answers/{line['number']}").text
        assert times(found) == {asked, datetime.fromisoformat(lines[0]["at"].replace("Z", "+00:00"))}


@pytest.mark.parametrize("nobody", [PADDED], indirect=True)
def test_what_is_looked_at_meanwhile_waits_for_the_padding(ada: httpx.Client) -> None:  # noqa: F811
    """While a question naps, its owner looks at the budget, the history and a preview of the same; and asks another."""
    question = {"sql": TWO, "epsilon": "0.5"}
    begun = time.monotonic()

    def sent(method: str, path: str, body: Any = None) -> float:
        response = ada.request(method, path, json=body)
        assert response.status_code == 200, response.text
        return time.monotonic() - begun

    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(sent, "POST", ASK, question)
        while " 0\n# HELP tacit_questions_waiting" in ada.get("/metrics").text:
            assert time.monotonic() - begun < 200
        looks = [
            pool.submit(sent, *look)
            for look in (
                ("GET", f"{ONE}/budget"),
                ("GET", f"{ONE}/history"),
                ("POST", f"{ONE}/cost", question),
            )
        ]
        counted = ada.get("/metrics").text
        assert first.result(200) >= PADDING
        assert min(look.result(200) for look in looks) >= PADDING - 0.5  # the place, not the clock of this test
    assert 'outcome="answered"' not in counted
    assert 'outcome="answered"} 1' in ada.get("/metrics").text
