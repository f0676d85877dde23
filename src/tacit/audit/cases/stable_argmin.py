"""The stable arg-min over votes (one-directional) and over a median that is not, and thresholds that are too low."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from tacit.audit.exact import Dataset, Mechanism, datasets
from tacit.audit.registry import AuditCase
from tacit.audit.small import MEDIAN
from tacit.curves import StepLoss
from tacit.grids import integers
from tacit.guarantees import Approx
from tacit.mechanisms.choose.stable_argmin import StableArgminLaw, stable_argmin
from tacit.numbers.enclosures import BITS, Enclosure, exp
from tacit.numbers.exact import Number

EPSILON, DELTA = Fraction(1), Fraction(1, 10)
_CANDIDATES = integers(0, 2)


def _votes(x: Dataset) -> StepLoss:
    """How many did not vote for y, which a further vote never lowers."""
    return StepLoss.from_losses(_CANDIDATES, [sum(v != y for v in x) for y in range(3)], one_directional=True)


class _LowThreshold(StableArgminLaw):
    """The threshold one lower than the proof asks."""

    def __init__(self, loss: StepLoss) -> None:
        super().__init__(loss, EPSILON, DELTA)
        self.threshold -= 1


class _OneSided(StableArgminLaw):
    """Noise that is never negative, P[Z ≥ k] = e^{-εk}, with its own threshold."""

    def __init__(self, loss: StepLoss) -> None:
        super().__init__(loss, EPSILON, DELTA)
        self.threshold = next(t for t in range(1, 1000) if exp(-EPSILON * (t - 1)).high <= DELTA)

    def pmf(self, y: Number | None, bits: int = BITS) -> Enclosure:
        """P[output = y] with one-sided noise."""
        lead = self.threshold if self._lead is None else self._lead
        released = exp(-EPSILON * max(0, self.threshold - lead), bits)
        if y is None:
            return (1 - released).clamp(0, 1)
        return released if self.grid.index(y) == self._best else Enclosure.of(0, bits)


def _case(
    name: str, loss: Callable[[Dataset], StepLoss], data: list[Dataset], twins: Mapping[str, Mechanism]
) -> AuditCase:
    return AuditCase(
        name=f"stable arg-min, {name}",
        covers="mechanisms.stable_argmin",
        mechanism=lambda x: stable_argmin(loss(x), EPSILON, DELTA),
        datasets=data,
        promised=Approx(EPSILON, DELTA),
        twins={"a threshold one too low": lambda x: _LowThreshold(loss(x)), **twins},
        sampled=[(2,) * 8] if twins else [],
    )


CASES = (
    _case("votes", _votes, datasets((0, 1, 2), 8), {"one-sided noise": lambda x: _OneSided(_votes(x))}),
    _case("median", MEDIAN.loss, MEDIAN.datasets, {}),
)
