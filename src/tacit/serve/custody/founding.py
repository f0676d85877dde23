"""A gateway's first file: a ledger, a log and a custodian; everything else is added while it runs."""

from __future__ import annotations

import os
from pathlib import Path

from tacit.errors import InvalidInput
from tacit.serve.tokens import new_token

FILE = "tacit.toml"
"""What a configuration is called unless somebody says otherwise."""
_TEXT = """# Tacit Serve. Datasets and analysts may stand here, or be added while the gateway runs
# (the custodian's page, `tacit custodian`); these are kept in the ledger.
[server]
ledger = "ledger.db"
log = "audit.jsonl"

[custodian]
token = "{line}"
"""


def found(path: Path) -> str:
    """Write a first configuration that only this user can read; returns the custodian's token."""
    token, line = new_token()
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(_TEXT.format(line=line))
    except FileExistsError:
        raise InvalidInput(f"there is a file {str(path)!r} already; serve it, or name another.") from None
    except OSError:
        raise InvalidInput(f"{str(path)!r} cannot be written; choose a folder that is yours.") from None
    return token
