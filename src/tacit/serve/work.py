"""What an executor does: one piece of work after the other, each plain data, each answered with a message.

An executor has a `Gateway` of its own. It parses, charges, computes and writes answers as they will be sent; it
knows no token and no request. Mistakes go back as one sentence with the name of their kind. That it begins to charge is
told to the gateway before, and each charge as soon as it is in the ledger, so that the gateway knows whether anything
can have been spent, and can record the outcome, should this process be ended.
"""

from __future__ import annotations

import json
import logging
import os
import pickle
import resource
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.answers.sending import report
from tacit.budgets import Receipt
from tacit.engines import UNREACHABLE
from tacit.engines.duckdb.engine import limit_memory, limit_threads
from tacit.errors import EngineError, TacitError
from tacit.serve import answering, recalling, repeating
from tacit.serve.config import Config
from tacit.serve.expecting import expected
from tacit.serve.gateway import Gateway
from tacit.serve.history import KEY
from tacit.serve.questions import SentQuestion
from tacit.serve.tokens import Caller
from tacit.serve.wire import Parcel, receive

Work = Mapping[str, Any]
Tell = Callable[[Parcel], None]
Made = tuple[dict[str, Any], bytes]
"""Small facts for the gateway, and what goes to the caller."""


@dataclass(frozen=True)
class ExecutorSetup:
    """What an executor is told first."""

    config: Config
    niceness: int
    """How far it stands back for others."""
    megabytes: int
    columns: Mapping[str, Mapping[str, str]]
    """The columns of each dataset's tables as they were when the gateway opened them."""


def serve(line: socket.socket) -> None:
    """Answer until the line ends."""
    setup: ExecutorSetup = pickle.loads(receive(line).body)  # from the gateway that started us
    os.nice(setup.niceness)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core would hold rows
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500")  # rather this process than the gateway
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # it quotes queries
    limit_memory(setup.megabytes // 2)  # the other half is Python's
    limit_threads(max((os.cpu_count() or 1) // 2, 1))  # nobody's question has the whole machine

    def tell(message: Parcel) -> None:
        line.sendall(message.pack())

    try:
        gateway = Gateway(setup.config, following=False)
        if gateway.columns() != setup.columns:
            raise EngineError(UNREACHABLE)
    except Exception as error:
        tell(_mistake(error))
        return
    tell(Parcel())
    with suppress(EOFError, OSError):
        while True:
            tell(done(gateway, receive(line).facts, tell))


def done(gateway: Gateway, work: Work, tell: Tell) -> Parcel:
    """What comes of a piece of work."""
    try:
        facts, body = KINDS[work["kind"]](gateway, work, tell)
        return Parcel(facts, body)
    except MemoryError:
        os._exit(1)  # a limit like any other: what is left of this process is not to be trusted
    except Exception as error:
        return _mistake(error)


def _mistake(error: Exception) -> Parcel:
    """A mistake by the name of its kind; the words of what nobody foresaw stay here."""
    if isinstance(error, TacitError):
        kinds = [kind.__name__ for kind in type(error).__mro__]
        return Parcel({"error": kinds, "message": error.message})
    return Parcel({"unforeseen": type(error).__name__})


def _preview(gateway: Gateway, work: Work, _: Tell) -> Made:
    seen = gateway.preview(_caller(work), work["dataset"], question(work["question"]))
    return {}, _json(seen)


def _ask(gateway: Gateway, work: Work, tell: Tell) -> Made:
    caller, name = _caller(work), work["dataset"]

    def heard(receipt: Receipt) -> None:
        with suppress(OSError):  # whoever listened is gone; the charge stands in the ledger
            cost, account = receipt.cost.text(), list(receipt.account)
            facts = {"number": receipt.number, "cost": cost, "once": receipt.once, "account": account}
            facts["resumed"] = receipt.resumed
            tell(Parcel({"charged": facts}))

    def begins() -> None:
        tell(Parcel({"charged": None}))

    asked = question(work["question"])
    found = gateway.ask(caller, name, asked, work["key"], heard, begins)
    facts: dict[str, Any] = {"stored": found.stored}
    if work["page"]:
        keys = [key[:KEY] for key in repeating.keys_of(gateway.understood(caller, name, asked))]
        return facts | {"keys": keys}, answering.to_keep(found).encode(errors="replace")
    left = gateway.session(caller, name).budget.remaining.text()
    return facts, _json(report(found) | {"remaining": left})


def _past(gateway: Gateway, work: Work, _: Tell) -> Made:
    if work["page"]:
        return recalling.page(gateway, work)
    found = gateway.find_answer(work["dataset"], work["outcome"])
    return {}, _json(work["line"] | ({} if found is None else report(found)))


def _forecast(gateway: Gateway, work: Work, _: Tell) -> Made:
    found = gateway.plan(work["dataset"], work["statistic"], work["persons"], work["epsilon"], work["shape"])
    return {}, _json(found.to_dict() | {"words": found.headline})


def _expected(gateway: Gateway, work: Work, _: Tell) -> Made:
    facts = (question(work["question"]), work["persons"], work["shape"])
    return {}, _json(expected(gateway, _caller(work), work["dataset"], *facts))


KINDS: dict[str, Callable[[Gateway, Work, Tell], Made]] = {
    "preview": _preview,
    "ask": _ask,
    "past": _past,
    "forecast": _forecast,
    "expected": _expected,
    "file": lambda gateway, work, _: recalling.file(gateway, work),
    "compare": lambda gateway, work, _: recalling.compare(gateway, work),
}
"""All that an executor can do."""


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(errors="replace")


def _caller(work: Work) -> Caller:
    return Caller(*work["caller"])


def question_facts(asked: SentQuestion) -> dict[str, Any]:
    """A question as it is sent to an executor."""
    return {"sql": asked.sql, "keys": asked.keys, "amounts": asked.amounts, "fresh": asked.fresh}


def question(facts: Mapping[str, Any]) -> SentQuestion:
    """The same question there."""
    keys = facts["keys"]
    return SentQuestion(
        facts["sql"],
        None if keys is None else tuple(tuple(key) if isinstance(key, list) else key for key in keys),
        tuple((name, value) for name, value in facts["amounts"]),
        facts["fresh"],
    )
