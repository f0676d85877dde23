"""The shortest bound of truncated noise, against its definition summed in flint."""

from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import InvalidInput
from tacit.noises.truncated_laplace import TruncatedLaplace, least_bound
from tests.guarantees.oracle import Ball, ball


@settings(max_examples=60)
@given(
    st.fractions(Fraction(1, 20), 6, max_denominator=20),
    st.fractions(Fraction(1, 10**6), Fraction(49, 100), max_denominator=10**6),
    st.integers(1, 5),
)
def test_truncation_is_the_shortest_that_keeps_delta(epsilon: Fraction, delta: Fraction, sensitivity: int) -> None:
    """P[Z > R − s] summed in flint from the definition: within δ at R, above it at R − 1."""

    def beyond(bound: int) -> Ball:
        weights = [(-ball(epsilon / sensitivity) * abs(z)).exp() for z in range(-bound, bound + 1)]
        return sum(weights[len(weights) - sensitivity :], arb(0)) / sum(weights, arb(0))

    bound = least_bound(epsilon, delta, sensitivity)
    assert beyond(bound) < ball(delta)
    if bound > sensitivity:
        assert beyond(bound - 1) > ball(delta)


def test_a_bound_below_the_sensitivity_promises_nothing() -> None:
    with pytest.raises(InvalidInput, match="larger bound"):
        TruncatedLaplace(Fraction(1), 2).guarantee(5)
