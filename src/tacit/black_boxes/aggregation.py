"""`sample_and_aggregate`: any function of many persons, run on disjoint blocks of them, the answers combined privately.

PROMISE  Pure(ε), Zcdp(ρ) or Approx(ε, δ) for all coordinates together, for any f.

PROOF  `block_median`: a person is in one block, which no other person's presence changes, and so changes one of a
public number of block answers. f sees the rows of its block alone, in an order of their own, in a process kept apart
(`namespaces`); a block without persons has the grid's bottom for an answer. A block has at most its even share of a
public number of rows; those beyond are left out by the block's own rows alone, so that f is another function of them.
Each of d coordinates is a median of its own at ε/d, or at ρ/d of concentrated privacy with ε_i = √(8ρ/d); costs add up.
(ε, δ) buys the ρ that stays within it.

ACCURACY  That of f on a block, n/B persons in place of n, and a place near the middle of the B answers. More than 2t
blocks, t the loss stated there, are needed for any accuracy at all, each large enough for f to make sense.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tacit.answers import Answer, Answers
from tacit.black_boxes.block_median import METHODS, block_median
from tacit.black_boxes.evaluator import EvaluatorSetup
from tacit.black_boxes.function import Draw, PrivateFunction
from tacit.black_boxes.processes import Worker, Workers, blob, describe_separation, limits, name_of, pickle_function
from tacit.black_boxes.records import People, fresh_name
from tacit.black_boxes.values import cut_grid, failures, step_of
from tacit.black_boxes.watching import watch
from tacit.budgets import Budget
from tacit.engines.requests import MOST_BLOCKS
from tacit.errors import InvalidInput
from tacit.grids import Grid
from tacit.guarantees import Guarantee, Pure
from tacit.mechanisms.law import Law
from tacit.mechanisms.search.scan_rates import BETA
from tacit.numbers.exact import Number, between, check_listed, whole
from tacit.randomness import SYSTEM, Randomness, uniform_below
from tacit.tables import Session
from tacit.tables.releasing.room import Allowance, Room, cost_of


@dataclass(frozen=True, kw_only=True)
class BlockMedian(PrivateFunction, phrase="median of {name} over {blocks:,} blocks of persons"):
    """A function to be run on blocks of persons, and the median of what it says."""

    blocks: int
    grids: tuple[Grid, ...]
    keys: tuple[Any, ...] | None
    """The coordinates' names; None where there is one number."""
    method: str
    beta: Fraction
    key = "sample_and_aggregate"

    def release(self, room: Room) -> Answer | Answers:
        """Blocks from a table, one frame for each."""
        assert self.frames is not None
        rows = room.blocks(self.frames.request(self.blocks, room.secret(), self.blocks))
        found = self._answers({number: [each] for number, each in self.frames.split(rows)})
        return self.state_medians(found, room.cost, room.draw, lambda **facts: room.answer(self.words, **facts))

    def run_on_blocks(self, records: Sequence[Any], source: Randomness) -> list[list[int]]:
        """Put each person into a block at random, and ask every block."""
        members: dict[int, list[bytes]] = {}
        for record in records:
            members.setdefault(uniform_below(self.blocks, source=source), []).append(blob(record))
        return self._answers(members)

    def _answers(self, members: Mapping[int, list[bytes]]) -> list[list[int]]:
        """For each block a place on every grid; the bottom for a block without persons."""
        assert self.workers is not None
        found = [[0] * len(self.grids) for _ in range(self.blocks)]

        def work(worker: Worker, block: int) -> None:
            if block in members:
                found[block] = worker.alone(members[block])
            tell(1)

        with watch(self.words, self.blocks) as tell:
            self.workers.over(range(self.blocks), work)
        return found

    def state_medians(
        self,
        found: Sequence[Sequence[int]],
        cost: Guarantee,
        draw: Draw[Any],
        answer: Callable[..., Answer],
    ) -> Answer | Answers:
        """Draw a median for each coordinate, and state it."""
        answers = {}
        for i, grid in enumerate(self.grids):
            law = self.law([places[i] for places in found], grid, cost)
            value = draw(law)
            answers[i if self.keys is None else self.keys[i]] = answer(
                value=value if isinstance(value, int) else float(value),
                mechanism=f"private median of block answers by {self.method}",
                per="person",
                unit=step_of(grid),
                notes=(
                    self._middle(law),
                    f"{failures(grid)} So does a block without persons.",
                    describe_separation(self.trusted),
                ),
            )
        return answers[0] if self.keys is None else Answers(answers, cost, "coordinate")

    def law(self, places: Sequence[int], grid: Grid, cost: Guarantee) -> Law[Any]:
        """The law of one coordinate's median, its guarantee the coordinate's share of the cost."""
        number = len(self.grids)
        share = Allowance.of(cost, choices=number).share(Fraction(1, number))
        return block_median(places, grid, self.method, **share.keywords)

    def _middle(self, law: Law[Any]) -> str:
        beta = self.beta / len(self.grids)
        window = law.accuracy(beta).window
        assert window is not None
        beside = min(self.blocks, self.blocks // 2 + window)
        sure = f"With probability at least {float(1 - beta):g}"
        if beside == self.blocks:
            return f"{self.blocks:,} blocks are too few at this cost to say where the value lies among their answers."
        return f"{sure} at most {beside:,} of the {self.blocks:,} block answers lie below it and at most as many above."


def _coordinates(grid: Any) -> tuple[tuple[Grid, ...], tuple[Any, ...] | None]:
    """The grids, and the coordinates' names where there are several."""
    if isinstance(grid, Grid):
        return (cut_grid(grid),), None
    if not isinstance(grid, Mapping | Sequence) or isinstance(grid, str) or not grid:
        raise InvalidInput("grid must be a grid, or one for each coordinate: a list, or a mapping from names to grids.")
    named_grids = grid if isinstance(grid, Mapping) else dict(enumerate(grid))
    return tuple(cut_grid(each) for each in named_grids.values()), tuple(named_grids)


def sample_and_aggregate(
    f: Any,
    records: Any,
    *,
    blocks: int,
    grid: Grid | Sequence[Grid] | Mapping[str, Grid],
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    budget: Guarantee | Budget | None = None,
    session: Session | None = None,
    columns: Sequence[str] | None = None,
    method: str = "exponential",
    beta: Number = BETA,
    trusted: bool = False,
    time_limit: float = 60,
    memory_limit: int = 2**31,
    workers: int | None = None,
    randomness: Randomness = SYSTEM,
) -> Answer | Answers:
    """The private median of any function f over disjoint blocks of persons, chosen at random.

    Args:
        f: the function, of a list of records or of a data frame of their rows, sorted; it runs in a process kept apart.
        records: a private table, whose own session pays, or one entry for each person in a list or a mapping.
        blocks: how many blocks there are, which is public; each should be large enough for f to make sense.
        grid: the possible answers; a list or a mapping of grids for an f that returns as many numbers. The answer is
            then an `Answers` by number or name, and the cost is split evenly.
        epsilon, delta, rho: what the answer may cost: ε, or ε with δ, or ρ.
        budget: what pays for a list or a mapping: a guarantee or an open budget.
        session: a session whose budget pays instead.
        columns: the columns of a private table that f gets; all but the persons without them.
        method: how the median is chosen: "exponential", or "permute_and_flip" for ε alone.
        beta: with what probability the stated accuracy may fail.
        trusted: whether f's value depends on its block's rows alone; calls are then not confined, which not every
            system can do.
        time_limit: the most seconds that one call may take; a call that takes longer has the grid's bottom for a value.
        memory_limit: the most bytes that one call may use.
        workers: how many processes run f.
        randomness: where noise comes from, for a list or a mapping.

    >>> from tacit.grids import integers
    >>> tacit.sample_and_aggregate(
    ...     max, range(100), blocks=20, grid=integers(0, 100), epsilon=4, budget=Pure(4), trusted=True, workers=1
    ... )
    Answer(median of max over 20 blocks of persons: ..., Pure(4))
    """
    cost = cost_of(epsilon, None if delta == 0 else delta, rho)
    if method == "permute_and_flip" and not isinstance(cost, Pure):
        raise InvalidInput("method 'permute_and_flip' is for epsilon alone; use 'exponential' with rho or delta.")
    check_listed(method, "method", METHODS)
    seconds, memory, count = limits(time_limit, memory_limit, workers)
    if whole(blocks, "blocks", 1) > MOST_BLOCKS:
        raise InvalidInput(f"blocks must be at most {MOST_BLOCKS:,}.")
    grids, keys = _coordinates(grid)
    people = People.of(records, budget, session, columns, randomness)
    median = BlockMedian(
        name=name_of(f),
        blocks=int(blocks),
        grids=grids,
        keys=keys,
        method=method,
        beta=between(beta, "beta", 0, 1),
        trusted=bool(trusted),
        frames=people.frames,
        nonce=fresh_name(),
    )
    setup = EvaluatorSetup(pickle_function(f), grids, keys is not None, people.template, seconds, memory, bool(trusted))
    with Workers(setup, count) as crew:
        median = replace(median, workers=crew)

        def release() -> Answer | Answers:
            found = median.run_on_blocks(people.entries, people.randomness)
            return median.state_medians(
                found, cost, people.draw, lambda **facts: people.answer(median.words, cost, **facts)
            )

        return people.ask(median, cost, release)
