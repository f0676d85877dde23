"""Conditioned on success: the number of up to four persons by the exponential mechanism, and its distance as loss."""

from collections.abc import Callable
from fractions import Fraction

from tacit.audit.exact import Dataset, datasets
from tacit.audit.registry import AuditCase
from tacit.curves import StepLoss
from tacit.grids import integers
from tacit.mechanisms.choose.exponential import exponential
from tacit.mechanisms.grid_law import Answer, GridLaw
from tacit.mechanisms.repeat.condition_on_success import Conditioned, condition_on_success
from tacit.noises import TruncatedLaplace

PERSONS, ALPHA, REPEATS = 4, 2, 2


def _chosen(x: Dataset) -> GridLaw:
    losses = [abs(len(x) - y) for y in range(PERSONS + 1)]
    return exponential(StepLoss.from_losses(integers(0, PERSONS), losses), "0.5")


def _distance(x: Dataset) -> Callable[[Answer], int]:
    return lambda y: abs(len(x) - int(y))


def _conditioned(x: Dataset) -> Conditioned[Answer]:
    return condition_on_success(
        _chosen(x), _distance(x), len(x), epsilon="0.5", delta="0.02", beta="0.3", alpha=ALPHA, repeats=REPEATS
    )


PROMISED, NOISE = _conditioned(()).guarantee, TruncatedLaplace.for_approx(Fraction(1, 2), Fraction(1, 50))


def _with(x: Dataset, noise: TruncatedLaplace, alpha: int) -> Conditioned[Answer]:
    return Conditioned(_chosen(x), _distance(x), len(x), noise, alpha, REPEATS, PROMISED)


CASES = (
    AuditCase(
        name="conditioned on success, number of persons",
        covers="mechanisms.condition_on_success",
        mechanism=_conditioned,
        datasets=datasets((1,), PERSONS),
        promised=PROMISED,
        twins={
            "a test without noise": lambda x: _with(x, TruncatedLaplace(Fraction(1), 0), 0),
            "a limit that is hardly ever met": lambda x: _with(x, NOISE, -12),
        },
        sampled=((1, 1),),
    ),
)
