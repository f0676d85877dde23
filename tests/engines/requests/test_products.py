"""Products around centres are the same from the rows and from what was kept before the centres were known."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.engines.requests import HALF, Product, Squares, Steps, TotalBuckets, value
from tacit.engines.requests.beside import Beside
from tacit.engines.requests.products import KEPT, WIDEST, Distance
from tacit.language.expressions import Column
from tacit.language.parsing import parse
from tacit.tables.statistics.ways.centres import joint
from tests.engines import oracle
from tests.engines.questions import BOUNDARIES
from tests.engines.support import PERSONS, SCOPE, VALUES, engine_over, relation, tables

WHO = PERSONS[0]
steps = st.tuples(
    st.integers(-9, 9) | st.sampled_from((WIDEST, -WIDEST, WIDEST + 1, 2**62)),
    st.sampled_from((1, 2, 2**10, HALF, 2 * HALF, 3 * HALF, 2**29, WIDEST, 2 * WIDEST, 1000, 2**62)),
    st.integers(-9, 9) | st.sampled_from((HALF, -HALF)),
)


def asked(texts: Sequence[str], places: Sequence[tuple[int, int, int]], mean: bool) -> Product:
    columns = [value(expression) for expression in joint([parse(text, SCOPE) for text in texts])]
    left, right = (Steps(columns[i % len(columns)], *places[i % len(columns)]) for i in range(2))
    return Product(left, right, mean)


def from_kept(table: list[dict[str, Any]], product: Product, who: str, where: str = "") -> Any:
    """The answer of a second statement, which reads what the first one kept."""
    squares = Squares(product.left.value, product.right.value, product.mean)
    about = replace(relation(who), filter=parse(where, SCOPE) if where else None)
    columns = {column for side in (product.left, product.right) for column in side.value.expression.columns()}
    asked_of = TotalBuckets(product, BOUNDARIES)
    with engine_over(table) as engine, engine.together(Beside(frozenset[Column](columns), (squares,))) as opening:
        with opening() as first:
            kept = first.ask(about, (asked_of,))
            beside = first.ask(about, (asked_of, TotalBuckets(Product(product.left, product.left), BOUNDARIES)))
            assert beside[:1] == kept, "with more that is asked of each person"
        with opening() as second:
            assert second.ask(about, (asked_of,)) == kept
        with engine.snapshot() as apart:
            (read,) = apart.ask(about, (asked_of,))
    meant = oracle.answer(about, asked_of, table)
    assert read == meant
    return kept[0], meant


@given(
    tables(),
    st.sampled_from((("i",), ("c",), ("i", "c"), ("c", "u"), ("w",), ("b", "i"), ("i", "f"))),
    st.tuples(steps, steps),
    st.booleans(),
    st.sampled_from(PERSONS),
    st.sampled_from(("", "u > 0 OR b")),
)
@settings(max_examples=40, deadline=None)
def test_what_was_kept_gives_the_same_products_as_the_rows(
    table: Any, texts: Any, places: Any, mean: bool, who: str, where: str
) -> None:
    found, meant = from_kept(table, asked(texts, places, mean), who, where)
    assert found == meant


def rows(*numbers: int | None) -> list[dict[str, Any]]:
    """Rows of one person."""
    return [dict.fromkeys(VALUES) | {"who": 1, "i": number} for number in numbers]


@pytest.mark.parametrize("mean", [False, True])
@pytest.mark.parametrize("radius", [2, 2**24, WIDEST])
def test_rows_beyond_the_range_count_as_its_ends(mean: bool, radius: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken twin counts them as they are; the largest are too large for their products to be kept."""
    table = rows(3, 5, None, -7, radius + 9, -(2**31) - 1, 2**40)
    product = asked(("i",), ((1, radius, 1),), mean)
    found, meant = from_kept(table, product, WHO)
    assert found == meant
    monkeypatch.setattr(Distance, "beyond", lambda distance, rows: "FALSE")
    found, meant = from_kept(table, product, WHO)
    assert found != meant


def test_a_sum_is_rounded_and_not_each_row() -> None:
    """Four rows half a step above the centre; rounded one by one they would lie at the centre."""
    product = asked(("i",), ((0, 2 * HALF, 0),), False)
    found, meant = from_kept(rows(1, 1, 1, 1), product, WHO)
    assert found == meant
    assert sum(bucket.sum for bucket in found.positive) == 1


def test_all_fits_into_128_bits_whatever_the_rows() -> None:
    number, widest = 2**50, WIDEST + HALF
    assert number * (KEPT**2 + 2 * WIDEST * KEPT + WIDEST**2) < 2**127
    assert (2 * widest) ** 2 < 2**63
    assert number * 8 * max(WIDEST, HALF) ** 2 < 2**127
    assert KEPT > 2 * WIDEST - 1, "what is too large to be kept lies beyond the range"
