"""Asking in SQL: the same two methods for a session, a session far away, and a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tacit.answers import Answer, Answers
from tacit.numbers.exact import Number
from tacit.tables.face.preview import Preview
from tacit.tables.statistics.asking import Amount

Weights = Mapping[str, Number] | Sequence[Number] | None
"""How a cost is split over output columns, or over the questions of a report."""


@dataclass(frozen=True)
class Select:
    """A SELECT with its public keys and its cost, as an analyst gives them."""

    query: str
    keys: Any
    epsilon: Amount
    delta: Amount
    rho: Amount
    fresh: bool
    weights: Any = None


class AnswersSelects(ABC):
    """Whatever answers a SELECT."""

    @abstractmethod
    def _answer(self, select: Select) -> Answer | Answers:
        """Charge and answer."""

    def sql(self, query: str, *, keys: Any = None, epsilon: Amount = None, delta: Amount = None, rho: Amount = None,
            fresh: bool = False, weights: Weights = None) -> Answer | Answers:  # fmt: skip
        """Answer one SELECT with aggregates; what cannot be answered privately is refused before anything is spent.

        Args:
            query: the SELECT. Its aggregates share the cost evenly, or by weights. The cost may also stand inside it,
                as GoogleSQL's ``WITH DIFFERENTIAL_PRIVACY OPTIONS(…)``.
            keys: the public keys of GROUP BY; without them they come from the query or a public table, or are found
                in the data for some δ.
            epsilon, delta, rho: what the answer may cost: ε, or ε with δ, or ρ.
            fresh: ask and pay again even if the same was answered before.
            weights: how the cost is split: a positive number for some output columns by their names, or a list with one
                for each column of aggregates; 1 unless named. An aggregate costs its weight over the sum of all.

        >>> session.sql("SELECT region, SUM(amount) FROM orders GROUP BY region", keys=["north", "south"], epsilon=0.5)
        Result({'north': ..., 'south': ...}, Pure(0.5))
        """
        return self._answer(Select(query, keys, epsilon, delta, rho, fresh, weights))


class PreviewsSelects(AnswersSelects):
    """Whatever also says what a SELECT would cost."""

    @abstractmethod
    def _preview(self, select: Select) -> Preview:
        """Look at costs, and spend nothing."""

    def preview(self, query: str, *, keys: Any = None, epsilon: Amount = None, delta: Amount = None,
                rho: Amount = None, fresh: bool = False, weights: Weights = None) -> Preview:  # fmt: skip
        """What a question would cost and answer, and whether it fits; nothing is spent.

        Args:
            query, keys, epsilon, delta, rho, weights: as for `sql`.
            fresh: whether it would be asked and paid again even if it was answered before.

        >>> seen = session.preview("SELECT SUM(amount) FROM orders", epsilon=0.5)
        >>> seen.cost, seen.fits, seen.free
        (Pure(0.5), True, False)
        >>> print(seen)
        sum of amount: costs Pure(0.5) of the Pure(...) left. Nothing was spent.
        """
        return self._preview(Select(query, keys, epsilon, delta, rho, fresh, weights))

    def cost(self, query: str, *, keys: Any = None, epsilon: Amount = None, delta: Amount = None,
             rho: Amount = None, fresh: bool = False, weights: Weights = None) -> Preview:  # fmt: skip
        """The older name of `preview`.

        Args:
            query, keys, epsilon, delta, rho, fresh, weights: as for `preview`.

        >>> session.cost("SELECT SUM(amount) FROM orders", epsilon=0.5).cost
        Pure(0.5)
        """
        return self._preview(Select(query, keys, epsilon, delta, rho, fresh, weights))
