"""Noise for a private bound: what it costs, and what it is rounded to."""

from fractions import Fraction

import pytest

from tacit.errors import InvalidInput
from tacit.guarantees import Approx
from tacit.mechanisms import gaussian, laplace, private_bound


def test_costs_add_up_and_bounds_are_whole_steps() -> None:
    law = private_bound("2.3", laplace(10, "0.5"), lambda noisy: "0.3", 1, "0.01", lattice="0.25")
    assert law.guarantee == Approx("1.5", "0.01")
    assert law.noise(3).sensitivity == 2
    drawn = law.sample()
    assert (drawn.value / Fraction(1, 4)).denominator == 1
    assert law.pmf(drawn._replace(value=Fraction(1, 3))).high == 0


def test_a_measurement_must_be_pure_or_approximate() -> None:
    with pytest.raises(InvalidInput, match="Pure or Approx"):
        private_bound(1, gaussian(10, 1), lambda noisy: 1, 1, "0.01")
