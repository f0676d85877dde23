"""Units: how whole numbers inside Tacit become the values people see.

Inside, every amount is an integer count of a public step (1 for integers, 10^−s for DECIMAL(p, s), 10^−6 for
floats unless hinted otherwise). A `Unit` turns such a count back into the column's own kind of number.
"""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal

Kind = Literal["integer", "decimal", "float"]


@dataclass(frozen=True)
class Unit:
    """A public step and the kind of number the column holds."""

    step: Fraction = Fraction(1)
    kind: Kind = "integer"

    def value(self, count: Fraction | int) -> int | float | Decimal:
        """The count of steps as a number of the column's kind."""
        amount = self.step * count
        if self.kind == "integer":
            return round(amount)
        if self.kind == "decimal":
            return Decimal(round(count)) * (Decimal(self.step.numerator) / Decimal(self.step.denominator))
        return float(amount)

    def __str__(self) -> str:
        return f"{float(self.step):g}"


WHOLE = Unit()
"""Counts of persons or rows."""
REAL = Unit(kind="float")
"""Ratios, means and the like."""
