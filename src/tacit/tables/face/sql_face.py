"""The face of SQL: the same methods for a table, a session, and a session behind a gateway."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from tacit.tables.statistics.asking import Amount

if TYPE_CHECKING:
    from tacit.answers import Answer, Answers
    from tacit.tables.face.preview import Preview


class SqlFace(ABC):
    """Whatever answers SQL."""

    @abstractmethod
    def _answer(
        self, query: str, keys: Any, epsilon: Amount, delta: Amount, rho: Amount, fresh: bool
    ) -> Answer | Answers:
        """The answer to a SELECT."""

    def sql(
        self,
        query: str,
        *,
        keys: Any = None,
        epsilon: Amount = None,
        delta: Amount = None,
        rho: Amount = None,
        fresh: bool = False,
    ) -> Answer | Answers:
        """Answer one SELECT with aggregates; what cannot be answered privately is refused before anything is spent.

        Args:
            query: the SELECT. Its aggregates share the cost evenly. The cost may also stand inside it, as GoogleSQL's
                ``WITH DIFFERENTIAL_PRIVACY OPTIONS(…)``.
            keys: the public keys of GROUP BY; without them they come from the query or a public table, or are found
                in the data for some δ.
            epsilon, delta, rho: what the answer may cost: ε, or ε with δ, or ρ.
            fresh: ask and pay again even if the same was answered before.

        >>> session.sql("SELECT region, SUM(amount) FROM orders GROUP BY region", keys=["north", "south"], epsilon=0.5)
        Answers({'north': ..., 'south': ...}, Pure(0.5))
        """
        return self._answer(query, keys, epsilon, delta, rho, fresh)


class SqlPreviewFace(SqlFace):
    """Whatever answers SQL and says beforehand what that would cost."""

    @abstractmethod
    def _preview(self, query: str, keys: Any, epsilon: Amount, delta: Amount, rho: Amount, fresh: bool) -> Preview:
        """What a SELECT would cost and answer."""

    def preview(
        self,
        query: str,
        *,
        keys: Any = None,
        epsilon: Amount = None,
        delta: Amount = None,
        rho: Amount = None,
        fresh: bool = False,
    ) -> Preview:
        """What a question would cost and answer, and whether it fits; nothing is spent.

        Args:
            query: the SELECT, as for `sql`.
            keys: the public keys of GROUP BY, as for `sql`.
            epsilon, delta, rho: what the answer may cost: ε, or ε with δ, or ρ.
            fresh: whether it would be asked and paid again even if it was answered before.

        >>> seen = session.preview("SELECT SUM(amount) FROM orders", epsilon=0.5)
        >>> seen.cost, seen.fits, seen.free
        (Pure(0.5), True, False)
        >>> print(seen)
        sum of amount: Pure(0.5); Pure(...) is left, which fits. Nothing was spent.
        """
        return self._preview(query, keys, epsilon, delta, rho, fresh)

    cost = preview
