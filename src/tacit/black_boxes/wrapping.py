"""`wrap`: any function of few persons, answered privately, with nothing known about it.

What is promised, and why, stands in `floors` (the default: a value of the grid, chosen from the function's values on
subsets), in `lipschitz` (where a sensitivity is claimed) and in `extensions` (where it is, and a δ given). All need one
thing of f: that its value on a group depends on that group alone. Each call is therefore made in a process of its own
that holds nothing else, unless f is trusted.

The budget is charged before f sees any record. That f cannot be sent to another process or kept apart there, or would
have to be evaluated too often on a public number of persons, is found before. Where that number is private the noisy
one decides, before any row is fetched, and a refusal is a paid answer without a value. A person's rows are at most as
many as all may be divided by the most persons there can be by the noisy number; those beyond are left out by the
person's own rows alone, which makes f another function of them (`tacit.engines.requests.blocks`). So no limit fails on
data, but for the 10^-6 of `floors`. Nothing that f does is an error; how long it takes is not hidden.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import accumulate, islice
from typing import Any, cast

from tacit.answers import Answer
from tacit.answers.order import FallenWithin
from tacit.answers.spreads import Additive
from tacit.black_boxes.evaluation import layers
from tacit.black_boxes.evaluator import EvaluatorSetup
from tacit.black_boxes.extensions import Extension, design_extension
from tacit.black_boxes.fallen import FallenGroups
from tacit.black_boxes.floors import Design, design, most
from tacit.black_boxes.function import Draw, PrivateFunction
from tacit.black_boxes.lattice import Lattice
from tacit.black_boxes.lipschitz import LipschitzFilter, design_filter
from tacit.black_boxes.processes import (
    Workers,
    blob,
    default_workers,
    describe_separation,
    limits,
    name_of,
    pickle_function,
)
from tacit.black_boxes.records import People, fresh_name
from tacit.black_boxes.subsets import MANY, evaluations
from tacit.black_boxes.values import cut_grid, failures, place, step_of
from tacit.black_boxes.watching import watch
from tacit.budgets import Budget
from tacit.engines.requests import Persons
from tacit.errors import InvalidInput
from tacit.grids import Grid
from tacit.guarantees import Approx, Guarantee, Pure
from tacit.mechanisms.search.scan_rates import BETA
from tacit.noises import DiscreteLaplace
from tacit.numbers.exact import Number, Unit, between, whole
from tacit.randomness import SYSTEM, Randomness
from tacit.tables import Session
from tacit.tables.releasing.room import Room, cost_of
from tacit.tables.statistics.extremes import windows

Profile = Callable[[list[Any], int], Iterable[Any]]
"""From everybody's records and the fewest persons of a group to D_0, D_1, … of g (see `floors`), computed directly."""

LIMIT = 2**20
"""The most evaluations unless more are allowed."""

ALONE, TOGETHER = 4e-3, 1e-5
"""Seconds that one call takes beside the function's own time, in a process of its own and among others."""


@dataclass(frozen=True)
class Size:
    """What may be known of the number of persons: that number itself where it is public."""

    noisy: int
    most: int
    """By which evaluations and rows are counted."""
    floor: int
    """The fewest persons of a group that counts."""


@dataclass(frozen=True, kw_only=True)
class WrappedFunction(PrivateFunction, phrase="wrapped function {name}"):
    """A function to be answered from its values on subsets of the persons."""

    rule: Design | LipschitzFilter | Extension | FallenGroups
    cost: Pure | Approx
    public: bool
    limit: int
    profile: Profile | None = field(repr=False)
    key = "wrap"

    def check(self, cost: Guarantee) -> None:
        """The cost was checked when the box was made."""

    def release(self, room: Room) -> Answer:
        """Persons from a table, one frame for each: their number first, and rows only if it is not too large."""
        assert self.frames is not None
        frames = self.frames
        (persons,) = room.ask(Persons())

        def fetch(most: int) -> list[bytes]:
            request = frames.request(None, room.secret(), most)
            return [each for _, each in frames.split(room.blocks(request))]

        return self.answer(persons, fetch, room.draw, lambda facts: room.answer(self.words, **facts))

    def answer(
        self,
        persons: int,
        fetch: Callable[[int], list[bytes]],
        draw: Draw[Any],
        answer: Callable[[dict[str, Any]], Answer],
    ) -> Answer:
        """State an answer from what was drawn and from public numbers.

        The number of persons is known first; ``fetch`` gets their records, given how many they are at most.
        """
        if isinstance(self.rule, FallenGroups):
            facts = self._fallen(self.rule, persons, fetch, draw)
            return self._told(facts, answer)
        size = self._sized(self.rule, persons, draw)
        if self._too_many(size.most, size.most - size.floor):
            facts = self._refused(size)
        else:
            found = {LipschitzFilter: self._filtered, Extension: self._extended}.get(type(self.rule), self._chosen)
            facts = found(size, fetch(size.most), draw)
        return self._told(facts, answer)

    def _told(self, facts: dict[str, Any], answer: Callable[[dict[str, Any]], Answer]) -> Answer:
        """The answer, with what keeps calls apart and who is protected."""
        facts["notes"] += (describe_separation(self.trusted or self.profile is not None),)
        told = answer({"per": "person", "mechanism": self._mechanism, **facts})
        replaced = ", against being replaced by any other, as their number is public"
        return replace(told, protected=told.protected + replaced) if self.public else told

    def _sized(self, rule: Design | LipschitzFilter | Extension, persons: int, draw: Draw[Any]) -> Size:
        noisy = persons if self.public else draw(rule.noisy(persons))
        return Size(noisy, persons if self.public else most(rule, noisy), rule.floor(noisy))

    # ---- the two ways -------------------------------------------------------------------------------------------

    @property
    def _mechanism(self) -> str:
        if isinstance(self.rule, LipschitzFilter):
            return "discrete Laplace noise on the function, filtered to its claimed sensitivity on all subsets"
        if isinstance(self.rule, Extension):
            return "discrete Laplace noise on the function's extension from groups where its claim holds, after a test"
        if isinstance(self.rule, FallenGroups):
            return f"shifted inverse sensitivity by {self.rule.method} over groups that miss a few persons"
        number = "a public" if self.public else "a noisy"
        return f"shifted inverse sensitivity by {self.rule.method} over subsets of at least {number} number of persons"

    def _fallen(
        self, rule: FallenGroups, persons: int, fetch: Callable[[int], list[bytes]], draw: Draw[Any]
    ) -> dict[str, Any]:
        """A value that a monotone function falls to without a few persons."""
        values: list[Any] = []
        if persons <= rule.most + rule.missing:
            lattice = Lattice(persons, min(persons, rule.missing))
            values = self._layers(lattice, fetch(rule.most + rule.missing))
        law = rule.select(rule.profile(persons, values))
        found = draw(law)
        value = found if isinstance(found, int) else float(found)
        return {
            "value": value,
            "unit": step_of(rule.grid),
            "spread": FallenWithin(windows(law), value, rule.most),
            "notes": (
                "The promise rests on the claim that one more person never lowers the function.",
                "Values are rounded down to the grid, and beyond its ends count as its ends.",
            ),
        }

    def _chosen(self, size: Size, blobs: list[bytes], draw: Draw[Any]) -> dict[str, Any]:
        rule = cast(Design, self.rule)
        value = draw(rule.select(self._profile(size.floor, blobs)))
        return {
            "value": value if isinstance(value, int) else float(value),
            "unit": step_of(rule.grid),
            "notes": (
                f"With probability at least {float(1 - rule.beta):g} it lies between the smallest and the largest "
                f"value that the function, rounded to the grid, takes on groups that miss at most {rule.missing} "
                "persons.",
                _looked_at(size, self.public),
                failures(rule.grid),
            ),
        }

    def _profile(self, floor: int, blobs: list[bytes]) -> Sequence[int]:
        persons = len(blobs)
        if floor > persons:
            return []
        if self.profile is not None:
            return self._given(self.profile, floor, blobs)
        lattice = Lattice(persons, persons - floor)
        return lattice.profile(self._layers(lattice, blobs))

    def _given(self, profile: Profile, floor: int, blobs: list[bytes]) -> list[int]:
        """The profile as the function's own author computes it; a failure is the bottom from there on."""
        places: list[int] = []
        try:
            for value in islice(profile([pickle.loads(each) for each in blobs], floor), len(blobs) - floor + 1):
                places.append(place(self.rule.grid, value))
        except Exception:
            places.append(0)
        return list(accumulate(places, min))

    def _filtered(self, size: Size, blobs: list[bytes], draw: Draw[Any]) -> dict[str, Any]:
        rule, persons = cast(LipschitzFilter, self.rule), len(blobs)
        lattice = Lattice(persons, persons)
        law = rule.noisy_value(lattice.filtered(self._layers(lattice, blobs), rule.sensitivity))
        unit = Unit(rule.step, "integer" if rule.step.denominator == 1 else "float")
        value = rule.value(draw(law))
        return {
            "value": value.numerator if value.denominator == 1 and unit.kind == "integer" else float(value),
            "unit": step_of(rule.grid),
            "spread": Additive(DiscreteLaplace.for_pure(rule.epsilon, rule.moved), unit, "capped value"),
            "notes": (
                f"The capped value is the function's own if no person changes it by more than "
                f"{float(rule.sensitivity * rule.step):g} on any group of the persons.",
                failures(rule.grid),
            ),
        }

    def _extended(self, size: Size, blobs: list[bytes], draw: Draw[Any]) -> dict[str, Any]:
        rule, persons = cast(Extension, self.rule), len(blobs)
        design = rule.design
        distance, value = persons, 0  # with fewer persons than the floor no group counts: only noise passes the test
        if size.floor <= persons:
            lattice = Lattice(persons, persons - size.floor)
            distance, value = lattice.extended(self._layers(lattice, blobs), design)
        drawn = draw(rule.select(distance, value))
        unit, claim = Unit(rule.step, "integer" if rule.step.denominator == 1 else "float"), design.claim * rule.step
        notes = (
            f"The capped value is the function's own if no person changes it by more than {float(claim):g} on any "
            f"group of the persons that misses at most {rule.missing}; it is refused then with probability at most "
            f"{float(design.beta):g}.",
            _looked_at(size, self.public),
            failures(rule.grid),
        )
        if drawn is None:
            refusal = "The test refused: the claim fails on groups that miss few persons. The refusal is the answer."
            return {"value": None, "unit": step_of(rule.grid), "notes": (refusal, *notes)}
        number = rule.value(drawn)
        return {
            "value": number.numerator if number.denominator == 1 and unit.kind == "integer" else float(number),
            "unit": step_of(rule.grid),
            "spread": Additive(DiscreteLaplace(design.rate), unit, "capped value"),
            "notes": notes,
        }

    def _layers(self, lattice: Lattice, blobs: list[bytes]) -> list[Any]:
        assert self.workers is not None
        count = evaluations(lattice.persons, lattice.missing)
        words = f"{self.name}: {estimate(count, self.trusted, len(self.workers))}" if self.public else self.name
        with watch(words, count if self.public else None) as tell:
            return list(layers(self.workers, blobs, lattice, self.trusted, tell))

    # ---- too large ----------------------------------------------------------------------------------------------

    def _too_many(self, persons: int, missing: int) -> bool:
        return self.profile is None and evaluations(persons, missing) > self.limit

    def _refused(self, size: Size) -> dict[str, Any]:
        number = f"The public number of persons, {size.noisy},"
        if not self.public:
            number = f"The noisy number of persons, {size.noisy} and at most {size.most},"
        return {
            "value": None,
            "notes": (
                f"{number} asks for {_large(evaluations(size.most, size.most - size.floor))} evaluations of the "
                f"function, more than max_evaluations = {self.limit:,}; the cost was charged. Allow more, give "
                "evaluate_profile, or use sample_and_aggregate.",
            ),
        }

    def check_private(self) -> None:
        """Refuse, before anything is spent, what no number of persons would allow, where that number is private."""
        if isinstance(self.rule, FallenGroups):
            _ = self.rule.most  # refuses a cost at which nobody is affordable
        elif not self.public and self._too_many(least := most(self.rule, 0), least):
            raise InvalidInput(
                f"at this cost the number of persons is known to {least} only, which asks for "
                f"{_large(evaluations(least, least))} evaluations, more than max_evaluations = {self.limit:,}; nothing "
                "was spent. Say persons_public=True if it is, spend or allow more, give evaluate_profile, or use "
                "sample_and_aggregate."
            )

    def check_public(self, persons: int) -> None:
        """Refuse too many persons before anything is spent, where their number is public."""
        if isinstance(self.rule, FallenGroups):
            return
        missing = persons if isinstance(self.rule, LipschitzFilter) else min(persons, self.rule.missing)
        if self.public and self._too_many(persons, missing):
            count = evaluations(persons, missing)
            raise InvalidInput(
                f"{persons} persons need {estimate(count, self.trusted, default_workers())}, more than "
                f"max_evaluations = {self.limit:,}; nothing was spent. Allow more, give evaluate_profile, or use "
                "sample_and_aggregate."
            )


def estimate(count: int, trusted: bool, workers: int) -> str:
    """Evaluations and time, the function's own time not counted."""
    seconds = count * (TOGETHER if trusted else ALONE) / workers if count < 10**15 else float("inf")
    time = f"{seconds:.0f} s" if seconds < 600 else f"{seconds / 3600:,.1f} h" if seconds < 1e7 else "months"
    return f"up to {_large(count)} evaluations (about {time} and the function's own time)"


def _large(count: int) -> str:
    return f"{count:,}" if count < 10**12 else f"10^{len(str(count)) - 1}" if count < MANY else "more than 10^15"


def _looked_at(size: Size, public: bool) -> str:
    number = f"a {'public' if public else 'noisy'} number of {size.noisy}"
    if size.floor:
        return f"Groups of at least {size.floor} persons were looked at, of {number}."
    return (
        f"Groups of every size were looked at, down to nobody, of {number} persons; with more persons or a larger cost "
        "the small ones are left out."
    )


def _hook(function: Any, given: Profile | None) -> Profile | None:
    found = getattr(function, "evaluate_profile", None) if given is None else given
    if found is not None and not callable(found):
        raise InvalidInput("evaluate_profile must be a function of the records and the fewest persons of a group.")
    return cast("Profile | None", found)


def wrap(
    f: Any,
    records: Any,
    *,
    grid: Grid,
    epsilon: Number,
    delta: Number | None = None,
    budget: Guarantee | Budget | None = None,
    session: Session | None = None,
    columns: Sequence[str] | None = None,
    method: str = "scan",
    beta: Number = BETA,
    sensitivity: Number | None = None,
    monotone: bool = False,
    evaluate_profile: Profile | None = None,
    persons_public: bool = False,
    trusted: bool = False,
    time_limit: float = 10,
    memory_limit: int = 2**30,
    workers: int | None = None,
    max_evaluations: int = LIMIT,
    randomness: Randomness = SYSTEM,
) -> Answer:
    """A private answer of any function f of a group of persons, from its values on their subsets.

    Args:
        f: the function, of a list of records or of a data frame of their rows; it runs in a process kept apart.
        records: one entry for each person, in a list or a mapping; or a private table, whose own session pays, and f
            gets a data frame of the group's rows.
        grid: the possible answers, such as ``tacit.grids.integers(0, 100)``.
        epsilon, delta: what the answer may cost: ε, or ε with δ.
        budget: what pays for a list or a mapping: a guarantee or an open budget.
        session: a session whose budget pays instead.
        columns: the columns of a private table that f gets; all but the persons without them.
        method: how the answer is chosen: "scan", or another method of `tacit.mechanisms.shifted_inverse`.
        beta: with what probability the stated accuracy may fail.
        sensitivity: how far one person moves f, if that is claimed. Without δ f is filtered to the claim on all subsets
            and gets Laplace noise; with δ it is extended from subsets that miss few persons, where a test passes.
        monotone: whether f is claimed never to fall when a person joins. Neither a floor nor a noisy number of persons
            is needed then, and the promise rests on the claim; `tacit.functions.monotone` does without it.
        evaluate_profile: computes the profile of a structured f directly, at any size.
        persons_public: whether the number of persons is public.
        trusted: whether f's value depends on the records of its group alone. Calls then share a process and take 10 µs
            in place of 4 ms, and an f with ``add``, ``remove`` and ``value`` is moved from group to group.
        time_limit: the most seconds that one call may take; a call that takes longer has the grid's bottom for a value.
        memory_limit: the most bytes that one call may use.
        workers: how many processes run f.
        max_evaluations: the most calls; more are refused, before anything is spent where the number is public.
        randomness: where noise comes from, for a list or a mapping.

    >>> from tacit.grids import integers
    >>> tacit.wrap(len, range(12), grid=integers(0, 20), epsilon=4, budget=Pure(4), trusted=True, persons_public=True)
    Answer(wrapped function len: ..., Pure(4))
    """
    cost = cost_of(epsilon, None if delta is None or delta == 0 else delta)
    assert isinstance(cost, Pure | Approx)
    seconds, memory, count = limits(time_limit, memory_limit, workers)
    cut, hook = cut_grid(grid), _hook(f, evaluate_profile)
    limit = whole(max_evaluations, "max_evaluations", 1)
    rule: Design | LipschitzFilter | Extension | FallenGroups
    if monotone:
        if sensitivity is not None or hook is not None or persons_public:
            raise InvalidInput(
                "monotone needs neither sensitivity, evaluate_profile nor persons_public; leave them out."
            )
        rule = FallenGroups(cut, cost, method, between(beta, "beta", 0, 1), limit)
    elif sensitivity is None:
        rule = design(cut, cost, method, between(beta, "beta", 0, 1), bool(persons_public))
    elif hook is not None:
        raise InvalidInput("sensitivity does not go with evaluate_profile; leave one of them out.")
    elif isinstance(cost, Approx):
        rule = design_extension(cut, sensitivity, cost, between(beta, "beta", 0, 1), bool(persons_public))
    else:
        rule = design_filter(cut, sensitivity, cost.epsilon, persons_public)
    people = People.of(records, budget, session, columns, randomness)
    box = WrappedFunction(
        name=name_of(f),
        rule=rule,
        cost=cost,
        public=bool(persons_public),
        trusted=bool(trusted),
        limit=limit,
        frames=people.frames,
        nonce=fresh_name(),
        profile=hook,
    )
    if people.table is None:
        box.check_public(len(people.entries))
    box.check_private()
    crew: AbstractContextManager[Workers | None] = nullcontext()
    if hook is None:
        crew = Workers(
            EvaluatorSetup(
                pickle_function(f),
                (cut,),
                False,
                people.template,
                seconds,
                memory,
                bool(trusted),
                below=isinstance(rule, FallenGroups),
            ),
            count,
        )
    with crew as evaluators:
        box = replace(box, workers=evaluators)

        def release() -> Answer:
            return box.answer(
                len(people.entries),
                lambda _: [blob(record) for record in people.entries],
                people.draw,
                lambda facts: people.answer(box.words, cost, **facts),
            )

        return cast(Answer, people.ask(box, cost, release))
