"""Whatever is printed with a confidence holds with that confidence, whatever the data.

Each test of chance compares how often a statement failed with what its confidence allows, by the exact tail of the
binomial law: an honest statement fails such a test with probability at most 10^-6. What was printed before is put to
the same test, and is caught.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from tacit import Answer, Answers, Approx, Pure, read
from tacit.answers.capped import CappedSum
from tacit.answers.groups import ShownCount
from tacit.answers.order import Inner, Ranked
from tacit.answers.spreads import Additive, Chosen, Spread
from tacit.answers.totals import CappedTotal, SignedTotal
from tacit.engines.requests import Bucket, Buckets
from tacit.mechanisms.choose.stable_keys import stable_keys
from tacit.mechanisms.totals.scan_and_release import CAPS, scan_and_release
from tacit.noises import Difference, DiscreteLaplace, TruncatedLaplace
from tacit.randomness import discrete_laplace
from tacit.randomness.source import seeded_not_private as seeded
from tacit.tables.releasing.room import Allowance
from tacit.tables.statistics.ways.totals import JointCapper
from tests.support import Binomial

pa = pytest.importorskip("pyarrow")

ALARM = 1e-6
SURE = Fraction(95, 100)


def honest(failed: int, tried: int, confidence: Fraction = SURE) -> bool:
    """Whether so many failures of a statement may be chance; false with probability at most 10^-6 if it holds."""
    return Binomial(tried, float(1 - confidence)).at_least(failed) > ALARM


# ---- persons above the caps of both signs ------------------------------------------------------------------------


def added(drawn: SignedTotal) -> int:
    """As it was: both signs' bounds, each of 95 %, added."""
    return drawn.positive.persons_above_cap(SURE) + drawn.negative.persons_above_cap(SURE)


def together(drawn: SignedTotal) -> int:
    return drawn.persons_above_cap(SURE)


def miss(drawn: SignedTotal, bound: Callable[[SignedTotal], int]) -> float:
    """The exact chance that the bound is too low: with caps as they are, P[both noises together < −its margin]."""
    (_, first), (_, second) = drawn.positive.noises, drawn.negative.noises
    margin = bound(drawn) - drawn.positive.above - drawn.negative.above
    reach = range(-700, 701)
    one, two = ([float(noise.mass(z, 64)) for z in reach] for noise in (first, second))
    below = [0.0]
    for mass in two:
        below.append(below[-1] + mass)  # P[second < z], from −700 on
    return sum(p * below[min(max(-margin - z + 700, 0), 1401)] for z, p in zip(reach, one, strict=True))


@pytest.mark.parametrize("many", [(True, True), (False, False), (True, False)])
@pytest.mark.parametrize("epsilon", ["4", "1", "0.1"])
def test_persons_above_both_caps_by_the_exact_law(epsilon: str, many: tuple[bool, bool]) -> None:
    parts = [CappedTotal(10, 0, 10**4, kind, Fraction(epsilon)) for kind in many]
    drawn = SignedTotal(*parts)
    assert miss(drawn, together) <= 0.05
    assert miss(drawn, lambda d: together(d) - 1) > 0.05  # not one person more than needed
    assert together(drawn) <= sum(part.persons_above_cap((1 + SURE) / 2) for part in parts)


def test_two_bounds_of_95_percent_added_are_caught_by_the_exact_law() -> None:
    drawn = SignedTotal(*(CappedTotal(10, 0, 10**4, True, Fraction(4)) for _ in "+-"))
    assert miss(drawn, added) > 0.08


def made(value: int) -> Answer:
    return Answer("sum of x", value, Pure(1), "noise", "any one")


class Draws:
    """The one thing a capper asks of a room."""

    def __init__(self, seed: int) -> None:
        self.source = seeded(seed)

    def draw(self, law: Any, part: str = "") -> Any:
        return law._draw(self.source)

    def once(self, what: Any, make: Any) -> Any:
        return make()


@pytest.mark.parametrize("epsilon", [4, 1, "0.1"])
def test_persons_above_both_caps_as_printed(epsilon: str | int) -> None:
    """Many releases of a signed sum whose tail never ends: some persons of either sign lie above every cap."""
    counts = [4] * len(CAPS) + [50]
    counts[3] = 700
    sums = [count * top for count, top in zip(counts, (*CAPS, CAPS[-1]), strict=True)]
    law = scan_and_release(counts, sums, epsilon)
    room, tried = Draws(18), 2000 if epsilon == 4 else 500
    failed = {together: 0, added: 0}
    for _ in range(tried):
        drawn = SignedTotal(room.draw(law), room.draw(law))
        truth = sum(sum(counts[CAPS.index(part.limit) + 1 :]) for part in (drawn.positive, drawn.negative))
        for bound in failed:
            failed[bound] += truth > bound(drawn)
    assert honest(failed[together], tried)
    if epsilon == 4:
        assert not honest(failed[added], tried)


def test_a_signed_sum_prints_the_joint_bound() -> None:
    buckets = tuple(Bucket(50 if i == 6 else 0, 400 if i == 6 else 0) for i in range(len(CAPS) + 1))
    capper = JointCapper(Allowance(Fraction(4), concentrated=False))
    found = capper.release(Draws(3), Buckets(buckets, buckets), signed=True)  # type: ignore[arg-type]
    spread = CappedSum(found.noise)
    assert isinstance(spread.drawn, SignedTotal)
    assert spread.persons_above(SURE) == together(spread.drawn)


# ---- capped values -----------------------------------------------------------------------------------------------


def test_the_truth_is_at_least_what_is_said() -> None:
    """On a light tail the capped value exceeds the truth nearly always; the least value holds."""
    totals, caps, room, tried = [50 + i % 51 for i in range(4000)], (60,), Draws(5), 600
    within = [total for total in totals if total <= 60]
    counts, sums = (len(within), len(totals) - len(within)), (sum(within), sum(totals) - sum(within))
    law = scan_and_release(counts, sums, 1, caps=caps)
    drawn = [room.draw(law) for _ in range(tried)]
    assert sum(total.value > sum(totals) for total in drawn) > tried * 0.99
    assert honest(sum(sum(totals) < total.at_least(SURE) for total in drawn), tried)
    assert honest(sum(counts[1] < total.fewest_above_cap(SURE) for total in drawn), tried)
    assert all(total.fewest_above_cap(SURE) > 0 for total in drawn)  # most persons are above, and the value says so
    naive = [total.within + total.counted * total.above - total.noise.limit(1 - SURE) for total in drawn]
    assert not honest(sum(sum(totals) < least for least in naive), tried)


def test_a_capped_value_says_what_it_counts_and_what_the_truth_is_at_least() -> None:
    rows = pa.table({"who": list(range(500)), "x": [i % 90 for i in range(500)], "y": [-(i % 7) for i in range(500)]})
    with_budget = read(rows, person="who", budget=Approx(100, "0.1"), table="t")
    count, total = with_budget.count(epsilon=1), with_budget.sum("x", epsilon=1)
    for answer in (count, total):
        for text in (str(answer), answer.explain()):
            assert " counted as " in text
            assert " above " in text
            assert "how many they are is not known" in text
            assert answer.interval().covers == "capped value"
    assert isinstance(count.spread, CappedSum)
    ends = count.spread.truth(SURE)  # seldom: nobody is seen above the limit
    stated = f"is at least {count.at_least():,} (95 %)" if ends is None else f"lies between {ends[0]:,} and "
    assert f"; the truth {stated}" in str(count.interval())
    assert "Positive totals add up to at least" in total.explain()
    assert total.at_least() is None  # nothing bounds the other sign
    gaussian = with_budget.count(rho=1)
    assert gaussian.at_least() == gaussian.interval().low
    persons = with_budget.persons(epsilon=1)
    assert persons.at_least() == persons.interval().low


@pytest.mark.parametrize("epsilon", [4, 10])
def test_persons_between_cap_and_limit_are_cut_and_not_counted(epsilon: int) -> None:
    """Four persons at the limit: "the cap concerns at most" and "nobody is above the cap", as printed before, fail."""
    law, room, tried = scan_and_release([100, 4, 0], [100, 8, 0], epsilon, caps=(1, 2)), Draws(6), 300
    drawn = [room.draw(law) for _ in range(tried)]
    between = [4 * (total.cap == 1) for total in drawn]
    stated = [(total.truth(SURE), total.reach(SURE)) for total in drawn]
    assert honest(sum(ends is not None and not ends[0] <= 108 <= ends[1] for ends, _ in stated), tried)
    near = sum(ends is not None and ends[1] - ends[0] < 10 for ends, _ in stated)
    assert near > tried / 2 or epsilon == 4  # and what is said is not empty
    if epsilon == 4:
        assert not honest(
            sum(cut > total.persons_above_cap(SURE) for total, cut in zip(drawn, between, strict=True)), tried
        )
        missed = sum(
            not total.value - up <= 108 <= total.value + down
            for total, (_, (down, up)) in zip(drawn, stated, strict=True)
            if total.persons_above_cap(SURE) == 0
        )
        assert not honest(missed, tried)


def test_whom_a_cap_concerns_is_told_of_the_numbers_that_were_counted() -> None:
    below, top = (
        CappedTotal(*numbers, True, Fraction(1), beyond=beyond)
        for numbers, beyond in (((10, 90, 2), 12), ((40, 900, 30), 50))
    )
    told = CappedSum(Difference(top, below)).cut(SURE)
    assert told.startswith(
        "At most 37 persons are above 50 or below -12 (95 %). Others from 40 to 50 or from -10 to -12 "
    )
    assert "count as 40 or -10, and how many they are is not known." in told
    alone = CappedSum(replace(below, above=-3)).cut(SURE)
    assert alone.startswith("No person is above 12 (95 %). Others from 10 to 12 count as 10")
    assert "Others" not in CappedSum(replace(below, beyond=None)).cut(SURE)
    assert "with at least 28 persons above 50 (95 %)" in CappedSum(top).proviso(made(900))


def test_a_bound_on_the_truth_by_the_exact_law() -> None:
    """Whatever the data within a limit: the truth is beyond the stated ends with at most what is left of 95 %."""
    for within, above in ((0, 0), (7, 0), (7, 1)):  # of which 5 count for persons between cap and limit
        most = 0.0
        for z in range(-14, 15):
            for y in range(-14, 15):
                total = CappedTotal(5, within + z, above + y, True, Fraction(8), beyond=8)
                ends = total.truth(SURE)
                noise, other = total.noises
                truth = within + 3 * (within >= 5) + 9 * above
                if ends is not None and not ends[0] <= truth <= ends[1]:
                    most += float(noise.mass(z, 64)) * float(other.mass(y, 64))
        assert most <= 0.05


def test_a_table_says_of_each_column_what_its_intervals_hold() -> None:
    rows = pa.table({"who": list(range(500)), "x": [i % 90 for i in range(500)]})
    whole = read(rows, person="who", budget=Pure(100), table="t")
    said = str(whole.sql("SELECT COUNT(*), SUM(x), COUNT(DISTINCT who) FROM t", epsilon=3))
    count, total, persons = said.partition("with 95 % confidence each: ")[2].split("; ")[:3]
    assert count.startswith("the number with each person above ")
    assert ", where the truth " in count
    assert total.startswith("the sum with each person above ")
    assert persons.startswith("the truth.")
    spreads = [CappedSum(CappedTotal(cap, 900, 3, True, Fraction(1))) for cap in range(10, 14)]
    many = Answers({i: replace(made(900), spread=spread) for i, spread in enumerate(spreads)}, Pure(1))
    assert "Intervals hold the capped value with 95 % confidence each; the truth may be far" in str(many)


# ---- found groups ------------------------------------------------------------------------------------------------


def test_found_groups_hold_given_that_they_are_shown() -> None:
    """4,000 keys of 10 to 14 persons: those shown have lucky noise, and their intervals know it."""
    counts: dict[Any, int] = {key: 10 + key % 5 for key in range(4000)}
    law = stable_keys(counts, 1, "1e-6")
    noise = TruncatedLaplace(Fraction(1), law.bound)
    failed, tried = {"shown": 0, "before": 0}, 0
    spreads: dict[str, Spread] = {"shown": ShownCount(noise, law.threshold), "before": Additive(noise)}
    for seed in range(3):
        for key, value in law._draw(seeded(seed)):
            tried += 1
            for name, spread in spreads.items():
                low, high = spread.interval(value, SURE)
                failed[name] += not low <= counts[key] <= high
    assert tried > 300
    assert honest(failed["shown"], tried)
    assert not honest(failed["before"], tried)


def test_found_groups_as_asked() -> None:
    keys = 1500
    rows = [(key, person) for key in range(keys) for person in range(6 + key % 9)]
    data = pa.table({"who": list(range(len(rows))), "k": [key for key, _ in rows]})
    whole = read(data, person="who", budget=Approx(100, "1e-3"), table="t")
    failed = tried = 0
    for _ in range(30):  # a cap that is drawn too high leaves few groups; that happens every time not once in 10^9
        answers = whole.group_by("k").persons(epsilon=2, delta="1e-5", fresh=True)
        for key, answer in answers.items():
            low, high = answer.interval()
            failed += not low <= 6 + key % 9 <= high
            assert "given that" in str(answer)
            assert answer.interval().covers == "capped value"
        tried += len(answers)
        if tried > 50:
            break
    assert tried > 50
    assert honest(failed, tried)
    assert "the interval holds given that" in str(answers)


@pytest.mark.parametrize(
    ("epsilon", "delta", "keys"), [("1", "1e-6", 1), ("0.2", "1e-4", 1), ("8", "1e-3", 1), ("8", "1e-3", 30)]
)
def test_every_count_is_held_given_that_it_is_shown_by_the_exact_law(epsilon: str, delta: str, keys: int) -> None:
    law = stable_keys({}, epsilon, delta, keys)
    spread = ShownCount(law.noise, law.threshold)
    held = {v: spread.interval(v, SURE) for v in range(law.threshold, law.threshold + 5 * law.bound)}
    for count in range(law.least, law.threshold + 2 * law.bound, 1 + law.bound // 12):
        one = stable_keys({"k": count}, epsilon, delta, keys)._laws["k"]
        shown = [v for v in one.outcomes() if v >= law.threshold]
        chances = {v: float(one.pmf(v, 64)) for v in shown}
        right = sum(p for v, p in chances.items() if held[v][0] <= count <= held[v][1])
        assert right >= 0.95 * sum(chances.values()) * (1 - 1e-9)


# ---- chosen by value ---------------------------------------------------------------------------------------------


def test_the_largest_of_many_groups_is_held() -> None:
    """The first of 50 equal groups is first by its noise."""
    plain, room, tried = Additive(DiscreteLaplace.for_pure(Fraction(1))), Draws(7), 200
    chosen, failed = Chosen(plain, 50), {"chosen": 0, "plain": 0}
    for _ in range(tried):
        best = 100 + max(discrete_laplace(Fraction(1), source=room.source) for _ in range(50))
        for name, spread in (("chosen", chosen), ("plain", plain)):
            low, high = spread.interval(best, SURE)
            failed[name] += not low <= 100 <= high
    assert honest(failed["chosen"], tried)
    assert not honest(failed["plain"], tried)


def test_what_is_said_of_a_chosen_maximum_is_as_sure_as_its_interval() -> None:
    """Said of one of 50: with the confidence that leaves 95 % for the one that was chosen, or not at all."""
    levels = ((SURE, 9), (1 - (1 - SURE) / 50, 30), (Fraction(9999, 10000), None))
    inside, answer = Inner(True, levels, 700), made(700)
    assert "At most 9 persons lie above the answer (95 %)." in list(inside.sentences(answer))
    assert "At most 30 persons lie above the answer (95 %)." in list(Chosen(inside, 50).sentences(answer))
    assert not any("persons lie" in said for said in Chosen(inside, 51).sentences(answer))
    assert any("Chosen among 51" in said for said in Chosen(inside, 51).sentences(answer))


def test_a_limit_by_value_says_that_it_chose() -> None:
    data = pa.table({"who": list(range(400)), "k": [i % 20 for i in range(400)]})
    whole = read(data, person="who", budget=Pure(100), table="t")
    query = "SELECT k, COUNT(*) FROM t WHERE k IN (0, 1, 2, 3, 4, 5, 6, 7) GROUP BY k ORDER BY {} LIMIT {}"
    for order, limit, chooses in (("2 DESC", 2, True), ("k", 2, False), ("2", 8, False)):
        answers = whole.sql(query.format(order, limit), epsilon=1)
        assert ("Chosen among 8" in str(answers)) is chooses
        assert all(isinstance(answer.spread, Chosen) is chooses for answer in answers.values())  # type: ignore[union-attr]


# ---- row quantiles -----------------------------------------------------------------------------------------------


def test_a_row_quantile_speaks_of_the_capped_rows() -> None:
    """One person of 10,000 rows and 500 of one: the median of all rows is that person's, the capped one is not."""
    data = pa.table({"who": [0] * 10_000 + list(range(1, 501)), "x": [10**6] * 10_000 + list(range(500))})
    whole = read(data, person="who", budget=Pure(100), table="t")
    answer = whole.median("x", epsilon=4)
    assert isinstance(answer.spread, Ranked)
    assert answer.value < 1000  # type: ignore[operator]  # off by 5,000 ranks among all rows
    assert answer.interval().covers == "capped value"
    assert "rows as capped (95 %); among all rows it may be off by more" in str(answer)
    assert "as capped" in answer.explain()
    persons = whole.median("x", per="person", epsilon=4)
    assert persons.interval().covers == "truth"
    assert "as capped" not in str(persons)


def test_a_quantile_between_others_carries_their_errors() -> None:
    """A later quantile is drawn from what earlier ones left, so it may be off by their errors too."""
    data = pa.table({"who": list(range(50)), "x": list(range(50))})
    whole = read(data, person="who", budget=Pure(100), table="t")
    answers = whole.quantile("x", ["0.1", "0.5", "0.50001", "0.9"], epsilon=4, per="person")
    places = [answer.spread.place for answer in answers.values()]  # type: ignore[union-attr]
    assert sorted(places) == [1, 2, 2, 3]
    one, three = (Ranked(Fraction(1), 1000.0, 1.0, "persons", place) for place in (1, 3))
    assert three.rank_error(SURE) >= 3 * one.rank_error(1 - (1 - SURE) / 3)
