"""`tacit.audit.check`: true claims hold, every lie is caught with the datasets that show it."""

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit import functions
from tacit.errors import InvalidInput
from tacit.grids import integers
from tacit.mechanisms import Quantile, TrimmedMean, laplace
from tests.functions.test_functions import mean, top_two

GRID = integers(0, 8)
PAGE = Path(__file__).parents[2] / "docs/how-to/own-functions.md"


def median(values: list[int]) -> int:
    return sorted(values)[len(values) // 2] if values else 0


def counted(values: list[int], epsilon: Fraction) -> Any:
    return laplace(len(values), epsilon)


LIES: dict[str, tuple[functions.OwnFunction, str]] = {
    "not monotone": (functions.monotone(mean, grid=GRID, claimed=True), "one more person never lowers"),
    "an oracle that does not fall": (
        functions.monotone(top_two, grid=GRID, least=lambda values, k: top_two(values)),
        "the profile falls",
    ),
    "an oracle that falls for all alike": (
        functions.monotone(top_two, grid=GRID, least=lambda values, k: max(0, top_two(values) - k)),
        "the profile falls",
    ),
    "a bound that is too small": (functions.local(median, lambda values, k: 1, range=(0, 8)), "at distance 0"),
    "a bound that does not grow": (
        functions.local(median, lambda values, k: 8 if median(values) == 8 else 7, range=(0, 8)),
        "one person further on",
    ),
    "a private bound that forgets its noise": (
        functions.bounded(mean, counted, lambda noisy, epsilon, delta: Fraction(1, 1 + max(0, noisy)), range=(0, 8)),
        "below what one person moves",
    ),
    "a measurement of more than one": (
        functions.bounded(
            mean, lambda values, epsilon: laplace(4 * len(values), epsilon), lambda n, e, d: 8, range=(0, 8)
        ),
        "the measurement is",
    ),
    "a distance in values": (
        functions.inverse(median, grid=GRID, distance=lambda values, y: abs(median(values) - y)),
        "at most one with one person",
    ),
    "an order that matters": (
        functions.monotone(lambda values: max(values[-1:], default=0), grid=GRID, claimed=True),
        "order of the records",
    ),
}


@pytest.mark.parametrize("name", LIES)
def test_a_lie_is_caught_and_shown(name: str) -> None:
    function, words = LIES[name]
    universe = [0, 8] if "measure" in vars(function) else [0, 4, 8]
    found = tacit.audit.check(function, universe, persons=2, epsilon=8)
    assert not found
    (caught,) = [claim for claim in found.wrong if words in claim.words]
    assert caught.concerns == "privacy"
    assert re.search(r"\(.*\)", caught.counterexample)
    assert caught.counterexample in str(found)


@pytest.mark.parametrize("name", ["an oracle that does not fall", "a bound that is too small", "a distance in values"])
def test_the_laws_of_a_lie_break_the_promise(name: str) -> None:
    assert tacit.audit.check(LIES[name][0], [0, 4, 8]).promise.broken


def test_a_wrong_claim_that_is_not_believed_costs_no_privacy() -> None:
    found = tacit.audit.check(functions.monotone(mean, grid=GRID), [0, 4, 8], epsilon=4)
    assert found.holds
    assert [claim.concerns for claim in found.wrong] == ["accuracy"]


@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"epsilon": 2, "delta": "0.05"}], ids=str)
def test_statistics_of_the_library_hold(cost: dict[str, Any]) -> None:
    for statistic in (Quantile(0, 8), TrimmedMean(0, 8)):
        assert tacit.audit.check(statistic, [0, 8], persons=2, **cost).holds


def test_a_law_of_each_dataset_will_do() -> None:
    assert tacit.audit.check(lambda x: laplace(len(x), 1), [1]).holds
    assert not tacit.audit.check(lambda x: laplace(3 * len(x), 1), [1])
    with pytest.raises(InvalidInput, match="promise different things"):
        tacit.audit.check(lambda x: laplace(1, len(x) + 1), [1])


@pytest.mark.parametrize("universe", [[], [[1]]], ids=["nothing", "lists"])
def test_a_universe_must_be_one(universe: list[Any]) -> None:
    with pytest.raises(InvalidInput, match="universe"):
        tacit.audit.check(LIES["not monotone"][0], universe)


def test_the_guide_brings_ten_functions_of_at_most_ten_lines() -> None:
    """They run, print and are checked in the guide itself, which `tests/test_docs.py` runs."""
    text = PAGE.read_text(encoding="utf-8").split("## Ten functions")[1].split("\n## ")[0]
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 10
    for block in blocks:
        assert len([line for line in block.splitlines() if line.strip()]) <= 10
        assert "show(" in block
        assert "checked.append(" in block
