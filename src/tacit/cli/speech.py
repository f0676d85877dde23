"""How the command line speaks: answers on stdout, everything else on stderr, and only where somebody reads it.

Lines are broken at the terminal's width and left whole for programs. Notices and progress disappear with --quiet;
progress is shown only on terminals and only for what takes longer than a second. Colours are for terminals without
NO_COLOR.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from pathlib import Path
from threading import Lock, Timer
from typing import TYPE_CHECKING, Any

import typer

from tacit.errors import InvalidInput
from tacit.numbers.exact import exact

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PATIENCE = 1.0
"""Seconds before progress is shown."""
NARROWEST = 24
LISTED = 60
"""From this width on a list has one line for each item, whatever has to be cut off."""
BELOW = "    "
"""Before columns that stand below others."""
_GAP = re.compile(r" {2,}")


QUIET: ContextVar[bool] = ContextVar("QUIET", default=False)
"""Whether --quiet was given."""


def notice(text: str) -> None:
    """A remark for people."""
    if not QUIET.get():
        say_error(text)


def say(text: str, hanging: int = 0) -> None:
    """A result for people, in lines that fit the terminal; whole lines where a program reads.

    Args:
        text: what is said.
        hanging: how far the rest of a line that is broken stands to the right.
    """
    print(fit_lines(text, hanging=hanging) if sys.stdout.isatty() else text)


def say_error(sentence: str) -> None:
    """What went wrong, in lines that fit the terminal; one line where a program reads."""
    text = f"tacit: {sentence}"
    print(fit_lines(text) if sys.stderr.isatty() else text, file=sys.stderr)


def say_line(text: str) -> None:
    """One line of a list, cut at the terminal's width unless that is narrow; whole where a program reads."""
    room = width()
    if room < LISTED:
        say(text)
        return
    print(f"{text[: room - 1]}…" if sys.stdout.isatty() and len(text) > room else text)


def say_json(found: Any) -> None:
    """A result for programs."""
    print(json.dumps(found, indent=2, ensure_ascii=False))


def width() -> int:
    """The columns of the terminal, or 80."""
    return max(NARROWEST, shutil.get_terminal_size().columns)


def fit_lines(text: str, columns: int | None = None, indent: str = "", hanging: int = 0) -> str:
    """The text with every line broken at spaces, what was indented staying so; those of a table between columns."""
    room, lines = columns or width(), list[str]()
    for line in text.splitlines():
        margin = indent + line[: len(line) - len(line.lstrip())]
        for part in [line.strip()] if hanging else _columns(line.strip(), room - len(margin)):
            start = margin + part[: len(part) - len(part.lstrip())]
            lines += textwrap.wrap(
                part.strip(),
                room,
                initial_indent=start,
                subsequent_indent=start + " " * hanging,
                break_long_words=False,
                break_on_hyphens=False,
            ) or [""]
    return "\n".join(lines)


def _columns(line: str, room: int) -> list[str]:
    """A line, or where it is too wide for the room and has columns, those that fit and below them the others."""
    gaps = [found.span() for found in _GAP.finditer(line)] if len(line) > room else []
    fitting = [(start, end) for start, end in gaps if start <= room]
    if not fitting:
        return [line]
    start, end = fitting[-1]
    return [line[:start], *(BELOW + part.strip() for part in _columns(line[end:], room - len(BELOW)))]


@contextmanager
def working(words: str) -> Iterator[None]:
    """Show that something is being done, once it has taken a second and where somebody watches."""
    if QUIET.get() or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    status = Console(stderr=True).status(words)
    lock, over = Lock(), False

    def begin() -> None:
        with lock:
            if not over:
                status.start()

    timer = Timer(PATIENCE, begin)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        with lock:
            over = True
            status.stop()


def picture_file(path: Path, needed: bool = True) -> None:
    """Refuse a name under which no picture can be written, before the work; and any picture where none can be drawn.

    Args:
        path: where the picture is to go.
        needed: whether the command stops where matplotlib is missing.
    """
    if path.suffix.lower() not in (".png", ".svg", ".pdf") or not path.absolute().parent.is_dir():
        raise InvalidInput("a picture must be a .png, .svg or .pdf file in a directory that exists.")
    if needed:
        from tacit.plots import check_installed

        check_installed()


def save(figure: Figure, path: Path) -> None:
    """Write a picture and say where."""
    figure.savefig(path)
    notice(f"wrote {path}.")


def number(option: typer.CallbackParam, text: str | None) -> str | None:
    """What stands after an option that takes a number: nothing else, but for a share in percent."""
    if text is not None and _exact(text.rstrip("% ") if option.name == "error" else text) is None:
        raise InvalidInput(f"{max(option.opts, key=len)} takes a number such as 0.5; nothing was asked or spent.")
    return text


def _exact(text: str) -> Fraction | None:
    try:
        return exact(text.strip(), "")
    except InvalidInput:
        return None


Json = typer.Option("--json", help="Machine-readable output.")
