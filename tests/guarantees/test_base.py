"""Guarantees render and read themselves; what ledgers hold never changes."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Guarantee, Pure, Renyi, RenyiCurve, Zcdp

ALL = [Pure("1/3"), Approx(1, "1e-6"), Zcdp("0.01"), Renyi(8, "0.25")]


@pytest.mark.parametrize(
    ("guarantee", "text", "keywords", "symbols", "short"),
    [
        (ALL[0], "Pure 1/3", {"epsilon": Fraction(1, 3)}, "ε = 1/3", "ε = 0.333333"),
        (
            ALL[1],
            "Approx 1 1/1000000",
            {"epsilon": Fraction(1), "delta": Fraction(1, 10**6)},
            "ε = 1 and δ = 1e-06",
            "ε = 1, δ = 1e-06",
        ),
        (ALL[2], "Zcdp 1/100", {"rho": Fraction(1, 100)}, "ρ = 0.01", "ρ = 0.01"),
        (
            ALL[3],
            "Renyi 8 1/4",
            {"order": Fraction(8), "epsilon": Fraction(1, 4)},
            "α = 8 and ε = 0.25",
            "α = 8, ε = 0.25",
        ),
    ],
)
def test_each_kind_renders_itself(
    guarantee: Guarantee, text: str, keywords: dict[str, Fraction], symbols: str, short: str
) -> None:
    assert guarantee.text() == text
    assert guarantee.keywords() == keywords
    assert guarantee.symbols() == symbols
    assert guarantee.short() == short
    assert Guarantee.of(**keywords) == guarantee


@given(st.fractions(min_value=Fraction(1, 10**30)), st.fractions(min_value=Fraction(1, 10**30), max_value="0.9"))
def test_what_is_written_is_read_back_exactly(x: Fraction, y: Fraction) -> None:
    for guarantee in (Pure(x), Approx(x, y), Zcdp(x), Renyi(x + 2, y)):
        assert Guarantee.parse(guarantee.text()) == guarantee
        assert Guarantee.parse(repr(guarantee)) == guarantee
        assert Guarantee.of(**guarantee.keywords()) == guarantee


@pytest.mark.parametrize(
    "text", ["", "Pure", "Pure x", "Pure 1 2", "Pure 1/0", "Pure -1", "Guarantee 1", "Pure(", "eval 1"]
)
def test_what_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="text must be a guarantee"):
        Guarantee.parse(text)


def test_keywords_must_name_one_kind() -> None:
    for keywords in ({}, {"delta": 1}, {"rho": 1, "epsilon": 1}, {"order": 2}):
        with pytest.raises(InvalidInput, match="name a guarantee by"):
            Guarantee.of(**keywords)


def test_the_number_that_decides_and_the_bound_on_ratios() -> None:
    assert [guarantee.decisive[0] for guarantee in ALL] == ["ε", "δ", "ρ", "ε"]
    assert ALL[0].ratio_bound() == (Fraction(1, 3), Fraction(0))
    assert ALL[1].ratio_bound() == (Fraction(1), Fraction(1, 10**6))
    assert [guarantee.ratio_bound() for guarantee in ALL[2:]] == [None, None]


def test_addends_tell_orders_apart() -> None:
    assert ALL[1].addends() == ("Approx", (Fraction(1), Fraction(1, 10**6)))
    assert ALL[3].addends() == ("Renyi at order 8:", (Fraction(1, 4),))


def test_a_curve_has_no_numbers_to_render() -> None:
    curve = RenyiCurve.pure(1)
    assert curve.symbols() == curve.short() == repr(curve)
    for render in (curve.text, curve.keywords, curve.addends, lambda: curve.decisive):
        with pytest.raises(InvalidInput):
            render()
