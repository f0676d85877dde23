"""Signing in by OpenID Connect: people come with their organisation's login instead of a token.

PROMISE. Whoever gets a cookie here was named by the configured provider, to this gateway, in answer to the very request
that this browser began less than `FLOW` seconds ago, and each such answer is taken once.
PROOF. The flow is the authorization code with PKCE (S256). *This browser*: ``state`` must be what its own cookie holds,
which the gateway signed. *Once*: a state that was used is revoked in all workers, before its code is redeemed. *This
gateway*: the code is redeemed with the client's secret and the verifier from that cookie, and the ID token must have
our client as audience (and as authorised party, where there are several audiences). *The provider*: its metadata, the
``iss`` of its response and that of the token must be the configured issuer, and the signature must verify under its
published keys by an algorithm of `ALGORITHMS`: neither "none" nor a shared secret is one. *This request*: the nonce.

Nothing that comes with a request decides where the browser goes next or where the provider sends it back to: both are
in the configuration. What a provider or a stranger wrote appears in no page and no log, but for one thing: what the
provider calls a custodian who signed in, as far as it can be printed, beside what they do.

A person becomes a caller by two claims: one says who they are, and must be the ``subject`` of an analyst; the other
lists their roles. A cookie lasts as any other, twelve hours; a role that is taken away counts at the next sign-in.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import ssl
import time
from collections.abc import Mapping
from hmac import compare_digest
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from tacit.errors import InvalidInput, TacitError
from tacit.serve import fragments
from tacit.serve.config import Config, SignIn
from tacit.serve.gateway import NotHere
from tacit.serve.tokens import ANALYST, CUSTODIAN, LIFETIME, Caller, signs_in, token_id
from tacit.serve.web import COOKIE, State, Unknown, pace_stranger, state

SECRET = "TACIT_SERVE_CLIENT_SECRET"
"""The environment may hold the client's secret; executors never see names that begin so."""
BEGIN, BACK = "/sign-in", "/sign-in/back"
FLOW_COOKIE = "tacit-sign-in"
FLOW = 600
"""Seconds that somebody may take at the provider."""
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
KEYS = ("RSA", "EC", "OKP")
PATIENCE = 10.0
"""Seconds for one request to the provider."""
FRESH = 3600.0
"""Seconds for which its metadata and keys are kept."""
AGAIN = 30.0
"""Seconds before keys are fetched again because one was not known."""
AT_ONCE = 4
"""Codes that are redeemed at the same time."""
LONGEST_NAME = 100
"""Characters of what the provider calls a custodian."""
LARGEST = 200_000
"""Bytes of a response of the provider."""


class NotLetIn(Unknown):
    """The provider or the rules here do not let somebody in."""


FAILED = "signing in did not work, and nothing was done; begin again, and ask the custodian if it does not help."
UNKNOWN = "you signed in, but nobody gave you access here; ask the custodian to add you."
"""All that a browser is told."""


class Provider:
    """What a provider says of itself, and of the people who signed in there."""

    def __init__(self, terms: SignIn, address: str) -> None:
        self._terms, self._back = terms, address.rstrip("/") + BACK
        self._secret = _secret(terms)
        self._facts: tuple[float, Mapping[str, Any]] | None = None
        self._keys: tuple[float, Any] | None = None
        self._places = asyncio.Semaphore(AT_ONCE)
        self._trusted = ssl.create_default_context()  # the system's authorities, read once

    async def begin(self, words: str, nonce: str, verifier: str) -> str:
        """Where the browser goes to sign in."""
        facts = await self._metadata()
        async with self._client() as client:
            address, _ = client.create_authorization_url(
                facts["authorization_endpoint"], state=words, nonce=nonce, code_verifier=verifier
            )
        return str(address)

    async def claims(self, code: str, issuer: str | None, nonce: str, verifier: str) -> Mapping[str, Any]:
        """What the provider says of the person with this code; raises `NotLetIn` whatever is wrong."""
        from authlib.integrations.base_client import OAuthError
        from joserfc.errors import JoseError

        async with self._places:
            facts = await self._metadata()
            if issuer not in (None, self._terms.issuer) or (
                issuer is None and facts.get("authorization_response_iss_parameter_supported") is True
            ):
                raise NotLetIn(FAILED)
            try:
                async with asyncio.timeout(PATIENCE), self._client() as client:
                    token = await client.fetch_token(
                        facts["token_endpoint"], grant_type="authorization_code", code=code, code_verifier=verifier
                    )
                return await self._verified(str(token.get("id_token", "")), nonce)
            except (*broken_lines(), OAuthError, JoseError, ValueError, TypeError, KeyError, AttributeError):
                raise NotLetIn(FAILED) from None

    async def _verified(self, token: str, nonce: str) -> Mapping[str, Any]:
        from joserfc import jws, jwt
        from joserfc.errors import JoseError

        terms = self._terms
        if len(token) > LARGEST:
            raise NotLetIn(FAILED)
        registry = jws.JWSRegistry(algorithms=list(ALGORITHMS))
        try:
            found = jwt.decode(token, await self._keyset(), registry=registry)
        except (JoseError, ValueError):  # perhaps its keys were changed
            found = jwt.decode(token, await self._keyset(AGAIN), registry=registry)
        claims = found.claims
        essential = {name: {"essential": True} for name in ("exp", "iat", "sub")}
        jwt.JWTClaimsRegistry(
            leeway=60,
            iss={"essential": True, "value": terms.issuer},
            aud={"essential": True, "value": terms.client_id},
            **essential,  # type: ignore[arg-type]
        ).validate(claims)
        several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if claims.get("azp", None if several else terms.client_id) != terms.client_id:
            raise NotLetIn(FAILED)
        said = claims.get("nonce")
        if not isinstance(said, str) or not compare_digest(said.encode(), nonce.encode()):
            raise NotLetIn(FAILED)
        return claims

    async def _metadata(self) -> Mapping[str, Any]:
        if self._facts is None or time.monotonic() - self._facts[0] > FRESH:
            facts = await self._get(self._terms.issuer.rstrip("/") + "/.well-known/openid-configuration")
            ends = [facts.get(name) for name in ("authorization_endpoint", "token_endpoint", "jwks_uri")]
            scheme = urlsplit(self._terms.issuer).scheme
            if facts.get("issuer") != self._terms.issuer or not all(
                isinstance(end, str) and urlsplit(end).scheme in ("https", scheme) for end in ends
            ):
                raise NotLetIn(FAILED)
            self._facts = time.monotonic(), facts
        return self._facts[1]

    async def _keyset(self, old: float = FRESH) -> Any:
        from joserfc.jwk import KeySet

        if self._keys is None or time.monotonic() - self._keys[0] > old:
            found = await self._get((await self._metadata())["jwks_uri"])
            public = [key for key in found["keys"] if key.get("kty") in KEYS and key.get("use") != "enc"]
            self._keys = time.monotonic(), KeySet.import_key_set({"keys": public})
        return self._keys[1]

    async def _get(self, address: str) -> dict[str, Any]:
        broken: tuple[type[Exception], ...] = (*broken_lines(), ValueError)
        try:
            async with asyncio.timeout(PATIENCE), self._client() as client:
                response = await client.request("GET", address, withhold_token=True)
            if response.status_code != 200 or len(response.content) > LARGEST:
                raise ValueError
            found = response.json()
            if not isinstance(found, dict):
                raise ValueError
        except broken:
            raise NotLetIn("the provider cannot be reached just now, and nothing was done; try again later.") from None
        return found

    def _client(self) -> Any:
        from authlib.integrations.httpx_client import AsyncOAuth2Client

        return AsyncOAuth2Client(
            self._terms.client_id,
            self._secret or None,
            scope=self._terms.scope,
            redirect_uri=self._back,
            code_challenge_method="S256",
            timeout=PATIENCE,
            follow_redirects=False,
            verify=self._trusted,
        )


def broken_lines() -> tuple[type[Exception], ...]:
    """What the HTTP client of authlib raises when the line breaks."""
    from authlib.integrations.httpx_client._compat import httpx2

    return (httpx2.HTTPError, httpx2.InvalidURL, OSError, TimeoutError)


def _secret(terms: SignIn) -> str:
    if not terms.secret_file:
        return os.environ.get(SECRET, "")
    try:
        return Path(terms.secret_file).read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        raise InvalidInput("sign_in: the client's secret cannot be read; check secret_file and its rights.") from None


def caller_of(config: Config, claims: Mapping[str, Any]) -> Caller:
    """Whom the claims of a person make them here; raises `NotLetIn` for nobody we know."""
    terms = config.sign_in
    roles, said = _roles(claims, terms.roles), _said(terms, claims)
    if roles & set(terms.custodians):
        known = _printed(said or claims.get("sub", ""))
        return Caller(CUSTODIAN, CUSTODIAN, token_id(signs_in(CUSTODIAN)), known)
    name = config.subjects.get(said) if isinstance(said, str) else None
    if name is None or (terms.analysts and not roles & set(terms.analysts)):
        raise NotLetIn(UNKNOWN)
    return Caller(ANALYST, name, token_id(signs_in(str(said))))


def _said(terms: SignIn, claims: Mapping[str, Any]) -> Any:
    """Who somebody is, as the provider says."""
    if terms.person == "email" and claims.get("email_verified") is not True:
        return None  # anybody may write any address where nobody checks it
    return claims.get(terms.person)


def _printed(said: object) -> str:
    """A name as far as it can be printed on a line."""
    return "".join(sign for sign in str(said) if sign.isprintable())[:LONGEST_NAME]


def _roles(claims: Mapping[str, Any], path: str) -> set[str]:
    """A claim that is a text or a list of texts, perhaps inside another; one with points in its name counts first."""
    found: Any = claims.get(path)
    if found is None:
        found = claims
        for step in path.split("."):
            found = found.get(step) if isinstance(found, Mapping) else None
    listed = found if isinstance(found, list) else [found]
    return {role for role in listed if isinstance(role, str) and role}


async def begin(request: Request) -> Response:
    """Send the browser to the provider, with a cookie that knows it again."""
    pace_stranger(request)
    here, provider = state(request), _provider(request)
    words, nonce, verifier = (secrets.token_urlsafe(48) for _ in range(3))
    try:
        address = await provider.begin(words, nonce, verifier)
    except NotLetIn as error:
        return _sorry(error)
    response = RedirectResponse(address, 303)
    sealed = here.doorkeeper.seal(f"{words}.{nonce}.{verifier}", FLOW)
    response.set_cookie(FLOW_COOKIE, sealed, FLOW, path=BEGIN, secure=here.secure, httponly=True, samesite="lax")
    return response


async def back(request: Request) -> Response:
    """The browser comes back from the provider: redeem the code, once, and hand out a cookie."""
    pace_stranger(request)
    here, provider, given = state(request), _provider(request), request.query_params
    flow = here.doorkeeper.unsealed(request.cookies.get(FLOW_COOKIE, ""))
    words, nonce, verifier = flow.split(".") if flow else ("", "", "")
    said, code = given.get("state", ""), given.get("code", "")
    try:
        if not flow or not compare_digest(said.encode(), words.encode()) or not here.doorkeeper.first(words):
            raise NotLetIn(FAILED)
        if not code or "error" in given:
            raise NotLetIn(FAILED)
        claims = await provider.claims(code, given.get("iss"), nonce, verifier)
        caller = caller_of(here.gateway.config, claims)
        cookie = here.doorkeeper.cookie(caller)
    except NotLetIn as error:
        return _sorry(_refused(here, error))
    except LookupError:  # no such caller any more
        return _sorry(_refused(here, NotLetIn(UNKNOWN)))
    here.log.write("login", name=caller.shown, by="sign-in")
    home = "/custodian" if caller.custodian else "/"
    # A page and no redirect: a browser that comes from the provider's site keeps a strict cookie to itself until the
    # next step begins here.
    body = f'<h1>You are signed in</h1><p><a class="main" href="{home}" autofocus>Go on</a></p>'
    page = fragments.layout("Signed in", body).replace(
        "<head>", f'<head>\n<meta http-equiv="refresh" content="0;url={home}">', 1
    )
    response = HTMLResponse(page)
    response.set_cookie(COOKIE, cookie, LIFETIME, secure=here.secure, httponly=True, samesite="strict")
    response.delete_cookie(FLOW_COOKIE, path=BEGIN, secure=here.secure, httponly=True, samesite="lax")
    return response


def _provider(request: Request) -> Provider:
    provider = state(request).provider
    if provider is None:
        raise NotHere("there is nothing at this address.")
    return provider


def _refused(here: State, error: TacitError) -> TacitError:
    """Written down, and slowed down when there are many."""
    try:
        here.logins.take("sign-in")
    except TacitError as busy:
        return busy
    here.log.write("refused", reason="sign-in")
    return error


def _sorry(error: TacitError) -> Response:
    body = f'<h1>Not signed in</h1>{fragments.notice("bad", str(error))}<p><a href="/login">Back to the door</a></p>'
    response = HTMLResponse(fragments.layout("Not signed in", body), 401)
    response.delete_cookie(FLOW_COOKIE, path=BEGIN)
    return response


ROUTES = [Route(BEGIN, begin), Route(BACK, back)]
