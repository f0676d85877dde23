"""Stable keys: every dataset of up to four persons with up to two of three keys each, with either noise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import Any

from tacit.audit.exact import Dataset, Mechanism, datasets
from tacit.audit.registry import AuditCase
from tacit.guarantees import Approx
from tacit.mechanisms.choose.stable_keys import (
    StableKeys,
    WeightedKeys,
    gaussian_noise,
    laplace_noise,
    stable_keys,
    weighted_keys,
    weights,
)

EPSILON, DELTA = Fraction(2), Fraction(1, 5)
PERSONS = (("a",), ("b",), ("a", "b"))


def counts(x: Dataset) -> Counter[Hashable]:
    """Persons for each key."""
    return Counter(key for person in x for key in person)


class _Gaussian(StableKeys):
    """With Gaussian noise, although Laplace noise would do better for so few keys."""

    noises = (gaussian_noise,)


class _Laplace(StableKeys):
    noises = (laplace_noise,)


def _law(kind: Callable[..., StableKeys], per_person: int = 2, **others: Any) -> Mechanism:
    def law(x: Dataset) -> StableKeys:
        found = kind(counts(x), EPSILON, DELTA, per_person, **others)
        found.guarantee = Approx(EPSILON, DELTA)
        return found

    return law


def _shown_early(x: Dataset) -> StableKeys:
    """A threshold at which a key that comes up to two persons is shown every other time."""
    law = _Gaussian(counts(x), EPSILON, DELTA, 2)
    law.threshold = law.least
    return law


LEVELS, MOST, LARGE = (1, 2), 2, Fraction(5)


def _weighed(x: Dataset, least: int = 2, given: tuple[int, int] | None = None) -> dict[Hashable, int]:
    """The weights of keys of enough persons."""
    each = given or weights(LEVELS, MOST)
    found: Counter[Hashable] = Counter()
    for person in x:
        found.update(dict.fromkeys(person, each[len(person) - 1]))
    return {key: found[key] for key, count in counts(x).items() if count >= least}


def _weighted(x: Dataset) -> WeightedKeys:
    return weighted_keys(_weighed(x), LARGE, DELTA, LEVELS, most=MOST)


def _overweight(x: Dataset) -> WeightedKeys:
    """Persons of two keys give each of them twice the whole weight."""
    return weighted_keys(_weighed(x, given=(2 * MOST, 2 * MOST)), LARGE, DELTA, LEVELS, most=MOST)


def _alone(x: Dataset) -> WeightedKeys:
    """Keys that one person brings take part, and the threshold knows nothing of the others' weight."""
    law = weighted_keys(_weighed(x, least=1), LARGE, DELTA, LEVELS, most=MOST)
    law.threshold = MOST
    return law


CASES = (
    AuditCase(
        name="stable keys, persons with up to two keys",
        covers="mechanisms.stable_keys",
        mechanism=lambda x: stable_keys(counts(x), EPSILON, DELTA, 2),
        datasets=datasets(PERSONS, 4),
        promised=Approx(EPSILON, DELTA),
        twins={"noise for one key": _law(_Laplace, 1)},
        sampled=((("a", "b"),) * 4,),
    ),
    AuditCase(
        name="stable keys, Gaussian noise",
        covers="mechanisms.stable_keys",
        mechanism=_law(_Gaussian),
        datasets=datasets(PERSONS, 4),
        promised=Approx(EPSILON, DELTA),
        twins={"shown too early": _shown_early},
        sampled=((("a", "b"),) * 4,),
    ),
    AuditCase(
        name="stable keys, at least three persons",
        covers="mechanisms.stable_keys",
        mechanism=_law(_Gaussian, least=3),
        datasets=datasets(PERSONS, 4),
        promised=Approx(EPSILON, DELTA),
    ),
    AuditCase(
        name="stable keys, weighted by how many keys a person has",
        covers="mechanisms.weighted_keys",
        mechanism=_weighted,
        datasets=datasets(PERSONS, 3),
        promised=Approx(LARGE, DELTA),
        twins={"persons above the whole weight": _overweight, "keys of one person": _alone},
        sampled=((("a", "b"),) * 3,),
    ),
)
