"""The spine: every promise holds on all small datasets, every broken twin is caught, every sampler meets its law."""

from inspect import isfunction

import pytest

import tacit.mechanisms
from tacit.audit.exact import Dataset
from tacit.audit.registry import AuditCase, cases
from tacit.audit.report import findings
from tests.support import follows

CASES = list(cases())
TWINS = [(case, twin) for case in CASES for twin in case.twins]
SAMPLED = [(case, dataset) for case in CASES for dataset in case.sampled]
DRAWS = 3000
"""`benchmarks/exactness.py` draws 10^5."""


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_promise_holds_over_all_neighbouring_pairs(case: AuditCase) -> None:
    found = case.verify()
    assert found.pairs > 0
    assert found.verdict in ("tight", "loose"), (found.tightness, found.worst)


@pytest.mark.parametrize(("case", "twin"), TWINS, ids=[f"{case.name}: {twin}" for case, twin in TWINS])
def test_broken_twin_is_caught(case: AuditCase, twin: str) -> None:
    assert case.verify_twin(twin, until_broken=True).verdict == "broken"


@pytest.mark.parametrize(("case", "dataset"), SAMPLED, ids=[f"{case.name}, {dataset}" for case, dataset in SAMPLED])
def test_sampler_agrees_with_law(case: AuditCase, dataset: Dataset) -> None:
    """False alarm 1e-7."""
    assert follows(case.law(dataset), DRAWS)


def test_case_names_are_distinct() -> None:
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("name", [n for n in tacit.mechanisms.__all__ if isfunction(getattr(tacit.mechanisms, n))])
def test_every_public_mechanism_has_a_case_with_a_twin(name: str) -> None:
    assert any(case.twins for case in CASES if case.covers == f"mechanisms.{name}")


def test_tightness_is_reported() -> None:
    (finding,) = findings([case for case in CASES if case.name == "permute-and-flip, count"])
    assert finding.passed
    lines = str(finding).splitlines()
    assert lines[0] == "permute-and-flip, count: tight, 1.000 of Pure(1) over 5 pairs"
    assert lines[1] == "  half the noise: broken, 2.000"
