"""Shifted inverse by every method: the answer lies in the stated window, exactly where the law can tell."""

from fractions import Fraction
from itertools import product
from time import process_time
from typing import Any

import pytest

from tacit.curves import DownProfile, StepLoss
from tacit.errors import InvalidInput
from tacit.grids import Grid, integers, multiples, powers
from tacit.guarantees import Approx, Pure, Zcdp
from tacit.mechanisms import Law, exponential, shifted_inverse
from tacit.mechanisms.inverse.shifted_inverse import METHODS, shift
from tests.support import Binomial

PURE = [method for method in METHODS if method != "bayesian_search"]
HUGE = integers(0, 2**64 - 1)
STAIRS = [2**63 - i * 10**15 for i in range(500)]


def chance_inside(law: Law[Any], profile: list[int], grid: Grid, window: int) -> Fraction:
    """P[D_window ≤ answer ≤ D_0], profile rounded up to the grid, as a lower bound."""
    ends = [grid.ceil(profile[j]) if j < len(profile) else grid.first for j in (window, 0)]
    low, high = (grid.value(end) for end in ends if end is not None)
    return (law.cdf(high, 64) - law.cdf(low - Fraction(1, 10**9), 64)).low


def profiles() -> list[list[int]]:
    """Falling fast, slowly, at once, with long ties, and shorter or longer than the window."""
    return [
        [],
        [900],
        list(range(900, 400, -5)),
        [900] * 40 + [300] * 40 + [10] * 40,
        [999 - i * i // 5 for i in range(70)],
        [7] * 200,
    ]


@pytest.mark.parametrize("method", ["exponential", "permute_and_flip", "scan", "scan_down", "binary_search"])
@pytest.mark.parametrize("grid", [integers(0, 1000), multiples(30, 0, 1020)], ids=repr)
def test_the_answer_lies_in_the_window_with_the_stated_probability(method: str, grid: Grid) -> None:
    for profile in profiles():
        law = shifted_inverse(profile, grid, 4, method)
        window = law.accuracy("0.05").window
        assert window is not None
        assert chance_inside(law, profile, grid, window) >= Fraction(95, 100)


def test_the_interior_points_window_holds_on_a_small_grid() -> None:
    grid = multiples(60, 0, 960)
    for profile in ([900] * 80 + [300] * 80, [900 - i for i in range(200)]):
        law = shifted_inverse(profile, grid, 20, "interior_point", delta="0.01")
        window = law.accuracy("0.05").window
        assert window is not None
        assert window < 150
        assert chance_inside(law, profile, grid, window) >= Fraction(95, 100)


def test_a_wider_beta_gives_a_smaller_window_that_holds_exactly() -> None:
    profile, grid = list(range(900, 400, -5)), integers(0, 1000)
    law = shifted_inverse(profile, grid, 1, "exponential", beta="0.001")
    windows = [law.accuracy(beta).window for beta in ("0.001", "0.05", "0.5")]
    assert windows == sorted(windows, key=lambda w: -(w or 0))
    for beta, window in zip(("0.001", "0.05", "0.5"), windows, strict=True):
        assert window is not None
        assert chance_inside(law, profile, grid, window) >= 1 - Fraction(beta)
    with pytest.raises(InvalidInput, match="beta"):
        shifted_inverse(profile, grid, 1, "exponential").accuracy("0.01")


def test_without_the_shift_or_the_rounding_the_window_is_missed() -> None:
    """The twins of accuracy: ℓ alone answers above D_0; an unrounded profile leaves no value of small loss."""
    profile, grid = list(range(900, 400, -5)), integers(0, 1000)
    unshifted = exponential(DownProfile(profile).loss(grid), 1)
    assert chance_inside(unshifted, profile, grid, 2 * shift(Fraction(1), 1001, Fraction(1, 20))) < Fraction(1, 2)

    coarse, tau = multiples(1000, 0, 4000), shift(Fraction(2), 5, Fraction(1, 20))
    crowd = [1500] * 400  # all between two grid values
    falls = [*crowd, 0]
    ell = [next(j for j, d in enumerate(falls) if d <= y) for y in range(0, 5000, 1000)]
    strict = [next((j for j, d in enumerate(falls) if d < y), 10**6) for y in range(0, 5000, 1000)]
    losses = [min(2 * tau, max(a, 2 * tau - b)) for a, b in zip(ell, strict, strict=True)]
    assert set(losses) == {2 * tau}  # no value has ℓ* ≤ 0, every one has ℓ* ≥ τ
    careless = exponential(StepLoss.from_losses(coarse, losses), 2)
    assert float(careless.pmf(2000)) == pytest.approx(0.2)
    assert float(shifted_inverse(crowd, coarse, 2, "exponential").pmf(2000)) > 0.95


def test_the_exponential_window_at_2_to_the_64_is_below_192_and_simulation_confirms_it() -> None:
    """False alarm below 1e-7: the window is met far more often than 95 %."""
    law = shifted_inverse(STAIRS, HUGE, 1, "exponential")
    window = law.accuracy("0.05").window
    assert window == 2 * 95 - 1  # τ = ⌈2·ln(2^64/0.05)⌉ = 95
    draws = law.sample(2000)
    inside = sum(STAIRS[window] <= y <= STAIRS[0] for y in draws)
    assert Binomial(2000, 0.95).at_most(inside) > 1e-7
    assert float(law.cdf(STAIRS[0])) - float(law.cdf(STAIRS[window] - 1)) > 0.95


@pytest.mark.parametrize("method", ["exponential", "scan", "scan_down"])
def test_one_draw_from_500_steps_on_2_to_the_64_takes_at_most_ten_milliseconds(method: str) -> None:
    def once() -> float:
        start = process_time()
        shifted_inverse(STAIRS, HUGE, 1, method).sample()
        return process_time() - start

    assert min(once() for _ in range(30)) < 0.010


def test_the_example_of_the_public_face() -> None:
    law = shifted_inverse(profile=[100, 60, 55, 54, 0], grid=integers(0, 1000), epsilon=1)
    assert 0 <= law.sample() <= 1000
    assert len(law.sample(size=10)) == 10
    chance = law.pmf(60)
    assert 0 < chance.low <= chance.high < 1
    assert law.guarantee == Pure(1)
    assert repr(law) == "<shifted inverse by scan law, Pure(1) for one draw>"
    assert law.method == "scan"
    assert law.cdf(1000).low == 1


@pytest.mark.parametrize("method", METHODS)
def test_every_method_answers_with_its_kind_of_cost(method: str) -> None:
    cost = {"rho": Fraction(1, 2)} if method == "bayesian_search" else {"epsilon": Fraction(1)}
    law = shifted_inverse([40, 30, 20], integers(0, 63), method=method, **cost)
    kinds = {"bayesian_search": Zcdp("0.5"), "interior_point": Approx(1, "0.000001")}
    assert law.guarantee == kinds.get(method, Pure(1))
    assert 0 <= law.sample() <= 63
    assert law.accuracy("0.05").window is not None


def test_binary_search_takes_either_cost() -> None:
    assert shifted_inverse([9, 4], integers(0, 63), rho=1, method="binary_search").guarantee == Zcdp(1)


def test_interior_point_takes_delta_and_states_its_wide_window() -> None:
    law = shifted_inverse([2**63] * 10**4, HUGE, 1, "interior_point", delta="0.001")
    assert law.guarantee == Approx(1, "0.001")
    window = law.accuracy("0.05").window
    assert window is not None
    assert window % 2 == 1  # 2w + 1
    assert law.sample(5) == [2**63] * 5  # ten thousand ties are far beyond any noise of this search


def test_an_open_grid_is_scanned() -> None:
    law = shifted_inverse([40, 33, 20], powers(2), epsilon=5)
    assert law.sample() in {2**i for i in range(200)}
    assert "2^64" in law.accuracy("0.05").statement


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"profile": [1, 2], "grid": integers(0, 9), "epsilon": 1}, "must not increase"),
        ({"profile": [10], "grid": integers(0, 9), "epsilon": 1}, "span the profile"),
        ({"profile": [9, -1], "grid": integers(0, 9), "epsilon": 1}, "span the profile"),
        ({"profile": [9], "grid": integers(0, 9), "epsilon": 1, "method": "guess"}, "method must be one of"),
        ({"profile": [9], "grid": integers(0, 9)}, "epsilon"),
        ({"profile": [9], "grid": integers(0, 9), "epsilon": 1, "rho": 1}, "epsilon"),
        ({"profile": [9], "grid": integers(0, 9), "epsilon": 1, "method": "bayesian_search"}, "rho"),
        ({"profile": [9], "grid": integers(0), "epsilon": 1, "method": "exponential"}, "finite"),
        ({"profile": [9], "grid": integers(0, 9), "epsilon": -1}, "epsilon"),
        ({"profile": [9], "grid": integers(0, 9), "epsilon": 1, "beta": 1}, "beta"),
        ({"profile": [9], "grid": integers(0, 9), "epsilon": 1, "delta": "0.1"}, "epsilon alone"),
        ({"profile": [9], "grid": integers(0, 9), "rho": 1, "method": "interior_point"}, "delta"),
        ({"profile": [9], "grid": integers(0), "epsilon": 1, "method": "interior_point"}, "finite"),
    ],
)
def test_bad_input_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        shifted_inverse(**arguments)  # type: ignore[arg-type]


def test_parameters_depend_on_public_facts_alone() -> None:
    for method, beta in product(PURE, ("0.05", "0.2")):
        one, other = (
            shifted_inverse(profile, integers(0, 500), 1, method, beta=beta) for profile in ([400, 3], [9] * 100)
        )
        assert one.accuracy("0.3") == other.accuracy("0.3")
        assert repr(one) == repr(other)
