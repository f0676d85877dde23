"""Statistics of the values that a column has, as flows from persons to values (see `shared_rows`)."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from tacit.answers import Answer
from tacit.engines.requests import Incidence
from tacit.language.expressions import Expression
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.base import SHARED_ROWS, Statistic, check_method

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tacit.flows.curve import CappedStatistic
    from tacit.flows.incidences import Incidences


class OfValues(Statistic):
    """A statistic of values, whether rows concern one person or several: a frozen dataclass with these fields."""

    expression: Expression
    method: str | None
    several = True

    def __post_init__(self) -> None:
        check_method(self.method, SHARED_ROWS)
        Incidence(values=self.expression)  # refuses what the engine could not answer

    counts_values: ClassVar[bool] = False
    """Whether values that many persons have are all alike to it."""

    @abstractmethod
    def capped(self, rows: Incidences, values: NDArray[np.int64], common: int) -> CappedStatistic:
        """The statistic of rows and their values when no person may carry more than a cap."""

    def release(self, room: Room) -> Answer:
        """A cap on what one person adds, and a noisy count."""
        from tacit.tables.statistics.ways.shared_rows import flow_answer, rows_of

        rare = self.counts_values and not room.several and self.method != "shifted_inverse"
        touches = room.touches(Incidence(values=self.expression, rare=rare))
        assert touches.values is not None
        values = touches.values
        capped = room.once(self, lambda: self.capped(rows_of(touches), values, touches.common))
        return flow_answer(room, self.words, capped, self.method, self.per)
