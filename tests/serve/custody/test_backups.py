"""Backups: taken while questions run, put back, verified; nothing spent is forgotten, old copies are noticed."""

from __future__ import annotations

import json
import shutil
import threading
from contextlib import closing
from pathlib import Path

import pytest

from tacit import Pure
from tacit.budgets import Question
from tacit.cli.app import run
from tacit.errors import LedgerError
from tacit.ledger import open_ledger, verify
from tacit.serve.config import load
from tacit.serve.custody.backups import LEDGER, back_up, examine, restore
from tacit.serve.gateway import Gateway
from tacit.serve.records import AuditLog
from tests.serve.support import configuration


def test_a_backup_while_questions_run_is_whole_and_never_behind(tmp_path: Path) -> None:
    config = load(configuration(tmp_path))
    with closing(Gateway(config)) as gateway:
        gateway.ledger.record("analyst paused", {"analyst": "grace"})
    stop = threading.Event()

    def spend() -> None:
        with open_ledger(tmp_path / "ledger.db") as ledger:
            budget = ledger.accounts("visits")["analyst:ada"]
            number = 0
            while not stop.is_set():
                number += 1
                budget.settle(budget.charge(Pure("0.002"), Question(str(number), analyst="ada")), {"value": number})

    threads = [threading.Thread(target=spend) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for number in range(3):
            with open_ledger(tmp_path / "ledger.db", read_only=True) as ledger:
                before = ledger.budget("visits").spent
            found = back_up(config, tmp_path / "tacit.toml", tmp_path / f"backup{number}")
            with open_ledger(tmp_path / f"backup{number}" / LEDGER, read_only=True) as copied:
                assert copied.budget("visits").spent >= before
                assert verify(copied, "visits", noted=found.heads["visits"]).sound
                assert [act.what for act in copied.acts()] == ["analyst paused"]
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert (tmp_path / "backup0" / LEDGER).stat().st_mode & 0o777 == 0o600
    assert examine(tmp_path / "backup0").acts == 1


def test_an_old_copy_is_refused_and_restoring_charges_what_the_log_knows(tmp_path: Path) -> None:
    config = load(configuration(tmp_path))
    with closing(Gateway(config)) as gateway:
        ada = gateway.ledger.accounts("visits")["analyst:ada"]
        ada.settle(ada.charge(Pure(1), Question("first", analyst="ada")), {"value": 1})
        assert run(["custodian", "backup", str(tmp_path / "kept"), "--config", str(tmp_path / "tacit.toml")]) == 0
        ada.settle(ada.charge(Pure(2), Question("second", analyst="ada")), {"value": 2})
        gateway.ledger.record("analyst revoked", {"analyst": "grace"})
        identity = gateway.ledger.identity
    log = AuditLog(config.server.log)
    for outcome, cost in (("answered", "2"), ("stored", "5"), ("budget_exceeded", "7")):
        log.write("asked", analyst="ada", dataset="visits", cost={"epsilon": cost}, outcome=outcome)
    shutil.copy(tmp_path / "kept" / LEDGER, tmp_path / "ledger.db")
    for suffix in ("-wal", "-shm"):
        (tmp_path / f"ledger.db{suffix}").unlink(missing_ok=True)
    with pytest.raises(LedgerError, match="it is an old copy"):
        Gateway(config)
    found = restore(config, tmp_path / "kept")
    assert found.charged == 1
    with closing(Gateway(config)) as gateway:
        assert gateway.ledger.identity == identity
        assert gateway.ledger.budget("visits").spent == Pure(3)  # no less than before, though the copy knew of one
        assert gateway.ledger.accounts("visits")["analyst:ada"].unanswered == 0
        assert verify(gateway.ledger, "visits").sound
        assert gateway.ledger.verify_acts() == ()
    assert list(tmp_path.glob("ledger.db.before-*"))


def test_a_copy_from_before_a_revocation_is_noticed_though_nothing_was_charged_since(tmp_path: Path) -> None:
    config = load(configuration(tmp_path))
    with closing(Gateway(config)):
        back_up(config, tmp_path / "tacit.toml", tmp_path / "kept")
    with closing(Gateway(config)) as gateway:
        gateway.ledger.record("analyst revoked", {"analyst": "ada"})
    shutil.copy(tmp_path / "kept" / LEDGER, tmp_path / "ledger.db")
    for suffix in ("-wal", "-shm"):
        (tmp_path / f"ledger.db{suffix}").unlink(missing_ok=True)
    with pytest.raises(LedgerError, match="old copy"):
        Gateway(config)


def test_a_backup_is_not_written_over_and_a_damaged_one_is_not_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = load(configuration(tmp_path))
    Gateway(config).close()
    arguments = ["custodian", "backup", str(tmp_path / "kept"), "--config", str(tmp_path / "tacit.toml"), "--json"]
    assert run(arguments) == 0
    assert json.loads(capsys.readouterr().out)["acts"] == 0
    assert run(arguments) == 2
    damaged = bytearray((tmp_path / "kept" / LEDGER).read_bytes())
    place = damaged.rfind(b"registered")
    damaged[place : place + 1] = b"R"
    (tmp_path / "kept" / LEDGER).write_bytes(damaged)
    with pytest.raises(LedgerError):
        restore(config, tmp_path / "kept")
    with closing(Gateway(config)):
        pass  # what was there is still there
