"""Tokens, and the cookies and form marks made from them.

A token is 256 random bits, so its SHA-256 may stand in the configuration: guessing it is hopeless and a slow hash would
only slow down the server. `Doorkeeper.who` compares the digest with every known one in constant time, whether or not an
earlier one fits. Tokens come in the Authorization header or once in the login form, never in an address.

A browser gets a cookie "role:name:expiry:nonce:signed in as" with an HMAC under the server's secret. The HMAC covers
the digest of the token too, so a token that is replaced or revoked takes its cookies with it. Logging out revokes the
nonce in all workers. What a browser keeps between leaving for a provider and coming back (`tacit.serve.sign_in`) is
sealed in the same way. The mark against forged forms (CSRF) is an HMAC of the cookie: other sites can neither read the
one nor the other.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from hmac import compare_digest
from hmac import digest as hmac
from pathlib import Path

from tacit.errors import TacitError

PREFIX = "sha256:"
CUSTODIAN = "custodian"
ANALYST = "analyst"
LIFETIME = 12 * 3600
"""Seconds for which a browser stays logged in."""


class NotAdmitted(TacitError):
    """Known, but paused or ended by the custodian."""


def new_token() -> tuple[str, str]:
    """A fresh token, and the line that the configuration keeps of it."""
    token = f"tacit_{secrets.token_urlsafe(32)}"
    return token, PREFIX + digest(token)


def digest(token: str) -> str:
    """What is kept of a token."""
    return sha256(token.encode(errors="surrogatepass")).hexdigest()


SIGNED = "~"
"""How that begins which stands in the place of a digest for those who sign in elsewhere."""


def signs_in(who: str) -> str:
    """What stands in the place of a digest for somebody who signs in elsewhere; no token has a digest like it."""
    return f"{SIGNED}{digest(who)[:63]}"


def token_id(known: str) -> str:
    """How people call a token: the beginning of its digest."""
    return known[:12]


@dataclass(frozen=True)
class Caller:
    """Who asks: an analyst by name, or the custodian."""

    role: str
    """`ANALYST` or `CUSTODIAN`."""
    name: str
    """As the configuration has it."""
    token: str = field(default="", compare=False)
    """The id of the token they came with."""
    signed_in_as: str = field(default="", compare=False)
    """What the provider calls a custodian who signed in there: there may be several."""

    @property
    def key(self) -> str:
        """What tells this caller from every other: an analyst may have the same name as the custodian."""
        return f"{self.role}:{self.name}"

    @property
    def shown(self) -> str:
        """Who it was, for logs."""
        return f"{self.name} {self.signed_in_as}".rstrip()

    @property
    def custodian(self) -> bool:
        """Whether this is the custodian."""
        return self.role == CUSTODIAN


class Revoked:
    """The nonces of cookies that were logged out: in memory, or in a file that several processes share.

    A line is added at once and read by the others at their next request, and by a worker that starts later. It holds
    nothing secret. The file lives as long as the secret that signs cookies, so nothing needs to be taken out.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path, self._read, self._nonces = path, 0, set[str]()

    def add(self, nonce: str) -> None:
        """From now on a cookie with this nonce does not count."""
        self._nonces.add(nonce)
        if self._path is not None:
            file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(file, f"{nonce}\n".encode())
            finally:
                os.close(file)

    def __contains__(self, nonce: str) -> bool:
        if self._path is not None and self._path.stat().st_size > self._read:
            with self._path.open("rb") as file:
                file.seek(self._read)
                lines = file.read()
            whole = lines[: lines.rfind(b"\n") + 1]
            self._read += len(whole)
            self._nonces.update(whole.decode("ascii").split())
        return nonce in self._nonces


class Doorkeeper:
    """Knows tokens by their digests and signs cookies."""

    def __init__(self, digests: Mapping[Caller, str], secret: bytes, revoked: Revoked | None = None) -> None:
        self._digests: Mapping[Caller, tuple[str, ...]] = {caller: (known,) for caller, known in digests.items()}
        self._secret, self._revoked = secret, revoked or Revoked()

    def know(self, digests: Mapping[Caller, tuple[str, ...]]) -> None:
        """From now on these tokens count, and no others."""
        self._digests = dict(digests)

    def who(self, token: str) -> Caller | None:
        """The owner of a token, after comparing with everybody's."""
        found, shown = None, digest(token)
        for caller, digests in self._digests.items():
            for known in digests:
                if compare_digest(known, shown):
                    found = replace(caller, token=token_id(known))
        return found

    def cookie(self, caller: Caller) -> str:
        """What a browser keeps after logging in."""
        end, signed = int(time.time()) + LIFETIME, caller.signed_in_as.encode(errors="replace").hex()
        text = f"{caller.role}:{caller.name}:{end}:{secrets.token_hex(8)}:{signed}"
        digests = self._digests.get(caller)
        if not digests:
            raise NotAdmitted("the custodian has ended this access; ask them.")
        known = next((each for each in digests if token_id(each) == caller.token), digests[0])
        return f"{text}:{self._sign('cookie', text, known)}"

    def holder(self, cookie: str) -> Caller | None:
        """Whose cookie this is, if it is ours, not too old, and the token still counts."""
        text, _, signature = cookie.rpartition(":")
        fields = text.split(":")
        if len(fields) != 5 or not (fields[2].isascii() and fields[2].isdigit()):
            return None
        caller, shown, found = Caller(fields[0], fields[1]), signature if signature.isascii() else "", None
        for known in self._digests.get(caller, ()):
            if compare_digest(self._sign("cookie", text, known), shown):
                signed = bytes.fromhex(fields[4]).decode()  # as we wrote it
                found = replace(caller, token=token_id(known), signed_in_as=signed)
        if found is None or fields[3] in self._revoked:
            return None
        return found if len(fields[2]) < 16 and int(fields[2]) > time.time() else None

    def forget(self, cookie: str) -> None:
        """Let a cookie that `holder` knew count no more."""
        self._revoked.add(cookie.split(":")[3])

    def seal(self, text: str, seconds: int) -> str:
        """A text that a browser keeps for us for a while and cannot change; it can be read there."""
        kept = f"{int(time.time()) + seconds}.{text}"
        return f"{kept}.{self._sign('sealed', kept)}"

    def unsealed(self, sealed: str) -> str:
        """What was sealed; empty if it was not sealed here, or too long ago."""
        kept, _, signature = sealed.rpartition(".")
        if not compare_digest(self._sign("sealed", kept), signature if signature.isascii() else ""):
            return ""
        end, _, text = kept.partition(".")
        return text if int(end) > time.time() else ""

    def first(self, word: str) -> bool:
        """Whether a word that we made comes back for the first time; from now on it does not."""
        used = word in self._revoked
        self._revoked.add(word)
        return not used

    def mark(self, cookie: str) -> str:
        """What a form must bring back with this cookie."""
        return self._sign("form", cookie)

    def marked(self, cookie: str, mark: str) -> bool:
        """Whether a form brought back its mark."""
        return compare_digest(self.mark(cookie), mark if mark.isascii() else "")

    def _sign(self, *fields: str) -> str:
        message = "\x00".join(fields).encode(errors="surrogatepass")
        return hmac(self._secret, message, "sha256").hex()
