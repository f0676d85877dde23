"""The one door for SQL text: bounded before it is parsed, and parsed into sqlglot's trees.

PROMISE. Whatever text comes in, `parsed` returns or refuses it within a fraction of a second and never fails otherwise.
The text is cut into tokens, which takes time in proportion to its length; a text that is too long, has too many tokens,
is nested too deeply or holds a number of absurd length is refused then. What is left is parsed in time in proportion to
its tokens. Nothing here sees data, so whatever a parser raises about a text is a mistake in that text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tacit.errors import InvalidInput
from tacit.numbers.exact import LARGEST_EXPONENT, MOST_DIGITS, bounded

if TYPE_CHECKING:
    from sqlglot import exp

LONGEST_TEXT = 100_000
"""The most characters of one query or expression."""

MOST_TOKENS = 20_000
"""The most words, numbers and signs of one query or expression."""

DEEPEST = 100
"""How deep parentheses, CASE and operators before a value may be nested in a text."""

DIALECT = "duckdb"
"""The grammar in which everybody writes, whatever the engine."""


def parsed(text: str, what: str) -> list[exp.Expr | None]:
    """The statements in a text; ``what`` names it in the error, such as "the query"."""
    from sqlglot import Dialect

    found = tokens(text, what)
    try:
        return Dialect.get_or_raise(DIALECT).parser().parse(found, text)
    except RecursionError:
        raise deep(what) from None
    except Exception:  # also what the parser did not foresee
        raise InvalidInput(f"{what} is not valid SQL; check the spelling.") from None


def tokens(text: str, what: str) -> list[Any]:
    """The tokens of a text within the bounds."""
    import sqlglot

    if len(text) > LONGEST_TEXT:
        raise InvalidInput(f"{what} has more than {LONGEST_TEXT:,} characters; shorten it.")
    if not writable(text):
        raise InvalidInput(f"{what} holds a zero character or half a surrogate pair; leave it out.")
    try:
        found = sqlglot.tokenize(text, read=DIALECT)
    except Exception:
        raise InvalidInput(f"{what} is not valid SQL; check the spelling.") from None
    if len(found) > MOST_TOKENS:
        raise InvalidInput(f"{what} has more than {MOST_TOKENS:,} words and signs; shorten it.")
    depth = chain = brackets = 0
    for token in found:
        kind = token.token_type.name
        brackets += kind == "L_BRACKET"  # x[1][1]… takes the square of its length
        depth += (kind in _OPEN) - (kind in _CLOSE)
        chain = chain + 1 if kind in _PREFIX else 0
        if max(depth, chain, brackets) > DEEPEST:
            raise deep(what)
        if kind == "NUMBER" and not bounded(token.text):
            raise InvalidInput(
                f"{what} has a number of more than {MOST_DIGITS} digits or with an exponent beyond "
                f"±{LARGEST_EXPONENT}; write an ordinary number."
            )
    return found


def writable(text: str) -> bool:
    """Whether a text can be written down as UTF-8 by everybody who passes it on."""
    return "\x00" not in text and not _HALVES.search(text)


_HALVES = re.compile("[\ud800-\udfff]")
_OPEN = {"L_PAREN", "L_BRACKET", "L_BRACE", "CASE"}
_CLOSE = {"R_PAREN", "R_BRACKET", "R_BRACE", "END"}
_PREFIX = {"NOT", "DASH", "PLUS", "TILDA", "TILDE", "INTERVAL"}


def deep(what: str) -> InvalidInput:
    """The refusal of a text that is nested deeper than anybody writes."""
    return InvalidInput(f"{what} is nested too deeply; write it more simply.")
