"""Upper and lower case, Tacit's own rule: one character becomes one character, by a table that never changes.

RULE. A character of Unicode 3.2 is mapped to its other case where that is one character of Unicode 3.2; every other
character stays, such as ß, whose upper case has two. Unicode promises that such pairs stay pairs, so the table, which
Python has, is the same in every version. Engines' own functions differ by version, locale and collation.
"""

from __future__ import annotations

from functools import cache
from unicodedata import ucd_3_2_0


@cache
def mapping(upper: bool) -> dict[str, str]:
    """Every character that has another one in upper or lower case, with that one."""
    known = [chr(code) for code in range(0x10000) if ucd_3_2_0.category(chr(code)) != "Cn"]
    found = {character: character.upper() if upper else character.lower() for character in known}
    stay = set(known)
    return {character: other for character, other in found.items() if other != character and other in stay}


def changed(text: str, upper: bool) -> str:
    """A text in upper or lower case."""
    table = mapping(upper)
    return "".join(table.get(character, character) for character in text)
