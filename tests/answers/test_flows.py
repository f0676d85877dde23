"""How capped values are rounded: to a step of their cap, near by, and so that a person still moves them by a cap."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.answers.flows import PARTS, rounded, rounding, step_of
from tacit.noises import DiscreteLaplace

values = st.fractions(0, 10**6, max_denominator=60)
caps = st.integers(1, 2000) | st.integers(1, 40).map(lambda part: PARTS * part)


@given(values, caps, st.fractions(0, 1, max_denominator=60))
def test_a_person_moves_a_rounded_value_by_no_more_than_the_cap(value: Fraction, cap: int, share: Fraction) -> None:
    before, after = rounded(value, cap), rounded(value + share * cap, cap)
    assert before <= after <= before + cap
    assert rounded(value + cap, cap) == before + cap


@given(values, caps)
def test_the_interval_of_a_rounded_value_holds(value: Fraction, cap: int) -> None:
    step, near = step_of(cap), rounded(value, cap)
    assert cap % step == near % step == 0
    assert abs(near - value) < step / 2 + 1
    if step > 1:
        down, up = rounding(DiscreteLaplace(Fraction(40)), cap).reach(0.9)  # noise that is 0
        assert near - up <= value <= near + down
    else:
        assert value.denominator > 1 or near == value


def test_steps() -> None:
    assert [step_of(cap) for cap in (1, 63, 64, 96, 128, 192, 2**20)] == [1, 1, 1, 1, 2, 3, 2**14]


@pytest.mark.parametrize("step", [3, 48])
def test_a_step_that_does_not_divide_the_cap_would_let_a_person_move_more(step: int) -> None:
    """The twin that the rule excludes."""
    cap = 64
    moved = [-(-(value + cap) // step) * step - -(-value // step) * step for value in range(200)]
    assert max(moved) > cap
