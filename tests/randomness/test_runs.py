"""The first success of a long run: rigorous against flint, to the last bit, and by its law."""

from collections.abc import Callable
from fractions import Fraction
from math import exp, nan

import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import InvalidInput
from tacit.randomness import first_success, runs
from tests.guarantees.oracle import Ball, ball
from tests.support import agrees

DRAWS = 10**5
GAMMAS = st.one_of(
    st.fractions(Fraction(1, 1000), 60, max_denominator=1000),
    st.builds(lambda n, k: Fraction(n, 10**k), st.integers(1, 9), st.integers(0, 30)),
    st.integers(1, 300).map(Fraction),
)


class Known:
    """An exponential whose value is given to many bits."""

    def __init__(self, number: int, places: int) -> None:
        self._number, self._places = number, places
        self.used = 0

    def top(self, bits: int) -> int:
        self.used = max(self.used, bits)
        assert bits <= self._places
        return self._number >> (self._places - bits)


def rate(gamma: Fraction) -> Ball:
    """λ = −ln(1 − e^{-γ})."""
    return -(1 - (-ball(gamma)).exp()).log()


def drawn(value: Ball, gamma: Fraction, trials: int | None) -> int | None:
    """What is drawn when the exponential takes this value."""
    number = (value * arb(2) ** 4000).floor().unique_fmpz()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "LazyExponential", lambda source: Known(int(number), 4000))
        return first_success(gamma, trials)


@given(GAMMAS, st.one_of(st.integers(1, 5), st.integers(1, 2**64), st.integers(2**64, 2**200)))
def test_the_index_is_decided_to_the_last_bit(gamma: Fraction, index: int) -> None:
    """E = λ·index ± 2^-600·λ: one trial earlier or later, also at the end of a run."""
    with ctx.workprec(6000):
        at, little = rate(gamma) * index, rate(gamma) / arb(2) ** 600
        assert drawn(at + little, gamma, None) == index
        assert drawn(at - little, gamma, None) == index - 1
        assert drawn(at + little, gamma, index + 1) == index
        assert drawn(at + little, gamma, index) is None
        assert drawn(at - little, gamma, index) == index - 1


@given(st.fractions(Fraction(1, 10**40), 400), st.integers(16, 300))
def test_the_rate_is_enclosed(gamma: Fraction, bits: int) -> None:
    result = runs._rate(gamma, bits)
    with ctx.workprec(3000):
        assert not ball(result.low) > rate(gamma)
        assert not ball(result.high) < rate(gamma)
    assert result.width <= result.high / 2 ** (bits - 4)


def test_a_short_run() -> None:
    gamma = Fraction(13, 10)
    fail = 1 - exp(-gamma)
    law: dict[int | None, float] = {j: fail**j * (1 - fail) for j in range(10)}
    law[None] = fail**10
    assert agrees((first_success(gamma, 10) for _ in range(DRAWS)), law)


@pytest.mark.parametrize(("gamma", "trials"), [(44, 2**64), (45, 2**64), (88, 2**128), (700, 2**1010), ("0.001", 3)])
def test_no_success_at_all(gamma: int | str, trials: int) -> None:
    with ctx.workprec(3000):
        none = float((-rate(Fraction(gamma)) * trials).exp())
    results = [first_success(gamma, trials) for _ in range(5000)]
    assert agrees((result is None for result in results), {True: none, False: 1 - none})
    assert all(result is None or 0 <= result < trials for result in results)


def test_the_place_in_a_long_run_is_nearly_uniform() -> None:
    """With 2^64 trials of probability e^{-50} a success lies anywhere; the tilt is 0.3 %."""
    places = [first_success(50, 2**64) for _ in range(4 * 10**4)]
    found = [place * 4 >> 64 for place in places if place is not None]
    assert agrees(found, dict.fromkeys(range(4), 1 / 4))


def test_endless_runs() -> None:
    """E = λ·index is exponential, cut here into halves."""
    with ctx.workprec(400):
        scale = float(rate(Fraction(100)) * arb(2) ** 140)
    draws = [first_success(100, None) for _ in range(5000)]
    law = {i: exp(-i / 2) - exp(-(i + 1) / 2) for i in range(60)}
    assert agrees((int((draw or 0) / 2**140 * scale * 2) for draw in draws), law)


def test_ends_of_the_range() -> None:
    assert {first_success(0, None) for _ in range(50)} == {0}
    assert {first_success(0, 5) for _ in range(50)} == {0}
    assert first_success(1, 0) is None
    assert {first_success(10**9, 2**64) for _ in range(50)} == {None}
    assert {first_success(Fraction(1, 10**30), 2) for _ in range(50)} == {0}
    assert {first_success(10**30, 10**30) for _ in range(50)} == {None}


def test_few_bits_decide_a_hopeless_run() -> None:
    """γ = 10^9: the rate e^{-10^9} is never computed."""
    runs._rate.cache_clear()
    first_success(10**9, 2**64)
    assert runs._rate.cache_info().misses == 0


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda: first_success(-1, 5), "gamma must not be negative; give 0 or more."),
    (lambda: first_success(nan, 5), "gamma must be finite; give an ordinary number such as 1 or '0.1'."),
    (lambda: first_success(1, -1), "trials must be at least 0."),
    (lambda: first_success(1, 2.0), "trials must be a whole number; give an int."),  # type: ignore[arg-type]
])  # fmt: skip
def test_bad_input(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        call()
    assert str(caught.value) == sentence
