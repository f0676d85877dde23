"""Linear programs whose answers are turned into proofs.

A floating-point solver only proposes. What it proposes for the primal and the dual of

    maximise Σ gain·z   subject to   A z ≤ limit,  z ≥ 0      (whole numbers, limit ≥ 0)

is taken as dyadic rationals, and whoever asked turns the primal into a feasible point and the dual into a feasible
one by exact arithmetic: two rigorous bounds, whatever the solver did. Where they are too far apart the proposal is
refined: the exact residuals, magnified by 2^p and 2^d, are a linear program of the same shape for the correction,
which the solver meets with fresh digits, about 30 bits each round. Dual values are rounded to simple fractions close
by, since vertices of these programs have them and the bound is then exact. After `ROUNDS` refinements the simplex
method in integers with Bland's rule settles it: slow, but it ends, and both bounds are equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
import numpy.typing as npt

from tacit.flows.incidences import Integers, add_at
from tacit.flows.solvers import balanced

ROUNDS = 6
"""Refinements tried before the exact simplex method."""

_DIGITS = 40
"""Bits kept of what the solver says in one round."""
_GAIN = 30
"""By how many bits a round may magnify the residuals of the one before."""
_LARGE = 5000
"""Programs with more variables are left to interior points at once."""
_MOST = 1e30
"""What is larger is nonsense."""
_FAR = 1e6
"""A bound or a price beyond this, after magnification, no correction reaches."""


@dataclass(frozen=True, repr=False, eq=False)
class Program:
    """maximise Σ gain·z subject to Σ coefficient·z ≤ limit in every constraint, z ≥ 0; limits ≥ 0."""

    gain: Integers
    limit: Integers
    constraint: Integers
    variable: Integers
    coefficient: Integers

    def loads(self, z: Integers) -> Integers:
        """A z."""
        return add_at(self.limit.size, self.constraint, self.coefficient.astype(object) * z[self.variable])

    def prices(self, x: Integers) -> Integers:
        """Aᵀ x."""
        return add_at(self.gain.size, self.variable, self.coefficient.astype(object) * x[self.constraint])


@dataclass(frozen=True, repr=False, eq=False)
class Proposal:
    """Approximate optima of both programs: the primal as whole numbers over one denominator, the dual as fractions."""

    primal: Integers
    denominator: int
    dual: list[Fraction]


def propose(program: Program, effort: int) -> Proposal:
    """Approximate optima, with about 30·(effort + 1) bits; exact ones from `ROUNDS` on."""
    state = None if effort >= ROUNDS else _first(program)
    for _ in range(effort):
        state = None if state is None else _refined(program, state)
    if state is None:
        return _exactly(program)
    dual = [simple_fraction(Fraction(int(v), 1 << state.dual_bits), effort) for v in state.dual]
    primal = np.maximum(state.primal[: program.gain.size], 0)
    return Proposal(primal, 1 << state.primal_bits, dual)


def simple_fraction(value: Fraction, effort: int) -> Fraction:
    """A fraction with a small denominator within the solver's error of ``value`` if there is one, else it, rounded."""
    near = value.limit_denominator(1 << (14 * (effort + 1)))
    if abs(near - value) * (1 << (32 * (effort + 1))) <= 1:
        return near
    bits = _GAIN * (effort + 1)
    return Fraction(round(value * (1 << bits)), 1 << bits)


def over_common_denominator(values: list[Fraction]) -> tuple[Integers, int]:
    """Numerators over one denominator; fractions are rounded if that would take thousands of bits."""
    denominator = lcm(*(v.denominator for v in values))
    if denominator.bit_length() > 2048:
        denominator = 1 << 512
    return np.array([round(v * denominator) for v in values] or [], dtype=object), denominator


def pack(z: Integers, variable: Integers, constraint: Integers, limit: Integers) -> Integers:
    """``z`` ≥ 0 lowered to whole numbers that meet Σ z ≤ limit in every constraint.

    Scaling every variable of an overfull constraint by limit/load meets it; each variable follows its worst one.
    """
    load = add_at(limit.size, constraint, z[variable])
    over = (load > limit).astype(bool)[constraint]
    result = z.copy()
    lowered = z[variable[over]] * limit[constraint[over]] // load[constraint[over]]
    np.minimum.at(result, variable[over], lowered)
    return result


@dataclass(frozen=True, repr=False, eq=False)
class _State:
    """A proposal for z followed by the slacks, over 2^primal_bits, and for the dual, over 2^dual_bits."""

    primal: Integers
    primal_bits: int
    dual: Integers
    dual_bits: int


def _asked(
    program: Program, gain: npt.NDArray[np.float64], limit: npt.NDArray[np.float64], least: npt.NDArray[np.float64]
) -> tuple[Integers, Integers] | None:
    """What the solver says of z, the slacks and the dual, in units of 2^-40; None where it gives up.

    Slacks are variables of their own, A z + s = limit: only then do residual prices describe the same program.
    """
    from scipy.sparse import csr_array  # SciPy loads longer than most questions take, and few need it

    rows, columns = program.limit.size, program.gain.size
    slack = np.arange(rows)
    matrix = csr_array(
        (
            np.concatenate([program.coefficient, np.ones(rows, dtype=np.int64)]).astype(np.float64),
            (np.concatenate([program.constraint, slack]), np.concatenate([program.variable, columns + slack])),
        ),
        shape=(rows, columns + rows),
    )
    bounds = np.column_stack([least, np.full(least.size, np.inf)])
    # The simplex method is fast unless many optima tie, as they do in large programs: interior points are better there,
    # but for the way from them to a vertex, which may be long: each has a fair number of steps.
    answer = balanced(gain, matrix, limit, bounds, rows + columns if columns < _LARGE else None)
    return None if answer is None else (_as_integers(answer[0]), _as_integers(answer[1]))


def _as_integers(values: npt.NDArray[np.float64]) -> Integers:
    scaled = np.rint(np.ldexp(np.clip(np.nan_to_num(values), -_MOST, _MOST), _DIGITS))
    return np.array([int(v) for v in scaled.tolist()], dtype=object)


def _first(program: Program) -> _State | None:
    """A first proposal, with limits brought to the size of a thousand."""
    shift = max(int(program.limit.max()).bit_length() - 10, 0)
    limit = np.array([float(Fraction(int(b), 1 << shift)) for b in program.limit])
    gain = np.concatenate([program.gain.astype(np.float64), np.zeros(limit.size)])
    answer = _asked(program, gain, limit, np.zeros(gain.size))
    if answer is None:
        return None
    bits = max(_DIGITS - shift, 0)
    return _State(answer[0] << (bits - _DIGITS + shift), bits, answer[1], _DIGITS)


def _refined(program: Program, state: _State) -> _State | None:
    """One round of refinement: solve for the correction in magnified residuals, add it."""
    columns = program.gain.size
    z, slack = state.primal[:columns], state.primal[columns:]
    missing = (program.limit.astype(object) << state.primal_bits) - program.loads(z) - slack
    price = np.concatenate([(program.gain.astype(object) << state.dual_bits) - program.prices(state.dual), -state.dual])
    primal_up = _magnification(state.primal_bits, max(np.abs(missing).max(), -state.primal.min()))
    dual_up = _magnification(state.dual_bits, price.max())
    least = _magnified(-state.primal, state.primal_bits, primal_up)
    answer = _asked(
        program,
        np.maximum(_magnified(price, state.dual_bits, dual_up), -_FAR),
        _magnified(missing, state.primal_bits, primal_up),
        np.where(least < -_FAR, -np.inf, least),
    )
    if answer is None:
        return None
    primal_bits, dual_bits = primal_up + _DIGITS, dual_up + _DIGITS
    return _State(
        _rescaled(state.primal, primal_bits - state.primal_bits) + answer[0],
        primal_bits,
        _rescaled(state.dual, dual_bits - state.dual_bits) + answer[1],
        dual_bits,
    )


def _magnification(bits: int, worst: int) -> int:
    """The exponent that brings the worst violation (over 2^bits) to about one, at most 30 more than the last one."""
    ceiling = bits - _DIGITS + _GAIN
    return max(ceiling if worst <= 0 else min(ceiling, bits - int(worst).bit_length()), 0)


def _magnified(values: Integers, bits: int, up: int) -> npt.NDArray[np.float64]:
    exact = (Fraction(int(v) << max(up - bits, 0), 1 << max(bits - up, 0)) for v in values)
    return np.array([float(v) for v in exact])


def _rescaled(values: Integers, shift: int) -> Integers:
    return values << shift if shift >= 0 else values >> -shift


def _exactly(program: Program) -> Proposal:
    """The optima by the simplex method in integers (every entry over one common denominator), by Bland's rule."""
    rows, columns = program.limit.size, program.gain.size
    table = np.zeros((rows + 1, columns + rows + 1), dtype=object)
    np.add.at(table, (program.constraint, program.variable), program.coefficient.astype(object))
    table[np.arange(rows), columns + np.arange(rows)] = 1
    table[:rows, -1] = program.limit
    table[rows, :columns] = -program.gain
    basis, scale = list(range(columns, columns + rows)), 1
    while (entering := np.flatnonzero(table[rows, :-1] < 0)).size:
        column = int(entering[0])
        leaving = min(
            (i for i in range(rows) if table[i, column] > 0),
            key=lambda i: (Fraction(table[i, -1], table[i, column]), basis[i]),
        )
        pivot, line = table[leaving, column], table[leaving].copy()
        table = (table * pivot - np.multiply.outer(table[:, column], line)) // scale
        table[leaving], basis[leaving], scale = line, column, pivot
    solution = dict(zip(basis, table[:rows, -1], strict=True))
    primal = np.array([solution.get(j, 0) for j in range(columns)], dtype=object)
    return Proposal(primal, scale, [Fraction(v, scale) for v in table[rows, columns:-1]])
