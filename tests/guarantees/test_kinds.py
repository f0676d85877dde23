"""The kinds as values: what is refused, how they compose, compare, print and explain themselves."""

import copy
import operator
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from decimal import Decimal
from fractions import Fraction
from html import unescape
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import InvalidInput, TacitError
from tacit.guarantees import Approx, Guarantee, Pure, Renyi, Zcdp
from tacit.numbers.exact import Number

NUMBERS = st.fractions(Fraction(1, 10**6), 100)
SMALL = st.fractions(Fraction(1, 10**9), Fraction(1, 100))
PURE = st.builds(Pure, NUMBERS)
APPROX = st.builds(Approx, st.one_of(st.just(0), NUMBERS), SMALL)
ZCDP = st.builds(Zcdp, NUMBERS)
RENYI = st.builds(Renyi, st.just(8), NUMBERS)
ANY = st.one_of(PURE, APPROX, ZCDP, RENYI)
BAD_ORDERS = [(Approx(1, "0.1"), Zcdp(1)), (Approx(1, "0.1"), Renyi(2, 1)), (Zcdp(1), Renyi(2, 1))]


@pytest.mark.parametrize(
    "bad", [0, -1, 0.0, "-0.5", float("nan"), float("inf"), "nan", Decimal("NaN"), True, None, "x"]
)
def test_bad_parameters_are_refused_in_one_sentence_that_names_them(bad: Number) -> None:
    cases: list[tuple[Callable[[], Guarantee], str]] = [
        (lambda: Pure(bad), "epsilon"),
        (lambda: Zcdp(bad), "rho"),
        (lambda: Renyi(2, bad), "epsilon"),
        (lambda: Renyi(bad, 1), "order"),
        (lambda: Approx(1, bad), "delta"),
        (lambda: Pure(1).to(Approx, delta=bad), "delta"),
        (lambda: Pure(1).to(Renyi, order=bad), "order"),
    ]
    for make, name in cases:
        with pytest.raises(InvalidInput) as error:
            make()
        message = str(error.value)
        assert message.startswith(name)
        assert message.endswith(".")
        assert ". " not in message


@pytest.mark.parametrize("bad", [1, 1.5, "1", -0.1])
def test_delta_must_be_a_probability_below_one(bad: Number) -> None:
    with pytest.raises(InvalidInput, match="delta must lie strictly between 0 and 1"):
        Approx(1, bad)


def test_delta_zero_is_a_pure_guarantee() -> None:
    with pytest.raises(InvalidInput, match=r"write Pure\(epsilon\)"):
        Approx(1, 0)
    assert Approx(0, "0.1").epsilon == 0  # total variation 0.1: meaningful, hence allowed
    with pytest.raises(InvalidInput, match="epsilon must not be negative"):
        Approx(-1, "0.1")


@pytest.mark.parametrize("bad", [1, "0.5", 0.999])
def test_an_order_is_above_one(bad: Number) -> None:
    with pytest.raises(InvalidInput, match="order must be above 1"):
        Renyi(bad, 1)


def test_a_float_means_the_decimal_it_is_written_as() -> None:
    assert Pure(0.1) == Pure("0.1") == Pure(Fraction(1, 10)) == Pure(Decimal("0.1"))
    assert Pure(0.1) + Pure(0.2) == Pure(0.3)


@given(st.sampled_from([PURE, APPROX, ZCDP, RENYI]).flatmap(lambda kind: st.tuples(kind, kind, kind)))
@settings(max_examples=100, deadline=None)
def test_composition_within_a_kind_is_a_commutative_sum(three: tuple[Guarantee, Guarantee, Guarantee]) -> None:
    a, b, c = three
    assert (a + b) + c == a + (b + c) == c + (b + a)
    assert a + a + a == a * 3 == 3 * a
    assert sum([a, b, c]) == a + b + c
    assert (a + a) / 2 == a
    assert a < a + b


@given(PURE, PURE, APPROX)
@settings(max_examples=30, deadline=None)
def test_pure_adds_to_approx_exactly(a: Pure, b: Pure, c: Approx) -> None:
    assert (a + b) + c == a + (b + c) == c + a + b == Approx(a.epsilon + b.epsilon + c.epsilon, c.delta)


@given(PURE, ZCDP, RENYI)
@settings(max_examples=40, deadline=None)
def test_pure_enters_other_kinds_by_the_tight_conversion(a: Pure, zcdp: Zcdp, renyi: Renyi) -> None:
    assert a + zcdp == zcdp + a == zcdp + a.to(Zcdp)
    assert a + renyi == renyi + a == renyi + a.to(Renyi, order=renyi.order)


@given(PURE, PURE, ZCDP)
@settings(max_examples=30, deadline=None)
def test_pure_parts_cost_less_one_by_one(a: Pure, b: Pure, zcdp: Zcdp) -> None:
    slack = 1 + Fraction(1, 10**11)  # each conversion is rounded up
    assert zcdp + a + b <= (zcdp + (a + b)) * slack


def test_other_mixtures_are_refused_with_what_to_convert() -> None:
    for pair in BAD_ORDERS:
        for a, b in permutations(pair):
            with pytest.raises(
                InvalidInput, match=rf"{type(a).__name__} and {type(b).__name__} do not compose"
            ) as error:
                a + b
            assert ".to(" in str(error.value)
    with pytest.raises(InvalidInput, match="one order"):
        Renyi(2, 1) + Renyi(3, 1)
    with pytest.raises(InvalidInput, match="promises nothing"):
        Approx(1, "0.5") + Approx(1, "0.5")
    with pytest.raises(InvalidInput, match="only guarantees compose"):
        Pure(1) + 1  # type: ignore[type-var]
    with pytest.raises(InvalidInput, match="only guarantees compose"):
        1 + Pure(1)
    with pytest.raises(InvalidInput, match="number of times"):
        Pure(1) * 0
    with pytest.raises(InvalidInput, match="number of parts"):
        Pure(1) / -2
    with pytest.raises(InvalidInput, match="delta"):
        Approx(1, "0.5") * 2


@given(ANY, ANY)
@settings(max_examples=60, deadline=None)
def test_comparison_is_exact_within_a_kind_and_refused_across(a: Guarantee, b: Guarantee) -> None:
    assert a == a
    assert a <= a
    assert a >= a
    assert not a < a
    if type(a) is type(b):
        assert (a <= b) == (b >= a)
        assert (a < b) == (a <= b and a != b) == (b > a)
    else:
        assert a != b
        for compare in (operator.le, operator.lt, operator.ge, operator.gt):
            with pytest.raises(InvalidInput, match="not ordered"):
                compare(a, b)


def test_approx_is_partially_ordered_and_renyi_at_one_order() -> None:
    a, b = Approx(1, "1e-6"), Approx(2, "1e-7")
    assert not a <= b
    assert not b <= a
    assert a <= Approx(1, "1e-5")
    assert Approx(1, "1e-6") < Approx(2, "1e-6")
    with pytest.raises(InvalidInput, match="different orders"):
        assert Renyi(2, 1) <= Renyi(3, 2)
    with pytest.raises(InvalidInput, match="only with a guarantee"):
        assert Pure(1) <= 2  # type: ignore[operator]


@given(ANY)
@settings(max_examples=60, deadline=None)
def test_a_guarantee_is_a_frozen_value(g: Guarantee) -> None:
    assert eval(repr(g)) == g
    assert pickle.loads(pickle.dumps(g)) == g == copy.deepcopy(g)
    assert len({g, copy.copy(g)}) == 1
    with pytest.raises(FrozenInstanceError):
        g.epsilon = 1  # type: ignore[attr-defined]


def test_reprs_read_well() -> None:
    assert repr(Pure("0.5")) == "Pure(0.5)"
    assert repr(Pure(2)) == "Pure(2)"
    assert repr(Pure(Fraction(1, 3))) == "Pure('1/3')"
    assert repr(Zcdp(0.05)) == "Zcdp(0.05)"
    assert repr(Approx(1, 1e-6)) == "Approx(1, 1e-06)"
    assert repr(Renyi(8, "0.25")) == "Renyi(8, 0.25)"
    match Approx(1, "0.1"):
        case Approx(epsilon, delta):
            assert (epsilon, delta) == (Fraction(1), Fraction(1, 10))


@given(ANY)
@settings(max_examples=40, deadline=None)
def test_the_sentence_is_one_sentence_with_a_bound_on_guessing(g: Guarantee) -> None:
    sentence = g.describe()
    assert sentence.endswith(" %.")
    assert ". " not in sentence
    assert Fraction(1, 2) < g.best_guess() <= 1
    assert g.describe() in unescape(g._repr_html_())


def test_the_chance_of_guessing_rightly() -> None:
    assert float(Pure(1).best_guess()) == pytest.approx(0.7310585786300049, abs=1e-11)
    assert float(Approx(1, "0.01").best_guess()) == pytest.approx(0.99 * 0.7310585786300049 + 0.01, abs=1e-11)
    assert float(Zcdp("0.02").best_guess()) == pytest.approx(0.55, abs=1e-11)  # Pinsker: (1 + √0.01)/2
    assert "a factor of at most 2.72" in Pure(1).describe()
    assert "73.2 %" in Pure(1).describe()
    assert "a shift by 0.2 standard deviations" in Zcdp("0.02").describe()


def test_errors_are_tacit_errors_and_value_errors() -> None:
    assert issubclass(InvalidInput, TacitError)
    assert issubclass(InvalidInput, ValueError)


def test_importing_guarantees_imports_nothing_heavy() -> None:
    code = "import sys, tacit.guarantees; print([m for m in ('numpy', 'scipy', 'dp_accounting') if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200, check=True)
    assert found.stdout == "[]\n"
