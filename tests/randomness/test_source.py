"""Where bits come from: the system's are fresh in every process, the seeded ones are marked wherever they go."""

import os
import pickle
import subprocess
import sys
from fractions import Fraction
from multiprocessing import get_context
from typing import Any

import pytest

import tacit.randomness as randomness
from tacit.errors import InvalidInput
from tacit.randomness import SYSTEM, Categorical, Randomness, seeded_not_private
from tacit.randomness.source import NotPrivate, NotPrivateFraction, NotPrivateInt, NotPrivateList


def draws(source: Randomness) -> list[Any]:
    """One draw of everything public."""
    return [
        randomness.uniform_below(10**6, source=source),
        randomness.bernoulli("0.3", source=source),
        randomness.bernoulli_exp("0.3", source=source),
        randomness.shuffled(range(20), source=source),
        randomness.geometric("0.01", source=source),
        randomness.discrete_laplace("0.01", source=source),
        randomness.asymmetric_laplace("0.01", "0.02", source=source),
        randomness.truncated_laplace("0.01", 50, source=source),
        randomness.discrete_gaussian(1000, source=source),
        randomness.categorical([(1, 0), (1, 1), (1, 2)], "0.1", source=source),
        Categorical([(1, 0), (1, 1)], 1).draw(source),
        randomness.first_success(3, None, source=source),
        randomness.rounded_laplace(0, 1, "0.001", source=source),
        randomness.rounded_gaussian(0, 1, "0.001", source=source),
        randomness.rounded_student(0, 1, "0.001", 3, source=source),
        randomness.rounded_power(0, 1, "0.001", 4, source=source),
        randomness.geometrics("0.01", 5, source=source),
        randomness.discrete_laplaces("0.01", 5, source=source),
        randomness.discrete_gaussians(10**6, 5, source=source),
    ]


def plain(values: list[Any]) -> list[str]:
    return [repr(value) for value in values]


def test_a_seed_repeats_everything_and_marks_it() -> None:
    first, again = draws(seeded_not_private(7)), draws(seeded_not_private(7))
    assert plain(first) == plain(again)
    assert plain(first) != plain(draws(seeded_not_private(8)))
    assert all(value.private is False for value in first)
    assert all(repr(value).startswith("NotPrivate(") for value in first)


def test_every_public_sampler_is_in_the_list_above() -> None:
    samplers = {n for n in randomness.__all__ if n.islower() and n != "seeded_not_private"}
    source = seeded_not_private(1)
    called = set(draws.__code__.co_names)
    assert samplers <= called, samplers - called
    assert len(draws(source)) >= len(samplers)


def test_the_system_is_not_marked() -> None:
    assert SYSTEM.private
    assert not any(hasattr(value, "private") for value in draws(SYSTEM))
    assert repr(SYSTEM) == "SYSTEM"
    assert repr(seeded_not_private(3)) == "seeded_not_private(3)"


def test_marked_values_behave_as_what_they_are() -> None:
    source = seeded_not_private(1)
    number = source.mark(3)
    assert (number + 1, number == 3, hash(number)) == (4, True, hash(3))
    assert isinstance(number, NotPrivateInt)
    assert isinstance(source.mark(Fraction(1, 3)), NotPrivateFraction)
    assert source.mark(Fraction(1, 3)) + 1 == Fraction(4, 3)
    assert isinstance(source.mark([1, 2]), NotPrivateList)
    assert source.mark([1, 2]) == [1, 2]
    assert not source.mark(False)
    assert source.mark(True)
    assert source.mark("x") == NotPrivate("x")
    assert source.mark(source.mark("x")) == NotPrivate("x")
    assert source.mark(None) is None
    array = randomness.geometrics(1, 3, source=source)
    assert (array + 1).private is False  # type: ignore[attr-defined]
    assert pickle.loads(pickle.dumps(number)) == 3


@pytest.mark.parametrize("seed", [1.5, "1", None, True])
def test_a_seed_is_an_integer(seed: int) -> None:
    with pytest.raises(InvalidInput, match=r"^seed must be a whole number"):
        seeded_not_private(seed)


@pytest.mark.parametrize("count", [0, 1, 7, 8, 63, 64, 65, 1000])
def test_bits_fill_their_range(count: int) -> None:
    for source in (SYSTEM, seeded_not_private(1)):
        values = [source.bits(count) for _ in range(200)]
        assert all(0 <= value < 1 << count for value in values)
        ones = 0
        for value in values:
            ones |= value
        assert ones == (1 << count) - 1  # wrong with probability below 1000·2^-200


def test_words_are_fresh() -> None:
    for source in (SYSTEM, seeded_not_private(1)):
        words = source.words(1000)
        assert words.shape == (1000,)
        assert len(set(words.tolist())) == 1000  # a repeat among 1000 words: 3·10^-14


def _noise(_: int) -> list[int]:
    return [randomness.discrete_laplace("1e-15") for _ in range(4)] + [SYSTEM.bits(64)]


def test_forked_processes_do_not_repeat_noise() -> None:
    """Two equal draws of this scale among so few: below 10^-12."""
    _noise(0)  # whatever could be buffered is buffered now
    with get_context("fork").Pool(4) as pool:
        seen = [value for values in pool.map(_noise, range(8), chunksize=1) for value in values] + _noise(0)
    assert len(set(seen)) == len(seen)


def test_importing_the_room_does_not_import_numpy() -> None:
    code = "import sys, tacit.randomness; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env=dict(os.environ), timeout=200, check=False).returncode == 0
