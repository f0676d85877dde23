"""`tacit serve --demo`: the bundled wages with two analysts and a custodian, in a folder that is gone at the end."""

from __future__ import annotations

from pathlib import Path

from tacit.data import INDUSTRIES, WAGES
from tacit.serve.tokens import new_token

PEOPLE = ("ada", "grace", "custodian")


def demo(folder: Path, workers: int = 1) -> tuple[Path, dict[str, str]]:
    """Write a configuration into a folder; returns its path and everybody's token."""
    made = {name: new_token() for name in PEOPLE}
    text = f"""
[server]
ledger = "ledger.db"
log = "audit.jsonl"
workers = {workers}

[custodian]
token = "{made["custodian"][1]}"

[datasets.wages]
budget = {{ epsilon = 10 }}
persons = 5000

[datasets.wages.tables.wages]
source = '{WAGES}'
person = "woman"
key = ["woman", "year"]

[datasets.wages.tables.industries]
source = '{INDUSTRIES}'
public = true
key = "code"

[[analysts]]
name = "ada"
token = "{made["ada"][1]}"
datasets.wages.limit.epsilon = 5

[[analysts]]
name = "grace"
token = "{made["grace"][1]}"
datasets.wages.limit.epsilon = 2
"""
    path = folder / "tacit.toml"
    path.write_text(text, encoding="utf-8")
    return path, {name: token for name, (token, _) in made.items()}
