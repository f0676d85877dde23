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


FEW = 0x17F
"""The last character of Latin alphabets: most texts have none beyond it."""

_CASELESS = ((0x2000, 0x206F), (0x20A0, 0x20BF), (0x3000, 0x9FFF), (0xAC00, 0xD7A3), (0x1F300, 0x1FAFF))
"""Punctuation, currencies, letters of East Asia and pictures, which have no case."""


@cache
def settled(upper: bool) -> tuple[tuple[int, int], ...]:
    """Ranges of characters that every version of Unicode changes as `mapping` does, or leaves as they are.

    Pairs stay pairs. A letter without one may get one, but no capital letter gets a capital, no small one a small one,
    and nothing else gets either. Up to U+04FF: Latin, Greek, Cyrillic.
    """
    table, other = mapping(upper), ("Ll", "Lt") if upper else ("Lu", "Lt")
    fixed = [
        code for code in range(1, 0x500) if chr(code) in table or (ucd_3_2_0.category(chr(code)) not in ("Cn", *other))
    ]
    ranges: list[tuple[int, int]] = []
    for code in fixed:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1] = (ranges[-1][0], code)
        else:
            ranges.append((code, code))
    return (*ranges, *_CASELESS)
