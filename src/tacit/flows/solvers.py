"""The floating-point solvers underneath, and how to stop them: HiGHS, by its own package and by scipy.

What they say is only ever a proposal; `packing` and `programs` turn it into proofs. `approached` goes through the
interior and stops near the optimum, which takes no notice of how many optima tie; `packed` goes on to a vertex, where
prices are simple fractions and a bound can be exact, but a vertex may be far. A solver runs in a thread of its own and
leaves Python alone meanwhile, so Ctrl-C ends the wait for it at once, and the solver too where it can be told.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from tacit.flows.incidences import Integers

Doubles = npt.NDArray[np.float64]
Solver = Callable[[Integers, Integers, Integers, Integers], tuple[Doubles, Doubles] | None]
"""From limits, upper bounds and (constraint, variable) pairs to a packing and the constraints' prices."""
T = TypeVar("T")

_PATIENCE = 0.1
"""Seconds of one wait: some libraries' signal handlers let Ctrl-C end only a wait with a limit."""
_OPTIONS = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}
_LARGE = 2_000_000
"""Programs with more entries are left to interior points."""


def waited_for(work: Callable[[], T], stop: Callable[[], object] = lambda: None) -> T:
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
    try:
        while thread.is_alive():
            thread.join(_PATIENCE)
    finally:
        stop()
    if failures:
        raise failures[0]
    return results[0]


def approached(
    limit: Integers,
    upper: Integers | Doubles,
    constraint: Integers,
    variable: Integers,
    gain: Integers | None = None,
    coefficient: Integers | None = None,
) -> tuple[Doubles, Doubles] | None:
    """As `packed`, near the optimum instead of at a vertex; None where HiGHS is not installed or gives up.

    Variables may count by their ``gain``, and in constraints by a ``coefficient``, where these are not 1.
    """
    from scipy.sparse import csc_array, csr_array  # SciPy loads longer than most questions take, and few need it

    try:
        import highspy
    except ImportError:
        return None
    scale, entries = _scale(limit), np.ones(constraint.size) if coefficient is None else coefficient.astype(float)
    columns = csc_array(csr_array((entries, (constraint, variable)), shape=(limit.size, upper.size)))
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = upper.size, limit.size
    program.col_cost_ = np.full(upper.size, -1.0) if gain is None else -gain.astype(float)
    program.col_lower_ = np.zeros(upper.size)
    program.col_upper_, program.row_upper_ = upper * scale, limit * scale
    program.row_lower_ = np.full(limit.size, -highspy.kHighsInf)
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_, program.a_matrix_.index_ = columns.indptr, columns.indices
    program.a_matrix_.value_ = columns.data
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    for option, value in {"solver": "ipm", "run_crossover": "off", "presolve": "off"}.items():
        solver.setOptionValue(option, value)  # prices that come back through presolving are worth little
    solver.HandleUserInterrupt = True
    solver.passModel(program)
    waited_for(solver.run, solver.cancelSolve)
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    found = solver.getSolution()
    return np.array(found.col_value) / scale, -np.array(found.row_dual)


def _scale(limit: Integers) -> float:
    """What brings limits to the size of a thousand."""
    return 2.0 ** -max(int(limit.max()).bit_length() - 10, 0)


def packed(
    limit: Integers, upper: Integers, constraint: Integers, variable: Integers
) -> tuple[Doubles, Doubles] | None:
    """About the largest Σz with 0 ≤ z ≤ upper and Σz ≤ limit in every constraint, and the constraints' prices."""
    from scipy.sparse import csr_array

    scale = _scale(limit)
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
    from scipy.optimize import linprog

    options: Any = {**_OPTIONS, "maxiter": steps}
    solve: Callable[..., Any] = linprog  # whose stubs know neither sparse matrices nor arrays of bounds
    return waited_for(lambda: solve(**program, options=options))
