"""Random plans: who is removed takes along the rows that list them, and nothing else.

300 plans are compared here, 10^4 and 10^6 by `benchmarks/attacks.py`. Seeds are fixed: what passes once passes
always.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from typing import Any

import pytest

from tacit.language.expressions import Cast, Column, Comparison, Expression
from tacit.tables.face.declarations import Private
from tacit.tables.sql.persons import PersonColumn, PersonFinder
from tacit.tables.sql.persons import Table as Named
from tests.attacks.plans import attack

PLANS = 300
Found = tuple[list[tuple[str, Named]], list[Expression], list[PersonColumn]]
OF = PersonFinder.find


@pytest.mark.timeout(600)
def test_a_person_takes_along_the_rows_that_list_them_and_nothing_else() -> None:
    done = attack(18, PLANS)
    assert done.failures == []
    assert done.plans == PLANS
    assert done.several > PLANS / 2
    assert done.rows > PLANS
    assert done.unreadable < done.datasets / 2


def forgets(self: PersonFinder, tables: Iterable[tuple[str, Named]], conditions: Iterable[Expression]) -> Found:
    """The last of several persons is not listed."""
    *found, touched = OF(self, tables, conditions)
    return *found, touched[: max(1, len(touched) - 1)]  # type: ignore[return-value]


def merges(self: PersonFinder, tables: Iterable[tuple[str, Named]], conditions: Iterable[Expression]) -> Found:
    """Two columns that are equal as doubles are taken for one person."""
    refs, parts, touched = OF(self, tables, conditions)
    for part in parts:
        match part:
            case Comparison(operator="=", left=Cast(operand=Column() as a), right=Cast(operand=Column() as b)):
                named = [t.column for t in touched]
                if a in named and b in named and len(touched) > 1:
                    touched = [t for t in touched if t.column != b]
    return refs, parts, touched


def stays(self: PersonFinder, tables: Iterable[tuple[str, Named]], conditions: Iterable[Expression]) -> Found:
    """Foreign keys are not followed where a table has persons of its own."""
    short = copy(self)
    short._tables = {name: _without_links(table) for name, table in self._tables.items()}
    return OF(short, tables, conditions)


def _without_links(table: Any) -> Any:
    if not isinstance(table, Private) or not table.persons:
        return table
    found = copy(table)
    object.__setattr__(found, "through", ())
    return found


def test_a_foreign_key_that_two_rows_share_is_found() -> None:
    """That keys are unique is the custodian's word, and the source's constraint; here it is broken."""
    found = attack(5, 400, natives=("BIGINT",), unique=False, stop=1)
    assert found.failures
    assert "rows of others move" in found.failures[0]


@pytest.mark.parametrize("fault", [forgets, merges, stays], ids=lambda fault: fault.__name__)
def test_planted_faults_are_found(fault: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PersonFinder, "find", fault)
    found = attack(5, 2_000, natives=("BIGINT",), stop=1)
    assert found.failures
    assert "rows of others move" in found.failures[0]
