"""Histograms whose bins are found: whatever quantiles are drawn, there are edges, and never too many."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tacit.language.expressions import Column
from tacit.language.types import FLOAT, INTEGER, ColumnType, decimal
from tacit.tables.statistics.base import Operand
from tacit.tables.statistics.histogram import REACH, FoundHistogram, _near

KINDS = (INTEGER, FLOAT, decimal(2))
ENDS = [Fraction(sign * size) for sign in (-1, 1) for size in (0, 1, 2**63 - 1, Fraction(1, 2**1074), 2**1023)]


@given(
    st.sampled_from(KINDS),
    st.integers(3, 40),
    st.lists(st.one_of(st.sampled_from(ENDS), st.fractions(-(10**6), 10**6)), min_size=3, max_size=3).map(sorted),
)
def test_whatever_is_drawn_there_are_edges_and_never_too_many(
    kind: ColumnType, bins: int, drawn: list[Fraction]
) -> None:
    asked = FoundHistogram.of(Operand(Column(kind, "t", "x"), "x"), bins, "width", "row")
    edges = asked._even(*drawn)
    assert 2 <= len(edges) <= bins - 1
    assert all(low < high for low, high in pairwise(edges))
    assert len({high - low for low, high in pairwise(edges)}) == 1
    assert edges[0] <= drawn[0]
    assert edges[-1] >= drawn[2]
    shown = [asked._shown(edge) for edge in edges]
    assert shown == sorted(shown)


def test_outer_quantiles_far_from_the_data_are_brought_back_to_what_the_quartiles_make_likely() -> None:
    far = Fraction(10) ** 150
    assert list(_near(Fraction(9), Fraction(28), Fraction(50), Fraction(80), Fraction(142))) == [9, 50, 142]
    assert list(_near(-far, Fraction(28), Fraction(50), Fraction(80), far)) == [0, 50, 80 + REACH * 52]
    assert list(_near(-far, Fraction(-10), Fraction(0), Fraction(10), far)) == [-10 - REACH * 20, 0, 10 + REACH * 20]


@given(st.lists(st.fractions(-(10**6), 10**6), min_size=5, max_size=5).map(sorted))
def test_what_is_brought_back_stays_in_order(drawn: list[Fraction]) -> None:
    low, middle, high = _near(*drawn)
    assert drawn[0] <= low <= middle <= high <= drawn[4]
    assert middle == drawn[2]
