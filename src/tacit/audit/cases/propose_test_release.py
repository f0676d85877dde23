"""Propose-test-release for the median and the interquartile range, with one bound and with a scan.

Twins: no test, a threshold that is one too low, noise for half the bound, and a scan whose room forgets that there are
several bounds.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tacit.audit.exact import Dataset, Mechanism, datasets
from tacit.audit.registry import AuditCase
from tacit.guarantees import Approx
from tacit.mechanisms.local.order_statistics import InterquartileRange, Quantile
from tacit.mechanisms.local.propose_test_release import ProposedLaw, ScannedLaw, propose_test_release
from tacit.mechanisms.local.sensitivities import LocalStatistic
from tacit.mechanisms.noise.noise import NoisyInteger, laplace

GUARANTEE = Approx(4, Fraction(1, 10))
MEDIAN = Quantile(0, 4)
UNIVERSE, ONE = (0, 1, 4), Fraction(1)


def _proposed(statistic: LocalStatistic, kind: type[ProposedLaw] = ProposedLaw) -> Mechanism:
    return lambda x: kind(statistic, x, ONE, ONE, GUARANTEE)


class _LowThreshold(ProposedLaw):
    """A threshold lower by one."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.threshold -= 1


class _NoTest(ProposedLaw):
    """A bound that is believed."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.threshold -= 1000


class _HalfNoise(ProposedLaw):
    """Noise for half the bound."""

    def _noise(self, place: int) -> NoisyInteger:
        return laplace(self._index, 2 * self._epsilon)


class _NoRoom(ScannedLaw):
    """A scan that may stop at any bound."""

    @classmethod
    def _room(cls, epsilon: Fraction, bounds: int, delta: Fraction) -> tuple[int, int, Fraction]:
        _, offset, share = super()._room(epsilon, bounds, delta)
        return offset + 1, offset, share


def _scanned(statistic: LocalStatistic, kind: type[ScannedLaw] = ScannedLaw) -> Mechanism:
    bounds = [ONE, 2 * ONE, 4 * ONE]
    return lambda x: kind(statistic, x, ONE, bounds, GUARANTEE)


def _case(name: str, mechanism: Mechanism, data: list[Dataset], twins: dict[str, Mechanism]) -> AuditCase:
    return AuditCase(
        name=f"propose-test-release, {name}",
        covers="mechanisms.propose_test_release",
        mechanism=mechanism,
        datasets=data,
        promised=GUARANTEE,
        twins=twins,
    )


CASES = (
    _case(
        "median, one bound",
        lambda x: propose_test_release(MEDIAN, x, GUARANTEE.epsilon, GUARANTEE.delta, 1, lattice=1),
        datasets(UNIVERSE, 5),
        {
            "a threshold one too low": _proposed(MEDIAN, _LowThreshold),
            "no test": _proposed(MEDIAN, _NoTest),
            "noise for half the bound": _proposed(MEDIAN, _HalfNoise),
        },
    ),
    _case("interquartile range, one bound", _proposed(InterquartileRange(0, 4)), datasets(UNIVERSE, 4), {}),
    _case(
        "median, scanned bound",
        lambda x: propose_test_release(MEDIAN, x, GUARANTEE.epsilon, GUARANTEE.delta, lattice=1),
        datasets(UNIVERSE, 5),
        {"no room left below the threshold": _scanned(MEDIAN, _NoRoom)},
    ),
    _case("interquartile range, scanned bound", _scanned(InterquartileRange(0, 4)), datasets(UNIVERSE, 4), {}),
)
