"""Searches of several losses at once, by shared weight: extremes of every group for the cost of one.

PROMISE  For the answers of all losses together Pure(ε) by `shared_scans`, Zcdp(ρ) by `shared_searches`. Each loss is
counted in units, ``unit`` of which make a whole person; adding a person raises it by 0 up to what they weigh there, at
every point, and nobody weighs more than ``unit`` over all losses.

PROOF  With ε each is an upward threshold scan (`threshold_scan`) with rates ε1/unit and ε2/unit, ε1 + ε2 = ε. A person
of weight w moves the loss by something in [0, w], so the proof there gives a ratio of at most e^{(ε1 + ε2)·w/unit} both
ways: a draw that loses in proportion to the weight. The rest is `tacit.mechanisms.together`.
With ρ each is a binary search whose T looks have Gaussian noise of variance T·unit²/(2ρ). A person of weight w moves a
look by at most w, which costs (ρ/T)·(w/unit)²; so all looks at all losses cost ρ·Σ(w/unit)² ≤ ρ.

ACCURACY  That of the scan, in units: as a scan of whole persons, for a person in one group weighs a whole one.

COST  That of the scans, half a millisecond each; fine units cost no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tacit.curves import StepLoss
from tacit.errors import InvalidInput
from tacit.guarantees import Pure, Zcdp
from tacit.mechanisms.grid_law import Answer
from tacit.mechanisms.search.binary_search import binary_search, gaussian_look
from tacit.mechanisms.search.scan_rates import BETA, rates
from tacit.mechanisms.search.threshold_scan import threshold_scan, walk
from tacit.mechanisms.together import Together, share
from tacit.numbers.exact import Number, positive, whole
from tacit.proofs import Argument, Proof
from tacit.proofs import rules as by


def shared_scans(
    losses: Sequence[StepLoss], epsilon: Number, unit: int = 1, *, beta: Number = BETA
) -> Together[Answer]:
    """For each loss the first grid value that passes a noisy threshold, Pure(ε) for all together.

    >>> from tacit.curves import StepLoss
    >>> from tacit.grids import integers
    >>> from tacit.mechanisms import shared_scans
    >>> loss = StepLoss.from_losses(integers(0, 3), [3, 2, 1, 0], one_directional=True)
    >>> shared_scans([loss, loss], epsilon=1).guarantee
    Pure(1)
    """
    _check(losses)
    total = positive(epsilon, "epsilon")
    each = total / whole(unit, "unit", 1)
    return Together([threshold_scan(loss, each, beta=beta) for loss in losses], Pure(total), unit)


def shared_searches(losses: Sequence[StepLoss], rho: Number, unit: int = 1, *, beta: Number = BETA) -> Together[Answer]:
    """For each loss the grid value at which noisy comparisons find it small, Zcdp(ρ) for all together.

    >>> from tacit.curves import StepLoss
    >>> from tacit.grids import integers
    >>> from tacit.mechanisms import shared_searches
    >>> loss = StepLoss.from_losses(integers(0, 3), [3, 2, 1, 0], one_directional=True)
    >>> shared_searches([loss, loss], rho="0.5").guarantee
    Zcdp(0.5)
    """
    _check(losses)
    total = positive(rho, "rho")
    each = total / whole(unit, "unit", 1) ** 2
    return Together([binary_search(loss, rho=each, beta=beta) for loss in losses], Zcdp(total), unit)


def _check(losses: Sequence[StepLoss]) -> None:
    if not all(loss.one_directional for loss in losses):
        raise InvalidInput("losses must be one-directional: adding a person must never lower one.")


def argue(p: Argument, *, total: int = 1, moved: Any = lambda weight, unit: weight) -> None:
    """Scans with rates for ε/unit of losses that a person of weight w raises by something in [0, w]."""
    epsilon, split, unit = p.positive("ε"), p.within("share", 0, 1), p.count("unit", 1)
    pair = rates(epsilon / unit, (0, 1), split)
    for added in (True, False):

        def price(weight: Any, added: bool = added) -> Any:
            most = moved(weight, unit)
            low, high = (0, most) if added else (-most, 0)
            return walk(p, pair, low, p.steps("move", low, high), visited=lambda: p.steps("any move", low, high))

        with p.case("a person added" if added else "a person removed"):
            p.promise(share(p, epsilon, unit, price, total=total), epsilon)


def argue_searches(p: Argument, *, total: int = 1, cost: int = 1) -> None:
    """Binary searches with Gaussian noise for ρ/unit² each: a person of weight w moves every look by at most w.

    What was spent is at most ρ times the square of the weight used, over that of ``unit``.
    """
    rho, unit, looks = p.positive("ρ"), p.count("unit", 1), p.count("T", 1)
    variance = gaussian_look(cost * rho / (unit * unit), looks).squared_scale

    def search(state: Any) -> Any:
        weight = p.count("w")
        price = by.repeated(p, looks, by.gaussian(p, weight, variance))
        p.derive(price * unit * unit <= cost * rho * weight * weight)
        return (state[0] + weight,), price

    def invariant(spent: Any, state: Any) -> Any:
        return (spent * unit * unit <= rho * state[0] * state[0]) & (state[0] >= 0)

    p.promise(by.loop(p, (0,), invariant, search, lambda state: state[0] <= total * unit, rho), rho)


PROOFS = (
    Proof(
        "searches by shared weight",
        "mechanisms.shared_searches",
        "Zcdp(ρ)",
        argue_searches,
        "a person of weight w moves a loss by at most w; nobody weighs more than `unit` in all",
    ),
    Proof(
        "scans by shared weight",
        "mechanisms.shared_scans",
        "Pure(ε)",
        argue,
        "a person of weight w raises a loss by something in [0, w]; nobody weighs more than `unit` in all",
    ),
)
