"""Functions nobody has analysed: the wrapper, the Lipschitz filter and the median of block answers.

Wrapped functions are small ones with a mind of their own: neither monotone nor of small sensitivity. The tests go on to
every function of three persons into three values. Where the number of persons is public, one is replaced. Twins: a
floor relative to the group, which does not make the function monotone; a function not filtered, or filtered on the last
step only; the constants for adding and removing where an answer, or a person, is replaced; and persons in several
blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, partial
from itertools import combinations, product
from math import comb
from operator import ne

import numpy as np
from numpy.typing import NDArray

from tacit.audit.exact import Dataset, datasets
from tacit.audit.registry import AuditCase
from tacit.black_boxes.block_median import block_median, median_loss
from tacit.black_boxes.fallen import FallenGroups
from tacit.black_boxes.floors import Design
from tacit.black_boxes.lattice import Lattice
from tacit.black_boxes.lipschitz import LipschitzFilter, design_filter
from tacit.black_boxes.subsets import missing_sets
from tacit.grids import integers
from tacit.guarantees import Approx, Guarantee, Pure, Zcdp
from tacit.mechanisms.choose.exponential import exponential
from tacit.mechanisms.grid_law import Answer
from tacit.mechanisms.law import Law
from tacit.noises.truncated_laplace import least_bound
from tacit.numbers.enclosures import BITS, Enclosure, total
from tacit.randomness import Randomness, uniform_below

Function = Callable[[Dataset], int]
Drawn = tuple[int, Answer]
"""A noisy number of persons and a value."""

GRID = integers(0, 2)
PERSONS = 3


class WrappedLaw(Law[Drawn]):
    """The law of a wrapper: a noisy number of persons, then a selector on the profile that its floor leaves."""

    name = "wrapped function"

    def __init__(self, design: Design, persons: int, profile: Callable[[int], Sequence[int]]) -> None:
        self.design, self.guarantee = design, design.guarantee
        self._noisy = design.noisy(persons)
        self._selected = lru_cache(maxsize=None)(lambda floor: design.select(profile(floor)))

    def _draw(self, source: Randomness) -> Drawn:
        noisy = self._noisy._draw(source)
        return noisy, self._selected(self.design.floor(noisy))._draw(source)

    def pmf(self, y: Drawn, bits: int = BITS) -> Enclosure:
        """P[number]·P[value | floor]."""
        return self._noisy.pmf(y[0], bits) * self._selected(self.design.floor(y[0])).pmf(y[1], bits)

    def outcomes(self) -> Iterable[Drawn]:
        """Every value with every number but a share of 2^-40."""
        return product(self._noisy.outcomes(), range(3))


def profile(f: Function, x: Dataset, floor: int) -> list[int]:
    """The profile of g, as the wrapper computes it."""
    if floor > len(x):
        return []
    lattice = Lattice(len(x), len(x) - floor)
    return lattice.profile(values(f, x, lattice))


def values(f: Function, x: Dataset, lattice: Lattice) -> list[NDArray[np.int64]]:
    """f on every subset, by layers of missing persons."""
    found = []
    for missing, count in enumerate(lattice.sizes()):
        subsets = missing_sets(len(x), missing, 0, count)
        found.append(np.array([f(tuple(v for i, v in enumerate(x) if i not in absent)) for absent in subsets]))
    return found


def relative_profile(f: Function, x: Dataset, slack: int) -> list[int]:
    """The twin's: a group may miss ``slack`` persons, however small it is already."""

    def g(z: Dataset) -> int:
        return max(f(s) for k in range(max(0, len(z) - slack), len(z) + 1) for s in combinations(z, k))

    return [min(g(z) for k in range(j + 1) for z in combinations(x, len(x) - k)) for j in range(len(x) + 1)]


def small_design(first: Guarantee | None, method: str, margin: int, reach: int = 0) -> Design:
    """A wrapper whose floor is felt by three persons; privacy does not depend on the margin."""
    return Design(GRID, method, Fraction(1, 2), first, Fraction(2 if first else 1), None, reach, margin)


LAPLACE, TRUNCATED = Pure(1), Approx(1, "0.1")
REACH = least_bound(Fraction(1), Fraction(1, 10), 1)
SMALL = small_design(LAPLACE, "scan", 1)


def spike(x: Dataset) -> int:
    """Neither monotone nor slow to change."""
    return sum(x) * (len(x) + 2) % 3


def few(x: Dataset) -> int:
    """High on small groups."""
    return 2 if len(x) < 4 else 0


def jump(x: Dataset) -> int:
    """Up and down with every person."""
    return 4 * (len(x) % 2)


def _wrapped(f: Function, design: Design) -> Callable[[Dataset], WrappedLaw]:
    return lambda x: WrappedLaw(design, len(x), lambda floor: profile(f, x, floor))


def _public(f: Function, design: Design) -> Callable[[Dataset], Law[Answer]]:
    """The wrapper where the number of persons is public, and with it the floor."""
    return lambda x: design.select(profile(f, x, design.floor(len(x))))


FALLING = FallenGroups(GRID, Pure(2), "scan", Fraction(1, 2), 2**12)


def _monotone(f: Function, rule: FallenGroups = FALLING) -> Callable[[Dataset], Law[Answer]]:
    """The wrapper of a function that is claimed to be monotone, for at most four persons here."""

    def law(x: Dataset) -> Law[Answer]:
        small = replace(rule, limit=sum(comb(4 + rule.missing, j) for j in range(rule.missing + 1)))
        lattice = Lattice(len(x), min(len(x), rule.missing))
        return small.select(small.profile(len(x), values(f, x, lattice)))

    return law


def most_alike(x: Dataset) -> int:
    """Monotone: how many persons have the same record, at most two."""
    return min(2, max((x.count(v) for v in x), default=0))


# ---- the filter -------------------------------------------------------------------------------------------------

PUBLIC_CLAIM = design_filter(integers(0, 4), 1, Fraction(1), persons_public=True)
CLAIM = replace(PUBLIC_CLAIM, size_epsilon=Fraction(1, 9))
"""The filter's second step, which gets an ε of 1, where the number of persons is private."""


def _filtered(f: Function, claim: LipschitzFilter = CLAIM) -> Callable[[Dataset], Law[int]]:
    def law(x: Dataset) -> Law[int]:
        lattice = Lattice(len(x), len(x))
        return claim.noisy_value(lattice.filtered(values(f, x, lattice), claim.sensitivity))

    return law


def signed(x: Dataset) -> int:
    """Up with every 1 and down with every 0: as far as a claim of one step allows."""
    return 2 + sum(int(2 * v - 1) for v in x)


def _last_step(f: Function) -> Callable[[Dataset], Law[int]]:
    """Only the whole group's value is moved, towards the unfiltered values of the groups one smaller."""

    def law(x: Dataset) -> Law[int]:
        smaller = [f(x[:i] + x[i + 1 :]) for i in range(len(x))]
        low, high = max((v - 1 for v in smaller), default=0), min((v + 1 for v in smaller), default=4)
        return CLAIM.noisy_value(max(low, min(high, f(x))))

    return law


# ---- block answers ----------------------------------------------------------------------------------------------

BLOCKS = 6
ANSWERS: list[Dataset] = list(product(range(3), repeat=4))


def replaced(collection: Sequence[Dataset]) -> list[tuple[Dataset, Dataset]]:
    """Pairs of one length that differ in one answer, or in one person."""
    return [(x, z) for x, z in combinations(collection, 2) if len(x) == len(z) and sum(map(ne, x, z)) == 1]


def _smooth(x: Dataset) -> Law[Answer]:
    law = block_median(x, GRID, epsilon=Fraction(2))
    law.guarantee = Zcdp("0.5")
    return law


class _OverBlocks(Law[Answer]):
    """The median of the largest value over some blocks, for all choices of everybody's blocks with equal chance."""

    name = "sample and aggregate"

    def __init__(self, x: Dataset, homes: Sequence[tuple[int, ...]]) -> None:
        self.guarantee = Pure(1)
        self._laws = [
            block_median([_largest(x, choice, block) for block in range(BLOCKS)], GRID, epsilon=Fraction(1))
            for choice in product(homes, repeat=len(x))
        ]

    def _draw(self, source: Randomness) -> Answer:
        return self._laws[uniform_below(len(self._laws), source=source)]._draw(source)

    def pmf(self, y: Answer, bits: int = BITS) -> Enclosure:
        """The mean over all choices of blocks."""
        return total([law.pmf(y, bits) for law in self._laws], bits) / len(self._laws)

    def outcomes(self) -> Iterable[Answer]:
        """Every value of the grid."""
        return range(3)


def _largest(x: Dataset, choice: Sequence[tuple[int, ...]], block: int) -> int:
    return max((v for v, homes in zip(x, choice, strict=True) if block in homes), default=0)


_wrap_case = partial(AuditCase, covers="black_boxes.wrap")

CASES = (
    AuditCase(
        name="wrapped function that is monotone",
        covers="black_boxes.wrap",
        mechanism=_monotone(most_alike),
        datasets=datasets((0, 1), 6),
        promised=Pure(2),
        twins={"a function that is not monotone": _monotone(few)},
    ),
    *(
        _wrap_case(
            name=f"wrapped function by {method}",
            mechanism=_wrapped(spike, small_design(LAPLACE, method, 1)),
            datasets=datasets((0, 1), PERSONS),
            promised=Pure(3),
            sampled=[(0, 1)] if method == "scan" else [],
        )
        for method in ("scan", "scan_down", "exponential", "permute_and_flip", "binary_search")
    ),
    _wrap_case(
        name="wrapped function, high on small groups",
        mechanism=_wrapped(few, SMALL),
        datasets=datasets((0,), 5),
        promised=Pure(3),
        twins={
            "a floor relative to the group": lambda x: WrappedLaw(SMALL, len(x), lambda _: relative_profile(few, x, 1))
        },
    ),
    _wrap_case(
        name="wrapped function, truncated noise on the number of persons",
        mechanism=_wrapped(spike, small_design(TRUNCATED, "scan", 1, REACH)),
        datasets=datasets((0, 1), PERSONS),
        promised=Approx(3, "0.1"),
        twins={
            "truncated one step too early": _wrapped(spike, small_design(TRUNCATED, "scan", 1, REACH - 1)),
        },
    ),
    _wrap_case(
        name="function filtered to a claimed sensitivity",
        mechanism=_filtered(jump),
        datasets=datasets((0, 1), PERSONS),
        promised=Pure(1),
        twins={
            "not filtered": lambda x: CLAIM.noisy_value(jump(x)),
            "filtered on the last step only": _last_step(jump),
        },
    ),
    _wrap_case(
        name="function filtered to a claimed sensitivity, a person replaced",
        mechanism=_filtered(signed, PUBLIC_CLAIM),
        datasets=datasets((0, 1), PERSONS),
        promised=Pure(1),
        pairs=replaced,
        twins={"the noise for adding and removing": _filtered(signed, CLAIM)},
    ),
    *(
        _wrap_case(
            name=f"wrapped function by {method}, a person replaced",
            mechanism=_public(spike, small_design(None, method, 1)),
            datasets=datasets((0, 1), PERSONS),
            promised=Pure(2),
            pairs=replaced,
            twins={
                "three times the rate": _public(spike, replace(small_design(None, method, 1), epsilon=Fraction(3))),
            },
        )
        for method in ("scan", "exponential")
    ),
    *(
        AuditCase(
            name=f"median of block answers by {method}",
            covers="black_boxes.sample_and_aggregate",
            mechanism=lambda x, method=method: block_median(x, GRID, method, epsilon=Fraction(1)),  # type: ignore[misc]
            datasets=ANSWERS,
            promised=Pure(1),
            pairs=replaced,
            twins={
                "the constant for adding and removing": lambda x: exponential(
                    median_loss(x, GRID), Fraction(1), change=(0, 1)
                )
            },
            sampled=[(0, 2, 2, 1)],
        )
        for method in ("exponential", "permute_and_flip")
    ),
    AuditCase(
        name="median of block answers, concentrated",
        covers="black_boxes.sample_and_aggregate",
        mechanism=_smooth,
        datasets=ANSWERS,
        promised=Zcdp("0.5"),
        pairs=replaced,
        twins={"for a quarter of the cost": lambda x: block_median(x, GRID, epsilon=Fraction(8))},
    ),
    AuditCase(
        name="sample and aggregate, largest value over blocks",
        covers="black_boxes.sample_and_aggregate",
        mechanism=lambda x: _OverBlocks(x, [(block,) for block in range(BLOCKS)]),
        datasets=datasets((1, 2), 2),
        promised=Pure(1),
        twins={"every person in all blocks": lambda x: _OverBlocks(x, [tuple(range(BLOCKS))])},
    ),
)
