"""JSON lines: each line's object, by that line alone, with numbers as they were written.

DuckDB's parser keeps integers digit by digit, however long, but reads fractions as doubles, which would write 1.50 as
1.5 and make one number of two long ones. So the numbers of a line that has a fraction or an exponent are put into
quotes before it is parsed: then they are texts, and how a number is read follows from that number alone. Of a key that
an object has twice the first counts. Lists and objects inside an object are their text.
"""

from __future__ import annotations

from collections.abc import Iterable

from tacit.engines.duckdb.dialect import DIALECT

_STRING = r'"(?:[^"\\]|\\.)*"'
_NUMBER = r"-?[0-9][-+.0-9eE]*"
_TOKEN = rf"({_STRING}[ \t\r]*:[ \t\r]*)({_NUMBER})|({_STRING})"
"""A key with its number, or any other string: from the line's start on, every string is met at its opening quote."""
_FRACTION = r"[0-9](\.[0-9]|[eE])"
"""Lines that have a number with a fraction or an exponent, and a few others."""


def is_object(line: str) -> str:
    """Whether a line is a JSON object."""
    opens = f"(starts_with({line}, '{{') OR starts_with(ltrim({line}, ' \t\r'), '{{'))"
    return f"({opens} AND json_valid({line}))"


def values(line: str, names: Iterable[str]) -> str:
    """The list of an object's values as text; NULL for a line that is none. It cannot fail."""
    pointers = ", ".join(DIALECT.text("/" + name.replace("~", "~0").replace("/", "~1")) for name in names)
    # A valid line has no control character, so that chr(1) marks only what is put there.
    marked = f"regexp_replace({line}, {DIALECT.text(_TOKEN)}, '\\1' || chr(1) || '\\2' || chr(1) || '\\3', 'g')"
    quoted = f"replace(replace({marked}, chr(1) || chr(1), ''), chr(1), '\"')"
    exact = f"CASE WHEN regexp_matches({line}, {DIALECT.text(_FRACTION)}) THEN {quoted} ELSE {line} END"
    return f"CASE WHEN {is_object(line)} THEN json_extract_string({exact}, [{pointers}]) END"
