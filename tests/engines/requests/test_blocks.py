"""Rows with their blocks: a person in one block that nobody else moves, the declared columns and nothing more."""

from datetime import date, datetime
from decimal import Decimal
from math import inf, nan
from typing import Any

import pytest
from hypothesis import given, settings

from tacit.engines.requests import Blocks, Relation
from tacit.errors import InvalidInput
from tests.engines.cases import FIELDS
from tests.engines.support import SCOPE, engine_over, relation, tables

SALT = bytes(range(16))


def request(*columns: str, blocks: int | None = 3, salt: bytes = SALT, rows: int = 100) -> Blocks:
    return Blocks(tuple((name, SCOPE.find(name)) for name in columns), blocks, salt, rows)


def row(**values: Any) -> dict[str, Any]:
    return dict.fromkeys(FIELDS) | values


def answer(table: list[dict[str, Any]], asked: Blocks, about: Relation | None = None) -> list[dict[str, Any]]:
    with engine_over(table) as engine, engine.snapshot() as snapshot:
        rows: list[dict[str, Any]] = snapshot.blocks(about or relation(), asked).to_pylist()
    return rows


@settings(max_examples=15, deadline=None)
@given(tables())
def test_nobody_moves_anybody_else(table: list[dict[str, Any]]) -> None:
    asked = request("who", "i", "s")
    rows = answer(table, asked)
    assert len(rows) == sum(r["who"] is not None for r in table)
    assert all(0 <= r[""] < 3 for r in rows)
    for person in {r["who"] for r in rows}:
        assert len({r[""] for r in rows if r["who"] == person}) == 1
        assert answer([r for r in table if r["who"] != person], asked) == [r for r in rows if r["who"] != person]


def test_values_are_those_of_the_columns() -> None:
    full = row(who=1, i=5, c=Decimal("1.25"), f=0.5, b=True, d=date(2020, 2, 29), t=datetime(2020, 1, 1, 12), s="ü")
    names = ("i", "c", "f", "b", "d", "t", "s")
    empty, one = answer([row(who=1, f=nan), full], request(*names, blocks=None))[::-1]
    if one["i"] is None:
        empty, one = one, empty
    assert one == {"": 0, "i": 5, "c": 1.25} | {name: full[name] for name in names[2:]}
    assert empty == {"": 0} | dict.fromkeys(names)
    assert answer([row(who=1, f=inf)], request("f"))[0]["f"] == 1.7976931348623157e308
    assert answer([], request(*names)) == []


def test_one_block_for_each_person_in_their_order() -> None:
    rows = answer([row(who=w, i=w) for w in (7, 3, 5, 3)], request("i", blocks=None))
    assert [(r[""], r["i"]) for r in rows] == [(0, 3), (0, 3), (1, 5), (2, 7)]


def test_another_salt_is_another_assignment() -> None:
    table = [row(who=w, i=w) for w in range(200)]
    first, second = (answer(table, request("i", blocks=10, salt=bytes([b]) * 16, rows=200)) for b in (1, 2))
    moved = sum({r["i"]: r[""] for r in first}[r["i"]] != r[""] for r in second)
    assert 140 < moved <= 200
    assert {r[""] for r in first} == set(range(10))


@pytest.mark.parametrize("blocks", [3, None])
@settings(max_examples=15, deadline=None)
@given(tables())
def test_rows_beyond_the_share_are_left_out_by_their_own_block(blocks: int | None, table: list[dict[str, Any]]) -> None:
    """No number of rows is a failure, and what comes of a block is decided by the block alone."""
    table = [*table, *(row(who=1, i=i) for i in range(5))]
    whole, cut = (answer(table, request("who", "i", "s", blocks=blocks, rows=most)) for most in (100, 2))
    for block in {r[""] for r in whole}:
        theirs, kept = ([r for r in rows if r[""] == block] for rows in (whole, cut))
        assert len(kept) == min(2, len(theirs))
        assert all(r in theirs for r in kept)
        if blocks is not None:
            persons = {r["who"] for r in theirs}
            assert answer([r for r in table if r["who"] in persons], request("who", "i", "s", rows=2)) == kept


def test_which_rows_are_left_out_is_not_by_size() -> None:
    """Smallest first would make a function of the smallest: of 1,000 values the mean of 200 is near 500."""
    rows = answer([row(who=1, i=i) for i in range(1000)], request("i", blocks=1, rows=200))
    assert 350 < sum(r["i"] for r in rows) / 200 < 650  # false alarm 10^-12, and the salt is fixed


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Blocks((), 3, SALT),
        lambda: Blocks((("i", SCOPE.find("i")),) * 2, 3, SALT),
        lambda: request("i", blocks=0),
        lambda: request("i", blocks=10**7),
        lambda: request("i", salt=b"short"),
    ],
)
def test_refusals(wrong: Any) -> None:
    with pytest.raises(InvalidInput):
        wrong()


def test_the_salt_is_not_shown() -> None:
    assert SALT.hex() not in repr(request("i"))
    assert "\\x01" not in repr(request("i"))
