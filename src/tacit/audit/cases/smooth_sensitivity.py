"""Smooth sensitivity with every noise and statistic, on a coarse lattice, by the exact tails of the noise.

Small datasets do not reach the worst that a smooth sensitivity may do, so each noise is also verified on pairs that do:
a shift by the whole sensitivity and a scale that moves by the whole factor e^t. Twins: noise scaled to the local
sensitivity at hand; a shift that spends all of ε, as if the scale cost nothing; and Laplace noise taken for pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from tacit.audit.exact import Dataset, Mechanism, datasets
from tacit.audit.registry import AuditCase
from tacit.mechanisms.law import Law
from tacit.mechanisms.local.order_statistics import InterquartileRange, Maximum, Minimum, Quantile, TrimmedMean
from tacit.mechanisms.local.sensitivities import LocalStatistic
from tacit.mechanisms.local.smooth_sensitivity import FLOOR, SmoothLaw, smooth
from tacit.mechanisms.local.triangles import Triangles
from tacit.noises.smooth_noises import LaplaceNoise, LogNormalNoise, PowerNoise, SmoothNoise, StudentNoise
from tacit.numbers.enclosures import Enclosure

EPSILON, DELTA, RHO = Fraction(1), Fraction(1, 1000), Fraction(1, 2)
STUDENT = StudentNoise(EPSILON)
UNIVERSE = (0, 1, 4)
MEDIAN = Quantile(0, 4)


def law(statistic: LocalStatistic, noise: SmoothNoise, lattice: Fraction = Fraction(1)) -> Mechanism:
    """The mechanism; data of equal value and smooth sensitivity share one law."""
    return _shared(statistic, noise, lattice, lambda x: smooth(statistic, x, noise.parameters()[0], FLOOR * lattice))


def _shared(
    statistic: LocalStatistic, noise: SmoothNoise, lattice: Fraction, scale: Callable[[Any], Fraction]
) -> Mechanism:
    laws: dict[tuple[Fraction, Fraction], Law[Any]] = {}

    def build(x: Dataset) -> Law[Any]:
        key = (statistic.value(x), scale(x))
        if key not in laws:
            laws[key] = SmoothLaw(statistic, *key, noise, lattice)
        return laws[key]

    return build


@dataclass(frozen=True)
class _AllShift(StudentNoise):
    """s as large as if t cost nothing."""

    def largest_shift(self, t: Enclosure) -> Enclosure:
        """(ε − 0)·2√d/(d + 1)."""
        return super().largest_shift(Enclosure.of(0))


@dataclass(frozen=True)
class _PureLaplace(LaplaceNoise):
    """Laplace noise as if s + t ≤ ε were enough."""

    @property
    def pace(self) -> float:
        """Half of ε."""
        return float(self.epsilon) / 2

    def largest_shift(self, t: Enclosure) -> Enclosure:
        """ε − t."""
        return self.epsilon - t


@dataclass(frozen=True)
class _FourShifts(LogNormalNoise):
    """Four times the shift that the condition admits."""

    def largest_shift(self, t: Enclosure) -> Enclosure:
        """4·s."""
        return super().largest_shift(t) * 4


def extreme(noise: SmoothNoise, points: int = 49) -> Mechanism:
    """Made-up neighbours of (): the value moved as far as the sensitivity allows, the sensitivity by e^t or e^{-t}."""
    r = noise.parameters()[0]
    parts = {"up": (Fraction(1), 1 / r), "down": (r, r), "scale": (Fraction(0), 1 / r), "shift": (Fraction(1),) * 2}
    return lambda x: _Wide(points, *(parts[x[0]] if x else (Fraction(0), Fraction(1))), noise)


EXTREME: list[Dataset] = [(), ("up",), ("down",), ("scale",), ("shift",)]


class _Wide(SmoothLaw):
    """With a window of ``points`` half steps around 0."""

    def __init__(self, points: int, value: Fraction, sensitivity: Fraction, noise: SmoothNoise) -> None:
        super().__init__(MEDIAN, value, sensitivity, noise, Fraction(1, 2))
        self._points = points

    def outcomes(self) -> Iterator[Fraction]:
        """The values around 0."""
        return (Fraction(i - self._points // 2, 2) for i in range(self._points))


def _at_hand(statistic: LocalStatistic, noise: SmoothNoise) -> Mechanism:
    """Noise scaled to the local sensitivity of the data themselves."""
    return _shared(statistic, noise, Fraction(1), lambda x: max(FLOOR, next(statistic.growth(x))))


def _case(
    name: str,
    statistic: LocalStatistic,
    noise: SmoothNoise,
    data: Sequence[Dataset],
    twins: Mapping[str, Mechanism] | None = None,
) -> AuditCase:
    return _of(name, noise, law(statistic, noise), data, twins or {})


def _of(
    name: str, noise: SmoothNoise, mechanism: Mechanism, data: Sequence[Dataset], twins: Mapping[str, Mechanism]
) -> AuditCase:
    covers = "mechanisms.smooth_sensitivity"
    return AuditCase(f"smooth sensitivity, {name}", covers, mechanism, data, noise.guarantee, twins)


def _extreme_case(
    name: str, noise: SmoothNoise, twins: Mapping[str, SmoothNoise] | None = None, points: int = 49
) -> AuditCase:
    wrong = {twin: extreme(other, points) for twin, other in (twins or {}).items()}
    return _of(f"the worst pairs for {name}", noise, extreme(noise, points), EXTREME, wrong)


NODES = 4
_EDGES = list(combinations(range(NODES), 2))
GRAPHS = [graph for n in range(len(_EDGES) + 1) for graph in combinations(_EDGES, n)]

CASES = (
    _case(
        "median",
        MEDIAN,
        STUDENT,
        datasets(UNIVERSE, 5),
        {"noise scaled to the local sensitivity": _at_hand(MEDIAN, STUDENT)},
    ),
    _case("upper quartile", Quantile(0, 4, Fraction(3, 4)), STUDENT, datasets(UNIVERSE, 4)),
    _case("maximum", Maximum(0, 4), STUDENT, datasets(UNIVERSE, 4)),
    _case("minimum", Minimum(0, 4), STUDENT, datasets(UNIVERSE, 4)),
    _case("interquartile range", InterquartileRange(0, 4), STUDENT, datasets(UNIVERSE, 4)),
    _case("trimmed mean", TrimmedMean(0, 4, 1), STUDENT, datasets(UNIVERSE, 5)),
    _case(
        "triangles under edge privacy",
        Triangles(NODES),
        STUDENT,
        GRAPHS,
        {"noise scaled to the local sensitivity": _at_hand(Triangles(NODES), STUDENT)},
    ),
    _case("median with power noise", MEDIAN, PowerNoise(EPSILON, Fraction(2)), datasets(UNIVERSE, 3)),
    _case("median with Laplace noise", MEDIAN, LaplaceNoise(EPSILON, DELTA), datasets(UNIVERSE, 4)),
    _extreme_case("Student noise", STUDENT, {"nothing paid for the scale": _AllShift(EPSILON)}),
    _extreme_case("Student noise, d = 3", StudentNoise(EPSILON, 3)),
    _extreme_case("power noise, γ = 2", PowerNoise(EPSILON, Fraction(2))),
    _extreme_case("power noise, γ = 2.7", PowerNoise(EPSILON)),
    _extreme_case(
        "Laplace noise",
        LaplaceNoise(EPSILON, DELTA),
        {"as if Laplace noise were pure": _PureLaplace(EPSILON, DELTA)},
        points=161,
    ),
    _extreme_case(
        "Laplace-log-normal noise", LogNormalNoise(RHO), {"a shift four times too large": _FourShifts(RHO)}, 7
    ),
)
