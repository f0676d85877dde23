"""Groups over rows of several persons: near the truth for a large ε, refused where no group is named."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tacit import Approx, Private, Pure, Session, UnsupportedQuery
from tacit.guarantees import Zcdp
from tacit.mechanisms.totals.flow_cap import sensitivity
from tacit.tables.releasing.room import Allowance

PERSONS = 400


ROWS: dict[str, Any] = {
    "buyer": np.arange(4000) * 7919 % PERSONS,
    "seller": np.arange(4000) * 104729 % (PERSONS - 1),
    "good": np.arange(4000) % 3,
    "price": np.arange(4000) * 31 % 100 - 20,
}


@pytest.fixture(scope="module")
def trades() -> Session:
    return Session({"trades": Private(pa.table(ROWS), ["b:buyer", "s:seller"])}, Pure(10**6))


def test_counts_and_sums_by_group_are_near_the_truth(trades: Session) -> None:
    """False alarm below 1e-8: 20 standard deviations of the noise, and a scan that stops far too low."""
    grouped = trades["trades"].group_by("good", keys=[0, 1, 2, 9])
    for answers, weights in ((grouped.count(epsilon=400), None), (grouped.sum("price", epsilon=400), ROWS["price"])):
        truth = np.bincount(ROWS["good"], weights=weights, minlength=10)
        for key, answer in answers.items():
            assert answer.noise_std is not None
            assert abs(float(answer) - truth[key]) < 20 * answer.noise_std + 1
        assert "nobody counted beyond" in str(answers[0])


def test_groups_that_are_not_named_are_refused_before_the_charge(trades: Session) -> None:
    spent = trades.budget.spent
    with pytest.raises(UnsupportedQuery, match="name those of"):
        trades["trades"].group_by("good").count(epsilon=1, delta="1e-6")
    with pytest.raises(UnsupportedQuery, match="several persons"):
        trades["trades"].group_by("good", keys=[0]).persons(epsilon=1)
    assert trades.budget.spent == spent


@pytest.mark.parametrize("most", [1, 2, 5, 25, 1000])
def test_delta_never_makes_the_noise_larger(most: int) -> None:
    cost = Approx(4, "1e-7")
    allowance = Allowance.of(cost, noises=most)
    laplace = 2 * (most / 4) ** 2
    gaussian = most / (2 * float(Zcdp.within(cost).rho))
    assert allowance.concentrated == (2 * gaussian <= laplace)  # half of the variance, so that the median is less too
    assert allowance.guarantee == (Zcdp.within(cost) if allowance.concentrated else Pure(4))


def test_sensitivities_cover_a_person_in_so_many_groups() -> None:
    for cap in (1, 3, 10**6):
        for most in (1, 2, 3, 50):
            assert sensitivity(cap, most, concentrated=False) == most * cap
            assert (sensitivity(cap, most, concentrated=True) - 1) ** 2 < most * cap**2
            assert sensitivity(cap, most, concentrated=True) ** 2 >= most * cap**2
