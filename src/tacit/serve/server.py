"""Running the gateway under uvicorn: one process, or several on one ledger.

The configuration is opened once before anything listens, so that its mistakes, keys that repeat among them, are said at
once and accounts are there when workers look for them. A worker that dies is replaced; what it had charged is in the
ledger. No access log is kept: the audit log says what matters, and addresses hold nothing secret anyway.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from tacit.errors import InvalidInput, not_installed
from tacit.serve.config import Config, load


def check_installed() -> None:
    """Refuse to begin where what a gateway needs is missing: a first start makes a token, which is shown once."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise not_installed("serving needs the packages starlette and uvicorn", "serve") from None


def serve(
    path: Path,
    ready: Callable[[str], None],
    host: str | None = None,
    port: int | None = None,
    advise: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve a configuration until told to stop; ``ready`` is given the address once it listens."""
    check_installed()
    import uvicorn
    from uvicorn.supervisors import Multiprocess

    from tacit.serve import checking
    from tacit.serve.app import CONFIG, LEDGER_ID, LOGGED_OUT, SECRET
    from tacit.serve.connections import SETTINGS
    from tacit.serve.custody.standing import overrides
    from tacit.serve.gateway import Gateway

    config = load(path)
    with closing(Gateway(config)) as gateway:
        gateway.check_sizes()
        checking.before_start(gateway.config)
        for words in (*overrides(config, gateway.standing), *gateway.unopened.values()):
            advise(words)
    if not config.server.ledger_id:
        advise(
            f'add ledger_id = "{gateway.ledger.identity}" under [server], so that no other ledger can be used by '
            "mistake."
        )
    os.environ[CONFIG] = str(path.absolute())
    os.environ[SECRET] = secrets.token_hex(32)
    os.environ[LEDGER_ID] = gateway.ledger.identity
    server = config.server
    settings = uvicorn.Config(
        "tacit.serve.app:from_environment",
        factory=True,
        host=host or server.host,
        port=server.port if port is None else port,
        workers=server.workers,
        log_level="warning",
        access_log=False,
        **SETTINGS,
        timeout_graceful_shutdown=int(config.limits.question_seconds + config.limits.padding_seconds) + 5,
        timeout_worker_healthcheck=30,
    )
    try:
        listening = settings.bind_socket()
    except SystemExit:
        raise InvalidInput(
            f"port {settings.port} of {settings.host} cannot be used; choose another with --port."
        ) from None
    with TemporaryDirectory(prefix="tacit-logins-") as folder:
        logged_out = Path(folder) / "logged-out"
        logged_out.touch(0o600)
        os.environ[LOGGED_OUT] = str(logged_out)
        ready(address(config, settings.host, listening.getsockname()[1]))
        with checking.in_background(path, config):
            if server.workers > 1:
                Multiprocess(settings, sockets=[listening]).run()
            else:
                uvicorn.Server(settings).run(sockets=[listening])


def address(config: Config, host: str, port: int) -> str:
    """What people type to get here."""
    shown = f"[{host}]" if ":" in host else host
    return config.server.address or f"http://{shown}:{port}"
