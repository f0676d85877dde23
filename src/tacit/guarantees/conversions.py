"""What one kind of guarantee implies in another: the formulas, as rigorous enclosures.

Every function takes exact numbers and a precision, and returns an interval that surely contains the formula's value;
`kinds` rounds it the safe way. ε-differential privacy is always bounded through randomised response: any two laws
within a factor e^ε of each other are one common post-processing of the two laws of a coin that tells the truth with
probability e^ε/(1+e^ε), so whatever divergence obeys data processing is largest for that coin.

- Rényi divergence of the coin, order α:  ε̂(α) = ln(cosh((α−½)ε)/cosh(ε/2))/(α−1)
                                               = ε − ln((1+e^{−ε})/(1+e^{−(2α−1)ε}))/(α−1).
- zCDP of the coin:  ρ = ε·tanh(ε/2). Why: with s = (α−½)², ln cosh(ε√s) is concave in s, because its derivative
  ε·tanh(ε√s)/(2√s) falls; so it lies below its tangent at s = ¼, whose slope is ε·tanh(ε/2). As s − ¼ = α(α−1), that
  says ε̂(α) ≤ α·ε·tanh(ε/2) for every α > 1, with equality in the limit α → 1.
- (ε', δ') of the coin, or of what is (ε, δ) to begin with:  δ' = δ + (1−δ)(e^ε − e^{ε'})/(1+e^ε) for 0 ≤ ε' ≤ ε, so
  ε' = ε + ln(1 − θ(1+e^{−ε})) with θ = (δ'−δ)/(1−δ), and 0 where that is negative.
- Rényi of order α with value ε̂ → (ε', δ):  ε' = ε̂ + ln(1−1/α) + (ln(1/δ) − ln α)/(α−1), which solves
  δ = e^{(α−1)(ε̂−ε')}(1−1/α)^α/(α−1). Why: with L the privacy loss, δ = E[(1−e^{ε'−L})₊] ≤ c·E[e^{(α−1)L}] where
  c = max_z (1−e^{ε'−z})·e^{−(α−1)z}, reached at e^{ε'−z} = 1−1/α.
- ρ-zCDP → (ε', δ): the same with ε̂ = αρ at the best α. ln δ is convex in α for fixed ε', so ε' falls and then rises
  with α and a golden-section search finds its minimum. Any α gives a valid bound; the search only decides how tight.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import exp2, floor, sqrt

from tacit.numbers.enclosures import Enclosure, exp, log

Curve = Callable[[Fraction, int], Enclosure]
"""A Rényi curve: order and precision to divergence."""


def exp_minus(x: Fraction, bits: int) -> Enclosure:
    """e^{−x} for x ≥ 0; where it is lost beside 1 at this precision, an interval from 0 to something smaller still."""
    if x > 2 * bits:
        return Enclosure(0, 1, -2 * bits, bits)
    return exp(-x, bits)


def tanh_half(epsilon: Fraction, bits: int) -> Enclosure:
    """tanh(ε/2), the total variation distance of randomised response."""
    r = exp_minus(epsilon, bits)
    return (1 - r) / (1 + r)


def pure_renyi(epsilon: Fraction, order: Fraction, bits: int, size: int = 2) -> Enclosure:
    """The Rényi divergence of randomised response among ``size`` answers.

    With two answers it is the largest that ε-differential privacy allows. Among k it is
    ε + ln((1 + (k−2)e^{−αε} + e^{−(2α−1)ε})/(1 + (k−1)e^{−ε}))/(α−1).
    """
    top = exp_minus((2 * order - 1) * epsilon, bits) + 1
    if size > 2:
        top = top + exp_minus(order * epsilon, bits) * (size - 2)
    bottom = exp_minus(epsilon, bits) * (size - 1) + 1
    return (top.log() - bottom.log()) / (order - 1) + epsilon


def pure_zcdp(epsilon: Fraction, bits: int) -> Enclosure:
    """ε·tanh(ε/2)."""
    return tanh_half(epsilon, bits) * epsilon


def pure_approx(epsilon: Fraction, excess: Fraction, bits: int) -> Enclosure:
    """ε + ln(1 − θ(1+e^{−ε})) for an ``excess`` θ; 0 where that is not positive."""
    left = 1 - (exp_minus(epsilon, bits) + 1) * excess
    if left.low <= 0:
        return Enclosure.between(0, 0 if left.high <= 0 else epsilon, bits)
    bound = left.log() + epsilon
    return Enclosure.between(max(bound.low, Fraction(0)), max(bound.high, Fraction(0)), bits)


def divergence_distance(divergence: Fraction, bits: int) -> Enclosure:
    """Total variation at most min(√(k/2), √(1−e^{−k})), the bounds of Pinsker and of Bretagnolle and Huber."""
    pinsker = Enclosure.of(divergence / 2, bits).sqrt()
    huber = (1 - exp_minus(divergence, bits)).sqrt()
    return pinsker if pinsker.high < huber.high else huber


def slack(order: Fraction, delta: Fraction, bits: int) -> Enclosure:
    """What a Rényi bound of order α gains or loses on the way to (ε, δ): ln(1−1/α) + (ln(1/δ) − ln α)/(α−1)."""
    return log(1 - 1 / order, bits) - log(delta * order, bits) / (order - 1)


def renyi_approx(divergence: Enclosure, order: Fraction, delta: Fraction, bits: int) -> Enclosure:
    """The ε' that a Rényi divergence of this order implies at δ; 0 where the formula is negative."""
    bound = divergence + slack(order, delta, bits)
    return Enclosure.between(max(bound.low, Fraction(0)), max(bound.high, Fraction(0)), bits)


def best_order(curve: Curve, delta: Fraction) -> Fraction:
    """The order at which a Rényi curve implies the smallest ε at δ."""
    return lowest(lambda order, bits: curve(order, bits) + slack(order, delta, bits))


@lru_cache(maxsize=1024)
def zcdp_order(rho: Fraction, delta: Fraction) -> Fraction:
    """The order at which ρ-zCDP implies the smallest ε at δ: a witness for whoever checks that."""
    return best_order(lambda order, bits: Enclosure.of(order * rho, bits), delta)


def most_zcdp(epsilon: Fraction, delta: Fraction) -> Callable[[int], Enclosure]:
    """The largest ρ whose zCDP implies (ε, δ): max over α of (ε − slack)/α."""
    order = _most_order(epsilon, delta)
    return lambda bits: (epsilon - slack(order, delta, bits)) / order


@lru_cache(maxsize=1024)
def _most_order(epsilon: Fraction, delta: Fraction) -> Fraction:
    return lowest(lambda order, bits: (slack(order, delta, bits) - epsilon) / order)


_GOLDEN = (sqrt(5) - 1) / 2
_CLOSE = 2.0**-24
_FARTHEST = 2.0**13


def lowest(bound: Curve) -> Fraction:
    """The order at which a bound that falls and then rises is lowest, α − 1 to about seven digits.

    The error enters the bound squared. Floats only propose orders, as t = log2(α−1); bounds are compared exactly.
    """

    def value(t: float) -> Fraction:
        return bound(_order(t), 96 + 2 * max(0, -floor(t))).high

    a, c = _bracket(value)
    left, right = c - _GOLDEN * (c - a), a + _GOLDEN * (c - a)
    at_left, at_right = value(left), value(right)
    while c - a > _CLOSE:
        if at_left <= at_right:
            c, right, at_right = right, left, at_left
            left = c - _GOLDEN * (c - a)
            at_left = value(left)
        else:
            a, left, at_left = left, right, at_right
            right = a + _GOLDEN * (c - a)
            at_right = value(right)
    return _order((a + c) / 2)


def _order(t: float) -> Fraction:
    whole = floor(t)
    return 1 + Fraction(round(exp2(t - whole) * 2**40), 2**40) * Fraction(2) ** whole


def _bracket(value: Callable[[float], Fraction]) -> tuple[float, float]:
    """Two points with a third between them that is no higher than either, by strides that double."""
    a, b, c = -1.0, 0.0, 1.0
    at = {t: value(t) for t in (a, b, c)}
    while at[c] < at[b] and c < _FARTHEST:
        a, b, c = b, c, c + 2 * (c - b)
        at[c] = value(c)
    while at[a] < at[b] and a > -_FARTHEST:
        a, b, c = a - 2 * (b - a), a, b
        at[a] = value(a)
    return a, c
