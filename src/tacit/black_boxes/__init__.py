"""Functions that nobody has analysed: their answers made private from what they return on groups of persons.

`wrapping` runs a function on the subsets of few persons, `aggregation` on disjoint blocks of many. Both evaluate it in
processes that hold no data but the group at hand, and turn whatever it does into a value of a public grid. `isolation`
says whether this system can keep calls apart of a function whose author nobody trusts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True)
class Isolation:
    """Whether calls can be kept apart here, and by what, or what is lacking."""

    available: bool
    words: str

    def __str__(self) -> str:
        return self.words


@lru_cache(maxsize=1)
def isolation() -> Isolation:
    """How calls of an untrusted function are kept apart on this system: found out by starting one, once."""
    from tacit.black_boxes.evaluator import EvaluatorSetup
    from tacit.black_boxes.namespaces import NAME
    from tacit.black_boxes.processes import Worker, pickle_function
    from tacit.errors import InvalidInput
    from tacit.grids import integers

    try:
        Worker(EvaluatorSetup(pickle_function(len), (integers(0, 1),), False, None, 60.0, 2**30, trusted=False)).close()
    except (InvalidInput, OSError) as refusal:
        return Isolation(False, str(refusal))
    return Isolation(True, f"Every call of an untrusted function runs in {NAME}.")
