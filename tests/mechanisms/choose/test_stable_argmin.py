"""The stable arg-min: its threshold and δ, what counts as a lead, and its silence otherwise."""

from fractions import Fraction
from math import ceil, exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.curves import DownProfile, Run, StepLoss
from tacit.errors import InvalidInput
from tacit.grids import integers
from tacit.guarantees import Approx
from tacit.mechanisms import stable_argmin


@given(epsilon=st.fractions(Fraction(1, 10), 3, max_denominator=10), power=st.integers(1, 12))
def test_threshold_is_the_formula_and_delta_is_exact(epsilon: Fraction, power: int) -> None:
    delta = Fraction(1, 10**power)
    law = stable_argmin(StepLoss.from_losses(integers(0, 1), [0, 1]), epsilon, delta)
    e = float(epsilon)
    assert law.threshold == 1 + ceil(log(1 / (float(delta) * (1 + exp(-e)))) / e)
    assert law.delta.high <= delta
    assert float(law.delta) == pytest.approx(exp(-e * (law.threshold - 1)) / (1 + exp(-e)))
    assert law.guarantee == Approx(epsilon, delta)


@given(losses=st.lists(st.integers(0, 30), min_size=2, max_size=6), general=st.booleans())
def test_the_best_is_released_as_often_as_its_lead_says(losses: list[int], general: bool) -> None:
    law = stable_argmin(StepLoss.from_losses(integers(0, len(losses) - 1), losses, not general), 1, "0.001")
    best, second = sorted(losses)[:2]
    lead = -(-(second - best) // 2) if general else second - best
    short = law.threshold - lead
    tail = exp(-abs(short)) / (1 + exp(-1)) if short >= 0 else 1 - exp(short - 1) / (1 + exp(-1))
    winner = losses.index(best)
    assert float(law.pmf(winner)) == pytest.approx(tail)
    assert float(law.pmf(None)) == pytest.approx(1 - tail)
    assert all(law.pmf(y).high == 0 for y in range(-1, len(losses) + 1) if y != winner)


def test_a_large_delta_still_gives_a_threshold() -> None:
    law = stable_argmin(StepLoss.from_losses(integers(0, 1), [0, 0]), 1, "0.9")
    assert law.threshold == 1
    assert law.delta.high <= Fraction(9, 10)


def test_grids_without_end_and_with_one_value() -> None:
    runs = (Run(None, 4, 9), Run(5, 5, 0), Run(6, None, 9))
    law = stable_argmin(StepLoss(integers(), runs, one_directional=True), 5, "0.01")
    assert float(law.pmf(5)) > 0.999999
    assert law.sample(20).count(5) >= 19
    tied = stable_argmin(DownProfile([3]).loss(integers()), 1, "0.01")  # every value from 3 on has loss 0
    assert float(tied.pmf(3)) < 0.01
    alone = stable_argmin(StepLoss.from_losses(integers(7, 7), [4]), 1, "0.01")
    assert alone.sample() == 7
    assert alone.pmf(None).high == 0
    with pytest.raises(InvalidInput, match="at most"):
        law.outcomes()


@pytest.mark.parametrize("general", [True, False])
def test_accuracy_names_the_least_gap_that_is_released(general: bool) -> None:
    law = stable_argmin(StepLoss.from_losses(integers(0, 1), [0, 1], not general), "0.5", "0.001")
    gap = law.accuracy("0.05").window
    assert gap is not None
    kept = [
        stable_argmin(StepLoss.from_losses(integers(0, 1), [0, lead], not general), "0.5", "0.001").pmf(None)
        for lead in (gap - 1, gap)
    ]
    assert kept[1].high <= Fraction(1, 20) < kept[0].low
