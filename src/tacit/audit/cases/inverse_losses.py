"""Losses of inverse sensitivity, fast ones and searched ones, under the exponential mechanism.

Twins leave out the factor 2 of a loss that is not one-directional, or spend more than is charged where that factor does
not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from tacit.audit.exact import Dataset, Mechanism, datasets
from tacit.audit.registry import AuditCase
from tacit.curves import StepLoss
from tacit.grids import integers, multiples
from tacit.guarantees import Pure
from tacit.mechanisms.grid_law import GridLaw
from tacit.mechanisms.inverse.inverse_losses import count_loss, median_loss, mode_loss, quantile_loss, sum_loss
from tacit.mechanisms.inverse.inverse_search import searched_loss
from tacit.mechanisms.inverse.inverse_sensitivity import inverse_sensitivity

EPSILON = Fraction(1)
UNIVERSE = (0, 1, 2, 3)
GRID = integers(0, 3)
Loss = Callable[[Dataset], StepLoss]


def _law(loss: Loss, epsilon: Fraction = EPSILON, misdeclared: bool = False) -> Mechanism:
    """The exponential mechanism; data of equal loss share one law."""
    laws: dict[StepLoss, GridLaw] = {}

    def build(x: Dataset) -> GridLaw:
        found = replace(loss(x), one_directional=True) if misdeclared else loss(x)
        if found not in laws:
            laws[found] = inverse_sensitivity(found, epsilon=epsilon)
        return laws[found]

    return build


def replaced(collection: Sequence[Dataset]) -> list[tuple[Dataset, Dataset]]:
    """Every pair of datasets of one size that differ by one person replaced."""
    known = set(collection)
    pairs: dict[tuple[Dataset, Dataset], None] = {}
    for x in collection:
        for i in range(len(x)):
            for other in UNIVERSE:
                z = tuple(sorted((*x[:i], other, *x[i + 1 :])))
                if z in known and x < z:
                    pairs[(x, z)] = None
    return list(pairs)


def _spread(x: tuple[int, ...]) -> int:
    return max(x) - min(x)


def _mean(x: Dataset) -> Fraction:
    return Fraction(sum(x), len(x))


def _searched_spread(x: Dataset) -> StepLoss:
    return searched_loss(_spread, x, (0, 1, 3), GRID, limit=4)


def _smoothed_mean(x: Dataset) -> StepLoss:
    return searched_loss(_mean, x, (0, 1, 2), multiples("0.5", 0, 2), limit=4, within="0.25")


def _case(name: str, covers: str, loss: Loss, data: list[Dataset], **more: object) -> AuditCase:
    return AuditCase(
        name=f"inverse sensitivity, {name}",
        covers=f"mechanisms.{covers}",
        mechanism=_law(loss),
        datasets=data,
        promised=Pure(EPSILON),
        twins={"no factor 2 for a loss that is not one-directional": _law(loss, misdeclared=True)},
        **more,  # type: ignore[arg-type]
    )


CASES = (
    _case("median from values", "median_loss", lambda x: median_loss(x, GRID), datasets(UNIVERSE, 5)),
    _case(
        "lower quartile from values",
        "quantile_loss",
        lambda x: quantile_loss(x, Fraction(1, 4), GRID),
        datasets(UNIVERSE, 5),
        sampled=[(0, 1, 1, 3)],
    ),
    _case(
        "upper quartile, number of persons public",
        "quantile_loss",
        lambda x: quantile_loss(x, Fraction(3, 4), GRID, persons_public=True),
        datasets(UNIVERSE, 4)[1:],
        pairs=replaced,
    ),
    _case("count", "count_loss", lambda x: count_loss(sum(x), integers(0, 5), limit=4), datasets((0, 1), 5)),
    _case("sum", "sum_loss", lambda x: sum_loss(x, -1, 2, integers(-4, 8), limit=4), datasets((-1, 0, 1, 2), 4)),
    _case("range, searched", "searched_loss", _searched_spread, datasets((0, 1, 3), 4)),
    _case("mean, searched and smoothed", "searched_loss", _smoothed_mean, datasets((0, 1, 2), 4)),
    AuditCase(
        name="inverse sensitivity, mode",
        covers="mechanisms.mode_loss",
        mechanism=_law(lambda x: mode_loss(x, UNIVERSE)),
        datasets=datasets(UNIVERSE, 5),
        promised=Pure(EPSILON),
        twins={"three times the rate": _law(lambda x: mode_loss(x, UNIVERSE), 3 * EPSILON)},
    ),
    AuditCase(
        name="inverse sensitivity, mode, number of persons public",
        covers="mechanisms.mode_loss",
        mechanism=_law(lambda x: mode_loss(x, UNIVERSE, persons_public=True)),
        datasets=datasets(UNIVERSE, 4),
        promised=Pure(EPSILON),
        pairs=replaced,
        twins={"three times the rate": _law(lambda x: mode_loss(x, UNIVERSE, persons_public=True), 3 * EPSILON)},
    ),
)
