"""Where a function's persons come from: a list, a mapping from persons to records, or a private table."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from tacit.answers import Answer, Answers
from tacit.budgets import Budget, Question, open_budget
from tacit.engines.requests import Blocks
from tacit.errors import InvalidInput
from tacit.guarantees import Guarantee
from tacit.language.expressions import Expression
from tacit.mechanisms.law import Law
from tacit.randomness import SYSTEM, Randomness
from tacit.tables import Session, Table
from tacit.tables.releasing.releaser import charge_and_release
from tacit.tables.statistics.base import Statistic

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")

ROWS = 50_000_000
"""The most rows of all blocks together; each may have its even share."""


def list_records(records: Any) -> list[Any]:
    """One entry for each person."""
    if isinstance(records, Mapping):
        return list(records.values())
    if isinstance(records, str | bytes) or not isinstance(records, Iterable) or hasattr(records, "columns"):
        raise InvalidInput(
            "records must be a list with one entry for each person, a mapping from persons to their records, or a "
            "private table; read a data frame with tacit.read(frame, person=…, budget=…)."
        )
    return list(records)


@dataclass(frozen=True)
class Frames:
    """The rows of a table's persons or blocks, one data frame for each."""

    columns: tuple[tuple[str, Expression], ...]

    @classmethod
    def of(cls, table: Table, columns: Sequence[str] | None) -> Frames:
        """Some columns of a table, by default all but those that name persons."""
        return cls(table._columns(columns))

    def request(self, blocks: int | None, salt: bytes, most: int) -> Blocks:
        """What the engine is asked, where there are at most ``most`` blocks."""
        return Blocks(self.columns, blocks, salt, max(1, ROWS // max(1, most)))

    def template(self) -> bytes:
        """An empty frame, pickled."""
        return pickle.dumps(self.request(1, bytes(16), 1).schema().empty_table().drop_columns([""]).to_pandas())

    @staticmethod
    def split(rows: pa.Table) -> Iterator[tuple[int, bytes]]:
        """Each block's number and its rows as a pickled frame, blocks without rows left out."""
        import numpy as np

        numbers, frames = rows.column("").to_numpy(), rows.drop_columns([""])
        starts = np.flatnonzero(np.diff(numbers, prepend=-1, append=-1))  # rows come block by block
        for start, stop in pairwise(starts.tolist()):
            yield int(numbers[start]), pickle.dumps(frames.slice(start, stop - start).to_pandas())


@dataclass(frozen=True, repr=False)
class People:
    """Persons and who pays for answers about them."""

    table: Table | None
    entries: list[Any]
    """One for each person, where there is no table."""
    payer: Budget | None
    frames: Frames | None
    randomness: Randomness

    @classmethod
    def of(
        cls,
        records: Any,
        budget: Guarantee | Budget | None,
        session: Session | None,
        columns: Sequence[str] | None,
        randomness: Randomness,
    ) -> People:
        """Persons of a table, paid by its own session, or of a list, paid by a budget."""
        if isinstance(records, Table):
            if budget is not None or session is not None or randomness is not SYSTEM:
                raise InvalidInput(
                    "a private table is paid by its own session; give neither budget=, session= nor randomness=."
                )
            return cls(records, [], None, Frames.of(records, columns), randomness)
        if columns is not None:
            raise InvalidInput("columns= is for private tables; a list of records is given to the function as it is.")
        if (budget is None) == (session is None):
            raise InvalidInput("give either budget=, such as budget=Pure(1), or session=, whose budget pays.")
        paying = budget if session is None else session.budget
        payer = paying if isinstance(paying, Budget) else open_budget(paying)  # type: ignore[arg-type]
        return cls(None, list_records(records), payer, None, randomness)

    @property
    def template(self) -> bytes | None:
        """An empty frame, where functions get frames."""
        return None if self.frames is None else self.frames.template()

    def ask(self, statistic: Statistic, cost: Guarantee, release: Callable[[], Answer | Answers]) -> Answer | Answers:
        """Charge, then ask the table, or release from the list."""
        if self.table is not None:
            return self.table._release(statistic, cost)
        assert self.payer is not None
        # Nothing tells whether two functions are the same, so every question is a new one.
        key = statistic.key
        asked = Question(identity=f"{key} {fresh_name()}", text=statistic.words, statistics=(key,))
        return charge_and_release(self.payer, cost, asked, release)

    def draw(self, law: Law[T]) -> T:
        """One draw."""
        return law._draw(self.randomness)

    def answer(self, words: str, cost: Guarantee, **facts: Any) -> Answer:
        """An answer about the persons of a list."""
        protected = "any one person with all that is recorded about them"
        return Answer(words, guarantee=cost, protected=protected, private=self.randomness.private, **facts)


def fresh_name() -> str:
    """A name never used before."""
    return uuid4().hex
