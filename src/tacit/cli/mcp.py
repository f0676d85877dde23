"""`tacit mcp`: an assistant's way to a gateway, over stdio."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from tacit.errors import InvalidInput, not_installed

HELP = """Let an assistant ask a gateway, by the Model Context Protocol on stdio.

The token is read from TACIT_TOKEN. Give an assistant an analyst of its own, with a limit and approve_above. A gateway
speaks the same protocol over HTTP at /mcp.

\b
Example:
  TACIT_TOKEN=tacit_… tacit mcp https://tacit.example.org"""


def mcp(
    address: Annotated[str, typer.Argument(help="Where the gateway is, such as https://tacit.example.org.")],
) -> None:
    """Serve the protocol until the assistant ends it."""
    import asyncio

    token = os.environ.get("TACIT_TOKEN", "")
    if not token:
        raise InvalidInput("put the analyst's token into the environment variable TACIT_TOKEN.")
    try:
        import mcp as _  # noqa: F401
    except ImportError:
        raise not_installed("assistants need the package mcp", "mcp,serve") from None
    from tacit.serve.assistants.far import live

    asyncio.run(live(address, token))
