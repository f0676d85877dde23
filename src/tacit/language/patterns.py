r"""Patterns that mean the same in RE2, PostgreSQL and Java: a small language of our own, and how each engine writes it.

LANGUAGE. Characters; ``.`` (any but a line feed); classes such as ``[a-z_]`` and ``[^0-9]``; ``\d \w \s`` and their
opposites ``\D \W \S`` for ASCII; groups; ``|``; ``?``; ``{m}``, ``{m,n}`` up to 100 and ``{m,}``; ``*`` and ``+`` after
one character; ``^`` and ``$`` for the start and the end of the text. A pattern is found anywhere in the text. All else
is refused by name: references back, looking around, lazy and possessive quantifiers, flags, word boundaries.

WHY SO LITTLE. What is refused means different things on different engines, or lets a row decide about success: Java
recurses over a repeated group until its stack ends, and tries all ways to match, which takes time exponential in the
text. So groups repeat a bounded number of times, `CHOICES` bounds the ways that a text of `LONGEST` characters can be
tried, and longer texts have no answer.

Every character is written by its number, anchors and classes in full, so nothing is left to an engine's flags.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.language.cases import mapping

LONGEST = 500
"""The longest text that a pattern is looked for in; longer ones have no answer."""

CHOICES = 2 * 10**8
"""The most ways in which a pattern may be tried on a text."""

MOST_REPEATS = 100
"""The largest bound of a repetition."""

LARGEST = 1000
"""The most characters and classes of a pattern, repetitions written out."""

Ranges = tuple[tuple[int, int], ...]
_LAST = 0x10FFFF
_CLASSES: dict[str, Ranges] = {
    "d": ((48, 57),),
    "w": ((48, 57), (65, 90), (95, 95), (97, 122)),
    "s": ((9, 13), (32, 32)),
}
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}
_ANY: Ranges = ((10, 10),)


@dataclass(frozen=True)
class Pattern:
    """A part of a pattern: what it is and its size, and in how many ways a text can be tried with it."""

    size: int
    choices: int


@dataclass(frozen=True)
class One(Pattern):
    """One character of some ranges, or of none of them."""

    ranges: Ranges
    other: bool


@dataclass(frozen=True)
class Edge(Pattern):
    """The start or the end of the text."""

    start: bool


@dataclass(frozen=True)
class Row(Pattern):
    """Parts one after another."""

    parts: tuple[Pattern, ...]


@dataclass(frozen=True)
class Either(Pattern):
    """One of several parts."""

    parts: tuple[Pattern, ...]


@dataclass(frozen=True)
class Repeat(Pattern):
    """A part several times; without an upper bound if ``most`` is None."""

    part: Pattern
    least: int
    most: int | None


@cache
def pattern(text: str, any_case: bool = False) -> Pattern:
    """The pattern that a text means, or a refusal that says which part of it is not supported."""
    found = _Parser(text, any_case).whole()
    if found.size > LARGEST:
        raise UnsupportedQuery(f"a pattern has more than {LARGEST} characters, repetitions written out; shorten it.")
    anchored = isinstance(found, Row) and found.parts and isinstance(found.parts[0], Edge)
    if found.choices * (1 if anchored else LONGEST) > CHOICES:
        raise UnsupportedQuery(
            "a pattern has too many repetitions and alternatives, so that one text could take very long; use at most "
            "two of * and +, and fewer alternatives."
        )
    return found


class _Parser:
    def __init__(self, text: str, any_case: bool) -> None:
        self.text, self.any_case, self.at = text, any_case, 0

    def whole(self) -> Pattern:
        found = self.either(0)
        if self.at < len(self.text):
            raise InvalidInput("a pattern has a closing parenthesis too many; write \\) for the character.")
        return found

    def peek(self, ahead: int = 0) -> str:
        return self.text[self.at + ahead : self.at + ahead + 1]

    def take(self) -> str:
        self.at += 1
        return self.text[self.at - 1]

    def either(self, depth: int) -> Pattern:
        if depth > 20:
            raise UnsupportedQuery("a pattern is nested too deeply; write it more simply.")
        parts = [self.sequence(depth)]
        while self.peek() == "|":
            self.take()
            parts.append(self.sequence(depth))
        if len(parts) == 1:
            return parts[0]
        return Either(sum(part.size for part in parts), sum(part.choices for part in parts), tuple(parts))

    def sequence(self, depth: int) -> Pattern:
        parts: list[Pattern] = []
        while self.peek() not in ("", "|", ")"):
            parts.append(self.repeated(self.atom(depth)))
        return _sequence(parts)

    def atom(self, depth: int) -> Pattern:
        character = self.take()
        if character == "(":
            if self.peek() == "?":
                if self.peek(1) != ":":
                    raise UnsupportedQuery("a pattern with (?…) is not supported; only (?:…) is.")
                self.at += 2
            found = self.either(depth + 1)
            if self.peek() != ")":
                raise InvalidInput("a pattern has an opening parenthesis too many; write \\( for the character.")
            self.take()
            return found
        if character == "[":
            return self.bracket()
        if character == ".":
            return One(1, 1, _ANY, True)
        if character in "^$":
            return Edge(0, 1, character == "^")
        if character == "\\":
            return self.one(*self.escape())
        if character in "*+?{":
            raise InvalidInput(f"a pattern repeats nothing before {character}; write \\{character} for the character.")
        return self.one(((ord(character), ord(character)),), False)

    def one(self, ranges: Ranges, other: bool) -> One:
        if self.any_case:
            ranges = _any_case(ranges)
        return One(1, 1, ranges, other)

    def escape(self) -> tuple[Ranges, bool]:
        if not self.peek():
            raise InvalidInput("a pattern ends in a backslash; write \\\\ for the character.")
        character = self.take()
        if character.lower() in _CLASSES:
            return _CLASSES[character.lower()], character.isupper()
        if character in _PLAIN:
            character = _PLAIN[character]
        elif character.isascii() and character.isalnum():
            raise UnsupportedQuery(f"a pattern with \\{character} is not supported; engines disagree about it.")
        return ((ord(character), ord(character)),), False

    def bracket(self) -> Pattern:
        other = self.peek() == "^"
        self.at += other
        ranges: list[tuple[int, int]] = []
        while self.peek() != "]" or not ranges:
            if not self.peek():
                raise InvalidInput("a pattern has a class without its closing bracket; write \\[ for the character.")
            low = self.member()
            if len(low) == 1 and low[0][0] == low[0][1] and self.peek() == "-" and self.peek(1) not in ("]", ""):
                self.take()
                high = self.member()
                if len(high) != 1 or high[0][0] < low[0][0]:
                    raise InvalidInput("a pattern has a range that ends before it begins; exchange its ends.")
                low = ((low[0][0], high[0][1]),)
            ranges += low
        self.take()
        return self.one(tuple(ranges), other)

    def member(self) -> Ranges:
        character = self.take()
        if character == "[" and self.peek() in (":", ".", "="):
            raise UnsupportedQuery("a pattern with [:name:] is not supported; write the characters, such as [a-z].")
        if character != "\\":
            return ((ord(character), ord(character)),)
        ranges, other = self.escape()
        if other:
            raise UnsupportedQuery("a pattern with \\D, \\W or \\S inside a class is not supported; use [^…].")
        return ranges

    def repeated(self, part: Pattern) -> Pattern:
        character = self.peek()
        bounds = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(character)
        if bounds is not None:
            self.take()
        elif character == "{":
            bounds = self.bounds()
        else:
            return part
        if self.peek() and self.peek() in "*+?{":
            raise UnsupportedQuery("a pattern with lazy, possessive or doubled repetitions is not supported; use one.")
        least, most = bounds
        if isinstance(part, Edge):
            raise UnsupportedQuery("a pattern that repeats ^ or $ is not supported; leave the repetition out.")
        if most is None and not isinstance(part, One):
            raise UnsupportedQuery("a pattern that repeats a group without a bound is not supported; write {0,10}.")
        if most is None:
            return Repeat(least + 1, LONGEST, part, least, most)
        ways = sum(min(part.choices**n, CHOICES + 1) for n in range(least, most + 1))
        return Repeat(part.size * most, min(ways, CHOICES + 1), part, least, most)

    def bounds(self) -> tuple[int, int | None]:
        end = self.text.find("}", self.at)
        least, comma, most = self.text[self.at + 1 : end].partition(",") if end >= 0 else ("", "", "")
        if not (least.isascii() and least.isdigit() and (not most or (most.isascii() and most.isdigit()))):
            raise InvalidInput(
                "a pattern has a brace that is no repetition such as {2,5}; write \\{ for the character."
            )
        self.at = end + 1
        first = int(least[:9])
        last = first if not comma else int(most[:9]) if most else None
        if first > MOST_REPEATS or (last is not None and not first <= last <= MOST_REPEATS):
            raise UnsupportedQuery(f"a pattern repeats at most {MOST_REPEATS} times; use smaller bounds.")
        return first, last


def _sequence(parts: Sequence[Pattern]) -> Pattern:
    choices = 1
    for part in parts:
        choices = min(choices * part.choices, CHOICES + 1)
    return Row(sum(part.size for part in parts), choices, tuple(parts))


def _any_case(ranges: Ranges) -> Ranges:
    """Ranges with the other case of their characters, by the table of LOWER and UPPER."""
    found = list(ranges)
    for upper in (True, False):
        for character, other in mapping(upper).items():
            if any(low <= ord(character) <= high for low, high in ranges):
                found.append((ord(other), ord(other)))
    return tuple(found)


def write(part: Pattern, character: Callable[[int], str], end: str) -> str:
    """A pattern as an engine reads it, given how a character is written by its number, and the end of a text."""
    match part:
        case One(ranges=ranges, other=other):
            inner = "".join(
                character(low) if low == high else f"{character(low)}-{character(high)}" for low, high in ranges
            )
            return (
                inner
                if len(ranges) == 1 and ranges[0][0] == ranges[0][1] and not other
                else (f"[{'^' if other else ''}{inner}]")
            )
        case Edge(start=start):
            return "\\A" if start else end
        case Row(parts=parts):
            return "".join(write(inner, character, end) for inner in parts)
        case Either(parts=parts):
            return "(?:" + "|".join(write(inner, character, end) for inner in parts) + ")"
        case Repeat(part=inner_part, least=least, most=most):
            inner = write(inner_part, character, end)
            atom = inner if isinstance(inner_part, One) else f"(?:{inner})"
            return f"{atom}{{{least},{'' if most is None else most}}}"
    raise TypeError(type(part).__name__)


BACKSLASH_Z = "\\z"
"""The end of a text, to RE2 and Java."""


def braced(code: int) -> str:
    """A character by its number, as RE2 and Java read it."""
    return chr(code) if chr(code).isascii() and chr(code).isalnum() else f"\\x{{{code:X}}}"
