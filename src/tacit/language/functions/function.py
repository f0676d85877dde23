"""What an entry of the library of functions says about one function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.language.build import numbers, untyped, widen
from tacit.language.expressions import Expression, Literal, NamedCall
from tacit.language.types import DATE, FLOAT, INTEGER, TEXT, TIMESTAMP, ColumnType, Kind

MANY = ("this", "expressions")
"""The parts of a node that holds one argument or more."""

PAIR = ("this", "expression")
"""The parts of a node that holds two arguments."""

Checking = Callable[[Sequence[Expression], str], Sequence[Expression]]
"""Checks and widens arguments; the function's name is for the error."""


@dataclass(frozen=True)
class Function:
    """One function: its name, how it is parsed, what it takes and gives, and what the reference says about it."""

    name: str
    node: str
    """The class of sqlglot's node for it; empty if sqlglot knows it by its name only."""
    arguments: Checking
    """The arguments checked and widened; the function's name is for the error."""
    parts: tuple[str, ...] = ("this",)
    """The parts of the node that hold arguments, in their order; those at the end may be absent."""
    ignored: tuple[str, ...] = ()
    """Further parts that record a dialect's habits and change nothing."""
    result: ColumnType | None = None
    """The result's type; that of the first argument if None."""
    overflows: bool = False
    """Whether an exact result may leave 64 bits: then it is computed in 128, and absent where it does not fit."""
    make: Callable[[ColumnType, tuple[Expression, ...]], Expression] | None = None
    """Makes the expression, for functions with a class of their own or made of other expressions."""
    takes: tuple[int, int] = (1, 1000)
    """How many arguments it takes, at least and at most."""
    also: tuple[str, ...] = ()
    """Further names under which people write it, where sqlglot knows none of them."""
    written: str = ""
    """How it is written, for the reference."""
    meaning: str = ""
    """What it is, and Tacit's own rule where engines differ, for the reference."""
    examples: tuple[tuple[str, object], ...] = ()
    """Calls with their values, as Python writes them, for the reference and its test."""

    def __call__(self, *arguments: Expression) -> Expression:
        """The function of some arguments, with types checked."""
        least, most = self.takes
        if not least <= len(arguments) <= most:
            raise UnsupportedQuery(f"{self.name} takes {_count(least, most)}; write {self.written}.")
        checked = tuple(self.arguments(arguments, self.name))
        kind = checked[0].type if self.result is None else self.result
        return NamedCall(kind, self.name, checked) if self.make is None else self.make(kind, checked)


def _count(least: int, most: int) -> str:
    several = f"{least} to {most} arguments" if most < 1000 else f"{least} arguments or more"
    return several if least < most else "one argument" if least == 1 else f"{least} arguments"


# ---- what functions take -----------------------------------------------------------------------------------------


def typed_as(*kinds: ColumnType | None) -> Checking:
    """Arguments of these types, each widened to its own; None takes any number."""

    def check(arguments: Sequence[Expression], name: str) -> list[Expression]:
        return [
            numbers((argument,), name)[0] if kind is None else one(argument, kind, name)
            for argument, kind in zip(arguments, kinds, strict=False)
        ]

    return check


def one(argument: Expression, kind: ColumnType, name: str) -> Expression:
    """An argument of a type, or of one that widens to it."""
    if untyped(argument):
        return Literal(kind, None)
    if kind == TEXT and argument.type != TEXT:
        raise InvalidInput(f"{name} needs a text, not {argument.type}; write CAST(… AS VARCHAR).")
    if kind == INTEGER and argument.type != INTEGER:
        raise InvalidInput(f"{name} needs a whole number, not {argument.type}; write CAST(… AS BIGINT).")
    return widen(argument, kind, name)


def floats(arguments: Sequence[Expression], name: str) -> list[Expression]:
    """Numbers, all as doubles."""
    return [widen(argument, FLOAT, name) for argument in numbers(arguments, name)]


def timelike(argument: Expression, name: str) -> Expression:
    """A date or a timestamp; a constant text is read as one."""
    if isinstance(argument, Literal) and isinstance(argument.value, str):
        return widen(argument, DATE if len(argument.value) == 10 else TIMESTAMP, name)
    if untyped(argument):
        return Literal(DATE, None)
    if argument.type.kind not in (Kind.DATE, Kind.TIMESTAMP):
        raise InvalidInput(f"{name} needs a date or a timestamp, not {argument.type}; use such a column.")
    return argument


def constant(argument: Expression, name: str, what: str) -> int | str:
    """The whole number or text that an argument must be, written out; ``what`` names it in the error."""
    if not isinstance(argument, Literal) or not isinstance(argument.value, int | str) or argument.value is True:
        raise UnsupportedQuery(f"{name} needs {what} as a constant; write it out.")
    return argument.value
