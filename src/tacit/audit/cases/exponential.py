"""The exponential mechanism over max, sum, count and median, with a uniform and with a decaying prior."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from tacit.audit.exact import Dataset, Mechanism, datasets
from tacit.audit.registry import AuditCase
from tacit.audit.small import MAXIMUM, MEDIAN, SMALL, Small
from tacit.curves import DownProfile, StepLoss
from tacit.grids import integers
from tacit.guarantees import Pure, Zcdp
from tacit.mechanisms.choose.exponential import exponential
from tacit.mechanisms.choose.permute_and_flip import permute_and_flip
from tacit.mechanisms.choose.priors import Decaying
from tacit.mechanisms.grid_law import GridLaw

EPSILON = Fraction(1)


def on(small: Small, mechanism: Callable[[StepLoss, Fraction], GridLaw], epsilon: Fraction = EPSILON) -> Mechanism:
    """A mechanism on a small statistic; data of equal loss share one law."""
    laws: dict[StepLoss, GridLaw] = {}

    def build(x: Dataset) -> GridLaw:
        loss = small.loss(x)
        if loss not in laws:
            laws[loss] = mechanism(loss, epsilon)
        return laws[loss]

    return build


def misdeclared(mechanism: Callable[[StepLoss, Fraction], GridLaw]) -> Callable[[StepLoss, Fraction], GridLaw]:
    """The mechanism that takes every loss for one-directional and leaves out the factor 2."""
    return lambda loss, epsilon: mechanism(replace(loss, one_directional=True), epsilon)


def choice_cases(
    name: str, covers: str, mechanism: Callable[[StepLoss, Fraction], GridLaw], statistics: tuple[Small, ...] = SMALL
) -> tuple[AuditCase, ...]:
    """Cases of a mechanism that chooses, with half the noise and the missing factor 2 as twins."""
    return tuple(
        AuditCase(
            name=f"{name}, {small.name}",
            covers=covers,
            mechanism=on(small, mechanism),
            datasets=small.datasets,
            promised=Pure(EPSILON),
            twins={
                "half the noise": on(small, mechanism, 2 * EPSILON),
                **({"no factor 2 for a general loss": on(small, misdeclared(mechanism))} if small is MEDIAN else {}),
            },
            sampled=[(0, 1, 3)] if small is MEDIAN else [],
        )
        for small in statistics
    )


_OPEN = integers(0, None)


def _open(x: Dataset) -> StepLoss:
    """The loss of the maximum on a grid without end."""
    return DownProfile(sorted(x, reverse=True)).loss(_OPEN)


def _moved(change: tuple[int, int] | None) -> Mechanism:
    """Losses at two of three points that a person moves by something in [−1, 2]."""

    def build(x: Dataset) -> GridLaw:
        losses = [4 + sum(person[i] for person in x) for i in range(2)]
        return exponential(StepLoss.from_losses(integers(0, 2), [*losses, 1]), EPSILON, change=change)

    return build


CASES = (
    AuditCase(
        name="exponential mechanism, a loss moved by something in [−1, 2]",
        covers="mechanisms.exponential",
        mechanism=_moved((1, 2)),
        datasets=datasets(((-1, -1), (-1, 2), (2, -1), (2, 2)), 3),
        promised=Pure(EPSILON),
        twins={"charged as a loss of sensitivity 1": _moved(None)},
    ),
    *choice_cases("exponential mechanism", "mechanisms.exponential", exponential),
    AuditCase(
        name="exponential mechanism, zCDP",
        covers="mechanisms.exponential",
        mechanism=on(MEDIAN, lambda loss, epsilon: exponential(loss, rho=epsilon * epsilon / 8)),
        datasets=datasets(MEDIAN.universe, 3),
        promised=Zcdp(EPSILON * EPSILON / 8),
        twins={
            "permute-and-flip, whose range is not bounded": on(MEDIAN, permute_and_flip),
            "the ε of Gaussian noise with a loss of either direction": on(
                MEDIAN, misdeclared(lambda loss, epsilon: exponential(loss, rho=epsilon * epsilon / 2))
            ),
        },
    ),
    AuditCase(
        name="exponential mechanism, max on an open grid with a decaying prior",
        covers="mechanisms.exponential",
        mechanism=lambda x: exponential(_open(x), EPSILON, Decaying(2, growth=2)),
        datasets=datasets(MAXIMUM.universe, 2),
        promised=Pure(EPSILON),
        twins={
            "a prior centred on the data": lambda x: exponential(
                _open(x), EPSILON, Decaying(1, Fraction(1, 9), origin=max(x, default=0))
            )
        },
        sampled=[(0, 1, 3)],
    ),
)
