"""Arguments: cases are forgotten, questions split, lemmas keep only what they know, and empty ones prove nothing."""

from collections.abc import Callable
from typing import Any

import pytest

from tacit.errors import InvalidInput
from tacit.proofs import Argument, Proof, prove
from tacit.proofs.argument import MOST_PATHS, paths


def proved(build: Callable[[Argument], None]) -> str:
    return prove(Proof("something", "nothing", "–", build)).word


def test_facts_of_a_case_do_not_leave_it() -> None:
    def leaking(p: Argument) -> None:
        x = p.real("x")
        with p.case("positive", x > 0):
            p.promise(0, x)
        p.promise(0, x)

    found = prove(Proof("something", "nothing", "–", leaking))
    assert found.word == "refuted"
    assert found.counterexample["x"] < 0


def test_a_question_splits_the_argument() -> None:
    def split(p: Argument) -> None:
        x, y = p.real("x"), p.real("y")
        p.promise(x, max(x, y))
        p.promise(y, max(x, y))

    assert len(paths(split)) == 2
    assert proved(split) == "proved"


def test_a_split_stays_beyond_a_case() -> None:
    def wrong(p: Argument) -> None:
        x = p.real("x")
        with p.case("asked"):
            sign = 1 if x > 0 else -1
        p.promise(0, sign * x)

    assert proved(wrong) == "proved"  # sign·x = |x| on either path


def test_too_many_paths_are_refused() -> None:
    def branching(p: Argument) -> None:
        for i in range(MOST_PATHS.bit_length()):
            bool(p.real(f"x{i}") > 0)

    with pytest.raises(InvalidInput, match="paths"):
        paths(branching)


def test_assumptions_that_cannot_hold_prove_nothing() -> None:
    def impossible(p: Argument) -> None:
        x = p.positive("x")
        p.assume(x < 0)
        p.promise(x, -1)

    assert proved(impossible) == "empty"


def test_an_argument_without_a_promise_proves_nothing() -> None:
    assert proved(lambda p: p.check(True, "rule")) == "empty"


def test_a_lemma_keeps_only_what_it_knows() -> None:
    def build(p: Argument, claim: Any) -> None:
        x, y = p.real("x"), p.real("y")
        with p.lemma() as known:
            p.assume(x >= 1)
            known.append(p.derive(2 * x >= 2))
        with p.lemma() as invented:
            invented.append(y >= 5)

    with pytest.raises(InvalidInput, match="lemma"):
        paths(lambda p: build(p, None))


def test_a_derived_fact_must_follow() -> None:
    def wishful(p: Argument) -> None:
        x = p.real("x")
        p.derive(x >= 0)
        p.promise(0, x)

    assert proved(wishful) == "refuted"


def test_whole_numbers_make_the_counterexample() -> None:
    def build(p: Argument) -> None:
        n = p.count("n")
        p.promise(1, 2 * n)

    found = prove(Proof("something", "nothing", "–", build))
    assert found.counterexample == {"n": 0}
    assert "refuted" in str(found)


def test_what_holds_of_whole_numbers_alone_is_proved() -> None:
    def build(p: Argument) -> None:
        n = p.whole("n", lambda x: x > 0)
        p.promise(1, n)

    assert proved(build) == "proved"


def test_pinned_names_have_one_value() -> None:
    def build(p: Argument) -> None:
        p.pinned["s"] = 2
        p.promise(p.count("s"), 2)

    assert proved(build) == "proved"
