"""Statistics with noise scaled to how far they can move near the data: smooth sensitivity and propose-test-release.

A statistic says what is known about its local sensitivity (`tacit.mechanisms.local`); here
is which law that gives for a cost, and what is said about what it drew. Propose-test-release may refuse: that is a
released and paid answer without a value.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tacit.answers import Answer
from tacit.answers.spreads import Additive
from tacit.answers.values import counted
from tacit.guarantees import Approx, Guarantee, Pure, Zcdp
from tacit.mechanisms.law import Law
from tacit.mechanisms.local.ladder import Ladder, LadderDifference
from tacit.mechanisms.local.order_statistics import TrimmedTails
from tacit.mechanisms.local.propose_test_release import TEST_SHARE, Release, propose_test_release
from tacit.mechanisms.local.smooth_sensitivity import smooth_sensitivity
from tacit.noises import DiscreteLaplace
from tacit.numbers.exact import Unit
from tacit.tables.releasing.room import Allowance, Room
from tacit.tables.statistics.base import Methods, Per, check_delta
from tacit.tables.statistics.ways.caps import CAP_SHARE

METHODS: Methods = {
    "smooth": "noise for the smooth sensitivity of the statistic",
    "propose_test_release": "noise for a bound on how far it moves, refused where a test fails; needs δ",
}
"""How noise is added to the statistic itself."""

NAMES = {"smooth": "smooth sensitivity", "propose_test_release": "propose-test-release, bound by a scan"}


def whole_range(step: Fraction) -> tuple[Fraction, Fraction]:
    """All that 64 bits of a unit hold."""
    return -(2**63) * step, (2**63 - 1) * step


def check_local(method: str, cost: Guarantee, instead: str) -> None:
    """Refuse a cost the method cannot use."""
    if method == "propose_test_release":
        check_delta(cost, "propose-test-release needs", instead)


def split(cost: Guarantee) -> tuple[Allowance, Guarantee]:
    """What a cap on rows may spend, and what is left; a δ stays whole."""
    match cost:
        case Approx(epsilon, delta):
            return Allowance(epsilon * CAP_SHARE, concentrated=False), Approx(epsilon * (1 - CAP_SHARE), delta)
        case Zcdp(rho):
            return Allowance(rho * CAP_SHARE, concentrated=True), Zcdp(rho * (1 - CAP_SHARE))
    assert isinstance(cost, Pure)
    return Allowance(cost.epsilon * CAP_SHARE, concentrated=False), Pure(cost.epsilon * (1 - CAP_SHARE))


def local_law(
    statistic: Ladder | LadderDifference | TrimmedTails, data: Any, cost: Guarantee, method: str, lattice: Fraction
) -> Law[Any]:
    """The law of the statistic with its noise, on a public lattice."""
    match cost:
        case Approx(epsilon, delta) if method == "propose_test_release":
            return propose_test_release(statistic, data, epsilon, delta, lattice=lattice)
        case Approx(epsilon, delta):
            return smooth_sensitivity(statistic, data, epsilon, delta=delta, noise="laplace", lattice=lattice)
        case Zcdp(rho):
            return smooth_sensitivity(statistic, data, rho=rho, noise="laplace_log_normal", lattice=lattice)
    assert isinstance(cost, Pure)
    return smooth_sensitivity(statistic, data, cost.epsilon, lattice=lattice)


def local_answer(
    room: Room,
    words: str,
    drawn: Fraction | Release | None,
    cost: Guarantee,
    method: str,
    step: Fraction,
    unit: Unit,
    per: Per,
    cap: int | None = None,
    what: str = "quantile",
) -> Answer:
    """What is said about what was drawn, in steps of the lattice."""
    notes: tuple[str, ...] = (f"A person counts for at most {counted(cap, 'row')}.",) if cap else ()
    spread, value = None, drawn.value if isinstance(drawn, Release) else drawn
    if method == "smooth":
        notes += ("The scale of its noise depends on the data and is not released, so no interval is stated.",)
    elif isinstance(drawn, Release):
        assert isinstance(cost, Approx)
        noise = DiscreteLaplace.for_pure((1 - TEST_SHARE) * cost.epsilon, drawn.bound / step)
        spread = Additive(noise, unit, "capped value" if cap else "truth")
    else:
        notes += (f"The test refused: few persons could move this {what} far. The refusal is the answer.",)
    return room.answer(
        words,
        None if value is None else unit.value(value / step),
        mechanism=NAMES[method],
        spread=spread,
        per=per,
        unit=unit,
        notes=notes,
    )
