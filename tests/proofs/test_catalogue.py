"""The proofs that stand beside the mechanisms, and their fingerprint."""

import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import tacit
import tacit.mechanisms
from tacit.audit.proving.twins import UNPROVED
from tacit.proofs import Argument, Proof, fingerprint, proofs, prove

KERNEL = Path(tacit.__file__).parent / "proofs"
WANTED = [
    "discrete Laplace",
    "discrete Gaussian",
    "exponential mechanism with a prior",
    "permute-and-flip",
    "threshold scan upward",
    "threshold scan downward",
    "binary search",
    "scan and release, many",
    "scan and release, few",
    "either sign",
    "capped flow, weighed",
    "capped flow, scanned",
    *(f"shifted inverse by {method}" for method in ("scan", "scan_down", "exponential", "permute_and_flip")),
    *(f"shifted inverse by {method}" for method in ("binary_search", "bayesian_search", "interior_point")),
    "inverse sensitivity of a quantile",
    "shared weight",
    "levels of cuts",
    "stable keys",
    "propose-test-release",
    "randomised response",
    "amplification",
    "best of several runs",
]
QUICK = [proof for proof in proofs() if len(proof.obligations) <= 8]


@pytest.mark.parametrize("name", WANTED)
def test_what_must_be_proved_has_a_proof(name: str) -> None:
    assert any(name in proof.name for proof in proofs())


def test_names_are_distinct_and_say_what_is_given() -> None:
    assert len({proof.name for proof in proofs()}) == len(proofs()) >= 50
    assert all(proof.given and proof.promise and proof.rules for proof in proofs())


@pytest.mark.parametrize("proof", QUICK, ids=[proof.name for proof in QUICK])
def test_quick_proofs_hold(proof: Proof) -> None:
    """`tacit audit --prove` checks them all."""
    found = prove(proof)
    assert found.proved, str(found)


def test_every_mechanism_has_a_proof_or_a_reason() -> None:
    covered = {proof.covers for proof in proofs()} | set(UNPROVED)
    losses = {"count_loss", "sum_loss", "mode_loss", "median_loss", "searched_loss"}  # by `inverse_sensitivity`
    names = [name for name in tacit.mechanisms.__all__ if callable(getattr(tacit.mechanisms, name))]
    functions = [name for name in names if name.islower() and name not in losses]
    assert [name for name in functions if f"mechanisms.{name}" not in covered] == []


def test_the_fingerprint_is_stable_and_needs_no_solver() -> None:
    without = "import sys; sys.modules['z3'] = sys.modules['cvc5'] = None; "
    code = f"{without}from tacit.proofs import fingerprint; print(fingerprint())"
    home = {"PYTHONPATH": str(Path(tacit.__file__).parent.parent)}
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True, env=home
    )
    assert found.stdout.strip() == fingerprint()


def test_the_fingerprint_of_a_proof_changes_with_what_it_assumes() -> None:
    def build(p: Argument, limit: int) -> None:
        p.promise(p.within("x", 0, limit), 2)

    first, second = (Proof("a", "b", "c", partial(build, limit=limit)) for limit in (1, 2))
    assert first.fingerprint != second.fingerprint


def test_the_kernel_is_small() -> None:
    lines = [len((KERNEL / name).read_text().splitlines()) for name in ("terms.py", "argument.py", "rules.py")]
    assert sum(lines) < 600
