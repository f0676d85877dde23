"""Functions of users: charged before they see a record, never failing on data, the same from lists and tables."""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from typing import Any

import pyarrow as pa
import pytest

import tacit
from tacit import Answer, Answers, Approx, Private, Pure, Session, Zcdp, checker, functions
from tacit.budgets import Budget, Policy, open_budget
from tacit.errors import BudgetExceeded, InvalidInput, UnsupportedQuery
from tacit.functions.bounded import Bounded
from tacit.functions.monotone import Monotone
from tacit.grids import integers, multiples
from tacit.mechanisms import gaussian, laplace
from tacit.randomness import seeded_not_private

GRID = integers(0, 60)
COSTS: list[dict[str, Any]] = [{"epsilon": 8}, {"rho": 2}, {"epsilon": 8, "delta": "1e-6"}]


def top_two(values: list[int], k: int = 0) -> int:
    return sum(sorted(values)[: max(0, len(values) - k)][-2:])


def largest(values: list[int]) -> int:
    return max(values)  # fails for nobody


def bound(noisy: int, epsilon: Fraction, delta: Fraction) -> Any:
    return Fraction(60, max(1, noisy - laplace(0, epsilon).reach(delta)))


def mean(values: list[int]) -> Any:
    return Fraction(sum(values), len(values)) if values else 30


KINDS: dict[str, functions.OwnFunction] = {
    "oracle": functions.monotone(top_two, grid=GRID, least=top_two),
    "groups": functions.monotone(largest, grid=GRID),
    "claimed": functions.monotone(largest, grid=GRID, claimed=True),
    "local": functions.local(mean, lambda values, k: Fraction(60, max(1, len(values) - k)), range=(0, 60)),
    "inverse": functions.inverse(largest, grid=GRID, distance=lambda x, y: sum(v > y for v in x) + (y not in x)),
    "universe": functions.inverse(largest, grid=integers(0, 3), universe=[1, 2, 3], limit=3),
    "sampled": functions.sampled(mean, blocks=10, grid=GRID),
}
KINDS["several"] = functions.several({"a": KINDS["groups"], "b": KINDS["sampled"]})
WITH_DELTA = functions.bounded(mean, lambda values, epsilon: laplace(len(values), epsilon), bound, range=(0, 60))


@pytest.mark.parametrize("cost", COSTS, ids=str)
@pytest.mark.parametrize("name", KINDS)
def test_every_kind_answers_every_cost_with_a_certificate(name: str, cost: dict[str, Any]) -> None:
    answer = KINDS[name].ask([3, 9, 20, 41, 50, 55], budget=Approx(400, "1e-3"), **cost)
    assert isinstance(answer, Answer | Answers)
    paid = tacit.Guarantee.of(**{k: Fraction(str(v)) for k, v in cost.items()})
    assert answer.guarantee == paid
    verdict = checker.check(answer.certificate())
    assert verdict.wrong == []


def test_a_private_bound_answers_with_an_interval() -> None:
    answer = WITH_DELTA.ask([3, 9, 20, 41] * 500, epsilon=4, delta="1e-6", budget=Approx(4, "1e-6"))
    assert answer.interval().covers == "truth"
    assert checker.check(answer.certificate()).uncovered == []
    with pytest.raises(InvalidInput, match="delta="):
        WITH_DELTA.ask([1], epsilon=4, budget=Pure(4))


# ---- the attacker's questions first ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KINDS)
def test_the_budget_is_charged_before_the_function_sees_a_record(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    budget = open_budget(Pure(100))
    spent: list[Any] = []
    release = type(KINDS[name]).release

    def watched(self: Any, records: Any, desk: Any, cost: Any) -> Any:
        spent.append(budget.spent)
        return release(self, records, desk, cost)

    monkeypatch.setattr(type(KINDS[name]), "release", watched)
    KINDS[name].ask([1, 2, 3], epsilon=8, budget=budget)
    assert spent[0] == Pure(8)
    with pytest.raises(BudgetExceeded):
        KINDS[name].ask([1, 2, 3], epsilon=93, budget=budget)
    assert len(spent) == 1


def rude(values: list[int], *rest: Any) -> Any:
    """Fails on whoever has a 13, in one way or another."""
    if 13 in values:
        raise (SystemExit if len(values) == 1 else ValueError)(f"record {values}")
    return {0: float("nan"), 1: "text", 2: None, 3: 10**400, 4: 7}[len(values) % 5]


@pytest.mark.parametrize(
    "function",
    [
        functions.monotone(rude, grid=GRID),
        functions.monotone(rude, grid=GRID, least=rude),
        functions.monotone(rude, grid=GRID, claimed=True),
        functions.local(rude, rude, range=(0, 60)),
        functions.inverse(rude, grid=GRID, distance=rude),
        functions.inverse(rude, grid=GRID, universe=[1, 13], limit=3),
        functions.sampled(rude, blocks=3, grid=GRID),
    ],
    ids=lambda function: type(function).__name__,
)
@pytest.mark.parametrize("records", [[], [13], [1, 13, 5], [1, 1, 1, 1], list(range(40))], ids=len)
def test_no_record_makes_an_answer_fail(function: functions.OwnFunction, records: list[int]) -> None:
    answer = function.ask(records, epsilon=8, budget=Pure(8))
    assert "13" not in str(answer.notes)


@pytest.mark.parametrize("records", [[], [13], [1, 2, 3]], ids=len)
def test_a_measurement_that_fails_is_that_of_nobody(records: list[int]) -> None:
    def measure(values: list[int], epsilon: Fraction) -> Any:
        return (
            gaussian(1, 1) if len(values) == 3 else laplace(len(values), epsilon) if 13 not in values else rude(values)
        )

    answer = functions.bounded(mean, measure, rude, range=(0, 60)).ask(
        records, epsilon=1, delta="1e-6", budget=Approx(1, "1e-6")
    )
    assert answer.value is not None


def test_a_wrong_price_is_refused_before_anything_is_spent() -> None:
    budget = open_budget(Approx(9, "1e-3"))
    cheap = functions.bounded(mean, lambda values, epsilon: laplace(1, 2 * epsilon), bound, range=(0, 60))
    with pytest.raises(InvalidInput, match="nothing was spent"):
        cheap.ask([1], epsilon=1, delta="1e-6", budget=budget)
    with pytest.raises(InvalidInput, match="least="):
        functions.monotone(largest, grid=GRID).ask([1], epsilon="0.1", budget=budget)
    with pytest.raises(InvalidInput, match="needs a delta"):
        functions.monotone(largest, grid=GRID, method="interior_point").ask([1], epsilon=1, budget=budget)
    assert budget.spent == Approx.amount(Fraction(0), Fraction(0))


def test_policies_know_them_by_one_name() -> None:
    def asked(*names: str) -> Any:
        budget: Budget = open_budget(Pure(50), policy=Policy(statistics=frozenset(names)))
        with Session({"t": Private(TABLE, person="who")}, budget) as session:
            return KINDS["oracle"].ask(session["t"].per_person(s="SUM(x)"), columns=["s"], epsilon=1)

    assert asked("function").guarantee == Pure(1)
    narrow = open_budget(Pure(50), policy=Policy(columns=frozenset({"t.who", "t.x"})))
    with Session({"t": Private(TABLE, person="who")}, narrow) as session:
        KINDS["sampled"].ask(session["t"], columns=["x"], epsilon=1)
        with pytest.raises(UnsupportedQuery, match=r"'t\.y'"):
            KINDS["sampled"].ask(session["t"], epsilon=1)
    with pytest.raises(UnsupportedQuery, match="'function'"):
        asked("sum", "wrap")


# ---- records -------------------------------------------------------------------------------------------------------

TABLE = pa.table({"who": [2, 1, 1, 3, None], "x": [5, 7, 6, 50, 9], "y": ["a", "b", "b", None, "c"]})


def seen(table: Any, **options: Any) -> list[Any]:
    found: list[Any] = []

    def look(records: list[Any]) -> int:
        found.append(records)
        return 0

    functions.sampled(look, blocks=1, grid=GRID).ask(table, epsilon=1, **options)
    return found[0]  # type: ignore[no-any-return]


def test_records_of_a_table_are_rows_of_persons() -> None:
    with Session({"t": Private(TABLE, person="who")}, Pure(20)) as session:
        rows = session["t"]
        assert sorted(seen(rows, columns=["x"])) == [(5,), (6, 7), (50,)]
        (record,) = [record for record in seen(rows) if len(record) == 2]
        assert sorted((row.x, row.y) for row in record) == [(6, "b"), (7, "b")]
        single = rows.per_person(s="SUM(x)", n="COUNT(*)")
        assert sorted(seen(single, columns=["s"])) == [5, 13, 50]
        assert sorted((row.s, row.n) for row in seen(single)) == [(5, 1), (13, 2), (50, 1)]


def test_a_list_and_a_table_have_one_law(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []
    law = Monotone._law

    def kept(self: Monotone, records: list[Any], cost: Any) -> Any:
        drawn.append(law(self, records, cost))
        return drawn[-1]

    monkeypatch.setattr(Monotone, "_law", kept)
    with Session({"t": Private(TABLE, person="who")}, Pure(20)) as session:
        KINDS["oracle"].ask(session["t"].per_person(s="SUM(x)"), columns=["s"], epsilon=1)
    KINDS["oracle"].ask([50, 5, 13], epsilon=1, budget=Pure(1))
    assert drawn[0].key() == drawn[1].key()


# ---- profiles --------------------------------------------------------------------------------------------------------


def odd(values: list[int]) -> int:
    """Neither monotone nor slow."""
    return (sum(values) * (len(values) + 2)) % 7


@pytest.mark.parametrize("f", [odd, largest, top_two])
def test_the_profile_is_that_of_the_largest_value_on_groups(f: Callable[[list[int]], int]) -> None:
    records = [3, 1, 4, 1, 5]
    g = functions.monotonise(f)
    found = functions.monotone(f, grid=GRID)
    assert isinstance(found, Monotone)
    expected = [min(g(list(z)) for z in combinations(records, 5 - j)) for j in range(6)]
    cost = Pure(8)
    assert found.profile(records, cost) == expected[: found.depth(cost) + 1]


def test_more_persons_than_are_affordable_count_as_the_highest_value() -> None:
    few = functions.monotone(lambda values: 5, grid=GRID, max_evaluations=60)
    assert isinstance(few, Monotone)
    cost, top = Pure(20), 60
    most, deep = few.affordable(cost), few.depth(cost)
    assert most is not None
    assert few.profile([1] * most, cost)[0] == 5
    assert few.profile([1] * (most + 1), cost)[:2] == [top, 5]
    assert few.profile([1] * (most + deep + 1), cost) == [top] * (deep + 1)


def test_values_are_rounded_down_and_cut_at_the_ends() -> None:
    f = functions.monotone(lambda x: x[0], grid=multiples("0.5", 0, 3), least=lambda x, k: x[0])
    assert isinstance(f, Monotone)
    assert [f.profile([v], Pure(9))[0] for v in (-1, 0.4, 0.5, 2.99, 7, float("inf"))] == [0, 0, 1, 5, 6, 6]


def test_monotonised_functions_are_monotone() -> None:
    g = functions.monotonise(odd, floor=2, bottom=-1)
    for large in ([1, 2, 6, 3], [5, 5, 1]):
        assert all(g([v for i, v in enumerate(large) if i != gone]) <= g(large) for gone in range(len(large)))
    assert g([4]) == -1


def test_seeded_answers_say_so() -> None:
    answer = KINDS["oracle"].ask([1, 2], epsilon=1, budget=Pure(1), randomness=seeded_not_private(1))
    assert not answer.private


def test_zcdp_is_spent_by_methods_that_have_a_curve() -> None:
    law = functions.monotone(largest, grid=GRID, method="exponential").law([1, 2], rho=2)
    assert law.guarantee == Zcdp(2)
    assert functions.monotone(largest, grid=GRID, method="scan").law([1, 2], rho=8).guarantee.to(Zcdp).rho <= 8
    assert isinstance(WITH_DELTA, Bounded)
