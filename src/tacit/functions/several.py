"""`several`: some functions answered together, and functions that return several numbers.

PROMISE  The cost is split evenly: ε/d each, or ρ/d, or (ε/d, δ/d) where one of them needs a δ. Draws one after the
other add up, so all of them together keep the cost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tacit.answers import Answer, Answers
from tacit.errors import InvalidInput
from tacit.functions.function import OwnFunction
from tacit.functions.spending import shares
from tacit.grids import Grid
from tacit.guarantees import Approx, Guarantee
from tacit.mechanisms.law import Law
from tacit.mechanisms.together import Together
from tacit.tables.releasing.room import Allowance, Desk


@dataclass(frozen=True, repr=False)
class Several(OwnFunction):
    """Functions that are answered together."""

    parts: Mapping[Any, OwnFunction]
    name: str

    @property
    def rests_on(self) -> str:  # type: ignore[override]
        """What any of them rests on."""
        return "; ".join(dict.fromkeys(part.rests_on for part in self.parts.values() if part.rests_on))

    @property
    def needs_delta(self) -> bool:
        """Whether one of them cannot do without a δ."""
        return any(
            getattr(part, "needs_delta", False) or getattr(part, "method", None) == "interior_point"
            for part in self.parts.values()
        )

    def _share(self, cost: Guarantee) -> Guarantee:
        return shares(cost, len(self.parts), self.needs_delta)

    def check(self, cost: Guarantee) -> None:
        """That of each for its share."""
        for part in self.parts.values():
            part.check(self._share(cost))

    def release(self, records: list[Any], desk: Desk, cost: Guarantee) -> Answers:
        """One after the other."""
        share = self._share(cost)
        if isinstance(cost, Approx) and not isinstance(share, Approx):
            desk.allowance = Allowance.of(cost, choices=len(self.parts))
        found: dict[Any, Answer] = {}
        for key, part in self.parts.items():
            answer = part.release(records, desk, share)
            assert isinstance(answer, Answer)
            found[key] = answer
        return Answers(found, cost, "function")

    def _law(self, records: list[Any], cost: Guarantee) -> Law[Any]:
        return Together([part._law(records, self._share(cost)) for part in self.parts.values()], cost)

    def coarse(self) -> Several:
        """Each."""
        return replace(self, parts={key: part.coarse() for key, part in self.parts.items()})


def several(parts: Mapping[Any, OwnFunction], *, name: str = "functions") -> OwnFunction:
    """Some functions as one: the cost is split evenly, and the answer is an `Answers` by their keys.

    Args:
        parts: the functions by their keys.
        name: what they are called together.

    >>> from tacit.grids import integers
    >>> both = tacit.functions.several({
    ...     "largest": tacit.functions.monotone(max, grid=integers(0, 100)),
    ...     "persons": tacit.functions.monotone(len, grid=integers(0, 100)),
    ... })
    >>> both.ask([12, 30, 31], epsilon=20, budget=Pure(20))
    Answers({'largest': ..., 'persons': ...}, Pure(20))
    """
    if not isinstance(parts, Mapping) or not parts or not all(isinstance(p, OwnFunction) for p in parts.values()):
        raise InvalidInput("several needs functions by their keys, each made by tacit.functions.")
    if any(isinstance(part, Several) for part in parts.values()):
        raise InvalidInput("several functions do not nest; list all of them.")
    return Several(dict(parts), name)


def spread_over(
    f: Callable[..., Any],
    oracle: Callable[..., Any] | None,
    grid: Sequence[Grid] | Mapping[Any, Grid],
    name: str,
    one: Callable[[Callable[..., Any], Callable[..., Any] | None, Any, str], OwnFunction],
) -> OwnFunction:
    """A function that returns several numbers, as several functions."""
    if not isinstance(grid, Mapping | Sequence) or isinstance(grid, str) or not grid:
        raise InvalidInput("grid must be a grid, or one for each number: a list, or a mapping from names to grids.")
    grids = grid if isinstance(grid, Mapping) else dict(enumerate(grid))

    def at(function: Callable[..., Any], key: Any) -> Callable[..., Any]:
        return lambda *arguments: function(*arguments)[key]

    parts = {
        key: one(at(f, key), None if oracle is None else at(oracle, key), each, f"{name}, {key}")
        for key, each in grids.items()
    }
    return Several(parts, name)
