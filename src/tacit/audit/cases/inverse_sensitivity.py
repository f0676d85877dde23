"""Inverse sensitivity of the median by each method; the distance between values in place of persons is broken."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from tacit.audit.exact import Dataset, Mechanism
from tacit.audit.registry import AuditCase
from tacit.audit.small import MEDIAN
from tacit.guarantees import Pure
from tacit.mechanisms.inverse.inverse_sensitivity import METHODS, inverse_sensitivity

EPSILON = Fraction(1)


def _by(method: str) -> Mechanism:
    """From the list of losses, one for each grid value."""
    return lambda x: inverse_sensitivity(_losses(x), MEDIAN.grid, epsilon=EPSILON, method=method)


def _losses(x: Dataset) -> list[int]:
    loss = MEDIAN.loss(x)
    return [loss.at(y) for y in range(4)]


def _distance(method: str) -> Mechanism:
    """|y − median| as if it counted persons."""
    return lambda x: inverse_sensitivity(
        [abs(y - (sorted(x)[len(x) // 2] if x else 0)) for y in range(4)], MEDIAN.grid, epsilon=EPSILON, method=method
    )


_case = partial(AuditCase, covers="mechanisms.inverse_sensitivity")

CASES = tuple(
    _case(
        name=f"inverse sensitivity by {method}, median",
        mechanism=_by(method),
        datasets=MEDIAN.datasets,
        promised=Pure(EPSILON),
        twins={"distance in place of persons": _distance(method)} if method != "tree_descent" else {},
    )
    for method in METHODS
)
