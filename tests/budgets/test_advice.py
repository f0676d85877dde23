"""Advice on kinds of budget."""

import pytest

from tacit import Approx, InvalidInput, Pure, Zcdp
from tacit.budgets import Question, advise
from tacit.guarantees import RenyiCurve

TOTAL = Approx(1, "1e-6")


def test_the_best_kind_depends_on_what_is_asked() -> None:
    few = advise(TOTAL, [(Pure("0.5"), None)])
    assert (few.best, few.rounds[few.best]) == (repr(TOTAL), 2)
    noise = Question("noise", runs=RenyiCurve.gaussian("0.004"))
    many = advise(TOTAL, [(Zcdp("0.004"), noise)])
    assert many.rounds[many.best] > many.rounds[repr(Zcdp.within(TOTAL))] > many.rounds[repr(TOTAL)]
    assert many.best.startswith(("Gdp(", 'Approx(1, 1e-06), composition="tight"'))
    assert f"Best: {many.best}." in str(many)
    assert "once" in str(advise(TOTAL, [(Pure("0.9"), None)]))


def test_bad_input() -> None:
    with pytest.raises(InvalidInput, match="must be an Approx"):
        advise(Pure(1), [(Pure(1), None)])  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="no questions"):
        advise(TOTAL, [])
