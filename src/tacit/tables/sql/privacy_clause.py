"""GoogleSQL's own way to say what an answer may cost, cut out before the query is parsed.

    SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.5, delta = 0, privacy_unit_column = customer)
      SUM(amount, contribution_bounds_per_group => (0, 100)) FROM orders

``epsilon`` and ``delta`` are the cost, as in ``epsilon=, delta=``; a delta of 0 means none. ``privacy_unit_column``
must be the person that was declared: a query cannot choose whom it protects. ``max_groups_contributed`` and the
bounds ``contribution_bounds_per_group`` and ``contribution_bounds_per_row`` are guesses that Tacit does not need;
they are checked for form and change nothing. Any other option would change what is answered, and is refused. So is the
older spelling read, ``SELECT WITH ANONYMIZATION OPTIONS(…, kappa = 1) ANON_SUM(amount CLAMPED BETWEEN 0 AND 100)``.

The clause is found among the tokens of the outermost SELECT, so neither a text nor a comment nor a column of that
name is taken for it. Nothing here looks at data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.guarantees import Guarantee
from tacit.language.parsing import tokens as tokens_of
from tacit.numbers.exact import Number
from tacit.tables.releasing.room import cost_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_KNOWN = "epsilon, delta, privacy_unit_column, max_groups_contributed and kappa"
_BOUNDS = ("CONTRIBUTION_BOUNDS_PER_GROUP", "CONTRIBUTION_BOUNDS_PER_ROW")


@dataclass(frozen=True)
class Priced:
    """A query without the clause, what it costs, and the person that the clause names."""

    query: str
    cost: Guarantee
    unit: str | None = None


def price(query: str, epsilon: Number | None = None, delta: Number | None = None, rho: Number | None = None) -> Priced:
    """Find a query's cost, named by keywords or by the clause inside it, never by both."""
    rest, options = _cut(query)
    if options is None:
        return Priced(rest, cost_of(epsilon, delta, rho))
    amounts = {"epsilon": epsilon, "delta": delta, "rho": rho}
    if doubled := [name for name, amount in amounts.items() if amount is not None]:
        raise InvalidInput(f"the query names its cost in OPTIONS and {doubled[0]}= names one too; leave one out.")
    if (unknown := [name for name in options if name not in _OPTIONS]) or "epsilon" not in options:
        what = f"has no {unknown[0]}" if unknown else "needs epsilon"
        raise UnsupportedQuery(f"OPTIONS {what}; it takes {_KNOWN}.")
    for name in _GROUPS:
        groups = options.get(name, "NULL")
        if not (groups.isdigit() or groups.upper() == "NULL"):
            raise InvalidInput(f"{name} must be a whole number or NULL; it changes nothing, so leave it out.")
    chance = options.get("delta")
    cost = cost_of(options["epsilon"], None if chance is None or _zero(chance) else chance)
    return Priced(rest, cost, options.get("privacy_unit_column"))


_GROUPS = ("max_groups_contributed", "kappa")
_OPTIONS = ("epsilon", "delta", "privacy_unit_column", *_GROUPS)
_CLAUSES = ("DIFFERENTIAL_PRIVACY", "ANONYMIZATION")


def check_unit(unit: str, persons: Sequence[str], single: bool) -> None:
    """Refuse a ``privacy_unit_column`` that is not the declared person."""
    name = unit.rpartition(".")[2]
    known = [person for person in persons if name == f'"{person}"' or name.lower() == person.lower()]
    if not known or not single:
        declared = " and ".join(dict.fromkeys(persons))
        raise InvalidInput(
            f"privacy_unit_column is {unit}, but the tables were declared with person = {declared}, and that is who is "
            "protected; name it, or leave the option out."
        )


def _zero(text: str) -> bool:
    return bool(text) and set(text) <= set("0.")


def _cut(query: Any) -> tuple[str, dict[str, str] | None]:
    """The query without the clause and the bounds, and the clause's options; None without a clause."""
    words_there = ("differential_privacy", "anonymization", "clamped")
    if not isinstance(query, str) or not any(word in query.lower() for word in words_there):
        return query, None
    tokens = tokens_of(query, "the query")
    words = [query[token.start : token.end + 1] for token in tokens]
    upper = [word.upper() for word in words]
    starts = (i for i in range(len(upper) - 2) if upper[i : i + 2] == ["SELECT", "WITH"])
    clauses = [i for i in starts if upper[i + 2] in _CLAUSES]
    if not clauses:
        return _without(query, tokens, _clamped(words, upper)), None
    start = clauses[0]
    clause = upper[start + 2]
    depth = sum((word == "(") - (word == ")") for word in words[:start])
    if len(clauses) > 1 or depth:
        raise UnsupportedQuery(f"WITH {clause} belongs once in the outermost SELECT; leave it out elsewhere.")
    if upper[start + 3 : start + 5] != ["OPTIONS", "("]:
        raise InvalidInput(f"WITH {clause} needs OPTIONS(epsilon = …) after it.")
    end = _closing(words, start + 4)
    gone = [(start + 1, end), *_bounds(words, upper), *_clamped(words, upper)]
    return _without(query, tokens, gone), _options(words[start + 5 : end])


def _without(query: str, tokens: Sequence[Any], gone: Sequence[tuple[int, int]]) -> str:
    """The query with blanks in the place of some tokens."""
    text = list(query)
    for first, last in gone:
        span = slice(tokens[first].start, tokens[last].end + 1)
        text[span] = " " * len(text[span])
    return "".join(text)


def _clamped(words: Sequence[str], upper: Sequence[str]) -> list[tuple[int, int]]:
    """Where ``CLAMPED BETWEEN low AND high`` stands, last inside an ``ANON_…(`` and behind what is added up."""
    found = []
    for i, word in enumerate(upper):
        if word.startswith("ANON_") and words[i + 1 : i + 2] == ["("]:
            end = _closing(words, i + 1)
            start = next((j for j in range(i + 3, end) if upper[j : j + 2] == ["CLAMPED", "BETWEEN"]), end)
            low, _, high = "".join(upper[start + 2 : end]).partition("AND")
            if start < end and not (_number(low) and _number(high)):
                raise InvalidInput("CLAMPED BETWEEN takes two numbers, such as ANON_SUM(x CLAMPED BETWEEN 0 AND 9).")
            found += [(start, end - 1)] if start < end else []
    return found


def _closing(words: Sequence[str], start: int) -> int:
    """Where the parenthesis that opens at ``start`` is closed."""
    depth = 0
    for i in range(start, len(words)):
        depth += (words[i] == "(") - (words[i] == ")")
        if depth == 0:
            return i
    raise InvalidInput("the query has a parenthesis that is never closed; check its spelling.")


def _bounds(words: Sequence[str], upper: Sequence[str]) -> list[tuple[int, int]]:
    """Where ``, contribution_bounds_per_… => (low, high)`` stands."""
    found = []
    for i, word in enumerate(upper):
        if word in _BOUNDS and words[i + 1 : i + 2] == ["=>"]:
            end = _closing(words, i + 2) if words[i + 2 : i + 3] == ["("] else i + 2
            inside = "".join(words[i + 3 : end]).split(",")
            if i == 0 or words[i - 1] != "," or len(inside) != 2 or not all(map(_number, inside)):
                raise InvalidInput(
                    f"{words[i]} must be a pair of numbers after a column, such as SUM(x, {words[i]} => (0, 9))."
                )
            found.append((i - 1, end))
    return found


def _number(text: str) -> bool:
    digits = text.lstrip("+-").replace(".", "", 1)
    return digits.isdigit()


def _options(words: Sequence[str]) -> dict[str, str]:
    """Names and values of ``name = value, …``."""
    found: dict[str, str] = {}
    texts = "\0".join(words).split("\0,\0") if words else []
    for text in texts:
        name, equals, value = text.partition("\0=\0")
        if not equals or not value or "\0" in name or name.lower() in found:
            raise InvalidInput("OPTIONS takes each option once, as name = value; check its spelling.")
        found[name.lower()] = value.replace("\0", "")
    return found
