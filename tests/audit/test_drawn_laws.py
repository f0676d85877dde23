"""A formula's bound is no measurement: what it leaves open is never called broken, and what is broken is."""

from fractions import Fraction
from typing import Any

import pytest

from tacit.audit.drawn_laws import verify_laws
from tacit.audit.exact import Dataset, Listed
from tacit.curves import StepLoss
from tacit.errors import InvalidInput
from tacit.grids import integers
from tacit.guarantees import Zcdp
from tacit.mechanisms import Law, exponential, gaussian
from tacit.numbers.enclosures import BITS, Enclosure

RHO = Fraction(1, 2)
SHADE = Fraction(1, 2**63)
"""What rounding upwards adds to a bound that is the promise itself."""


class Response(Listed):
    """Two outputs, whose laws a formula says to be at most ``bound`` apart."""

    def __init__(self, share: str, bound: Fraction, listed: bool = True) -> None:
        super().__init__({0: Fraction(share), 1: 1 - Fraction(share)}, Zcdp(RHO))
        self.bound, self.listed = bound, listed

    def pmf(self, y: Any, bits: int = BITS) -> Enclosure:
        """As listed, or refused as by the laws of searches."""
        if not self.listed:
            raise InvalidInput("no probabilities are known.")
        return super().pmf(y, bits)

    def concentrated_loss(self, other: Law[Any]) -> Enclosure:
        """The bound."""
        return Enclosure.between(0, self.bound)


@pytest.mark.parametrize(
    ("share", "bound", "listed", "verdict"),
    [
        ("1/2", RHO / 2, True, "loose"),
        ("1/2", RHO, True, "tight"),
        ("1/2", RHO + SHADE, True, "tight"),
        ("1/2", RHO + SHADE, False, "tight"),
        ("1/2", 4 * RHO, True, "undecided"),  # the bound is too large, and the laws are near each other all the same
        ("1/1000", 4 * RHO, True, "broken"),
        ("1/1000", 4 * RHO, False, "undecided"),
    ],
)
def test_only_what_is_surely_lost_breaks_a_promise(share: str, bound: Fraction, listed: bool, verdict: str) -> None:
    laws: dict[Dataset, Law[Any]] = {(): Response("1/2", bound, listed), (1,): Response(share, bound, listed)}
    found = verify_laws(laws, [((1,), ())])
    assert found.verdict == verdict
    assert found.holds == (verdict in ("tight", "loose"))


def test_gaussian_noise_is_compared_exactly() -> None:
    laws: dict[Dataset, Law[Any]] = {(i,) * i: gaussian(i, rho=RHO, sensitivity=1) for i in range(3)}
    assert verify_laws(laws, [((1,), ())]).verdict == "tight"
    found = verify_laws(laws, [((1,), ()), ((2, 2), ())])
    assert (found.verdict, found.measured.low, found.worst) == ("broken", 4 * RHO, ((2, 2), ()))


def test_a_choice_by_doubled_losses_is_caught_where_outputs_show_it() -> None:
    """The law's own bound is r²/8, which is no proof of a break; its outputs are."""
    lists: dict[Dataset, list[int]] = {(): [0] * 10, (1,): [0, *[1] * 9]}
    for factor, verdict in ((1, "loose"), (4, "broken")):
        laws = {
            x: exponential(StepLoss.from_losses(integers(0, 9), [factor * loss for loss in losses]), rho=2)
            for x, losses in lists.items()
        }
        found = verify_laws(laws, [((1,), ())])
        assert found.verdict == verdict
