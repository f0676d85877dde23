"""The stable mode: its threshold, its silence in ties, values of any kind."""

from fractions import Fraction

import pytest

from tacit.curves import StepLoss
from tacit.errors import InvalidInput
from tacit.grids import integers
from tacit.mechanisms import stable_argmin, stable_mode
from tacit.numbers.enclosures import exp

DELTA = Fraction(1, 1000)


def test_it_is_the_stable_argmin_of_votes_without_a_list_of_candidates() -> None:
    for votes in ([5, 2], [3, 3], [9, 0], [12, 3]):
        law = stable_mode({"a": votes[0], "b": votes[1]}, 1, DELTA)
        losses = [sum(votes) - v for v in votes]
        other = stable_argmin(StepLoss.from_losses(integers(0, 1), losses, one_directional=True), 1, DELTA)
        if votes[0] != votes[1]:
            assert law.pmf("a") == other.pmf(0)
        assert law.pmf("b").high == 0
        assert law.threshold == other.threshold - 1


def test_the_threshold_is_the_least_that_keeps_delta() -> None:
    law = stable_mode("a", 1, DELTA)
    tails = [exp(-k) / (1 + exp(-1)) for k in (law.threshold, law.threshold - 1)]
    assert tails[0].high <= DELTA < tails[1].low
    assert law.pmf("a").high <= DELTA  # one person alone


def test_ties_and_nobody_are_refused_and_leaders_released() -> None:
    assert stable_mode("ab" * 50, 1, DELTA).pmf(None).low == 1
    assert stable_mode([], 1, DELTA).pmf(None).low == 1
    assert stable_mode([None] * 99, 1, DELTA).sample() is None
    far = stable_mode([("any", "kind")] * 60 + ["b"], 1, DELTA)
    assert far.sample() == ("any", "kind")
    lead = stable_mode([], 1, DELTA).accuracy("0.05").window
    assert lead is not None
    kept = [stable_mode("a" * n, 1, DELTA).pmf("a") for n in (lead, lead - 1)]
    assert kept[0].low >= Fraction(19, 20) > kept[1].high
    assert repr(far) == repr(stable_mode([], 1, DELTA))


def test_bad_input_is_refused() -> None:
    with pytest.raises(InvalidInput, match="delta"):
        stable_mode("a", 1, 0)
