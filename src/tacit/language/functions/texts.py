"""Functions of texts: of code points, compared byte by byte, never longer than `LONGEST_TEXT` when made here."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.language import build
from tacit.language.casts import cast
from tacit.language.expressions import Expression, Literal, NamedCall
from tacit.language.functions.function import PAIR, Checking, Function, constant, one, typed_as
from tacit.language.patterns import LONGEST, pattern
from tacit.language.types import BOOLEAN, INTEGER, TEXT, ColumnType

LONGEST_TEXT = 100_000
"""The most characters of a text that a function makes; one that would be longer is NULL."""

_LONG = f"NULL if it would have more than {LONGEST_TEXT:,} characters."


def as_texts(values: Sequence[Expression], name: str) -> list[Expression]:
    """Values as texts; whatever is none is cast."""
    return [Literal(TEXT, None) if build.untyped(value) else cast(value, TEXT) for value in values]


def concatenation(values: Sequence[Expression]) -> Expression:
    """Texts one after another; NULL where one is."""
    return NamedCall(TEXT, "||", tuple(as_texts(values, "||")))


def _concat(kind: ColumnType, values: tuple[Expression, ...]) -> Expression:
    from tacit.language.functions.choices import COALESCE

    empty = Literal(TEXT, "")
    present = [
        value if isinstance(value, Literal) and value.value is not None else COALESCE(value, empty) for value in values
    ]
    return NamedCall(TEXT, "||", tuple(present))


def _and_separator(values: Sequence[Expression], name: str) -> list[Expression]:
    constant(one(values[0], TEXT, name), name, "the separator")
    return as_texts(values, name)


def _separated(kind: ColumnType, values: tuple[Expression, ...]) -> Expression:
    """A separator before each, and the first one cut off."""
    separator, *rest = values
    pieces = _concat(kind, tuple(NamedCall(TEXT, "||", (separator, value)) for value in rest))
    start = Literal(INTEGER, len(str(constant(separator, "CONCAT_WS", "the separator"))) + 1)
    return NamedCall(TEXT, "SUBSTRING", (pieces, start))


def _trim(name: str) -> Function:
    side = {"TRIM": "both ends", "LTRIM": "the start", "RTRIM": "the end"}[name]
    return Function(
        name,
        "",
        _and_constant(1, "the characters to trim", Literal(TEXT, " ")),
        PAIR,
        takes=(1, 2),
        result=TEXT,
        also=("BTRIM",) if name == "TRIM" else (),
        written=f"{name}(s), {name}(s, characters)",
        meaning=f"s without spaces, or the given characters, at {side}. Other white space stays.",
        examples=((f"{name}(' a ')", {"TRIM": "a", "LTRIM": "a ", "RTRIM": " a"}[name]),),
    )


def _and_constant(place: int, what: str, default: Literal | None = None, *others: ColumnType) -> Checking:
    """A text, and in some place a constant text that is not empty; the other arguments have other types."""

    def check(arguments: Sequence[Expression], name: str) -> list[Expression]:
        given = list(arguments)
        if len(given) <= place and default is not None:
            given.append(default)
        if not constant(one(given[place], TEXT, name), name, what):
            raise InvalidInput(f"{name} needs {what}, not an empty text.")
        kinds = [TEXT, *others]
        kinds.insert(place, TEXT)
        return [one(argument, kind, name) for argument, kind in zip(given, kinds, strict=False)]

    return check


def matches(text: Expression, written: Expression, any_case: bool, whole: bool = False) -> Expression:
    """Whether a constant pattern is found in a text."""
    if not (isinstance(written, Literal) and isinstance(written.value, str)):
        raise UnsupportedQuery("REGEXP_MATCHES is supported with a constant pattern; write it out.")
    shown = f"^(?:{written.value})$" if whole else written.value
    pattern(written.value, any_case), pattern(shown, any_case)
    operands = (one(text, TEXT, "REGEXP_MATCHES"), Literal(TEXT, shown), Literal(BOOLEAN, any_case))
    return NamedCall(BOOLEAN, "REGEXP_MATCHES", operands)


def _matches(whole: bool) -> Function:
    def make(kind: ColumnType, values: tuple[Expression, ...]) -> Expression:
        flags = constant(values[2], "REGEXP_MATCHES", "its flags") if len(values) > 2 else ""
        if flags not in ("", "i", "c"):
            raise UnsupportedQuery("REGEXP_MATCHES knows the flags 'i' (any case) and 'c'; leave others out.")
        return matches(values[0], values[1], flags == "i", whole)

    name = "REGEXP_FULL_MATCH" if whole else "REGEXP_MATCHES"
    return Function(
        name,
        "RegexpFullMatch" if whole else "RegexpLike",
        lambda values, name: values,
        ("this", "expression", "options" if whole else "flag"),
        takes=(2, 3),
        make=make,
        also=() if whole else ("REGEXP_CONTAINS",),
        written=f"{name}(s, pattern)"
        if whole
        else "REGEXP_MATCHES(s, pattern), REGEXP_LIKE(…), REGEXP_CONTAINS(…), s ~ pattern",
        meaning="Whether the whole of s fits the pattern."
        if whole
        else "Whether a constant pattern is found anywhere in s; with a third argument 'i' in any case. Patterns have "
        "characters, . and classes such as [a-z] and [^0-9], \\d \\w \\s for ASCII, groups, |, ?, {m,n}, * and + after "
        "one character, "
        f"^ and $ for the ends of the text. NULL where s has more than {LONGEST:,} characters.",
        examples=((f"{name}('b12', '[0-9]+')", not whole),),
    )


def contains(kind: ColumnType, values: tuple[Expression, ...]) -> Expression:
    """Whether a text occurs in another."""
    return build.comparison(">", NamedCall(INTEGER, "POSITION", values), Literal(INTEGER, 0))


def _text_pair(name: str, node: str, meaning: str, example: tuple[str, object], **more: object) -> Function:
    """A truth about two texts."""
    return Function(
        name,
        node,
        typed_as(TEXT, TEXT),
        PAIR,
        takes=(2, 2),
        result=BOOLEAN,
        written=f"{name}(s, t)",
        meaning=meaning,
        examples=(example,),
        **more,  # type: ignore[arg-type]
    )


def _padding(name: str) -> Function:
    return Function(
        name,
        "",
        _and_constant(2, "what to fill with", Literal(TEXT, " "), INTEGER),
        takes=(2, 3),
        result=TEXT,
        written=f"{name}(s, n), {name}(s, n, fill)",
        meaning=f"s filled at its {'start' if name == 'LPAD' else 'end'} with spaces, or a constant, to n characters; "
        f"a longer s is cut to its first n. NULL where n is below 0 or above {LONGEST_TEXT:,}.",
        examples=((f"{name}('7', 3, '0')", "007" if name == "LPAD" else "700"), (f"{name}('abc', 2)", "ab")),
    )


LOWER = Function(
    "LOWER",
    "Lower",
    typed_as(TEXT),
    result=TEXT,
    written="LOWER(s)",
    meaning="s in lower case: each character by itself, by the table of Unicode 3.2, whatever the locale.",
    examples=(("LOWER('ÉCOLE')", "école"),),
)
UPPER = Function(
    "UPPER",
    "Upper",
    typed_as(TEXT),
    result=TEXT,
    written="UPPER(s)",
    meaning="s in upper case, as LOWER; ß has no upper case of one character and stays.",
    examples=(("UPPER('straße')", "STRAßE"),),
)
LENGTH = Function(
    "LENGTH",
    "Length",
    typed_as(TEXT),
    result=INTEGER,
    written="LENGTH(s), LEN(s), CHAR_LENGTH(s)",
    meaning="The number of code points.",
    examples=(("LENGTH('naïve 😀')", 7),),
)
SUBSTRING = Function(
    "SUBSTRING",
    "Substring",
    typed_as(TEXT, INTEGER, INTEGER),
    ("this", "start", "length"),
    takes=(2, 3),
    result=TEXT,
    written="SUBSTRING(s, start), SUBSTRING(s, start, n), SUBSTR(…), SUBSTRING(s FROM start FOR n)",
    meaning="n characters, or all, from the start-th on, counted from 1. NULL where start is below 1 or n below 0: "
    "write RIGHT(s, n) for the end.",
    examples=(("SUBSTRING('abcde', 2, 3)", "bcd"), ("SUBSTRING('abc', 0)", None)),
)
LEFT = Function(
    "LEFT",
    "Left",
    typed_as(TEXT, INTEGER),
    PAIR,
    takes=(2, 2),
    result=TEXT,
    written="LEFT(s, n)",
    meaning="The first n characters; NULL where n is below 0.",
    examples=(("LEFT('abc', 2)", "ab"),),
)
RIGHT = Function(
    "RIGHT",
    "Right",
    typed_as(TEXT, INTEGER),
    PAIR,
    takes=(2, 2),
    result=TEXT,
    written="RIGHT(s, n)",
    meaning="The last n characters; NULL where n is below 0.",
    examples=(("RIGHT('abc', 2)", "bc"),),
)
TRIM, LTRIM, RTRIM = _trim("TRIM"), _trim("LTRIM"), _trim("RTRIM")
CONCAT = Function(
    "CONCAT",
    "Concat",
    as_texts,
    ("expressions",),
    ignored=("safe", "coalesce"),
    make=_concat,
    written="CONCAT(x, y, …)",
    meaning=f"The arguments as one text, NULL as nothing; x || y is NULL where one is. {_LONG}",
    examples=(("CONCAT('a', NULL, 1)", "a1"), ("'a' || 1.50", "a1.5")),
)
CONCAT_WS = Function(
    "CONCAT_WS",
    "ConcatWs",
    _and_separator,
    ("expressions",),
    ignored=("safe", "coalesce"),
    make=_separated,
    takes=(2, 1000),
    written="CONCAT_WS(separator, x, y, …)",
    meaning=f"The arguments that are not NULL as one text, with a constant separator between them. {_LONG}",
    examples=(("CONCAT_WS('-', 'a', NULL, 1)", "a-1"),),
)
REPLACE = Function(
    "REPLACE",
    "Replace",
    typed_as(TEXT, TEXT, TEXT),
    ("this", "expression", "replacement"),
    takes=(3, 3),
    result=TEXT,
    written="REPLACE(s, t, u)",
    meaning=f"s with u in place of every t, from the left; s itself where t is empty. {_LONG}",
    examples=(("REPLACE('aaa', 'aa', 'b')", "ba"),),
)
REPEAT = Function(
    "REPEAT",
    "Repeat",
    typed_as(TEXT, INTEGER),
    ("this", "times"),
    takes=(2, 2),
    result=TEXT,
    written="REPEAT(s, n)",
    meaning=f"s n times; NULL where n is below 0. {_LONG}",
    examples=(("REPEAT('ab', 2)", "abab"),),
)
LPAD, RPAD = _padding("LPAD"), _padding("RPAD")
SPLIT_PART = Function(
    "SPLIT_PART",
    "SplitPart",
    _and_constant(1, "what to split at", None, INTEGER),
    ("this", "delimiter", "part_index"),
    takes=(3, 3),
    result=TEXT,
    written="SPLIT_PART(s, t, n)",
    meaning="The n-th of the parts between the constants t in s; empty where there are fewer, NULL where n is below 1.",
    examples=(("SPLIT_PART('a-b-c', '-', 2)", "b"), ("SPLIT_PART('a', '-', 2)", "")),
)
POSITION = Function(
    "POSITION",
    "StrPosition",
    typed_as(TEXT, TEXT),
    ("this", "substr"),
    takes=(2, 2),
    result=INTEGER,
    written="POSITION(t IN s), STRPOS(s, t), INSTR(s, t)",
    meaning="Where t begins in s for the first time, counted from 1; 0 where it does not occur.",
    examples=(("POSITION('b' IN 'abc')", 2), ("STRPOS('abc', 'x')", 0)),
)
CONTAINS = _text_pair("CONTAINS", "Contains", "Whether t occurs in s.", ("CONTAINS('abc', 'bc')", True), make=contains)
STARTS_WITH = _text_pair(
    "STARTS_WITH", "StartsWith", "Whether s begins with t.", ("STARTS_WITH('abc', 'ab')", True), also=("PREFIX",)
)
ENDS_WITH = _text_pair(
    "ENDS_WITH", "EndsWith", "Whether s ends in t.", ("ENDS_WITH('abc', 'ab')", False), also=("SUFFIX",)
)
REGEXP_MATCHES, REGEXP_FULL_MATCH = _matches(False), _matches(True)

TEXTS = (
    LOWER, UPPER, LENGTH, SUBSTRING, LEFT, RIGHT, TRIM, LTRIM, RTRIM, CONCAT, CONCAT_WS, REPLACE, REPEAT, LPAD, RPAD,
    SPLIT_PART, POSITION, CONTAINS, STARTS_WITH, ENDS_WITH, REGEXP_MATCHES, REGEXP_FULL_MATCH,
)  # fmt: skip
