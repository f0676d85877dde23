"""An argument: what a proof assumes, in which case, and what follows by which rule.

A proof is a function that takes an `Argument`, names public parameters and what neighbours have to do with each other,
runs the mechanism's own rules on them and closes with `promise`. Every rule (`tacit.proofs.rules`) adds what it needs
as *obligations*: facts, and a goal that must follow from them for all numbers. They go to the solvers.

Where the function asks whether a comparison is true, it is run again for the other answer. So an argument is a tree of
paths; on each the answers given are facts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tacit.errors import InvalidInput
from tacit.proofs.smt import Asked, asked
from tacit.proofs.terms import DECIDE, INT, REAL, Term, equal, stated, symbol, symbols

MOST_PATHS = 256
"""A proof with more paths than this is not written well."""


@dataclass(frozen=True)
class Obligation:
    """Facts, and what must follow from them for all numbers; `rule` asked for it."""

    name: str
    rule: str
    facts: tuple[Term, ...]
    goal: Term

    def question(self, relaxed: bool = True) -> Asked:
        """Whether the facts can hold and the goal fail; facts that have nothing to do with the goal are left out."""
        return asked([*self._about(), ~self.goal], relaxed)

    def _about(self) -> list[Term]:
        """The facts that share names with the goal, or with such a fact, and so on."""
        known, found, left = symbols(self.goal), list[Term](), list(self.facts)
        while chosen := [fact for fact in left if symbols(fact) & known or not symbols(fact)]:
            found += chosen
            left = [fact for fact in left if fact not in chosen]
            known |= {name for fact in chosen for name in symbols(fact)}
        return found


class Argument:
    """One path through a proof."""

    def __init__(self, answers: tuple[bool, ...]) -> None:
        self.obligations: list[Obligation] = []
        self.rules: list[str] = []
        self.open: list[tuple[bool, ...]] = []
        """Paths still to be taken, by the answers that lead to them."""
        self.scenes: list[tuple[str, tuple[Term, ...]]] = []
        """The facts under which something is promised: they must be possible, or nothing was proved."""
        self.pinned: dict[str, Any] = {}
        """Numbers that are not for all but of this value, by name: for a proof about one choice of parameters."""
        self._facts, self._path = list[Term](), list[Term]()
        self._names: dict[str, int] = {}
        self._case: list[str] = []
        self._answers, self._given = answers, list[bool]()

    # What is assumed

    def real(self, name: str, *facts: Callable[[Any], Any]) -> Any:
        """A real number of which these facts are known."""
        return self._new(name, REAL, facts)

    def whole(self, name: str, *facts: Callable[[Any], Any]) -> Any:
        """A whole number of which these facts are known."""
        return self._new(name, INT, facts)

    def positive(self, name: str) -> Any:
        """A real number above 0."""
        return self.real(name, lambda x: x > 0)

    def count(self, name: str, least: int = 0) -> Any:
        """A whole number, not below ``least``."""
        return self.whole(name, lambda x: x >= least)

    def within(self, name: str, low: Any, high: Any) -> Any:
        """A real number between two others, the ends included."""
        return self.real(name, lambda x: x >= low, lambda x: x <= high)

    def steps(self, name: str, low: Any, high: Any) -> Any:
        """A whole number between two others, the ends included."""
        return self.whole(name, lambda x: x >= low, lambda x: x <= high)

    def _new(self, name: str, sort: str, facts: tuple[Callable[[Any], Any], ...]) -> Term:
        number = self._names[name] = self._names.get(name, 0) + 1
        found = symbol(name if number == 1 else f"{name}#{number}", sort)
        self.assume(*(fact(found) for fact in facts))
        if name in self.pinned:
            self.assume(equal(found, self.pinned[name]))
        return found

    def assume(self, *facts: Any) -> None:
        """What is known from here on, to the end of the case."""
        self._facts += [term for term in map(stated, facts) if term != stated(True)]

    @property
    def facts(self) -> tuple[Term, ...]:
        """What is known at this point."""
        return (*self._path, *self._facts)

    @contextmanager
    def case(self, name: str, *facts: Any) -> Iterator[None]:
        """A case: what is assumed in it is forgotten after it."""
        before = len(self._facts)
        self._case.append(name)
        self.assume(*facts)
        yield
        del self._facts[before:]
        self._case.pop()

    @contextmanager
    def lemma(self) -> Iterator[list[Any]]:
        """Facts for one purpose: after it only those that were put on its list are known, which must be known inside.

        What is forgotten speaks of numbers that no longer matter; solvers are quicker without.
        """
        before, results = len(self._facts), list[Any]()
        yield results
        known, wanted = self.facts, [stated(result) for result in results]
        if any(fact not in known for fact in wanted):
            raise InvalidInput("a lemma can only keep what it assumed or derived.")
        del self._facts[before:]
        self.assume(*wanted)

    # What follows

    def check(self, goal: Any, rule: str) -> None:
        """An obligation of a rule."""
        self._used(rule)
        name = ", ".join([*self._case, rule])
        self.obligations.append(Obligation(name, rule, self.facts, stated(goal)))

    def derive(self, fact: Any, rule: str = "arithmetic") -> Any:
        """A fact that follows from those known, and is known from here on."""
        self.check(fact, rule)
        self.assume(fact)
        return fact

    def _used(self, rule: str) -> None:
        if rule not in self.rules:
            self.rules.append(rule)

    def promise(self, price: Any, budget: Any) -> None:
        """The end of a case: the price is within the budget, and the case is possible at all."""
        self.scenes.append((", ".join(self._case), self.facts))
        self.check(stated(price) <= budget, "promise")

    # Paths

    def decide(self, term: Term) -> bool:
        """Which way an open question goes on this path."""
        if term in self.facts or ~term in self.facts:
            return term in self.facts
        place = len(self._given)
        answer = self._answers[place] if place < len(self._answers) else True
        if place >= len(self._answers):
            self.open.append((*self._given, False))
        self._given.append(answer)
        self._path.append(term if answer else ~term)  # a fact of the whole path: no case forgets it
        return answer


Build = Callable[[Argument], None]


def paths(build: Build) -> list[Argument]:
    """Every path of an argument, each run to its end."""
    waiting: list[tuple[bool, ...]] = [()]
    done: list[Argument] = []
    while waiting:
        argument = Argument(waiting.pop())
        token = DECIDE.set(argument.decide)
        try:
            build(argument)
        finally:
            DECIDE.reset(token)
        done.append(argument)
        waiting += argument.open
        if len(done) > MOST_PATHS:
            raise InvalidInput(f"a proof must have at most {MOST_PATHS} paths; state its cases one by one.")
    return done
