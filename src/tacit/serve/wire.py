"""How the gateway and its executors speak: a few facts as JSON, and a body that is passed on unread.

Nothing is ever unpickled that an executor sent, and the gateway reads only the facts, which are small: a long answer
costs it no time. The configuration goes the other way, once, as a pickle.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_SIZES = struct.Struct(">II")


@dataclass(frozen=True)
class Parcel:
    """Facts, and perhaps a body."""

    facts: Mapping[str, Any] = field(default_factory=dict)
    body: bytes = b""

    def pack(self) -> bytes:
        """The message as it is sent."""
        facts = json.dumps(self.facts).encode()
        return _SIZES.pack(len(facts), len(self.body)) + facts + self.body


async def read(stream: asyncio.StreamReader) -> Parcel:
    """The next message; `asyncio.IncompleteReadError` at the end."""
    facts, body = _SIZES.unpack(await stream.readexactly(_SIZES.size))
    return Parcel(json.loads(await stream.readexactly(facts)), await stream.readexactly(body))


def receive(line: socket.socket) -> Parcel:
    """The next message, waited for; EOFError at the end."""
    facts, body = _SIZES.unpack(_exactly(line, _SIZES.size))
    return Parcel(json.loads(_exactly(line, facts)), _exactly(line, body))


def _exactly(line: socket.socket, size: int) -> bytes:
    found = bytearray()
    while len(found) < size:
        chunk = line.recv(min(size - len(found), 2**20))
        if not chunk:
            raise EOFError
        found += chunk
    return bytes(found)
