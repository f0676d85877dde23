"""Functions whose values, claims or questions leave all bounds keep their promise.

The attacks: a function that never falls returns infinity for the larger group, which counted as the lowest value; a
claim too wide for 64 bits, whose filter wrapped around; a watch that is asked again and again after it failed, where
each failure may depend on rows and only one was counted.
"""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tacit
from tacit import EngineError, InvalidInput, Private, Pure, Session
from tacit.black_boxes.lattice import Lattice
from tacit.black_boxes.values import SPAN, place_below
from tacit.budgets import Policy, open_budget
from tacit.grids import integers

RISING = [
    -inf,
    Decimal("-1e20000"),
    -(10**9),
    -1,
    Decimal("1e-20000"),
    np.float64(2),
    10**9,
    1e300,
    Decimal("1e20000"),
    np.float64(inf),
]


def test_what_rises_never_falls_on_a_grid() -> None:
    places = [place_below(integers(-5, 5), value) for value in RISING]
    assert all(a <= b for a, b in pairwise(places))
    assert (places[0], places[-1]) == (0, 10)


@pytest.mark.parametrize("claimed", [False, True])
def test_a_function_that_grows_without_end_is_at_the_top(claimed: bool) -> None:
    largest = tacit.functions.monotone(lambda x: max(x, default=0.0), grid=integers(0, 9), claimed=claimed)
    laws = [largest.law([3.0, top], epsilon=20) for top in (9.0, 1e308, inf)]
    assert len({law.key() for law in laws}) == 1


@pytest.mark.parametrize("claim", [SPAN - 1, SPAN, 2**63 - 1, 2**64])
def test_a_claim_that_is_wider_than_the_grid_changes_nothing(claim: int) -> None:
    lattice, top = Lattice(3, 3), SPAN - 1
    layers = [np.full(size, top if k % 2 else 0, dtype=np.int64) for k, size in enumerate(lattice.sizes())]
    assert lattice.filtered(layers, claim) == 0
    layers = [np.full(size, 0 if k % 2 else top, dtype=np.int64) for k, size in enumerate(lattice.sizes())]
    assert lattice.filtered(layers, claim) == top


def test_a_watch_fails_once(monkeypatch: pytest.MonkeyPatch) -> None:
    budget = open_budget(Pure(5), policy=Policy(failures=3))
    with Session({"t": Private(pa.table({"who": [1, 2]}), person="who")}, budget) as shop:
        watch = shop.above(250, epsilon=1)

        def fail(*_: Any) -> Any:
            raise EngineError("too long")

        with monkeypatch.context() as patched:
            patched.setattr(type(shop._releaser), "_snapshot", fail)
            with pytest.raises(EngineError):
                watch.ask(shop["t"])
        assert budget.unanswered == 1
        with pytest.raises(InvalidInput, match="over"):
            watch.ask(shop["t"])
