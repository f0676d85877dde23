"""The kinds of guarantee, as frozen exact values."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tacit.exact import Number, between, non_negative, positive


class Guarantee:
    """A promise of differential privacy."""


@dataclass(frozen=True, init=False)
class Pure(Guarantee):
    """ε-differential privacy."""

    epsilon: Fraction

    def __init__(self, epsilon: Number) -> None:
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))


@dataclass(frozen=True, init=False)
class Approx(Guarantee):
    """(ε, δ)-differential privacy."""

    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: Number, delta: Number) -> None:
        object.__setattr__(self, "epsilon", non_negative(epsilon, "epsilon"))
        object.__setattr__(self, "delta", between(delta, "delta", 0, 1))


@dataclass(frozen=True, init=False)
class Zcdp(Guarantee):
    """ρ-zero-concentrated differential privacy."""

    rho: Fraction

    def __init__(self, rho: Number) -> None:
        object.__setattr__(self, "rho", positive(rho, "rho"))


@dataclass(frozen=True, init=False)
class Renyi(Guarantee):
    """(α, ε)-Rényi differential privacy."""

    order: Fraction
    epsilon: Fraction

    def __init__(self, order: Number, epsilon: Number) -> None:
        object.__setattr__(self, "order", positive(order, "order"))
        object.__setattr__(self, "epsilon", non_negative(epsilon, "epsilon"))
