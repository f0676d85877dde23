"""The head of a ledger's file, kept beside it, so that an old copy that is put back is noticed.

The file ``ledger.db.head`` holds the ledger's identity, the number of its last entry and that entry's hash in one line.
PROMISE. A ledger is opened only if it still holds the entry that its head names: a copy from before it, another
ledger's file, or one whose log was taken away is refused. A process that dies at any moment makes no false alarm.
PROOF. The head is written after the entry is on the disk and never before, so the ledger is never behind its head: the
head names an entry that was committed, and entries are only ever added. Of two processes that write at the same time
the larger number stays, by a lock on the file; should the head be behind for a moment, less is noticed, nothing wrong.
The line has a fixed length and lies in one sector, so it is never half written. The ledger itself remembers that it
has a head, so one that was taken away with the rest is missed. Opening a ledger for writing brings a head up to date
that a process left behind when it died, never down.

Whoever may write the ledger must be able to write its head: it has the ledger's own rights and group, as far as the
process that writes it may give them, and a ledger whose head may not be written is refused when it is opened. Where
that changes while a process runs, charges are recorded all the same and a warning says that the head is behind.

Whoever may write both files can forge both: against that, note the last hash elsewhere (`verify`).
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover - no such locks on this system; then only one process should write
    fcntl = None  # type: ignore[assignment]

LENGTH = 160
"""Bytes of the line, with spaces at its end."""


@dataclass(frozen=True)
class Head:
    """The last entry of a ledger, over all of its datasets."""

    identity: str
    number: int
    hash: str


class HeadFile:
    """The file beside a ledger's file."""

    def __init__(self, ledger: Path) -> None:
        self._ledger, self.path = ledger, ledger.with_name(f"{ledger.name}.head")

    def read(self, *, writable: bool = False) -> Head | None:
        """What the file says; None if there is none that can be read.

        An OSError if it is there, must be ``writable`` and is not.
        """
        try:
            with self._open(os.O_RDWR if writable else os.O_RDONLY, shared=True) as file:
                return _head(os.pread(file, LENGTH, 0))
        except OSError as error:
            if writable and error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
                raise
            return None

    def write(self, head: Head, *, anyway: bool = False) -> None:
        """Write down a committed entry, unless a later one is there; ``anyway`` replaces what is there."""
        with self._open(os.O_RDWR | os.O_CREAT, shared=False) as file:
            self._share(file)
            known = _head(os.pread(file, LENGTH, 0))
            if anyway or known is None or known.number < head.number:
                line = f"{head.identity} {head.number} {head.hash}".ljust(LENGTH - 1) + "\n"
                os.pwrite(file, line.encode(), 0)
                if anyway or known is None:  # a new file must not be empty after a crash; later ones only change it
                    os.fsync(file)

    def _share(self, file: int) -> None:
        """Give the head the ledger's own rights and group, where this process may."""
        with suppress(OSError, AttributeError):  # another member of the group made it, or the system has no such rights
            ledger, head = self._ledger.stat(), os.fstat(file)
            if ledger.st_gid != head.st_gid:
                os.fchown(file, -1, ledger.st_gid)
            if (ledger.st_mode ^ head.st_mode) & 0o666:
                os.fchmod(file, ledger.st_mode & 0o666)

    @contextmanager
    def _open(self, flags: int, *, shared: bool) -> Iterator[int]:
        file = os.open(self.path, flags | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
            yield file
        finally:
            os.close(file)


def _head(line: bytes) -> Head | None:
    with suppress(ValueError, UnicodeDecodeError):
        identity, number, digest = line.decode("ascii").split()
        return Head(identity, int(number), digest)
    return None
