"""Terms: numbers and statements that are known by their names only, so that a public rule can be run for all of them.

A term adds, multiplies, divides and compares like a number. A mechanism's own rule, such as the rates of a design, runs
on terms as it runs on fractions; what it returns is what a proof speaks about. Where a rule asks whether a comparison
of terms is true (`if`, `max`, `min`), the argument that runs it is split into two: one in which it is, one in which it
is not (`tacit.proofs.argument`). `tacit.proofs.smt` writes terms for solvers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

INT, REAL, BOOL = "Int", "Real", "Bool"

DECIDE: ContextVar[Callable[[Term], bool]] = ContextVar("decide")
"""Who says whether an unknown statement is taken for true; an argument sets it while it runs."""


@dataclass(frozen=True, eq=True)
class Term:
    """A number or a statement: an operation of SMT-LIB on terms, a name or a constant."""

    op: str
    parts: tuple[Any, ...]
    sort: str

    def __add__(self, other: Any) -> Term:
        return _numeric("+", self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Term:
        return _numeric("-", self, other)

    def __rsub__(self, other: Any) -> Term:
        return _numeric("-", other, self)

    def __mul__(self, other: Any) -> Term:
        return _numeric("*", self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Term:
        return _numeric("/", self, other)

    def __rtruediv__(self, other: Any) -> Term:
        return _numeric("/", other, self)

    def __floordiv__(self, other: Any) -> Term:
        return _numeric("/", self, other).__floor__()

    def __neg__(self) -> Term:
        return _numeric("-", 0, self)

    def __abs__(self) -> Term:
        return either(self >= 0, self, -self)

    def __pow__(self, power: int) -> Term:
        result = self
        for _ in range(power - 1):
            result = result * self
        return result

    def __floor__(self) -> Term:
        return self if self.sort == INT else Term("to_int", (self,), INT)

    def __ceil__(self) -> Term:
        return -(-self).__floor__()

    def __le__(self, other: Any) -> Term:
        return _compared("<=", self, other)

    def __lt__(self, other: Any) -> Term:
        return _compared("<", self, other)

    def __ge__(self, other: Any) -> Term:
        return _compared("<=", other, self)

    def __gt__(self, other: Any) -> Term:
        return _compared("<", other, self)

    def __and__(self, other: Any) -> Term:
        return _joined("and", self, other)

    def __or__(self, other: Any) -> Term:
        return _joined("or", self, other)

    def __invert__(self) -> Term:
        if self.op == "const":
            return stated(not self.parts[0])
        return self.parts[0] if self.op == "not" else Term("not", (self,), BOOL)

    def __bool__(self) -> bool:
        if self.op == "const":
            return bool(self.parts[0])
        return DECIDE.get()(self if self.sort == BOOL else ~equal(self, 0))

    def __repr__(self) -> str:
        if self.op in ("symbol", "const"):
            return str(self.parts[0])
        words = [repr(part) for part in self.parts]
        return f"({f' {self.op} '.join(words)})" if len(words) == 2 else f"{self.op}({', '.join(words)})"


def stated(x: Any) -> Term:
    """A plain number or truth as a term."""
    if isinstance(x, Term):
        return x
    if isinstance(x, bool):
        return Term("const", (x,), BOOL)
    number = Fraction(x)
    return Term("const", (number,), INT if number.denominator == 1 else REAL)


def symbol(name: str, sort: str) -> Term:
    """A number or a statement known by its name."""
    return Term("symbol", (name,), sort)


def _numeric(op: str, a: Any, b: Any) -> Term:
    x, y = stated(a), stated(b)
    if x.op == y.op == "const" and not (op == "/" and y.parts[0] == 0):
        u, v = x.parts[0], y.parts[0]
        return stated(u + v if op == "+" else u - v if op == "-" else u * v if op == "*" else u / v)
    if op == "*" and stated(0) in (x, y):
        return stated(0)
    if (op, y) in (("+", stated(0)), ("-", stated(0)), ("*", stated(1)), ("/", stated(1))):
        return x
    if (op, x) in (("+", stated(0)), ("*", stated(1))):
        return y
    return Term(op, (x, y), REAL if op == "/" or REAL in (x.sort, y.sort) else INT)


def _compared(op: str, a: Any, b: Any) -> Term:
    x, y = stated(a), stated(b)
    if x.op == y.op == "const":
        return stated(x.parts[0] <= y.parts[0] if op == "<=" else x.parts[0] < y.parts[0])
    return Term(op, (x, y), BOOL)


def _joined(op: str, a: Any, b: Any) -> Term:
    parts, neutral = (stated(a), stated(b)), op == "and"
    left = tuple(part for part in parts if part != stated(neutral))
    if stated(not neutral) in left:
        return stated(not neutral)
    return Term(op, left, BOOL) if len(left) == 2 else left[0] if left else stated(neutral)


def equal(a: Any, b: Any) -> Term:
    """That two numbers are the same."""
    x, y = stated(a), stated(b)
    return stated(x.parts[0] == y.parts[0]) if x.op == y.op == "const" else Term("=", (x, y), BOOL)


def either(condition: Any, yes: Any, no: Any) -> Term:
    """One number where a statement holds, another where not, without a split."""
    which, a, b = stated(condition), stated(yes), stated(no)
    if which.op == "const":
        return a if which.parts[0] else b
    return a if a == b else Term("ite", (which, a, b), REAL if REAL in (a.sort, b.sort) else a.sort)


def implies(fact: Any, result: Any) -> Term:
    """That a result follows from a fact."""
    return ~stated(fact) | stated(result)


def largest(a: Any, b: Any) -> Term:
    """The larger of two numbers, without a split."""
    return either(stated(a) >= b, a, b)


def smallest(a: Any, b: Any) -> Term:
    """The smaller of two numbers, without a split."""
    return either(stated(a) >= b, b, a)


def symbols(term: Term) -> set[Term]:
    """The names in a term."""
    return set(_symbols(term))


def _symbols(term: Term) -> Iterator[Term]:
    if term.op == "symbol":
        yield term
    elif term.op != "const":
        for part in term.parts:
            yield from _symbols(part)
