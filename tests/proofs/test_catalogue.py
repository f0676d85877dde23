"""The proofs that stand beside the mechanisms, and their fingerprint."""

import shutil
import subprocess
import sys
from pathlib import Path
from time import process_time

import pytest

import tacit
import tacit.mechanisms
from tacit.audit.proving.twins import UNPROVED
from tacit.proofs import Proof, fingerprint, proofs, prove
from tacit.proofs.argument import paths
from tacit.proofs.catalogue import SOURCES, hashed

SOURCE = Path(tacit.__file__).parent
ROOMS = [package.removeprefix("tacit.") for package in SOURCES]
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
    "capped flow, doubled",
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


@pytest.mark.parametrize("name", WANTED)
def test_what_must_be_proved_has_a_proof(name: str) -> None:
    assert any(name in proof.name for proof in proofs())


def test_names_are_distinct_and_say_what_is_given() -> None:
    assert len({proof.name for proof in proofs()}) == len(proofs()) >= 50
    assert all(proof.given and proof.promise and proof.rules for proof in proofs())


@pytest.mark.parametrize("proof", proofs(), ids=lambda proof: proof.name)
def test_quick_proofs_hold(proof: Proof) -> None:
    """Those of few obligations; `tacit audit --prove` checks them all."""
    if len(proof.obligations) <= 6:
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


CHANGES = {
    "a rule of the kernel": ("proofs/rules.py", "<=", "<"),
    "an assumption": ("mechanisms/search/threshold_scan.py", "p.", "p ."),
    "a promise": ("noises/discrete_laplace.py", "promise", "promised"),
    "what a proof is called": ("guarantees/subsampling.py", "PROOFS", "PROOF"),
    "what a proof calls": ("answers/totals.py", "return", "return "),
}


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("source")
    for room in ROOMS:
        shutil.copytree(SOURCE / room, folder / room, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.mark.parametrize(("name", "old", "new"), CHANGES.values(), ids=CHANGES)
def test_the_fingerprint_changes_with_a_proof(name: str, old: str, new: str, copied: Path) -> None:
    assert hashed(copied) == fingerprint()
    path = copied / name
    source = path.read_bytes()
    try:
        path.write_bytes(source.replace(old.encode(), new.encode(), 1))
        assert hashed(copied) != fingerprint()
        path.write_bytes(source.replace(b"\n", b"\r\n"))
        assert hashed(copied) == fingerprint()
    finally:
        path.write_bytes(source)


def test_the_fingerprint_knows_which_module_says_what(copied: Path) -> None:
    one, other = copied / "noises" / "discrete_laplace.py", copied / "noises" / "moved.py"
    one.rename(other)
    try:
        assert hashed(copied) != fingerprint()
    finally:
        other.rename(one)


def test_nothing_that_builds_a_proof_escapes_the_fingerprint() -> None:
    """Each proof is built anew, watched by the interpreter: all code of Tacit that runs is code that is hashed."""
    ran: set[str] = set()
    before = sys.gettrace()
    sys.settrace(lambda frame, *_: ran.add(frame.f_code.co_filename))
    try:
        for proof in proofs():
            paths(proof.build)
    finally:
        sys.settrace(before)
    within = [Path(name).relative_to(SOURCE) for name in ran if Path(name).is_relative_to(SOURCE)]
    assert {"rules.py", "threshold_scan.py"} <= {path.name for path in within}
    assert [path for path in within if path.parts[0] not in ROOMS] == []


def test_the_fingerprint_takes_no_time_to_speak_of() -> None:
    """It stands before every charge: it may cost what reading a hundred files costs, and no proof is built."""
    start = process_time()
    hashed(SOURCE)
    assert process_time() - start < 0.2  # 0.008 on a quiet machine; building the proofs takes 0.5


def test_the_kernel_is_small() -> None:
    kernel = [SOURCE / "proofs" / name for name in ("terms.py", "argument.py", "rules.py")]
    assert sum(len(path.read_text().splitlines()) for path in kernel) < 600
