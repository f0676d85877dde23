"""The survey behind `tacit audit --prove`: every proof, every twin, every exhibit, mutants, and the laws of the code.

Lines are independent of each other and run in several processes, those that take longest first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from time import process_time

from tacit.audit.proving.examples import as_dataset
from tacit.audit.proving.links import LINKS
from tacit.audit.proving.mutants import Mutant, judge, mutants
from tacit.audit.proving.twins import MUSEUM, TWINS, UNPROVED
from tacit.audit.registry import AuditCase, cases
from tacit.errors import InvalidInput
from tacit.proofs import Proof, fingerprint, proofs, prove
from tacit.proofs.argument import Build
from tacit.proofs.solvers import shown, versions

KINDS = {
    "proof": ("Proved for every dataset", "By rules of the kernel; what they ask was answered by both solvers."),
    "law": ("The proof is about the code", "Probabilities that the code states, against what the proofs speak about."),
    "twin": ("Broken twins", "The same arguments, asked to prove a mistake: each must fail."),
    "museum": ("A museum of mistakes", "Mistakes that were made or published: each must fail."),
    "mutant": ("Mutants", "A parameter changed at random, in the proof and in the law: none that is broken is proved."),
    "without": ("Without a proof", "What the kernel has no rule for; it is verified and tested all the same."),
}
"""Kinds of lines: a title, and what it means."""

TRUSTED = (
    "the kernel: terms, arguments and rules, each rule with its proof beside it; "
    "that z3 and cvc5 do not both err on the same question; "
    "what each proof is given about neighbours, by curves, flows and engines; "
    "the exact arithmetic of enclosures, Python's integers, and the system's entropy"
)


@dataclass(frozen=True)
class ProofLine:
    """One row of the survey."""

    kind: str
    name: str
    covers: str
    promised: str
    how: str
    """The rules used, or what else was done."""
    verified: str
    """Up to which size the same promise is verified exhaustively."""
    verdict: str
    passed: bool
    seconds: float
    note: str = ""


@dataclass(frozen=True)
class Job:
    """One line to be made; small enough to be sent to another process."""

    kind: str
    index: int


def jobs(wanted: str = "", mutants_too: bool = True) -> list[Job]:
    """What is to be done; ``wanted`` keeps what carries that word."""
    word = wanted.lower().replace("_", " ")
    found = [
        Job(kind, i)
        for kind, names in _names().items()
        for i, name in enumerate(names)
        if word in name.lower().replace("_", " ") and (mutants_too or kind != "mutant")
    ]
    if not found:
        raise InvalidInput("there is nothing to prove by that name; try threshold_scan, or no name for all of it.")
    return found


@cache
def _names() -> dict[str, list[str]]:
    return {
        "proof": [f"{proof.name} {proof.covers}" for proof in proofs()],
        "law": list(LINKS),
        "twin": [f"{covers} {name}" for covers, name in _twins()],
        "museum": list(MUSEUM),
        "mutant": [mutant.what for mutant in _mutants()],
        "without": list(UNPROVED),
    }


@cache
def _mutants() -> tuple[Mutant, ...]:
    return tuple(mutants())


def _twins() -> list[tuple[str, str]]:
    return [(covers, name) for covers, found in TWINS.items() for name in found]


@cache
def _cases() -> tuple[AuditCase, ...]:
    return tuple(cases())


def _verified(covers: str) -> str:
    """How far the audit's cases of a function go."""
    own = [case for case in _cases() if case.covers == covers]
    if not own:
        return "–"
    persons = max(len(x) for case in own for x in case.datasets)
    sampled = sum(bool(case.sampled) for case in own)
    tested = f", {sampled} sampled" if sampled else ""
    return f"{len(own)} case{'s' * (len(own) > 1)}, data of up to {persons}{tested}"


def work(job: Job) -> ProofLine:
    """Make one line; a line that cannot be finished has failed, and the others go on."""
    start = process_time()
    try:
        return _WORK[job.kind](job.index)
    except Exception as error:
        said = str(error) if isinstance(error, InvalidInput) else type(error).__name__
        name = _names()[job.kind][job.index]
        return ProofLine(job.kind, name, "", "–", "–", "–", "error", False, process_time() - start, said)


def _proof(index: int) -> ProofLine:
    proof = proofs()[index]
    found = prove(proof)
    note = proof.given if found.proved else str(found)
    how = f"{found.obligations} obligations by {', '.join(proof.rules)}"
    covered = _verified(proof.covers)
    return ProofLine(
        "proof", proof.name, proof.covers, proof.promise, how, covered, found.word, found.proved, found.seconds, note
    )


def _law(index: int) -> ProofLine:
    start, (name, compare) = process_time(), list(LINKS.items())[index]
    number = compare()
    said = (compare.__doc__ or "").strip()
    how = f"{number} probabilities compared"
    return ProofLine("law", name, "", "–", how, "–", "the same", True, process_time() - start, said)


def refuted(kind: str, name: str, covers: str, build: Build) -> ProofLine:
    """The line of a mistake: what the solvers say to its proof."""
    try:
        found = prove(Proof(name, covers, "", build))
    except InvalidInput as error:
        return ProofLine(kind, name, covers, "–", "refused by the kernel", "–", "refused", True, 0.0, str(error))
    data = as_dataset(covers, found.failed, found.counterexample)
    numbers = shown(found.counterexample.items())
    note = f"{found.failed}: {numbers}" + (f"; data: {data}" if data else "")
    return ProofLine(kind, name, covers, "–", "–", "–", found.word, not found.proved, found.seconds, note)


def _twin(index: int) -> ProofLine:
    covers, name = _twins()[index]
    return refuted("twin", name, covers, TWINS[covers][name])


def _museum(index: int) -> ProofLine:
    name, build = list(MUSEUM.items())[index]
    return refuted("museum", name, "museum", build)


def _mutant(index: int) -> ProofLine:
    start, mutant = process_time(), _mutants()[index]
    found = judge(mutant)
    state = "broken" if found.broken else "private"
    promised, spent = repr(mutant.promised), process_time() - start
    return ProofLine("mutant", mutant.what, "", promised, "–", state, found.proof, found.sound, spent)


def _without(index: int) -> ProofLine:
    covers, reason = list(UNPROVED.items())[index]
    return ProofLine("without", covers, covers, "–", "–", _verified(covers), "not proved", True, 0.0, reason)


_WORK = {"proof": _proof, "law": _law, "twin": _twin, "museum": _museum, "mutant": _mutant, "without": _without}
_SLOW = ("quantile", "flow", "cuts", "tree")


def run(planned: Sequence[Job], processes: int = 1) -> Iterator[ProofLine]:
    """The lines, as they are made."""
    versions()  # says what to install, before anything starts
    ordered = sorted(planned, key=lambda job: not any(word in _names()[job.kind][job.index] for word in _SLOW))
    if processes < 2 or len(planned) < 2:
        yield from map(work, ordered)
        return
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for done in as_completed([pool.submit(work, job) for job in ordered]):
            yield done.result()


def summary(lines: Sequence[ProofLine]) -> str:
    """The survey in a few sentences."""
    number = {kind: sum(line.kind == kind and line.passed for line in lines) for kind in KINDS}
    caught = [line for line in lines if line.kind in ("twin", "museum") and line.passed]
    failed = [line.name for line in lines if not line.passed]
    parts = [f"{number['proof']} proved for every dataset"]
    if caught:
        parts.append(f"{len(caught)} mistakes not provable")
    if number["mutant"]:
        fates = [(line.verdict == "proved", line.verified) for line in lines if line.kind == "mutant"]
        parts.append(
            f"{number['mutant']} mutants: {fates.count((True, 'private'))} proved and private, "
            f"{fates.count((False, 'broken'))} broken and not proved, {fates.count((False, 'private'))} private but "
            f"not proved, {fates.count((True, 'broken'))} broken but proved"
        )
    if number["without"]:
        parts.append(f"{number['without']} without a proof")
    end = f"{len(failed)} FAILED: {'; '.join(failed)}" if failed else "nothing failed"
    return f"{'; '.join(parts)}; {end}. Fingerprint of the proofs: {fingerprint()[:16]}."
