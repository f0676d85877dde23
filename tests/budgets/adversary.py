"""The worst adversary against a filter, exactly: every adaptive strategy over a small menu of costs.

A cost ε is answered by randomised response, which dominates every ε-DP mechanism; a cost (ε, δ) by the same with a flag
that gives everything away with probability δ, which dominates every (ε, δ) one. After each answer the adversary, who
knows the privacy loss L so far, takes any further cost the filter admits, or stops. Optimal play is found by recursion
over (how often each cost was taken, L); values are rigorous enclosures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache

from tacit.budgets.filters import Filter, Vector, plus
from tacit.guarantees import Approx, Guarantee, Pure
from tacit.numbers.enclosures import Enclosure, exp

_BITS = 64


def highest(values: Sequence[Enclosure]) -> Enclosure:
    return Enclosure.between(max(v.low for v in values), max(v.high for v in values), _BITS)


def numbers(cost: Guarantee) -> tuple[Fraction, Fraction]:
    assert isinstance(cost, Pure | Approx)
    return cost.epsilon, cost.delta if isinstance(cost, Approx) else Fraction(0)


def worst(
    rule: Filter,
    menu: Sequence[Guarantee],
    stop: Callable[[Vector, Fraction], Enclosure],
    *,
    must_look: Callable[[Vector, Fraction], bool] = lambda sums, loss: False,
) -> Enclosure:
    """The largest expected ``stop(sums, L)`` that any strategy reaches; the flag counts 1.

    Where ``must_look`` is true the game ends at once.
    """
    measured = [rule.measure(cost) for cost in menu]
    chances = [exp(numbers(cost)[0], _BITS) / (1 + exp(numbers(cost)[0], _BITS)) for cost in menu]

    @cache
    def value(counts: tuple[int, ...], loss: Fraction) -> Enclosure:
        sums = total(counts)
        best = [stop(sums, loss)]
        if not must_look(sums, loss):
            for i, cost in enumerate(menu):
                if rule.admits(plus(sums, measured[i])):
                    epsilon, delta = numbers(cost)
                    more = (*counts[:i], counts[i] + 1, *counts[i + 1 :])
                    good = chances[i] * value(more, loss + epsilon) + (1 - chances[i]) * value(more, loss - epsilon)
                    best.append(good * (1 - delta) + delta)
        return highest(best)

    def total(counts: tuple[int, ...]) -> Vector:
        sums = rule.nothing
        for count, vector in zip(counts, measured, strict=True):
            sums = plus(sums, tuple(count * x for x in vector))
        return sums

    return value((0,) * len(menu), Fraction(0))


def hockey_stick(epsilon: Fraction) -> Callable[[Vector, Fraction], Enclosure]:
    """max(0, 1 − e^{ε−L}): its expectation is the δ that ε leaves."""

    def stop(sums: Vector, loss: Fraction) -> Enclosure:
        return 1 - exp(epsilon - loss, _BITS) if loss > epsilon else Enclosure.of(0, _BITS)

    return stop
