"""Failures absorbed: never more replacements than paid for, and no failure where the claim holds."""

from fractions import Fraction
from math import e

import pytest

from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Zcdp
from tacit.mechanisms import absorb, gaussian, laplace, randomised_response, truncated_laplace
from tacit.mechanisms.repeat.absorb import absorbed


def test_no_failure_where_the_claim_holds() -> None:
    noisy = laplace(7, 2)
    law = absorb(noisy, 7, lambda y: abs(y - 7) > 3, "0.001")
    assert float(law.pmf(11)) == 0
    assert float(law.pmf(7)) == pytest.approx(float(noisy.pmf(7)) + float(noisy.cdf(3)) * 2)
    assert all(abs(y - 7) <= 3 for y in law.sample(2000))


def test_a_false_claim_leaves_failures_but_not_more_replacements() -> None:
    law = absorb(randomised_response(0, 2, 1), 0, lambda y: y != 0, "0.1")
    assert float(law.pmf(1)) == pytest.approx(1 / (1 + e) - 0.1)


def test_the_promise() -> None:
    assert float(absorbed(Approx(1, "0.01"), Fraction(1, 100)).delta) == pytest.approx(0.01 + (1 + e) / 100)
    law = absorb(truncated_laplace(3, 1, "0.01"), 3, lambda y: y != 3, "1e-9")
    assert isinstance(law.guarantee, Approx)
    assert law.guarantee.epsilon == 1
    assert "3" not in repr(law).replace("0.01", "").split("Approx")[0]


@pytest.mark.parametrize("beta", [0, 1, -1, 2])
def test_beta_is_a_probability(beta: int) -> None:
    with pytest.raises(InvalidInput, match="beta must lie strictly between 0 and 1"):
        absorb(laplace(0, 1), 0, bool, beta)


def test_what_cannot_be_promised_is_refused() -> None:
    with pytest.raises(InvalidInput, match="too large to be absorbed"):
        absorb(laplace(0, 1), 0, bool, "0.3")
    with pytest.raises(InvalidInput, match="needs law_delta="):
        absorb(gaussian(0, 1), 0, bool, "0.001")
    assert isinstance(gaussian(0, 1).guarantee, Zcdp)
    with pytest.raises(InvalidInput, match="has its own guarantee"):
        absorb(laplace(0, 1), 0, bool, "0.001", law_delta="0.001")


def test_concentrated_laws_are_converted_at_a_delta() -> None:
    law = absorb(gaussian(0, "0.5"), 0, lambda y: abs(y) > 8, "1e-12", law_delta="1e-9")
    known = Zcdp("0.5").to(Approx, delta="1e-9")
    assert law.guarantee.epsilon == known.epsilon  # type: ignore[attr-defined]
    assert law.pmf(9).high == 0
