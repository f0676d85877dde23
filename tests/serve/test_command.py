"""`tacit serve` from the command line: tokens, mistakes, and an end that cleans up."""

from __future__ import annotations

import json
import signal
import socket
from pathlib import Path

import httpx
import pytest

from tacit.cli.app import run
from tacit.serve.tokens import digest
from tests.serve.support import configuration, serving


def test_a_token_is_made_with_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["serve", "token", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["line"] == f"sha256:{digest(made['token'])}"
    assert len(made["token"]) > 40
    assert run(["serve", "token"]) == 0
    assert 'token = "sha256:' in capsys.readouterr().out


def test_mistakes_end_with_code_2_and_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = configuration(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for arguments in (
            ["serve", "x.toml", "--demo"],
            ["serve", "x.toml"],
            ["serve", str(path), "--port", port],
        ):
            assert run(arguments) == 2
            said = capsys.readouterr().err.strip().splitlines()
            assert said[-1].startswith("tacit: ")
            assert said[-1].endswith(".")


def test_ctrl_c_ends_well_and_the_demo_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with serving("--demo", "--workers", "2") as served:
        assert set(served.tokens) == {"ada", "grace", "custodian"}
        facts = served.line("ada").get("/v1/datasets/wages").json()
        assert [table["name"] for table in facts["tables"]] == ["wages", "industries"]
        assert list(tmp_path.glob("tacit-serve-*"))
        entered = httpx.post(f"{served.address}/login", data={"token": served.tokens["ada"]})
        for _ in range(10):  # each on a line of its own, so that both workers see the cookie of one of them
            assert httpx.get(f"{served.address}/v1/datasets", cookies=entered.cookies, timeout=200).status_code == 200
        where = httpx.URL(served.address)
        with socket.create_connection((where.host, where.port or 80), 200) as line:
            line.sendall(b"\x00 no HTTP at all\r\n\r\n")
            assert line.recv(100).startswith(b"HTTP/1.1 400")
        served.process.send_signal(signal.SIGINT)
        assert served.process.wait(200) == 0
        assert not list(tmp_path.glob("tacit-serve-*"))
        assert served.process.stderr is not None
        assert "HTTP" not in served.process.stderr.read()  # whoever sends it would fill the log
