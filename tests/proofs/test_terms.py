"""Terms compute like numbers, and say the same to a solver."""

from fractions import Fraction
from math import ceil, floor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.proofs.smt import asked, is_linear
from tacit.proofs.solvers import ask
from tacit.proofs.terms import INT, REAL, either, equal, implies, largest, smallest, stated, symbol, symbols

X, N = symbol("x", REAL), symbol("n", INT)
NUMBERS = st.fractions(-5, 5, max_denominator=6)


@given(NUMBERS, NUMBERS)
def test_constants_compute_like_fractions(a: Fraction, b: Fraction) -> None:
    x, y = stated(a), stated(b)
    for term, number in ((x + b, a + b), (a - y, a - b), (x * y, a * b), (abs(x), abs(a)), (-x, -a), (x**2, a * a)):
        assert term.parts[0] == number
    assert bool(x <= y) == (a <= b)
    assert bool(x > y) == (a > b)
    assert largest(a, b).parts[0] == max(a, b)
    assert smallest(a, b).parts[0] == min(a, b)
    assert bool(equal(a, b)) == (a == b)
    if b:
        assert (x / y).parts[0] == a / b


@settings(max_examples=12, deadline=None)
@given(NUMBERS)
def test_solvers_round_as_python_does(a: Fraction) -> None:
    for rounded, expected in ((floor(X), floor(a)), (ceil(X), ceil(a)), (X // 2, a // 2)):
        text = asked([equal(X, a), ~equal(rounded, expected)])
        assert ask(text).verdict == "unsat"


def test_relaxed_rounding_is_weaker_and_true() -> None:
    near = [floor(X) <= X, floor(X) + 1 > X]
    for fact in near:
        assert ask(asked([~fact], relaxed=True)).verdict == "unsat"
    assert ask(asked([~equal(floor(X), 0), X > 0, X < 1], relaxed=True)).verdict == "sat"
    assert ask(asked([~equal(floor(X), 0), X > 0, X < 1])).verdict == "unsat"


def test_a_quotient_by_zero_proves_nothing() -> None:
    assert ask(asked([equal(X, 0), ~equal(1 / X, 7)])).verdict == "sat"
    assert ask(asked([X > 0, ~equal((1 / X) * X, 1)])).verdict == "unsat"


def test_what_is_linear_and_which_names_occur() -> None:
    assert is_linear(2 * X + N <= 3)
    assert not is_linear(X * N <= 3)
    assert not is_linear(1 / X <= 3)
    assert symbols(either(X > 0, N, 1)) == {X, N}
    assert asked([2 * N <= 3]).text.startswith("(set-logic QF_LIA)")
    assert asked([X * X <= 3]).text.startswith("(set-logic QF_NRA)")


def test_statements_join() -> None:
    assert bool(implies(False, X > 0))
    assert implies(True, X > 0) == (X > 0)
    assert ((X > 0) & True) == (X > 0)
    assert not bool((X > 0) & False)
    assert bool((X > 0) | True)
    assert ~~(X > 0) == (X > 0)


def test_an_open_question_outside_of_an_argument_is_an_error() -> None:
    with pytest.raises(LookupError):
        bool(X > 0)
