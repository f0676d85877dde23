"""Two solvers must agree; what is missing or contradicts is said."""

import sys

import pytest

from tacit.errors import InvalidInput
from tacit.proofs import solvers
from tacit.proofs.smt import asked
from tacit.proofs.terms import REAL, symbol

X = symbol("x", REAL)


def test_both_are_asked() -> None:
    assert solvers.ask(asked([X > 0, X < 0])).verdict == "unsat"
    found = solvers.ask(asked([X > 1, X < 2]))
    assert found.verdict == "sat"
    assert 1 < dict(found.model)["x"] < 2
    assert set(solvers.versions()) == {"z3", "cvc5"}


def test_disagreement_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solvers, "_cvc5", lambda text, names: ("sat", []))
    with pytest.raises(InvalidInput, match="disagree"):
        solvers.ask(asked([X > 3, X < 3]))


def test_one_that_does_not_know_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solvers, "_cvc5", lambda text, names: ("unknown", []))
    assert solvers.ask(asked([X > 4, X < 4])).verdict == "unknown"


def test_a_solver_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(text: str, names: dict[str, str]) -> solvers.Found:
        while True:
            pass

    monkeypatch.setattr(solvers, "_cvc5", hang)
    monkeypatch.setattr(solvers, "SECONDS", 0)
    assert solvers.ask(asked([X * X < 0])).verdict == "unknown"


@pytest.mark.parametrize("name", ["z3", "cvc5"])
def test_a_missing_solver_says_what_to_install(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(InvalidInput, match=r"tacit-dp\[proofs\]"):
        solvers.ask(asked([X > 5, X < 5]))
    with pytest.raises(InvalidInput, match=r"tacit-dp\[proofs\]"):
        solvers.versions()


def test_numbers_are_shown_plainly() -> None:
    assert solvers.shown([("x", 3), ("b", True)]) == "x = 3, b = true"  # type: ignore[list-item]
