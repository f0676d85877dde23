"""The laws of a statistic's draws on all small datasets: where to compare them, and what to follow after them.

Where a law has too many outputs to list, those where its ratio can be largest are compared one by one and all others
together (`telling_points`): around every step of a loss, and beyond the values of all datasets for noise, where the
ratio e^{rate·Σ|v−v'|} of Laplace noise is attained. Gaussian noise of one variance v is compared by its divergence
Σ(v−v')²/2v, which `tacit.mechanisms.noise.noise` proves and the audit's own cases verify output by output.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from tacit.answers.flows import CappedFlow
from tacit.answers.totals import CappedTotal
from tacit.audit.exact import Dataset, Verification, verify
from tacit.guarantees import Zcdp
from tacit.mechanisms.grid_law import GridLaw
from tacit.mechanisms.inverse.shifted_inverse import ShiftedInverseLaw
from tacit.mechanisms.law import Law
from tacit.mechanisms.noise.noise import Gaussian, IntegerNoise
from tacit.mechanisms.noise.noise_vector import NoiseVector
from tacit.mechanisms.totals.capped_flow import CappedFlowLaw
from tacit.mechanisms.totals.scan_and_release import CappedTotalLaw
from tacit.numbers.enclosures import Enclosure

Laws = Mapping[Dataset, Law[Any]]
Pair = tuple[Dataset, Dataset]

BITS = 64
"""Precision of the probabilities, far above what a decision needs."""

LISTED = 64
"""Grids of at most so many values are compared value by value."""


def verify_laws(laws: Laws, pairs: Sequence[Pair]) -> Verification:
    """The promise that the laws of all datasets make, over all neighbouring pairs."""
    promises = {law.guarantee for law in laws.values()}
    assert len(promises) == 1, "a promise must not depend on the data"
    (promised,) = promises
    if isinstance(promised, Zcdp):
        return _verify_gaussian(laws, pairs, promised)
    same: dict[Hashable, Dataset] = {}
    alike = {x: same.setdefault(law_key(law), x) for x, law in laws.items()}
    different = list(dict.fromkeys((alike[x], alike[z]) for x, z in pairs))
    return verify(lambda x: laws[x], different, promised, BITS, telling_points(laws.values()))


def law_key(law: Law[Any]) -> Hashable:
    """Laws of one key are one law, so that each is computed once."""
    inner = law._inner if isinstance(law, ShiftedInverseLaw) else law
    if isinstance(inner, GridLaw):
        return type(inner), inner.grid, _runs(inner)
    if isinstance(inner, CappedTotalLaw):
        return tuple(inner._above), tuple(inner._within), inner._persons
    if isinstance(inner, CappedFlowLaw):
        return inner.design, _runs(inner._choice), tuple(inner._curve.at(cap) for cap in inner._places)
    return (type(inner), inner._value) if isinstance(inner, IntegerNoise) else id(inner)


def _verify_gaussian(laws: Laws, pairs: Sequence[Pair], promised: Zcdp) -> Verification:
    parts = {x: _gaussians(law) for x, law in laws.items()}
    variances = {tuple(part.variance for part in found) for found in parts.values()}
    assert len(variances) == 1, "the noise must not depend on the data"

    def rho(pair: Pair) -> Fraction:
        both = zip(*(parts[x] for x in pair), strict=True)
        return sum(((a._value - b._value) ** 2 / (2 * a.variance) for a, b in both), Fraction(0))

    worst = max(pairs, key=rho)
    return Verification(promised, Enclosure.of(rho(worst), BITS), worst, len(pairs))


def _gaussians(law: Law[Any]) -> list[Gaussian]:
    parts = law._parts if isinstance(law, NoiseVector) else (law,)
    found = [part for part in parts if isinstance(part, Gaussian)]
    assert len(found) == len(parts), "a concentrated promise is made by Gaussian noise"
    return found


def telling_points(laws: Iterable[Law[Any]]) -> list[Hashable] | None:
    """The outputs to compare one by one; None for all that the laws list."""
    found = [law._inner if isinstance(law, ShiftedInverseLaw) else law for law in laws]
    grids = [law for law in found if isinstance(law, GridLaw)]
    if grids:
        return None if grids[0].grid.size <= LISTED else [grids[0].grid.answer(i) for i in _steps(grids)]
    capped = [law for law in found if isinstance(law, CappedTotalLaw)]
    if capped:
        return list(_releases(capped))
    flows = [law for law in found if isinstance(law, CappedFlowLaw)]
    if flows:
        return list(_flow_releases(flows))
    noises = [law for law in found if isinstance(law, IntegerNoise)]
    if noises:
        return list(_beyond(noises))
    vectors = [law._parts for law in found if isinstance(law, NoiseVector)]
    if vectors:
        columns = zip(*vectors, strict=True)
        return list(product(*(_beyond(column) for column in columns)))
    return None


def _steps(laws: Sequence[GridLaw]) -> list[int]:
    """The ends of the grid, and the indices around every step of every loss."""
    grid = laws[0].grid
    around = {run.first + d for law in laws for run in _runs(law) if run.first is not None for d in (-1, 0, 1)}
    ends = {end for end in (grid.first, grid.last) if end is not None}
    return sorted(i for i in around | ends if grid.holds(i))


def _runs(law: GridLaw) -> Any:
    return law._loss.runs  # type: ignore[attr-defined]


def _beyond(noises: Iterable[Any]) -> tuple[int, int]:
    """One output below and one above the values of all datasets."""
    return _around([noise._value for noise in noises])


def _around(values: Sequence[int]) -> tuple[int, int]:
    return min(values) - 1, max(values) + 1


def _releases(laws: Sequence[CappedTotalLaw]) -> Iterator[CappedTotal]:
    """At every cap that divides the persons of some dataset, and beside it, numbers beyond those of all datasets."""
    law, caps = laws[0], laws[0].caps
    steps = {i for law in laws for i in range(1, len(caps)) if law._above[i] != law._above[i - 1]}
    for place in sorted({0, len(caps) - 1} | steps | {i - 1 for i in steps}):
        within = _around([law._within[place] for law in laws])
        above = _around([law._above[place] for law in laws])
        for (s, n), many in product(product(within, above), (False, True)):
            yield CappedTotal(caps[place], s, n, many, law._epsilon, law.design)


def _flow_releases(laws: Sequence[CappedFlowLaw]) -> Iterator[CappedFlow]:
    """At every cap where some dataset's loss or value still changes, and at the last, values beyond all datasets'."""
    law = laws[0]
    caps = list(law._places)
    steps = {run.first for law in laws for run in _runs(law._choice) if run.first is not None}
    steps |= {i for law in laws for i in range(1, len(caps)) if law._curve.at(caps[i]) != law._curve.at(caps[i - 1])}
    for place in sorted({0, len(caps) - 1} | steps | {i - 1 for i in steps if i}):
        for value in _around([law._curve.at(caps[place]) for law in laws]):
            yield CappedFlow(caps[place], value, law._epsilon, law.design)


def followed(laws: Laws) -> list[Any]:
    """Outcomes worth following: the lowest, a low and a high one for a choice; the value itself for noise."""
    law = list(laws.values())[-1]
    law = law._inner if isinstance(law, ShiftedInverseLaw) else law
    if isinstance(law, GridLaw):
        starts = [run.first for run in _runs(law) if run.first is not None]
        first = [law.grid.first] if law.grid.first is not None else []
        chosen = [*first, *(starts[1:2] or starts[:1]), starts[-1]]
        return [law.grid.answer(i) for i in dict.fromkeys(chosen)]
    if isinstance(law, CappedTotalLaw):
        places = dict.fromkeys((0, next(i for i, n in enumerate(law._above) if n == law._above[-1])))
        known = law._epsilon, law.design
        return [CappedTotal(law.caps[i], law._within[i], law._above[i], False, *known) for i in places]
    if isinstance(law, CappedFlowLaw):
        caps = list(law._places)
        return [CappedFlow(cap, law._curve.at(cap), law._epsilon, law.design) for cap in (caps[0], caps[3])]
    if isinstance(law, IntegerNoise):
        return [law._value]
    if isinstance(law, NoiseVector):
        return [tuple(part._value for part in law._parts)]  # type: ignore[attr-defined]
    return list(law.outcomes())[-1:]
