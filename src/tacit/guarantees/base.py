"""What every guarantee can do: convert, compose, compare, render and read itself, and say what it means to a person.

The four kinds are a few exact numbers each (`Numbered`), written in several ways:

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

import re
from fractions import Fraction
from html import escape
from typing import Any, ClassVar, NoReturn, Self, TypeVar

from tacit.errors import InvalidInput
from tacit.guarantees import rounding
from tacit.guarantees.rounding import percent, plain, written
from tacit.numbers.enclosures import Enclosure
from tacit.numbers.exact import Number, between, positive

G = TypeVar("G", bound="Guarantee")

NEIGHBOURS = "adding or removing one person, with all their rows,"
"""What a guarantee is about, in a sentence."""

KINDS: dict[str, type[Numbered]] = {}
"""The kinds that consist of numbers, by name; each adds itself."""

_CALL = re.compile(r"(\w+)\((.*)\)")


class Guarantee:
    """A promise of differential privacy for one person; the kinds are `Pure`, `Approx`, `Zcdp` and `Renyi`.

    >>> Pure("0.5") + Approx(1, "1e-6")
    Approx(1.5, 1e-06)
    >>> Pure(1) / 4 <= Pure("0.5")
    True
    """

    title = "Differential privacy"
    """The kind's name in a sentence."""
    pays: tuple[str, ...] = ()
    """The keywords of costs that a budget of this kind can pay."""

    def to(self, kind: type[G], *, delta: Number | None = None, order: Number | None = None) -> G:
        """What this guarantee implies in another kind, by the tight formula rounded up to twelve digits.

        A conversion that no finite number makes true is refused.

        Args:
            kind: `Pure`, `Approx`, `Zcdp` or `Renyi`.
            delta: the δ of an `Approx`.
            order: the order of a `Renyi`.

        >>> Zcdp("0.1").to(Approx, delta="1e-6")
        Approx(..., 1e-06)
        """
        if not (isinstance(kind, type) and issubclass(kind, Guarantee)):
            raise InvalidInput("kind must be Pure, Approx, Zcdp or Renyi; give one of these classes.")
        if delta is None and order is None and type(self) is kind:
            return self
        return kind._implied_by(self, delta, order)

    @classmethod
    def _implied_by(cls, given: Guarantee, delta: Number | None, order: Number | None) -> Self:
        """This kind's part of a conversion: checks its parameters and asks ``given`` for the formula."""
        raise InvalidInput("kind must be Pure, Approx, Zcdp or Renyi; give one of these classes.")

    @classmethod
    def within(cls, target: Guarantee) -> Self:
        """The most of this kind whose conversion stays within a target, rounded down to twelve digits.

        Args:
            target: what may not be exceeded.

        >>> Zcdp.within(Approx(1, "1e-6"))
        Zcdp(0.0...)
        """
        raise InvalidInput(f"nothing implies an {cls.__name__} within a target of its own; use Pure, Zcdp or Renyi.")

    def _epsilon_pure(self) -> Fraction:
        """The ε of the `Pure` guarantee this one implies."""
        self._refuse("Pure", "probability ratios have no bound under it; account in another kind")

    def _epsilon_approx(self, delta: Fraction) -> Fraction:
        """The ε implied at this δ."""
        self._refuse("Approx", "no formula for it is known; account in its own kind")

    def _rho(self) -> Fraction:
        """The ρ of the `Zcdp` guarantee this one implies."""
        self._refuse("Zcdp", "it leaves some Rényi divergence without a bound; account in Approx instead")

    def _epsilon_renyi(self, order: Fraction) -> Fraction:
        """The Rényi ε implied at this order."""
        self._refuse("Renyi", "it leaves the Rényi divergence without a bound; account in Approx instead")

    def _mu(self) -> Fraction:
        """The μ of the `Gdp` guarantee this one implies."""
        self._refuse("Gdp", "it leaves a part of the trade-off curve open; account in another kind")

    def _refuse(self, kind: str, reason: str) -> NoReturn:
        raise InvalidInput(f"{self!r} implies no {kind} guarantee, since {reason}.")

    def __add__(self, other: Guarantee) -> Guarantee:
        """Composition of two mechanisms, the second possibly chosen after seeing the first one's answer."""
        if not isinstance(other, Guarantee):
            raise InvalidInput("only guarantees compose with +; write the other one as Pure, Approx, Zcdp or Renyi.")
        return self._plus(other)

    def __radd__(self, other: int) -> Self:
        """``sum([...])`` starts from 0, which spends nothing."""
        if isinstance(other, int) and other == 0:
            return self
        raise InvalidInput("only guarantees compose with +; write the other one as Pure, Approx, Zcdp or Renyi.")

    def _plus(self, other: Guarantee) -> Guarantee:
        """Composition by this kind's rule."""
        self._refuse_sum(other)

    def _refuse_sum(self, other: Guarantee) -> NoReturn:
        names = [type(self).__name__, type(other).__name__]
        remedy = "convert both with .to(Approx, delta=...) first"
        for kind, argument in (("Approx", "delta"), ("Renyi", "order")):
            if kind in names:
                rest = names[1 - names.index(kind)]
                remedy = f"convert the {rest} with .to({kind}, {argument}=...) first"
                break
        raise InvalidInput(f"{names[0]} and {names[1]} do not compose with +; {remedy}.")

    def __mul__(self, times: Number) -> Self:
        """Composition of several mechanisms of this guarantee; a fraction is a share of a budget."""
        return self._scaled(positive(times, "the number of times"))

    __rmul__ = __mul__

    def __truediv__(self, parts: Number) -> Self:
        """One of several equal shares of a budget."""
        return self._scaled(1 / positive(parts, "the number of parts"))

    def _scaled(self, by: Fraction) -> Self:
        raise InvalidInput("this guarantee cannot be scaled; compose it with + instead.")

    def _spent(self, other: Guarantee) -> tuple[Fraction, ...]:
        """The parameters that are compared with those of ``other``, a guarantee of the same kind."""
        raise InvalidInput(f"{type(self).__name__} is not ordered; convert it with .to(Approx, delta=...) first.")

    def __le__(self, other: Guarantee) -> bool:
        """Whether this spends no more than the other, parameter by parameter."""
        return _no_more(self, other)

    def __lt__(self, other: Guarantee) -> bool:
        """Whether this spends no more than the other, and less in some parameter."""
        return _no_more(self, other) and self != other

    def __ge__(self, other: Guarantee) -> bool:
        """Whether the other spends no more than this."""
        return _no_more(other, self)

    def __gt__(self, other: Guarantee) -> bool:
        """Whether the other spends no more than this, and less in some parameter."""
        return _no_more(other, self) and self != other

    @staticmethod
    def of(
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        order: Number | None = None,
    ) -> Guarantee:
        """The guarantee that keywords name.

        Args:
            epsilon: the ε of a `Pure`, an `Approx` or a `Renyi`.
            delta: the δ of an `Approx`.
            rho: the ρ of a `Zcdp`.
            order: the order of a `Renyi`.

        >>> Guarantee.of(epsilon=1, delta="1e-6")
        Approx(1, 1e-06)
        """
        given = {"order": order, "epsilon": epsilon, "delta": delta, "rho": rho}
        numbers = {name: number for name, number in given.items() if number is not None}
        kind = _NAMED.get(tuple(numbers))
        if kind is None:
            raise InvalidInput("name a guarantee by epsilon=, epsilon= and delta=, rho=, or order= and epsilon=.")
        return KINDS[kind](*numbers.values())

    @staticmethod
    def parse(text: str, *, amount: bool = False) -> Guarantee:
        """Read what `text` or `repr` wrote.

        Args:
            text: a kind and its numbers.
            amount: whether numbers may be zero, as in what is spent of a budget.

        >>> Guarantee.parse("Approx 1 1/1000000")
        Approx(1, 1e-06)
        """
        call = _CALL.fullmatch(text)
        name, *numbers = [call[1], *call[2].replace("'", "").split(", ")] if call else text.split(" ")
        try:
            return (KINDS[name].amount if amount else KINDS[name])(*map(Fraction, numbers))
        except (KeyError, TypeError, ValueError, ZeroDivisionError):
            raise InvalidInput('text must be a guarantee such as "Pure 1" or "Approx(1, 1e-06)".') from None

    @classmethod
    def amount(cls, *numbers: Fraction) -> Self:
        """A guarantee used as an amount, any of whose numbers may be zero.

        Nobody asks for a promise of ε = 0, so the constructors refuse it; but a budget of which nothing is spent has
        spent exactly that, and `budget.spent.epsilon` should be 0, not an error.

        Args:
            numbers: the numbers of the kind, in order.

        >>> Pure.amount(0)
        Pure(0)
        """
        raise InvalidInput("an amount is Pure, Approx, Zcdp or Renyi; give one of these.")

    @property
    def numbers(self) -> tuple[Fraction, ...]:
        """The numbers in order."""
        return tuple(self.keywords().values())

    def text(self) -> str:
        """The kind and its numbers, exactly, for ledgers and the wire; `parse` reads it.

        >>> Approx("0.5", "1e-6").text()
        'Approx 1/2 1/1000000'
        """
        raise InvalidInput("a ledger records Pure, Approx, Zcdp and Renyi guarantees; give one of these.")

    def keywords(self) -> dict[str, Fraction]:
        """The numbers by name, as `of` takes them.

        >>> Pure("0.5").keywords()
        {'epsilon': Fraction(1, 2)}
        """
        raise InvalidInput(f"{self!r} is not named by keywords; convert it to Pure, Approx, Zcdp or Renyi first.")

    @property
    def decisive(self) -> tuple[str, Fraction]:
        """The letter and the value of the number with which a measured loss is compared."""
        raise InvalidInput("this kind of guarantee has no exact verification.")

    def addends(self) -> tuple[str, tuple[Fraction, ...]]:
        """A heading, and the numbers that add up with those of other guarantees under the same heading.

        >>> Approx(1, "1e-6").addends()
        ('Approx', (Fraction(1, 1), Fraction(1, 1000000)))
        """
        raise InvalidInput(f"{self!r} is not a few numbers; convert it to Pure, Approx, Zcdp or Renyi first.")

    def ratio_bound(self) -> tuple[Fraction, Fraction] | None:
        """(ε, δ) where probabilities change by a factor e^ε at most, except with probability δ; else None.

        >>> Pure(1).ratio_bound()
        (Fraction(1, 1), Fraction(0, 1))
        """
        return None

    def best_guess(self) -> Fraction:
        """The best chance of guessing correctly whether a person is in the data, starting from even odds; rounded up.

        It is (1 + TV)/2, TV the largest total variation distance between neighbours' results: tanh(ε/2) for ε,
        δ + (1−δ)·tanh(ε/2) for (ε, δ), and at most min(√(k/2), √(1−e^{−k})) where the Kullback–Leibler divergence
        is at most k, which is ρ for `Zcdp` and ε for `Renyi`.

        >>> float(Pure(1).best_guess())
        0.731058...
        """
        return min(Fraction(1), rounding.up(lambda bits: (self._distance(bits) + 1) / 2))

    def _distance(self, bits: int) -> Enclosure:
        """The total variation distance between the results of neighbours, at most."""
        return Enclosure.of(1, bits)

    def missed(self, suspected: Number) -> Fraction:
        """The least chance with which an attacker misses a person who is in the data; rounded down.

        Args:
            suspected: the chance with which the attacker suspects a person falsely, between 0 and 1.

        >>> float(Pure(1).missed("0.05"))
        0.864...
        """
        from tacit.guarantees.trade_offs import missed  # made of all kinds

        return missed(self, between(suspected, "suspected", 0, 1))

    def plot(self, *more: Guarantee) -> Any:
        """A picture of what an attacker must put up with: persons missed against persons suspected falsely.

        Args:
            more: other guarantees to draw beside it, such as the budget's total beside what is spent.

        >>> Pure(1).plot(Approx(1, "1e-6"))
        <Figure size ...>
        """
        import tacit  # pictures stand above this package, so Tacit itself is asked

        return tacit._trade_off(self, *more)

    def describe(self) -> str:
        """What the guarantee means for a person, in one sentence.

        >>> print(Pure("0.5").describe())
        Pure differential privacy with ε = 0.5: adding or removing one person, with all their rows, ...
        """
        return (
            f"{self.title} with {self.symbols()}: {self._meaning()}, so whoever starts from even odds guesses rightly "
            f"whether a given person is in the data with probability at most {percent(self.best_guess())}."
        )

    def symbols(self) -> str:
        """The numbers in a sentence, rounded up where they are long.

        >>> Approx(1, "1e-6").symbols()
        'ε = 1 and δ = 1e-06'
        """
        return repr(self)

    def short(self) -> str:
        """The numbers in a table, to six digits.

        >>> Approx(1, "1e-6").short()
        'ε = 1, δ = 1e-06'
        """
        return repr(self)

    def _meaning(self) -> str:
        return f"{NEIGHBOURS} changes the probabilities of results only a little"

    def _repr_html_(self) -> str:
        return f"<div><strong>{escape(self.symbols())}</strong><br><small>{escape(self.describe())}</small></div>"


_NAMED = {("epsilon",): "Pure", ("epsilon", "delta"): "Approx", ("rho",): "Zcdp", ("order", "epsilon"): "Renyi"}
"""The kind that each choice of keywords names."""


def _no_more(a: object, b: object) -> bool:
    if not (isinstance(a, Guarantee) and isinstance(b, Guarantee)):
        raise InvalidInput("a guarantee is compared only with a guarantee; write the other one as Pure, Approx or so.")
    if type(a) is not type(b):
        names = f"{type(a).__name__} and {type(b).__name__}"
        raise InvalidInput(f"{names} are not ordered; convert one with .to(...) first.")
    return all(x <= y for x, y in zip(a._spent(b), b._spent(a), strict=True))


LETTERS = {"epsilon": "ε", "delta": "δ", "rho": "ρ", "order": "α", "mu": "μ"}
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
    def amount(cls, *numbers: Fraction) -> Self:
        """A guarantee used as an amount, any of whose numbers may be zero."""
        result = object.__new__(cls)
        for name, number in zip(cls.__match_args__, numbers, strict=True):
            object.__setattr__(result, name, number)
        return result

    @property
    def numbers(self) -> tuple[Fraction, ...]:
        """The numbers in order."""
        return tuple(getattr(self, name) for name in self.__match_args__)

    def keywords(self) -> dict[str, Fraction]:
        """The numbers by name."""
        return dict(zip(self.__match_args__, self.numbers, strict=True))

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
