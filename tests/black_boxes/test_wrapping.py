"""`tacit.wrap`: charged before records are seen, whatever the function does, from lists and tables."""

import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import tacit
from tacit import Approx, Pure
from tacit.black_boxes import processes
from tacit.black_boxes.evaluation import layers
from tacit.black_boxes.lattice import Lattice
from tacit.black_boxes.processes import Workers
from tacit.black_boxes.records import Frames
from tacit.errors import BudgetExceeded, InvalidInput
from tacit.grids import Grid, integers, multiples, powers
from tacit.randomness import seeded_not_private
from tests.black_boxes import functions, support
from tests.black_boxes.support import CONFINED, isolated
from tests.black_boxes.test_processes import blobs, setup

SMALL = integers(0, 9)


def wrap(f: Any, records: Any, grid: Grid = SMALL, epsilon: Any = 30, **options: Any) -> tacit.Answer:
    """Wrong, where a test knows the value, with probability 10^-7."""
    given = {"budget": Pure(100), "workers": 1, "beta": "1e-7", "trusted": not CONFINED, **options}
    return tacit.wrap(f, records, grid=grid, epsilon=epsilon, **given)


class Watched:
    """A record that notices being read."""

    reads = 0

    def __reduce__(self) -> tuple[Any, ...]:
        Watched.reads += 1
        return int, ()


# ---- evaluation ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("trusted", [pytest.param(False, marks=support.isolated), True])
@pytest.mark.parametrize("function", [functions.total, functions.raises, functions.leaves, functions.RunningMean()])
def test_every_subset_has_its_value(function: Any, trusted: bool) -> None:
    people = [1, 2, 13, 1, 0]

    def expected(kept: tuple[int, ...]) -> int:
        if isinstance(function, functions.RunningMean):
            found = Fraction(sum(kept), len(kept)) if kept else Fraction(-1)
            return round(found - Fraction(1, 10**9)) if 0 <= found <= 9 else 0
        if function is functions.total:
            return sum(kept) if sum(kept) <= 9 else 0
        return 0 if 13 in kept else 3

    lattice, done = Lattice(5, 5), list[int]()
    with Workers(setup(function, trusted=trusted), 2) as crew:
        found = layers(crew, blobs(people), lattice, trusted, done.append)
    for missing, layer in enumerate(found):
        sets = sorted(combinations(range(5), missing), key=lambda c: c[::-1])
        assert list(layer) == [expected(tuple(p for i, p in enumerate(people) if i not in c)) for c in sets]
    assert sum(done) == 2**5


# ---- answers ------------------------------------------------------------------------------------------------------


def test_an_answer_from_a_list() -> None:
    budget = tacit.read(pd.DataFrame({"p": [1], "v": [1]}), person="p", budget=Pure(100)).budget
    answer = wrap(functions.mean, [5, 5, 5, 5, 5, 6, 4, 5], budget=budget)
    assert answer.value == 5  # the mean of every group that misses few persons
    assert budget.spent == answer.guarantee == Pure(30)
    assert answer.private
    assert "takes on groups that miss at most" in str(answer)
    assert answer.to_dict()["value"] == 5


def test_a_value_between_steps() -> None:
    answer = wrap(functions.mean, {"a": 0.5, "b": 0.5, "c": 0.5, "d": 0.5}, multiples("0.25", 0, 1), trusted=True)
    assert answer.value == 0.5
    assert answer.unit == "0.25"
    assert "trusted" in str(answer)


@isolated
@pytest.mark.parametrize(
    "function", [functions.raises, functions.leaves, functions.prints, functions.remembers, functions.quits]
)
def test_a_malicious_function_is_answered(function: Callable[..., Any], capfd: pytest.CaptureFixture[str]) -> None:
    answer = wrap(function, [13, 1, 2, 3], randomness=seeded_not_private(1))
    assert isinstance(answer.value, int)
    assert not answer.private
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("records", [[], [3]])
@pytest.mark.parametrize("grid", [SMALL, integers(7, 7), powers(2)])
def test_hardly_anybody(records: list[int], grid: Grid) -> None:
    assert isinstance(wrap(functions.mean, records, grid, epsilon=1, trusted=True, persons_public=True).value, int)


def test_with_a_delta() -> None:
    answer = wrap(functions.mean, [5] * 6, delta="1e-3", budget=Approx(30, "1e-3"), trusted=True)
    assert answer.guarantee == Approx(30, "1e-3")
    assert wrap(functions.mean, [5] * 6, delta=0, trusted=True).guarantee == Pure(30)


def test_a_claimed_sensitivity() -> None:
    answer = wrap(functions.total, [1, 2, 1], epsilon=60, sensitivity=2)
    assert answer.value == 4  # false alarm e^{-27}
    assert answer.noise_std is not None
    assert answer.interval().covers == "capped value"
    false = wrap(functions.total, [9, 0, 0], epsilon=60, sensitivity=2, persons_public=True, trusted=True)
    assert false.value == 2


def test_a_table() -> None:
    rows = pd.DataFrame(
        {"clinic": [1, 1, 2, 3, 3, 3, 4, None], "y": [4.0, 6, 5, 5, None, 5, 5, 900], "s": list("abcdefgh")}
    )
    table = tacit.read(rows, person="clinic", budget=Pure(100))
    answer = tacit.wrap(
        functions.frame_mean, table, grid=SMALL, epsilon=30, columns=["y"], trusted=True, workers=1, beta="1e-7"
    )
    assert answer.value == 5
    assert "any one clinic with all their rows" in str(answer)
    assert table.budget.spent == Pure(30)
    with pytest.raises(InvalidInput):
        tacit.wrap(functions.frame_mean, table, grid=SMALL, epsilon=1, budget=Pure(1))


# ---- structured functions -----------------------------------------------------------------------------------------


def test_a_profile_computed_directly() -> None:
    people = (3, 1, 4, 1, 5, 9)
    for floor in range(1, 7):
        found = list(functions.DirectMean().evaluate_profile(list(people), floor))
        expected = support.profile(lambda s: Fraction(sum(s), len(s)), people, floor)  # type: ignore[arg-type, return-value]
        assert found == pytest.approx([float(v) for v in expected])


def test_any_size_with_a_profile() -> None:
    answer = wrap(functions.DirectMean(), [k % 10 / 10 for k in range(20_000)], multiples("0.01", 0, 1), epsilon=1)
    assert float(answer) == pytest.approx(0.45, abs=0.02)
    assert "trusted" in str(answer)


@pytest.mark.parametrize("broken", [lambda r, k: 1 / 0, lambda r, k: 5, lambda r, k: [3, "x", 9, None]])
def test_a_profile_that_fails_is_the_bottom(broken: Any) -> None:
    answer = wrap(functions.mean, [5] * 9, evaluate_profile=broken)
    assert answer.value in range(4)


# ---- refusals -----------------------------------------------------------------------------------------------------


def test_nothing_is_read_before_it_is_paid() -> None:
    with pytest.raises(BudgetExceeded):
        wrap(functions.mean, [Watched()], epsilon=2, budget=Pure(1))
    assert Watched.reads == 0


def test_where_calls_cannot_be_kept_apart_only_the_trusted_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused before the charge, with what is lacking; an answer says that the function was trusted."""
    older = "import tacit.black_boxes.namespaces as n; n.OLDEST = (99, 0); from tacit.black_boxes.evaluator"
    monkeypatch.setattr(processes, "_BOOT", processes._BOOT.replace("from tacit.black_boxes.evaluator", older))
    budget = tacit.read(pd.DataFrame({"p": [1], "v": [1]}), person="p", budget=Pure(100)).budget
    given: dict[str, Any] = {"grid": SMALL, "epsilon": 30, "budget": budget, "workers": 1}
    for ask in (tacit.wrap, partial(tacit.sample_and_aggregate, blocks=2)):
        with pytest.raises(InvalidInput, match=r"needs Linux 99\.0 .* nothing was spent.*trusted=True"):
            ask(functions.mean, [5] * 4, **given)
        assert budget.remaining == Pure(100)
        answer = ask(functions.mean, [5] * 4, trusted=True, **{**given, "budget": Pure(30)})
        assert "The function is trusted" in str(answer)


def test_too_many_evaluations_of_a_public_number_of_persons() -> None:
    budget = tacit.read(pd.DataFrame({"p": [1], "v": [1]}), person="p", budget=Pure(1)).budget
    with pytest.raises(InvalidInput, match=r"40 persons need up to 10\^12 evaluations .* nothing was spent"):
        wrap(functions.mean, [1] * 40, epsilon=1, budget=budget, persons_public=True)
    assert budget.remaining == Pure(1)


def test_too_many_evaluations_of_a_noisy_number_of_persons() -> None:
    answer = wrap(functions.mean, [1] * 400, epsilon=30, budget=Pure(30))
    assert answer.value is None
    assert "The noisy number of persons" in str(answer)
    assert "the cost was charged" in str(answer)
    assert wrap(functions.mean, [1] * 400, epsilon=30, sensitivity=1).value is None


@pytest.mark.parametrize("persons", [0, 400])
@pytest.mark.parametrize("sensitivity", [None, 1])
@pytest.mark.parametrize("epsilon", ["1", "1e-20"])
def test_the_number_of_persons_decides_nothing(persons: int, sensitivity: int | None, epsilon: str) -> None:
    """A cheap question was a free look at the number: its noise let everything pass, and a large number never ended."""
    with pytest.raises(InvalidInput, match="nothing was spent"):
        wrap(functions.mean, [1] * persons, epsilon=epsilon, sensitivity=sensitivity)


def test_rows_are_fetched_only_after_their_number_is_found_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Persons are counted first; rows of many are never asked for, and nobody has more than an even share."""
    fetched: list[int] = []
    split = Frames.split

    def watched(rows: Any) -> Any:
        fetched.append(len(rows))
        return split(rows)

    monkeypatch.setattr(Frames, "split", staticmethod(watched))
    monkeypatch.setattr("tacit.black_boxes.records.ROWS", 100)
    rows = pd.DataFrame({"who": [*range(400), *[1] * 1000], "y": 5.0})
    many = tacit.read(rows, person="who", budget=Pure(100))
    options: dict[str, Any] = {"grid": SMALL, "epsilon": 30, "trusted": True, "workers": 1, "beta": "1e-7"}
    assert tacit.wrap(functions.frame_mean, many, **options).value is None
    assert fetched == []
    few = many.filter("who < 4")
    assert tacit.wrap(functions.frame_mean, few, **options).value == 5
    assert len(fetched) == 1
    assert 4 <= fetched[0] <= 100


def test_a_public_number_protects_against_replacement() -> None:
    answer = wrap(functions.total, [1, 2, 1], epsilon=60, sensitivity=2, persons_public=True, trusted=True)
    assert "replaced by any other" in answer.protected
    private = wrap(functions.total, [1, 2, 1], epsilon=60, sensitivity=2, trusted=True)
    assert "replaced" not in private.protected
    assert answer.noise_std is not None
    assert private.noise_std is not None
    assert answer.noise_std > 1.5 * private.noise_std


@pytest.mark.parametrize(
    "wrong",
    [
        {"grid": integers(None, 5)},
        {"grid": [1, 2, 3]},
        {"epsilon": 0},
        {"method": "guess"},
        {"beta": 2},
        {"time_limit": 0},
        {"time_limit": 10**6},
        {"memory_limit": 5},
        {"workers": 0},
        {"max_evaluations": 0},
        {"records": "abc"},
        {"records": pd.DataFrame({"a": [1]})},
        {"records": 5},
        {"columns": ["a"]},
        {"budget": None},
        {"sensitivity": 1, "delta": "0.1"},
        {"sensitivity": 1, "grid": powers(2)},
        {"sensitivity": 0},
        {"evaluate_profile": 5},
        {"f": 5},
    ],
    ids=lambda wrong: "-".join(wrong),
)
def test_wrong_arguments(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        wrap(**{"f": functions.mean, "records": [1, 2], **wrong})


@isolated
def test_a_script_of_its_own(tmp_path: Path) -> None:
    """Functions of the main program, and lambdas, are sent by value; no guard against being imported is needed."""
    script = tmp_path / "study.py"
    script.write_text(
        "import tacit\n"
        "from tacit.grids import integers\n"
        "class Clinic(int): pass\n"
        "scale = 1\n"
        "def middle(records): return sorted(records)[len(records) // 2] * scale\n"
        "for f in (middle, lambda records: middle(records)):\n"
        "    answer = tacit.wrap(\n"
        "        f, [Clinic(5)] * 6, grid=integers(0, 9), epsilon=60, budget=tacit.Pure(60), beta='1e-7'\n"
        "    )\n"
        "    print(answer.value)\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=100, check=False)
    assert (done.stdout, done.stderr) == ("5\n5\n", "")
