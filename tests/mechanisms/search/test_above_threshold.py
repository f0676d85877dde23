"""Above threshold: what it answers follows its law, and it keeps its secret to itself."""

import copy
import pickle

import pytest

from tacit.errors import InvalidInput
from tacit.guarantees import Pure
from tacit.mechanisms import AboveThreshold, above_threshold
from tacit.mechanisms.search.above_threshold import split
from tacit.randomness import seeded_not_private
from tests.support import agrees


def test_the_answers_follow_the_law() -> None:
    """False alarm 1e-7."""
    asked, source = [1, 3, 2, 4], seeded_not_private(3)

    def ended() -> int:
        running = AboveThreshold(3, split(1), source)
        return next((i for i, number in enumerate(asked) if running.above(number)), len(asked))

    law = above_threshold(asked, 3, 1)
    assert law.guarantee == Pure(1)
    assert agrees([ended() for _ in range(4000)], {y: float(law.pmf(y)) for y in range(5)})


def test_nothing_is_answered_after_the_first_above() -> None:
    running = AboveThreshold(0, split(1))
    assert running.above(1000)  # below with probability e^-300
    with pytest.raises(InvalidInput, match="the last answer"):
        running.above(1000)
    assert running.asked == 1


def test_the_secret_cannot_be_copied_or_shown() -> None:
    running = AboveThreshold(7, split(1))
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(InvalidInput, match="secret"):
            copied(running)
    assert repr(running) == "<above threshold 7, open after 0 questions, Pure(1)>"


def test_the_stated_reach_holds() -> None:
    """Both failures together have probability 1e-8 at most."""
    running = AboveThreshold(100, split(1))
    early, late = running.reach(50, "1e-8")
    assert not any(running.above(100 - early - 1) for _ in range(50))
    assert running.above(100 + late)
