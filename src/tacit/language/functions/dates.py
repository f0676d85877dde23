"""Functions of dates and times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime
from fractions import Fraction

from tacit.errors import UnsupportedQuery
from tacit.language.casts import cast
from tacit.language.expressions import Expression, Literal
from tacit.language.functions import formats, parts
from tacit.language.functions.function import Function, constant, one, timelike, typed_as
from tacit.language.types import DATE, INTEGER, TEXT, TIMESTAMP, ColumnType

Made = tuple[Expression, ...]


def _moments(arguments: Sequence[Expression], name: str) -> list[Expression]:
    return [timelike(argument, name) for argument in arguments]


def _with_text(place: int) -> Callable[[Sequence[Expression], str], list[Expression]]:
    """Dates and times, and in one place a constant text."""

    def check(arguments: Sequence[Expression], name: str) -> list[Expression]:
        if place < len(arguments):
            constant(arguments[place], name, "a text")
        return [a if i == place else timelike(a, name) for i, a in enumerate(arguments)]

    return check


def _text_and_format(arguments: Sequence[Expression], name: str) -> list[Expression]:
    constant(arguments[1], name, "a format")
    return [one(arguments[0], TEXT, name), arguments[1]]


def _text(value: Expression) -> str:
    return str(constant(value, "the function", "a text"))


def _part(name: str, node: str, part: str, meaning: str, value: int, also: tuple[str, ...] = ()) -> Function:
    """A part of a date or time under a name of its own."""
    return Function(
        name,
        node,
        _moments,
        make=lambda kind, values: parts.part_of(part, values[0]),
        takes=(1, 1),
        also=also,
        written=f"{name}(x)",
        meaning=meaning,
        examples=((f"{name}(TIMESTAMP '2024-12-30 13:45:59.5')", value),),
    )


def _last_day(kind: ColumnType, values: Made) -> Expression:
    """A month's end that many months after the first: it is cut to the month's length."""
    months = parts.distance("month", Literal(DATE, date(1, 1, 1)), values[0])
    return parts.step(Literal(DATE, date(1, 1, 31)), "month", months)


def _distance(
    function: Callable[[str, Expression, Expression], Expression],
) -> Callable[[ColumnType, Made], Expression]:
    return lambda kind, values: function(_text(values[0]), values[1], values[2])


def _age(kind: ColumnType, values: Made) -> Expression:
    raise UnsupportedQuery(
        "AGE is an interval, which Tacit does not have; write DATE_SUB('year', birth, day) for whole years."
    )


PARTS = (
    _part("YEAR", "Year", "year", "The year, as EXTRACT(YEAR FROM x).", 2024),
    _part("QUARTER", "Quarter", "quarter", "The quarter, 1 to 4.", 4),
    _part("MONTH", "Month", "month", "The month, 1 to 12.", 12),
    _part("WEEK", "Week", "week", "The ISO week, 1 to 53.", 1),
    _part("WEEKOFYEAR", "WeekOfYear", "week", "The ISO week, 1 to 53.", 1),
    _part("DAY", "Day", "day", "The day of the month.", 30),
    _part("DAYOFMONTH", "DayOfMonth", "day", "The day of the month.", 30),
    _part("DAYOFYEAR", "DayOfYear", "doy", "The day of the year.", 365),
    _part("ISODOW", "DayOfWeekIso", "isodow", "The weekday, Monday 1 to Sunday 7.", 1),
    _part("ISOYEAR", "", "isoyear", "The year of the ISO week.", 2025, ("ISOYEAR",)),
    _part("HOUR", "Hour", "hour", "The hour, 0 to 23, of a timestamp.", 13),
    _part("MINUTE", "Minute", "minute", "The minute, 0 to 59, of a timestamp.", 45),
    _part("SECOND", "Second", "second", "The second, 0 to 59, without its fraction.", 59),
)
EPOCH = Function(
    "EPOCH",
    "TimeToUnix",
    _moments,
    make=lambda kind, values: parts.part_of("epoch", values[0]),
    takes=(1, 1),
    written="EPOCH(x)",
    meaning="Seconds since 1970-01-01 00:00:00, as EXTRACT(EPOCH FROM x): of a timestamp a decimal with six digits.",
    examples=(("EPOCH(TIMESTAMP '1970-01-01 00:00:01.5')", Fraction("1.5")),),
)
DATE_PART = Function(
    "DATE_PART",
    "",
    _with_text(0),
    make=lambda kind, values: parts.part_of(_text(values[0]), values[1]),
    takes=(2, 2),
    also=("DATE_PART", "DATEPART"),
    written="DATE_PART('part', x)",
    meaning="EXTRACT(part FROM x).",
    examples=(("DATE_PART('decade', DATE '1999-12-31')", 199),),
)
DATE_DIFF = Function(
    "DATE_DIFF",
    "",
    _with_text(0),
    make=_distance(parts.distance),
    takes=(3, 3),
    written="DATE_DIFF('unit', start, end), DATEDIFF(…), DATE_DIFF(end, start, UNIT), TIMESTAMP_DIFF(end, start, UNIT)",
    meaning="How many starts of the unit are passed from start to end. A week starts on Monday.",
    examples=(("DATE_DIFF('year', DATE '2019-12-31', DATE '2020-01-01')", 1),),
)
DATE_SUB = Function(
    "DATE_SUB",
    "",
    _with_text(0),
    make=_distance(parts.whole_units),
    takes=(3, 3),
    also=("DATE_SUB", "DATESUB"),
    written="DATE_SUB('unit', start, end)",
    meaning="How many whole units lie between start and end, as for an age; EXTRACT(YEAR FROM AGE(end, start)) is "
    "DATE_SUB('year', start, end). A month from January 31 is full at the end of February.",
    examples=(("DATE_SUB('year', DATE '2000-06-15', DATE '2020-06-14')", 19),),
)
DAYOFWEEK = Function(
    "DAYOFWEEK",
    "DayOfWeek",
    _moments,
    make=lambda kind, values: parts.part_of("dayofweek", values[0]),
    written="DAYOFWEEK(x)",
    meaning="Refused, for engines count from 0 or from 1: write ISODOW(x), or EXTRACT(DOW FROM x) with Sunday 0.",
)
AGE = Function(
    "AGE",
    "",
    _moments,
    make=_age,
    takes=(1, 2),
    also=("AGE",),
    written="AGE(x, y)",
    meaning="Refused, for it is an interval: write DATE_SUB with the unit you want.",
)
LAST_DAY = Function(
    "LAST_DAY",
    "LastDay",
    _moments,
    make=_last_day,
    takes=(1, 1),
    written="LAST_DAY(x)",
    meaning="The last day of the month.",
    examples=(("LAST_DAY(DATE '2024-02-10')", date(2024, 2, 29)),),
)
MONTHNAME = Function(
    "MONTHNAME",
    "Monthname",
    _moments,
    make=lambda kind, values: formats.name_of(values[0], "month", formats.MONTHS),
    takes=(1, 1),
    written="MONTHNAME(x)",
    meaning="The month's name, in English.",
    examples=(("MONTHNAME(DATE '2024-02-10')", "February"),),
)
DAYNAME = Function(
    "DAYNAME",
    "Dayname",
    _moments,
    make=lambda kind, values: formats.name_of(values[0], "dow", formats.DAYS),
    takes=(1, 1),
    written="DAYNAME(x)",
    meaning="The weekday's name, in English.",
    examples=(("DAYNAME(DATE '2024-02-10')", "Saturday"),),
)
MAKE_DATE = Function(
    "MAKE_DATE",
    "DateFromParts",
    typed_as(INTEGER, INTEGER, INTEGER),
    ("year", "month", "day"),
    takes=(3, 3),
    result=DATE,
    written="MAKE_DATE(year, month, day)",
    meaning="The date; NULL where there is none.",
    examples=(("MAKE_DATE(2024, 2, 29)", date(2024, 2, 29)), ("MAKE_DATE(2023, 2, 29)", None)),
)
DATE_OF = Function(
    "DATE",
    "Date",
    lambda values, name: values,
    make=lambda kind, values: cast(values[0], DATE),
    takes=(1, 1),
    written="DATE(x)",
    meaning="CAST(x AS DATE).",
    examples=(("DATE(TIMESTAMP '2024-02-10 23:59:00')", date(2024, 2, 10)),),
)
STRFTIME = Function(
    "STRFTIME",
    "TimeToStr",
    _with_text(1),
    ("this", "format"),
    make=lambda kind, values: formats.formatted(values[0], _text(values[1]), "STRFTIME"),
    takes=(2, 2),
    result=TEXT,
    written="STRFTIME(x, format)",
    meaning="x as text, by a constant format with "
    + " ".join(f"%{code}" for code in formats.CODES)
    + " %F %T %R; names are in English.",
    examples=(("STRFTIME(DATE '2024-02-10', '%d %b %Y')", "10 Feb 2024"),),
)
TO_CHAR = Function(
    "TO_CHAR",
    "ToChar",
    _with_text(1),
    ("this", "format"),
    make=lambda kind, values: formats.formatted(values[0], formats.from_words(_text(values[1])), "TO_CHAR"),
    takes=(2, 2),
    result=TEXT,
    written="TO_CHAR(x, format)",
    meaning="x as text, by a constant format with " + " ".join(formats.WORDS) + ".",
    examples=(("TO_CHAR(DATE '2024-02-10', 'YYYY-MM')", "2024-02"),),
)
STRPTIME = Function(
    "STRPTIME",
    "StrToTime",
    _text_and_format,
    ("this", "format"),
    make=lambda kind, values: formats.read(values[0], _text(values[1]), TIMESTAMP, "STRPTIME"),
    takes=(2, 2),
    also=("TRY_STRPTIME",),
    written="STRPTIME(s, format), TRY_STRPTIME(s, format)",
    meaning="The timestamp that s writes, by a constant format with %Y %m %d %H %M %S, each with all its digits; NULL "
    "where s is none.",
    examples=(("STRPTIME('29/02/2024', '%d/%m/%Y')", datetime(2024, 2, 29)), ("STRPTIME('29/2/24', '%d/%m/%Y')", None)),
)
TO_DATE = Function(
    "TO_DATE",
    "",
    _text_and_format,
    make=lambda kind, values: formats.read(values[0], formats.from_words(_text(values[1])), DATE, "TO_DATE"),
    takes=(2, 2),
    written="TO_DATE(s, format)",
    meaning="The date that s writes, by a constant format with YYYY, MM and DD; NULL where s is none.",
    examples=(("TO_DATE('29.02.2024', 'DD.MM.YYYY')", date(2024, 2, 29)),),
)
FORMAT_DATE = Function(
    "FORMAT_DATE",
    "",
    _with_text(0),
    make=lambda kind, values: formats.formatted(values[1], _text(values[0]), "FORMAT_DATE"),
    takes=(2, 2),
    result=TEXT,
    also=("FORMAT_DATE", "FORMAT_TIMESTAMP"),
    written="FORMAT_DATE(format, x)",
    meaning="STRFTIME(x, format).",
    examples=(("FORMAT_DATE('%Y', DATE '2024-02-10')", "2024"),),
)

DATES = (
    *PARTS, EPOCH, DATE_PART, DATE_DIFF, DATE_SUB, DAYOFWEEK, AGE, LAST_DAY, MONTHNAME, DAYNAME, MAKE_DATE, DATE_OF,
    STRFTIME, TO_CHAR, FORMAT_DATE, STRPTIME, TO_DATE,
)  # fmt: skip
