"""The searched loss: equal to the oracle for any function, refused from public facts, blind to what functions do."""

from fractions import Fraction
from typing import Any

import pytest

from tacit.curves import Run
from tacit.errors import InvalidInput
from tacit.grids import integers, multiples
from tacit.mechanisms import median_loss, searched_loss
from tacit.mechanisms.inverse.inverse_search import LARGEST, in_universe, lowest, rings, search_size
from tests.mechanisms.nearest import distances, multisets, records

UNIVERSE = (0, 1, 3)


def spread(x: tuple[int, ...]) -> int:
    return max(x) - min(x)


def odd(x: tuple[int, ...]) -> int:
    """Jumps about: nothing is known of it."""
    return (sum(v * v for v in x) + 7 * len(x)) % 5


@pytest.mark.parametrize("f", [spread, odd])
def test_the_search_equals_the_oracle_on_every_dataset(f: Any) -> None:
    limit, grid = 4, integers(0, 4)
    oracle = distances(f, UNIVERSE, 6 + limit - 1)
    for x in multisets(3, 6):
        found = searched_loss(
            f if f is spread else lambda r: f(r) if r else None, records(x, UNIVERSE), UNIVERSE, grid, limit=limit
        )
        assert [found.at(y) for y in range(5)] == [
            min(oracle.get(Fraction(y), {}).get(x, limit), limit) for y in range(5)
        ]


def test_the_search_equals_the_oracle_where_persons_are_replaced() -> None:
    for n in range(1, 6):
        oracle = distances(spread, UNIVERSE, n, replaced=True)
        for x in multisets(3, n):
            if sum(x) == n:
                found = searched_loss(
                    spread, records(x, UNIVERSE), UNIVERSE, integers(0, 3), limit=6, persons_public=True
                )
                assert [found.at(y) for y in range(4)] == [oracle.get(Fraction(y), {}).get(x, 6) for y in range(4)]


def test_a_continuous_function_reaches_the_grid_points_near_its_values() -> None:
    def mean(x: tuple[int, ...]) -> Fraction:
        return Fraction(sum(x), len(x))

    grid = multiples("0.5", 0, 3)
    loss = searched_loss(mean, (0, 1), UNIVERSE, grid, limit=5, within="0.25")
    assert loss.at(1) == 0  # ½ exactly
    assert loss.at(0) == 1  # remove 1: 0; also reached by 1/3 − ¼ > 0
    assert loss.at(3) == 1  # add 3: 4/3 is within ¼ of 3/2
    assert all(loss.at(i) < 5 for i in range(7))  # every grid point is near some mean
    plain = searched_loss(mean, (0, 1), UNIVERSE, grid, limit=5)
    assert all(plain.at(i) >= loss.at(i) for i in range(7))
    assert plain.at(3) == 2  # 3/2 itself


def test_what_a_function_does_on_some_data_does_not_show() -> None:
    def hostile(x: tuple[int, ...]) -> Any:
        if len(x) == 1:
            raise RuntimeError("secret")
        return {0: None, 2: "0.5", 3: float("nan"), 4: 2}.get(len(x), 1)

    loss = searched_loss(hostile, (0,), UNIVERSE, multiples("0.5", 0, 2), limit=4)
    assert [loss.at(i) for i in range(5)] == [4, 1, 4, 4, 3]
    assert searched_loss(spread, (0, "?"), UNIVERSE, integers(0, 3), limit=3) == searched_loss(
        spread, (0, 0), UNIVERSE, integers(0, 3), limit=3
    )


def test_search_size_counts_the_datasets() -> None:
    far = in_universe([0] * 9 + [1] * 9 + [3] * 9, UNIVERSE)
    for radius in range(4):
        assert sum(len(ring) for _, ring in rings(far, radius)) == search_size(3, radius)
        assert sum(len(ring) for _, ring in rings(far, radius, True)) <= search_size(3, radius, 27)
    assert search_size(4, 50, 2) == 10  # all pairs of four kinds


def test_a_search_too_large_is_refused_before_anything_is_evaluated() -> None:
    called: list[tuple[int, ...]] = []
    size = search_size(10, 19)
    assert size > LARGEST
    with pytest.raises(InvalidInput, match=f"up to {size} datasets"):
        searched_loss(called.append, (1,), range(10), integers(0, 3), limit=20)
    assert not called
    with pytest.raises(InvalidInput, match="universe"):
        searched_loss(spread, (1,), (), integers(0, 3), limit=2)
    with pytest.raises(InvalidInput, match="each only once"):
        searched_loss(spread, (1,), (1, 1), integers(0, 3), limit=2)
    with pytest.raises(InvalidInput, match="limit"):
        searched_loss(spread, (1,), UNIVERSE, integers(0, 3), limit=0)


def test_overlapping_intervals_keep_the_smallest_loss() -> None:
    loss = lowest(integers(), [(0, 9, 3), (2, 4, 1), (4, 6, 2), (2, 4, 5)], 4)
    assert loss.runs == (Run(None, -1, 4), Run(0, 1, 3), Run(2, 4, 1), Run(5, 6, 2), Run(7, 9, 3), Run(10, None, 4))
    assert lowest(integers(0, 3), [], 2).runs == (Run(0, 3, 2),)


def test_the_search_and_the_formula_give_one_median() -> None:
    def median(x: tuple[int, ...]) -> int:
        return sorted(x)[(len(x) + 1) // 2 - 1]

    values = (0, 0, 1, 3, 3)
    grid = integers(0, 3)
    assert searched_loss(median, values, (0, 1, 2, 3), grid, limit=6) == median_loss(values, grid, limit=6)
