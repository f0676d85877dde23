"""Groups of a table: the same statistics, answered for each group."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tacit.answers import Answers
from tacit.errors import InvalidInput
from tacit.language.expressions import Expression
from tacit.numbers.exact import whole
from tacit.tables.statistics.asking import Amount
from tacit.tables.statistics.base import Operand, Statistic
from tacit.tables.statistics.catalogue import Statistics
from tacit.tables.statistics.ways.groups import Groups, for_each, given, listed
from tacit.tables.statistics.ways.margins import every_set, with_margins

if TYPE_CHECKING:
    from tacit.tables.face.table import Table


COUNTED = ("count", "persons", "nunique")
"""What cannot be negative, whatever the rows are."""


class GroupBy(Statistics[Answers]):
    """Statistics for each group of a table; those that cannot be grouped say so before anything is spent.

    >>> orders.group_by(["region", "returned"], keys=[("north", True), ("north", False)]).count(epsilon=0.5)
    Answers({('north', True): ..., ('north', False): ...}, Pure(0.5))
    """

    def __init__(
        self,
        table: Table,
        by: tuple[Expression, ...],
        names: tuple[str, ...],
        keys: Iterable[Any] | None,
        at_least: int | None = None,
        other: bool = False,
        margins: bool = False,
        nonnegative: bool = False,
    ) -> None:
        if not isinstance(other, bool):
            raise InvalidInput("other must be True or False; the group of what is not shown is called 'other'.")
        if keys is not None and (at_least is not None or other):
            raise InvalidInput(
                "at_least= and other= are for groups that are found; leave them out, or leave keys= out."
            )
        self._table, self._found = table, keys is None
        self._at_least = None if at_least is None else max(2, whole(at_least, "at_least", 1))
        self._other = bool(other)
        found = Groups(by, (), (), ", ".join(names))
        self._groups = found if keys is None else given(by, names, listed(keys, "keys"))
        if margins and keys is None:
            raise InvalidInput("margins= needs groups that are known before anybody is asked; give keys=.")
        self._nonnegative = bool(nonnegative) and not margins  # with margins it decides what is fitted
        if margins:
            self._groups = with_margins(self._groups, every_set(len(by)), bool(nonnegative))

    def _operand(self, column: str) -> Operand:
        return self._table._operand(column)

    def _many(self, statistic: Statistic, epsilon: Amount, delta: Amount, rho: Amount, fresh: bool) -> Answers:
        if self._nonnegative and statistic.key not in COUNTED:
            raise InvalidInput("nonnegative= is for counts; a sum may be negative: leave it out.")
        asked = for_each(statistic, self._groups, self._at_least, self._other)
        found = self._table._many(asked, epsilon, delta, rho, fresh)
        return found.nonnegative() if self._nonnegative else found

    _one = _many

    def __repr__(self) -> str:
        keys = "keys found in the data" if self._found else f"{len(self._groups.keys)} given keys"
        return f"<{self._groups.name} of {self._table!r}: {keys}>"
