"""What all statistics share: a frozen plan that can be compared, checked, and released in a trusted room."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from tacit.answers import Answer, Answers
from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.language.types import ColumnType, Kind
from tacit.mechanisms.noise.noise import gaussian, laplace
from tacit.mechanisms.noise.noise_vector import NoiseVector, gaussian_vector, laplace_vector
from tacit.noises import Noise
from tacit.numbers.units import Unit
from tacit.tables.releasing.costs import Allowance
from tacit.tables.releasing.room import Room

if TYPE_CHECKING:
    from tacit.guarantees import Guarantee
    from tacit.mechanisms.law import Law

Per = Literal["row", "person"]

JOINT_METHODS = ("exponential", "scan", "shifted_inverse")
"""Where a row concerns several persons: how the cap is chosen, or no cap at all; counts and sums have their default."""


class Statistic(ABC):
    """A statistic with its parameters: a frozen value, equal to another when it asks the same."""

    per: Per = "row"
    several: bool = False
    """Whether it can be answered where a row concerns several persons."""

    @property
    @abstractmethod
    def key(self) -> str:
        """Its name for policies, the same for each group: one of `tacit.budgets.policies.STATISTICS`."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What is asked, for people: "sum of amount"."""

    @abstractmethod
    def release(self, room: Room) -> Answer | Answers:
        """Ask the engine, draw, and state the answer."""

    def suits(self, several: bool) -> None:
        """Refuse, before anything is spent, where this cannot be answered because rows concern several persons."""
        if several and self.several and self.per == "person":
            raise UnsupportedQuery(
                f"the {self.words} per person is not supported where a row concerns several persons."
            )
        if several and not self.several:
            raise UnsupportedQuery(
                f"the {self.words} is not supported where a row concerns several persons; ask for a count, sum, "
                "minimum, maximum, number of different values, modal count or maximum degree."
            )

    def check(self, cost: Guarantee) -> None:
        """Refuse a cost this statistic cannot use, before anything is spent."""
        Allowance.of(cost)


def known_method(method: str | None) -> None:
    """Refuse a method that statistics of rows of several persons do not have."""
    if method not in (None, *JOINT_METHODS):
        raise InvalidInput(f"method must be one of {', '.join(JOINT_METHODS)}.")


def noisy(value: int, allowance: Allowance, sensitivity: int = 1) -> tuple[Law[int], Noise]:
    """The law of an integer with noise for this allowance, and that noise."""
    law = (gaussian if allowance.concentrated else laplace)(value, allowance.amount, sensitivity)
    return law, law.noise


def noisy_vector(values: Sequence[int], allowance: Allowance, sensitivity: int) -> tuple[NoiseVector, Noise]:
    """The law of a vector with noise on each part; the sensitivity bounds its ℓ1 norm, and so its ℓ2 norm."""
    law = (gaussian_vector if allowance.concentrated else laplace_vector)(values, allowance.amount, sensitivity)
    return law, law.noise


def unit_of(kind: ColumnType, step: Fraction) -> Unit:
    """The unit in which a column of this type is counted."""
    if kind.kind is Kind.FLOAT:
        return Unit(step, "float")
    if kind.kind is Kind.DECIMAL:
        return Unit(step, "decimal")
    return Unit(step, "integer")
