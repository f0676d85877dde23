"""One person moves sums of products by no more than the cap, whoever else is there; without the cap they would."""

from itertools import combinations_with_replacement
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.engines.requests import HALF, GroupSteps, ProductTotals, Steps, value
from tacit.errors import InvalidInput
from tests.engines import oracle
from tests.engines.questions import SCOPE, relation

X = value(SCOPE.find("i"))
COLUMNS = (Steps(X, 2, 2**12, 3), Steps(X, -7, 2**9))
numbers = st.none() | st.integers(-(2**63), 2**63 - 1) | st.integers(-9, 9)
person = st.lists(numbers, max_size=4)


def sums(request: Any, people: Any) -> Any:
    table = [{"who": str(who), "i": number} for who, rows in enumerate(people) for number in rows]
    return oracle.answer(relation(), request, table)


@settings(max_examples=60)
@given(st.lists(person, max_size=3), person, st.sampled_from((1, 1000, 2**24)), st.booleans())
def test_a_person_moves_the_sums_by_at_most_the_cap(people: Any, one: Any, cap: int, mean: bool) -> None:
    """The engines answer what the oracle says (`test_conformance`)."""
    request = ProductTotals(COLUMNS, (2**10, 2**5), cap, mean)
    without, with_ = sums(request, people), sums(request, [*people, one])
    assert sum(abs(a - b) for a, b in zip(without, with_, strict=True)) <= cap


def test_a_cap_on_the_largest_entry_alone_is_caught() -> None:
    """The broken twin: entries cut one by one, as they are where groups are capped by their largest."""
    request = ProductTotals(COLUMNS, (2**10, 2**5), 1000)
    whole = sums(ProductTotals(COLUMNS, (2**10, 2**5), 2**30), [[1000, -5]])
    assert sum(min(abs(entry), request.cap) for entry in whole) > request.cap
    assert sum(map(abs, sums(request, [[1000, -5]]))) <= request.cap


def test_entries_fit_into_128_bits_whatever_the_rows() -> None:
    rows = 2**50
    most = rows * HALF**2 * 4  # both ends of a range around a shifted centre
    pairs = len(list(combinations_with_replacement(range(12), 2)))
    assert most * 2**30 < 2**127
    assert (pairs + 13) * max(most, rows * 2**30 * 2 * HALF) < 2**127


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Steps(X, 2**62 + 1, 1),
        lambda: Steps(X, 0, 0),
        lambda: ProductTotals((), (1, 1), 1),
        lambda: ProductTotals(COLUMNS, (0, 1), 1),
        lambda: ProductTotals(COLUMNS, (1, 1), 2**31),
        lambda: GroupSteps(X, ((0, 0),)),
    ],
)
def test_what_would_overflow_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInput):
        wrong()
