"""The page about serving says what is true: every setting is listed, and its example can be loaded."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from tacit.guarantees import Pure
from tacit.serve.config import Access, Limits, Server, load
from tacit.serve.tokens import new_token
from tacit.serve.web import ERRORS

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


def test_the_example_can_be_loaded(tmp_path: Path) -> None:
    found = re.search(r"```toml\n(.*?)```", PAGE, re.S)
    assert found is not None
    text = re.sub(r"^    ", "", found.group(1), flags=re.M)
    while "sha256:…" in text:
        text = text.replace("sha256:…", new_token()[1], 1)
    (tmp_path / "tacit.toml").write_text(text, encoding="utf-8")
    config = load(tmp_path / "tacit.toml")
    assert config.analysts["ada"] == {"shop": Access(limit=Pure("1.5"))}
    assert config.analysts["grace"] == {"shop": Access(share=Pure(1))}
    assert list(config.datasets["shop"].tables) == ["orders", "items", "nations"]
