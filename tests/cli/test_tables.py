"""Several tables on the command line: files, a database, a configuration; and what is said where one is missing."""

import json
import runpy
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest

from tacit.cli import completing
from tacit.cli.app import run
from tacit.ledger import open_ledger
from tests.test_docs import ROOT, blocks, commands

Command = Callable[..., tuple[int, str, str]]

SURE = ("--epsilon", "200", "--json")
"""Counts are wrong with probability below e^-200, times a few."""
SETTINGS = """
[datasets.shop]
source = "shop.duckdb"
tables.orders.person = "customer"
tables.items.through = { order_id = "orders.id" }
tables.nations.public = true
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = tmp_path_factory.mktemp("shop")
    made = duckdb.connect(str(here / "shop.duckdb"))
    made.execute("CREATE TABLE nations AS SELECT range AS code, 'nation ' || range AS name FROM range(3)")
    made.execute(
        "CREATE TABLE orders AS SELECT range AS id, range % 40 AS customer, 40 + range % 60 AS seller, "
        "range % 3 AS nation, range % 2 AS year, range % 7 AS amount FROM range(120)"
    )
    made.execute("CREATE TABLE items AS SELECT range AS n, range % 120 AS order_id FROM range(240)")
    made.execute("CREATE VIEW late AS SELECT * FROM orders WHERE id >= 100")
    made.execute("CREATE SCHEMA old")
    made.execute("CREATE TABLE old.orders AS SELECT 1 AS customer")
    for name in ("orders", "items"):
        made.execute(f"COPY {name} TO '{here / name}.parquet'")
    made.execute(f"COPY nations TO '{here / 'nations.csv'}'")
    made.close()
    (here / "with").mkdir()
    (here / "with" / "tacit.toml").write_text(SETTINGS.replace("shop.duckdb", "../shop.duckdb"))
    return here


@pytest.fixture
def tacit(place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    monkeypatch.chdir(place)
    monkeypatch.delenv("TACIT_LEDGER", raising=False)

    def command(*arguments: str) -> tuple[int, str, str]:
        code = run(arguments)
        return code, *capfd.readouterr()

    return command


JOINED = "SELECT COUNT(*) FROM items JOIN orders ON order_id = id JOIN nations ON nation = code WHERE name = 'nation 1'"
PERSONS = "SELECT COUNT(DISTINCT customer) FROM orders"
THREE = ("--private", "orders:customer", "--private", "items:order_id=orders.id", "--public", "nations")
FILES = ("orders.parquet", "items.parquet", "nations.csv")


@pytest.mark.parametrize("sources", [("shop.duckdb",), FILES])
def test_several_tables_of_a_database_or_of_files(tacit: Command, sources: tuple[str, ...]) -> None:
    code, out, err = tacit("ask", *sources, *THREE, *SURE, JOINED)
    assert (code, err) == (0, "tacit: no ledger, so this spending is not recorded.\n")
    found = json.loads(out)
    assert found["value"] == 80
    assert found["protected"] == "any one customer with all their rows"


def test_person_speaks_about_the_table_that_is_left(tacit: Command) -> None:
    query = "SELECT COUNT(*) FROM orders JOIN nations ON nation = code"
    for flags in (("--person", "customer"), ("--private", "ORDERS:customer")):
        code, out, _ = tacit("ask", "orders.parquet", "nations.csv", *flags, "--public", "Nations", *SURE, query)
        assert (code, json.loads(out)["value"]) == (0, 120)


@pytest.mark.parametrize(
    "flags",
    [
        ("--person", "customer", "--person", "seller"),
        ("--private", "orders:customer,seller"),
        ("--private", "orders:customer", "--private", "orders:seller"),
    ],
)
def test_repeated_persons_are_rows_of_several_persons(tacit: Command, flags: tuple[str, ...]) -> None:
    """The last one does not win: both are protected, in one flow."""
    code, out, _ = tacit("ask", "orders.parquet", *flags, *SURE, "SELECT COUNT(*) FROM orders")
    found = json.loads(out)
    assert code == 0
    assert "customer" in found["protected"]
    assert "seller" in found["protected"]


def test_kinds_of_person_are_kept_apart(tacit: Command) -> None:
    flags = ("--private", "orders:buyer:customer,shop:seller", "--private", "items:order_id=orders.id")
    code, out, _ = tacit("ask", "shop.duckdb", *flags, *SURE, "SELECT COUNT(*) FROM items")
    assert code == 0
    assert "buyer" in json.loads(out)["protected"]
    assert "shop" in json.loads(out)["protected"]


def test_keys_for_each_column_of_group_by(tacit: Command) -> None:
    query = "SELECT nation, year, COUNT(*) FROM orders GROUP BY nation, year"
    keys = ("--keys", "0,1", "--keys", "1")
    code, out, _ = tacit("ask", "orders.parquet", "--person", "customer", *keys, *SURE, query)
    assert code == 0
    assert [answer["value"] for answer in json.loads(out)["answers"]] == [20, 20]


def test_too_few_lists_of_keys_are_told_in_flags(tacit: Command) -> None:
    query = "SELECT nation, year, COUNT(*) FROM orders GROUP BY nation, year"
    code, out, err = tacit("ask", "orders.parquet", "--person", "customer", "--keys", "0,1", *SURE, query)
    assert (code, out) == (2, "")
    assert "write --keys once for each column of GROUP BY" in err


@pytest.mark.parametrize(("name", "content", "told"), [
    ("latin.csv", b"id,town\n1,K\xf6ln\n", "such as --encoding latin-1, or --encoding utf-8 to leave out"),
    ("orders.dat", b"id,town\n1,Ulm\n", "the kind of file is not clear; add --format parquet, csv"),
])  # fmt: skip
def test_options_of_the_reader_are_told_as_flags(
    tacit: Command, place: Path, name: str, content: bytes, told: str
) -> None:
    (place / name).write_bytes(content)
    code, _, err = tacit("ask", name, "--person", "id", *SURE, f"SELECT COUNT(*) FROM {Path(name).stem}")
    (place / name).unlink()
    assert code == 2
    assert told in err


def test_a_configuration_is_found_or_named(
    tacit: Command, place: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings = place / "with" / "tacit.toml"
    code, out, err = tacit("ask", "--config", str(settings), *SURE, JOINED)
    assert (code, json.loads(out)["value"]) == (0, 80)
    assert "no ledger" in err
    monkeypatch.chdir(place / "with")
    assert tacit("ask", *SURE, JOINED)[0] == 0
    code, out, err = tacit("ask", "--preview", "--epsilon", "1", JOINED)
    assert (code, err) == (0, "")
    assert out.startswith("number of rows: costs Pure(1) of the Pure(1) left. Nothing was spent.\n")
    code, _, err = tacit("ask", "../orders.parquet", "--config", "tacit.toml", *SURE, JOINED)
    assert code == 2
    assert "tacit.toml says by itself what its tables are" in err
    code, _, err = tacit("ask", "--person", "customer", *SURE, JOINED)
    assert code == 2
    assert "tacit.toml says by itself what its tables are" in err
    two = tmp_path / "two.toml"
    two.write_text(SETTINGS + SETTINGS.replace("shop]", "more]"))
    assert (
        "two.toml has the datasets shop, more; choose one with --name"
        in tacit("ask", "--config", str(two), *SURE, JOINED)[2]
    )
    assert (
        "has no dataset 'x'; there are shop, more"
        in tacit("ask", "--config", str(two), "--name", "x", *SURE, JOINED)[2]
    )


def test_a_gateways_configuration_brings_its_ledger(tacit: Command, place: Path, tmp_path: Path) -> None:
    """Whoever asks with the gateway's own file spends from the gateway's budget, recorded where it is."""
    settings = tmp_path / "tacit.toml"
    source = str(place / "shop.duckdb")
    text = SETTINGS.replace("shop.duckdb", source) + '[server]\nledger = "book.db"\n'
    settings.write_text(text.replace("[datasets.shop]", "[datasets.shop]\nbudget.epsilon = 1"))
    code, out, err = tacit("ask", "--config", str(settings), "--epsilon", "0.75", PERSONS)
    assert (code, err) == (0, "")
    budget = open_ledger(tmp_path / "book.db", read_only=True).budget("shop")
    assert repr(budget.remaining) == "Pure(0.25)"
    code, out, err = tacit("ask", "--config", str(settings), "--ledger", "other.db", "--epsilon", "0.1", PERSONS)
    assert (code, out) == (2, "")
    assert "whose budget is in a ledger of its own" in err
    code, out, _ = tacit("ask", "--config", str(settings), "--preview", "--epsilon", "0.5", PERSONS)
    assert code == 3
    assert "only Pure(0.25) is left" in out
    code, out, _ = tacit("ask", "--config", str(settings), "--preview", "--epsilon", "0.75", PERSONS, "--json")
    assert code == 0
    assert json.loads(out)["free"] is True
    settings.write_text(settings.read_text() + f'ledger_id = "{"0" * 32}"\n')
    code, _, err = tacit("ask", "--config", str(settings), "--epsilon", "0.1", PERSONS)
    assert code == 4
    assert "not the one that budgets were spent from" in err


def test_a_ledger_for_several_sources_needs_a_name(tacit: Command, place: Path) -> None:
    book = ("--ledger", str(place / "book.db"))
    assert "give this dataset's with --name" in tacit("ask", *FILES, *THREE, *book, *SURE, JOINED)[2]
    assert tacit("ledger", "create", "shop", *book, "--epsilon", "1", "--person", "customer")[0] == 0
    one = ("ask", "shop.duckdb", *THREE, *book, "--epsilon", "0.5", PERSONS)
    assert tacit(*one)[0] == 0  # under the name of the only source
    code, out, _ = tacit("ask", *FILES, *THREE, *book, "--name", "shop", "--preview", "--epsilon", "0.75", PERSONS)
    assert code == 3
    assert "only Pure(0.5) is left" in out


def test_the_schema_of_a_database_lists_every_table(tacit: Command) -> None:
    code, out, _ = tacit("schema", "shop.duckdb", "--json")
    assert code == 0
    assert list(json.loads(out)) == ["items", "late", "nations", "old.orders", "orders"]
    assert json.loads(out)["nations"] == {"code": "integer", "name": "text"}
    _, out, _ = tacit("schema", "shop.duckdb")
    assert out.splitlines()[:3] == ["items", "  n         integer", "  order_id  integer"]
    _, out, _ = tacit("schema", "shop.duckdb", "--table", "nations")
    assert out == "code  integer\nname  text\n"


WRONG = {
    ("shop.duckdb", "--person", "customer"): "the tables are items, late, nations, old.orders, orders, and --person",
    ("shop.duckdb",): "say whose rows they are: --person COLUMN, or --private TABLE:COLUMN",
    ("shop.duckdb", "--public", "nations"): "say whose rows they are: --person COLUMN",
    ("shop.duckdb", "--private", "orders"): "--private is written TABLE:COLUMN, such as orders:customer",
    ("shop.duckdb", "--private", "orders:"): "--private is written TABLE:COLUMN",
    ("shop.duckdb", "--private", "orders:a,,b"): "--private is written TABLE:COLUMN",
    (
        "shop.duckdb",
        "--private",
        "order:customer",
    ): "--private: there is no table 'order'; did you mean orders? The tables are items, late",
    ("shop.duckdb", "--private", "orders:customer", "--public", "nation"): "--public: there is no table 'nation'",
    ("shop.duckdb", "--private", "orders:customer", "--public", "orders"): "'orders' is private and public; say one",
    ("shop.duckdb", "--private", "orders:customer", "--person", "id"): "--person is for one table; with --private",
    ("shop.duckdb", "--private", "items:order_id=orders.id,order_id=late.id"): "leads to two tables",
    (
        "shop.duckdb",
        "--private",
        "items:order_id=orders",
    ): "or TABLE:COLUMN=OTHER.KEY where a",
    ("shop.duckdb", "orders.parquet", "--person", "customer"): "two sources have a table 'orders'",
    ("orders.parquet", "nations.csv", "--private", "orders:customer"): (
        "nothing says whose rows the table 'nations' holds; add --private nations:COLUMN, the column that names "
        "persons, or --public nations if it is about nobody."
    ),
    ("orders.parquet", "nations.csv", "--person", "customer"): "the tables are orders, nations, and --person speaks",
    ("orders.parquet", "nations.csv", "--table", "x", "--person", "customer"): "--table names the only table",
    ("shop.duckdb", "--private", "late:customer"): "nothing says whose rows the table 'orders' holds; add --private",
    ("orders.parquet", "--person", "customer", "--keys", ""): "--keys needs at least one key",
    ("orders.parquet", "--person", "customer", "--csv"): "--json and --csv are two forms of output; choose one.",
    (): "name a Parquet, CSV, JSON, Excel, DuckDB or SQLite file, or a connection string, or a configuration with",
}


@pytest.mark.parametrize("flags", WRONG, ids=lambda flags: " ".join(flags)[-40:])
def test_what_is_missing_is_said_in_the_words_of_the_flags(tacit: Command, flags: tuple[str, ...]) -> None:
    code, out, err = tacit("ask", *flags, *SURE, PERSONS)
    assert (code, out) == (2, "")
    assert WRONG[flags] in err.splitlines()[-1]


def test_the_shell_completes_tables(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As typer asks for it while an option waits for its value."""
    monkeypatch.chdir(place)
    line: Any = SimpleNamespace(args=["shop.duckdb", "nothing.csv"])
    assert completing.tables(line, "") == ["items", "late", "nations", "old.orders", "orders"]
    assert completing.tables(line, "na") == ["nations"]
    line.args = []
    assert completing.tables(line, "") == []


def test_the_shell_completes_columns_and_words_of_commands(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A source that is no table, or several, has no columns; what is known by heart needs no source."""
    monkeypatch.chdir(place)
    Path("short.csv").write_text("customer,city\n1,Ulm\n")
    line: Any = SimpleNamespace(args=["short.csv", "shop.duckdb"])
    assert completing.columns(line, "c") == ["customer", "city"]
    assert completing.shapes("l") == ["lognormal"]
    assert completing.statistics("me") == ["mean", "median"]
    assert completing.statistics("p") == ["persons", "p25", "p75", "p90", "p99"]
    assert "threshold_scan" in completing.audits("threshold")
    assert "sum" in completing.audits("sum")


def test_a_forgotten_query_is_said(tacit: Command) -> None:
    for last in ("shop.duckdb", "postgresql:///shop"):
        code, _, err = tacit("ask", "orders.parquet", *THREE, "--epsilon", "1", last)
        assert code == 2
        assert err.startswith("tacit: the query is missing; write it last, in quotes")


def test_a_query_from_standard_input(tacit: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", StringIO("SELECT COUNT(*)\nFROM orders;\n"))
    code, out, _ = tacit("ask", "orders.parquet", "--person", "customer", *SURE, "-")
    assert (code, json.loads(out)["value"]) == (0, 120)


def test_a_check_of_several_tables(tacit: Command) -> None:
    code, out, _ = tacit("check", "shop.duckdb", *THREE, "--json")
    assert code in (0, 1)
    assert list(json.loads(out)["tables"]) == ["orders", "items", "nations"]


def test_the_guide_runs(tacit: Command, place: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    guide = ROOT / "docs" / "how-to" / "several-tables.md"
    for name in ("shop.duckdb", "orders.parquet", "nations.csv"):
        (tmp_path / name).symlink_to(place / name)
    (settings,) = blocks(guide, "toml")
    (tmp_path / "tacit.toml").write_text(settings)
    monkeypatch.chdir(tmp_path)
    asked = list(commands(guide))
    assert len(asked) > 8
    for command in asked:
        code, out, err = tacit(*command)
        assert code == 0, (command, err)
        assert out


def test_python_runs_the_module(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["tacit", "--version"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("tacit", run_name="__main__")
    assert ended.value.code == 0
    assert capfd.readouterr().out.startswith("tacit ")


def test_what_a_file_is_has_flags_of_its_own(tacit: Command, place: Path) -> None:
    (place / "towns.txt").write_bytes("person;town;x\n1;Zürich;3\n2;Genève;4\n".encode("latin-1"))
    said = ("towns.txt", "--encoding", "latin-1", "--delimiter", ";", "--format", "csv")
    assert tacit("schema", *said)[:2] == (0, "person  integer\ntown    text\nx       integer\n")
    code, shown, _ = tacit("ask", *said, "--person", "person", "--epsilon", "1", "--json", "SELECT SUM(x) FROM towns")
    assert code == 0
    assert json.loads(shown)
    code, _, told = tacit("ask", *said, "--person", "person", "--epsilon", "1", "SELECT SUM(twon) FROM towns")
    assert code == 2
    assert "did you mean town?" in told
    assert tacit("check", *said, "--person", "person")[0] in (0, 1)
