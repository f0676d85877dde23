"""Stable keys: every dataset of up to four persons with up to two of three keys each, with either noise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import Any

from tacit.audit.exact import Dataset, Mechanism, datasets
from tacit.audit.registry import AuditCase
from tacit.guarantees import Approx
from tacit.mechanisms.choose.stable_keys import StableKeys, gaussian_noise, laplace_noise, stable_keys

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
)
