"""A failure is a bit: it must cost a least price, and only so many may happen until the custodian renews them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from random import Random
from threading import Barrier
from typing import Any

import pytest

from tacit import Approx, BudgetExceeded, InvalidInput, Pure, Zcdp
from tacit.budgets import (
    Budget,
    FailuresUsedUp,
    Message,
    Policy,
    Question,
    Unanswered,
    Unsettled,
    filter_for,
    open_budget,
)
from tacit.budgets.accounts import statistics
from tacit.guarantees import Guarantee, Renyi
from tacit.ledger import open_ledger, texts, verify
from tacit.serve import gateway as gateways
from tacit.serve.config import load
from tacit.serve.gateway import Gateway
from tacit.serve.tokens import ANALYST, Caller
from tests.serve.support import configuration

LEAST = Fraction(1, 100)
ADA, GRACE = Caller(ANALYST, "ada"), Caller(ANALYST, "grace")


@pytest.fixture(params=["memory", "ledger"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Budget]:
    def make(policy: Policy) -> Budget:
        if request.param == "memory":
            return open_budget(Pure(1000), policy=policy)
        return open_ledger(tmp_path / "ledger.db").budget("d", Pure(1000), policy=policy)

    return make


@pytest.mark.parametrize(
    ("total", "composition", "cost"),
    [
        (Pure(2), "basic", Pure),
        (Approx(2, "1e-6"), "basic", Pure),
        (Approx(2, "1e-6"), "advanced", Pure),
        (Approx(2, "1e-6"), "advanced", Zcdp),
        (Zcdp("0.5"), "basic", Pure),
        (Zcdp("0.5"), "basic", Zcdp),
        (Renyi(4, 2), "basic", Pure),
    ],
)
def test_no_more_questions_fit_than_the_least_price_allows(total: Guarantee, composition: str, cost: Any) -> None:
    """Whatever the composition: the cheapest questions that are taken, until the budget is used up."""
    rule = filter_for(total, composition)
    low, high = Fraction(0), Fraction(2)
    for _ in range(40):  # the cheapest cost that is taken
        middle = (low + high) / 2
        low, high = (low, middle) if rule.portion(cost(middle)) >= LEAST else (middle, high)
    budget = open_budget(total, composition, policy=Policy(least=LEAST))
    with pytest.raises(BudgetExceeded, match="costs at least"):
        budget.charge(cost(low))
    asked = 0
    while budget.fits(cost(high)):
        budget.charge(cost(high))
        asked += 1
    assert 1 / LEAST - 2 <= asked <= 1 / LEAST
    assert rule.portion(rule.smallest(LEAST)) >= LEAST  # what people are told is taken


def test_a_failure_is_counted_until_it_is_renewed(opened: Callable[..., Budget]) -> None:
    ada = opened(Policy(failures=3)).analyst("ada")
    for _ in range(5):
        ada.settle(ada.charge(Pure(1)), {"value": 1})  # answers count for nothing
    for left in (2, 1, 0):
        ada.settle(ada.charge(Pure(1)), None)
        assert ada.failures_left == left
    for _ in range(2):
        with pytest.raises(
            FailuresUsedUp, match=r"3 of your questions here failed, .* nothing was spent: ask the cust"
        ):
            ada.charge(Pure(1))
        with pytest.raises(FailuresUsedUp):
            ada.check(Pure(1))
    assert ada.spent == Pure(8)
    ada.renew()
    assert ada.failures_left == 3
    ada.settle(ada.charge(Pure(1)), None)
    assert ada.failures_left == 2


def test_another_analyst_has_an_allowance_of_their_own(opened: Callable[..., Budget]) -> None:
    whole = opened(Policy(failures=1))
    ada, grace = whole.analyst("ada"), whole.analyst("grace")
    ada.settle(ada.charge(Pure(1)), None)
    grace.settle(grace.charge(Pure(1)), {"value": 1})
    with pytest.raises(FailuresUsedUp):
        ada.charge(Pure(1))


def test_questions_in_flight_count_as_if_they_failed(opened: Callable[..., Budget]) -> None:
    ada = opened(Policy(failures=2)).analyst("ada")
    first, second = ada.charge(Pure(1)), ada.charge(Pure(1))
    with pytest.raises(Unsettled, match="still being answered, and nothing was spent") as waiting:
        ada.charge(Pure(1))
    assert waiting.value.at == second.at  # whoever serves decides by this time that they are lost
    ada.settle(first, {"value": 1})
    third = ada.charge(Pure(1))
    for receipt in (second, third):
        ada.settle(receipt, None)
    with pytest.raises(FailuresUsedUp):
        ada.charge(Pure(1))


def test_what_fails_after_a_renewal_counts_in_the_new_period(opened: Callable[..., Budget]) -> None:
    ada = opened(Policy(failures=2)).analyst("ada")
    early = [ada.charge(Pure(1)), ada.charge(Pure(1))]
    ada.renew()
    for receipt in early:
        ada.settle(receipt, None)
    with pytest.raises(FailuresUsedUp):  # (r + 1)·f altogether, and no more
        ada.charge(Pure(1))


def test_a_request_that_was_charged_before_is_not_counted_twice(opened: Callable[..., Budget]) -> None:
    ada = opened(Policy(failures=2)).analyst("ada")
    question = Question("p", message=Message("k", "asked"))
    ada.settle(ada.charge(Pure(1), question), None)
    for _ in range(3):
        with pytest.raises(Unanswered):
            ada.charge(Pure(1), question)
    assert ada.failures_left == 1


def test_racing_threads_never_make_more_failures_than_allowed(opened: Callable[..., Budget]) -> None:
    ada = opened(Policy(failures=3)).analyst("ada")
    together, failed = Barrier(8), []

    def ask(_: int) -> None:
        together.wait(200)
        for _ in range(4):
            try:
                receipt = ada.charge(Pure(1))
            except (FailuresUsedUp, Unsettled):
                continue
            failed.append(receipt.number)
            ada.settle(receipt, None)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(ask, range(8)))
    assert len(failed) == 3


def test_the_count_is_on_the_disk_and_can_be_verified(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with open_ledger(path) as ledger:
        ada = ledger.budget("d", Pure(10), policy=Policy(failures=2, least=Fraction(1, 10))).analyst("ada")
        ada.settle(ada.charge(Pure(1)), None)
        ada.charge(Pure(1))  # and the process dies
    with open_ledger(path) as ledger:
        ada = ledger.budget("d").analyst("ada")
        with pytest.raises(Unsettled) as waiting:
            ada.charge(Pure(1))
        assert "1 of your questions here failed and 1 were lost" in str(waiting.value.lost)
        ada.renew()
        ada.settle(ada.charge(Pure(1)), {"value": 1})
        assert verify(ledger, "d").sound
        assert [entry.what for entry in ledger.history("d")].count("renewed") == 1
        assert ledger.dataset("d").root.policy == Policy(failures=2, least=Fraction(1, 10))


def test_policies_are_read_as_they_were_written_or_as_they_were_meant() -> None:
    policy = Policy(Pure(1), frozenset({"t.x"}), frozenset({"sum"}), Fraction(1, 7), 5)
    assert texts.policy_from(texts.policy_text(policy)) == policy
    former = texts.policy_from('{"statistics":["total","quantiles","nonsense"]}')
    assert former.statistics == frozenset({"sum", "count", "quantile"})
    assert former.statistics < statistics()


@pytest.mark.parametrize("wrong", [{"least": 2}, {"failures": 0}, {"statistics": {"total"}}, {"statistics": "sum"}])
def test_a_policy_that_means_nothing_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        Policy(**wrong)


# Parts: they pay little or nothing above them, and escape neither the least price nor the count of failures


@pytest.mark.parametrize(
    ("total", "composition"),
    [(Pure(2), "basic"), (Approx(2, "1e-6"), "advanced"), (Zcdp("0.5"), "basic"), (Renyi(4, 2), "basic")],
)
@pytest.mark.parametrize("seed", range(5))
def test_parts_and_shares_do_not_escape_the_least_price(total: Guarantee, composition: str, seed: int) -> None:
    """40 parts at a tenth of the budget took 120 questions instead of 10: asked here wherever, until none fits."""
    chosen, rule, price = Random(seed), filter_for(total, composition), Pure("0.2")
    least = rule.portion(price)
    whole = open_budget(total, composition, policy=Policy(least=least))
    ada, share = whole.analyst("ada"), whole.share(Pure("0.9") if seed % 2 else Pure("0.001"), "own")
    places = [whole, ada, share]
    for above in (whole, ada, share):
        group = above.parallel("g")
        places += [group.part(str(i)) for i in range(8)]
    places += [places[3].parallel("inner").part("x"), places[4].analyst("deep")]
    asked = 0
    while places:
        place = chosen.choice(places)
        cost = price if chosen.random() < 0.8 else Pure("0.3")
        try:
            place.charge(cost)
        except BudgetExceeded:
            if cost == price:
                places.remove(place)
        else:
            asked += 1
    assert 1 <= asked <= 1 / least
    assert rule.admits(whole._book.path(())[0].sums)


def test_parts_take_as_many_questions_as_the_least_price_allows(opened: Callable[..., Budget]) -> None:
    whole = opened(Policy(least=Fraction(1, 10)))
    parts = [whole.parallel("g").part(str(i)) for i in range(40)]
    asked = 0
    for part in parts:
        if part.fits(Pure(100)):
            part.charge(Pure(100))
            asked += 1
    assert asked == 10
    assert whole.spent == Pure(100)
    assert not whole.fits(Pure(100))
    assert whole.remaining.epsilon == 0  # type: ignore[attr-defined]
    whole.amend(policy=Policy())  # and without a least price the rest of the budget is there
    assert whole.remaining == Pure(900)
    parts[-1].charge(Pure(100))
    assert whole.spent == Pure(100)


def test_parts_have_no_failures_of_their_own(opened: Callable[..., Budget]) -> None:
    ada = opened(Policy(failures=2)).analyst("ada")
    parts = [ada.parallel("g").part(str(i)) for i in range(4)]
    for part in parts[:2]:
        part.settle(part.charge(Pure(1)), None)
    for payer in (*parts, ada):
        with pytest.raises(FailuresUsedUp):
            payer.charge(Pure(1))
        assert payer.failures_left == 0
    parts[3].renew()  # which is hers
    receipt = parts[0].charge(Pure(1))
    assert ada.unanswered == 1
    parts[0].settle(receipt, {"value": 1})
    assert ada.failures_left == 2


def test_what_parts_fall_short_of_is_on_the_disk_and_can_be_verified(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    for _ in range(2):
        with open_ledger(path) as ledger:
            policy = Policy(failures=2, least=Fraction(1, 10))
            whole = ledger.budget("d", Pure(10), policy=policy)
            ada = whole.analyst("ada")
            for i in range(2):
                part = ada.parallel("g").part(str(i))
                part.settle(part.charge(Pure(1)), {"value": 1})
            part.settle(part.charge(Pure(2)), None)
            assert verify(ledger, "d").sound
    with open_ledger(path) as ledger:
        root = ledger.dataset("d").root
        assert root.sums == (Fraction(6),)
        assert root.short == Fraction(2, 10)  # two charges cost nothing above: the second and the fourth
        assert ledger.budget("d").remaining == Pure(2)
        assert [entry.what for entry in ledger.history("d")].count("failed") == 2


# Over the gateway


@pytest.fixture
def gateway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Gateway:
    monkeypatch.setattr(gateways, "TURN", 0.0)
    return Gateway(load(configuration(tmp_path, extra="[limits]\nfailures = 2")))


def _ask(gateway: Gateway, sql: str, epsilon: str, caller: Caller = ADA, key: str = "") -> Any:
    question = gateway.read_question(caller, "visits", {"sql": sql, "epsilon": epsilon})
    return gateway.ask(caller, "visits", question, key)


def test_a_question_below_the_least_price_is_refused_for_each_of_its_aggregates(gateway: Gateway) -> None:
    """At ε = 10^-20 one woman's age was told by failures; the default is 10^-4 of the budget for each aggregate."""
    assert gateway.budget(ADA, "visits")["least"] == "Pure 1/1000"
    count = "SELECT COUNT(*) FROM visits"
    for sql, epsilon in ((count, "1e-20"), (count, "0.00099"), ("SELECT COUNT(*), SUM(minutes) FROM visits", "0.0019")):
        for act in (gateway.preview, gateway.ask):
            question = gateway.read_question(ADA, "visits", {"sql": sql, "epsilon": epsilon})
            with pytest.raises(BudgetExceeded, match=r"its aggregates, costs at least Pure\(.*nothing was spent"):
                act(ADA, "visits", question)
    _ask(gateway, "SELECT COUNT(*), SUM(minutes) FROM visits", "0.002")
    assert gateway.budget(ADA, "visits")["spent"] == "Pure 1/500"


def test_failures_are_an_oracle_only_so_often(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each question fails or answers as its data say; after two failures all of this analyst's are refused."""
    from tacit.tables.statistics.ways.totals import Total

    bits, release = iter([True, False, True, False, True]), Total.release

    def oracle(self: Total, room: Any) -> Any:
        if next(bits):
            raise MemoryError
        return release(self, room)

    monkeypatch.setattr(Total, "release", oracle)
    told = []
    for i in range(8):
        try:
            _ask(gateway, f"SELECT COUNT(*) FROM visits WHERE minutes > {i}", "0.01")
            told.append("answer")
        except Exception as error:
            told.append(type(error).__name__)
    assert told == ["EngineError", "answer", "EngineError", *["FailuresUsedUp"] * 5]
    assert gateway.budget(ADA, "visits")["failures_left"] == 0
    assert gateway.budget(ADA, "visits")["spent"] == "Pure 3/100"  # refusals cost nothing
    assert _ask(gateway, "SELECT COUNT(*) FROM visits WHERE minutes > 1", "0.01").stored  # what was paid for stays free
    assert not _ask(gateway, "SELECT COUNT(*) FROM visits", "0.01", GRACE).stored
    (account,) = [name for name in gateway.ledger.accounts("visits") if name.endswith(":ada")]
    gateway.renew("visits", account)
    with pytest.raises(Exception, match="charged"):
        _ask(gateway, "SELECT COUNT(*) FROM visits WHERE minutes > 9", "0.01")


def test_lost_questions_count_as_failures_once_they_must_be_lost(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    budget = gateway.session(ADA, "visits").budget
    for _ in range(2):
        budget.charge(Pure("0.01"))  # and the worker is killed
    with pytest.raises(Unsettled):
        _ask(gateway, "SELECT COUNT(*) FROM visits", "0.01")
    monkeypatch.setattr(Gateway, "_patience", timedelta(0))
    with pytest.raises(FailuresUsedUp, match="2 were lost"):
        _ask(gateway, "SELECT COUNT(*) FROM visits", "0.01")


def test_the_custodian_renews_on_the_page_and_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import re

    from starlette.testclient import TestClient

    from tacit.cli import main
    from tacit.serve.app import application
    from tests.serve.support import token

    path = configuration(tmp_path, extra="[limits]\nfailures = 1")
    with open_ledger(tmp_path / "ledger.db") as ledger:
        whole = ledger.budget("visits", Pure(10), kinds=("who",), policy=Policy(failures=1))
        ada = whole.analyst("ada")
        ada.settle(ada.charge(Pure(1)), None)
    with TestClient(application(load(path), bytes(32)), follow_redirects=False) as client:
        client.post("/login", data={"token": token("custodian")})
        page = client.get("/custodian").text
        mark = re.search(r'name="mark" value="([0-9a-f]+)"', page)
        assert "1 of 1" in page
        assert mark is not None
        act = {"action": "renew failures", "dataset": "visits", "account": "analyst:ada"}
        form = {"mark": mark[1], **act}
        assert client.post("/custodian/act", data=act).status_code == 403
        assert client.post("/custodian/act", data=form | {"account": "nobody"}).status_code == 404
        code = re.search(r'name="confirm" value="([^"]+)"', client.post("/custodian/act", data=form).text)
        assert code is not None
        form |= {"confirm": code[1]}
        assert client.post("/custodian/act", data=form).status_code == 200
        own = {"Authorization": f"Bearer {token('ada')}"}
        assert client.get("/v1/datasets/visits/budget", headers=own).json()["failures_left"] == 1
        client.cookies.clear()
        assert client.post("/custodian/act", data=form, headers=own).status_code == 403
    with open_ledger(tmp_path / "ledger.db") as ledger:
        ada = ledger.budget("visits").analyst("ada")
        ada.settle(ada.charge(Pure(1)), None)
        assert ada.failures_left == 0
        command = ["tacit", "ledger", "renew", "visits", "ada", "--ledger", str(tmp_path / "ledger.db")]
        monkeypatch.setattr("sys.argv", command)
        with pytest.raises(SystemExit) as done:
            main()
        assert not done.value.code
        assert "renewed; 1 questions had failed" in capsys.readouterr().out
        assert ada.failures_left == 1
        assert verify(ledger, "visits").sound
