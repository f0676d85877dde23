"""One list of all mechanisms, each with its exact verification and its broken twins.

An `AuditCase` says how a mechanism is verified: which small datasets, which promise, and which deliberately wrong
variants (twins) the same check must catch. `cases()` gathers the tuples named CASES in the modules of
`tacit.audit.cases`; the tests walk over them, and fail when a public mechanism has no case.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tacit.audit.exact import Dataset, Mechanism, Verification, neighbours, verify
from tacit.guarantees import Guarantee
from tacit.mechanisms.law import Law


@dataclass(frozen=True)
class AuditCase:
    """How one mechanism is verified exhaustively on small datasets."""

    name: str
    """What is verified, for people: "exponential mechanism, median"."""
    covers: str
    """The public function it exercises, as "module.name" below tacit: "mechanisms.exponential"."""
    mechanism: Mechanism
    """Dataset → law."""
    datasets: Sequence[Dataset]
    promised: Guarantee
    twins: Mapping[str, Mechanism] = field(default_factory=dict)
    """Broken variants by name, each of which the check must find broken."""
    sampled: Sequence[Dataset] = ()
    """Datasets on which the sampler is compared with the law."""
    pairs: Callable[[Sequence[Dataset]], list[tuple[Dataset, Dataset]]] = neighbours
    """The neighbouring pairs among the datasets (add or remove one person unless said otherwise)."""

    def verify(self) -> Verification:
        """Check the promise over all neighbouring pairs."""
        return verify(self.mechanism, self.pairs(self.datasets), self.promised)

    def verify_twin(self, name: str, until_broken: bool = False) -> Verification:
        """Run the same check on a broken twin, all of it or until a pair breaks the promise."""
        return verify(self.twins[name], self.pairs(self.datasets), self.promised, until_broken=until_broken)

    def law(self, dataset: Dataset) -> Law[Any]:
        """The exact law on one dataset."""
        return self.mechanism(dataset)


def cases() -> Iterator[AuditCase]:
    """Every registered case, by module name."""
    from tacit.audit import cases as package

    for module in sorted(m.name for m in pkgutil.iter_modules(package.__path__)):
        yield from importlib.import_module(f"{package.__name__}.{module}").CASES
