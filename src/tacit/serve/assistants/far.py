"""Assistants over stdio: `tacit mcp ADDRESS` speaks the protocol here and asks a gateway elsewhere.

The token stays with this process: it comes from the environment, goes into a header to the one address that was given,
and is in no message. Nothing but the protocol is written to standard output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tacit.errors import EngineError, TacitError
from tacit.serve.assistants.desk import Desk
from tacit.serve.client import error_of, open_line

if TYPE_CHECKING:
    import httpx


class FarDesk(Desk):
    """A gateway's HTTP interface as a desk."""

    def __init__(self, line: httpx.AsyncClient) -> None:
        self._line = line

    async def datasets(self) -> dict[str, Any]:
        """The datasets with what is left of each budget."""
        names = (await self._sent("GET", "/v1/datasets"))["datasets"]
        return {"datasets": [{"name": name} | await self._sent("GET", f"{_path(name)}/budget") for name in names]}

    async def schema(self, name: str) -> dict[str, Any]:
        """Public facts."""
        return await self._sent("GET", _path(name))

    async def preview(self, name: str, question: dict[str, Any], persons: int | None) -> dict[str, Any]:
        """What a question would cost, and how far off its answer would be."""
        seen = await self._sent("POST", f"{_path(name)}/cost", json=question)
        far = await self._sent("POST", f"{_path(name)}/expected", json=question, params={"persons": persons or 0})
        return seen | {"expected_error": far["words"]}

    async def ask(self, name: str, question: dict[str, Any], key: str) -> dict[str, Any]:
        """The answer to a question."""
        headers = {"Idempotency-Key": key} if key else {}
        return await self._sent("POST", f"{_path(name)}/ask", json=question, headers=headers)

    async def _sent(self, method: str, path: str, **more: Any) -> dict[str, Any]:
        import httpx

        try:
            response = await self._line.request(method, path, **more)
            found = response.json()
        except (httpx.HTTPError, ValueError):
            raise UNREACHED from None
        if response.is_success and isinstance(found, dict):
            return found
        raise error_of(found) or UNREACHED


UNREACHED: TacitError = EngineError(
    "the gateway cannot be reached or does not answer; a question that was sent may have been charged: ask the same "
    "again, which is free if it was answered."
)


def _path(name: str) -> str:
    return f"/v1/datasets/{quote(name, safe='')}"


async def live(address: str, token: str) -> None:
    """Serve the protocol on standard input and output until the other side ends it."""
    import httpx
    from mcp.server.stdio import stdio_server

    from tacit.serve.assistants.tools import server

    async with open_line(httpx.AsyncClient, address, token, 300) as line:
        desk = FarDesk(line)
        made = server(lambda _: desk)
        async with stdio_server() as (read, write):
            await made.run(read, write, made.create_initialization_options())
