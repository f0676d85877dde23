"""A series: opened, continued after a restart, capped over its whole life, renewed at a price, never drawn twice.

Random tests have a false-alarm rate of at most 1e-6.
"""

from collections.abc import Callable
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit import Approx, BudgetExceeded, EngineError, InvalidInput, Pure, UnsupportedQuery, Zcdp, plots
from tacit.answers.series import Chapter, Nodes, Series, Told
from tacit.answers.storing import decode_answer, encode
from tacit.ledger import open_ledger
from tacit.mechanisms.totals.running_totals import batch_laws, blocks_for, opening
from tacit.randomness import seeded_not_private
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.series import SeriesTotals

pa = pytest.importorskip("pyarrow")
START = date(2025, 1, 1)
BIG = 10**5  # noise of well below one row: what comes back is what was counted


def rows(days: int = 90, persons: int = 40, each: int = 6) -> Any:
    """Persons with a row every few days, of amounts with either sign."""
    found = [(p, (p + 7 * k) % days, (p % 5) - 1) for p in range(persons) for k in range(each)]
    who, when, much = zip(*found, strict=True)
    return pa.table({"person": who, "day": [START + timedelta(days=d) for d in when], "amount": much})


ONCE = rows(90, 300, 1)
"""Persons with one row each: whatever cap is found, nobody is above it."""


def opened(table: Any, folder: Path | None = None, budget: Any = None, **more: Any) -> Any:
    kept: dict[str, Any] = {} if folder is None else {"ledger": folder / "ledger.db", "name": "visits"}
    return tacit.read(table, person="person", budget=budget or Pure(10**6), table="visits", **kept, **more)


def day(place: int) -> date:
    return START + timedelta(days=place)


def counted(table: Any, days: int) -> list[int]:
    when = table.column("day").to_pylist()
    return [sum(d == day(place) for d in when) for place in range(days)]


def test_bins_cumulative_totals_and_ranges_are_what_was_counted_and_add_up() -> None:
    table = rows()
    visits = opened(table)
    series = visits.series("day", every="day", start=START, until=day(89), epsilon=BIG)
    truth = counted(table, 90)
    assert [answer.value for answer in series.values()] == truth
    assert [answer.value for answer in series.cumulative().values()] == [sum(truth[: n + 1]) for n in range(90)]
    assert series.between(day(10), day(39)).value == sum(truth[10:40])
    assert visits.budget.spent == Pure(BIG)
    assert next(iter(series)) == START
    assert series.until == day(89)


def test_noise_and_all_adds_up_and_intervals_say_what_they_cover() -> None:
    series = opened(rows()).series("day", every="week", start=START, until=day(89), epsilon=1)
    values = [answer.value for answer in series.values()]
    assert [answer.value for answer in series.cumulative().values()][-1] == sum(values)
    part = series.between(list(series)[2], list(series)[5])
    assert part.value == sum(values[2:6])
    low, high = part.interval()
    assert low < part.value < high
    assert part.interval().covers == "capped value"
    assert "nobody counted beyond" in str(part)
    assert "add up" in str(series)


def test_the_next_periods_cost_nothing_after_a_restart_and_the_same_again_is_stored(tmp_path: Path) -> None:
    table = ONCE
    first = opened(table, tmp_path).series("day", every="day", start=START, until=day(29), epsilon=BIG)
    assert len(first) == 30
    visits = opened(table, tmp_path)
    more = visits.series("day", every="day", until=day(44))
    again = opened(table, tmp_path).series("day", every="day", until=day(44), epsilon=BIG)
    assert [answer.value for answer in more.values()] == counted(table, 45)
    assert not more.stored
    assert again.stored
    assert str(again.start) == "2025-01-01"
    assert visits.budget.spent == Pure(BIG)
    assert more.guarantee == Pure(BIG)
    with open_ledger(tmp_path / "ledger.db") as ledger:
        charges = [entry.body["cost"] for entry in ledger.history("visits") if entry.what == "charged"]
    assert charges == [f"Pure {BIG}", "Pure 0"]


def test_a_ledger_with_free_charges_verifies(tmp_path: Path) -> None:
    from tacit.cli.app import run

    visits = opened(rows(), tmp_path)
    for until in (9, 10, 12):
        visits.series("day", every="day", start=START, until=day(until), epsilon=1)
    visits.session.close()
    assert run(["ledger", "verify", "visits", "--ledger", str(tmp_path / "ledger.db")]) == 0


def test_a_person_counts_for_the_cap_over_all_periods_whenever_they_are_asked_for() -> None:
    """One person with a row a day among many with one: cut at the cap, in the order of time, in one go or two."""
    table = pa.table({"person": [0] * 60 + list(range(1, 301)), "day": [day(d) for d in range(60)] + [day(0)] * 300})
    for ends in ((59,), (19, 59), (0, 10, 20, 59)):
        visits = opened(table)
        for end in ends:
            series = visits.series("day", every="day", start=START, until=day(end), epsilon=BIG)
        cap = int(series.cap)
        told = [answer.value for answer in series.values()]
        assert told == [301, *([1] * (cap - 1)), *([0] * (60 - cap))] or cap >= 60


def test_gaussian_noise_and_costs_with_delta() -> None:
    table, truth = ONCE, counted(ONCE, 30)
    for budget, cost in ((Zcdp(10**9), {"rho": 10**6}), (Approx(10**6, "1e-5"), {"epsilon": BIG, "delta": "1e-6"})):
        visits = opened(table, budget=budget)
        visits.series("day", every="day", start=START, until=day(19), **cost)
        series = visits.series("day", every="day", until=day(29))
        assert [answer.value for answer in series.values()] == truth


def test_sums_of_either_sign_and_persons() -> None:
    table = rows()
    visits = opened(table)
    month = [d.month for d in table.column("day").to_pylist()]
    sums = visits.series("day", every="month", of="sum", column="amount", start=START, until=day(89), epsilon=BIG)
    want = [sum(a for a, m in zip(table.column("amount").to_pylist(), month, strict=True) if m == n) for n in (1, 2, 3)]
    assert [answer.value for answer in sums.values()] == want
    persons = visits.series("day", every="month", of="persons", start=START, until=day(89), epsilon=BIG)
    pairs = set(zip(table.column("person").to_pylist(), month, strict=True))
    assert [answer.value for answer in persons.values()] == [sum(m == n for _, m in pairs) for n in (1, 2, 3)]


def test_a_cap_is_renewed_when_the_data_outgrow_it_at_the_cost_that_is_named() -> None:
    table = pa.table({"person": list(range(2000)) * 12, "day": [day(30 * k) for k in range(12) for _ in range(2000)]})
    visits = opened(table)
    asked: dict[str, Any] = {"every": "day", "epsilon": 10**4}
    visits.series("day", start=START, until=day(30), **asked)
    series = visits.series("day", until=day(150), **asked)
    assert series.outgrown
    assert visits.budget.spent == Pure(10**4)
    assert "outgrown" in str(series)
    series = visits.series("day", until=day(240), renew=True, **asked)
    assert len(series.chapters) == 2
    assert visits.budget.spent == Pure(2 * 10**4)
    assert series.guarantee == Pure(2 * 10**4)
    assert not series.outgrown
    across = series.between(day(0), day(240))
    assert across.cap is None
    assert across.interval().of.count("nobody") == 2
    now = visits.series("day", until=day(250), every="day", renew="now", epsilon=1)
    assert (len(now.chapters), visits.budget.spent) == (3, Pure(2 * 10**4 + 1))
    outgrown = opened(table)
    outgrown.series("day", start=START, until=day(30), **asked)
    outgrown.series("day", every="day", until=day(150))
    with pytest.raises(InvalidInput, match="kind"):
        outgrown.series("day", every="day", until=day(240), renew=True, epsilon=1, delta="1e-6")


def test_the_first_period_is_found_where_it_is_not_named() -> None:
    table = rows()
    series = opened(table).series("day", every="month", until=date(2025, 3, 31), epsilon=BIG)
    assert series.start == START
    assert sum(a.value for a in series.values()) == sum(counted(table, 90))


def test_timestamps_are_put_into_the_periods_of_their_days() -> None:
    from datetime import datetime

    times = [datetime(2025, 1, 31, 23, 59), datetime(2025, 2, 1), datetime(2025, 2, 28, 12)]
    table = pa.table({"person": [1, 2, 3], "at": times})
    series = opened(table).series("at", every="month", start="2025-01", until="2025-02-28", epsilon=BIG)
    assert {str(d): a.value for d, a in series.items()} == {"2025-01-01": 1, "2025-02-01": 2}


def test_only_periods_that_ended_are_told() -> None:
    visits = opened(rows())
    assert len(visits.series("day", every="month", start=START, until=day(88), epsilon=1)) == 2
    with pytest.raises(InvalidInput, match="no period"):
        visits.series("day", every="year", start=START, until=day(88), epsilon=1)
    assert visits.budget.spent == Pure(1)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"every": "hour"}, "every"),
        ({"of": "mean"}, "of must be"),
        ({"of": "sum"}, "column="),
        ({"start": "yesterday"}, "start"),
        ({"epsilon": None}, "cost"),
    ],
)
def test_what_cannot_be_asked_is_refused_and_costs_nothing(asked: dict[str, Any], said: str) -> None:
    visits = opened(rows())
    with pytest.raises(InvalidInput, match=said):
        visits.series("day", **({"every": "month", "start": START, "until": day(89), "epsilon": 1} | asked))
    assert visits.budget.spent == Pure.amount(Fraction(0))


def test_series_of_parts_samples_and_shared_rows_are_refused() -> None:
    visits = opened(rows())
    part = visits.partition("amount", [0, 1])[0]
    sampled = opened(rows(), sample="0.5")
    shared = tacit.read(
        pa.table({"a": [1], "b": [2], "day": [START]}), person=["a", "b"], budget=Pure(9), table="visits"
    )
    for table in (part, sampled, shared):
        with pytest.raises(UnsupportedQuery):
            table.series("day", start=START, until=day(89), epsilon=1)
    with pytest.raises(BudgetExceeded):
        opened(rows(), budget=Pure(1)).series("day", start=START, until=day(89), epsilon=2)


def test_another_beginning_is_refused_and_fresh_pays_anew() -> None:
    visits = opened(rows())
    visits.series("day", every="day", start=START, until=day(9), epsilon=1)
    with pytest.raises(InvalidInput, match="begins"):
        visits.series("day", every="day", start=day(3), until=day(9), epsilon=1)
    fresh = visits.series("day", every="day", start=day(3), until=day(9), epsilon=1, fresh=True)
    assert fresh.start == day(3)
    assert visits.budget.spent == Pure(2)
    assert len(visits.series("day", every="day", until=day(11))) == 9


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Something that happens while the next series is being continued, once its place was taken."""
    go_on = SeriesTotals.go_on

    def happening(what: Any) -> None:
        def once(self: SeriesTotals, *more: Any) -> Any:
            monkeypatch.setattr(SeriesTotals, "go_on", go_on)
            what()
            return go_on(self, *more)

        monkeypatch.setattr(SeriesTotals, "go_on", once)

    return happening


def test_what_failed_is_drawn_again_at_no_cost(tmp_path: Path, interrupted: Any) -> None:
    visits = opened(ONCE, tmp_path)
    visits.series("day", every="day", start=START, until=day(9), epsilon=BIG)

    def fail() -> None:
        raise RuntimeError("a machine died")

    interrupted(fail)
    with pytest.raises(EngineError) as failed:
        visits.series("day", every="day", until=day(12))
    assert failed.value.__cause__ is None
    assert failed.value.__context__ is None
    series = visits.series("day", every="day", until=day(12))
    assert [answer.value for answer in series.values()] == counted(ONCE, 13)
    assert visits.budget.spent == Pure(BIG)


@pytest.mark.parametrize("durable", [False, True])
def test_of_two_who_continue_at_once_only_one_shows_what_was_drawn(
    tmp_path: Path, interrupted: Any, durable: bool
) -> None:
    visits = opened(rows(), tmp_path if durable else None)
    visits.series("day", every="day", start=START, until=day(9), epsilon=1)
    told: list[Series] = []
    interrupted(lambda: told.append(visits.series("day", every="day", until=day(12))))
    with pytest.raises(EngineError):
        visits.series("day", every="day", until=day(12))
    (shown,) = told
    after = visits.series("day", every="day", until=day(12))
    assert after.stored
    assert encode(after.as_stored()) == encode(shown.as_stored())


def noting(order: list[str], word: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that notes when it is called."""

    def noted(*arguments: Any) -> Any:
        order.append(word)
        return method(*arguments)

    return noted


def test_nothing_is_drawn_before_it_is_written_down(monkeypatch: pytest.MonkeyPatch) -> None:
    visits = opened(rows())
    order: list[str] = []
    kind = type(visits.budget._book)
    for owner, name, word in ((kind, "charge", "charged"), (Room, "ask", "asked")):
        monkeypatch.setattr(owner, name, noting(order, word, getattr(owner, name)))
    visits.series("day", every="day", start=START, until=day(9), epsilon=1)
    visits.series("day", every="day", until=day(11))
    assert order == ["charged", "asked", "asked", "charged", "asked"]


def test_a_series_is_stored_as_it_is_and_holds_only_what_was_released() -> None:
    visits = opened(rows(), randomness=seeded_not_private(3))
    visits.series("day", every="week", start=START, until=day(40), epsilon=1)
    series = visits.series("day", every="week", until=day(70))
    back = decode_answer(encode(series))
    assert isinstance(back, Series)
    assert encode(back) == encode(series)
    assert not back.told.private
    assert [a.value for a in back.values()] == [a.value for a in series.values()]
    assert series.to_pandas().shape == (10, 6)
    assert series.to_arrow().num_rows == 10
    (release,) = series.certificate()["releases"]
    assert release["charge"] == "Pure 1"
    assert release["spent"] == "Pure 1"
    assert plots.series(series, cumulative=True).axes


@pytest.mark.parametrize("concentrated", [False, True])
def test_intervals_hold_what_they_cover(concentrated: bool) -> None:
    """100 series, each missed with at most one in twenty: more than 20 misses have a chance below 1e-6."""
    values, cap, missed = [7 * place % 11 for place in range(60)], 3, 0
    blocks = blocks_for((opening(20, concentrated),), 60, concentrated)
    paid = {"rho" if concentrated else "epsilon": 1}
    for turn in range(100):
        laws = batch_laws(values, blocks, 0, cap, **paid)
        drawn = tuple(tuple(() if law is None else law.sample() for law in levels) for levels in laws)
        nodes = Nodes(Fraction(1), cap, concentrated, drawn)
        chapter = Chapter(Pure(1), cap, 60, 20, blocks, nodes, None, 0)
        series = Series(Told("number of rows", "day", "day", START, (chapter,), "any one person"))
        first = turn % 40
        low, high = series.between(day(first), day(first + 19)).interval()
        missed += not low <= sum(values[first : first + 20]) <= high
    assert missed <= 20


def test_a_row_for_each_person_needs_no_cap() -> None:
    """Persons by their first day: nothing is spent on a cap, and the cap is one."""
    persons = opened(rows()).per_person(first="MIN(day)")
    series = persons.series("first", every="month", start=START, until=day(89), epsilon=BIG)
    assert series.cap == 1
    assert series.chapters[0].cuts is None
    assert not series.outgrown
    assert series.chapters[0].totals.amount == BIG
    assert sum(answer.value for answer in series.values()) == 40
