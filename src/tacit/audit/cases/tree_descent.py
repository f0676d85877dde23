"""Tree descent over max, sum, count and median, with both noises; a descent that pays for one node only is broken."""

from __future__ import annotations

from fractions import Fraction

from tacit.audit.cases.exponential import on
from tacit.audit.exact import datasets
from tacit.audit.registry import AuditCase
from tacit.audit.small import MAXIMUM, MEDIAN, SMALL
from tacit.guarantees import Pure, Zcdp
from tacit.mechanisms.search.tree_descent import tree_descent

EPSILON, RHO = Fraction(1), Fraction(1, 4)

CASES = (
    *(
        AuditCase(
            name=f"tree descent, Laplace noise, {small.name}",
            covers="mechanisms.tree_descent",
            mechanism=on(small, lambda loss, epsilon: tree_descent(loss, epsilon), EPSILON),
            datasets=small.datasets,
            promised=Pure(EPSILON),
            twins={
                "all nodes for the price of one": on(
                    small, lambda loss, epsilon: tree_descent(loss, epsilon * tree_descent(loss, 1).depth), EPSILON
                )
            },
            sampled=[(0, 1, 3)] if small is MEDIAN else [],
        )
        for small in SMALL
    ),
    AuditCase(
        name="tree descent, Gaussian noise, max",
        covers="mechanisms.tree_descent",
        mechanism=on(MAXIMUM, lambda loss, rho: tree_descent(loss, rho=rho), RHO),
        datasets=datasets(MAXIMUM.universe, 3),
        promised=Zcdp(RHO),
        twins={
            "all nodes for the price of one": on(
                MAXIMUM, lambda loss, rho: tree_descent(loss, rho=rho * tree_descent(loss, 1).depth), RHO
            )
        },
        sampled=[(0, 1, 3)],
    ),
)
