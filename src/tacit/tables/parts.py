"""Parallel composition that the plan itself enforces: a table in parts that hold different persons.

PROMISE. Whatever is asked of the parts, the budget above pays for the dearest part only, and everybody is protected by
what was paid.

PROOF. A row's place is the position of its key in the public list, and a person belongs to the part of the least place
among their rows, with all of them. So membership is a function of the person's own rows, everybody is in at most one
part, and adding a person changes the rows of at most one part: the parts of `tacit.budgets.accounts`. A filter of the
table is part of the place; a filter put on a part later moves nobody. The session of a part refuses every question
that is not about its persons.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from tacit.engines import build
from tacit.engines.expressions import Literal
from tacit.engines.requests import Membership, Relation
from tacit.engines.types import INTEGER
from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.tables.grouping import candidates

if TYPE_CHECKING:
    from tacit.tables.session import Session
    from tacit.tables.table import Table

MOST_PARTS = 1_000
"""The most parts of one table."""


def parts(table: Table, by: str, keys: Iterable[Any]) -> dict[Any, tuple[Session, Relation]]:
    """For each key the session that pays for its part, and the part's rows."""
    session, relation = table.session, table._relation
    if relation.others:
        raise UnsupportedQuery("a table whose rows concern several persons cannot be split by person; filter it.")
    groups = candidates(table._expression(by), by, keys)
    if len(groups.keys) > MOST_PARTS:
        raise InvalidInput(f"a table can have at most {MOST_PARTS} parts; name fewer keys.")
    if any(key.value is None for (key,) in groups.keys):
        raise InvalidInput("keys of parts must not be NULL; leave it out: who has no other key is in no part.")
    branches = []
    for position, (key,) in enumerate(groups.keys):
        found = build.comparison("=", groups.by[0], key)
        found = found if relation.filter is None else build.logic("AND", (relation.filter, found))
        branches.append((found, Literal(INTEGER, position)))
    place = build.case(branches, None)
    plan = sha256(repr((relation, place)).encode()).hexdigest()[:16]
    together = session.budget.parallel(f"{_word(by)} #{plan}")
    found_parts = {}
    for position, label in enumerate(groups.labels):
        members = (*relation.members, Membership(place, position))
        budget = together.part(f"{position} {_word(str(label))}")
        found_parts[label] = session.part(budget, members), replace(relation, members=members)
    return found_parts


def _word(text: str) -> str:
    """A text as part of an account's name."""
    return "".join(c if c.isprintable() and c != "/" else " " for c in text)[:40]
