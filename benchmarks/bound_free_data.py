"""What the study of bound-free sums is made of: person totals of many shapes, the best cap that knows them, noises.

Noise is drawn with floating-point numbers here, vectorised; the library's own sampler is exact, and the study checks
that the two agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rng = np.random.Generator

SHAPES = ("lognormal", "Pareto 1.5", "Pareto 2.5", "exponential", "uniform", "constant", "Weibull 0.5", "one giant")
SIZES = (2_000, 20_000, 200_000)


@dataclass(frozen=True, eq=False)
class Totals:
    """The totals of all persons, sorted."""

    name: str
    sorted: Floats

    @classmethod
    def of(cls, name: str, totals: Floats) -> Totals:
        """Totals of zero do not count."""
        return cls(name, np.sort(totals[totals > 0]))

    @cached_property
    def _running(self) -> Floats:
        return np.concatenate([[0.0], np.cumsum(self.sorted)])

    @property
    def persons(self) -> int:
        """How many have a total."""
        return len(self.sorted)

    @property
    def truth(self) -> float:
        """The sum."""
        return float(self._running[-1])

    def split(self, caps: Floats) -> tuple[Floats, Floats]:
        """Persons above each cap, and the sum of the totals up to it."""
        place = np.searchsorted(self.sorted, caps, side="right")
        return (self.persons - place).astype(float), self._running[place]

    def capped(self, caps: Floats) -> Floats:
        """Σ min(s, cap)."""
        above, within = self.split(caps)
        return within + caps * above

    @lru_cache(maxsize=64)  # noqa: B019 — a study ends
    def oracle(self, epsilon: float) -> float:
        """The median error of Laplace noise for the best cap, chosen with knowledge of the data, all of ε for noise."""
        caps = np.unique(np.concatenate([np.geomspace(1, self.sorted[-1], 4000), self.sorted[-200:]]))
        return float(_median_error(caps / epsilon, self.truth - self.capped(caps)).min())


def _median_error(scale: Floats, bias: Floats) -> Floats:
    """The median of |L − bias| for Laplace L, by bisection."""
    low, high = np.zeros_like(scale), bias + 5 * scale
    for _ in range(50):
        middle = (low + high) / 2
        inside = _laplace_cdf((bias + middle) / scale) - _laplace_cdf((bias - middle) / scale)
        low, high = np.where(inside < 0.5, middle, low), np.where(inside < 0.5, high, middle)
    return high


def _laplace_cdf(x: Floats) -> Floats:
    tail = 0.5 * np.exp(-np.abs(x))
    return np.where(x < 0, tail, 1 - tail)


def shape(name: str, persons: int, rng: Rng) -> Floats:
    """Totals of one shape, in no particular unit."""
    u = 1 - rng.random(persons)
    match name:
        case "lognormal":
            return rng.lognormal(3, 1.5, persons)
        case "Pareto 1.5" | "Pareto 2.5":
            return np.asarray(u ** (-1 / float(name[-3:])))
        case "exponential":
            return rng.exponential(1, persons)
        case "uniform":
            return u
        case "constant":
            return np.ones(persons)
        case "Weibull 0.5":
            return rng.weibull(0.5, persons)
    giant = rng.exponential(1, persons)  # one giant
    giant[0] = 10 ** rng.uniform(2, 5)
    return giant


def collection(seed: int, sizes: tuple[int, ...] = SIZES, unit: float = 100) -> list[Totals]:
    """All shapes in all sizes, each counted in a unit of its own so that no cap of the list is met by design."""
    rng = np.random.default_rng(seed)
    return [
        Totals.of(f"{name}, {persons:,}", np.rint(shape(name, persons, rng) * unit * 10 ** rng.uniform(0, 1)))
        for name in SHAPES
        for persons in sizes
    ]


@lru_cache(maxsize=1)
def evidence() -> Totals:
    """The data of evidence A: 10 million rows of 200,000 persons, heavy tails, as person totals."""
    rng = np.random.default_rng(7)
    persons, rows = 200_000, 10_000_000
    rate = rng.lognormal(0, 1, persons)
    person = rng.choice(persons, rows, p=rate / rate.sum())
    weight = (1 - rng.random(persons)) ** (-1 / 2)
    amount = np.rint(np.exp(rng.normal(3, 1, rows)) * weight[person])
    totals: Floats = np.bincount(person, weights=amount, minlength=persons).astype(np.float64)
    return Totals.of("evidence A", totals)


def geometric(rng: Rng, rate: Floats | float, size: int | tuple[int, ...]) -> Floats:
    """⌊E/rate⌋."""
    return np.floor(rng.exponential(1, size) / rate)


def lopsided(rng: Rng, up: Floats | float, down: Floats | float, size: int) -> Floats:
    """The difference of two geometrics: e^{-up·z} above 0, e^{-down·|z|} below."""
    return geometric(rng, up, size) - geometric(rng, down, size)


def drawn(rng: Rng, probabilities: Floats, size: int) -> NDArray[np.intp]:
    """Places drawn from a list of probabilities."""
    ends = np.cumsum(probabilities)
    places: NDArray[np.intp] = np.searchsorted(ends, rng.random(size) * ends[-1], side="right")
    return places


def weighed(above: Floats, caps: Floats, rate: float, power: float) -> Floats:
    """P(C) ∝ C^-power·e^{-rate·N(C)}."""
    logs = -rate * above - power * np.log(caps)
    return np.asarray(np.exp(logs - logs.max()))


def scanned(above: Floats, threshold: float, each: float, offset: float) -> Floats:
    """Where the upward scan stops."""
    first = min(int(np.searchsorted(-above, -(offset + 45 / each))), len(above) - 1)  # before, it never does
    last = min(len(above), int(np.searchsorted(-above, 0)) + 120)
    xi = np.arange(int(40 / threshold) + 1.0)[:, None]
    stop = np.exp(-each * np.maximum(0, above[None, first:last] - offset + xi))
    going = np.cumprod(np.concatenate([np.ones((len(xi), 1)), 1 - stop[:, :-1]], axis=1), axis=1)
    result = np.zeros(len(above))
    result[first:last] = (np.exp(-threshold * xi[:, 0]) * -np.expm1(-threshold)) @ (going * stop)
    return result
