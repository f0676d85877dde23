"""The page about serving says what is true: every setting is listed, and its example can be loaded."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import duckdb
import pytest
import typer

from tacit.cli.app import app
from tacit.guarantees import Pure
from tacit.serve.assistants.tools import TOOLS
from tacit.serve.config import Access, Limits, Server, SignIn, Telemetry, load
from tacit.serve.tokens import new_token
from tacit.serve.web import ERRORS
from tests.serve.support import serving

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "serve.md").read_text(encoding="utf-8")


def test_every_setting_is_listed_with_its_default() -> None:
    for kind in (Server, Limits):
        for item in fields(kind):
            assert f"`{item.name}`" in PAGE, item.name
            shown = f'`"{item.default}"`' if isinstance(item.default, str) else f"`{item.default}`"
            assert not item.default or shown in PAGE, item.name
    for _, status, word in ERRORS:
        assert f"`{word}`" in PAGE
        assert str(status) in PAGE


WAYS = (Path(__file__).parents[2] / "docs" / "how-to" / "serve-ways.md").read_text(encoding="utf-8")


def test_the_page_about_ways_in_lists_its_settings_and_its_examples_load(tmp_path: Path) -> None:
    for item in fields(SignIn):
        assert f"`{item.name}`" in WAYS, item.name
        assert not isinstance(item.default, str) or not item.default or f'`"{item.default}"`' in WAYS, item.name
    for word in ("subject", "per_minute", "datasets.NAME.approve_above"):
        assert f"`{word}`" in WAYS
    for tool in TOOLS:
        assert f"`{tool.name}`" in WAYS
    first, assistant, traces = re.findall(r"```toml\n(.*?)```", WAYS, re.S)
    path = tmp_path / "tacit.toml"
    path.write_text(first + traces + assistant.replace("sha256:…", new_token()[1]), encoding="utf-8")
    config = load(path)
    assert config.subjects == {"248289761001": "ada"}
    assert config.analysts["ada-assistant"]["shop"] == Access(limit=Pure("0.5"), approve_above=Pure("0.1"))
    assert (config.telemetry.endpoint, config.telemetry.service) == ("http://127.0.0.1:4318", Telemetry().service)
    given = json.loads(re.findall(r"```json\n(.*?)```", WAYS, re.S)[0])["mcpServers"]["tacit"]
    command: Any = typer.main.get_command(app)
    assert command.commands[given["args"][0]].make_context("mcp", given["args"][1:]).params["address"]
    assert "TACIT_TOKEN" in given["env"]
    for file in ("Dockerfile", "compose.yaml", "tacit.example.toml", "tacit.service"):
        assert f"`{file}`" in WAYS
        assert (Path(__file__).parents[2] / "deploy" / file).exists()


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", PAGE, re.S)
    assert found is not None
    return re.sub(r"^    ", "", found.group(1), flags=re.M)


def test_the_example_can_be_loaded_and_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, tokens = block("toml"), []
    while "sha256:…" in text:
        token, line = new_token()
        tokens.append(token)
        text = text.replace("sha256:…", line, 1)
    path = tmp_path / "tacit.toml"
    path.write_text(text.replace("workers = 2", "workers = 1"), encoding="utf-8")
    config = load(path)
    assert config.analysts["ada"] == {"shop": Access(limit=Pure("1.5"))}
    assert config.analysts["grace"] == {"shop": Access(share=Pure(1))}
    assert list(config.datasets["shop"].tables) == ["orders", "items", "nations"]
    made = duckdb.connect()
    orders = "SELECT range AS id, range % 50 AS customer, range * 1.5 AS amount FROM range(200)"
    made.execute(f"COPY ({orders}) TO '{tmp_path / 'orders.parquet'}'")
    made.execute(f"COPY (SELECT range AS order_id, 1 AS n FROM range(200)) TO '{tmp_path / 'items.parquet'}'")
    (tmp_path / "nations.csv").write_text("code,name\n1,France\n")
    with serving(str(path), tokens={"ada": tokens[1]}) as served:
        monkeypatch.setenv("TACIT_TOKEN", tokens[1])
        exec(block("python").replace("https://tacit.example.org", served.address), {})
        budget = served.line("ada").get("/v1/datasets/shop/budget").json()
    assert (budget["spent"], budget["remaining"]) == ("Pure 1/2", "Pure 1")
