"""How text files write dates, times and fractions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_ISO = ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "", None)


@dataclass(frozen=True)
class TextFormat:
    """Formats of dates and times, where None is ISO, and the mark before a fraction."""

    date: str | None = None
    timestamp: str | None = None
    decimal_separator: str = "."


def text_format(options: Mapping[str, object], date: str | None = None, timestamp: str | None = None) -> TextFormat:
    """The formats declared, else those that the first lines have, else ISO."""

    def chosen(option: str, sniffed: str | None) -> str | None:
        given = options.get(option)
        return str(given) if given is not None else (None if sniffed in _ISO else sniffed)

    separator = str(options.get("decimal_separator", "."))
    return TextFormat(chosen("date_format", date), chosen("timestamp_format", timestamp), separator)
