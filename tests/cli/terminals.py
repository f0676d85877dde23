"""What a command writes where it believes that somebody watches."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

PATIENCE = 120.0
"""Seconds after which a command that has not ended is ended, and the test fails."""


def watched(
    command: Sequence[str], *, columns: int = 80, cwd: Path | None = None, environment: Mapping[str, str] | None = None
) -> tuple[int, str, str]:
    """The code with which a command ends and what it writes to two terminals, its stdout and its stderr.

    Both are read as they fill: a command that writes much to one of them must not wait for the other to be read.
    """
    ends = [pty.openpty(), pty.openpty()]
    for _, inside in ends:
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=ends[0][1], stderr=ends[1][1]
    )
    for _, inside in ends:
        os.close(inside)
    try:
        texts = _read([outside for outside, _ in ends])
        return process.wait(PATIENCE), *texts
    finally:
        process.kill()
        process.wait(PATIENCE)
        for outside, _ in ends:
            os.close(outside)


def _read(terminals: list[int]) -> tuple[str, str]:
    """All that is written to two terminals until both are closed on the other side."""
    parts: dict[int, bytes] = dict.fromkeys(terminals, b"")
    open_, end = set(terminals), time.monotonic() + PATIENCE
    while open_:
        ready, _, _ = select.select(sorted(open_), [], [], max(0.0, end - time.monotonic()))
        assert ready, "the command did not end in time"
        for terminal in ready:
            try:
                part = os.read(terminal, 65536)
            except OSError:  # so a terminal ends
                part = b""
            parts[terminal] += part
            if not part:
                open_.discard(terminal)
    out, err = (part.decode().replace("\r\n", "\n") for part in parts.values())
    return out, err
