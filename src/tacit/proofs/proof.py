"""A proof object: what is promised, and the argument for it; and what the solvers make of that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from tacit.proofs.argument import Argument, Build, Obligation, paths
from tacit.proofs.smt import asked
from tacit.proofs.solvers import Reply, ask, shown


@dataclass(frozen=True)
class Proof:
    """The proof of one mechanism, or of one joint charge, for all datasets and all public parameters."""

    name: str
    """What is proved, for people: "threshold scan, upward"."""
    covers: str
    """The public function, as "module.name" below tacit: "mechanisms.threshold_scan"."""
    promise: str
    """What is promised: "Pure(ε)"."""
    build: Build = field(repr=False)
    """The argument."""
    given: str = ""
    """What is assumed of neighbours, and where that comes from, in words."""

    @cached_property
    def arguments(self) -> list[Argument]:
        """Every path of the argument."""
        return paths(self.build)

    @property
    def obligations(self) -> list[Obligation]:
        """What must follow."""
        return [obligation for argument in self.arguments for obligation in argument.obligations]

    @property
    def rules(self) -> list[str]:
        """The rules used, in order."""
        return list(dict.fromkeys(rule for argument in self.arguments for rule in argument.rules))


@dataclass(frozen=True)
class Verdict:
    """What the solvers made of a proof."""

    proof: Proof
    word: str
    """"proved", "refuted", "unknown" or "empty": an argument whose assumptions cannot hold proves nothing."""
    failed: str
    """The first obligation that does not follow, or that nobody decided."""
    counterexample: Mapping[str, Fraction | bool]
    obligations: int
    seconds: float

    @property
    def proved(self) -> bool:
        """Whether everything follows."""
        return self.word == "proved"

    def __str__(self) -> str:
        if self.proved:
            return f"{self.proof.name}: proved, {self.obligations} obligations, {self.seconds:.2f} s"
        numbers = f": {shown(self.counterexample.items())}" if self.counterexample else ""
        return f"{self.proof.name}: {self.word}, {self.failed}{numbers}"


def prove(proof: Proof) -> Verdict:
    """Ask both solvers about every obligation, and whether what was assumed is possible."""
    obligations, seconds = proof.obligations, 0.0
    undecided: str | None = None
    for obligation in obligations:
        reply = ask(obligation.question())
        seconds += reply.seconds
        if reply.verdict != "unsat":  # it may hold of whole numbers alone; if not, they make the better example
            reply = ask(obligation.question(relaxed=False))
            seconds += reply.seconds
        if reply.verdict == "sat":
            return Verdict(proof, "refuted", obligation.name, dict(reply.model), len(obligations), seconds)
        if reply.verdict == "unknown":
            undecided = undecided or obligation.name
    if undecided is not None:
        return Verdict(proof, "unknown", undecided, {}, len(obligations), seconds)
    for scene, replies in _scenes(proof).items():
        seconds += sum(reply.seconds for reply in replies)
        if not any(reply.verdict == "sat" for reply in replies):
            return Verdict(proof, "empty", scene, {}, len(obligations), seconds)
    word = "proved" if any(one.rule == "promise" for one in obligations) else "empty"
    return Verdict(proof, word, "" if word == "proved" else "no promise", {}, len(obligations), seconds)


def _scenes(proof: Proof) -> dict[str, list[Reply]]:
    """For each promise whether its facts are possible, on each path."""
    found: dict[str, list[Reply]] = {}
    for argument in proof.arguments:
        for name, facts in argument.scenes:
            found.setdefault(name, []).append(ask(asked(facts)))
    return found
