"""Conditioned on success: a hard bound on the loss, probabilities written out, and the promise's formula."""

from fractions import Fraction
from math import log

import pytest

from tacit.audit.cases.condition_on_success import CASES, PERSONS, _conditioned
from tacit.errors import InvalidInput
from tacit.grids import integers
from tacit.guarantees import Approx, Pure
from tacit.mechanisms import condition_on_success, inverse_sensitivity, laplace, randomised_response
from tacit.mechanisms.repeat.condition_on_success import conditioned


def test_a_round_of_the_case_succeeds_as_often_as_it_claims() -> None:
    (case,) = CASES
    for x in case.datasets:
        law = _conditioned(x)
        _, none = law._rounds(128)
        assert none.high <= Fraction(3, 10) ** law.repeats
        assert float(sum(float(law.pmf(y)) for y in range(PERSONS + 1))) == pytest.approx(1)


def test_probabilities_written_out() -> None:
    """A fair-ish bit whose wrong value has loss 9: success needs the right one, the substitute takes the rest."""
    told = randomised_response(0, 2, 1)
    law = condition_on_success(told, lambda y: 9 * y, 5, epsilon=3, delta="0.1", beta="0.3", alpha=0, repeats=2)
    right = float(told.pmf(0))
    assert law.worst_loss < 9
    assert float(law.pmf(0)) == pytest.approx(right * (1 + (1 - right)))
    assert float(law.pmf(5)) == pytest.approx((1 - right) ** 2)
    assert float(law.pmf(1)) == 0


def test_the_loss_is_bounded_with_certainty() -> None:
    law = condition_on_success(
        laplace(40, "0.5"), lambda y: abs(y - 40), 40, epsilon=2, delta="0.01", beta="0.5", alpha=1, repeats=8
    )
    assert law.worst_loss == 1 + 2 * 3
    assert float(law.pmf(40 + law.worst_loss)) > 0 == float(law.pmf(41 + law.worst_loss))
    assert all(abs(y - 40) <= law.worst_loss for y in law.sample(2000))


def test_the_threshold_of_an_exponential_mechanism_is_its_own_accuracy() -> None:
    losses = [abs(3 - y) for y in range(11)]
    law = inverse_sensitivity(loss=losses, grid=integers(0, 10), epsilon=2)
    window = law.accuracy("0.5").window
    assert window is not None
    found = condition_on_success(law, lambda y: losses[int(y)], 3, epsilon=1, delta="0.001", beta="0.5", alpha=window)
    assert found.limit - window == (found.worst_loss - window) // 2
    assert found._rounds(64)[1].high <= Fraction(1, 2) ** found.repeats


def test_the_promise() -> None:
    found = conditioned(Approx(1, "0.01"), Fraction(1, 2), 10)
    assert float(found.epsilon) == pytest.approx(2 - log(1 - 0.02))
    assert found.delta == Fraction("0.020976562500")
    assert float(conditioned(Pure(1), Fraction(1, 2), 10).epsilon) == 2


def test_what_promises_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput, match="below 1 − beta"):
        conditioned(Approx(1, "0.2"), Fraction(9, 10), 10)
    with pytest.raises(InvalidInput, match="allow more repeats"):
        conditioned(Approx(1, "0.05"), Fraction(9, 10), 1)
