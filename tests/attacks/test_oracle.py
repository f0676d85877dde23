"""Reading secret bits through failures: what an analyst gets who makes a question fail exactly if a bit is set.

The rules: a question costs at least a ten-thousandth of the budget, and after three questions that failed once they
were charged an analyst is refused until the custodian renews the allowance. So of n questions at most three can say
"failed", and what failures tell is at most log2(Σ_{k≤3} C(n, k)) bits: below 38 for the 10^4 questions that a whole
budget affords, where it was one bit for each question, at any price.
"""

from __future__ import annotations

import asyncio
import json
from math import comb, log2
from pathlib import Path
from random import Random

from tacit.ledger import open_ledger
from tacit.serve.app import application
from tacit.serve.config import load
from tests.attacks.odd_http import ASK, App, Sent, _send, _started
from tests.serve.support import configuration, token

FAILS = "SELECT COUNT(*) FROM visits AS a JOIN visits AS b ON a.place = b.place"
ANSWERS = "SELECT COUNT(*) FROM visits"
FAILURES = 3
LIMITS = "[limits]\nper_minute = 1000000\nrows = 1000"
"""A self join of 600 rows on two places has 180,000 rows, and fails."""


async def asked(app: App, sql: str, epsilon: str) -> int:
    headers = ((b"authorization", f"Bearer {token('ada')}".encode()), (b"content-type", b"application/json"))
    body = json.dumps({"sql": sql, "epsilon": epsilon}).encode()
    status, _ = await asyncio.wait_for(_send(app, Sent("POST", ASK, b"", headers, (body,))), 200)
    return status


async def oracle(app: App, secret: list[int]) -> tuple[list[int], list[int]]:
    """The bits that were read, and the statuses of what was asked after the first refusal."""
    stop, life = await _started(app)
    read, after = list[int](), list[int]()
    for place, bit in enumerate(secret):
        status = await asked(app, FAILS if bit else ANSWERS, f"0.0{100 + place}")
        if status in (200, 503) and not after:
            read.append(int(status == 503))
        else:
            after.append(status)
    after += [await asked(app, ANSWERS, "0.5"), await asked(app, ANSWERS, "1e-20")]
    stop.set()
    await asyncio.wait_for(life, 200)
    return read, after


def test_failures_tell_few_bits(tmp_path: Path) -> None:
    path = configuration(tmp_path, epsilon="10", extra=LIMITS)
    path.write_text(path.read_text().replace("persons = 200\n", "persons = 200\nexpanding_joins = true\n"))
    draw = Random(18)
    secret = [draw.getrandbits(1) for _ in range(16)]
    read, after = asyncio.run(oracle(application(load(path), bytes(32)), secret))
    assert read == secret[: len(read)]  # each of them a true bit
    assert sum(read) == FAILURES  # and no more failures than that
    assert len(after) > 2
    assert all(400 <= status < 500 for status in after)
    assert log2(sum(comb(10**4, k) for k in range(FAILURES + 1))) < 38


def test_a_question_that_costs_next_to_nothing_is_refused_unpaid(tmp_path: Path) -> None:
    app = application(load(configuration(tmp_path, epsilon="10")), bytes(32))

    async def ask() -> int:
        stop, life = await _started(app)
        status = await asked(app, ANSWERS, "1e-20")
        stop.set()
        await asyncio.wait_for(life, 200)
        return status

    assert 400 <= asyncio.run(ask()) < 500
    spent = open_ledger(tmp_path / "ledger.db", read_only=True).budget("visits").spent
    assert "Pure(0)" in repr(spent)
