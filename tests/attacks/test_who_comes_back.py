"""Attacks by who was there before: names that come back, files that changed, datasets that everybody could ask."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from tacit.errors import InvalidInput
from tacit.serve.config import load
from tacit.serve.custody.actions import Desk, propose
from tacit.serve.custody.catalogue import read_action
from tacit.serve.gateway import Gateway
from tests.attacks.test_custody import do
from tests.serve.support import TOKENS, configuration


def without_grace(path: Path) -> None:
    """Take grace out of the file, as somebody would who thinks that this is all."""
    head, _, rest = path.read_text().partition('[[analysts]]\nname = "grace"')
    path.write_text(head + rest[rest.index("\n[limits]") :])


def test_a_name_that_was_somebodys_is_nobody_elses(tmp_path: Path) -> None:
    """A further token of grace would open the door of another grace, who would see what the first one asked."""
    path = configuration(tmp_path)
    with closing(Gateway(load(path))) as gateway:
        do(gateway, "set limit", name="grace", dataset="visits", epsilon="0.5")
        do(gateway, "add token", name="grace")
    without_grace(path)
    with closing(Gateway(load(path))) as gateway:  # it starts, and knows grace no more
        assert list(gateway.config.analysts) == ["ada"]
        assert not [caller for caller in gateway.standing.digests(gateway.config) if caller.name == "grace"]
        with pytest.raises(InvalidInput, match="was somebody's before"):
            do(gateway, "add analyst", name="grace", dataset="visits")
    path.write_text(path.read_text() + f'[[analysts]]\nname = "grace"\ntoken = "{TOKENS["grace"][1]}"\n')
    with closing(Gateway(load(path))) as gateway:  # she comes back with what the custodian said of her
        assert gateway.budget_of("grace", "visits").total.text() == "Pure 1/2"


def test_who_may_ask_a_new_dataset_is_said_before_it_is_added(tmp_path: Path) -> None:
    path = configuration(tmp_path)
    fields = {"name": "more", "source": "visits.csv", "person": "who", "epsilon": "1", "persons": "1,200"}
    with closing(Gateway(load(path))) as gateway:
        desk = Desk(gateway, "custodian", "test", local=True)
        action = read_action({"action": "add dataset", **fields})
        assert "by those whom the file or an earlier act gave it: ada." in propose(desk, action).words
        gateway.ledger.record("dataset added", {"dataset": "more", "settings": action.settings(tmp_path)})  # type: ignore[attr-defined]
        gateway.follow()
        assert gateway.config.datasets["more"].persons == 1200
        assert [name for name, allowed in gateway.config.analysts.items() if "more" in allowed] == ["ada"]
