"""The floating-point solver underneath, and how to stop it: HiGHS, by scipy.

What it says is only ever a proposal; `packing` and `programs` turn it into proofs. It runs in a thread of its own and
leaves Python alone meanwhile, so Ctrl-C ends the wait for it at once. A program that nobody waits for any more ends by
itself; nothing of it is used.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog
from scipy.sparse import csr_array

from tacit.flows.incidences import Integers

Doubles = npt.NDArray[np.float64]
T = TypeVar("T")

_PATIENCE = 0.1
"""Seconds of one wait: some libraries' signal handlers let Ctrl-C end only a wait with a limit."""
_OPTIONS = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}
_LARGE = 2_000_000
"""Programs with more entries are left to interior points."""


def waited_for(work: Callable[[], T]) -> T:
    """What some work returns that leaves Python alone while it runs; Ctrl-C ends the wait."""
    results: list[T] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run, name="tacit-solver", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_PATIENCE)
    if failures:
        raise failures[0]
    return results[0]


def packed(
    limit: Integers, upper: Integers, constraint: Integers, variable: Integers
) -> tuple[Doubles, Doubles] | None:
    """About the largest Σz with 0 ≤ z ≤ upper and Σz ≤ limit in every constraint, and the constraints' prices."""
    scale = 2.0 ** -max(int(limit.max()).bit_length() - 10, 0)  # limits of the size of a thousand
    matrix = csr_array((np.ones(constraint.size), (constraint, variable)), shape=(limit.size, upper.size))
    bounds = np.column_stack([np.zeros(upper.size), upper * scale])
    for method in ("highs-ds", "highs-ipm") if constraint.size < _LARGE else ("highs-ipm", "highs-ds"):
        answer = _run(c=np.full(upper.size, -1.0), A_ub=matrix, b_ub=limit * scale, bounds=bounds, method=method)
        if answer.status == 0:
            return answer.x / scale, -answer.ineqlin.marginals
    return None


def balanced(gain: Doubles, matrix: Any, limit: Doubles, bounds: Doubles, steps: int | None) -> Any:
    """About the largest Σ gain·z within bounds with A z = limit, and the prices; None where the solver gives up."""
    few = (("highs-ds", steps),) if steps is not None else ()
    for method, most in (*few, ("highs-ipm", None), ("highs-ds", None)):
        answer = _run(c=-gain, A_eq=matrix, b_eq=limit, bounds=bounds, method=method, steps=most)
        if answer.status == 0:
            return answer.x, -answer.eqlin.marginals
    return None


def _run(steps: int | None = None, **program: Any) -> Any:
    return waited_for(lambda: linprog(**program, options={**_OPTIONS, "maxiter": steps}))
