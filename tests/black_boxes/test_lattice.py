"""Profiles and filters over layers equal their definitions."""

from random import Random

import pytest

from tacit.audit.cases.black_boxes import profile, values
from tacit.black_boxes.lattice import Lattice
from tests.black_boxes import support


def random_function(seed: int, top: int) -> support.Function:
    random, known = Random(seed), dict[tuple[int, ...], int]()
    return lambda s: known.setdefault(s, random.randrange(top))


@pytest.mark.parametrize("persons", range(6))
def test_profile(persons: int) -> None:
    x = tuple(range(persons))
    for seed in range(5):
        f = random_function(seed, 9)
        for floor in range(persons + 1):
            assert profile(f, x, floor) == support.profile(f, x, floor)
        assert profile(f, x, persons + 1) == []


@pytest.mark.parametrize("persons", range(6))
def test_filter(persons: int) -> None:
    x, lattice = tuple(range(persons)), Lattice(persons, persons)
    for seed in range(5):
        f = random_function(seed, 9)
        for c in (1, 2, 3):
            assert lattice.filtered(values(f, x, lattice), c) == support.extension(f, x, c)
    assert lattice.filtered(values(len, x, lattice), 1) == persons


def test_many_persons_of_whom_few_are_missing() -> None:
    lattice = Lattice(120, 2)
    found = values(lambda s: 120 - len(s) + (0 not in s), tuple(range(120)), lattice)
    # the largest value misses person 0 and one more; two others may be missing already
    assert lattice.profile(found) == [3, 3, 2]
