"""Totals over time: every stream of three bins of up to two persons.

A dataset has for each person what they bring to each bin. The law is that of everything that is ever released of a
chapter: the nodes of all batches, of the totals or of how many persons pass the cap. A ratio of Laplace noise is
largest beyond the values of all datasets, so the outcomes compared are all combinations of a number below and one
above.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise, product
from typing import Any

from tacit.answers.nodes import Block
from tacit.audit.exact import Dataset, datasets
from tacit.audit.registry import AuditCase
from tacit.guarantees import Pure, Zcdp
from tacit.mechanisms.law import Law
from tacit.mechanisms.noise.noise import NoiseVector, laplace_vector
from tacit.mechanisms.together import Together
from tacit.mechanisms.totals.running_totals import batch_laws, capped, passes, running_totals

EPSILON, RHO, CAP = Fraction(4), Fraction(100), 2
STREAMS = [person for person in product((0, 1, 3), repeat=3) if any(person)]
SIGNED = [person for person in product((-1, 0, 2), repeat=3) if any(person)]
SHORT = [(2, 0), (-1, 3)]
BLOCKS = (Block(2, (1, 2), (Fraction(1, 2),) * 2), Block(4, (1, 4), (Fraction(1, 4), Fraction(3, 4))))
"""Two blocks, so that a chapter goes from one to the next; the last node never comes."""
BEYOND = 12
"""More than anything that is counted here."""

Rule = Callable[[Sequence[int], int], list[int]]


class Beyond(Together[Any]):
    """Nodes, compared where all of them lie beyond all values."""

    def outcomes(self) -> Iterable[Any]:
        """Every combination of a number below and one above."""
        lengths = [len(part._parts) for part in self._parts if isinstance(part, NoiseVector)]
        return product(*(product((-BEYOND, BEYOND), repeat=length) for length in lengths))


def bins(x: Dataset, cap: int, rule: Rule = capped) -> list[int]:
    """The total of each bin."""
    return [sum(column) for column in zip(*(rule(person, cap) for person in x), strict=True)] if x else [0, 0, 0]


def _nodes(values: list[int], moves: int, epsilon: Fraction = EPSILON) -> list[Law[Any]]:
    """The laws of all nodes, bin after bin."""
    batches = (batch_laws(values[:done], BLOCKS, before, moves, epsilon) for before, done in pairwise((0, 1, 2, 3)))
    return [law for batch in batches for levels in batch for law in levels if law is not None]


def _chapter(x: Dataset) -> Beyond:
    return Beyond(_nodes(bins(x, CAP), CAP), Pure(EPSILON))


def _twice(x: Dataset) -> Beyond:
    """The node of the first two bins once more, after the third came."""
    values = bins(x, CAP)
    again = laplace_vector([values[0] + values[1]], EPSILON / 2, CAP)
    return Beyond([*_nodes(values, CAP), again], Pure(EPSILON))


def _for_free(x: Dataset) -> Beyond:
    """A new cap for everybody from the third bin on, and nothing charged for it."""
    values = bins(x, CAP, lambda person, cap: [*capped(person[:2], cap), *capped(person[2:], cap)])
    return Beyond(_nodes(values, CAP), Pure(EPSILON))


def _anew(x: Dataset) -> Beyond:
    """The latest rows count first, so that those of earlier bins are not what was released."""
    laws: list[Law[Any]] = []
    for done in (1, 2, 3):
        last_first = [capped(person[:done][::-1], CAP)[::-1] for person in x]
        values = [sum(column) for column in zip(*last_first, strict=True)] if x else [0] * done
        for levels in batch_laws(values, BLOCKS, done - 1, CAP, EPSILON):
            laws += [law for law in levels if law is not None]
    return Beyond(laws, Pure(EPSILON))


def _each_level(x: Dataset) -> Beyond:
    """Every level for the whole of ε."""
    return Beyond(_nodes(bins(x, CAP), CAP, 2 * EPSILON), Pure(EPSILON))


def _passing(x: Dataset) -> Beyond:
    return Beyond(_nodes(bins(x, CAP, passes), 1), Pure(EPSILON))


def _every_bin(x: Dataset) -> Beyond:
    """Persons counted in each bin in which they are above the cap."""
    return Beyond(_nodes(bins(x, CAP, lambda p, cap: [int(s > cap) for s in accumulate(p)]), 1), Pure(EPSILON))


def _batches(x: Dataset, cap: int = CAP) -> Beyond:
    """A batch of two bins, then one."""
    law = running_totals(bins(x, cap), CAP, EPSILON, batches=(2, 1))
    return Beyond(law._parts, law.guarantee)


def _gaussian(x: Dataset, cap: int = CAP) -> Law[Any]:
    """Two bins at once."""
    return running_totals(bins(x, cap)[:2], CAP, rho=RHO)


def _case(name: str, **facts: Any) -> AuditCase:
    return AuditCase(name=name, covers="mechanisms.running_totals", **facts)


CASES = (
    _case(
        "totals over time, bin after bin",
        mechanism=_chapter,
        datasets=datasets(STREAMS, 2),
        promised=Pure(EPSILON),
        twins={
            "a node counted twice": _twice,
            "a cap renewed for free": _for_free,
            "earlier bins capped anew": _anew,
            "every level for the price of one": _each_level,
        },
    ),
    _case(
        "persons who pass the cap, bin after bin",
        mechanism=_passing,
        datasets=datasets(STREAMS, 2),
        promised=Pure(EPSILON),
        twins={"counted in each bin": _every_bin},
    ),
    _case(
        "totals over time, in batches",
        mechanism=_batches,
        datasets=datasets(SIGNED, 2),
        promised=Pure(EPSILON),
        twins={"no cap": lambda x: _batches(x, 9)},
    ),
    _case(
        "totals over time, Gaussian noise",
        mechanism=_gaussian,
        datasets=datasets(SHORT, 1),
        promised=Zcdp(RHO),
        twins={"no cap": lambda x: _gaussian(x, 9)},
        sampled=[((-1, 3),)],
    ),
)
