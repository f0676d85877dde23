"""`tacit.sample_and_aggregate`: blocks of persons, each with one answer, and their private median."""

import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import tacit
from tacit import Approx, Pure, Zcdp
from tacit.black_boxes.aggregation import BlockMedian
from tacit.black_boxes.block_median import median_loss
from tacit.black_boxes.records import Frames
from tacit.budgets import Policy, open_budget
from tacit.errors import BudgetExceeded, InvalidInput, TacitError, UnsupportedQuery
from tacit.grids import Grid, integers, multiples, powers
from tacit.mechanisms.choose.exponential import epsilon_within
from tacit.randomness import seeded_not_private
from tests.black_boxes import functions
from tests.black_boxes.support import CONFINED

SMALL = integers(0, 9)


def aggregate(f: Any, records: Any, blocks: int = 20, grid: Any = SMALL, **options: Any) -> Any:
    """With a cost at which the median itself is missed with probability 10^-9."""
    cost = {} if {"rho", "epsilon"} & set(options) else {"epsilon": 60}
    paid = {} if isinstance(records, tacit.Table) else {"budget": Pure(100)}
    given = {"workers": 1, "trusted": not CONFINED, **paid, **cost, **options}
    return tacit.sample_and_aggregate(f, records, blocks=blocks, grid=grid, **given)


def table(rows: int = 60, **columns: Any) -> tacit.Table:
    frame = pd.DataFrame({"who": np.arange(rows) // 2, "y": [5.0] * rows, "note": ["n"] * rows, **columns})
    return tacit.read(frame, person="who", budget=Pure(1000))


# ---- the median ---------------------------------------------------------------------------------------------------


def test_the_loss_is_the_number_of_answers_to_replace() -> None:
    for answers in ([0, 2, 2, 1], [3, 3, 0], [1], [2, 2], [0, 0, 3, 3, 1]):
        loss, half = median_loss(answers, integers(0, 3)), len(answers) // 2
        for y in range(4):
            below, above = sum(a < y for a in answers), sum(a > y for a in answers)
            assert loss.at(y) == max(0, below - half, above - half)


def test_concentrated_cost() -> None:
    for rho in (Fraction(1, 2), Fraction(1, 1000), Fraction(7, 3)):
        epsilon = epsilon_within(rho)
        assert epsilon**2 / 8 <= rho < (epsilon + Fraction(1, 2**39)) ** 2 / 8


@pytest.mark.parametrize("cost", [Pure(1), Zcdp("0.1"), Approx(1, "1e-6")], ids=repr)
def test_the_coordinates_together_cost_what_is_charged(cost: Any) -> None:
    grids: tuple[Grid, ...] = (SMALL, SMALL, SMALL)
    median = BlockMedian(
        name="f",
        blocks=4,
        grids=grids,
        keys=(0, 1, 2),
        method="exponential",
        beta=Fraction(1, 20),
        trusted=True,
        frames=None,
        nonce="",
    )
    laws = [median.law([1, 2, 3, 3], grid, cost) for grid in grids]
    spent = laws[0].guarantee + laws[1].guarantee + laws[2].guarantee
    assert spent == cost if not isinstance(cost, Approx) else spent == Pure(cost.epsilon)  # better than as ρ


def test_a_policy_names_it_alike_for_a_table_and_a_list() -> None:
    budget = open_budget(Pure(100), policy=Policy(statistics=frozenset({"sample_and_aggregate"})))
    assert aggregate(len, range(40), budget=budget, trusted=True).value is not None
    other = open_budget(Pure(100), policy=Policy(statistics=frozenset({"wrap"})))
    with pytest.raises(TacitError, match="sample_and_aggregate"):
        aggregate(len, range(40), budget=other, trusted=True)


# ---- answers ------------------------------------------------------------------------------------------------------


def test_a_list() -> None:
    answer = aggregate(functions.mean, [5] * 400)  # a block is empty with probability 20·(19/20)^400 = 2e-8
    assert answer.value == 5
    assert answer.guarantee == Pure(60)
    assert "block answers lie below it" in str(answer)
    assert aggregate(functions.mean, dict.fromkeys(range(400), 4), method="permute_and_flip").value == 4


def test_a_table() -> None:
    orders = table(800)
    answer = aggregate(functions.frame_mean, orders)
    assert answer.value == 5
    assert "any one who with all their rows" in str(answer)
    assert orders.budget.spent == Pure(60)
    few = orders.filter("y > 5").mutate(z="y + 1")
    assert aggregate(functions.frame_mean, few, blocks=5).value == 0


def test_a_function_sees_its_columns_and_whole_persons() -> None:
    grids = {"odd": integers(0, 9), "columns": integers(0, 9), "who": integers(0, 9)}
    both = aggregate(functions.shape, table(800), 9, grids, epsilon=300)
    assert [both[name].value for name in grids] == [0, 2, 0]
    one = aggregate(functions.shape, table(800), 9, grids, epsilon=300, columns=["y"])
    assert one["columns"].value == 1


def test_a_block_travels_alone() -> None:
    """No process gets a byte of another block, however frames share their memory."""
    rows = pa.table({"": [0, 0, 1, 3], "s": ["mine0", "mine1", "theirs", "others"], "x": [1.5, 2.5, 3.5, 4.5]})
    found = dict(Frames.split(rows))
    assert list(found) == [0, 1, 3]
    assert b"mine1" in found[0]
    assert not any(word in found[0] for word in (b"theirs", b"others"))
    assert pickle.loads(found[3]).to_dict("list") == {"s": ["others"], "x": [4.5]}
    assert not list(Frames.split(rows.slice(0, 0)))


def test_no_number_of_rows_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block has at most its share of rows: with a limit in place of it, one person could make a question fail."""
    monkeypatch.setattr("tacit.black_boxes.records.ROWS", 20)
    assert aggregate(functions.frame_mean, table(800)).value == 5
    grids = {"odd": SMALL, "columns": SMALL, "who": SMALL}
    found = aggregate(functions.shape, table(800), 20, grids, epsilon=300)
    assert [found[name].value for name in grids] == [1, 2, 0]  # one row of each block


def test_several_coordinates() -> None:
    answers = aggregate(functions.mean_and_count, [5] * 400, grid=[SMALL, integers(0, 100)], epsilon=100)
    assert answers[0].value == 5
    assert 5 < answers[1].value < 45
    assert answers.guarantee == Pure(100)
    assert "for all together" in str(answers)
    smooth = aggregate(functions.mean, [5] * 400, rho=200, budget=Zcdp(200))
    assert (smooth.value, smooth.guarantee) == (5, Zcdp(200))


def test_more_blocks_than_persons() -> None:
    """Empty blocks are the bottom, and so is the median."""
    answer = aggregate(functions.mean, [5] * 3, blocks=50)
    assert answer.value == 0
    assert aggregate(functions.mean, [], blocks=3).value == 0
    assert "too few" in str(aggregate(functions.mean, [5], blocks=1, epsilon=1))


@pytest.mark.parametrize("function", [functions.raises, functions.leaves, functions.quits])
def test_failures_are_the_bottom(function: Any) -> None:
    assert aggregate(function, [13] * 200, blocks=5).value == 0
    assert aggregate(function, [12] * 200, blocks=5).value == 3


def test_odd_grids_and_seeds() -> None:
    assert aggregate(functions.mean, [5] * 100, blocks=3, grid=integers(7, 7)).value == 7
    assert aggregate(functions.mean, [5] * 100, blocks=3, grid=multiples("0.5", 0, 9)).value == 5.0
    assert aggregate(functions.mean, [4] * 100, blocks=3, grid=powers(2)).value in (1, 4)
    assert not aggregate(functions.mean, [5], blocks=1, randomness=seeded_not_private(1)).private


# ---- refusals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        {"blocks": 0},
        {"blocks": 10**7},
        {"grid": []},
        {"grid": "abc"},
        {"grid": [integers(None, 3)]},
        {"epsilon": 0},
        {"rho": 1, "epsilon": 1},
        {"method": "scan"},
        {"method": "permute_and_flip", "rho": 1},
        {"beta": 0},
        {"time_limit": -1},
        {"records": "abc"},
        {"columns": ["a"]},
        {"budget": None},
        {"f": None},
    ],
    ids=lambda wrong: "-".join(wrong),
)
def test_wrong_arguments(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        aggregate(**{"f": functions.mean, "records": [1, 2], **wrong})


def test_wrong_columns() -> None:
    with pytest.raises(InvalidInput, match="does not exist"):
        aggregate(functions.mean, table(), columns=["none"])


def test_rows_of_several_persons_and_samples_are_refused() -> None:
    edges = pd.DataFrame({"a": [1, 2], "b": [2, 3], "y": [1.0, 2.0]})
    graph = tacit.read(edges, person=["a", "b"], budget=Pure(100))
    sampled = tacit.read(edges, person="a", budget=Pure(100), sample="0.5")
    for wrong in (graph, sampled):
        with pytest.raises(UnsupportedQuery):
            aggregate(functions.frame_mean, wrong)
        with pytest.raises(UnsupportedQuery):
            tacit.wrap(functions.frame_mean, wrong, grid=SMALL, epsilon=30, workers=1, trusted=True)
        assert wrong.budget.remaining == Pure(100)


def test_nothing_is_computed_before_it_is_paid() -> None:
    orders = table()
    with pytest.raises(BudgetExceeded):
        aggregate(functions.frame_mean, orders, epsilon=2000)
    assert orders.budget.remaining == Pure(1000)
