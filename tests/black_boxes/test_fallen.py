"""The wrapper of monotone functions: no floor, no noisy number, and no number of persons that fails."""

import pandas as pd
import pytest

import tacit
from tacit import Answer, Pure
from tacit.black_boxes.values import place_below
from tacit.errors import InvalidInput
from tacit.grids import integers, multiples
from tests.black_boxes import functions


def wrap(records: object, **options: object) -> Answer:
    given = {"grid": integers(0, 200), "epsilon": 30, "beta": "1e-7", "budget": Pure(30), "workers": 1, **options}
    return tacit.wrap(functions.total, records, monotone=True, trusted=True, **given)  # type: ignore[arg-type]


def test_the_answer_is_the_function_of_nearly_everybody() -> None:
    """Wrong with probability 10^-7."""
    answer = wrap([1, 2, 40, 5])
    assert 8 <= answer.value <= 48  # type: ignore[operator]
    assert answer.interval().covers == "capped value"
    assert "counts as the grid's highest value" in str(answer)


def test_too_many_persons_are_the_highest_value_and_nothing_is_evaluated() -> None:
    """Wrong with probability 10^-7."""
    assert wrap([0] * 1_000, max_evaluations=100).value == 200


def test_persons_of_a_table() -> None:
    frame = pd.DataFrame({"who": [1, 1, 2, 3], "x": [1, 2, 3, 4]})
    table = tacit.read(frame, person="who", budget=Pure(30))
    answer = tacit.wrap(len, table, grid=integers(0, 9), epsilon=30, monotone=True, trusted=True, workers=1)
    assert answer.value in range(10)
    assert table.budget.spent == Pure(30)


def test_what_does_not_go_together_is_refused() -> None:
    refused: list[dict[str, object]] = [
        {"sensitivity": 1},
        {"persons_public": True},
        {"evaluate_profile": lambda records, k: []},
    ]
    for options in refused:
        with pytest.raises(InvalidInput, match="leave them out"):
            wrap([1], **options)
    with pytest.raises(InvalidInput, match="nothing was spent"):
        wrap([1], epsilon="0.1", budget=Pure(1))


@pytest.mark.parametrize(
    ("value", "steps"), [(-3, 0), (0.24, 0), (0.26, 1), (1, 4), (9, 8), (float("nan"), 0), ("x", 0), (True, 0)]
)
def test_values_are_rounded_down_and_cut(value: object, steps: int) -> None:
    assert place_below(multiples("0.25", 0, 2), value) == steps
