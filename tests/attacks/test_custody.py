"""Attacks on what the custodian decides: tokens revoked in the middle, approvals replayed and raced, forged acts.

The gateway is asked directly: `begins` and `heard` are the moments before the first charge and after each.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tacit import Pure
from tacit.errors import BudgetExceeded, TacitError
from tacit.ledger import Superseded, open_ledger, verify
from tacit.serve.config import load
from tacit.serve.custody import forms
from tacit.serve.custody.actions import Desk, Unconfirmed, perform, propose
from tacit.serve.custody.catalogue import read_action
from tacit.serve.custody.requests import request_approval
from tacit.serve.gateway import Gateway
from tacit.serve.questions import SentQuestion
from tacit.serve.tokens import ANALYST, Caller, NotAdmitted, token_id
from tests.serve.support import TOKENS, configuration

GRACE = Caller(ANALYST, "grace", token_id(TOKENS["grace"][1].removeprefix("sha256:")))
CHEAP = SentQuestion("SELECT SUM(minutes), COUNT(*), AVG(minutes) FROM visits", None, (("epsilon", "0.3"),))
DEAR = SentQuestion("SELECT SUM(minutes), COUNT(*) FROM visits", None, (("epsilon", "4"),))


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[Gateway]:
    with closing(Gateway(load(configuration(tmp_path)))) as found:
        yield found


def do(gateway: Gateway, action: str, **fields: Any) -> None:
    """An act of the custodian, from a process of their own."""
    with closing(Gateway(gateway.file)) as own:
        desk, read = Desk(own, "custodian", "test"), read_action({"action": action, **fields})
        perform(desk, read, propose(desk, read).code)


def spent(gateway: Gateway) -> Any:
    assert verify(gateway.ledger, "visits").sound
    return gateway.ledger.budget("visits").spent


ENDS: list[dict[str, str]] = [
    {"action": "revoke token", "name": "grace", "token": GRACE.token},
    {"action": "revoke analyst", "name": "grace"},
    {"action": "pause analyst", "name": "grace"},
    {"action": "withdraw access", "name": "grace", "dataset": "visits"},
]


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end["action"])
def test_who_is_sent_away_before_the_first_charge_spends_nothing(gateway: Gateway, end: dict[str, str]) -> None:
    with pytest.raises(NotAdmitted):
        gateway.ask(GRACE, "visits", CHEAP, begins=lambda: do(gateway, **end))
    assert spent(gateway).epsilon == 0


def test_who_is_sent_away_in_the_middle_pays_for_nothing_further(gateway: Gateway) -> None:
    """Three aggregates, and the token is revoked after the first was charged: the second is refused, not released."""
    with pytest.raises(NotAdmitted):
        gateway.ask(GRACE, "visits", CHEAP, heard=_once(lambda: do(gateway, **ENDS[0])))
    assert spent(gateway) == Pure("0.1")


def _once(work: Callable[[], None]) -> Callable[[Any], None]:
    left = [work]
    return lambda _: left.pop()() if left else None


def approve(gateway: Gateway, question: SentQuestion = DEAR, cost: str = "Pure 4") -> int:
    asked = request_approval(gateway, GRACE, "visits", question, cost, "")
    do(gateway, "approve", request=asked.number)
    gateway.follow()
    return asked.number


def test_an_approval_is_charged_once_however_often_it_is_asked_at_the_same_time(
    tmp_path: Path, gateway: Gateway
) -> None:
    approve(gateway)
    values: list[Any] = []

    def ask(fresh: bool) -> None:
        with closing(Gateway(gateway.file)) as own:
            found = own.ask(GRACE, "visits", SentQuestion(DEAR.sql, None, DEAR.amounts, fresh))
            values.append(tuple(answer.value for answer in found.values()))  # type: ignore[union-attr]

    threads = [threading.Thread(target=ask, args=(bool(i % 2),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(values) == 4
    assert len(set(values)) == 1
    assert spent(gateway) == Pure(4)
    assert gateway.session(GRACE, "visits").budget.remaining == Pure(1)  # it is besides the limit


def test_an_approval_whose_question_died_is_answered_later_and_paid_once(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process dies after the first of two charges: what was paid is answered later, and nothing is paid twice."""

    class Died(BaseException):
        pass

    def die(_: Any) -> None:
        raise Died

    approve(gateway)
    with pytest.raises(Died):
        gateway.ask(GRACE, "visits", DEAR, heard=die)
    assert spent(gateway) == Pure(2)
    monkeypatch.setattr(Gateway, "_patience", timedelta(0))
    again = SentQuestion(DEAR.sql, None, DEAR.amounts, fresh=True)
    first = gateway.ask(GRACE, "visits", again)
    assert spent(gateway) == Pure(4)
    assert str(gateway.ask(GRACE, "visits", again).to_dict()["answers"][0]["value"]) in str(first.to_dict())
    assert spent(gateway) == Pure(4)


@pytest.mark.parametrize(
    "other",
    [
        SentQuestion(DEAR.sql, None, (("epsilon", "3.9"),)),
        SentQuestion(DEAR.sql + " WHERE minutes > 1", None, DEAR.amounts),
        SentQuestion(DEAR.sql, ("a",), DEAR.amounts),
    ],
    ids=["cost", "question", "keys"],
)
def test_an_approval_is_for_no_other_question(gateway: Gateway, other: SentQuestion) -> None:
    approve(gateway)
    with pytest.raises(TacitError) as refused:
        gateway.ask(GRACE, "visits", other)
    assert not isinstance(refused.value, NotAdmitted)
    assert spent(gateway).epsilon == 0
    with pytest.raises(TacitError):
        gateway.ask(Caller(ANALYST, "ada"), "visits", SentQuestion(DEAR.sql, None, (("epsilon", "11"),)))
    assert spent(gateway).epsilon == 0


def test_the_custodian_reads_the_groups_that_are_approved(gateway: Gateway) -> None:
    """They are part of the question and stand beside its text: whoever reads the text alone would approve any."""
    grouped = SentQuestion("SELECT place, COUNT(*) FROM visits GROUP BY place", ("north", "<b>"), DEAR.amounts)
    asked = request_approval(gateway, GRACE, "visits", grouped, "Pure 4", "")
    assert asked.to_dict()["keys"] == '["north", "<b>"]'
    assert "For these groups: <code>[&quot;north&quot;, &quot;&lt;b&gt;&quot;]</code>" in forms.requests([asked], "m")
    assert "keys" not in request_approval(gateway, GRACE, "visits", DEAR, "Pure 4", "").to_dict()


def test_an_approval_that_is_taken_back_or_over_admits_nothing(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = approve(gateway)
    with pytest.raises(NotAdmitted):
        gateway.ask(GRACE, "visits", DEAR, begins=lambda: do(gateway, "withdraw approval", request=number))
    with pytest.raises(BudgetExceeded):
        gateway.ask(GRACE, "visits", DEAR)
    approve(gateway)
    monkeypatch.setattr("tacit.serve.custody.standing.Request.expired", True)
    with pytest.raises(BudgetExceeded):
        gateway.ask(GRACE, "visits", DEAR)
    assert spent(gateway).epsilon == 0


def test_approvals_hold_within_the_budget_of_all(gateway: Gateway) -> None:
    huge = SentQuestion(DEAR.sql, None, (("epsilon", "11"),))
    asked = request_approval(gateway, GRACE, "visits", huge, "Pure 11", "")
    with pytest.raises(TacitError, match="cannot be approved"):
        do(gateway, "approve", request=asked.number)
    gateway.follow()
    three = [SentQuestion(f"{DEAR.sql} WHERE minutes > {i}", None, DEAR.amounts) for i in range(3)]
    for question in three:
        approve(gateway, question)
    for question in three[:2]:
        gateway.ask(GRACE, "visits", question)
    with pytest.raises(BudgetExceeded):
        gateway.ask(GRACE, "visits", three[2])
    assert spent(gateway) == Pure(8)


def test_of_two_custodians_who_decide_at_once_one_is_refused(gateway: Gateway) -> None:
    asked = request_approval(gateway, GRACE, "visits", DEAR, "Pure 4", "")
    with closing(Gateway(gateway.file)) as first, closing(Gateway(gateway.file)) as second:
        desks = [(Desk(each, "custodian", "test"), each) for each in (first, second)]
        actions = [read_action({"action": word, "request": asked.number}) for word in ("approve", "decline")]
        codes = [propose(desk, action).code for (desk, _), action in zip(desks, actions, strict=True)]
        refused: list[Exception] = []

        def decide(i: int) -> None:
            try:
                perform(desks[i][0], actions[i], codes[i])
            except (Superseded, Unconfirmed) as error:
                refused.append(error)

        threads = [threading.Thread(target=decide, args=(i,)) for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(refused) == 1
    decided = [act for act in gateway.ledger.acts() if act.what in ("question approved", "question declined")]
    assert len(decided) == 1


def test_requests_say_nothing_about_the_data(tmp_path: Path) -> None:
    """The same question, requested and approved over neighbouring data: what is written and said is the same."""
    told = []
    for name, row in (("one", ""), ("two", "p999,100000,north\n")):
        folder = tmp_path / name
        folder.mkdir()
        path = configuration(folder)
        with (folder / "visits.csv").open("a") as file:
            file.write(row)
        with closing(Gateway(load(path))) as gateway:
            seen = gateway.preview(GRACE, "visits", DEAR)
            approve(gateway, cost=seen["cost"])
            bodies = [{k: v for k, v in act.body.items() if k != "until"} for act in gateway.ledger.acts()]
            told.append((seen, bodies, gateway.preview(GRACE, "visits", DEAR)))
    assert told[0] == told[1]


def test_acts_that_were_tampered_with_are_found(tmp_path: Path, gateway: Gateway) -> None:
    for name in ("grace", "ada"):
        do(gateway, "pause analyst", name=name)
    assert gateway.ledger.verify_acts() == ()
    for statement in (
        "UPDATE tacit_entries SET what = 'analyst resumed' WHERE dataset = '' AND number = 1",
        "DELETE FROM tacit_entries WHERE dataset = '' AND number = 2",
    ):
        copy = tmp_path / "copy.db"
        copy.unlink(missing_ok=True)
        gateway.ledger.copy_to(copy)
        with closing(sqlite3.connect(copy)) as forged:
            for trigger in ("update", "delete"):
                forged.execute(f"DROP TRIGGER tacit_entries_no_{trigger}")
            forged.execute(statement)
            forged.commit()
        with open_ledger(copy, read_only=True) as ledger:
            assert ledger.verify_acts() != ()
        (tmp_path / "copy.db.head").unlink()
