"""Doors: who may ask what, where a token goes, when a login ends, and which ledger is the right one."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from inspect import getattr_static, isabstract
from pathlib import Path
from threading import Barrier
from typing import Any

import httpx
import pyarrow as pa
import pytest
from starlette.testclient import TestClient

import tacit
from tacit import EngineError, InvalidInput, LedgerError, Private, Pure, UnsupportedQuery
from tacit.budgets import FailuresUsedUp, Policy, open_budget
from tacit.budgets.accounts import statistics
from tacit.ledger import open_ledger, verify
from tacit.ledger.heads import HeadFile
from tacit.serve.app import application
from tacit.serve.client import connect
from tacit.serve.config import load
from tacit.serve.gateway import Gateway
from tacit.serve.running import Busy
from tacit.serve.tokens import ANALYST, Caller, Doorkeeper, Revoked
from tacit.tables.statistics.base import Statistic
from tests.serve.support import configuration, token

TABLE = pa.table({"who": ["a", "b", "c"], "x": [1, 2, 3], "place": ["u", "v", "u"]})
ADA, GRACE = Caller(ANALYST, "ada"), Caller(ANALYST, "grace")


# Policies


def _session(*names: str) -> tacit.Session:
    budget = open_budget(Pure(100), policy=Policy(statistics=frozenset(names)))
    return tacit.Session({"t": Private(TABLE, person="who")}, budget)


ASKED = {
    "sum": "SUM(x)", "count": "COUNT(*)", "mean": "AVG(x)", "persons": "COUNT(DISTINCT who)", "median": "MEDIAN(x)",
    "quantile": "QUANTILE_CONT(x, 0.9)", "min": "MIN(x)", "max": "MAX(x)", "variance": "VARIANCE(x)",
    "std": "STDDEV(x)", "nunique": "COUNT(DISTINCT x)",
}  # fmt: skip


@pytest.mark.parametrize("name", ASKED)
def test_a_policy_allows_the_statistics_it_names_and_no_others(name: str) -> None:
    with _session(name) as session:
        session.cost(f"SELECT {ASKED[name]} FROM t", epsilon=1)
        other = "SUM(x)" if name != "sum" else "COUNT(*)"
        with pytest.raises(UnsupportedQuery, match=r"does not allow the statistic '(sum|count)'; nothing was spent"):
            session.sql(f"SELECT {other} FROM t", epsilon=1)


def test_a_policy_of_sums_and_counts_answers_them_grouped_and_together() -> None:
    with _session("sum", "count") as session:
        session.sql("SELECT SUM(x), COUNT(*) FROM t", epsilon=1)
        session["t"].group_by("place", keys=["u", "v"]).sum("x", epsilon=1)
        with pytest.raises(UnsupportedQuery, match="'histogram'"):
            session["t"].histogram("x", [0, 2, 4], epsilon=1)


def test_every_statistic_has_a_known_name() -> None:
    def below(kind: type[Any]) -> Iterator[type[Any]]:
        found: type[Any]
        for found in kind.__subclasses__():
            yield found
            yield from below(found)

    import tacit.black_boxes.aggregation
    import tacit.black_boxes.wrapping
    import tacit.functions  # noqa: F401

    for kind in below(Statistic):
        if kind.__module__.startswith("tacit.") and not isabstract(kind):
            key = getattr_static(kind, "key")
            assert isinstance(key, property) or key in statistics(), kind
    with pytest.raises(
        InvalidInput, match="there is no statistic 'total'; there are above, correlation, count, covariance"
    ):
        Policy(statistics=frozenset({"total"}))


# Where a token goes


@pytest.mark.parametrize(
    "address",
    [
        "http://localhost.evil.test", "http://127.0.0.1.evil.test", "http://127.0.0.1@evil.test", "http://evil.test",
        "http://localhost:80@evil.test", "http://[::1].evil.test", "http://localhost\\@evil.test", "http://10.0.0.1",
        "http://0.0.0.0", "ftp://localhost", "file:///etc", "//localhost", "localhost", "", "https://", "https://u:p@x.test",
    ],
)  # fmt: skip
def test_a_token_is_sent_nowhere_in_the_clear(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def sent(*_: Any, **__: Any) -> None:
        raise AssertionError("the token was sent")

    monkeypatch.setattr(httpx.Client, "request", sent)
    with pytest.raises(InvalidInput, match=r"^address must "):
        connect(address, "tacit_token")


@pytest.mark.parametrize("address", ["http://127.0.0.1:1", "http://localhost:1", "http://[::1]:1", "https://x.test"])
def test_a_token_goes_to_real_loopback_and_by_https(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.evil.test")
    monkeypatch.setenv("ALL_PROXY", "http://proxy.evil.test")
    seen: list[httpx.Client] = []

    def sent(self: httpx.Client, *_: Any, **__: Any) -> httpx.Response:
        seen.append(self)
        return httpx.Response(302, headers={"location": "http://evil.test"}, json={"error": "x", "message": "moved"})

    monkeypatch.setattr(httpx.Client, "request", sent)
    with pytest.raises(InvalidInput, match="moved"):
        connect(address, "tacit_token")
    (line,) = seen
    assert not line.follow_redirects
    assert line.trust_env == address.startswith("https")  # on this machine no proxy is asked


# Logging out


def test_a_cookie_that_was_logged_out_counts_in_no_worker_and_after_no_restart(tmp_path: Path) -> None:
    shared = tmp_path / "logged-out"
    shared.touch()
    digests = {ADA: "0" * 64}
    first, second = (Doorkeeper(digests, bytes(32), Revoked(shared)) for _ in range(2))
    cookie, other = first.cookie(ADA), first.cookie(ADA)
    assert second.holder(cookie) == ADA
    first.forget(cookie)
    restarted = Doorkeeper(digests, bytes(32), Revoked(shared))
    for keeper in (first, second, restarted):
        assert keeper.holder(cookie) is None
        assert keeper.holder(other) == ADA


def test_logging_out_over_http(tmp_path: Path) -> None:
    import re

    with TestClient(application(load(configuration(tmp_path)), bytes(32)), follow_redirects=False) as client:
        client.post("/login", data={"token": token("ada")})
        cookie = client.cookies["tacit"]
        mark = re.search(r'name="mark" value="([0-9a-f]+)"', client.get("/datasets/visits").text)
        assert mark is not None
        assert client.post("/logout", data={"mark": mark[1]}).status_code == 303
        client.cookies.set("tacit", cookie)  # somebody had kept it
        assert client.get("/datasets/visits").headers["location"] == "/login"


# The right ledger


def _charged(path: Path, times: int = 1) -> None:
    with open_ledger(path) as ledger:
        budget = ledger.budget("d", Pure(100))
        for _ in range(times):
            budget.charge(Pure(1))


def test_a_ledger_is_its_owners_alone_whatever_the_umask(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        ledger = open_ledger(tmp_path / "ledger.db")
        ledger.budget("d", Pure(1)).charge(Pure(1))
        files = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
        ledger.close()
    finally:
        os.umask(old)
    assert files == dict.fromkeys(("ledger.db", "ledger.db-wal", "ledger.db-shm", "ledger.db.head"), 0o600)
    (tmp_path / "ledger.db").chmod(0o644)
    with pytest.warns(UserWarning, match="chmod 600"):
        open_ledger(tmp_path / "ledger.db").close()


def _copied(source: Path, target: Path) -> None:
    """A whole copy of a ledger's file, its log written into it."""
    with sqlite3.connect(source) as a, sqlite3.connect(target) as b:
        a.backup(b)
    a.close()
    b.close()


def test_an_old_copy_that_is_put_back_is_noticed(tmp_path: Path) -> None:
    path, copy = tmp_path / "ledger.db", tmp_path / "copy.db"
    _charged(path, 3)
    _copied(path, copy)
    _charged(path)
    for name in ("ledger.db-wal", "ledger.db-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    shutil.copy(copy, path)
    with pytest.raises(LedgerError, match=r"old copy, without the entry 5 .*nothing was spent.*`tacit ledger accept`"):
        open_ledger(path)
    with open_ledger(path, read_only=True) as ledger:  # the custodian can look at it
        assert any("old copy" in problem for problem in verify(ledger, "d").problems)
    with open_ledger(path, accept=True) as ledger:
        assert ledger.budget("d").spent == Pure(3)
    _charged(path)
    with open_ledger(path) as ledger:
        assert verify(ledger, "d").sound


def test_a_head_that_is_gone_or_anothers_is_noticed(tmp_path: Path) -> None:
    path, other = tmp_path / "ledger.db", tmp_path / "other.db"
    _charged(path)
    _charged(other)
    shutil.copy(tmp_path / "other.db.head", tmp_path / "ledger.db.head")
    with pytest.raises(LedgerError, match="belongs to another ledger"):
        open_ledger(path)
    (tmp_path / "ledger.db.head").unlink()
    with pytest.raises(LedgerError, match="gone or cannot be read"):
        open_ledger(path)


def test_a_ledger_that_is_gone_is_not_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    running = open_ledger(path)
    running.budget("d", Pure(10))
    running.close()  # its next question opens the file again
    path.unlink()
    with pytest.raises(LedgerError):
        running.budget("d").charge(Pure(1))
    with pytest.raises(LedgerError, match=r"there was a ledger at .* and it is gone"):
        open_ledger(path)
    assert not path.exists()


def test_a_ledger_of_before_is_given_its_head(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    _charged(path)
    (tmp_path / "ledger.db.head").unlink()
    with sqlite3.connect(path) as file:
        file.execute("DELETE FROM tacit_meta WHERE name <> 'version'")
    file.close()
    with open_ledger(path) as ledger:
        identity = ledger.identity
        assert len(identity) == 32
        assert ledger.budget("d").spent == Pure(1)
    with open_ledger(path) as ledger:
        assert ledger.identity == identity


def _number(path: Path) -> int:
    """The number of the entry that the head of a ledger names."""
    return int((path.parent / f"{path.name}.head").read_text().split()[1])


def test_a_ledger_has_one_head_wherever_the_process_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with open_ledger("ledger.db") as ledger:
        budget = ledger.budget("d", Pure(10))
        monkeypatch.chdir(tmp_path / "there")
        budget.charge(Pure(1))
    assert not list((tmp_path / "there").iterdir())
    assert _number(tmp_path / "here" / "ledger.db") == 2


def test_a_link_to_a_ledger_is_the_ledger(tmp_path: Path) -> None:
    path, link = tmp_path / "ledger.db", tmp_path / "link.db"
    link.symlink_to(path)
    for way in (link, path, link):  # the first makes it
        _charged(way)
    assert _number(path) == 4
    assert not (tmp_path / "link.db.head").exists()
    path.unlink()
    path.symlink_to(link)
    with pytest.raises(LedgerError, match="nothing was spent"):
        open_ledger(link)


def test_a_group_that_shares_a_ledger_shares_its_head(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    _charged(path)
    path.chmod(0o660)
    open_ledger(path).close()
    head = tmp_path / "ledger.db.head"
    assert stat.S_IMODE(head.stat().st_mode) == 0o660
    assert head.stat().st_gid == path.stat().st_gid
    with open_ledger(path) as ledger:
        path.chmod(0o600)
        ledger.budget("d").charge(Pure(1))
    assert stat.S_IMODE(head.stat().st_mode) == 0o600


def test_a_ledger_whose_head_may_not_be_written_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, real = tmp_path / "ledger.db", os.open
    _charged(path)

    def refused(file: Any, flags: int, *rest: Any) -> int:
        if str(file).endswith(".head") and flags & os.O_RDWR:
            raise PermissionError(13, "no")
        return real(file, flags, *rest)

    monkeypatch.setattr(os, "open", refused)
    for accept in (False, True):
        with pytest.raises(
            LedgerError, match=r"ledger\.db\.head .* may not be read and written by you; nothing was spent"
        ):
            open_ledger(path, accept=accept)
    with open_ledger(path, read_only=True) as ledger:
        assert verify(ledger, "d").sound


def test_a_head_left_behind_is_told_and_brought_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a kill between the commit and the head: an old copy put back then would not be noticed."""
    path = tmp_path / "ledger.db"
    _charged(path)

    def fails(*_: Any, **__: Any) -> None:
        raise OSError

    with open_ledger(path) as ledger, monkeypatch.context() as patch:
        patch.setattr(HeadFile, "write", fails)
        with pytest.warns(UserWarning, match=r"ledger\.db\.head could not be written, so an old copy"):
            ledger.budget("d").charge(Pure(1))
        assert ledger.budget("d").spent == Pure(2)
    assert _number(path) == 2
    with open_ledger(path, read_only=True):
        assert _number(path) == 2  # a view changes nothing
    open_ledger(path).close()
    assert _number(path) == 3


def test_a_head_does_not_follow_entries_that_do_not_hang_together(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    _charged(path)
    with sqlite3.connect(path) as file:
        file.execute("INSERT INTO tacit_entries VALUES ('d', 3, '2026', 'charged', '{}', 'forged')")
    file.close()
    with open_ledger(path) as ledger:
        assert not verify(ledger, "d").sound
    assert _number(path) == 2


def test_a_ledger_of_before_opened_by_many_at_once_gets_one_identity_and_one_head(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    _charged(path)
    for _ in range(5):
        (tmp_path / "ledger.db.head").unlink()
        with sqlite3.connect(path) as file:
            file.execute("DELETE FROM tacit_meta WHERE name <> 'version'")
        file.close()
        together = Barrier(6)

        def opened(_: int, together: Barrier = together) -> str:
            together.wait(200)
            with open_ledger(path) as ledger:
                ledger.budget("d").charge(Pure(1))
                return ledger.identity

        with ThreadPoolExecutor(6) as pool:
            (identity,) = set(pool.map(opened, range(6)))
        assert (tmp_path / "ledger.db.head").read_text().split()[0] == identity
    with open_ledger(path) as ledger:
        assert verify(ledger, "d").sound
        assert _number(path) == ledger.dataset("d").entries == 32


def test_no_kill_makes_a_false_alarm(tmp_path: Path) -> None:
    """Five processes are killed in the midst of charging; the ledger opens each time and holds all that was charged."""
    path = tmp_path / "ledger.db"
    code = (
        "import sys; from tacit import Pure; from tacit.ledger import open_ledger\n"
        "budget = open_ledger(sys.argv[1]).budget('d', Pure(10**6))\n"
        "while True: print(budget.charge(Pure(1)).number, flush=True)"
    )
    for _ in range(5):
        process = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        numbers = [int(process.stdout.readline()) for _ in range(20)]
        process.kill()
        numbers += [int(line) for line in process.stdout.read().split("\n")[:-1]]
        process.wait(200)
        with open_ledger(path) as ledger:
            assert verify(ledger, "d").sound
            assert _number(path) == ledger.dataset("d").entries >= numbers[-1]


def test_the_gateway_takes_no_other_ledger_than_it_expects(tmp_path: Path) -> None:
    path = configuration(tmp_path)
    gateway = Gateway(load(path))
    identity = gateway.ledger.identity
    gateway.close()
    path.write_text(path.read_text().replace("[server]", f'[server]\nledger_id = "{identity}"'))
    Gateway(load(path)).close()
    for file in tmp_path.glob("ledger.db*"):
        file.unlink()
    with pytest.raises(LedgerError, match="there is no ledger"):
        Gateway(load(path))
    open_ledger(tmp_path / "ledger.db").close()
    with pytest.raises(LedgerError, match="not the one that budgets were spent from"):
        Gateway(load(path))


# What others asked


@pytest.mark.parametrize("shared", [False, True])
def test_free_does_not_tell_what_others_asked_unless_answers_are_shared(tmp_path: Path, shared: bool) -> None:
    path = configuration(tmp_path)
    path.write_text(path.read_text().replace("[server]", f"[server]\nshare_answers = {str(shared).lower()}"))
    gateway = Gateway(load(path))
    question = gateway.read_question(ADA, "visits", {"sql": "SELECT COUNT(*) FROM visits", "epsilon": "0.1"})
    gateway.ask(ADA, "visits", question)
    assert gateway.preview(ADA, "visits", question)["free"]
    assert gateway.preview(GRACE, "visits", question)["free"] is shared
    assert gateway.ask(GRACE, "visits", question).stored is shared
    assert gateway.budget(GRACE, "visits")["spent"] == ("Pure 0" if shared else "Pure 1/10")
    assert gateway.ask(ADA, "visits", question).stored
    gateway.close()


def _shared(path: Path, text: str, shared: bool) -> None:
    """Configure a gateway that shares answers, as all did before answers had owners, or one that does not."""
    path.write_text(text.replace("[server]", f"[server]\nshare_answers = {str(shared).lower()}"))


@pytest.mark.parametrize("key", ["", "monday-1"])
def test_what_was_paid_for_before_answers_had_owners_stays_free(tmp_path: Path, key: str) -> None:
    """An upgrade charged a request again that was sent again, and every question that was asked again."""
    path = configuration(tmp_path)
    text = path.read_text()
    _shared(path, text, True)
    asked = {"sql": "SELECT COUNT(*) FROM visits", "epsilon": "0.1"}
    with closing(Gateway(load(path))) as gateway:
        first = gateway.ask(ADA, "visits", gateway.read_question(ADA, "visits", asked), key)
    _shared(path, text, False)
    with closing(Gateway(load(path))) as gateway:
        question = gateway.read_question(ADA, "visits", asked)
        again = gateway.ask(ADA, "visits", question, key)
        assert again.stored
        assert again.value == first.value  # type: ignore[union-attr]
        # her own answer is free outside the request too, and nobody else's
        assert gateway.ask(ADA, "visits", question).stored
        assert not gateway.preview(GRACE, "visits", question)["free"]
        assert not gateway.ask(GRACE, "visits", question, key).stored
        assert gateway.budget(ADA, "visits")["spent"] == gateway.budget(GRACE, "visits")["spent"] == "Pure 1/10"
        assert verify(gateway.ledger, "visits").sound


def test_a_request_is_found_again_whether_answers_are_shared_or_not(tmp_path: Path) -> None:
    path = configuration(tmp_path)
    text = path.read_text()
    asked = {"sql": "SELECT COUNT(*) FROM visits", "epsilon": "0.1", "fresh": True}
    values = []
    for shared in (False, True):
        _shared(path, text, shared)
        with closing(Gateway(load(path))) as gateway:
            found = gateway.ask(ADA, "visits", gateway.read_question(ADA, "visits", asked), "monday-1")
            values.append(found.value)  # type: ignore[union-attr]
            assert gateway.budget(ADA, "visits")["spent"] == "Pure 1/10"
            assert verify(gateway.ledger, "visits").sound
    assert values[0] == values[1]


# Previews of what was paid for


def test_a_preview_of_what_was_paid_for_is_never_refused_and_says_that_it_is_free(tmp_path: Path) -> None:
    gateway = Gateway(load(configuration(tmp_path, extra="[limits]\nfailures = 2")))

    def seen(sql: str, epsilon: str, fresh: bool = False) -> tuple[bool, bool, str]:
        question = gateway.read_question(GRACE, "visits", {"sql": sql, "epsilon": epsilon, "fresh": fresh})
        found = gateway.preview(GRACE, "visits", question)
        return found["fits"], found["free"], found["words"]

    paid, both = "SELECT COUNT(*) FROM visits", "SELECT COUNT(*), SUM(minutes) FROM visits"
    gateway.ask(GRACE, "visits", gateway.read_question(GRACE, "visits", {"sql": paid, "epsilon": "0.6"}))
    free = (True, True, "number of rows: answered before, so it is free. Nothing was spent.")
    assert seen(paid, "0.6") == free  # though a second 0.6 does not fit into 1
    assert seen(paid, "0.6", fresh=True)[:2] == (False, False)
    assert seen(both, "1.2")[:2] == (False, False)
    gateway.ask(GRACE, "visits", gateway.read_question(GRACE, "visits", {"sql": paid, "epsilon": "0.3"}))
    fits, _, words = seen(both, "0.6")
    assert "but only Pure(0.1) is left; 1 of 2 aggregates is free: answered before" in words
    assert not fits
    budget = gateway.session(GRACE, "visits").budget
    open_charges = [budget.charge(Pure("0.01")) for _ in range(2)]  # in flight elsewhere
    assert seen(paid, "0.6") == free
    assert seen(paid, "0.05")[:2] == (True, False)  # whoever waits for others only may look
    for receipt in open_charges:
        budget.settle(receipt, None)
    assert seen(paid, "0.6") == free
    with pytest.raises(FailuresUsedUp):
        seen(paid, "0.05")
    gateway.close()


# What a gateway says that is none, or has no time


@contextmanager
def _lying(answers: dict[str, Any], status: int = 200) -> Iterator[str]:
    """A server that says what it is told to; its address."""

    class Liar(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            said = json.dumps(answers.get(self.path.removeprefix("/v1/datasets"), {})).encode()
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.send_response(status)
            self.send_header("content-length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Liar) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_server_that_answers_nonsense_is_said_to_do_so() -> None:
    known = {"": {"datasets": ["x"]}, "/x": {"tables": []}, "/x/budget": {"total": "Nope 1"}}
    with _lying(known) as address, connect(address, "t") as session:
        questions: list[Callable[[], Any]] = [
            lambda: session.budget.total,
            lambda: session.budget.spent,
            lambda: repr(session),
            lambda: session.sql("x", epsilon=1),
            lambda: session.cost("x", epsilon=1),
        ]
        for question in questions:
            with pytest.raises(EngineError, match="Tacit cannot read"):
                question()
        for keys in (5, "north", [object()], {"a": object()}.values()):
            with pytest.raises(InvalidInput, match="keys must be"):
                session.sql("x", keys=keys, epsilon=1)
    for wrong in ({}, {"": {"datasets": 5}}, known | {"/x": {"tables": [{"name": "t"}]}}):
        with _lying(wrong) as address, pytest.raises(EngineError, match="Tacit cannot read"):
            connect(address, "t")


def test_a_busy_gateway_is_said_to_be_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.serve.client.time.sleep", lambda _: None)
    with (
        _lying({"": {"error": "busy", "message": "too many, and nothing was spent."}}, 429) as address,
        pytest.raises(Busy, match="nothing was spent"),
    ):
        connect(address, "t")
    for token_ in (None, 5, "", "a\nb"):
        with pytest.raises(InvalidInput, match="token must be"):
            connect("http://127.0.0.1:1", token_)  # type: ignore[arg-type]


def test_pages_for_the_custodian_and_of_other_methods(tmp_path: Path) -> None:
    with TestClient(application(load(configuration(tmp_path)), bytes(32))) as client:
        other = client.delete("/login")
        assert (other.status_code, other.headers["content-type"]) == (405, "text/html; charset=utf-8")
        assert "nothing was done" in other.text
        assert "GET" in other.headers["allow"]
        assert client.delete("/v1/datasets").json()["message"].endswith("nothing was done.")
        for name, asks in (("ada", True), ("custodian", False)):
            client.headers["Authorization"] = f"Bearer {token(name)}"
            assert ("<h2>Ask</h2>" in client.get("/datasets/visits").text) is asks
