"""Dates and times as text, put together from their parts."""

from __future__ import annotations

import re
from collections.abc import Callable

from tacit.errors import UnsupportedQuery
from tacit.language import build
from tacit.language.casts import cast
from tacit.language.expressions import Expression, Literal, NamedCall
from tacit.language.functions.parts import part_of
from tacit.language.types import BOOLEAN, DATE, INTEGER, TEXT, TIMESTAMP, ColumnType

MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
          "December")  # fmt: skip
DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


def name_of(moment: Expression, part: str, names: tuple[str, ...], letters: int | None = None) -> Expression:
    """The name of a month or a weekday."""
    number = part_of(part, moment)
    if part == "dow":
        number = build.arithmetic("+", number, Literal(INTEGER, 1))
    listed = Literal(TEXT, ",".join(name[:letters] for name in names))
    return NamedCall(TEXT, "SPLIT_PART", (listed, Literal(TEXT, ","), number))


def padded(number: Expression, width: int) -> Expression:
    """A whole number with zeros before it."""
    return NamedCall(TEXT, "LPAD", (cast(number, TEXT), Literal(INTEGER, width), Literal(TEXT, "0")))


def _part(part: str, width: int = 0) -> Callable[[Expression], Expression]:
    def piece(moment: Expression) -> Expression:
        number = part_of(part, moment)
        return padded(number, width) if width else cast(number, TEXT)

    return piece


def _short_year(moment: Expression) -> Expression:
    return NamedCall(TEXT, "RIGHT", (padded(part_of("year", moment), 4), Literal(INTEGER, 2)))


def _fraction(moment: Expression) -> Expression:
    micros = NamedCall(INTEGER, "MOD", (part_of("microsecond", moment), Literal(INTEGER, 10**6)))
    return padded(micros, 6)


CODES: dict[str, Callable[[Expression], Expression]] = {
    "Y": _part("year", 4),
    "y": _short_year,
    "m": _part("month", 2),
    "d": _part("day", 2),
    "H": _part("hour", 2),
    "M": _part("minute", 2),
    "S": _part("second", 2),
    "f": _fraction,
    "j": _part("doy", 3),
    "u": _part("isodow"),
    "w": _part("dow"),
    "V": _part("week", 2),
    "G": _part("isoyear", 4),
    "B": lambda moment: name_of(moment, "month", MONTHS),
    "b": lambda moment: name_of(moment, "month", MONTHS, 3),
    "A": lambda moment: name_of(moment, "dow", DAYS),
    "a": lambda moment: name_of(moment, "dow", DAYS, 3),
    "%": lambda moment: Literal(TEXT, "%"),
}
"""What STRFTIME knows after a %."""

SHORT = {"%F": "%Y-%m-%d", "%T": "%H:%M:%S", "%R": "%H:%M"}
"""Codes that stand for others."""

WORDS = {
    "YYYY": "%Y", "YY": "%y", "MM": "%m", "DDD": "%j", "DD": "%d", "HH24": "%H", "MI": "%M", "SS": "%S", "US": "%f",
    "IYYY": "%G", "IW": "%V", "ID": "%u", "FMMONTH": "%B", "FMDAY": "%A", "MON": "%b", "DY": "%a",
}  # fmt: skip
"""What TO_CHAR knows, as STRFTIME writes it."""

_WORD = re.compile("|".join(sorted(WORDS, key=len, reverse=True)), re.IGNORECASE)


def formatted(moment: Expression, form: str, name: str) -> Expression:
    """STRFTIME(moment, form)."""
    form = re.sub(r"%.", lambda found: SHORT.get(found.group(), found.group()), form, flags=re.DOTALL)
    pieces: list[Expression] = []
    for code, text in re.findall(r"%(.)|([^%]+)", form, re.DOTALL):
        if code and code not in CODES:
            raise UnsupportedQuery(f"{name} does not know %{code}; use {', '.join('%' + known for known in CODES)}.")
        if code in tuple("HMSf") and moment.type == DATE:
            raise UnsupportedQuery(f"{name} asks for the time of a date, which has none; leave %{code} out.")
        pieces.append(CODES[code](moment) if code else Literal(TEXT, text))
    if re.sub(r"%.", "", form, flags=re.DOTALL).endswith("%"):
        raise UnsupportedQuery(f"{name} has a % at the end; write %% for the character.")
    if len(pieces) == 1:
        return pieces[0]
    return NamedCall(TEXT, "||", tuple(pieces) or (Literal(TEXT, ""),))


_READ = {"Y": 4, "m": 2, "d": 2, "H": 2, "M": 2, "S": 2}
"""Codes that STRPTIME knows, with how many digits each has."""


def read(text: Expression, form: str, kind: ColumnType, name: str) -> Expression:
    """STRPTIME(text, form): the digits of each code, put in the order in which a cast reads them."""
    form = re.sub(r"%.", lambda found: SHORT.get(found.group(), found.group()), form, flags=re.DOTALL)
    codes = re.findall(r"%(.?)", form, re.DOTALL)
    if not set("Ymd") <= set(codes) <= set(_READ) or len(set(codes)) < len(codes):
        raise UnsupportedQuery(f"{name} reads %Y, %m and %d, and perhaps %H, %M and %S, each once; write those.")
    places, grammar, at = {"H": _TWO_ZEROS, "M": _TWO_ZEROS, "S": _TWO_ZEROS}, "", 1
    for code, between in re.findall(r"%(.)|([^%]+)", form, re.DOTALL):
        if code:
            digits = (text, Literal(INTEGER, at), Literal(INTEGER, _READ[code]))
            places[code] = NamedCall(TEXT, "SUBSTRING", digits)
        grammar += f"[0-9]{{{_READ[code]}}}" if code else "".join(f"\\{c}" if not c.isalnum() else c for c in between)
        at += _READ[code] if code else len(between)
    pieces: list[str | Expression] = [
        places["Y"],
        "-",
        places["m"],
        "-",
        places["d"],
        " ",
        places["H"],
        ":",
        places["M"],
        ":",
        places["S"],
    ]
    whole = NamedCall(TEXT, "||", tuple(Literal(TEXT, p) if isinstance(p, str) else p for p in pieces))
    fits = NamedCall(BOOLEAN, "REGEXP_MATCHES", (text, Literal(TEXT, f"^{grammar}$"), Literal(BOOLEAN, False)))
    return build.case([(fits, cast(cast(whole, TIMESTAMP), kind))], None)


_TWO_ZEROS: Expression = Literal(TEXT, "00")


def from_words(form: str) -> str:
    """A form of TO_CHAR as one of STRFTIME."""
    rest = _WORD.sub("", re.sub(r'"[^"]*"', "", form))
    if re.search(r"[A-Za-z\"]", rest):
        raise UnsupportedQuery(f"TO_CHAR knows {', '.join(WORDS)} and text in double quotes; write those.")
    pieces = re.split(r'("[^"]*")', form)
    return "".join(
        piece[1:-1].replace("%", "%%")
        if piece.startswith('"')
        else _WORD.sub(lambda found: WORDS[found.group().upper()], piece.replace("%", "%%"))
        for piece in pieces
    )


def as_text(moment: Expression) -> Expression:
    """CAST(moment AS VARCHAR): of a time without zeros at the end of its fraction."""
    if moment.type == DATE:
        return formatted(moment, "%Y-%m-%d", "CAST")
    dotted = NamedCall(TEXT, "||", (Literal(TEXT, "."), _fraction(moment)))
    bare = NamedCall(TEXT, "RTRIM", (NamedCall(TEXT, "RTRIM", (dotted, Literal(TEXT, "0"))), Literal(TEXT, ".")))
    return NamedCall(TEXT, "||", (formatted(moment, "%Y-%m-%d %H:%M:%S", "CAST"), bare))
