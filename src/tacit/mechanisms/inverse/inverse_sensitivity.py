"""Inverse sensitivity: choose an answer by how many persons would have to change for it to be the truth.

PROMISE  Pure(ε) for one draw, or by the exponential mechanism Zcdp(ρ): that of the mechanism named by ``method``.

PROOF  ℓ(x, y) = the fewest persons added or removed until f = y has sensitivity 1 for any f, since one more change
undoes a neighbour's difference. It need not be one-directional, so a list of losses is taken as general (rate ε/2); a
`StepLoss` says for itself.

ACCURACY  ℓ = 0 at the truth, so with probability 1 − β at most w persons would have to change for the answer to be
the truth; `accuracy(beta)` states w, which is below (2/ε)·ln(|Y|/β) for the first two methods.

COST  That of the mechanism: "exponential" (the default), "permute_and_flip", "noisy_max" (Laplace noise) or
"tree_descent".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tacit.curves import StepLoss
from tacit.errors import InvalidInput
from tacit.grids import Grid
from tacit.mechanisms.choose.exponential import exponential, factor, weigh
from tacit.mechanisms.choose.noisy_max import noisy_max
from tacit.mechanisms.choose.permute_and_flip import permute_and_flip, win
from tacit.mechanisms.grid_law import GridLaw
from tacit.mechanisms.search.tree_descent import laplace_node, tree_descent
from tacit.numbers.exact import Number, check_listed, positive
from tacit.proofs import Argument, Proof
from tacit.proofs import rules as by
from tacit.proofs.terms import equal

METHODS: dict[str, Callable[..., GridLaw]] = {
    "exponential": exponential,
    "permute_and_flip": permute_and_flip,
    "noisy_max": lambda loss, epsilon: noisy_max(loss, epsilon, "laplace"),
    "tree_descent": tree_descent,
}
"""The mechanisms an inverse sensitivity may use, by name."""


def inverse_sensitivity(
    loss: StepLoss | Sequence[int],
    grid: Grid | None = None,
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    method: str = "exponential",
) -> GridLaw:
    """A grid value chosen by its loss, given as a `StepLoss` or as a list with one whole number for each grid value.

    Give ``epsilon``; with the exponential mechanism ``rho`` will do instead.

    >>> from tacit.grids import integers
    >>> from tacit.mechanisms import inverse_sensitivity, median_loss
    >>> loss = median_loss([1, 2, 2, 9], integers(0, 10))
    >>> law = inverse_sensitivity(loss, epsilon=1)
    >>> law.guarantee
    Pure(1)
    """
    check_listed(method, "method", METHODS)
    if isinstance(loss, StepLoss):
        if grid is not None and grid != loss.grid:
            raise InvalidInput("grid must be the grid of the loss; leave it out when the loss is a StepLoss.")
        steps = loss
    elif grid is None:
        raise InvalidInput("grid must be given with a list of losses; it names the value of each.")
    else:
        steps = StepLoss.from_losses(grid, loss)
    if rho is not None and method == "exponential":
        return exponential(steps, epsilon, rho=rho)
    if epsilon is None or rho is not None:
        raise InvalidInput("give epsilon alone with this method; rho goes with the exponential mechanism.")
    return METHODS[method](steps, positive(epsilon, "epsilon"))


def distance(p: Argument, changed: int = 1) -> Any:
    """The move of the distance to the datasets on which f is y: at most 1 between neighbours, whatever f is.

    A(j): such a dataset z is j persons away from one neighbour. From the other it is at most one more.
    """
    own, other, move = p.count("ℓ"), p.count("ℓ'"), p.whole("move of ℓ")
    with p.lemma() as known:
        for number, back in ((own, other), (other, own)):
            j, away = p.count("dist(x, z)"), p.count("dist(x', z)")
            p.assume(away <= j + changed, j <= away + changed)
            by.least(p, number, back, 1, equal(j, j), away <= j + 1)
        p.assume(equal(move, other - own))
        known.append(p.derive((move >= -1) & (move <= 1)))
    return move


def argue(p: Argument, *, method: str, moves: Any = (1, 1), changed: int = 1) -> None:
    """A method on a distance; ``changed`` is how far apart neighbours are, in what the loss counts."""
    epsilon, move = p.positive("ε"), distance(p, changed)
    if method == "exponential":
        price = weigh(p, factor(epsilon, moves), -1, 1, move)
    elif method == "tree_descent":
        depth = p.count("depth")
        left, right = by.extreme(p, "left", -1, 1), by.extreme(p, "right", -1, 1)
        rate = laplace_node(epsilon, depth, sum(moves)).rate
        price = by.repeated(p, depth, by.noise(p, left - right, rate, rate))
    else:
        price = win(p, factor(epsilon, moves), -1, 1, sides=2 if method == "noisy_max" else 1)
    p.promise(price, epsilon)


PROOFS = tuple(
    Proof(
        f"inverse sensitivity by {method}",
        "mechanisms.inverse_sensitivity",
        "Pure(ε)",
        partial(argue, method=method),
        "the loss is the number of persons to change until f is y, or its minimum with a public limit",
    )
    for method in METHODS
)
