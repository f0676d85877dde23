"""The guide to publishing runs: a yearly statistic from a table in PostgreSQL."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.cli.app import run as main
from tests.postgres import POSTGRES, REQUIRED, run
from tests.test_docs import ROOT, blocks, commands

GUIDE = ROOT / "docs" / "how-to" / "publishing.md"
ADDRESS = "postgresql://publisher@db.example.org/registry"


@pytest.mark.skipif(not (POSTGRES or REQUIRED), reason="not run: there is no embedded PostgreSQL")
def test_the_guide_runs(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    run(
        server,
        "CREATE SCHEMA clinics",
        "CREATE TABLE clinics.visits AS SELECT i % 300 AS patient, DATE '2025-01-01' + i % 730 AS day, "
        "(ARRAY['north', 'south', 'west'])[1 + i % 3] AS region, i % 90 AS minutes FROM generate_series(1, 1500) AS i",
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TACIT_LEDGER", raising=False)
    (written,) = blocks(GUIDE, "toml")
    assert ADDRESS in written
    Path("clinics.toml").write_text(written.replace(ADDRESS, server))
    said = []
    for command in commands(GUIDE):
        assert main(command) == 0, (command, capfd.readouterr().err)
        said.append(capfd.readouterr().out)
    assert "would be charged Pure(2)" in said[0]
    assert "paid for with Pure(2)" in said[1]
    assert "nothing was charged" in said[2]
    assert "of which Pure(4) is spent" in said[4]
    assert "Visits to clinics in 2026" in (tmp_path / "published" / "2026" / "index.html").read_text()
