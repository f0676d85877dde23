"""Each rule against the exhaustive verifier: its price is never below the exact loss, and reached where it can be."""

from fractions import Fraction
from functools import partial
from itertools import product
from random import Random
from typing import Any

import pytest

from tacit.audit.exact import ORDERS, Listed, max_divergence, renyi_divergence, table
from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Pure
from tacit.mechanisms.noise.noise import NoisyInteger, TruncatedInteger
from tacit.noises import DiscreteGaussian, DiscreteLaplace, Lopsided, TruncatedLaplace
from tacit.numbers.enclosures import Enclosure, exp, log
from tacit.proofs import Argument, Proof, prove
from tacit.proofs import rules as by

NEAR = range(-9, 10)
ONE = Pure(1)
TINY = Fraction(1, 2**50)


def number(term: Any) -> Fraction:
    """What a price is, where everything in it is known."""
    return Fraction(term.parts[0])


def loss(first: Any, second: Any) -> Enclosure:
    return max_divergence(table(first, NEAR, 192), table(second, NEAR, 192), 192)


@pytest.mark.parametrize("move", range(-3, 4))
@pytest.mark.parametrize("rates", [("1", "1"), ("1/2", "2"), ("3", "1/3")])
def test_noise_is_priced_exactly(rates: tuple[str, str], move: int) -> None:
    up, down = map(Fraction, rates)
    exact = loss(*(NoisyInteger(v, Lopsided(up, down), ONE) for v in (0, move)))
    price = number(by.noise(Argument(()), move, up, down))
    assert exact.low - TINY <= price <= exact.high + TINY


@pytest.mark.parametrize("move", range(4))
def test_one_sided_shifts_are_priced_exactly(move: int) -> None:
    rate = Fraction(2, 3)
    first = {z: exp(-rate * z, 192) for z in range(10)}
    second = {z: exp(-rate * (z + move), 192) for z in range(10)}
    price = number(by.shift(Argument(()), move, rate))
    assert all((log(price_at.low, 192)).low <= price + TINY for z in first for price_at in [first[z] / second[z]])
    exact = log((first[0] / second[0]).low, 192)
    assert abs(exact.low - price) < TINY
    assert number(by.shift(Argument(()), -move, rate, 2 * rate)) == 2 * rate * move


def test_shifts_that_are_no_draws_are_refused() -> None:
    argument = Argument(())
    with pytest.raises(InvalidInput, match="whole"):
        by.shift(argument, argument.real("m"), 1)

    def backwards(p: Argument) -> None:
        p.promise(by.shift(p, -1, p.positive("rate")), 0)

    assert prove(Proof("one-sided, shifted down", "–", "–", backwards)).word == "refuted"


@pytest.mark.parametrize("move", range(4))
def test_gaussian_noise_costs_at_most_its_price(move: int) -> None:
    variance = Fraction(3)
    p, q = (table(NoisyInteger(v, DiscreteGaussian(variance), ONE), range(-40, 44), 192) for v in (0, move))
    price = number(by.gaussian(Argument(()), move, variance))
    for order in ORDERS[:4]:
        assert renyi_divergence(p, q, order, 192).low <= order * price + TINY


def _weighed(moves: list[Fraction], priors: list[int]) -> tuple[Any, Any]:
    before = [Enclosure.of(w, 192) for w in priors]
    after = [w * exp(move, 192) for w, move in zip(before, moves, strict=True)]
    first, second = ({i: w / sum(all_[1:], all_[0]) for i, w in enumerate(all_)} for all_ in (before, after))
    return first, second


def test_weights_are_priced_above_every_ratio() -> None:
    random = Random(1)
    for _ in range(50):
        moves = [Fraction(random.randrange(-6, 9), 4) for _ in range(4)]
        p, q = _weighed(moves, [random.randrange(1, 9) for _ in moves])
        highest, lowest = max(moves), min(moves)
        for y, move in enumerate(moves):
            price = number(by.weights(Argument(()), move, highest, partial(Fraction, highest)))
            assert (p[y] / q[y]).log().low <= price + TINY
        rho = number(by.bounded_range(Argument(()), lowest, highest, partial(Fraction, highest)))
        for order in ORDERS[:4]:
            assert renyi_divergence(p, q, order, 192).low <= order * rho + TINY


def test_independent_draws_and_disjoint_parts_cost_their_prices() -> None:
    laws = [NoisyInteger(v, DiscreteLaplace(Fraction(1)), ONE) for v in (0, 1)]
    single = number(by.noise(Argument(()), 1, 1, 1))
    pairs = {
        (y, z): [a.pmf(y, 192) * b.pmf(z, 192) for a, b in ((laws[0], laws[0]), (laws[1], laws[1]), (laws[1], laws[0]))]
        for y, z in product(range(-3, 4), repeat=2)
    }
    both = max((row[0] / row[1]).log().high for row in pairs.values())
    one = max((row[0] / row[2]).log().high for row in pairs.values())
    assert abs(both - number(by.repeated(Argument(()), 2, single))) < TINY
    assert abs(one - number(by.parallel(Argument(()), single, 0))) < TINY


def test_the_chance_of_a_bad_event_is_what_the_verifier_finds() -> None:
    noise = TruncatedLaplace(Fraction(1), 4)
    laws = [TruncatedInteger(v, noise, Approx(1, Fraction(1, 2))) for v in (0, 1)]
    lost = sum((laws[0].pmf(y, 192) for y in NEAR if laws[1].pmf(y, 192).high == 0), Enclosure.of(0, 192))
    assert abs(lost.low - noise.tail(4, 192).low) < TINY  # Z = −4 alone, by symmetry Z ≥ 4


def test_a_loop_holds_to_its_invariant() -> None:
    def build(p: Argument, bound: int) -> None:
        def turn(state: Any) -> Any:
            weight = p.count("w")
            return (state[0] + weight,), weight

        spent = by.loop(p, (0,), lambda x, at: x <= at[0], turn, lambda at: at[0] <= 5, bound)
        p.promise(spent, 5)

    assert prove(Proof("loop", "–", "–", lambda p: build(p, 5))).proved
    assert prove(Proof("loop", "–", "–", lambda p: build(p, 4))).word == "refuted"


def test_extremes_and_least_numbers_move_as_far_as_their_rules_say() -> None:
    random = Random(2)
    for _ in range(200):
        numbers = [random.randrange(9) for _ in range(4)]
        moved = [x + random.randrange(-1, 3) for x in numbers]
        assert -1 <= min(moved) - min(numbers) <= 2
        assert -1 <= max(moved) - max(numbers) <= 2
    argument = Argument(())
    move = by.extreme(argument, "move", -1, 2)
    assert (move >= -1) in argument.facts


def test_powers_and_ratios_are_the_definitions() -> None:
    assert number(by.power(Argument(()), Fraction(3, 2), 2)) == 3
    p = Listed({0: Fraction(3, 4), 1: Fraction(1, 4)}, ONE)
    q = Listed({0: Fraction(1, 4), 1: Fraction(3, 4)}, ONE)
    assert abs(float(loss(p, q)) - float(log(3, 192))) < 1e-12

    def build(argument: Argument, factor: int) -> None:
        by.ratio(argument, Fraction(3, 4), Fraction(1, 4), factor)

    assert prove(Proof("ratio", "–", "–", lambda a: build(a, 3))).proved
    assert not prove(Proof("ratio", "–", "–", lambda a: build(a, 2))).proved
