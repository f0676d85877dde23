"""Assistants: a session of the protocol's own client, over stdio and over HTTP, within a budget and beyond it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.serve.support import token

if TYPE_CHECKING:  # it takes a second to import, which one of the processes of the tests needs to do
    from mcp import Client

APPROVAL = "datasets.visits.limit.epsilon = 1\ndatasets.visits.approve_above.epsilon = 0.3"
COUNT = {"dataset": "visits", "sql": "SELECT COUNT(*) FROM visits"}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
ACCEPT = {"accept": "application/json, text/event-stream"}


def over_stdio(address: str) -> AbstractAsyncContextManager[Client]:
    from mcp import Client, StdioServerParameters

    code = ["-c", "from tacit.cli import main; main()", "mcp", address]
    known = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return Client(StdioServerParameters(command=sys.executable, args=code, env=known | {"TACIT_TOKEN": token("grace")}))


@asynccontextmanager
async def over_http(address: str) -> AsyncIterator[Client]:
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    headers = {"authorization": f"Bearer {token('grace')}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=200) as line,
        Client(streamable_http_client(f"{address}/mcp", http_client=line)) as client,
    ):
        yield client


async def told(client: Client, name: str, **given: Any) -> tuple[bool, Any]:
    """Whether a tool worked, and what it said."""
    found = await client.call_tool(name, given)
    text = getattr(found.content[0], "text", "")
    if not found.is_error:
        assert found.structured_content == json.loads(text)
    return not found.is_error, text if found.is_error else found.structured_content


async def explore_and_ask(client: Client, first: str) -> None:
    listed = (await client.list_tools()).tools
    assert [tool.name for tool in listed] == ["list_datasets", "read_schema", "preview_cost", "ask"]
    assert [bool(tool.annotations and tool.annotations.read_only_hint) for tool in listed] == [True, True, True, False]
    _, found = await told(client, "list_datasets")
    assert [(each["name"], each["total"]) for each in found["datasets"]] == [("visits", "Pure 1")]
    before = found["datasets"][0]["remaining"]
    _, schema = await told(client, "read_schema", dataset="visits")
    assert [column["name"] for column in schema["tables"][0]["columns"]] == ["who", "minutes", "place"]
    _, seen = await told(client, "preview_cost", **COUNT, epsilon=0.15)
    assert (seen["charge"], seen["fits"], seen["needs_approval"]) == ("Pure 3/20", True, False)
    assert "19 of 20 answers within" in seen["expected_error"]
    _, more = await told(client, "preview_cost", **COUNT, epsilon=0.15, persons=50_000)
    assert more["expected_error"] != seen["expected_error"]  # of more persons a smaller share
    fine, answer = await told(client, "ask", **COUNT, epsilon=first)
    assert fine, answer
    assert answer["cost"] == f"Pure {first}"
    assert answer["remaining"] != before
    fine, again = await told(client, "ask", **COUNT, epsilon=first)
    assert fine, again
    assert (again["stored"], again["answer"]["value"]) == (True, answer["answer"]["value"])
    assert again["remaining"] == answer["remaining"]
    _, dear = await told(client, "preview_cost", **COUNT, epsilon="0.4")
    assert dear["needs_approval"]
    assert "approve" in dear["words"]
    fine, refused = await told(client, "ask", **COUNT, epsilon="0.4")
    assert not fine
    assert "nothing was spent. A person must approve it first" in refused


async def beyond(client: Client) -> None:
    """Ask on, a little each time, until the budget refuses."""
    for number in range(6):
        fine, found = await told(client, "ask", **COUNT, epsilon=f"0.2{number}")
        if not fine:
            assert "left" in found
            assert number > 0
            break
    else:
        raise AssertionError("nothing was refused")
    _, listed = await told(client, "list_datasets")
    whole = listed["datasets"][0]
    assert whole["spent"] != "Pure 0"
    for name, given, words in (
        ("ask", {"dataset": "nobody's", "sql": "SELECT 1", "epsilon": 1}, "no dataset"),
        ("ask", {"dataset": 7, "sql": "SELECT 1"}, "name of one"),
        ("ask", COUNT | {"epsilon": "0.1", "fresh": True}, "takes dataset"),
        ("ask", COUNT | {"epsilon": float("1e300")}, "number such as"),
        ("ask", COUNT | {"epsilon": [1]}, "number such as"),
        ("preview_cost", {"dataset": "visits"}, "takes dataset"),
        ("preview_cost", COUNT | {"epsilon": "0.1", "persons": "many"}, "persons must be a whole number"),
        ("preview_cost", {"dataset": "visits", "sql": "SELECT * FROM visits", "epsilon": 1}, ""),
        ("read_rows", {"dataset": "visits"}, "no such tool"),
    ):
        fine, found = await told(client, name, **given)
        assert not fine, name
        assert words in found
    assert (await told(client, "list_datasets"))[1]["datasets"][0] == whole


@pytest.mark.parametrize("nobody", [{"limit": APPROVAL}], indirect=True)
def test_a_session_explores_asks_and_is_refused_beyond_its_budget(nobody: httpx.Client) -> None:
    async def sessions() -> None:
        address = str(nobody.base_url)
        async with over_stdio(address) as client:
            await explore_and_ask(client, "1/4")
        async with over_http(address) as client:
            await explore_and_ask(client, "1/5")
            await beyond(client)

    asyncio.run(sessions())
    given = {"Authorization": f"Bearer {token('grace')}"}
    asked = COUNT["sql"]
    refused = nobody.post("/v1/datasets/visits/ask", json={"sql": asked, "epsilon": 0.4}, headers=given)
    assert (refused.status_code, refused.json()["error"]) == (403, "approval_needed")  # by every way in
    assert nobody.post("/v1/datasets/visits/ask", json={"sql": asked, "epsilon": "1/4"}, headers=given).json()["stored"]


def test_nobody_speaks_without_a_token_or_from_another_place(nobody: httpx.Client, tmp_path: Path) -> None:
    mine = {"authorization": f"Bearer {token('ada')}"}

    def sent(headers: dict[str, str], body: Any = HELLO) -> httpx.Response:
        return nobody.post("/mcp", json=body, headers=ACCEPT | headers)

    assert sent(mine).status_code == 200
    for wrong in ({}, {"authorization": "Bearer wrong"}, {"authorization": "Basic YTpi"}, {"authorization": "Bearer"}):
        assert sent(wrong).status_code == 401
    cookie = nobody.post("/login", data={"token": token("ada")}).headers["set-cookie"].partition(";")[0]
    assert sent({"cookie": cookie}).status_code == 401  # no page speaks in a person's name
    nobody.cookies.clear()
    for host in ("evil.example.org", "evil.example.org:8700", "127.0.0.1.evil.example.org", "localhost.evil:80"):
        assert sent(mine | {"host": host}).status_code == 421  # a name that was pointed at this machine
    for origin in ("https://evil.example.org", "null", "http://127.0.0.1:1", "http://localhost.evil:8700"):
        assert sent(mine | {"origin": origin}).status_code == 403
    assert sent(mine | {"content-type": "text/plain"}).status_code == 400
    for method in ("GET", "DELETE", "PUT"):
        assert nobody.request(method, "/mcp", headers=ACCEPT | mine).status_code == 405  # no streams that stay open
    large = HELLO | {"params": {"pad": "x" * 70_000}}
    assert sent(mine, large).status_code == 413
    for odd in ([], [HELLO], 7, {"jsonrpc": "2.0", "id": 1, "method": "nothing"}, {"jsonrpc": "2.0"}):
        assert sent(mine, odd).status_code < 500
    assert nobody.get("/healthz").status_code == 200
    log = (tmp_path / "audit.jsonl").read_text()
    assert "unforeseen" not in log


def test_a_question_is_known_by_what_it_says() -> None:
    from tacit.serve.assistants.tools import TOOLS, key_of

    first = key_of("a", {"sql": "SELECT 1", "epsilon": "1"})
    assert first == key_of("a", {"epsilon": "1", "sql": "SELECT 1"})
    assert len({first, key_of("b", {"sql": "SELECT 1", "epsilon": "1"}), key_of("a", {"sql": "SELECT 1"})}) == 3
    assert len(first) <= 100
    for tool in TOOLS:
        assert tool.description
        assert tool.input_schema["additionalProperties"] is False
