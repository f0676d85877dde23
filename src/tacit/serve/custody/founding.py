"""A gateway's first file: a ledger, a log and a custodian; everything else is added while it runs."""

from __future__ import annotations

import os
from pathlib import Path

from tacit.errors import InvalidInput, TacitError
from tacit.ledger import open_ledger
from tacit.serve.tokens import new_token

FILE = "tacit.toml"
"""What a configuration is called unless somebody says otherwise."""
LEDGER = "ledger.db"
_TEXT = """# Tacit Serve. Datasets and analysts may stand here, or be added while the gateway runs
# (the custodian's page, `tacit custodian`); these are kept in the ledger.
[server]
ledger = "{ledger}"
ledger_id = "{identity}"  # so that no other ledger is used by mistake
log = "audit.jsonl"

[custodian]
token = "{line}"
"""


def found(path: Path) -> str:
    """Make a ledger, and write a first configuration that only this user can read; returns the custodian's token."""
    token, line = new_token()
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            try:
                with open_ledger(path.with_name(LEDGER)) as ledger:
                    file.write(_TEXT.format(line=line, ledger=LEDGER, identity=ledger.identity))
            except TacitError:
                path.unlink()
                raise
    except FileExistsError:
        raise InvalidInput(f"there is a file {str(path)!r} already; serve it, or name another.") from None
    except OSError:
        raise InvalidInput(f"{str(path)!r} cannot be written; choose a folder that is yours.") from None
    return token
