"""`tacit serve`: the gateway from the command line."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.speech import Json, notice, say_json
from tacit.errors import InvalidInput

HELP = """A gateway for several analysts: a page and an HTTP interface in front of private tables.

\b
Examples:
  tacit serve --demo      bundled data, tokens printed
  tacit serve             tacit.toml of this folder
  tacit serve token       a new token, and its line for the file
  tacit serve tacit.toml

Where there is no tacit.toml, tacit serve writes one and leads through a first start."""


def serve(
    config: Annotated[
        str | None,
        typer.Argument(help="The configuration file, tacit.toml unless given; or token, to make one."),
    ] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Serve bundled data; everything is gone at the end.")] = False,
    host: Annotated[str | None, typer.Option(help="Listen here instead of what the file says.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Listen on this port; 0 for a free one.")] = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes of the demo.")] = 1,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Serve a configuration until interrupted."""
    from tempfile import TemporaryDirectory

    from tacit.serve.custody.founding import FILE, found
    from tacit.serve.server import check_installed
    from tacit.serve.server import serve as run

    if demo and config is not None:
        raise InvalidInput("name a configuration file, or give --demo.")
    if config == "token":
        _token(as_json)
        return
    check_installed()
    with _until_stopped():
        if not demo:
            path, tokens = Path(config or FILE), dict[str, str]()
            if config is None and not path.exists():
                tokens = {"custodian": found(path)}
                notice(f"this is the first start: wrote {path} and made a custodian's token, which is shown once.")
            run(path, lambda address: _ready(address, tokens, as_json), host, port, notice)
            return
        from tacit.serve.demo import demo as made

        with TemporaryDirectory(prefix="tacit-serve-") as folder:
            path, tokens = made(Path(folder), workers)
            run(path, lambda address: _ready(address, tokens, as_json), host, port)


@contextmanager
def _until_stopped() -> Iterator[None]:
    """Ctrl-C and SIGTERM are how a server ends well: in-flight questions are answered, then everything is put away."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        yield
    except KeyboardInterrupt:
        notice("stopped; what was in flight is answered, or charged and in the ledger.")


def _token(as_json: bool) -> None:
    from tacit.serve.tokens import new_token

    token, line = new_token()
    if as_json:
        say_json({"token": token, "line": line})
    else:
        print(f'for the analyst, once:     {token}\nfor the configuration:     token = "{line}"')


def _ready(address: str, tokens: dict[str, str], as_json: bool) -> None:
    if as_json:
        say_json({"address": address, "tokens": tokens})
    else:
        print(f"Serving on {address}", *(f"  {name:<10} {token}" for name, token in tokens.items()), sep="\n")
        notice("log in with a token; stop with Ctrl-C.")
    sys.stdout.flush()
