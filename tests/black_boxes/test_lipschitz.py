"""The filter's public numbers; what it does to functions is in `test_lattice` and `test_every_function`."""

from fractions import Fraction

import pytest

from tacit.black_boxes.lipschitz import design_filter
from tacit.errors import InvalidInput
from tacit.grids import digits, integers, multiples
from tacit.guarantees import Pure
from tacit.noises import DiscreteLaplace


def test_a_claim_is_rounded_up_to_steps() -> None:
    assert design_filter(multiples("0.25", 0, 9), "0.3", Fraction(1), True).sensitivity == 2
    assert design_filter(multiples("0.25", 0, 9), "0.5", Fraction(1), True).sensitivity == 2
    assert design_filter(integers(0, 9), "0.01", Fraction(1), True).sensitivity == 1


@pytest.mark.parametrize("public", [True, False])
def test_the_parts_add_up_to_the_cost(public: bool) -> None:
    found = design_filter(integers(0, 9), 3, Fraction(2), public)
    value = found.noisy_value(4)
    assert found.public == public
    assert (value.guarantee if public else found.noisy(5).guarantee + value.guarantee) == Pure(2)
    assert value.noise == DiscreteLaplace(
        found.epsilon / (6 if public else 3)
    )  # a person replaced moves it by twice the claim


def test_values_go_on_beyond_the_grid() -> None:
    found = design_filter(multiples("0.5", 1, 4), 1, Fraction(1), True)
    assert [found.value(steps) for steps in (-1, 0, 20)] == [Fraction(1, 2), 1, 11]


@pytest.mark.parametrize("sensitivity", [0, -1, "x"])
def test_wrong_claims(sensitivity: int) -> None:
    with pytest.raises(InvalidInput):
        design_filter(integers(0, 9), sensitivity, Fraction(1), True)
    with pytest.raises(InvalidInput):
        design_filter(digits(2, 0, 3), 1, Fraction(1), True)
