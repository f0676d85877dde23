"""The rules of proofs. Each is a theorem with its proof; its conditions become obligations, its conclusion is a price.

Throughout, P is the law on one dataset and P' that on a neighbour, the pair taken in either order. The *price* of a
step is an upper bound on ln P(y)/P'(y) for what the step released, given what was released before; it is a term, and
may depend on numbers that describe the output (joint charges). A *move* is how a number changes from the first dataset
to the second. Prices of steps add up (`Argument.promise` compares their sum with ε), for P(y1, y2) = P(y1)·P(y2 | y1):
this is composition, adaptive too, as the second factor is bounded for every y1. What is computed from released numbers
costs nothing: for events S of a function g of y, P[g ∈ S] = Σ_{g(y) ∈ S} P(y) ≤ e^ε·Σ_{g(y) ∈ S} P'(y).
Divergences of zCDP and δs add up in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tacit.errors import InvalidInput
from tacit.proofs.argument import Argument
from tacit.proofs.terms import REAL, Term, either, implies, largest, stated


def both_ways(p: Argument, low: Any, high: Any) -> Iterator[tuple[Any, Any]]:
    """The two orders of a pair of neighbours: a number moves by something in [low, high] when a person is added."""
    for name, least, most in (("a person added", low, high), ("a person removed", -high, -low)):
        with p.case(name):
            yield least, most


def noise(p: Argument, move: Any, up: Any, down: Any) -> Any:
    """An integer plus noise with P[Z = z] ∝ e^{-up·z} for z ≥ 0 and e^{-down·|z|} for z < 0; up = down is two-sided.

    PROOF  Let the integer be v on the first dataset and v + m on the second. The price is the largest over y of
    g(y − v − m) − g(y − v), where g(z) = up·z above 0 and −down·z below it: g falls at the rate down, then rises at the
    rate up. If m ≥ 0, g(z − m) − g(z) is at most down·m, since g falls at most so fast; if m < 0 it is at most up·|m|.
    """
    p.check((stated(up) >= 0) & (stated(down) >= 0), "noise")
    return either(stated(move) >= 0, stated(down) * move, -(stated(up) * move))


def shift(p: Argument, amount: Any, up: Any, down: Any = None, *, continuous: bool = False) -> Any:
    """A draw of noise taken larger by ``amount`` on the second dataset. Without ``down`` the noise is one-sided.

    PROOF  Two-sided, P[Z = z] ∝ e^{-up·z} above 0 and e^{-down·|z|} below: P(z) ≤ e^{up·m}·P(z + m) for m ≥ 0, as the
    logarithm falls at most at the rate up, and P(z) ≤ e^{down·|m|}·P(z + m) for m < 0. One-sided, z ≥ 0: P(z) =
    e^{up·m}·P(z + m) for m ≥ 0, and z + m is a possible draw; for m < 0 it need not be, so that is not allowed. The map
    z ↦ z + m is one to one, so a sum over draws of the first dataset is at most e^{price} times the sum over their
    images. Noise on the integers is shifted by whole numbers; for a density the same holds with any m.
    """
    size = stated(amount)
    if size.sort == REAL and not continuous:
        raise InvalidInput("a draw on the integers must be shifted by a whole number; state the move as one.")
    if down is None:
        p.check((size >= 0) & (stated(up) >= 0), "shift")
        return stated(up) * size
    p.check((stated(up) >= 0) & (stated(down) >= 0), "shift")
    return either(size >= 0, stated(up) * size, -(stated(down) * size))


def keep(p: Argument, first: Any, second: Any) -> None:
    """Alignment: what a program does with its draws on the first dataset, it does with the shifted ones on the second.

    PROOF  Let every draw be mapped by a constant shift that may depend on the output y and on the pair of datasets. If
    all draws that give y on the first dataset are mapped to draws that give y on the second, P(y), a sum over draws, is
    at most e^{price of all shifts} times P'(y). A program gives y by a sequence of tests; each must have the outcome it
    had. A loop of any length is covered by one round with free numbers: what holds for any round, given the shifts of
    draws made before the loop, holds for all (the invariant is those shifts). Draws that are not shifted cost nothing.
    """
    p.check(implies(first, second), "alignment")


def weights(p: Argument, move: Any, highest: Any, every: Callable[[], Any]) -> Any:
    """A choice with P(y) ∝ w(y), where ln w(y) moves by ``move`` at the chosen y and by at most ``highest`` at every y.

    PROOF  ln P(y)/P'(y) = −move + ln(W'/W) with W the sum of all weights; W' = Σ w·e^{move} ≤ e^{highest}·W. ``every``
    gives the move of an arbitrary value, of which nothing is known but what is assumed. Prior weights cancel.
    """
    with p.case("every weight"):
        p.check(stated(every()) <= highest, "weights")
    return stated(highest) - move


def bounded_range(p: Argument, low: Any, high: Any, every: Callable[[], Any]) -> Any:
    """The ρ of a choice with P(y) ∝ w(y), where ln w(y) moves by something in [low, high]: (high − low)²/8.

    PROOF  ln P/P' = −move + ln(W'/W), the last part the same for all y, so it lies in an interval of length η = high −
    low. By Hoeffding's lemma D_α ≤ αη²/8 (Cesar and Rogers 2021, bounded range to zCDP).
    """
    with p.case("every weight"):
        move = stated(every())
        p.check((move >= low) & (move <= high), "bounded range")
    span = stated(high) - low
    return span * span / 8


def gaussian(p: Argument, move: Any, variance: Any) -> Any:
    """The ρ of an integer plus discrete Gaussian noise, P[Z = z] ∝ e^{-z²/2v}, that moves by m: m²/(2v).

    PROOF  Completing the square, the moment of order α is e^{α(α−1)m²/(2v)} times Σ e^{-(z−c)²/2v} / Σ e^{-z²/2v} with
    a real c; by Poisson's formula the numerator is Σ_k a_k·cos(2πkc), a_k > 0, and largest at c = 0. So D_α ≤ αm²/2v.
    """
    p.check(stated(variance) > 0, "Gaussian shift")
    return stated(move) * move / (2 * stated(variance))


State = tuple[Term, ...]


def loop(
    p: Argument,
    start: Sequence[Any],
    invariant: Callable[[Term, State], Any],
    turn: Callable[[State], tuple[Sequence[Any], Any]],
    end: Callable[[State], Any],
    bound: Any,
) -> Any:
    """Rounds of any number, each with a price: by the invariant what was spent is at most ``bound`` at the end.

    ``invariant`` speaks of what was spent and of a state; ``turn`` maps a state to the next one and the round's price,
    ``end`` says what is known of the state whenever the loop may end.

    PROOF  By induction over the rounds: the invariant holds at the start with nothing spent; if it holds before a
    round, it holds after it with the round's price added; where the loop may end it implies the bound.
    """
    p.check(invariant(stated(0), tuple(map(stated, start))), "loop: start")
    with p.case("a round"):
        spent, state = p.real("spent"), tuple(p.real("state") for _ in start)
        p.assume(invariant(spent, state))
        after, price = turn(state)
        p.check(invariant(spent + price, tuple(map(stated, after))), "loop: round")
    with p.case("the end"):
        spent, state = p.real("spent"), tuple(p.real("state") for _ in start)
        p.assume(invariant(spent, state), end(state))
        p.check(spent <= bound, "loop: end")
    return stated(bound)


def repeated(p: Argument, times: Any, price: Any) -> Any:
    """At most so many steps, one after the other, each with at most this price whatever came before.

    PROOF  `loop` with the invariant spent ≤ rounds·price: adaptive composition. The product is the sum of the prices.
    """
    p.check((stated(times) >= 0) & (stated(price) >= 0), "composition")
    return stated(times) * price


def parallel(p: Argument, moved: Any, still: Any) -> Any:
    """Independent parts about different persons: the price of the one part that sees the person who differs.

    PROOF  The law of both is the product of their laws. The data of the other part are the same, so its factor is 1;
    its price, computed for a move of 0, must be 0.
    """
    p.check(stated(still) <= 0, "parallel parts")
    return stated(moved)


def event(p: Argument, happens: Any, draw: Any, least: Any, chance: Any) -> Any:
    """An event that needs a draw of at least ``least``, where P[Z ≥ least] ≤ ``chance`` by the choice of ``least``.

    PROOF  The event is part of { Z ≥ least }. For (ε, δ): if outputs of a bad event have probability at most δ on the
    first dataset, and all others a price of at most ε, then P[S] ≤ δ + Σ_{y ∈ S not bad} P(y) ≤ δ + e^ε·P'[S].
    """
    p.check(implies(happens, stated(draw) >= least), "bad event")
    return stated(chance)


def power(p: Argument, exponent: Any, price: Any) -> Any:
    """A factor s^{-k}, k ≥ 0, of a density, where s moves by at most a factor e^{price} either way.

    PROOF  ln s^{-k} − ln s'^{-k} = k·(ln s' − ln s) ≤ k·price.
    """
    p.check(stated(exponent) >= 0, "power")
    return stated(exponent) * price


def ratio(p: Argument, first: Any, second: Any, factor: Any, extra: Any = 0) -> None:
    """That first ≤ factor·second + extra, for probabilities of an event, where factor stands for e^ε.

    PROOF  This is the definition of (ε, δ): the event is arbitrary, as nothing but the stated facts is known of it.
    """
    p.promise(first, stated(factor) * second + extra)


def least(p: Argument, number: Term, other: Term, step: Any, first: Any, second: Any) -> None:
    """``other`` ≤ ``number`` + step, for number = min{ j : A(j) } and other = min{ j : B(j) }.

    PROOF  If A(j) implies B(j + step) for an arbitrary j, then B holds at number + step, so the least j of B is no
    larger. ``first`` is A(j) and ``second`` is B(j + step). Distances to a set are such minima.
    """
    p.check(implies(first, second), "least number")
    p.assume(other <= number + step)


def extreme(p: Argument, name: str, low: Any, high: Any) -> Any:
    """The move of the smallest, or the largest, of whole numbers each of which moves by something in [low, high].

    PROOF  Let m be the smallest, at i. After the move the number at i is at most m + high, so the smallest is too;
    every number is at least m + low, so the smallest is. The largest is the smallest of the numbers with signs changed.
    """
    p.check(stated(low) <= high, "extremes")
    return p.steps(name, low, high)


def clamped(value: Any, low: Any, high: Any) -> Term:
    """A number brought into a public range; no rule, only a shorthand."""
    return either(largest(value, low) <= high, largest(value, low), high)
