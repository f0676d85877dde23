"""How tight each promise is: what the exhaustive check measured, over what was promised."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tacit.audit.exact import Verification
from tacit.audit.registry import AuditCase, cases


@dataclass(frozen=True)
class CaseFinding:
    """What the exhaustive check found for one case and for its broken twins."""

    case: AuditCase
    verification: Verification
    twins: dict[str, Verification]

    @property
    def passed(self) -> bool:
        """Whether the promise holds and every broken twin was caught."""
        return self.verification.holds and all(twin.broken for twin in self.twins.values())

    def __str__(self) -> str:
        found = self.verification
        line = (
            f"{self.case.name}: {found.verdict}, {found.tightness:.3f} of {found.promised!r} over {found.pairs} pairs"
        )
        caught = [f"  {name}: {twin.verdict}, {twin.tightness:.3f}" for name, twin in self.twins.items()]
        return "\n".join([line, *caught])


def findings(selected: Iterable[AuditCase] | None = None) -> Iterator[CaseFinding]:
    """Verify each case (all registered ones unless given) and its twins, one after the other."""
    for case in cases() if selected is None else selected:
        yield CaseFinding(case, case.verify(), {name: case.verify_twin(name) for name in case.twins})
