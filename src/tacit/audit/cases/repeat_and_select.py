"""The best of K runs: the parity of up to three persons by randomised response, and truncated noise on their number."""

from __future__ import annotations

from functools import partial
from typing import Any

from tacit.audit.exact import Dataset, datasets
from tacit.audit.registry import AuditCase
from tacit.guarantees import Renyi
from tacit.mechanisms.law import Law
from tacit.mechanisms.noise.noise import RandomisedResponse, TruncatedInteger, randomised_response, truncated_laplace
from tacit.mechanisms.repeat.repeat_and_select import Selected, repeat_and_select
from tacit.mechanisms.repeat.run_counts import NegativeBinomial, Poisson, RunCount
from tacit.numbers.enclosures import BITS, Enclosure

CROWD = datasets((1,), 3)
GEOMETRIC, LOGARITHMIC, HALF = NegativeBinomial(1, "0.05"), NegativeBinomial(0, "0.25"), NegativeBinomial("-0.5", "0.2")
FEW, POISSON = NegativeBinomial(1, "0.5"), Poisson(3)


class Fixed(Poisson):
    """A number of runs that is not random."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    def generating(self, z: Enclosure) -> Enclosure:
        """z^K."""
        return z**self.number

    def pmf(self, k: int, bits: int = BITS) -> Enclosure:
        """All at one number."""
        return Enclosure.of(1 if k == self.number else 0, bits)


def _itself(y: Any) -> Any:
    return y


def _told(x: Dataset) -> RandomisedResponse:
    return randomised_response(len(x) % 2, 2, 1)


def _counted(x: Dataset) -> TruncatedInteger:
    return truncated_laplace(len(x), 1, "0.05")


def _best(law: Law[int], runs: RunCount) -> Selected[int]:
    return repeat_and_select(law, runs, score=_itself)


def _poisson(x: Dataset) -> Selected[int]:
    return repeat_and_select(_told(x), POISSON, score=_itself, order=2)


def _fixed(law: Law[int], number: int) -> Selected[int]:
    return Selected(law, Fixed(number), _itself, law.guarantee)


def _by_the_truth(x: Dataset) -> Selected[int]:
    return Selected(_told(x), GEOMETRIC, lambda y: y == len(x) % 2, _told(x).guarantee)


ORDER_TWO = _poisson(()).guarantee
assert isinstance(ORDER_TWO, Renyi)

_case = partial(AuditCase, covers="mechanisms.repeat_and_select", datasets=CROWD)

CASES = (
    _case(
        name="best of a geometric number of runs",
        mechanism=lambda x: _best(_told(x), GEOMETRIC),
        promised=_best(_told(()), GEOMETRIC).guarantee,
        twins={
            "five runs, known to be five": lambda x: _fixed(_told(x), 5),
            "the score looked up in the data": _by_the_truth,
        },
    ),
    _case(
        name="best of a logarithmic number of runs",
        mechanism=lambda x: _best(_told(x), LOGARITHMIC),
        promised=_best(_told(()), LOGARITHMIC).guarantee,
        twins={"three runs, known to be three": lambda x: _fixed(_told(x), 3)},
        sampled=((1,),),
    ),
    _case(
        name="best of a negative binomial number of runs, η = −1/2",
        mechanism=lambda x: _best(_told(x), HALF),
        promised=_best(_told(()), HALF).guarantee,
        twins={"two runs, known to be two": lambda x: _fixed(_told(x), 2)},
    ),
    _case(
        name="best of several runs of a mechanism with δ",
        mechanism=lambda x: _best(_counted(x), FEW),
        promised=_best(_counted(()), FEW).guarantee,
        twins={"six runs, known to be six": lambda x: _fixed(_counted(x), 6)},
    ),
    _case(
        name="best of a Poisson number of runs",
        mechanism=_poisson,
        promised=ORDER_TWO,
        twins={"five runs, known to be five": lambda x: _fixed(_told(x), 5)},
        sampled=((1,),),
    ),
)
