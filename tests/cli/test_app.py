"""The command line as it is used: real processes, their output, their exit codes, and no data in what they say."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from tacit.cli.app import run

SECRET = "SECRETROW"
RUN = "from tacit.cli import main; print('ready', flush=True); main()"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = tmp_path_factory.mktemp("cli")
    frame = pd.DataFrame(
        {
            "customer": list(range(500)),
            "amount": [10.5, 20, 30, None, 5] * 100,
            "region": ["EU", "US", "EU", None, "US"] * 100,
            "name": [SECRET] * 500,
        }
    )
    frame.to_csv(here / "orders.csv", index=False)
    frame.to_parquet(here / "orders.parquet")
    return here


def tacit(place: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-c", "from tacit.cli import main; main()", *arguments],
        cwd=place,
        env={**os.environ, "NO_COLOR": "1", "TERM": "dumb", **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert SECRET not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr or "--debug" in arguments
    return done


ASK = ("ask", "orders.csv", "--person", "customer")


def test_a_question_is_answered_and_the_missing_ledger_is_noted(place: Path) -> None:
    done = tacit(place, *ASK, "--epsilon", "1", "SELECT COUNT(*) FROM orders")
    assert done.returncode == 0
    assert done.stdout.startswith("Number of rows, each row counting: ")
    assert "Protects any one customer with all their rows with Pure(1)." in done.stdout
    assert done.stderr == "tacit: no ledger, so this spending is not recorded.\n"


def test_answers_for_programs(place: Path) -> None:
    done = tacit(place, *ASK, "--epsilon", "1", "SELECT SUM(amount) AS s, MAX(amount) FROM orders", "--json")
    answers = json.loads(done.stdout)
    assert [answer["key"] for answer in answers["answers"]] == ["s", "MAX(amount)"]
    assert answers["guarantee"] == "Pure(1)"
    query = "SELECT region, COUNT(*) FROM orders GROUP BY region"
    lines = tacit(place, *ASK, "--rho", "5", "--keys", "EU,US", query, "--csv").stdout.splitlines()
    assert lines[0] == "region,value,low,high,covers,cap"
    assert [line.split(",")[0] for line in lines[1:]] == ["EU", "US"]


def test_the_schema_is_shown_and_no_row(place: Path) -> None:
    assert tacit(place, "schema", "orders.csv").stdout.splitlines() == [
        "customer  integer",
        "amount    float",
        "region    text",
        "name      text",
    ]
    found = json.loads(tacit(place, "schema", "orders.parquet", "--json").stdout)
    assert found == {"customer": "integer", "amount": "float", "region": "text", "name": "text"}


def test_the_demo_is_a_whole_tour(place: Path) -> None:
    done = tacit(place, "demo")
    assert done.returncode == 0
    assert done.stderr == ""
    assert "SELECT AVG(wage) FROM wages" in done.stdout
    assert done.stdout.count("left: Pure(") >= 5


def test_version_and_help(place: Path) -> None:
    from tacit import __version__

    assert tacit(place, "--version").stdout == f"tacit {__version__}\n"
    help_ = tacit(place, "ask", "--help").stdout
    assert all(option in help_ for option in ("--person", "--epsilon", "--delta", "--rho", "--keys", "--json", "--csv"))


WRONG = {
    ("ask", "nope.csv", "--person", "customer", "--epsilon", "1", "SELECT COUNT(*) FROM nope"): "there is no file",
    ("ask", "orders.csv", "--person", "nobody", "--epsilon", "1", "SELECT COUNT(*) FROM orders"): "'nobody'",
    ("ask", "orders.csv", "--epsilon", "1", "SELECT COUNT(*) FROM orders"): "Missing option '--person'",
    (*ASK, "SELECT COUNT(*) FROM orders"): "name what the answer may cost",
    (*ASK, "--epsilon", "0", "SELECT COUNT(*) FROM orders"): "epsilon must be above 0",
    (*ASK, "--epsilon", "much", "SELECT COUNT(*) FROM orders"): "epsilon must be an exact number",
    (*ASK, "--epsilon", "1", "SELECT name FROM orders"): "rows are never shown",
    (*ASK, "--epsilon", "1", "SELECT COUNT(*) FROM orders HAVING 1 = 1"): "HAVING is not supported",
    (*ASK, "--epsilon", "1", "SELECT SUM(name) FROM orders"): "needs numbers, not text",
    ("schema", "nope.csv"): "there is no file",
    ("nosuch",): "No such command 'nosuch'; see tacit --help.",
    ("ask", "--bogus"): "No such option: --bogus; see tacit ask --help.",
}


@pytest.mark.parametrize("arguments", WRONG, ids=lambda a: " ".join(a)[-40:])
def test_user_errors_are_one_sentence_and_code_2(
    arguments: tuple[str, ...], place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """In this process, as starting one takes a second; the tests beside start real ones."""
    monkeypatch.chdir(place)
    assert run(arguments) == 2
    out, err = capfd.readouterr()
    assert out == ""
    last = err.splitlines()[-1]
    assert last.startswith("tacit: ")
    assert WRONG[arguments] in last
    assert len(err.splitlines()) <= 2  # the notice about the ledger may come before
    assert SECRET not in err


def test_debug_shows_the_traceback_and_keeps_the_code(place: Path) -> None:
    done = tacit(place, *ASK, "--epsilon", "1", "SELECT SUM(name) FROM orders", "--debug")
    assert done.returncode == 2
    assert "Traceback" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("tacit: ")


def test_a_refused_budget_is_code_3_and_a_broken_ledger_code_4(place: Path) -> None:
    book = str(place / "book.db")
    created = tacit(place, "ledger", "create", "orders", "--ledger", book, "--epsilon", "1", "--person", "customer")
    assert created.returncode == 0
    refused = tacit(place, *ASK, "--ledger", book, "--epsilon", "2", "SELECT COUNT(*) FROM orders")
    assert refused.returncode == 3
    assert "which has Pure(1) left; nothing was spent" in refused.stderr
    first = tacit(place, *ASK, "--epsilon", "0.5", "SELECT COUNT(*) FROM orders", TACIT_LEDGER=book)
    again = tacit(place, *ASK, "--epsilon", "0.5", "SELECT COUNT(*) FROM orders", TACIT_LEDGER=book)
    assert first.stderr == again.stderr == ""
    assert again.stdout.startswith(first.stdout.rstrip("\n"))
    assert "returned at no cost" in again.stdout
    assert "spent Pure(0.5), left Pure(0.5)" in tacit(place, "ledger", "show", "--ledger", book).stdout
    (place / "broken.db").write_bytes(b"SQLite format 3\x00" + b"\xff" * 5000)
    for path in ("broken.db", "nowhere/book.db"):
        broken = tacit(place, *ASK, "--ledger", path, "--epsilon", "1", "SELECT COUNT(*) FROM orders")
        assert broken.returncode == 4
        assert broken.stderr.startswith("tacit: ")
        assert len(broken.stderr.splitlines()) == 1


def test_an_engine_failure_is_code_4_and_shows_nothing(place: Path) -> None:
    """The file's description is whole, its pages are not: what fails, fails while rows are read."""
    whole = (place / "orders.parquet").read_bytes()
    (place / "damaged.parquet").write_bytes(whole[:4] + bytes(1500) + whole[1504:])
    done = tacit(
        place, "ask", "damaged.parquet", "--person", "customer", "--epsilon", "1", "SELECT SUM(amount) FROM damaged"
    )
    assert done.returncode == 4
    assert "what was charged stays charged" in done.stderr
    assert len(done.stderr.splitlines()) == 2


def test_an_interrupt_is_code_130_and_says_what_was_charged(place: Path) -> None:
    book = place / "locked.db"
    tacit(place, "ledger", "create", "orders", "--ledger", str(book), "--epsilon", "1", "--person", "customer")
    question = [*ASK, "--ledger", str(book), "--epsilon", "1", "SELECT COUNT(*) FROM orders"]
    with sqlite3.connect(book, isolation_level=None) as holder:
        holder.execute("BEGIN EXCLUSIVE")  # the charge waits for this
        with subprocess.Popen(
            [sys.executable, "-c", RUN, *question], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(3)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "Traceback" not in errors
        assert errors.startswith("tacit: interrupted; ")
        holder.execute("ROLLBACK")
    assert "spent Pure(0)" in tacit(place, "ledger", "show", "--ledger", str(book)).stdout


def test_a_closed_pipe_is_no_error(place: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-c", "from tacit.cli import main; main()", "schema", "orders.csv"],
        cwd=place,
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        timeout=120,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")
