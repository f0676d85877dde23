"""The command line as it is used: real processes, their output, their exit codes, and no data in what they say."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tacit.cli import demo
from tacit.cli.app import run
from tacit.forecasts import plan as planned
from tacit.tables.statistics.catalogue import forecastable
from tests.cli.terminals import watched
from tests.postgres import POSTGRES, REQUIRED, schema

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


def quick(place: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """As `tacit`, in this process: starting one takes a second."""
    said = StringIO(), StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(said[0]), redirect_stderr(said[1]):
        patch.chdir(place)
        for name, value in {"NO_COLOR": "1", "TERM": "dumb", **environment}.items():
            patch.setenv(name, value)
        code = run(arguments)
    out, err = (part.getvalue() for part in said)
    assert SECRET not in out + err
    assert "Traceback" not in err
    return subprocess.CompletedProcess(arguments, code, out, err)


@pytest.fixture
def here(place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run a command in this process, as starting one takes a second, and return what it prints."""
    monkeypatch.chdir(place)

    def command(*arguments: str) -> str:
        assert run(arguments) == 0
        return capfd.readouterr().out

    return command


ASK = ("ask", "orders.csv", "--person", "customer")


def test_a_question_is_answered_and_the_missing_ledger_is_noted(place: Path) -> None:
    done = tacit(place, *ASK, "--epsilon", "1", "SELECT COUNT(*) FROM orders")
    assert done.returncode == 0
    assert done.stdout.startswith("Number of rows, over all rows: ")
    assert "Protects any one customer with all their rows with Pure(1)." in done.stdout
    assert done.stderr == "tacit: no ledger, so this spending is not recorded.\n"


def test_a_file_whose_name_is_no_word_says_how_to_write_it(place: Path, here: Callable[..., str]) -> None:
    (place / "my-orders.csv").write_text("customer\n1\n")
    ask = ("ask", "my-orders.csv", "--person", "customer", "--epsilon", "1")
    assert here(*ask, "--table", "mine", "SELECT COUNT(*) FROM mine")
    done = quick(place, *ask, 'SELECT COUNT(*) FROM "my-orders"')
    assert done.returncode == 0
    assert 'tacit: the table is "my-orders" in SQL, with its quotes; --table gives it another name.' in done.stderr


def test_answers_for_programs(place: Path) -> None:
    done = quick(place, *ASK, "--epsilon", "1", "SELECT SUM(amount) AS s, MAX(amount) FROM orders", "--json")
    answers = json.loads(done.stdout)
    assert [answer["key"] for answer in answers["answers"]] == ["s", "MAX(amount)"]
    assert answers["guarantee"] == "Pure(1)"
    query = "SELECT region, COUNT(*) AS n FROM orders GROUP BY region"
    lines = quick(place, *ASK, "--rho", "5", "--keys", "EU,US", query, "--csv").stdout.splitlines()
    assert lines[0] == "region,n,n_low,n_high"
    assert [line.split(",")[0] for line in lines[1:]] == ["EU", "US"]


def test_the_schema_is_shown_and_no_row(place: Path) -> None:
    assert quick(place, "schema", "orders.csv").stdout.splitlines() == [
        "customer  integer",
        "amount    float",
        "region    text",
        "name      text",
    ]
    found = json.loads(quick(place, "schema", "orders.parquet", "--json").stdout)
    assert found == {"customer": "integer", "amount": "float", "region": "text", "name": "text"}


def test_version_help_and_completion(place: Path) -> None:
    from tacit import __version__

    assert tacit(place, "--version").stdout == f"tacit {__version__}\n"
    help_ = quick(place, "ask", "--help").stdout
    assert all(option in help_ for option in ("--person", "--epsilon", "--delta", "--rho", "--keys", "--json", "--csv"))
    assert "Examples:\n    tacit ask orders.parquet" in help_
    assert (
        "_tacit_completion"
        in tacit(place, "--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1").stdout
    )


def test_quiet_says_only_what_was_asked_for(place: Path) -> None:
    done = quick(place, *ASK, "--epsilon", "1", "--quiet", "SELECT COUNT(*) FROM orders")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_clause_of_google_sql_names_the_cost(here: Callable[..., str]) -> None:
    clause = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.5, privacy_unit_column=customer) COUNT(*) FROM orders"
    assert "with Pure(0.5)." in here(*ASK, clause)
    assert run((*ASK, "--epsilon", "1", clause)) == 2


def test_a_plan_needs_no_data(place: Path, here: Callable[..., str]) -> None:
    said = here("plan", "--persons", "1000", "--statistic", "persons", "--epsilon", "0.5", "--plot", "plan.svg")
    assert said.startswith("At ε = 0.5, with about 1,000 persons, the number of persons lies within ")
    assert "<svg" in (place / "plan.svg").read_text(encoding="utf-8")
    found = json.loads(here("plan", "--persons", "1000", "--statistic", "ratio", "--error", "1%", "--json"))
    assert found["error"] <= 0.01


WRONG = {
    ("ask", "nope.csv", "--person", "customer", "--epsilon", "1", "SELECT COUNT(*) FROM nope"): "there is no file",
    ("ask", "orders.csv", "--person", "nobody", "--epsilon", "1", "SELECT COUNT(*) FROM orders"): "'nobody'",
    ("ask", "orders.csv", "--epsilon", "1", "SELECT COUNT(*) FROM orders"): "say whose rows they are: --person COLUMN",
    (*ASK, "SELECT COUNT(*) FROM orders"): "name what the answer may cost",
    (*ASK, "--epsilon", "0", "SELECT COUNT(*) FROM orders"): "epsilon must be above 0",
    (*ASK, "--epsilon", "much", "SELECT COUNT(*) FROM orders"): "--epsilon takes a number such as 0.5",
    (*ASK, "--epsilon", "1", "SELECT name FROM orders"): "rows are never shown",
    (*ASK, "--epsilon", "1", "SELECT COUNT(*) FROM orders QUALIFY 1 = 1"): "QUALIFY is not supported",
    (*ASK, "--epsilon", "1", "SELECT SUM(name) FROM orders"): "needs numbers, not text",
    ("schema", "nope.csv"): "there is no file",
    ("plan", "--persons", "9", "--statistic", "mood", "--epsilon", "1"): "statistic must be one of",
    ("plan", "--persons", "9", "--statistic", "medain", "--epsilon", "1"): "did you mean median?",
    ("plan", "--persons", "9", "--statistic", "sum", "--epsilon", "1", "--shape", "paretto"): "did you mean pareto?",
    ("plan", "--persons", "many", "--statistic", "sum"): "--persons takes a whole number",
    ("ask", "orders.csv", "--person", "customer", "--epsilon", "1", "SELECT", "1"): "the query is in pieces",
    ("ask", "orders.csv", "orders.parquet", "--person", "customer", "--epsilon", "1", "SELECT 1"): "two sources have",
    ("plan", "--persons", "9", "--statistic", "sum", "--error", "1%", "--plot", "x.txt"): "a picture must be a .png",
    ("demo", "--picture", "nowhere/x.png"): "in a directory that exists",
    ("ledger", "export", "x", "--ledger", "l.db", "--format", "tex"): "--format must be one of",
    ("nosuch",): "No such command 'nosuch'; see tacit --help.",
    (
        "ask",
        "orders.csv",
        "--private",
        "order:customer",
        "--epsilon",
        "1",
        "SELECT 1",
    ): "did you mean orders? The tables",
    (*ASK, "--epsilon", "1", "--certificate", ".", "SELECT COUNT(*) FROM orders"): ". cannot be written; nothing was",
    ("schma",): "No such command 'schma'; did you mean schema? See tacit --help.",
    ("ask", "--eps", "1"): "No such option: --eps; did you mean --epsilon? See tacit ask --help.",
    ("verify", "a.json", "b.json"): "b.json is more than this command takes; see tacit verify --help.",
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


@pytest.mark.parametrize("arguments", [(), ("ledger",)])
def test_a_command_without_arguments_shows_its_help(
    arguments: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith(f"Usage: {' '.join(('tacit', *arguments))} [OPTIONS] COMMAND")
    assert "--help." not in err


def test_debug_shows_the_traceback_and_keeps_the_code(place: Path) -> None:
    done = tacit(place, *ASK, "--epsilon", "1", "SELECT SUM(name) FROM orders", "--debug")
    assert done.returncode == 2
    assert "Traceback" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("tacit: ")


def test_a_refused_budget_is_code_3_and_a_broken_ledger_code_4(place: Path) -> None:
    book = str(place / "book.db")
    created = quick(place, "ledger", "create", "orders", "--ledger", book, "--epsilon", "1", "--person", "customer")
    assert created.returncode == 0
    refused = tacit(place, *ASK, "--ledger", book, "--epsilon", "2", "SELECT COUNT(*) FROM orders")
    assert refused.returncode == 3
    assert "the budget has Pure(1) left of Pure(1); nothing was spent" in refused.stderr
    first = quick(place, *ASK, "--epsilon", "0.5", "SELECT COUNT(*) FROM orders", TACIT_LEDGER=book)
    again = quick(place, *ASK, "--epsilon", "0.5", "SELECT COUNT(*) FROM orders", TACIT_LEDGER=book)
    assert first.stderr == again.stderr == ""
    assert again.stdout.startswith("Answered on ")
    assert again.stdout.endswith(first.stdout)
    assert "spent Pure(0.5), left Pure(0.5)" in quick(place, "ledger", "show", "--ledger", book).stdout
    (place / "broken.db").write_bytes(b"SQLite format 3\x00" + b"\xff" * 5000)
    for path in ("broken.db", "nowhere/book.db"):
        broken = quick(place, *ASK, "--ledger", path, "--epsilon", "1", "SELECT COUNT(*) FROM orders")
        assert broken.returncode == 4
        assert broken.stderr.startswith("tacit: ")
        assert len(broken.stderr.splitlines()) == 1


def test_the_ledger_for_programs(place: Path, here: Callable[..., str]) -> None:
    """Every command as JSON, and the budget as a picture."""
    book = ("--ledger", str(place / "programs.db"))
    here("ledger", "create", "orders", *book, "--epsilon", "1", "--person", "customer")
    here(*ASK, *book, "--epsilon", "0.5", "SELECT COUNT(*) FROM orders")

    def asked(*arguments: str) -> Any:
        return json.loads(here("ledger", *arguments, *book, "--json"))

    totals = {"total": "Pure(1)", "spent": "Pure(0.5)", "left": "Pure(0.5)"}
    assert asked("show") == [{"name": "orders", **totals}]
    assert [entry["what"] for entry in asked("history", "orders", "--plot", str(place / "burnt.png"))][-1] == "answered"
    assert (place / "burnt.png").read_bytes().startswith(b"\x89PNG")
    assert asked("verify", "orders")["sound"] is True
    assert asked("export", "orders")["name"] == "orders"
    made = asked("create", "more", "--epsilon", "2")
    assert len(made.pop("ledger_id")) == 32
    assert made == {"name": "more", "total": "Pure(2)", "left": "Pure(2)"}


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
    quick(place, "ledger", "create", "orders", "--ledger", str(book), "--epsilon", "1", "--person", "customer")
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
            _, errors = process.communicate(timeout=200)
        assert process.returncode == 130
        assert "Traceback" not in errors
        assert errors.startswith("tacit: interrupted; ")
        holder.execute("ROLLBACK")
    assert "spent Pure(0)" in quick(place, "ledger", "show", "--ledger", str(book)).stdout


SLOW = f"SELECT SUM({' + '.join(f'v * {n}' for n in range(2, 200))}) FROM slow"
"""Ten seconds of work in pieces that can be stopped."""


def test_an_interrupt_in_the_middle_of_a_query_is_charged_and_the_ledger_sound(place: Path) -> None:
    import duckdb

    from tacit.ledger import charges, open_ledger

    rows = "SELECT range % 100 AS person, range % 7 AS v FROM range(3000000)"
    duckdb.execute(f"COPY ({rows}) TO '{place / 'slow.parquet'}'")
    book = str(place / "slow.db")
    quick(place, "ledger", "create", "slow", "--ledger", book, "--epsilon", "1", "--person", "person")
    question = ["ask", "slow.parquet", "--person", "person", "--ledger", book, "--epsilon", "0.75", SLOW]
    with subprocess.Popen(
        [sys.executable, "-c", RUN, *question], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        ledger, end = open_ledger(book, read_only=True), time.monotonic() + 200
        while not charges(ledger, "slow") and time.monotonic() < end:
            time.sleep(0.05)
        time.sleep(0.3)  # the query has begun
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=200)
    assert process.returncode == 130
    assert out == "ready\n"
    assert errors == "tacit: interrupted; the budget says: <Budget Pure(1): spent Pure(0.75), left Pure(0.25)>.\n"
    assert [charge.status for charge in charges(ledger, "slow")] == ["failed"]
    assert quick(place, "ledger", "verify", "slow", "--ledger", book).returncode == 0


def on_terminal(place: Path, *arguments: str, columns: int = 40, **environment: str) -> tuple[str, str]:
    """What a command writes on terminals of so many columns: stdout and stderr."""
    clean = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR")}
    code, out, err = watched(
        [sys.executable, "-c", "from tacit.cli import main; main()", *arguments],
        columns=columns,
        cwd=place,
        environment={**clean, "TERM": "xterm-256color", **environment},
    )
    assert code == 0, err
    return out, err


def test_a_narrow_terminal_gets_short_lines(place: Path) -> None:
    out, err = on_terminal(place, *ASK, "--epsilon", "1", "SELECT COUNT(*) FROM orders")
    assert "no ledger" in err
    lines = out.splitlines()
    assert len(lines) > 3
    assert max(map(len, lines)) <= 40
    help_, _ = on_terminal(place, "plan", "--help")
    wide = [line for line in help_.splitlines() if len(line) > 40]
    assert all(line.startswith("    tacit plan ") for line in wide)  # an example stays what can be typed


def test_the_help_names_every_statistic_that_can_be_planned(place: Path) -> None:
    """It is written out, because reading the catalogue would slow every command down."""
    helped, explained = quick(place, "plan", "--help").stdout, str(planned.__doc__)
    for name in (*forecastable(), "min", "max", "std", "p90"):
        assert re.search(rf"\b{name}\b", helped)
        assert f'"{name}"' in explained


def test_colours_are_for_terminals_that_want_them(place: Path) -> None:
    assert "\x1b[32m" in on_terminal(place, "audit", "randomised_response", columns=120)[0]
    plain, _ = on_terminal(place, "audit", "randomised_response", columns=120, NO_COLOR="1")
    assert "tight" in plain
    assert not re.search(r"\x1b\[(3[0-7]|9[0-7])m", plain)  # emphasis may stay, colours may not


def test_the_demo_is_a_whole_tour_at_80_columns(place: Path) -> None:
    out, err = on_terminal(place, "demo", columns=80, NO_COLOR="1")
    assert err.endswith("tacit: wrote tacit-demo.png.\n")
    assert (place / "tacit-demo.png").read_bytes().startswith(b"\x89PNG")
    bare = re.sub(r"\x1b\[[0-9;]*m", "", out)
    assert max(map(len, bare.splitlines())) <= 80
    assert "SELECT AVG(wage) FROM wages" in bare
    assert bare.count("Off by ") == bare.count(" of 3 left") == len(demo.QUESTIONS)


def test_the_demo_for_programs(here: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "QUESTIONS", demo.QUESTIONS[1:3])
    found = json.loads(here("demo", "--json", "--picture", "tour.svg"))
    assert found["picture"] == "tour.svg"
    assert [a["question"] for a in found["answers"]] == [question.words for question in demo.QUESTIONS]
    assert all(guess["off"] >= 0 for answer in found["answers"] for guess in answer["guessed_bounds"])


@pytest.mark.skipif(not (POSTGRES or REQUIRED), reason="not run: psycopg or the embedded server is absent")
def test_a_table_of_postgresql_is_asked(here: Callable[..., str], server: str) -> None:
    import psycopg

    address = schema(server)
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CREATE TABLE sales AS SELECT i AS customer, 2 AS amount FROM generate_series(1, 400) AS i")
    ask = ("ask", address, "--table", "sales", "--person", "customer", "--epsilon", "50")
    answer = json.loads(here(*ask, "SELECT COUNT(DISTINCT customer) FROM sales", "--json"))
    assert answer["value"] == 400  # wrong with probability below 1e-20
    assert here("schema", address, "--table", "sales") == "customer  integer\namount    integer\n"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CREATE TABLE codes AS SELECT 2 AS code, 'two' AS word")
    assert json.loads(here("schema", address, "--json"))["codes"] == {"code": "integer", "word": "text"}
    several = ("ask", address, "--private", "sales:customer", "--public", "codes", "--epsilon", "50", "--json")
    found = json.loads(here(*several, "SELECT COUNT(DISTINCT customer) FROM sales JOIN codes ON amount = code"))
    assert found["value"] == 400  # as above


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


def test_a_compressed_file_that_is_none_is_no_bug(
    place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (place / "plain.csv.gz").write_bytes((place / "orders.csv").read_bytes())
    monkeypatch.chdir(place)
    assert run(["schema", "plain.csv.gz"]) in (2, 4)
    err = capfd.readouterr().err
    assert "inside Tacit" not in err
    assert "kind its name says" in err
    assert SECRET not in err
