"""Stable keys: every dataset of up to four persons with up to two of three keys each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from fractions import Fraction

from tacit.audit.exact import Dataset, datasets
from tacit.audit.registry import AuditCase
from tacit.guarantees import Approx
from tacit.mechanisms.choose.stable_keys import StableKeys, stable_keys

EPSILON, DELTA = Fraction(2), Fraction(1, 5)
PERSONS = (("a",), ("b",), ("a", "b"))


def counts(x: Dataset) -> Counter[Hashable]:
    """Persons for each key."""
    return Counter(key for person in x for key in person)


def _one_key_each(x: Dataset) -> StableKeys:
    law = StableKeys(counts(x), EPSILON, DELTA, 1)  # noise for one key although a person may have two
    law.guarantee = Approx(EPSILON, DELTA)
    return law


CASES = (
    AuditCase(
        name="stable keys, persons with up to two keys",
        covers="mechanisms.stable_keys",
        mechanism=lambda x: stable_keys(counts(x), EPSILON, DELTA, 2),
        datasets=datasets(PERSONS, 4),
        promised=Approx(EPSILON, DELTA),
        twins={"noise for one key": _one_key_each},
        sampled=((("a", "b"),) * 4,),
    ),
)
