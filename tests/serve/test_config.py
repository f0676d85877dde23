"""The configuration file: what it means, and one clear sentence for each mistake."""

from __future__ import annotations

from decimal import Decimal
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from tacit import Approx, InvalidInput, Pure, Zcdp
from tacit.ledger import open_ledger
from tacit.serve.config import Access, load
from tacit.serve.gateway import Gateway
from tacit.serve.sparks import connect_spark
from tacit.serve.tokens import ANALYST, Caller
from tests.serve.support import TOKENS, configuration, people

LINE = TOKENS["ada"][1]
BASE = f"""
[datasets.visits]
budget.epsilon = 0.3
tables.visits = {{ source = "visits.csv", person = "who" }}
[[analysts]]
name = "ada"
token = "{LINE}"
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "tacit.toml"
    path.write_text(text)
    return path


def test_numbers_are_exact_and_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    config = load(written(tmp_path, BASE + "[limits]\nseconds = 1.5\n[server]\nport = 0\n"))
    assert config.datasets["visits"].budget == Pure("0.3")
    assert config.limits.seconds == Decimal("1.5")
    assert config.server.ledger == str(tmp_path / "ledger.db")
    assert config.analysts == {"ada": {"visits": Access()}}
    assert LINE.endswith(config.digests[Caller(ANALYST, "ada")])
    assert LINE.removeprefix("sha256:") not in repr(config)


def test_other_budgets_and_sources(tmp_path: Path) -> None:
    text = BASE.replace("budget.epsilon = 0.3", "budget = { epsilon = 1, delta = 1e-6 }\ncomposition = 'advanced'")
    assert load(written(tmp_path, text)).datasets["visits"].budget == Approx(1, "1e-6")
    text = BASE.replace("budget.epsilon = 0.3", "budget.rho = 0.1").replace("visits.csv", "postgresql:///shop")
    assert load(written(tmp_path, text)).datasets["visits"].budget == Zcdp("0.1")


def test_a_spark_address_becomes_a_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    session = object()

    def opened(address: str) -> SimpleNamespace:
        asked.append(address)
        return SimpleNamespace(getOrCreate=lambda: session)

    monkeypatch.setattr("pyspark.sql.SparkSession.builder", SimpleNamespace(remote=opened, master=opened))
    for address in ("sc://spark.example.org:15002", "spark://spark.example.org:7077"):
        config = load(written(tmp_path, BASE.replace('"visits.csv"', f'"{address}", table = "lake.visits"')))
        table = config.datasets["visits"].tables["visits"]
        assert table.source.data == address  # plain data, which goes to every executor
        source = connect_spark(table).source
        assert (source.data, source.table) == (session, "lake.visits")
    assert asked == ["sc://spark.example.org:15002", "spark://spark.example.org:7077"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("budget.epsilon = 0.3", "", "needs a budget"),
        ("budget.epsilon = 0.3", "budget.epsilon = -1", "datasets.visits.budget: epsilon must be above 0"),
        ("budget.epsilon = 0.3", "budget.epsilon = 1\nsurprise = 1", "has no setting 'surprise'; there are"),
        ('person = "who"', "public = true, person = 'who'", "is public or has persons, not both"),
        ('person = "who"', "unit = 1", "needs person="),
        ('source = "visits.csv", ', "", "needs a text for 'source'"),
        (LINE, "tacit_secret", "token must be a line that `tacit serve token` made"),
        ('name = "ada"', 'name = "a/b"', "a name has letters"),
        ("[[analysts]]", "[[analysts]]\ndatasets.other.limit.epsilon = 1", "dataset 'other' that is not in the file"),
        ("[[analysts]]", "[analysts]", "[[analysts]]"),
        ("[[analysts]]", "[limits]\nseconds = 'long'\n[[analysts]]", "limits: seconds must be a number from 0"),
        ("[[analysts]]", "[limits]\nconcurrency = 0\n[[analysts]]", "whole number from 1"),
        ("[[analysts]]", "[limits]\npreview_seconds = 0\n[[analysts]]", "preview_seconds must be above 0"),
        ("[[analysts]]", "[limits]\nmemory_mb = 10\n[[analysts]]", "memory_mb at least 256"),
        ("[[analysts]]", "[limit]\nseconds = 3\n[[analysts]]", "no setting 'limit'"),
        ("[datasets.visits]", "[datasets.visits", "is not TOML"),
        ("[[analysts]]", f'[custodian]\ntoken = "{LINE}"\n[[analysts]]', "two callers have the same token"),
    ],
    ids=count(),  # tokens are random, and every process must name its tests alike
)
def test_mistakes_are_said_in_one_sentence(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in BASE
    with pytest.raises(InvalidInput) as caught:
        load(written(tmp_path, BASE.replace(old, new)))
    assert words in str(caught.value)
    assert LINE not in str(caught.value)


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="check the path"):
        load(tmp_path / "nothing.toml")
    with pytest.raises(InvalidInput, match="dataset 'visits': table 'visits': there is no file"):
        Gateway(load(written(tmp_path, BASE)))


def test_limits_and_shares_are_opened_found_again_and_changed(tmp_path: Path) -> None:
    path = configuration(tmp_path)
    ada, grace = Caller(ANALYST, "ada"), Caller(ANALYST, "grace")
    gateway = Gateway(load(path))
    assert gateway.session(ada, "visits").budget.total == Pure(10)
    assert gateway.session(grace, "visits").budget.total == Pure(1)
    gateway.close()
    path.write_text(path.read_text().replace("limit.epsilon = 1", "limit.epsilon = 2"))
    for _ in range(2):
        gateway = Gateway(load(path))
        assert gateway.session(grace, "visits").budget.total == Pure(2)
        gateway.close()
    path.write_text(path.read_text().replace("limit.epsilon = 2", "share.epsilon = 3"))
    for _ in range(2):
        gateway = Gateway(load(path))
        assert gateway.session(grace, "visits").budget.account == "share:grace/analyst:grace"
        assert gateway.session(ada, "visits").budget.remaining == Pure(7)
        question = gateway.read_question(grace, "visits", {"sql": "SELECT COUNT(*) FROM visits", "epsilon": 1})
        gateway.ask(grace, "visits", question)
        assert gateway.budget(grace, "visits")["remaining"] == "Pure 2"
        assert gateway.burn_down(grace, "visits") == [(0, 1.0), (1, 2 / 3)]
        gateway.close()
    assert open_ledger(tmp_path / "ledger.db", read_only=True).budget("visits").spent == Pure(3)
    path.write_text(path.read_text().replace("share.epsilon = 3", "limit.rho = 3"))
    with pytest.raises(InvalidInput, match="analyst 'grace' of dataset 'visits': limit must be of the same kind"):
        Gateway(load(path))


def test_postgresql_serves_too(tmp_path: Path, server: str) -> None:
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE TABLE serve_visits (who text, minutes int)")
        connection.execute("INSERT INTO serve_visits SELECT 'p' || i % 100, i % 50 FROM generate_series(1, 300) i")
    people(tmp_path)
    text = BASE.replace('source = "visits.csv"', f'source = "{server}", table = "serve_visits"')
    text += f'[server]\nledger = "{server}"\n'
    gateway = Gateway(load(written(tmp_path, text)))
    ada = Caller(ANALYST, "ada")
    question = gateway.read_question(ada, "visits", {"sql": "SELECT SUM(minutes) FROM visits", "epsilon": "0.1"})
    assert gateway.ask(ada, "visits", question, "key").to_dict()["statistic"] == "sum of minutes"
    assert gateway.budget(ada, "visits")["remaining"] == "Pure 1/5"
    gateway.close()
