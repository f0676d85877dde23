"""Vectors over groups equal their definitions, and no person's share of them exceeds the cap."""

from collections import Counter
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.engines.requests import (
    GroupNorms,
    GroupTotals,
    KeyCounts,
    KeysPerPerson,
    Presence,
    RowCount,
    saturation,
    value,
)
from tacit.language import build
from tacit.language.expressions import Expression, Literal
from tacit.language.parsing import parse
from tests.engines import oracle
from tests.engines.support import SCOPE, engine_over, relation, tables

BY: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("s", ("EU", "eu", None, "O'Brien")),
    ("b", (True, False)),
    ("i", (1, None, 2**63 - 1)),
    ("c", (Decimal("0.5"), Decimal(0), None)),
    ("f", (0.5, 0.0, None)),
    ("d", (date(2020, 2, 29), None)),
    ("t", (datetime.min, None)),
    ("CASE WHEN i > 0 THEN 'up' ELSE 'down' END", ("up", "down")),
)
ENTRIES = ("i", "c", "f", "b", "i * 7", "nothing")
SALT = bytes(range(32))


def one_key(text: str, keys: tuple[Any, ...]) -> tuple[tuple[Expression, ...], tuple[tuple[Literal, ...], ...]]:
    by = parse(text, SCOPE)
    constants = [build.widen(build.literal(key), by.type) for key in keys]
    return (by,), tuple((constant,) for constant in constants if isinstance(constant, Literal))


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_vectors_equal_their_definitions(data: st.DataObject) -> None:
    table = data.draw(tables(12))
    by, keys = one_key(*data.draw(st.sampled_from(BY)))
    number = value(parse(data.draw(st.sampled_from(ENTRIES)), SCOPE))
    entry: Any = data.draw(st.sampled_from((number, RowCount(), RowCount(SCOPE.find("f")), Presence())))
    norm: Any = data.draw(st.sampled_from(("l1", "l2", "max")))
    cap = data.draw(st.one_of(st.integers(1, 6), st.sampled_from((10**6, 2**40, 2**62))))
    resolution = data.draw(st.sampled_from((1, 2, 3)))
    asked: tuple[Any, ...] = (
        GroupNorms(entry, by, keys, norm, (1, 3, 10, 2**33, 2**61)),
        GroupTotals(entry, by, keys, norm, cap, resolution),
        KeysPerPerson(by, (1, 2)),
    )
    with engine_over(table) as engine, engine.snapshot() as snapshot:
        answers = snapshot.ask(relation(), asked)
    for request, found in zip(asked, answers, strict=True):
        assert found == oracle.answer(relation(), request, table), request


@given(
    st.lists(st.integers(-(2**61), 2**61), min_size=1, max_size=6).filter(any),
    st.sampled_from(("l1", "l2", "max")),
    st.integers(1, 2**62),
    st.sampled_from((1, 2, 3)),
)
@settings(max_examples=100, deadline=None)
def test_scaled_vectors_stay_within_the_cap(v: list[int], norm: Any, cap: int, resolution: int) -> None:
    """The definition itself keeps its promise ‖scaled‖ ≤ cap·resolution, which the proof of every mechanism uses."""
    scaled = oracle.shrunk(v, norm, cap, resolution)
    size = {"l1": sum(map(abs, scaled)), "l2": sum(x * x for x in scaled), "max": max(map(abs, scaled))}[norm]
    limit = cap * resolution
    assert size <= (limit * limit if norm == "l2" else limit)
    assert all(a * b >= 0 and abs(a) <= abs(b) * resolution for a, b in zip(scaled, v, strict=True))


def test_squares_of_saturated_entries_fit() -> None:
    for groups in (1, 2, 15, 16, 17, 1000, 10_000):
        assert groups * saturation(groups) ** 2 < 2**126
        assert 2**56 <= saturation(groups) <= 2**61


def test_small_l2_vectors_lose_almost_nothing_to_rounding() -> None:
    """(1, 1) cut to norm 1 is (0.7071, 0.7071), not the (0.5, 0.5) that a norm rounded up to 2 would give."""
    assert oracle.shrunk([1, 1], "l2", 1, 2**20) == [int(2**20 / 2**0.5)] * 2


def test_several_columns_group_together() -> None:
    empty = dict.fromkeys(SCOPE.tables["t"])
    table = [empty | {"who": w, "s": s, "i": i} for w, s, i in ((1, "a", 1), (1, "a", 2), (2, "a", 1), (2, None, None))]
    by = (SCOPE.find("s"), SCOPE.find("i"))
    keys = tuple(
        (Literal(by[0].type, s), Literal(by[1].type, i)) for s, i in (("a", 1), ("a", 2), (None, None), ("b", 1))
    )
    with engine_over(table) as engine, engine.snapshot() as snapshot:
        totals, counts = snapshot.ask(
            relation(), (GroupTotals(RowCount(), by, keys, "l1", 10), KeyCounts(by, 10, 1, SALT))
        )
    assert totals == (2, 1, 1, 0)
    assert Counter(dict(counts)) == {("a", 1): 2, ("a", 2): 1, (None, None): 1}


@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
def test_totals_beyond_64_bits_saturate(norm: Any) -> None:
    empty = dict.fromkeys(SCOPE.tables["t"])
    table = [empty | {"who": w, "b": True, "i": i} for w, i in ((1, 2**63 - 1), (1, 2**63 - 1), (2, -(2**63)))]
    by, keys = one_key("b", (True,))
    request = GroupTotals(value(SCOPE.find("i")), by, keys, norm, 2**62)
    with engine_over(table) as engine, engine.snapshot() as snapshot:
        assert snapshot.ask(relation(), (request,)) == ((2**61 - 2**61,),)
    assert Fraction(saturation(1)) == 2**61
