"""A statistic answers whatever is drawn: no outcome of its laws, however unlikely, ends in an error.

An error after the charge would be an outcome of its own that no law accounts for.
"""

import json
from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import Any

import pytest

from tacit import Approx, Private, Session
from tacit.answers.storing import decode, encode
from tacit.answers.totals import CappedTotal
from tacit.audit.statistics import captured
from tacit.mechanisms.grid_law import GridLaw
from tacit.mechanisms.inverse.cuts import CutLaw
from tacit.mechanisms.inverse.shifted_inverse import ShiftedInverseLaw
from tacit.mechanisms.law import Law
from tacit.mechanisms.noise.noise import NoiseVector, NoisyInteger
from tacit.mechanisms.together import Together
from tacit.mechanisms.totals.scan_and_release import CappedTotalLaw
from tacit.randomness import SYSTEM
from tacit.tables.releasing.room import Room
from tests.tables.support import EXTREME, arrow, found, questions, shown

COSTS: list[tuple[dict[str, Any], int]] = [
    ({"epsilon": 1}, 1),
    ({"rho": 1}, 1),
    ({"epsilon": "1e-12"}, 5),
    ({"epsilon": 10**5}, 5),
]
"""Costs, each with which of the questions are asked: all of them, or every fifth."""
AWAY = (0, -1, 1, 10**6, -(10**6), 10**40, -(10**40), 10**80)


class UnlikelyRoom(Room):
    """Draws anything that is possible, the ends of grids and far tails above all."""

    random = Random(5)

    def draw(self, law: Law[Any], part: str = "") -> Any:
        self._spent.setdefault(part, []).append(law.guarantee)
        return self._unlikely(law)

    def _unlikely(self, law: Law[Any]) -> Any:
        law = law._inner if isinstance(law, ShiftedInverseLaw) else law
        if isinstance(law, GridLaw):
            first, last = law.grid.first, law.grid.last
            assert first is not None
            assert last is not None
            ends = (first, min(first + 1, last), max(last - 1, first), last)
            return law.grid.answer(self.random.choice((*ends, self.random.randint(first, last))))
        if isinstance(law, CappedTotalLaw):
            cap, within, above = (self.random.choice(choices) for choices in (law.caps[::90], AWAY, AWAY))
            return CappedTotal(cap, within, above, self.random.random() < 0.5, law._epsilon)
        if isinstance(law, NoisyInteger):
            return law._value + self.random.choice(AWAY)
        if isinstance(law, NoiseVector):
            return tuple(value + self.random.choice(AWAY) for value in law._draw(SYSTEM))
        if isinstance(law, Together):
            return tuple(map(self._unlikely, law._parts))
        if isinstance(law, CutLaw):
            far = self.random.randint(law.first, law.last)
            return self.random.choice((law.first, min(law.first + 1, law.last), law.last, far))
        return law._draw(SYSTEM)


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Session({"t": Private(arrow(EXTREME), person="who")}, budget=Approx(10**9, "0.9")) as opened:
        yield opened


@pytest.mark.parametrize(("cost", "every"), COSTS, ids=str)
def test_every_outcome_has_an_answer(cost: dict[str, Any], every: int, session: Session) -> None:
    for name, ask in islice(questions(session["t"]), 0, None, every):
        answer(session, name, lambda ask=ask: ask(**cost))


def test_every_outcome_of_found_groups_has_an_answer(session: Session) -> None:
    for name, ask in found(session["t"]):
        for _ in range(2):
            answer(session, name, lambda ask=ask: ask(epsilon=1, delta="0.3"))


def answer(session: Session, name: str, ask: Any) -> None:
    """Release with unlikely draws; show, encode and decode what comes out."""
    relation, statistic, cost = captured(session, ask)
    with session._tables.engine.snapshot() as snapshot:
        room = UnlikelyRoom(session._tables.engine, snapshot, relation, SYSTEM, cost, "any one")
        released = statistic.release(room)
    views = shown(released)
    again = decode(json.loads(json.dumps(encode(released), allow_nan=False)))
    assert shown(again) == views, name
    assert released.guarantee == cost
