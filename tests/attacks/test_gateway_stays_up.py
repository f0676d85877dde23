"""One analyst cannot stop the gateway for others: not with Python that never ends, not with memory, not with a crash.

Before everything a caller wrote ran in threads of the process that serves HTTP: a preview of 40 characters froze it for
everybody, for as long as a computation took that nothing could stop. Faults are planted (`tests.serve.planted`), so
that they stay when the planner learns to refuse one query more. "Not delayed" means: answered while the hostile work
still runs, however fast the machine is.
"""

from __future__ import annotations

import os
import signal
import socket
import struct
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import pytest

from tacit.engines import FAILED
from tacit.ledger import charges, open_ledger, verify
from tacit.serve.executors import UNFINISHED
from tacit.serve.zygote import Zygote
from tests.serve.conftest import ada, nobody  # noqa: F401
from tests.serve.support import configuration, processes, serving, token

COST, ASK = "/v1/datasets/visits/cost", "/v1/datasets/visits/ask"
COUNT = "SELECT COUNT(*) FROM visits"
GRACE = {"Authorization": f"Bearer {token('grace')}"}
PATIENCE = 200.0
"""Seconds to wait for what comes at once where nothing else runs."""


def limits(previews: int, questions: int) -> pytest.MarkDecorator:
    """Seconds for a preview and for a question. Whoever is honest needs far less, however busy the machine is."""
    extra = f"[limits]\npreview_seconds = {previews}\nquestion_seconds = {questions}\nmemory_mb = 400\nfailures = 9"
    return pytest.mark.parametrize("nobody", [{"extra": extra}], indirect=True)


listed = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="not run: this system lists no processes")


def executors() -> set[int]:
    """Those of the gateways in this process."""
    return {number for child in processes(os.getpid()) for number in processes(child)}


def working(before: set[int]) -> set[int]:
    """The executors that were started since then: a request has arrived that they work for."""
    end = time.monotonic() + PATIENCE
    while not (found := executors() - before):
        assert time.monotonic() < end
        time.sleep(0.01)
    return found


def alive(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def body(remark: str = "", epsilon: str = "0.01") -> dict[str, Any]:
    return {"sql": f"{COUNT} -- {remark}" if remark else COUNT, "epsilon": epsilon}


@pytest.fixture
def beside() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(12) as pool:
        yield pool


@listed
@limits(100, 100)
def test_a_preview_that_never_ends_delays_nobody(ada: httpx.Client, beside: ThreadPoolExecutor) -> None:  # noqa: F811
    before = executors()
    hostile = beside.submit(ada.post, COST, json=body("hold"))
    busy = working(before)
    for path, given in ((COST, body()), (ASK, body(epsilon="0.001"))):
        assert ada.post(path, json=given, headers=GRACE).status_code == 200
    for path in ("/login", "/healthz", "/v1/datasets/visits/history", "/v1/datasets/visits/budget"):
        assert ada.get(path, headers=GRACE).status_code == 200
    assert not hostile.done()
    os.kill(busy.pop(), signal.SIGKILL)  # as the limit would do later
    assert hostile.result(PATIENCE).status_code == 503


def test_nothing_a_caller_wrote_is_computed_where_http_is_served(
    ada: httpx.Client,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("understand", "decode_answer", "_forecast", "Gateway._query", "Gateway.find_answer"):
        monkeypatch.setattr(f"tacit.serve.gateway.{name}", None)  # of this process; executors have their own
    assert ada.post(COST, json=body()).json()["cost"] == "Pure 1/100"
    assert ada.post(ASK, json=body()).status_code == 200
    (line,) = ada.get("/v1/datasets/visits/history").json()["questions"]
    for path in (
        f"/v1/datasets/visits/answers/{line['number']}",
        "/v1/datasets/visits/plan?statistic=persons&epsilon=1",
        "/datasets/visits",
        f"/datasets/visits/answers/{line['number']}",
        "/datasets/visits/questions.py",
    ):
        assert ada.get(path).status_code == 200, path


@limits(2, 100)
def test_a_preview_that_never_ends_is_ended(ada: httpx.Client) -> None:  # noqa: F811
    for fault in ("spin", "hold"):
        response = ada.post(COST, json=body(fault))
        assert (response.status_code, response.json()["error"]) == (503, "engine_failed")
        assert response.json()["message"] == UNFINISHED
        assert "nothing was spent" in UNFINISHED
    end = time.monotonic() + PATIENCE
    while ada.post(COST, json=body()).status_code != 200:  # a busy machine may need the two seconds for it
        assert time.monotonic() < end


@limits(100, 100)
def test_memory_and_crashes_end_an_executor_and_nothing_else(tmp_path: Path, ada: httpx.Client) -> None:  # noqa: F811
    for fault in ("grow", "leave", "crash"):
        start = time.monotonic()
        response = ada.post(COST, json=body(fault))
        assert (response.status_code, response.json()["message"]) == (503, UNFINISHED), fault
        assert time.monotonic() - start < 80  # noticed at once, not by the clock
        assert ada.post(COST, json=body()).status_code == 200
    stopped = [line for line in (tmp_path / "audit.jsonl").read_text().splitlines() if '"stopped"' in line]
    assert len(stopped) == 3
    assert all('"pool": "previews", "analyst": "ada"' in line for line in stopped)


@limits(100, 20)
def test_a_question_that_is_ended_stays_charged_and_is_recorded_as_failed(
    tmp_path: Path,
    ada: httpx.Client,  # noqa: F811
) -> None:
    for i, fault in enumerate(("hold", "grow", "leave", "crash"), start=1):
        key = {"Idempotency-Key": fault}
        question = body(f"{fault}, paid", f"0.0{i}")
        response = ada.post(ASK, json=question, headers=key)
        assert (response.status_code, response.json()["error"]) == (503, "engine_failed"), fault
        assert response.json()["message"] == FAILED  # the same words as of every failure
        again = ada.post(ASK, json=question, headers=key)
        assert (again.status_code, again.json()["error"]) == (409, "charged_before")
        assert "it failed" in again.json()["message"]
    ended = ada.post(ASK, json=body("leave"))  # while planning, so nothing is charged, and that is said
    assert (ended.status_code, ended.json()["message"]) == (503, UNFINISHED)
    end = time.monotonic() + PATIENCE
    while (last := ada.post(ASK, json=body())).status_code == 503:  # a busy machine may let it run out of time
        assert time.monotonic() < end
    assert last.status_code == 200
    with open_ledger(tmp_path / "ledger.db", read_only=True) as ledger:
        assert verify(ledger, "visits").sound
        found = charges(ledger, "visits")
        assert [charge.status for charge in found[:4]] == ["failed"] * 4
        assert found[-1].status == "answered"
        assert sum(charge.guarantee.epsilon for charge in found[:4]) == Fraction("0.1")  # type: ignore[attr-defined]


@pytest.mark.parametrize("nobody", [{"extra": "[limits]\nconcurrency = 2\nwaiting = 2"}], indirect=True)
def test_one_analyst_cannot_hold_all_places(ada: httpx.Client, beside: ThreadPoolExecutor) -> None:  # noqa: F811
    for path, epsilon in ((COST, "0.1"), (ASK, "0.001")):
        held = [beside.submit(ada.post, path, json=body("nap", f"{epsilon}{i}")) for i in range(4)]
        wait(held, timeout=PATIENCE, return_when=FIRST_COMPLETED)  # one works, two wait, one comes back later
        assert ada.post(path, json=body(epsilon=epsilon), headers=GRACE).status_code == 200
        assert not all(each.done() for each in held)  # hers still wait
        assert sorted(each.result(PATIENCE).status_code for each in held) == [200] * 3 + [429]


HOSTILE = [
    "SELECT QUANTILE_CONT(minutes, 1e-7000000) FROM visits",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1e10000000) COUNT(*) FROM visits",
    "SELECT SUM(" + "CASE " * 40 + "minutes" + " WHEN 1 THEN 2 WHEN 3 THEN 4 END" * 40 + ") FROM visits",
]


@limits(60, 100)
def test_what_froze_the_gateway_does_so_no_more(ada: httpx.Client, beside: ThreadPoolExecutor) -> None:  # noqa: F811
    assert ada.post(COST, json=body(), headers=GRACE).status_code == 200
    for sql in HOSTILE:
        cost = {} if "OPTIONS" in sql else {"epsilon": "0.1"}
        hostile = beside.submit(ada.post, COST, json={"sql": sql} | cost)
        assert ada.post(COST, json=body(), headers=GRACE).status_code == 200
        assert ada.get("/login").status_code == 200
        assert hostile.result(PATIENCE).status_code in (200, 400, 422, 503)


def test_who_shows_no_token_holds_no_place(ada: httpx.Client, beside: ThreadPoolExecutor) -> None:  # noqa: F811
    def looked(i: int) -> int:
        return ada.get("/healthz" if i % 3 else "/v1/datasets/visits/budget", timeout=PATIENCE).status_code

    assert set(beside.map(looked, range(36))) == {200}  # two at once stopped all for ever


def opened(line: httpx.Client, words: bytes = b"") -> socket.socket:
    """A bare connection to the gateway that a client talks to."""
    found = socket.create_connection((line.base_url.host, line.base_url.port or 80), timeout=PATIENCE)
    found.sendall(words)
    return found


def ended(line: socket.socket) -> bool:
    """Whether the gateway closed a connection, waited for."""
    try:
        while line.recv(65536):
            pass
    except ConnectionError:
        pass
    except TimeoutError:
        return False
    return True


def dribbled_out(line: socket.socket) -> bool:
    """Whether the gateway closes a connection on which a byte comes now and then."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            line.sendall(b"x")
        except OSError:
            return True
        time.sleep(0.05)
    return False


SLOW = (
    b"",
    b"GET /login HTTP/1.1\r\nHost: x\r\nX: ",
    b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 99\r\n\r\n",
    b"GET /login HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n",  # a body that nobody waits for
)


def test_who_does_not_send_a_whole_request_is_not_waited_for(
    tmp_path: Path,
    ada: httpx.Client,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tacit.serve.connections.ARRIVAL", 0.4)
    monkeypatch.setattr("tacit.serve.web.ARRIVAL", 0.2)
    slow = [opened(ada, words) for words in SLOW]
    dribbled = opened(ada, SLOW[3])
    said = slow[2].recv(65536)
    assert said.startswith(b"HTTP/1.1 408")
    for line in slow:
        assert ended(line)
    assert dribbled_out(dribbled)
    end = time.monotonic() + PATIENCE
    while (nap := ada.post(COST, json=body("nap"))).status_code == 408:  # where it takes so long to arrive
        assert time.monotonic() < end
    assert nap.status_code == 200  # it worked for longer than a request may take to arrive
    assert '"unforeseen"' not in (tmp_path / "audit.jsonl").read_text()


@listed
def test_who_only_connects_keeps_nobody_out(
    ada: httpx.Client,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    beside: ThreadPoolExecutor,
) -> None:
    monkeypatch.setattr("tacit.serve.connections.MOST", 20)
    before = executors()
    nap = beside.submit(ada.post, COST, json=body("nap"))
    working(before)
    held = [opened(ada) for _ in range(60)]
    with httpx.Client(base_url=ada.base_url, timeout=PATIENCE) as other:
        assert other.get("/login").status_code == 200
    assert all(map(ended, held[:35]))  # the oldest, of which no more are kept than are allowed
    assert nap.result(PATIENCE).status_code == 200  # and nobody whose request is there
    for line in held:
        line.close()


def test_headers_have_an_end(ada: httpx.Client) -> None:  # noqa: F811
    line = opened(ada, b"GET /login HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 40_000)
    assert line.recv(65536).startswith(b"HTTP/1.1 400")
    assert ended(line)


def test_kill_9_of_the_zygote_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("tacit.serve.zygote.ENGINES", ())
    zygote = Zygote()

    def copied() -> Path:
        """The folder of a new copy, with something in it."""
        with zygote.copy() as line:
            line.settimeout(PATIENCE)
            (place,) = tmp_path.glob("tacit-executors-*")  # those of before are gone
            folder = place / str(struct.unpack(">I", line.recv(4))[0])
            (folder / "spilled").write_text("rows")
            return place

    for _ in range(2):
        first = copied()
        assert zygote._process is not None
        zygote._process.kill()
        zygote._process.wait(PATIENCE)
        assert copied() != first
    zygote.tidy()  # nothing, because the last one does so itself
    assert list(tmp_path.iterdir())
    assert zygote._process is not None
    zygote._process.kill()
    zygote._process.wait(PATIENCE)
    zygote.tidy()
    assert not list(tmp_path.iterdir())


@listed
def test_kill_9_of_the_gateway_leaves_no_executor_and_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "tmp"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    with serving(str(configuration(tmp_path)), tokens={"ada": token("ada")}) as served:
        with served.line("ada") as line:
            assert line.post(COST, json=body()).status_code == 200
            assert line.post(ASK, json=body()).status_code == 200
        below = processes(served.process.pid)
        assert len(below) >= 4  # the zygote, two executors and those in their place, and the check of the data
        os.kill(served.process.pid, signal.SIGKILL)
        end = time.monotonic() + PATIENCE
        while any(map(alive, below)) or list(place.glob("tacit-executors-*")):
            assert time.monotonic() < end
            time.sleep(0.05)
