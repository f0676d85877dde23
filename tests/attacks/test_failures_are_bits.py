"""A failure is a bit: a question that fails on some data and is answered on others tells which, at any ε.

The attack: join a table to itself by a column of few values until one row more decides between an answer and a
time-out, and let a filter pick that row: ``… WHERE v.woman = 1 AND v.age >= 18`` at ε = 10^-20 told one woman's age.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tacit import EngineError, InvalidInput, Private, Pure, Session, UnsupportedQuery
from tacit.serve.config import load
from tacit.serve.gateway import Gateway
from tacit.serve.tokens import ANALYST, Caller
from tests.serve.support import TOKENS

ADA = Caller(ANALYST, "ada")
WOMEN = 400


def attack(copies: int, age: int) -> str:
    joined = " ".join(f"JOIN wages w{i} ON v.college = w{i}.college" for i in range(copies))
    return f"SELECT COUNT(*) FROM wages v {joined} WHERE v.woman = 1 AND v.age >= {age}"


@contextmanager
def gateway(folder: Path, dataset: str = "", limits: str = "") -> Iterator[Gateway]:
    """Wages of women, the first of whom is 30 years old."""
    rows = "".join(f"{n},{n % 2},{30 if n == 1 else 20 + n % 30}\n" for n in range(WOMEN))
    (folder / "wages.csv").write_text("woman,college,age\n" + rows)
    (folder / "tacit.toml").write_text(
        f"""
[limits]
{limits}
[datasets.wages]
budget.epsilon = 1000
{dataset}
tables.wages = {{ source = "wages.csv", person = "woman", key = "woman" }}
[[analysts]]
name = "ada"
token = "{TOKENS["ada"][1]}"
"""
    )
    with closing(Gateway(load(folder / "tacit.toml"))) as found:
        yield found


def asked(found: Gateway, sql: str, epsilon: Any = 1) -> str:
    """What an analyst sees of a question's fate."""
    try:
        question = found.read_question(ADA, "wages", {"sql": sql, "epsilon": epsilon})
        found.ask(ADA, "wages", question)
    except EngineError as error:
        return str(error)
    return "answered"


def test_the_attack_is_refused_before_the_charge_and_in_previews(tmp_path: Path) -> None:
    with gateway(tmp_path) as found:
        for age in (18, 30, 31):
            question = found.read_question(ADA, "wages", {"sql": attack(2, age), "epsilon": 1})
            for ask in (found.ask, found.preview):
                with pytest.raises(UnsupportedQuery, match=r"'wages' is joined by college, .*expanding_joins"):
                    ask(ADA, "wages", question)
        assert found.session(ADA, "wages").budget.remaining == Pure(1000)
        many = " ".join(f"JOIN wages w{i} ON v.woman = w{i}.woman" for i in range(20))
        question = found.read_question(ADA, "wages", {"sql": f"SELECT COUNT(*) FROM wages v {many}", "epsilon": 1})
        with pytest.raises(UnsupportedQuery, match="at most 20 tables"):  # whose planning alone takes seconds
            found.preview(ADA, "wages", question)
        assert asked(found, "SELECT COUNT(*) FROM wages v JOIN wages w ON v.woman = w.woman") == "answered"


def test_where_it_is_allowed_no_filter_decides_and_no_row_is_made(tmp_path: Path) -> None:
    """200^9 rows fail at once; what fails and what is answered is the same for every age that may be guessed."""
    with gateway(tmp_path, "expanding_joins = true", "rows = 1000000\nfailures = 10") as found:
        begin = time.monotonic()
        fates = {asked(found, attack(8, age)) for age in (18, 30, 31, 99)}
        assert time.monotonic() - begin < 60
        assert len(fates) == 1
        assert "what was charged stays charged" in fates.pop()
        assert found.session(ADA, "wages").budget.spent == Pure(4)
        assert {asked(found, attack(1, age)) for age in (30, 31)} == {"answered"}


def test_the_limit_of_rows_of_several_persons_does_not_depend_on_a_filter() -> None:
    """1,000 rows were answered and 1,001 failed: 12 questions at ε = 10^-18 read 12 secret bits."""
    rows = 1001
    secret = [n % 3 == 0 for n in range(12)]
    edges = pa.table(
        {"src": range(rows), "dst": range(rows, 2 * rows), "bit": [n < 12 and secret[n] for n in range(rows)]}
    )
    for most, fates in ((rows, {True}), (rows - 1, {False})):
        limits = {"max_rows": most, "max_join_rows": most, "expanding_joins": False}
        with Session({"edge": Private(edges, person=["src", "dst"])}, Pure(1), **limits) as session:  # type: ignore[arg-type]
            seen = set()
            for victim in range(3):
                query = f"SELECT COUNT(*) FROM edge WHERE src >= 12 OR (src = {victim} AND bit)"
                try:
                    session.sql(query, epsilon="1e-18")
                    seen.add(True)
                except EngineError:
                    seen.add(False)
            assert seen == fates
            assert session.budget.spent == Pure("3e-18")


def test_serve_says_at_its_start_that_a_table_is_too_large_for_every_question(tmp_path: Path) -> None:
    with gateway(tmp_path, limits=f"rows = {WOMEN - 1}") as found:
        found.check_sizes()  # a row concerns one person
    path = tmp_path / "tacit.toml"
    path.write_text(path.read_text().replace('person = "woman"', 'person = ["woman", "age"]'))
    for file in ("ledger.db", "ledger.db.head"):
        (tmp_path / file).unlink()
    with closing(Gateway(load(path))) as found, pytest.raises(InvalidInput, match="has more rows than a question may"):
        found.check_sizes()
