"""The files for deployment fit together and fit the gateway: paths, commands, ports, times; without docker."""

from __future__ import annotations

import configparser
import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import typer
import yaml

from tacit.cli.app import app
from tacit.guarantees import Pure
from tacit.serve.app import application
from tacit.serve.config import Config, Server, load
from tacit.serve.tokens import new_token
from tests.serve.support import configuration

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
WHERE = "/etc/tacit/tacit.toml"


def instructions() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile, one for each, continued lines joined."""
    text = re.sub(r"^#.*\n", "", (DEPLOY / "Dockerfile").read_text(), flags=re.M).replace("\\\n", " ")
    return [(line.split(None, 1)[0], line.split(None, 1)[1]) for line in text.splitlines() if line.strip()]


def parsed(arguments: list[str]) -> dict[str, Any]:
    """The arguments of a command that exists; raises if it would be refused."""
    group: Any = typer.main.get_command(app)
    command = group.commands[arguments[0]]
    found: dict[str, Any] = command.make_context(arguments[0], arguments[1:]).params
    return found


def example(folder: Path) -> Config:
    text = (DEPLOY / "tacit.example.toml").read_text()
    while "sha256:…" in text:
        text = text.replace("sha256:…", new_token()[1], 1)
    path = folder / "tacit.toml"
    path.write_text(text)
    return load(path)


def test_the_image_is_made_of_what_is_there() -> None:
    steps = instructions()
    assert [words for name, words in steps if name == "FROM"][-1] == "python:3.13-slim"
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    for _, words in (step for step in steps if step[0] == "COPY" and "--from" not in step[1]):
        for source in words.split()[:-1]:
            assert (ROOT / source).exists(), source
            assert f"!{source.split('/')[0]}" in {line.rstrip("/") for line in ignored}, source
    said = dict(steps)
    assert json.loads(said["ENTRYPOINT"]) == ["tacit"]
    found = parsed(json.loads(said["CMD"]))
    assert (found["config"], found["host"]) == (WHERE, "0.0.0.0")
    assert int(said["EXPOSE"]) == Server().port
    assert said["USER"] == "tacit"  # nobody in particular, before anything runs
    assert [name for name, _ in steps].index("USER") < [name for name, _ in steps].index("ENTRYPOINT")
    assert f":{Server().port}/readyz" in said["HEALTHCHECK"]


def test_the_packages_of_the_image_are_those_that_were_tested() -> None:
    pins = re.compile(r"^[\w.\-\[\]]+==[^\\\n;]+", re.M)  # on whichever system
    tested = {pin.strip() for pin in pins.findall((ROOT / "requirements" / "dev.txt").read_text())}
    served = {pin.strip() for pin in pins.findall((ROOT / "requirements" / "serve.txt").read_text())}
    assert served <= tested
    names = {re.split("[=; ]", pin)[0] for pin in served}
    wanted = {"authlib", "duckdb", "httpx", "mcp", "opentelemetry-sdk", "psycopg", "starlette", "typer", "uvicorn"}
    assert wanted <= names


def test_the_services_fit_together(tmp_path: Path) -> None:
    found = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    gateway, ledger = found["services"]["gateway"], found["services"]["ledger"]
    assert parsed(gateway["command"])["config"] == WHERE
    assert (DEPLOY / gateway["build"]["context"] / gateway["build"]["dockerfile"]).resolve() == DEPLOY / "Dockerfile"
    mounts = dict(volume.split(":")[:2] for volume in gateway["volumes"])
    assert mounts["./tacit.toml"] == WHERE
    assert {volume.split(":")[0] for service in (gateway, ledger) for volume in service["volumes"]} == {
        "./tacit.toml", "./data", *found["volumes"],
    }  # fmt: skip
    for service in (gateway, ledger):
        assert set(service["secrets"]) <= set(found["secrets"])
        assert set(service["networks"]) <= set(found["networks"])
    assert found["networks"]["inside"]["internal"]
    assert "ports" not in ledger
    assert all(port.startswith("127.0.0.1:") for port in gateway["ports"])
    config = example(tmp_path)
    user, database = ledger["environment"]["POSTGRES_USER"], ledger["environment"]["POSTGRES_DB"]
    assert config.server.ledger == f"postgresql://{user}@ledger/{database}"
    state = [path for name, path in mounts.items() if name in found["volumes"]]
    for file in (config.server.log, config.server.audit_report, config.server.check_report):
        assert str(Path(file).parent) in state
    for table in config.datasets["orders"].tables.values():
        assert str(Path(str(table.source.data)).parent) == mounts["./data"]
    grace = int(gateway["stop_grace_period"].removesuffix("s"))
    assert grace > config.limits.question_seconds + config.limits.padding_seconds + 5
    ignored = (DEPLOY / ".gitignore").read_text().split()
    assert {"tacit.toml", "ledger-password", "data/"} <= set(ignored)


def test_the_entrypoint_hands_the_password_on(tmp_path: Path) -> None:
    """The shell's line, run with another `tacit` and another file."""
    entry = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["gateway"]["entrypoint"]
    line = [part.replace("$$", "$").replace("/run/secrets/", f"{tmp_path}/") for part in entry]
    (tmp_path / "ledger-password").write_text("se cret\n")
    (tmp_path / "tacit").write_text('#!/bin/sh\necho "$PGPASSWORD:$*"\n')
    (tmp_path / "tacit").chmod(0o700)
    ran = subprocess.run(
        [*line, "serve", "a b"], env={"PATH": f"{tmp_path}:/bin:/usr/bin"}, capture_output=True, text=True
    )
    assert ran.stdout == "se cret:serve a b\n"


def test_an_assistant_has_a_budget_and_a_rule_of_its_own(tmp_path: Path) -> None:
    access = example(tmp_path).analysts["ada-assistant"]["orders"]
    assert (access.limit, access.approve_above) == (Pure("0.5"), Pure("0.1"))


def test_the_unit_runs_the_command_and_waits_for_what_was_paid(tmp_path: Path) -> None:
    unit = configparser.ConfigParser(strict=True, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(DEPLOY / "tacit.service")
    service = unit["Service"]
    program, *arguments = shlex.split(service["ExecStart"])
    assert Path(program).name == "tacit"
    assert parsed(arguments)["config"] == WHERE
    config = load(configuration(tmp_path))
    assert int(service["TimeoutStopSec"]) > config.limits.question_seconds + 5
    assert service["KillMode"] == "mixed"  # executors are ended by the gateway, after their answers
    assert service["ProtectSystem"] == "strict"
    assert service["LimitCORE"] == "0"
    assert unit["Install"]["WantedBy"] == "multi-user.target"
    if (analyse := shutil.which("systemd-analyze")) is None:
        return  # there is no systemd on this machine
    copy = tmp_path / "tacit.service"
    copy.write_text((DEPLOY / "tacit.service").read_text().replace(program, "/bin/true"))
    ran = subprocess.run([analyse, "verify", str(copy)], capture_output=True, text=True)
    assert "tacit.service" not in ran.stderr, ran.stderr


def test_the_routes_that_are_watched_exist(tmp_path: Path) -> None:
    shell: Any = application(load(configuration(tmp_path)), bytes(32))
    paths = {route.path for route in shell._app.routes}
    assert {"/healthz", "/readyz", "/metrics", "/mcp"} <= paths
    shell._here.gateway.close()
