"""The laws of one draw of a statistic, on all small datasets, compared with what they promise.

Where a law has too many outputs to list, those where its ratio can be largest are compared one by one and all others
together: each law names them (`Law.telling_points`). Laws that a formula compares, as Gaussian noise, are compared by
it (`Law.concentrated_loss`); their modules prove it and the audit's own cases verify it output by output. Where the
formula is a bound alone, a promise that reaches it holds; a smaller one is broken only where the outputs show it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from tacit.audit.exact import Dataset, Verification, verify
from tacit.errors import InvalidInput
from tacit.guarantees import Zcdp
from tacit.mechanisms.law import Law
from tacit.numbers.enclosures import Enclosure

Laws = Mapping[Dataset, Law[Any]]
Pair = tuple[Dataset, Dataset]

BITS = 64
"""Precision of the probabilities, far above what a decision needs."""


def verify_laws(laws: Laws, pairs: Sequence[Pair]) -> Verification:
    """The promise that the laws of all datasets make, over all neighbouring pairs."""
    promises = {law.guarantee for law in laws.values()}
    assert len(promises) == 1, "a promise must not depend on the data"
    (promised,) = promises
    if isinstance(promised, Zcdp):
        return _verify_concentrated(laws, pairs, promised)
    same: dict[Hashable, Dataset] = {}
    alike = {x: same.setdefault(law.key(), x) for x, law in laws.items()}
    different = list(dict.fromkeys((alike[x], alike[z]) for x, z in pairs))
    drawn = list(laws.values())
    return verify(lambda x: laws[x], different, promised, BITS, drawn[0].telling_points(drawn))


def _verify_concentrated(laws: Laws, pairs: Sequence[Pair], promised: Zcdp) -> Verification:
    losses: dict[Pair, Enclosure] = {}
    for pair in pairs:
        loss = laws[pair[0]].concentrated_loss(laws[pair[1]])
        assert loss is not None, "a concentrated promise is made by a law that a formula compares"
        losses[pair] = loss
    worst = max(pairs, key=lambda pair: losses[pair].high)
    low, high = max(loss.low for loss in losses.values()), losses[worst].high
    found = Verification(promised, Enclosure.between(low, high, BITS), worst, len(pairs))
    if found.holds or found.broken:
        return found
    doubtful = [pair for pair in pairs if losses[pair].high > promised.rho]
    low = max(low, _surely_lost(laws, doubtful, promised))
    return Verification(promised, Enclosure.between(low, high, BITS), worst, len(pairs))


def _surely_lost(laws: Laws, pairs: Sequence[Pair], promised: Zcdp) -> Fraction:
    """What the outputs themselves tell where a formula's bound is above the promise; 0 where a law cannot list them."""
    drawn = list(laws.values())
    try:
        points = drawn[0].telling_points(drawn)
        return verify(lambda x: laws[x], pairs, promised, BITS, points, until_broken=True).measured.low
    except InvalidInput:
        return Fraction(0)


def differing(laws: Laws, pairs: Sequence[Pair]) -> set[Pair]:
    """The pairs between whose datasets the draw's law differs."""
    keys = {x: law.key() for x, law in laws.items()}
    return {(x, z) for x, z in pairs if keys[x] != keys[z]}
