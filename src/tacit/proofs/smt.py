"""Terms in SMT-LIB, the common language of solvers.

A quotient a/b is written as a new number q with b ≠ 0 ⟹ q·b = a, which every quotient obeys, so that what is proved of
all such q is proved of a/b.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tacit.proofs.terms import BOOL, INT, REAL, Term, symbols


def is_linear(term: Term) -> bool:
    """Whether nothing unknown is multiplied with or divided by anything unknown."""
    if term.op in ("symbol", "const"):
        return True
    unknown = [part for part in term.parts if symbols(part)]
    curved = (term.op == "*" and len(unknown) == 2) or (term.op == "/" and bool(symbols(term.parts[1])))
    return not curved and all(map(is_linear, term.parts))


class Writer:
    """Terms as SMT-LIB: what was written declares its names, and its quotients by what they obey.

    ``relaxed`` takes whole numbers for real ones, and ⌊x⌋ for any f with f ≤ x < f + 1. What is true of all such
    numbers is true of the whole ones, and solvers find it sooner; what is not may still be true of the whole ones.
    """

    def __init__(self, relaxed: bool) -> None:
        self.relaxed = relaxed
        self.names: dict[Term, str] = {}
        self.lines: list[str] = []
        self._made: dict[Term, str] = {}

    def sort(self, term: Term) -> str:
        """The sort a term is written in."""
        return REAL if self.relaxed and term.sort == INT else term.sort

    def write(self, term: Term, sort: str | None = None) -> str:
        """A term, as a number of a given sort."""
        own = self.sort(term)
        if term.op == "const":
            return _constant(term.parts[0], sort or own)
        text = self._write(term)
        return f"(to_real {text})" if sort == REAL and own == INT else text

    def _write(self, term: Term) -> str:
        if term.op == "symbol":
            if term not in self.names:
                self.names[term] = f"x{len(self.names)}"
                self.lines.append(f"(declare-const {self.names[term]} {self.sort(term)}) ; {term.parts[0]}")
            return self.names[term]
        if term.op in ("/", "to_int"):
            return self._quotient(term) if term.op == "/" else self._floor(term)
        numbers = [self.sort(part) for part in term.parts if part.sort != BOOL]
        inner = REAL if REAL in numbers or (self.relaxed and numbers) else None
        return f"({term.op} {' '.join(self.write(part, None if part.sort == BOOL else inner) for part in term.parts)})"

    def _new(self, term: Term, *facts: str) -> str:
        name = self._made[term] = f"q{len(self._made)}"
        self.lines.append(f"(declare-const {name} Real)")
        self.lines += [f"(assert {fact.replace('?', name)})" for fact in facts]
        return name

    def _quotient(self, term: Term) -> str:
        if term in self._made:
            return self._made[term]
        over, under = (self.write(part, REAL) for part in term.parts)
        rule = f"(= (* ? {under}) {over})"
        return self._new(term, rule if term.parts[1].op == "const" else f"(=> (not (= {under} 0.0)) {rule})")

    def _floor(self, term: Term) -> str:
        inner = self.write(term.parts[0], REAL)
        if not self.relaxed:
            return f"(to_int {inner})"
        return self._made.get(term) or self._new(term, f"(<= ? {inner})", f"(< {inner} (+ ? 1.0))")

    def claim(self, term: Term) -> None:
        """State a fact."""
        text = self.write(term)
        self.lines.append(f"(assert {text})")


def _constant(value: Any, sort: str) -> str:
    if sort == BOOL:
        return "true" if value else "false"
    size, point = abs(value), ".0" if sort == REAL else ""
    text = f"{size.numerator}{point}" if size.denominator == 1 else f"(/ {size.numerator}.0 {size.denominator}.0)"
    return f"(- {text})" if value < 0 else text


@dataclass(frozen=True)
class Asked:
    """A question to a solver, and what its names stand for."""

    text: str
    names: tuple[tuple[str, str], ...]


def asked(facts: Iterable[Term], relaxed: bool = False) -> Asked:
    """Whether all facts can hold at once, in SMT-LIB."""
    writer, listed = Writer(relaxed), list(facts)
    for fact in listed:
        writer.claim(fact)
    text = "\n".join(writer.lines)
    mixed = "I" * (" Int)" in text or "to_int" in text) + "R" * (" Real)" in text or "to_" in text)
    kind = "L" if all(map(is_linear, listed)) else "N"
    logic = f"QF_{kind}{mixed}A" if mixed else "QF_UF"
    names = tuple((name, str(term.parts[0])) for term, name in writer.names.items())
    return Asked(f"(set-logic {logic})\n{text}", names)
