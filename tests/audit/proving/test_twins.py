"""Every twin of the audit and every exhibit has an argument, and none goes through; `tacit audit --prove` tries all."""

import pytest

from tacit.audit.museum import EXHIBITS
from tacit.audit.proving.examples import EXAMPLES, as_dataset
from tacit.audit.proving.report import refuted
from tacit.audit.proving.twins import MUSEUM, TWINS, UNPROVED
from tacit.audit.registry import cases

QUICK = [
    ("mechanisms.laplace", "sensitivity forgotten"),
    ("mechanisms.threshold_scan", "half the noise on the comparisons"),
    ("mechanisms.scan_and_release", "few: the comparisons not charged above the cap"),
    ("mechanisms.capped_flow", "the choice not charged"),
    ("mechanisms.stable_mode", "one-sided noise"),
    ("guarantees.allowance", "a sample that is not secret"),
]


def test_every_twin_is_there() -> None:
    wanted = {(case.covers, twin) for case in cases() for twin in case.twins if case.covers not in UNPROVED}
    assert wanted == {(covers, twin) for covers, found in TWINS.items() for twin in found}
    assert [exhibit.name for exhibit in EXHIBITS] == list(MUSEUM)


@pytest.mark.parametrize(("covers", "name"), QUICK)
def test_a_mistake_is_refuted_with_numbers(covers: str, name: str) -> None:
    line = refuted("twin", name, covers, TWINS[covers][name])
    assert line.passed
    assert line.verdict == "refuted"
    assert " = " in line.note
    assert ("data: " in line.note) == (covers in EXAMPLES)


@pytest.mark.parametrize("name", ["reused noise", "failures absorbed for δ + β"])
def test_an_exhibit_is_refuted(name: str) -> None:
    assert refuted("museum", name, "museum", MUSEUM[name]).verdict == "refuted"


def test_counterexamples_become_datasets() -> None:
    assert as_dataset("mechanisms.laplace", "promise", {"move": -2}) == "a person of value 2: {2} against {}"  # type: ignore[dict-item]
    votes = {"a": 1, "b": 0, "move of b": 1}
    assert as_dataset("mechanisms.stable_mode", "", votes) == "{A} against {A, B}"  # type: ignore[arg-type]
    assert as_dataset("mechanisms.ratio", "naive, (1, 0) → (0, 1), promise", {}) == "{has it} against {has it not}"
    assert as_dataset("mechanisms.absorb", "promise", {}) == ""
