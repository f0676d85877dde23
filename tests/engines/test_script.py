"""Statements from parts: what reads what, what is worth keeping, and both ways to write it."""

from __future__ import annotations

from tacit.engines.columns import TableSQL
from tacit.engines.duckdb.dialect import DIALECT
from tacit.engines.script import Part, Reading, Script, fill, fragment, join

TABLE = Reading(TableSQL("t0", {}), "`t`")
ROWS, PERSONS = Reading("rows"), Reading("persons")
PARTS = (
    Part("rows", fragment("SELECT 1 FROM ", TABLE)),
    Part("persons", fragment("SELECT a FROM ", ROWS), kept=True),
)
ONCE = Script(PARTS, fragment("SELECT rows FROM ", Reading("persons", "p"), ", ", ROWS, " WHERE rows.a = p.a"))


def test_a_database_names_the_parts() -> None:
    assert DIALECT.statement(ONCE) == (
        "WITH rows AS NOT MATERIALIZED (SELECT 1 FROM t0 AS `t`), persons AS MATERIALIZED (SELECT a FROM rows) "
        "SELECT rows FROM persons AS p, rows WHERE rows.a = p.a"
    )


def test_parts_are_written_inside_a_query_but_for_those_that_have_a_place() -> None:
    assert ONCE.inline(ONCE.body, {"t0": "v0", "persons": "v1"}) == (
        "SELECT rows FROM v1 AS p, (SELECT 1 FROM v0 AS `t`) AS rows WHERE rows.a = p.a"
    )
    assert ONCE.inline(PARTS[1].body, {}) == "SELECT a FROM (SELECT 1 FROM t0 AS `t`) AS rows"


def test_kept_parts_are_shared_if_they_are_read_twice_or_again() -> None:
    assert ONCE.shared == frozenset()
    assert Script(PARTS, fragment("SELECT 1 FROM ", PERSONS, ", ", PERSONS)).shared == {"persons"}
    later = (PARTS[0], Part("pairs", PARTS[1].body, kept=True, again=True))
    assert Script(later, fragment("SELECT 1 FROM ", Reading("pairs"))).shared == {"pairs"}


def test_text_that_looks_like_a_reading_is_none() -> None:
    """A constant may hold a part's name after FROM, or braces."""
    body = fragment("SELECT 'FROM persons, {}' FROM ", PERSONS)
    assert Script(PARTS, body).shared == frozenset()
    assert Script(PARTS, body).inline(body, {"persons": "v"}) == "SELECT 'FROM persons, {}' FROM v AS persons"


def test_forms_and_lists() -> None:
    assert (
        fill("SQRT({} - {})", "{x}", fragment("(SELECT 1 FROM ", ROWS, ")")).text()
        == "SQRT({x} - (SELECT 1 FROM rows))"
    )
    assert join(" UNION ALL ", [fragment(ROWS), fragment(PERSONS)]).pieces == (ROWS, " UNION ALL ", PERSONS)
