"""Text files read the plain way: one line after the other, one character after the other."""

import json
from collections import Counter

from hypothesis import strategies as st

from tacit.engines.duckdb.text_files.csv import Dialect


def lines(data: bytes, encoding: str, limit: int) -> list[str | None]:
    """The lines of a file; None for one that cannot be read."""
    step = 2 if encoding.startswith("utf-16") else 1
    newline, cr = "\n".encode(encoding), "\r".encode(encoding)
    units = [data[i : i + step] for i in range(0, len(data), step)]
    found, line = [], b""
    for unit in units:
        if unit == newline:
            found.append(line)
            line = b""
        else:
            line += unit
    if line:
        found.append(line)
    texts: list[str | None] = []
    for raw in found:
        if raw.endswith(cr) and len(raw) % step == 0:
            raw = raw[:-step]
        try:
            text = raw.decode(encoding)
            texts.append(text if len(text.encode()) <= limit else None)
        except UnicodeError:
            texts.append(None)
    return texts


def fields(line: str, dialect: Dialect) -> tuple[str, ...] | None:
    """A line's fields by a machine of four states."""
    state, part, found = "start", "", []
    i = 0
    while i < len(line):
        c = line[i]
        if state == "start" and dialect.quote and c == dialect.quote:
            state = "quoted"
        elif state in ("start", "bare", "closed") and c == dialect.delimiter:
            found.append(part)
            part, state = "", "start"
        elif state == "closed":
            return None
        elif (
            state == "quoted" and c == dialect.escape and line[i + 1 : i + 2] in {dialect.quote, dialect.escape} - {""}
        ):
            part += line[i + 1]
            i += 1
        elif state == "quoted" and c == dialect.quote:
            state = "closed"
        else:
            part += c
            state = "bare" if state == "start" else state
        i += 1
    return None if state == "quoted" else (*found, part)


def csv_records(data: bytes, encoding: str, limit: int, dialect: Dialect, width: int) -> Counter[tuple[str, ...]]:
    """The records of a file, and how often each occurs."""
    found = (fields(line, dialect) for line in lines(data, encoding, limit) if line)
    return Counter(record for record in found if record is not None and len(record) == width)


def json_object(line: str) -> dict[str, object] | None:
    """A line's object with numbers as their text, the first of several values of a key; None for anything else."""

    def first(pairs: list[tuple[str, object]]) -> dict[str, object]:
        json.dumps(pairs, ensure_ascii=False).encode()  # lone surrogates fail here
        return dict(reversed(pairs))

    class Number(str):
        pass

    try:
        found = json.loads(line.strip(" \t\r"), object_pairs_hook=first, parse_int=Number, parse_float=Number)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


NASTY = st.lists(
    st.one_of(
        st.sampled_from(
            [",", '"', '""', ",", '"', "\\", "'", "a", "é", "b", " ", ";", "#", "\t", "\0", "1", "\r", "\u2028", "\x85"]
        ),
        st.sampled_from(["😀", "\ufeff", '","', '"a"', '\\"']),
    ),
    max_size=8,
).map("".join)
"""A line of text, without a line end."""
BROKEN = st.sampled_from([b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"a\x80,b", b"\xe2\x82"])
"""A line that is not UTF-8."""
ENDS = st.sampled_from([b"\n", b"\n", b"\r\n", b"\n\n", b"\r\r\n"])


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """A file of nasty lines of UTF-8, some of them broken; the last may have no end."""
    drawn = draw(
        st.lists(st.tuples(st.one_of(NASTY.map(str.encode), NASTY.map(str.encode), BROKEN), ENDS), max_size=12)
    )
    data = b"".join(line + end for line, end in drawn)
    return data[:-1] if draw(st.booleans()) else data
