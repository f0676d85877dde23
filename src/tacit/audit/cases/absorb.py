"""Failures absorbed: the parity of up to three persons by randomised response, a wrong answer being the failure."""

from fractions import Fraction

from tacit.audit.exact import Dataset, datasets
from tacit.audit.registry import AuditCase
from tacit.mechanisms.noise.noise import RandomisedResponse, gaussian, randomised_response
from tacit.mechanisms.repeat.absorb import Absorbed, absorb

BETA = Fraction(1, 10)
"""Less than the law's 1/(1 + e): the claim is false, and privacy must not depend on it."""


def _told(x: Dataset) -> RandomisedResponse:
    return randomised_response(_parity(x), 2, 1)


def _parity(x: Dataset) -> int:
    return len(x) % 2


def _absorbed(x: Dataset) -> Absorbed[int]:
    return absorb(_told(x), _parity(x), lambda y: y != _parity(x), BETA)


def _claim_believed(x: Dataset) -> Absorbed[int]:
    return Absorbed(_told(x), _parity(x), lambda y: y != _parity(x), None, PROMISED)


PROMISED = _absorbed(()).guarantee


def _gaussian(x: Dataset) -> Absorbed[int]:
    """Noise of concentrated privacy that is never off by more than three."""
    return absorb(gaussian(len(x), 1), len(x), lambda y: abs(y - len(x)) > 3, "0.001", law_delta="0.001")


CASES = (
    AuditCase(
        "failures absorbed, parity",
        "mechanisms.absorb",
        _absorbed,
        datasets((1,), 3),
        PROMISED,
        twins={"a false claim believed": _claim_believed},
        sampled=((1,),),
    ),
    AuditCase(
        "failures absorbed, Gaussian noise",
        "mechanisms.absorb",
        _gaussian,
        datasets((1,), 3),
        _gaussian(()).guarantee,
    ),
)
