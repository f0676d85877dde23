"""What all spreads share, and noise around a value."""

from fractions import Fraction
from math import inf, sqrt

import pytest

from tacit.answers.spreads import SUREST, Additive, Chosen
from tacit.noises import DiscreteGaussian, DiscreteLaplace
from tacit.numbers.exact import Unit


def test_what_is_chosen_among_several_has_the_interval_of_all_together() -> None:
    plain = Additive(DiscreteLaplace.for_pure(Fraction(1)))
    chosen = Chosen(plain, 100)
    assert chosen.interval(50, Fraction(95, 100)) == plain.interval(50, Fraction(9995, 10000))
    assert (chosen.covers, chosen.std, chosen.persons_above(Fraction(1, 2))) == ("truth", plain.std, None)


def test_what_is_surer_than_a_double_can_tell_has_no_ends() -> None:
    for inside in (Additive(DiscreteLaplace.for_pure(Fraction(1))), Additive(DiscreteGaussian(Fraction(9)))):
        chosen = Chosen(inside, 2000)
        assert chosen.interval(50, SUREST) == (-inf, inf)
        assert chosen.persons_above(SUREST) is None


def test_an_additive_answer_is_the_value_with_noise_around_it() -> None:
    noise = DiscreteLaplace.for_pure(Fraction(1, 10))
    down, up = noise.reach(0.95)
    spread = Additive(noise, Unit(Fraction(1, 100), "decimal"))
    low, high = spread.interval(Unit(Fraction(1, 100), "decimal").value(5000), Fraction(95, 100))
    assert (int(low * 100), int(high * 100)) == (5000 - up, 5000 + down)
    assert spread.std == pytest.approx(sqrt(noise.variance) / 100)
    assert spread.covers == "truth"
    assert spread.persons_above(Fraction(1, 2)) is None
