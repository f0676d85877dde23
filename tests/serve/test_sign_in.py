"""Signing in by OpenID Connect: against a real provider, and against one that lies."""

from __future__ import annotations

import json
import re
import shutil
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey

from tacit.errors import InvalidInput
from tacit.serve import sign_in
from tacit.serve.config import load
from tacit.serve.sign_in import NotLetIn, caller_of
from tacit.serve.tokens import Doorkeeper
from tests.postgres import REQUIRED
from tests.serve.conftest import gateway
from tests.serve.provider import Lying, lying
from tests.serve.support import TOKENS, people

HOME = re.compile(r'http-equiv="refresh" content="0;url=(/\w*)"')


def signed_in(folder: Path, issuer: str, address: str, more: str = "") -> Path:
    """A configuration for ada, who signs in, grace, who has a token too, and custodians by their role."""
    people(folder)
    path = folder / "tacit.toml"
    path.write_text(
        f"""
[server]
log = "audit.jsonl"
address = "{address}"
[sign_in]
issuer = "{issuer}"
client_id = "tacit"
secret_file = "secret"
label = "the <hospital>"
roles = "groups"
custodians = ["data-office"]
{more}
[datasets.visits]
budget.epsilon = 10
tables.visits = {{ source = "visits.csv", person = "who" }}
[[analysts]]
name = "ada"
subject = "s-1"
[[analysts]]
name = "grace"
subject = "s-2"
token = "{TOKENS["grace"][1]}"
"""
    )
    (folder / "secret").write_text("shh\n")
    return path


@contextmanager
def serving(folder: Path, issuer: str, more: str = "") -> Iterator[httpx.Client]:
    with gateway(lambda address: signed_in(folder, issuer, address, more)) as client:
        yield client


def came_back(client: httpx.Client, provider: Lying, code: str = "c", **changed: str) -> httpx.Response:
    """The whole way, of one browser."""
    asked = provider.approve(client.get("/sign-in").headers["location"], code)
    return client.get("/sign-in/back", params={"code": code, "state": asked["state"]} | changed)


def test_people_sign_in_at_a_real_provider(tmp_path: Path) -> None:
    import oidc_provider_mock  # half a second in every process of the tests, were it at the top

    users = [
        oidc_provider_mock.User(sub="s-1", claims={"groups": ["research"]}),
        oidc_provider_mock.User(sub="c-1", claims={"groups": ["data-office"]}),
        oidc_provider_mock.User(sub="c-2", claims={"groups": "data-officer"}),
    ]
    with (
        oidc_provider_mock.run_server_in_thread(user_claims=users, require_nonce=True) as server,
        serving(tmp_path, f"http://localhost:{server.server_port}") as client,
    ):
        assert "Sign in with the &lt;hospital&gt;" in client.get("/login").text
        for subject, home in (("s-1", "/"), ("c-1", "/custodian"), ("c-2", ""), ("s-3", "")):
            client.cookies.clear()
            began = client.get("/sign-in")
            asked = parse_qs(urlsplit(began.headers["location"]).query)
            assert asked["code_challenge_method"] == ["S256"]
            assert asked["redirect_uri"] == [f"{str(client.base_url).rstrip('/')}/sign-in/back"]
            decided = httpx.post(began.headers["location"], data={"sub": subject})
            came = client.get(decided.headers["location"])
            found = HOME.search(came.text)
            assert (found[1] if found else "") == home
            assert came.status_code == (200 if home else 401)
            if home:
                cookie = came.headers["set-cookie"]
                assert "HttpOnly" in cookie
                assert "samesite=strict" in cookie.lower()
                assert client.get(home, follow_redirects=True).status_code == 200
                again = client.get(decided.headers["location"])  # the way back of the browser's history
                assert again.status_code == 401
            assert (client.get("/v1/datasets").status_code == 200) is bool(home)
        client.cookies.clear()
        decided = httpx.post(client.get("/sign-in").headers["location"], data={"sub": "s-1", "action": "deny"})
        assert client.get(decided.headers["location"]).status_code == 401
    log = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    assert [line["name"] for line in log if line["event"] == "login"] == ["ada", "custodian c-1"]
    assert not re.search("s-3|c-2|shh", json.dumps(log))


def none(claims: dict[str, Any]) -> str:
    parts = (json.dumps(part).encode() for part in ({"alg": "none", "typ": "JWT"}, claims))
    return ".".join(urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts) + "."


def shared(secret: bytes) -> Callable[[dict[str, Any]], str]:
    return lambda claims: jwt.encode({"alg": "HS256", "kid": "1"}, claims, OctKey.import_key(secret))


def other(claims: dict[str, Any]) -> str:
    return jwt.encode({"alg": "ES256", "kid": "1"}, claims, ECKey.generate_key("P-256", {"kid": "1"}))


LIES: dict[str, dict[str, Any]] = {
    "another issuer": {"claims": {"iss": "https://evil.example.org"}},
    "another audience": {"claims": {"aud": "somebody-else"}},
    "several audiences and nobody authorised": {"claims": {"aud": ["tacit", "somebody-else"]}},
    "authorised somebody else": {"claims": {"azp": "somebody-else"}},
    "another nonce": {"claims": {"nonce": "of another request"}},
    "no nonce": {"claims": {"nonce": None}},
    "a nonce among others": {"claims": {"nonce": ["a", "b"]}},
    "long over": {"claims": {"exp": 1}},
    "no end": {"claims": {"exp": None}},
    "nobody": {"claims": {"sub": None}},
    "unsigned": {"sign": none},
    "signed by the client's secret": {"sign": shared(b"shh")},
    "signed by another key": {"sign": other},
    "no token at all": {"sign": lambda claims: ""},
    "not a token": {"sign": lambda claims: "a.b.c.d"},
}


def test_a_provider_that_lies_lets_nobody_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_in, "AGAIN", 0.0)
    with lying() as provider, serving(tmp_path, provider.address) as client:
        for number, (lie, said) in enumerate(LIES.items()):
            provider.claims, provider.sign = said.get("claims", {}), said.get("sign")
            response = came_back(client, provider, f"c{number}")
            assert response.status_code == 401, lie
            assert "tacit=" not in response.headers.get("set-cookie", "").replace("tacit-sign-in=", ""), lie
            assert client.get("/v1/datasets").status_code == 401, lie
        provider.claims, provider.sign = {}, None
        provider.key = ECKey.generate_key("P-256", {"kid": "1"})  # honest again, with new keys
        assert came_back(client, provider, iss=provider.address).status_code == 200
        assert client.get("/v1/datasets").json() == {"datasets": ["visits"]}
        assert came_back(client, provider, iss="https://evil.example.org").status_code == 401  # a mix-up
    log = (tmp_path / "audit.jsonl").read_text()
    assert log.count('"refused"') == len(LIES) + 1
    assert "evil" not in log
    assert "unforeseen" not in log


def test_what_belongs_to_another_browser_or_was_used_is_refused(tmp_path: Path) -> None:
    with lying() as provider, serving(tmp_path, provider.address) as client:
        begun = client.get("/sign-in")
        mine = provider.approve(begun.headers["location"], "mine")
        with httpx.Client(
            base_url=client.base_url
        ) as victim:  # forged sign-in: the attacker's code, the victim's browser
            assert victim.get("/sign-in/back", params={"code": "mine", "state": mine["state"]}).status_code == 401
            victim.get("/sign-in")
            assert victim.get("/sign-in/back", params={"code": "mine", "state": mine["state"]}).status_code == 401
        assert provider.redeemed == 0  # refused before the provider was asked
        flow = client.cookies["tacit-sign-in"]
        for wrong in ("", "x", flow[:-1] + ("0" if flow[-1] != "0" else "1"), "1." + flow.partition(".")[2]):
            headers = {"cookie": f"tacit-sign-in={wrong}"}
            with httpx.Client(base_url=client.base_url) as stranger:
                given = {"code": "mine", "state": mine["state"]}
                assert stranger.get("/sign-in/back", params=given, headers=headers).status_code == 401
        back = {"code": "mine", "state": mine["state"]}
        assert client.get("/sign-in/back", params=back).status_code == 200
        provider.codes["mine"] = mine  # a provider that lets a code be used again
        assert client.get("/sign-in/back", params=back, headers={"cookie": f"tacit-sign-in={flow}"}).status_code == 401
        assert provider.redeemed == 1


def test_nothing_in_a_request_says_where_to_go(tmp_path: Path) -> None:
    with lying() as provider, serving(tmp_path, provider.address) as client:
        more = {
            "next": "https://evil.example.org",
            "redirect_uri": "https://evil.example.org",
            "issuer": "https://evil",
        }
        begun = client.get("/sign-in", params=more, headers={"host": "evil.example.org"})
        assert begun.headers["location"].startswith(f"{provider.address}/authorization?")
        assert "evil" not in begun.headers["location"]
        asked = provider.approve(begun.headers["location"], "c")
        back = client.get("/sign-in/back", params={"code": "c", "state": asked["state"]} | more)
        assert back.status_code == 200
        assert "evil" not in back.text
        provider.facts = {"issuer": "https://evil.example.org"}
    with lying() as provider, serving(tmp_path, provider.address) as client:
        provider.facts = {"issuer": "https://evil.example.org"}  # metadata of another
        assert client.get("/sign-in").status_code == 401
        provider.facts = {"token_endpoint": "ftp://127.0.0.1/token"}
        assert client.get("/sign-in").status_code == 401
        provider.facts = {"authorization_response_iss_parameter_supported": True}
        assert came_back(client, provider).status_code == 401  # promised, and not there
    with serving(tmp_path, "http://127.0.0.1:9") as client:  # nobody there
        assert "cannot be reached" in client.get("/sign-in").text


def test_strangers_begin_no_more_than_a_pace_for_their_network(tmp_path: Path) -> None:
    with lying() as provider, serving(tmp_path, provider.address, "[limits]\nper_minute = 4") as client:
        assert [client.get("/sign-in").status_code for _ in range(3)] == [303] * 3
        assert client.get("/sign-in/back").status_code == 401
        for address in ("/sign-in", "/sign-in/back"):
            assert client.get(address).status_code == 429
        elsewhere = {"X-Forwarded-For": "10.1.2.3"}  # as a proxy on this machine says it
        assert client.get("/sign-in", headers=elsewhere).status_code == 303


def test_a_custodian_who_signed_in_is_named_in_what_they_do(tmp_path: Path) -> None:
    with lying() as provider, serving(tmp_path, provider.address) as client:
        provider.claims = {"sub": "c-1\n\u202e", "groups": ["data-office"]}
        assert came_back(client, provider).status_code == 200
        page = client.get("/custodian/analysts").text
        assert "custodian c-1" in page
        mark = re.search(r'name="mark" value="(\w+)"', page)
        assert mark is not None
        headers = {"x-csrf-token": mark[1]}
        action = {"action": "pause analyst", "name": "ada"}
        code = client.post("/v1/custodian/actions", json=action, headers=headers).json()["confirm"]
        client.post("/v1/custodian/actions", json=action | {"confirm": code}, headers=headers).raise_for_status()
        assert [act["who"] for act in client.get("/v1/custodian/acts").json()["acts"]] == ["custodian c-1"]
    log = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    assert [line["who"] for line in log if line["event"] == "act"] == ["custodian c-1"]


def test_claims_decide_who_somebody_is(tmp_path: Path) -> None:
    more = 'person = "email"\nanalysts = ["research", "guests"]'
    config = load(signed_in(tmp_path, "https://login.example.org", "https://tacit.example.org", more))
    ada: dict[str, Any] = {"email": "s-1", "email_verified": True, "groups": ["research"]}
    assert caller_of(config, ada).key == "analyst:ada"
    wrongs: list[dict[str, Any]] = [
        {"email_verified": False},
        {"email_verified": "true"},
        {"email": "S-1"},
        {"email": ["s-1"]},
        {"groups": []},
        {"groups": "research guests"},
        {"groups": {"research": True}},
        {"groups": None},
    ]
    for wrong in wrongs:
        with pytest.raises(NotLetIn):
            caller_of(config, ada | wrong)
    custodian = caller_of(config, ada | {"groups": ["data-office", "research"], "sub": "c-1"})
    assert (custodian.custodian, custodian.shown) == (True, "custodian s-1")
    unverified = caller_of(config, {"groups": ["data-office"], "email": "boss@example.org", "sub": "c-1"})
    assert unverified.shown == "custodian c-1"
    path = signed_in(tmp_path, "https://login.example.org", "https://tacit.example.org")
    path.write_text(path.read_text().replace('"groups"', '"realm_access.roles"'))
    assert caller_of(load(path), {"realm_access": {"roles": ["data-office"]}}).custodian


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ('issuer = "https:', 'issuer = "http:', "must begin with https"),
        ('address = "https:', 'address = "http:', "must begin with https"),
        ('address = "https://tacit.example.org"', "", "needs an issuer"),
        ('client_id = "tacit"', "", "needs an issuer"),
        ('roles = "groups"', "", "roles must name the claim"),
        ('"s-2"', '"s-1"', "each person their own"),
        ('["data-office"]', '"data-office"', "list of texts"),
    ],
)
def test_a_wrong_setting_is_refused(tmp_path: Path, old: str, new: str, match: str) -> None:
    path = signed_in(tmp_path, "https://login.example.org", "https://tacit.example.org")
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(InvalidInput, match=match):
        load(path)


def test_what_is_sealed_comes_back_unchanged_and_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    keeper = Doorkeeper({}, bytes(32))
    sealed = keeper.seal("a.b.c", 60)
    assert keeper.unsealed(sealed) == "a.b.c"
    for wrong in ("", ".", "..", sealed + "0", "9" + sealed, "é" + sealed, Doorkeeper({}, b"x" * 32).seal("a.b.c", 60)):
        assert keeper.unsealed(wrong) == ""
    monkeypatch.setattr("tacit.serve.tokens.time.time", lambda: 1e12)
    assert keeper.unsealed(sealed) == ""


def test_a_browser_that_comes_from_another_site_is_known_at_once(tmp_path: Path) -> None:
    """The provider is another site to a browser, which keeps strict cookies to itself in that very step."""
    import oidc_provider_mock
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None and not REQUIRED:
        pytest.skip("not run: there is no chromium on this machine")
    users = [oidc_provider_mock.User(sub="s-1", claims={"groups": ["research"]})]
    with (
        oidc_provider_mock.run_server_in_thread(user_claims=users) as server,
        serving(tmp_path, f"http://localhost:{server.server_port}") as client,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.set_default_timeout(60_000)
        page.goto(str(client.base_url))
        page.get_by_role("link", name="Sign in with the <hospital>").click()
        page.get_by_text("s-1").first.click()
        page.wait_for_url(f"{client.base_url}/datasets/visits")
        page.get_by_role("button", name="Log out").click()
        page.wait_for_url("**/login")
        browser.close()
