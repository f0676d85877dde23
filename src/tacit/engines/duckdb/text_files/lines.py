"""The lines of a file, each judged by its own bytes.

A file is read in blocks of whole lines, as UTF-8 with LF at their ends. A line that is longer than `LIMIT`, or that its
encoding does not know, is flagged and never read; the next line begins after its line end as if it had been fine.
Encodings are those in which a line end is found without reading from the start: UTF-8, UTF-16 and the one-byte ones.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tacit.errors import InvalidInput

LIMIT = 1 << 20
"""Bytes of the longest line that is read, as UTF-8."""
BLOCK = 1 << 20
"""Bytes that are read at once."""
FIRST = 1 << 16
"""Bytes from which the encoding is detected."""
UNREADABLE = b"\xff"
"""Stands for a line that cannot be read; no line of UTF-8."""

Flags = np.ndarray[Any, np.dtype[np.bool_]]
Numbers = np.ndarray[Any, np.dtype[np.int64]]
Bytes = np.ndarray[Any, np.dtype[np.uint8]]

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_KNOWN = re.compile(
    r"utf-8|utf-16(-[lb]e)?|ascii|iso8859-\d+|tis-620|koi8-[rtu]|cp(125\d|437|720|737|775|85[0-8]|86\d|874|1125)"
    r"|mac-(roman|cyrillic|greek|latin2|turkish)"
)
_COMPRESSED = {".gz": "gzip", ".zst": "zstd"}


@dataclass(frozen=True)
class TextFile:
    """A file, its encoding, and how many bytes at its start only say so."""

    path: str
    encoding: str
    mark: int = 0


@dataclass(frozen=True)
class Block:
    """Some whole lines, each with LF at its end; flags and numbers are one for each line."""

    data: Bytes
    ends: Numbers
    """Where the line ends are."""
    first: int
    bad: Flags
    """Lines that are too long or not of the encoding."""
    empty: Flags
    """Lines that nobody expects to be records: without a byte, or before the first record."""

    @property
    def numbers(self) -> Numbers:
        """The lines' numbers in the file, counted from 1."""
        return np.arange(self.first, self.first + len(self.ends))

    def line(self, index: int) -> bytes:
        """One line, without its end."""
        start = int(self.ends[index - 1]) + 1 if index else 0
        return self.data[start : int(self.ends[index])].tobytes()


def text_file(table: str, path: str, declared: str | None) -> TextFile:
    """A file with its encoding: declared, or told by its first bytes; refused if these are no UTF-8."""
    with _opened(path) as stream:
        first = b""
        while len(first) < FIRST and (more := stream.read(FIRST - len(first))):
            first += more
    mark, marked = next(((len(mark), name) for mark, name in _MARKS if first.startswith(mark)), (0, ""))
    if declared is not None:
        name = _normal(table, declared)
        if name == "utf-16":
            name = marked if marked.startswith("utf-16") else "utf-16-le"
        return TextFile(path, name, mark if marked == name else 0)
    if not marked and (4 * first.count(b"\0") > len(first) or not _utf8(first)):
        raise InvalidInput(
            f"table {table!r}: the first lines of {path!r} are not UTF-8; declare the encoding, such as "
            "encoding='latin-1', or encoding='utf-8' to leave out every line that is not."
        )
    return TextFile(path, marked or "utf-8", mark)


def _normal(table: str, declared: str) -> str:
    try:
        name = codecs.lookup(str(declared)).name
    except LookupError:
        name = ""
    name = "utf-8" if name == "utf-8-sig" else name
    if not _KNOWN.fullmatch(name):
        raise InvalidInput(
            f"table {table!r}: the encoding {str(declared)!r} cannot be read line by line; convert the file to UTF-8."
        )
    return name


def _utf8(data: bytes) -> bool:
    """Whether the first bytes of a file are UTF-8; a character may be cut off where the file goes on."""
    try:
        codecs.utf_8_decode(data, "strict", len(data) < FIRST)
    except UnicodeDecodeError:
        return False
    return True


def _opened(path: str) -> Any:
    """A file's bytes, decompressed if its name says so."""
    packed = next((kind for suffix, kind in _COMPRESSED.items() if path.lower().endswith(suffix)), None)
    arrow: Any = pa
    return closing(arrow.input_stream(path, compression=packed, buffer_size=BLOCK))


def blocks(file: TextFile, skip: int = 0) -> Iterator[Block]:
    """A file's lines; the first ``skip`` are no records."""
    number = 1
    with _opened(file.path) as opened:
        stream: Any = opened
        stream.read(file.mark)
        for piece in _pieces(stream, "\n".encode(file.encoding)):
            data = UNREADABLE + b"\n" if piece is None else _as_utf8(piece, file.encoding)
            if b"\r\n" in data:
                data = data.replace(b"\r\n", b"\n")
            found = _block(data, number, skip)
            yield found
            number += len(found.ends)


def _pieces(stream: Any, newline: bytes) -> Iterator[bytes | None]:
    """Whole lines with their ends, as written; None for one line that is too long or ends inside a character."""
    step, left, skipping = len(newline), b"", False
    while chunk := stream.read(BLOCK):
        data = left + chunk
        if skipping:
            at = _found(data, newline, last=False)
            if at < 0:
                left = data[len(data) - len(data) % step :]
                continue
            yield None
            data, skipping = data[at + step :], False
        cut = _found(data, newline, last=True) + step
        if cut >= step:
            yield data[:cut]
            data = data[cut:]
        left = data
        if len(left) > step * (LIMIT + 1):  # too long as UTF-8 too; a CR may belong to the line end
            left, skipping = left[len(left) - len(left) % step :], True
    if skipping or len(left) % step:
        yield None
    elif left:
        yield left + newline


def _found(data: bytes, newline: bytes, last: bool) -> int:
    """Where the first or last line end begins; -1 if there is none."""
    if len(newline) == 1:
        return data.rfind(newline) if last else data.find(newline)
    units = np.frombuffer(data, np.uint16, len(data) // 2)
    at = np.flatnonzero(units == np.frombuffer(newline, np.uint16)[0])
    return int(at[-1 if last else 0]) * 2 if len(at) else -1


def _as_utf8(piece: bytes, encoding: str) -> bytes:
    """Lines of an encoding as UTF-8; a line that is not of it becomes one that is not UTF-8 either."""
    if encoding == "utf-8":
        return piece
    try:
        return piece.decode(encoding).encode()
    except UnicodeDecodeError:
        if encoding.startswith("utf-16"):
            wide = piece.decode(encoding, "surrogatepass").split("\n")
            return b"\n".join(line.encode() if _whole(line) else UNREADABLE for line in wide)
        return b"\n".join(_line(line, encoding) for line in piece.split(b"\n"))


def _whole(line: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in line)


def _line(line: bytes, encoding: str) -> bytes:
    try:
        return line.decode(encoding).encode()
    except UnicodeDecodeError:
        return UNREADABLE


def _block(data: bytes, first: int, skip: int) -> Block:
    array = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(array == 10)
    sizes = np.diff(ends, prepend=-1) - 1
    bad: Flags = sizes > LIMIT
    _flag(data, ends, bad, 0, len(ends))
    empty: Flags = sizes == 0
    empty[: max(0, skip + 1 - first)] = True
    return Block(array, ends, first, bad, empty)


def _flag(data: bytes, ends: Numbers, bad: Flags, low: int, high: int) -> None:
    """Flag the lines from ``low`` to ``high`` that are not UTF-8, found by halving."""
    if low == high:
        return
    start, end = int(ends[low - 1]) + 1 if low else 0, int(ends[high - 1])
    try:
        codecs.utf_8_decode(memoryview(data)[start:end], "strict", True)
    except UnicodeDecodeError:
        if high - low == 1:
            bad[low] = True
            return
        middle = (low + high) // 2
        _flag(data, ends, bad, low, middle)
        _flag(data, ends, bad, middle, high)
