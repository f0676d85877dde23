"""Rows from columns and lists: persons once in a row, kinds apart, nothing refused for what the data say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import InvalidInput
from tacit.flows import Incidences
from tacit.flows.incidences import exact_sum, integers, multiply, number_ids
from tests.flows.hypergraphs import Hypergraph, hypergraphs


def sets(rows: Incidences) -> list[tuple[int, tuple[int, ...]]]:
    spans = zip(rows.starts[:-1], rows.starts[1:], strict=True)
    return [(int(w), tuple(rows.persons[a:b].tolist())) for w, (a, b) in zip(rows.weights, spans, strict=True)]


@given(hypergraphs(touched=4, weight=3))
def test_rows_hold_each_person_once_and_only_rows_that_count(graph: Hypergraph) -> None:
    rows, known = graph.lists, sorted({u for _, listed, _ in graph.rows for u in listed})
    expected = [(w, tuple(sorted(known.index(u) for u in row))) for w, row, _ in graph.live]
    assert sets(rows) == expected
    assert rows.kept.tolist() == [i for i, (w, row, _) in enumerate(graph.rows) if w > 0 and row]


def test_columns_of_one_kind_name_the_same_persons_and_of_two_kinds_different_ones() -> None:
    first, second = np.array([5, 7, 5]), np.array([7, 7, 9])
    assert sets(Incidences.from_columns([1, 1, 1], [first, second])) == [(1, (0, 1)), (1, (1,)), (1, (0, 2))]
    apart = Incidences.from_columns([1, 1, 1], [first, second], kinds=["customer", "supplier"])
    assert sets(apart) == [(1, (0, 2)), (1, (1, 2)), (1, (0, 3))]


def test_a_masked_person_is_nobody_and_a_row_of_nobody_is_dropped() -> None:
    first = np.ma.array([1, 2, 3], mask=[False, True, True])
    second = np.ma.array([4, 4, 4], mask=[False, False, True])
    rows = Incidences.from_columns([10, 20, 30], [first, second])
    assert sets(rows) == [(10, (0, 1)), (20, (1,))]
    assert rows.kept.tolist() == [0, 1]


def test_a_negative_weight_counts_as_nothing_so_that_two_parts_make_a_signed_sum() -> None:
    weights = np.array([3, -4, 0])
    assert sets(Incidences.from_columns(weights, [[1, 2, 3]])) == [(3, (0,))]
    assert sets(Incidences.from_columns(-weights, [[1, 2, 3]])) == [(4, (1,))]


def test_ids_may_be_any_integers() -> None:
    ids = [-(2**63), 2**63 - 1, 2**70, -(2**63)]
    assert sets(Incidences.from_columns([1] * 4, [np.array(ids, dtype=object)])) == [
        (1, (0,)),
        (1, (1,)),
        (1, (2,)),
        (1, (0,)),
    ]
    assert sets(Incidences.from_columns([1, 1], [np.array([2**64 - 1, 3], dtype=np.uint64)])) == [(1, (1,)), (1, (0,))]


@given(st.lists(st.integers(0, 2**63 - 1), max_size=20), st.integers(1, 2**40))
def test_sums_never_overflow(values: list[int], factor: int) -> None:
    array = np.array(values, dtype=np.int64)
    assert exact_sum(array) == sum(values)
    assert multiply(array, factor).tolist() == [v * factor for v in values]
    assert exact_sum(multiply(array, factor)) == sum(values) * factor
    assert Incidences.from_columns(array, [np.arange(array.size)]).weights.tolist() == [v for v in values if v]


@given(st.lists(st.integers(-5, 40)))
def test_numbers_are_equal_for_equal_ids_only(ids: list[int]) -> None:
    number, count = number_ids(np.array(ids, dtype=np.int64))
    assert sorted(set(number.tolist())) == list(range(count))
    assert len(set(zip(ids, number.tolist(), strict=True))) == count == len(set(ids))


@given(hypergraphs(touched=3, weight=3))
def test_rows_alike_are_merged(graph: Hypergraph) -> None:
    rows = graph.lists
    merged, value = rows.merged(rows.valued(graph.values))
    totals: dict[tuple[tuple[int, ...], int], int] = {}
    for (w, row), v in zip(sets(rows), [v for _, _, v in graph.live], strict=True):
        totals[row, v] = totals.get((row, v), 0) + w
    assert {(row, int(v)): w for (w, row), v in zip(sets(merged), value, strict=True)} == totals


def test_wrong_shapes_are_named() -> None:
    for call in (
        lambda: Incidences.from_lists([1, 2], [0, 1], [1]),
        lambda: Incidences.from_lists([1], [0, 2], [1]),
        lambda: Incidences.from_lists([1, 1], [0, 2, 1], [1]),
        lambda: Incidences.from_columns([1], []),
        lambda: Incidences.from_columns([1], [[1]], kinds=["a", "b"]),
        lambda: Incidences.from_columns([1, 2], [[1]]),
        lambda: Incidences.from_columns([0.5], [[1]]),
        lambda: Incidences.from_columns([1], [[1]]).valued([1, 2]),
        lambda: integers(np.array([None], dtype=object), "weights"),
        lambda: integers(np.zeros((2, 2), dtype=int), "weights"),
    ):
        with pytest.raises(InvalidInput):
            call()
