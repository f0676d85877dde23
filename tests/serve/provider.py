"""An OpenID provider that says what a test tells it to, with real keys: for answers that no honest one gives."""

from __future__ import annotations

import json
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey

CLIENT = "tacit"


@dataclass
class Lying:
    """What the provider says; a test changes it."""

    address: str = ""
    key: ECKey = field(default_factory=lambda: ECKey.generate_key("P-256", {"kid": "1"}))
    facts: dict[str, Any] = field(default_factory=dict)
    claims: dict[str, Any] = field(default_factory=dict)
    sign: Callable[[dict[str, Any]], str] | None = None
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    """What the authorization request of each code said; a code is good once."""
    redeemed: int = 0

    def approve(self, location: str, code: str) -> dict[str, str]:
        """A person signed in at this address of ours: the request, whose code is good from now on."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}
        self.codes[code] = asked
        return asked

    def token(self, form: dict[str, str]) -> dict[str, Any] | None:
        self.redeemed += 1
        asked = self.codes.pop(form.get("code", ""), None)
        proof = urlsafe_b64encode(sha256(form.get("code_verifier", "").encode()).digest()).rstrip(b"=").decode()
        if asked is None or asked["code_challenge"] != proof or asked["redirect_uri"] != form.get("redirect_uri"):
            return None
        now = int(time.time())
        claims = {
            "iss": self.address,
            "aud": CLIENT,
            "sub": "s-1",
            "nonce": asked["nonce"],
            "iat": now,
            "exp": now + 60,
        }
        claims = {name: value for name, value in (claims | self.claims).items() if value is not None}
        signed = self.sign(claims) if self.sign else jwt.encode({"alg": "ES256", "kid": "1"}, claims, self.key)
        return {"access_token": "a", "token_type": "Bearer", "id_token": signed}


@contextmanager
def lying() -> Iterator[Lying]:
    """Run one on loopback until the block ends."""
    said = Lying()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            facts = {"issuer": said.address, "jwks_uri": f"{said.address}/jwks"}
            facts |= {f"{name}_endpoint": f"{said.address}/{name}" for name in ("authorization", "token")}
            known = self.path.endswith("openid-configuration")
            self._say(200, facts | said.facts if known else {"keys": [said.key.as_dict(private=False)]})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            found = said.token({name: values[0] for name, values in parse_qs(body).items()})
            self._say(200 if found else 400, found or {"error": "invalid_grant"})

        def _say(self, status: int, found: dict[str, Any]) -> None:
            body = json.dumps(found).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    said.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield said
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
