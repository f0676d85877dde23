"""Methods beside the defaults: totals without a cap, modes by noisy max and gap-max, ranges and means of the middle.

Each is verified exactly through the public face, and its twins are caught by the same check. False alarms: a random
test fails by chance in at most one run of a million.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, repeat
from operator import sub
from typing import Any

import pytest

from tacit import Approx, InvalidInput, Private, Pure, Session, Table, UnsupportedQuery, read
from tacit.audit.exact import datasets
from tacit.audit.statistics import StatisticCheck
from tacit.curves import StepLoss
from tacit.mechanisms.choose.noisy_max import noisy_max
from tacit.mechanisms.choose.stable_argmin import StableArgminLaw, stable_argmin
from tacit.mechanisms.local.ladder import LadderDifference
from tacit.mechanisms.local.order_statistics import Tails, TrimmedMean, TrimmedTails
from tacit.tables.statistics import interquartile, mode, trimmed
from tacit.tables.statistics.ways import fallen

pa = pytest.importorskip("pyarrow")

SCHEMA = {"v": "integer", "g": "text"}
MIXED = ({"v": 3, "g": "x"}, {"v": 2, "g": "y"})
NEGATIVE = ({"v": -4, "g": "x"},)
GIANT = ({"v": 100, "g": "y"},) * 3

Ask = Callable[[Table], Any]


@pytest.fixture(scope="module")
def small() -> StatisticCheck:
    """Up to two persons of three kinds: 10 datasets."""
    return StatisticCheck((MIXED, NEGATIVE, GIANT), 2, SCHEMA)


@pytest.fixture(scope="module")
def six() -> StatisticCheck:
    """Up to six persons of two kinds, of whom a mean without the outermost keeps some: 28 datasets."""
    return StatisticCheck((({"v": 0, "g": "x"},), ({"v": 9, "g": "x"},)), 6, SCHEMA)


KEPT: Mapping[str, Ask] = {
    "count": lambda t: t.count(method="shifted_inverse", epsilon=4),
    "sum": lambda t: t.sum("v", method="shifted_inverse", epsilon=4),
    "noisy max": lambda t: t.mode("g", ["x", "y"], method="noisy_max", epsilon=4),
    "gap-max": lambda t: t.top("g", ["x", "y", "z"], 2, per="person", method="gap_max", epsilon=4, delta="0.2"),
    "interquartile range": lambda t: t.iqr("v", per="person", range=(-8, 8), epsilon=4),
}
MEAN: Mapping[str, Ask] = {
    "smooth": lambda t: t.trimmed_mean("v", 1, range=(0, 9), epsilon=4),
    "proposed": lambda t: t.trimmed_mean("v", 1, range=(0, 9), method="propose_test_release", epsilon=8, delta="0.3"),
}


@pytest.mark.parametrize("name", KEPT)
def test_a_method_keeps_its_promise(name: str, small: StatisticCheck) -> None:
    report = small.check(KEPT[name], paths=2)
    assert report.stages
    assert report.holds, [stage for stage in report.stages if not stage.verification.holds]


@pytest.mark.parametrize("name", MEAN)
def test_a_trimmed_mean_keeps_its_promise(name: str, six: StatisticCheck) -> None:
    report = six.check(MEAN[name])
    assert report.holds, [stage for stage in report.stages if not stage.verification.holds]


def stops_falling(total: int, largest: Sequence[int]) -> Callable[[int], list[int]]:
    """A total whose unknown parts are taken for none."""
    known = [max(part, 0) for part in largest]
    return lambda removals: list(accumulate(known + [0] * (removals - len(known)), sub, initial=total))


def test_a_total_that_stops_falling_is_caught(small: StatisticCheck, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where an answer does not hold all totals that matter, what is not known is the lowest value, not the last one."""
    monkeypatch.setattr(fallen, "MOST_ENDS", 1)
    assert small.check(KEPT["count"]).holds
    monkeypatch.setattr(fallen, "_without", stops_falling)
    assert small.check(KEPT["count"]).broken


class Fortieth(LadderDifference):
    """A fortieth of what it may move."""

    def growth(self, data: Any) -> Iterator[Fraction]:
        return (x / 40 for x in super().growth(data))


class MeanAtHand(TrimmedTails):
    """As if nobody else could come: how far the data at hand move, and no further."""

    def growth(self, data: Any) -> Iterator[Fraction]:
        return repeat(next(super().growth(data)))


def hasty(loss: StepLoss, epsilon: Fraction, delta: Fraction) -> StableArgminLaw:
    """A lead of one person less will do."""
    law = stable_argmin(loss, epsilon, delta)
    law.threshold -= 1
    return law


TWINS: Mapping[str, tuple[Any, str, Any, Ask]] = {
    "noise for half of the counts": (
        mode,
        "noisy_max",
        lambda loss, epsilon, noise, law=noisy_max: law(loss, 3 * epsilon, noise),
        KEPT["noisy max"],
    ),
    "a lead that one person makes": (mode, "stable_argmin", hasty, KEPT["gap-max"]),
    "too little noise": (interquartile, "LadderDifference", Fortieth, KEPT["interquartile range"]),
}


@pytest.mark.parametrize("name", TWINS)
def test_a_twin_is_caught(name: str, small: StatisticCheck, monkeypatch: pytest.MonkeyPatch) -> None:
    module, attribute, wrong, ask = TWINS[name]
    monkeypatch.setattr(module, attribute, wrong)
    assert small.check(ask, paths=2).broken


def test_a_trimmed_mean_with_too_little_noise_is_caught(six: StatisticCheck, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trimmed, "TrimmedTails", MeanAtHand)
    assert six.check(MEAN["smooth"]).broken


def test_tails_tell_what_all_values_tell() -> None:
    """So what `tacit audit` verifies of a trimmed mean of all values holds for one of tails."""
    for trim in (1, 2):
        whole, part = TrimmedMean(0, 9, trim), TrimmedTails(0, 9, trim)
        for x in datasets((0, 2, 9), 6):
            values = sorted(map(Fraction, x))
            tails = Tails(len(x), sum(values, Fraction(0)), values[:trim], values[::-1][:trim])
            assert part.value(tails) == whole.value(x)
            grown, known = whole.growth(x), part.growth(tails)
            assert [next(known) for _ in range(6)] == [next(grown) for _ in range(6)]


# ---- through the face ------------------------------------------------------------------------------------------


def shop(persons: int = 2000) -> Session:
    rows = {"who": [i // 2 for i in range(2 * persons)], "v": [i % 101 for i in range(2 * persons)]}
    rows["g"] = [0 if i % 10 else 1 for i in range(2 * persons)]
    return Session({"t": Private(pa.table(rows), person="who")}, budget=Approx(10**4, "0.5"))


def test_an_interval_without_a_cap_covers_the_truth() -> None:
    """Of ten ends at 95 % seven are missed with a chance below 10^-6."""
    table = shop()["t"]
    true = sum(i % 101 for i in range(4000))
    missed = 0
    for _ in range(5):
        count = table.count(method="shifted_inverse", epsilon=1, fresh=True)
        total = table.sum("v", method="shifted_inverse", epsilon=1, fresh=True)
        found: Any = count.interval()
        assert found.covers == "truth"
        missed += not found.low <= 4000 <= found.high
        missed += float(total) > true
    assert missed <= 6
    assert "cannot be said" in str(total)


def test_every_method_finds_a_clear_mode() -> None:
    table = shop()["t"]
    for method in mode.METHODS:
        cost = {"epsilon": 8, "delta": "1e-6"} if method == "gap_max" else {"epsilon": 8}
        assert table.mode("g", [0, 1], method=method, **cost).value == 0
    named = table.top("g", [0, 1, 2], 3, method="gap_max", epsilon=12, delta="1e-6")
    assert [answer.value for answer in named.values()] == [0, 1, 2]
    level = read(pa.table({"who": [0, 1], "g": [0, 1]}), person="who", budget=Approx(10, "0.1"))
    refused = level.mode("g", [0, 1], method="gap_max", epsilon=1, delta="1e-6")
    assert refused.value is None
    assert "refused" in str(refused)


def test_the_middle_half_and_the_mean_of_the_middle() -> None:
    session = shop()
    table = session["t"]
    assert abs(float(table.iqr("v", per="person", range=(0, 200), epsilon=4)) - 50) < 40
    proposed = table.trimmed_mean("v", 100, range=(0, 200), method="propose_test_release", epsilon=8, delta="1e-3")
    assert abs(float(proposed) - 50) < 5
    assert proposed.interval().covers == "truth"
    assert abs(float(table.trimmed_mean("v", 400, epsilon=4)) - 50) < 5
    answered: Any = session.sql("SELECT IQR(v), TRIMMED_MEAN(v, 400) FROM t", epsilon=8)
    assert len(list(answered.values())) == 2


def test_what_a_method_cannot_do_is_refused_before_it_is_charged() -> None:
    session = shop(10)
    table = session["t"]
    before = session.budget.spent
    refused: Sequence[tuple[Callable[[], Any], str]] = (
        (lambda: table.count(method="scan", epsilon=1), "several persons"),
        (lambda: table.group_by("g", [0, 1]).count(method="shifted_inverse", epsilon=1), "by group"),
        (lambda: table.mode("g", [0, 1], method="gap_max", epsilon=1), "needs delta"),
        (lambda: table.max("v", method="interior_point", epsilon=1), "needs delta"),
        (lambda: table.mode("g", per="person", method="noisy_max", epsilon=1, delta="1e-6"), "candidates"),
        (lambda: table.trimmed_mean("v", 0, epsilon=1), "trim"),
        (lambda: table.trimmed_mean("v", 5, method="propose_test_release", epsilon=1), "needs delta"),
        (lambda: session.sql("SELECT TRIMMED_MEAN(v) FROM t", epsilon=1), "TRIMMED_MEAN"),
        (lambda: session.sql("SELECT TRIMMED_MEAN(v, 0.5) FROM t", epsilon=1), "trim"),
    )
    for ask, words in refused:
        with pytest.raises((InvalidInput, UnsupportedQuery), match=words):
            ask()
    assert session.budget.spent == before


def test_a_ratio_says_how_its_cost_is_spent_and_whom_it_protects() -> None:
    table = shop()["t"]
    given = {"epsilon": 4, "delta": "1e-6"}
    for method in ("local", "staircase", "automatic"):
        shares = [table.ratio("v > 50", method=method, bound_share=share, **given) for share in (None, "0.5")]  # type: ignore[arg-type]
        assert all(abs(float(answer) - 0.74) < 0.3 for answer in shares)
    plain, replaced = (table.ratio("v > 50", replacement=replacement, epsilon=4) for replacement in (False, True))
    assert replaced.protected == plain.protected + ", also against being replaced by any other"
    assert replaced.noise_std is None or plain.noise_std is None or replaced.noise_std > plain.noise_std
    with pytest.raises(InvalidInput, match="bound_share"):
        table.ratio("v > 50", bound_share="0.5", epsilon=1)
    with pytest.raises(UnsupportedQuery, match="by group"):
        table.group_by("g", [0, 1]).ratio("v > 50", replacement=True, epsilon=1)


def test_a_replaced_ratio_keeps_its_promise(small: StatisticCheck, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pair of which one is replaced is two steps apart, so all are within half the cost for each step."""
    report = small.check(lambda t: t.ratio("v > 0", replacement=True, epsilon=2))
    assert report.holds
    (stage,) = report.stages
    assert stage.verification.measured.high <= 1 + Fraction(1, 10**9)


def test_old_questions_keep_their_identity() -> None:
    from tacit.tables.releasing.identity import identity

    table = read(pa.table({"who": [1], "g": [1]}), person="who", budget=Pure(1))
    texts = [identity(mode.mode_of(table._operand("g"), [0, 1], method=method)) for method in (None, "noisy_max")]
    assert "noisy_max" not in texts[0]
    assert texts[0] != texts[1]
