"""Every subset once, in the order of its rank."""

from itertools import combinations

import pytest

from tacit.black_boxes.subsets import evaluations, missing_sets


@pytest.mark.parametrize(("persons", "missing"), [(0, 0), (1, 0), (1, 1), (5, 2), (6, 6), (7, 4)])
def test_all_sets_in_the_order_of_their_largest_members(persons: int, missing: int) -> None:
    expected = sorted(combinations(range(persons), missing), key=lambda c: c[::-1])
    assert [tuple(s) for s in missing_sets(persons, missing, 0, len(expected))] == expected
    for start in range(len(expected)):
        assert [tuple(s) for s in missing_sets(persons, missing, start, start + 1)] == [expected[start]]


def test_number_of_evaluations() -> None:
    assert evaluations(20, 20) == evaluations(20, 99) == 2**20
    assert evaluations(0, 5) == 1
    assert evaluations(100, 2) == 1 + 100 + 4950
