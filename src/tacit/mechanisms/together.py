"""Shared weight: several draws as one, each about a part of everybody's weight.

PROMISE  Pure(ε) for all draws together, if a draw's loss of privacy is at most ε·w between datasets that differ in a
person who weighs w there, and nobody's weights over all draws add up to more than 1.

PROOF  The draws are independent, so the ratio of two joint probabilities is the product of the draws' own ratios: at
most Π e^{ε·w_i} = e^{ε·Σ w_i} ≤ e^ε, both ways. A person's weights must follow from their own rows and from what was
released before. A person in one group weighs 1 there and costs what one person costs, however many groups there are.

ROUNDING  The losses must be counted as finely as the weights: a loss rounded to whole persons lets a person who weighs
a hundredth move it by a whole step, and then the sum above is not what is paid.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any, Generic, Self, TypeVar

from tacit.guarantees import Guarantee
from tacit.mechanisms.law import Law, Named
from tacit.numbers.enclosures import BITS, Enclosure, total
from tacit.proofs import Argument, Proof
from tacit.proofs import rules as by
from tacit.randomness.source import Randomness

T = TypeVar("T")


class Together(Law[tuple[T, ...]], Generic[T]):
    """The law of independent draws, made at once and promised as one."""

    name = "draws by shared weight"

    def __init__(self, parts: Sequence[Law[Any]], guarantee: Guarantee, weight: Fraction | int = 1) -> None:
        """``weight`` is what nobody exceeds over all draws, in the unit in which a draw's own promise counts."""
        self._parts, self.guarantee, self.weight = list(parts), guarantee, weight
        self._known: dict[tuple[int, Any, int], Enclosure] = {}

    def _draw(self, source: Randomness) -> tuple[T, ...]:
        return tuple(part._draw(source) for part in self._parts)

    def pmf(self, y: tuple[T, ...], bits: int = BITS) -> Enclosure:
        """The product of the parts' probabilities."""
        result = Enclosure.of(1, bits)
        for place, (part, value) in enumerate(zip(self._parts, y, strict=True)):
            if (asked := (place, value, bits)) not in self._known:  # outputs share what their parts have in common
                self._known[asked] = part.pmf(value, bits)
            result = result * self._known[asked]
        return result

    def named(self) -> Named | None:
        """The parts, equal neighbours once, each with how many there are."""
        parts: list[tuple[int, Named]] = []
        for part in self._parts:
            law = part.named()
            if law is None:
                return None
            if parts and parts[-1][1] == law:
                parts[-1] = parts[-1][0] + 1, law
            else:
                parts.append((1, law))
        listed = [{"times": str(times), "law": law} for times, law in parts]
        return {"law": "shared weight", "weight": str(self.weight), "parts": listed}

    def outcomes(self) -> Iterable[tuple[T, ...]]:
        """Every combination of the parts' windows."""
        return product(*(part.outcomes() for part in self._parts))

    def key(self) -> Hashable:
        """The parts'."""
        return type(self), self.guarantee, tuple(part.key() for part in self._parts)

    def telling_points(self, laws: Sequence[Self]) -> list[tuple[T, ...]] | None:
        """Every combination of the parts' telling points: there each part's ratio is largest."""
        columns = zip(*(law._parts for law in laws), strict=True)
        points = [column[0].telling_points(column) for column in columns]
        known = [outputs for outputs in points if outputs is not None]
        return list(product(*known)) if len(known) == len(points) else None

    def outcomes_to_follow(self) -> list[tuple[T, ...]]:
        """Every combination of the parts'."""
        return list(product(*(part.outcomes_to_follow() for part in self._parts)))

    def concentrated_loss(self, other: Self) -> Enclosure | None:
        """The sum over the parts, which are independent."""
        losses = [a.concentrated_loss(b) for a, b in zip(self._parts, other._parts, strict=True)]
        known = [loss for loss in losses if loss is not None]
        return total(known) if len(known) == len(losses) else None


def share(p: Argument, epsilon: Any, largest: Any, price: Any, *, total: int = 1) -> Any:
    """The price of any number of draws: ``price`` is that of one in which the person weighs w, ``largest`` the most
    that anybody weighs in all of them, and what was spent is at most ε times the weight used, over ``largest``.
    """

    def draw(state: Any) -> Any:
        weight = p.count("w")
        return (state[0] + weight,), price(weight)

    def invariant(spent: Any, state: Any) -> Any:
        return spent * largest <= epsilon * state[0]

    return by.loop(p, (0,), invariant, draw, lambda state: state[0] <= total * largest, epsilon)


def argue(p: Argument, *, total: int = 1) -> None:
    """Draws that lose in proportion to what the person weighs in them."""
    epsilon, largest = p.positive("ε"), p.count("largest", 1)

    def price(weight: Any) -> Any:
        loss = p.real("loss")
        p.assume(loss * largest <= epsilon * weight)
        return loss

    p.promise(share(p, epsilon, largest, price, total=total), epsilon)


PROOFS = (
    Proof(
        "shared weight",
        "mechanisms.together.Together",
        "Pure(ε)",
        argue,
        "a draw's loss is at most ε·w/largest where the person weighs w; nobody weighs more than `largest` in all",
    ),
)
