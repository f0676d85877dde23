"""Faults that executors of tests carry: a remark in a question says which, and whether before or after the charge.

SELECT COUNT(*) FROM visits -- spin            in the planner, of previews too
SELECT COUNT(*) FROM visits -- spin, paid      once it is charged
"""

from __future__ import annotations

import ctypes
import itertools
import os
import re
import signal
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

from tacit.budgets import Budget, Receipt
from tacit.serve import gateway
from tacit.serve.gateway import Gateway


def spin() -> None:
    """Python that never ends, and takes the processor for itself."""
    for _ in itertools.count():
        pow(7, 10**5, 10**3000 + 1)


def hold() -> None:
    """One call that does not let go of the interpreter: no other thread of its process runs, for two minutes."""
    ctypes.PyDLL(None).sleep(120)


def grow() -> None:
    """Memory without end."""
    kept = []
    while True:
        kept.append(bytearray(2**22))


def leave() -> None:
    """The process ends by itself."""
    os._exit(3)


def crash() -> None:
    """A fault in a library."""
    os.kill(os.getpid(), signal.SIGSEGV)
    time.sleep(60)


def nap() -> None:
    """A second of nothing."""
    time.sleep(1)


def toil() -> None:
    """Half a second of a processor."""
    end = time.process_time() + 0.5
    while time.process_time() < end:
        pass


def swell() -> None:
    """Memory that stays after the work."""
    _kept.append(bytearray(b"x") * (150 * 2**20))


def surprise() -> None:
    """What nobody foresaw, with a row in its words."""
    raise KeyError("p17 was here for 42 minutes")


FAULTS: dict[str, Callable[[], None]] = {
    "spin": spin,
    "hold": hold,
    "grow": grow,
    "leave": leave,
    "crash": crash,
    "nap": nap,
    "toil": toil,
    "swell": swell,
    "surprise": surprise,
}
_kept: list[bytearray] = []

releasing: Any = import_module("tacit.tables.releasing.releaser")
_ask, _query, _charge, _settle = Gateway.ask, Gateway._query, releasing.charge_and_release, Budget.settle
_patient, _after = gateway.PATIENT, gateway.AFTER


def _fault(text: str, paid: bool) -> None:
    found = re.search(r"-- (\w+)(, paid)?$", text)
    if found and bool(found.group(2)) == paid and found.group(1) in FAULTS:
        FAULTS[found.group(1)]()


def ask(self: Gateway, caller: Any, name: str, question: Any, *others: Any, **more: Any) -> Any:
    # nobody will write the outcome of a question that is lost: waiting for it would only take time
    gateway.PATIENT = 0 if question.sql.endswith("-- lost") else _patient
    gateway.AFTER = -1000.0 if question.sql.endswith("-- lost long ago") else _after
    return _ask(self, caller, name, question, *others, **more)


def query(self: Gateway, releaser: Any, question: Any) -> Any:
    _fault(question.sql, paid=False)
    return _query(self, releaser, question)


def charge_and_release(budget: Any, cost: Any, question: Any, release: Callable[[], Any]) -> Any:
    def faulty() -> Any:
        _fault(question.text, paid=True)
        return release()

    def settle(self: Budget, receipt: Receipt, answer: Any, **more: Any) -> bool:
        return _settle(self, receipt, answer, **more) if receipt.resumed else True

    lost = re.search("-- lost( long ago)?$", question.text)  # the process dies before the outcome is written
    Budget.settle = settle if lost else _settle  # type: ignore[method-assign]
    return _charge(budget, cost, question, faulty)


Gateway.ask = ask  # type: ignore[method-assign]
Gateway._query = query  # type: ignore[method-assign]
releasing.charge_and_release = charge_and_release
