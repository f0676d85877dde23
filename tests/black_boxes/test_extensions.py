"""Functions of claimed sensitivity from the subsets that miss few persons: the lemmas on all subsets, and the face."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations
from math import comb

import pytest

from tacit import Approx, InvalidInput, wrap
from tacit.audit.cases.black_boxes import values
from tacit.audit.cases.subset_extension import extended
from tacit.audit.exact import Dataset
from tacit.black_boxes.extensions import design_extension
from tacit.black_boxes.lattice import Lattice
from tacit.grids import digits, integers, multiples
from tacit.mechanisms.local.subset_extension import ExtensionDesign, subset_extension

DESIGN = ExtensionDesign(1, Fraction(4), Fraction(1, 50), Fraction(1, 2))
PERSONS = 5


def some_functions(number: int, seed: int) -> list[dict[Dataset, int]]:
    """Functions of the groups of five persons: steady ones with some values moved, and wild ones."""
    source = random.Random(seed)
    groups = [g for k in range(PERSONS + 1) for g in combinations(range(PERSONS), k)]
    found = []
    for _ in range(number):
        weights = [source.choice((-1, 0, 1)) for _ in range(PERSONS)]
        f = {g: sum(weights[i] for i in g) for g in groups}
        for g in source.sample(groups, source.choice((0, 1, 3, 6))):
            f[g] += source.randint(-6, 6)
        found.append(f)
    return found


@pytest.mark.parametrize("floor", [0, 1])
def test_a_person_moves_the_extension_by_at_most_three_claims(floor: int) -> None:
    """And down by one; and the persons in the way by 0 or 1. Both bounds are attained."""
    moves = set()
    everybody = tuple(range(PERSONS))
    for f in some_functions(150, floor):
        distance, value = extended(f.__getitem__, everybody, floor, DESIGN)
        for i in range(PERSONS):
            fewer, before = extended(f.__getitem__, everybody[:i] + everybody[i + 1 :], floor, DESIGN)
            assert 0 <= distance - fewer <= 1
            if fewer <= DESIGN.last:
                moves.add(value - before)
    assert {min(moves), max(moves)} == {-1, 3}


def test_a_floor_that_follows_the_group_would_not_do() -> None:
    """Subsets that miss at most three: one person more may change which groups count as steady, and F without bound."""
    found = False
    everybody = tuple(range(PERSONS))
    for f in some_functions(400, 7):
        for i in range(PERSONS):
            rest = everybody[:i] + everybody[i + 1 :]
            one = extended(f.__getitem__, everybody, len(everybody) - 3, DESIGN)
            other = extended(f.__getitem__, rest, len(rest) - 3, DESIGN)
            found |= not 0 <= one[0] - other[0] <= 1
    assert found


def test_the_lattice_computes_what_is_defined() -> None:
    for f in some_functions(40, 2):
        for persons, floor in ((5, 0), (5, 1), (4, 2)):
            lattice = Lattice(persons, persons - floor)
            x = tuple(range(persons))
            got = lattice.extended(values(f.__getitem__, x, lattice), DESIGN)
            assert got == extended(f.__getitem__, x, floor, DESIGN)


def test_the_parts_add_up_to_the_cost() -> None:
    cost = Approx(12, "1e-5")
    public = design_extension(multiples("0.5", 0, 9), 1, cost, Fraction(1, 20), True)
    assert (public.design.claim, public.design.guarantee, public.first) == (2, cost, None)
    assert public.floor(30) == 30 - public.missing
    private = design_extension(integers(0, 9), 1, cost, Fraction(1, 20), False)
    assert private.first is not None
    assert private.first.epsilon + private.design.epsilon == 12
    assert private.first.delta + private.design.delta == cost.delta
    for seen in range(-private.reach, private.reach + 1):  # however the noise falls, enough is left above the floor
        assert 3 * private.design.last <= 30 - private.floor(30 + seen) <= private.missing
    with pytest.raises(InvalidInput, match="equal steps"):
        design_extension(digits(2, 0, 3), 1, cost, Fraction(1, 20), True)


def test_what_passes_and_what_does_not() -> None:
    law = subset_extension(0, 7, 1, 8, "1e-5")
    assert law.pmf(None).high <= Fraction(1, 20)
    for epsilon, delta in ((8, "1e-5"), (1, "1e-6"), (20, "1e-3")):
        design = subset_extension(0, 0, 1, epsilon, delta).design
        passes = [1 - subset_extension(m, 0, 1, epsilon, delta).pmf(None) for m in range(design.last + 2)]
        assert passes[-1].high <= Fraction(delta) < passes[max(0, design.last - 1)].high
    assert "steps" in law.accuracy("0.05").statement


def above(people: list[int]) -> int:
    """How many persons are above three."""
    return sum(person > 3 for person in people)


def parity(people: list[int]) -> int:
    """Breaks any claim with every person."""
    return 30 * (len(people) % 2)


def test_thirty_persons_take_a_few_thousand_calls() -> None:
    """Where all subsets would be a thousand million. A right answer further off than 12 has a chance below 10^-6."""
    given = {"grid": integers(0, 30), "epsilon": 12, "delta": "1e-5", "budget": Approx(24, "1e-4"), "trusted": True}
    limit = sum(comb(30, i) for i in range(5))
    assert limit == 31_931
    found = wrap(above, range(30), sensitivity=1, persons_public=True, max_evaluations=limit, **given)  # type: ignore[arg-type]
    assert found.value is None or abs(float(found) - 26) <= 12
    assert "at most 4" in str(found)
    with pytest.raises(InvalidInput, match="evaluations"):
        wrap(above, range(30), sensitivity=1, persons_public=True, max_evaluations=limit - 1, **given)  # type: ignore[arg-type]


def test_a_claim_that_does_not_hold_is_refused_and_charged() -> None:
    budget = Approx(24, "1e-4")
    found = wrap(
        parity, range(12), grid=integers(0, 30), sensitivity=1, epsilon=24, delta="1e-4", budget=budget, trusted=True,
        persons_public=True,
    )  # fmt: skip
    assert found.value is None  # all twelve but the floor's are in the way: it passes with a chance below 10^-6
    assert "refused" in str(found)


def test_a_private_number_of_persons() -> None:
    found = wrap(
        above, range(9), grid=integers(0, 30), sensitivity=1, epsilon=60, delta="1e-3", budget=Approx(60, "1e-3"),
        trusted=True,
    )  # fmt: skip
    assert found.value is None or abs(float(found) - 5) <= 8
    assert "noisy number" in str(found)
