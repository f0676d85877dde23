"""What the four kinds have in common: a guarantee that is a few exact numbers, which renders and reads itself.

| how | looks like | read by |
|---|---|---|
| `repr` | ``Approx(1, 1e-06)``, exact | Python, `Guarantee.parse` |
| `text()` | ``Approx 1 1/1000000``, exact | `Guarantee.parse` |
| `keywords()` | ``{"epsilon": 1, "delta": 1/1000000}``, exact | `Guarantee.of` |
| `symbols()` | ``ε = 1 and δ = 1e-06``, never too small | people, in a sentence |
| `short()` | ``ε = 1, δ = 1e-06``, six digits | people, in a table |

Ledgers and the wire hold `text()`: it never changes, or the hashes of old ledgers would not fit any more.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, Self

from tacit.guarantees.base import KINDS, Guarantee
from tacit.guarantees.words import plain, written
from tacit.numbers.exact import Number

LETTERS = {"epsilon": "ε", "delta": "δ", "rho": "ρ", "order": "α"}
"""How the numbers are written for people."""


class Numbered(Guarantee):
    """A guarantee that is a frozen dataclass of exact numbers."""

    __match_args__: ClassVar[tuple[str, ...]]
    decides: ClassVar[str]
    """The number with which a measured loss is compared."""

    def __init__(self, *numbers: Number) -> None:
        raise TypeError("each kind has its own numbers")

    def __init_subclass__(cls) -> None:
        """Every kind can be read back by its name."""
        KINDS[cls.__name__] = cls

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(written, self.numbers))})"

    @classmethod
    def _made(cls, *numbers: Number) -> Self:
        return cls(*numbers)

    @classmethod
    def amount(cls, *numbers: Fraction) -> Self:
        """A guarantee used as an amount, any of whose numbers may be zero."""
        result = object.__new__(cls)
        for name, number in zip(cls.__match_args__, numbers, strict=True):
            object.__setattr__(result, name, number)
        return result

    def keywords(self) -> dict[str, Fraction]:
        """The numbers by name."""
        return {name: getattr(self, name) for name in self.__match_args__}

    def text(self) -> str:
        """The kind and its numbers, exactly, for ledgers and the wire."""
        return f"{type(self).__name__} {' '.join(map(str, self.numbers))}"

    def symbols(self) -> str:
        """The numbers in a sentence, rounded up where they are long."""
        return " and ".join(f"{LETTERS[name]} = {plain(number)}" for name, number in self.keywords().items())

    def short(self) -> str:
        """The numbers in a table, to six digits."""
        return ", ".join(f"{LETTERS[name]} = {float(number):.6g}" for name, number in self.keywords().items())

    @property
    def decisive(self) -> tuple[str, Fraction]:
        """The letter and the value of the number with which a measured loss is compared."""
        return LETTERS[self.decides], self.keywords()[self.decides]

    def addends(self) -> tuple[str, tuple[Fraction, ...]]:
        """A heading, and the numbers that add up with those of other guarantees under the same heading."""
        return type(self).__name__, self.numbers

    def _scaled(self, by: Fraction) -> Self:
        return type(self)(*(by * number for number in self.numbers))
