"""Two solvers that must agree: z3 and cvc5, each asked whether an obligation's facts can hold and its goal fail.

"unsat" from both proves the obligation. A "sat" refutes it, with numbers as a counterexample. If one of them does not
know, nothing is proved. If one says sat and the other unsat, one of them is wrong, and that is an error.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from time import perf_counter
from typing import Any, NoReturn

from tacit.errors import InvalidInput
from tacit.proofs.smt import Asked

SECONDS = 10
"""How much processor time a solver may take for one question."""
BRIEFLY = 1
"""How much the second may take to contradict a counterexample."""
STEPS = 40_000_000
"""How much z3 may do for one question, in steps of its own: about as much."""
PATIENCE = 600
"""How long a child process may take that does not even compute."""
MISSING = "proofs need two solvers; install them with: pip install 'tacit-dp[proofs]'."


Found = tuple[str, list[tuple[str, Fraction | bool]]]
"""A verdict, and numbers for which all statements hold."""


@dataclass(frozen=True)
class Reply:
    """What both solvers said to one question."""

    verdict: str
    """"unsat", "sat" or "unknown"."""
    model: tuple[tuple[str, Fraction | bool], ...]
    """Numbers for which all statements hold, where there are any."""
    seconds: float


def ask(question: Asked) -> Reply:
    """Ask both."""
    return _asked(question.text, question.names)


@lru_cache(maxsize=4096)
def _asked(text: str, names: tuple[tuple[str, str], ...]) -> Reply:
    start = perf_counter()
    first = _z3(text, dict(names))
    second = _limited(_cvc5, text, dict(names), BRIEFLY if first[0] == "sat" else SECONDS)
    answers = {first[0], second[0]}
    if answers == {"sat", "unsat"}:
        raise InvalidInput("the two solvers disagree about an obligation; report this as a bug.")
    verdict = "sat" if "sat" in answers else "unsat" if answers == {"unsat"} else "unknown"
    model = first[1] if first[0] == "sat" else second[1]
    return Reply(verdict, tuple(model), perf_counter() - start)


def _limited(solver: Callable[[str, dict[str, str]], Found], text: str, names: dict[str, str], seconds: int) -> Found:
    """A solver's answer, or none if it takes longer: in a child process with a limit of processor time.

    A solver may forget its own limit inside a long computation with polynomials. Processor time does not depend on who
    else uses the machine; `PATIENCE` only ends a child that does nothing at all.
    """
    if not hasattr(os, "fork") or text.startswith("(set-logic QF_L"):
        return solver(text, names)
    import_solvers()
    receive, send = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads: the child computes and does nothing else
        child = os.fork()
    if not child:
        _answer(solver, text, names, seconds, send)
    os.close(send)
    with os.fdopen(receive, "rb") as pipe:
        if not select.select([pipe], [], [], PATIENCE)[0]:
            os.kill(child, signal.SIGKILL)
        found = pipe.read()
    os.waitpid(child, 0)
    return pickle.loads(found) if found else ("unknown", [])


def _answer(
    solver: Callable[[str, dict[str, str]], Found], text: str, names: dict[str, str], seconds: int, send: int
) -> NoReturn:
    """In the child: answer into the pipe, and end."""
    import resource

    with suppress(BaseException), os.fdopen(send, "wb") as pipe:
        used = resource.getrusage(resource.RUSAGE_SELF)
        limit = int(used.ru_utime + used.ru_stime) + seconds + 1
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        pipe.write(pickle.dumps(solver(text, names)))
    os._exit(0)


def import_solvers() -> tuple[Any, Any]:
    """z3 and cvc5, or a message that says what to install."""
    try:
        import cvc5
        import z3
    except ImportError as error:
        raise InvalidInput(MISSING) from error
    return z3, cvc5


def _z3(text: str, names: dict[str, str]) -> Found:
    z3, _ = import_solvers()
    logic = text.partition("(set-logic ")[2].partition(")")[0]
    solver = z3.SolverFor(logic) if logic == "QF_NRA" else z3.Solver()
    solver.set("rlimit", STEPS)
    solver.from_string(text)
    verdict = str(solver.check())
    if verdict != "sat":
        return verdict, []
    model = solver.model()
    values = ((names.get(str(d)), model[d]) for d in model.decls())
    return verdict, sorted((name, _number(value)) for name, value in values if name is not None)


def _number(value: Any) -> Fraction | bool:
    z3, _ = import_solvers()
    if z3.is_bool(value):
        return bool(z3.is_true(value))
    if z3.is_algebraic_value(value):
        value = value.approx(20)
    return Fraction(str(value.as_fraction() if hasattr(value, "as_fraction") else value.as_long()))


def _cvc5(text: str, names: dict[str, str]) -> Found:
    _, cvc5 = import_solvers()
    solver: Any = cvc5.Solver(cvc5.TermManager())
    solver.setOption("produce-models", "true")
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "obligation")
    known = parser.getSymbolManager()
    while not (command := parser.nextCommand()).isNull():
        command.invoke(solver, known)
    reply = solver.checkSat()
    if not reply.isSat():
        return "unsat" if reply.isUnsat() else "unknown", []
    declared = ((names.get(str(term)), solver.getValue(term)) for term in known.getDeclaredTerms())
    return "sat", sorted((name, _plain(value)) for name, value in declared if name is not None)


def _plain(value: Any) -> Fraction | bool:
    if value.isBooleanValue():
        return bool(value.getBooleanValue())
    if value.isIntegerValue() or value.isRealValue():
        return Fraction(str(value.getIntegerValue() if value.isIntegerValue() else value.getRealValue()))
    return Fraction(0)  # an algebraic number: shown by the other solver


def versions() -> dict[str, str]:
    """The solvers and their versions."""
    z3, cvc5 = import_solvers()
    return {"z3": str(z3.get_version_string()), "cvc5": str(cvc5.__version__)}


def shown(model: Iterable[tuple[str, Fraction | bool]]) -> str:
    """A counterexample for people."""
    return ", ".join(f"{name} = {str(value).lower() if isinstance(value, bool) else value}" for name, value in model)
