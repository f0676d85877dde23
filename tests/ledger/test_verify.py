"""`verify` finds every change made behind a ledger's back; a forged history too, against a hash noted before."""

from __future__ import annotations

import json

import pytest

from tacit.budgets import Policy, Question
from tacit.errors import LedgerError
from tacit.guarantees import Pure
from tacit.ledger import open_ledger, verify
from tacit.ledger.entries import GENESIS, chained
from tests.ledger import raw

QUESTION = Question("plan", "SELECT 1", ("sum",), ("t.x",), "ada")


@pytest.fixture
def filled(where: str) -> str:
    with open_ledger(where) as ledger:
        budget = ledger.budget("d", Pure(5))
        budget.settle(budget.charge(Pure("0.5"), QUESTION), {"value": 1})
        budget.analyst("ada", Pure(2)).charge(Pure(1), QUESTION)
        budget.share(Pure(1), "weekly").charge(Pure("0.25"))
        budget.parallel("g").part("a").charge(Pure("0.5"))
        budget.amend(policy=Policy(largest=Pure(1)))
        budget.settle(budget.charge(Pure("0.125"), QUESTION), None)
        ledger.budget("other", Pure(1))
    return where


def test_an_untouched_ledger_is_sound(filled: str) -> None:
    with open_ledger(filled, read_only=True) as ledger:
        found = verify(ledger, "d")
        assert found.sound, str(found)
        assert found.entries == 13
        assert found.head == ledger.dataset("d").head
        first = next(ledger.history("d")).hash
        assert verify(ledger, "d", noted=first).sound
        assert not verify(ledger, "d", noted="0" * 64).sound
        assert not verify(ledger, "missing").sound
        assert "13 entries verified" in str(found)


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("UPDATE tacit_entries SET body = replace(body, 'Pure 1/2', 'Pure 1/4') WHERE number = 2", "hash"),
        ("UPDATE tacit_entries SET at = '2020-01-01T00:00:00.000000Z' WHERE number = 3", "hash"),
        ("UPDATE tacit_entries SET what = 'failed' WHERE number = 3", "hash"),
        ("DELETE FROM tacit_entries WHERE number = 5 AND dataset = 'd'", "does not follow"),
        ("DELETE FROM tacit_entries WHERE number > 9 AND dataset = 'd'", "cut off"),
        ("DELETE FROM tacit_entries WHERE dataset = 'd'", "cut off"),
        ("UPDATE tacit_datasets SET sums = '1/8' WHERE name = 'd'", "the budget is not what"),
        (
            "UPDATE tacit_datasets SET terms = replace(terms, 'Pure 5', 'Pure 9') WHERE name = 'd'",
            "the budget is not what",
        ),
        ("UPDATE tacit_datasets SET policy = '{}' WHERE name = 'd'", "the budget is not what"),
        ("UPDATE tacit_datasets SET head = '00' WHERE name = 'd'", "cut off"),
        ("UPDATE tacit_datasets SET sums = 'x' WHERE name = 'd'", "cannot be read"),
        ("UPDATE tacit_datasets SET terms = '{}' WHERE name = 'd'", "cannot be read"),
        ("UPDATE tacit_accounts SET sums = '0' WHERE name = 'analyst:ada'", "analyst:ada is not what"),
        (
            "UPDATE tacit_accounts SET terms = replace(terms, '2', '3') WHERE name = 'analyst:ada'",
            "analyst:ada is not what",
        ),
        ("DELETE FROM tacit_accounts WHERE name = 'share:weekly'", "share:weekly is not what"),
        ("DELETE FROM tacit_answers", "stored answers"),
        ("UPDATE tacit_answers SET number = 2", "stored answers"),
    ],
)
def test_tampering_shows(filled: str, statement: str, problem: str) -> None:
    raw.change(filled, statement)
    with open_ledger(filled) as ledger:
        found = verify(ledger, "d")
        assert not found.sound
        assert problem in str(found)
        assert verify(ledger, "other").sound


def test_swapped_entries_show(filled: str) -> None:
    raw.change(
        filled,
        "UPDATE tacit_entries SET number = 99 WHERE number = 4 AND dataset = 'd'",
        "UPDATE tacit_entries SET number = 4 WHERE number = 5 AND dataset = 'd'",
        "UPDATE tacit_entries SET number = 5 WHERE number = 99 AND dataset = 'd'",
    )
    with open_ledger(filled) as ledger:
        assert not verify(ledger, "d").sound


def _rewrite(where: str) -> None:
    """Make the first charge cheaper and rebuild every hash and sum after it, as someone with the code could."""
    head = GENESIS
    statements = []
    for number, at, what, body in raw.rows(
        where, "SELECT number, at, what, body FROM tacit_entries WHERE dataset = 'd' AND number < 4 ORDER BY number"
    ):
        if number == 2:
            told = json.loads(body)
            told |= {"cost": "Pure 1/8", "measured": "1/8", "after": {"": "1/8"}}
            body = json.dumps(told, sort_keys=True, separators=(",", ":"))
        head = chained("d", number, at, what, body, head)
        quoted = body.replace("'", "''")
        statements.append(
            f"UPDATE tacit_entries SET body = '{quoted}', hash = '{head}' WHERE dataset = 'd' AND number = {number}"
        )
    raw.change(where, *statements, f"UPDATE tacit_datasets SET sums = '1/8', head = '{head}' WHERE name = 'd'")


def test_a_history_rewritten_whole_shows_against_a_noted_hash(where: str) -> None:
    with open_ledger(where) as ledger:
        budget = ledger.budget("d", Pure(5))
        budget.settle(budget.charge(Pure("0.5")), {"value": 1})
        noted = verify(ledger, "d").head
    _rewrite(where)
    with open_ledger(where, accept=True) as ledger:
        assert verify(ledger, "d").sound  # a perfect forgery
        found = verify(ledger, "d", noted=noted)
        assert "rewritten" in str(found)


def test_charging_a_damaged_dataset_is_refused(filled: str) -> None:
    raw.change(filled, "UPDATE tacit_datasets SET sums = 'x' WHERE name = 'd'")
    with open_ledger(filled) as ledger, pytest.raises(LedgerError, match=r"damaged .* nothing was spent"):
        ledger.budget("d").charge(Pure("0.1"))
