"""`sampled`: a function about which nothing is known, run on disjoint blocks of many persons.

PROMISE  That of `tacit.sample_and_aggregate`, for any function: every person is in one block, chosen at random, and the
private median of the blocks' answers is released. It rests on no claim. What f returns on a block is put on the grid; a
failure is its lowest value.

Here f is trusted to look at nothing but the records of its block, and runs in this process; for a function of somebody
else use `tacit.sample_and_aggregate`, which keeps calls apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

from tacit.answers import Answer
from tacit.black_boxes.block_median import METHODS, block_median
from tacit.black_boxes.values import cut_grid, failures, place, step_of
from tacit.errors import InvalidInput
from tacit.functions.function import Function, OwnFunction, callable_or_refused, coarsened, named, released
from tacit.functions.several import spread_over
from tacit.functions.spending import spend
from tacit.grids import Grid
from tacit.guarantees import Guarantee
from tacit.mechanisms.law import Law
from tacit.numbers.enclosures import BITS, Enclosure, total
from tacit.numbers.exact import check_listed, whole
from tacit.randomness import Randomness, uniform_below
from tacit.tables.releasing.room import Desk

MOST = 4096
"""The most choices of everybody's blocks that an exact law looks at."""


class SampledLaw(Law[Any]):
    """The law over all choices of everybody's blocks, of equal chance."""

    name = "median of block answers"

    def __init__(self, function: Sampled, records: list[Any], cost: Guarantee) -> None:
        self._function, self._records, self._cost = function, records, cost
        self.guarantee = function.median([0] * function.blocks, cost).guarantee

    @cached_property
    def _laws(self) -> list[Law[Any]]:
        blocks, persons = self._function.blocks, len(self._records)
        if blocks**persons > MOST:
            raise InvalidInput(
                f"the exact law is for at most {MOST:,} choices of blocks; take fewer persons or blocks."
            )
        known: dict[tuple[int, ...], int] = {}

        def answer(members: tuple[int, ...]) -> int:
            if members not in known:
                known[members] = self._function.place([self._records[i] for i in members])
            return known[members]

        return [
            self._function.median(
                [answer(tuple(i for i, home in enumerate(homes) if home == b)) for b in range(blocks)], self._cost
            )
            for homes in product(range(blocks), repeat=persons)
        ]

    def _draw(self, source: Randomness) -> Any:
        return self._function.drawn(self._records, self._cost, source)._draw(source)

    def pmf(self, y: Any, bits: int = BITS) -> Enclosure:
        """The mean over all choices of blocks."""
        return total([law.pmf(y, bits) for law in self._laws], bits) / len(self._laws)

    def outcomes(self) -> Iterable[Any]:
        """Those of the median."""
        return self._laws[0].outcomes()

    def key(self) -> Hashable:
        """The medians, in any order."""
        return type(self), self.guarantee, frozenset(Counter(law.key() for law in self._laws).items())


@dataclass(frozen=True, repr=False)
class Sampled(OwnFunction):
    """A function that is run on blocks of persons."""

    f: Function
    name: str
    blocks: int
    grid: Grid
    method: str

    def check(self, cost: Guarantee) -> None:
        """Refuse a method that does not take the cost."""
        self.median([0] * self.blocks, cost)

    def place(self, records: list[Any]) -> int:
        """Where the function's value on a block lies, in steps; 0 for a failure, and for nobody."""
        if not records:
            return 0
        try:
            return place(self.grid, self.f(list(records)))
        except KeyboardInterrupt:
            raise
        except BaseException:  # what it says may show records
            return 0

    def median(self, places: Sequence[int], cost: Guarantee) -> Law[Any]:
        """The private median of block answers."""
        told = spend(cost, self.method, "exponential", "exponential")
        return block_median(list(places), self.grid, **told)

    def drawn(self, records: list[Any], cost: Guarantee, source: Randomness) -> Law[Any]:
        """The median's law, everybody's block drawn."""
        members: list[list[Any]] = [[] for _ in range(self.blocks)]
        for record in records:
            members[uniform_below(self.blocks, source=source)].append(record)
        return self.median([self.place(each) for each in members], cost)

    def _law(self, records: list[Any], cost: Guarantee) -> SampledLaw:
        return SampledLaw(self, records, cost)

    def release(self, records: list[Any], desk: Desk, cost: Guarantee) -> Answer:
        """The median of what blocks say."""
        law = self.drawn(records, cost, desk._source)
        value = released(desk.draw(law))
        window = law.accuracy("0.05").window
        beside = self.blocks if window is None else min(self.blocks, self.blocks // 2 + window)
        where = f"With 95 % at most {beside:,} of the {self.blocks:,} block answers lie below it and as many above."
        if beside == self.blocks:
            where = f"{self.blocks:,} blocks are too few at this cost to say where it lies among their answers."
        return desk.answer(
            self.name,
            value,
            mechanism=f"private median of block answers by {self.method}",
            per="person",
            unit=step_of(self.grid),  # type: ignore[arg-type]
            notes=(where, f"{failures(self.grid)} So does a block without persons."),
        )

    def coarse(self) -> Sampled:
        """With three blocks and few values: the promise depends on neither number."""
        return replace(self, blocks=min(self.blocks, 3), grid=coarsened(self.grid))


def sampled(
    f: Function,
    *,
    blocks: int,
    grid: Grid | Sequence[Grid] | Mapping[Any, Grid],
    method: str = "exponential",
    name: str | None = None,
) -> OwnFunction:
    """Any function, run on disjoint random blocks of persons, and the private median of what it says.

    Args:
        f: the function of a list of records, which looks at nothing else.
        blocks: how many blocks there are, a public number; each should be large enough for f to make sense.
        grid: the possible answers; a list or a mapping of grids for an f that returns as many numbers.
        method: how the median is chosen: "exponential", or "permute_and_flip" for ε alone.
        name: what it is called in answers.

    >>> from tacit.grids import integers
    >>> largest = tacit.functions.sampled(max, blocks=50, grid=integers(0, 100))
    >>> largest.ask(list(range(100)) * 10, epsilon=2, budget=Pure(2))
    Answer(max: ..., Pure(2))
    """
    callable_or_refused(f, "f")
    check_listed(method, "method", METHODS)
    number = whole(blocks, "blocks", 1)

    def one(function: Function, oracle: Any, grid: Any, called_: str) -> Sampled:
        return Sampled(function, called_, number, cut_grid(grid), method)

    words = named(f, name)
    return one(f, None, grid, words) if isinstance(grid, Grid) else spread_over(f, None, grid, words, one)
