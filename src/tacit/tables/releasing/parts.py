"""Parallel composition that each question itself enforces: a table in parts that hold different persons.

PROMISE. Whatever is asked of the parts, the budget above pays for the dearest part only, and everybody is protected by
what was paid.

PROOF. A row's place is the position of its key in the public list, and a person belongs to the part of the least place
among their rows, with all of them. So membership is a function of the person's own rows, everybody is in at most one
part, and adding a person changes the rows of at most one part: the parts of `tacit.budgets.accounts`. A filter of the
table is part of the place; a filter put on a part later moves nobody. The session of a part refuses every question
that is not about its persons, and its budget can be looked at but not be charged by others.

VERSIONS. All this holds for one state of the data. When the data change a person may move to another part, and has
then been asked about in both. So a question is charged to the group of a *version*, a name that the engine gives to
what the tables hold (`Engine.version`): taken before the charge, and compared when all rounds are done; if it differs,
the answer is withheld. Answers charged to one group are thus about one state x_v of the data. Two neighbouring
histories differ, in every state, in one person, who lies in one part of each: what is paid for them is at most
Σ_v max_part (charges to the part under v), which is what the parent adds up. Where no version can be known (frames that
are changed in place, open connections, servers) the parent is charged in full, as if there were no parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from tacit.engines.requests import Membership, Relation
from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.language import build
from tacit.language.expressions import Literal
from tacit.language.types import INTEGER
from tacit.tables.releasing.identity import identity
from tacit.tables.statistics.ways.groups import candidates

if TYPE_CHECKING:
    from tacit.budgets import Budget
    from tacit.tables.face.session import Session
    from tacit.tables.face.table import Table

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
        raise InvalidInput(
            "keys of parts must not be NULL; leave NULL out; persons without any other key belong to no part."
        )
    branches = []
    for position, (key,) in enumerate(groups.keys):
        here = build.comparison("=", groups.by[0], key)
        here = here if relation.filter is None else build.logic("AND", (relation.filter, here))
        branches.append((here, Literal(INTEGER, position)))
    place = build.case(branches, None)
    digest = sha256(identity((relation, place)).encode()).hexdigest()[:16]
    found_parts = {}
    for position, label in enumerate(groups.labels):
        members = (*relation.members, Membership(place, position))
        division = Division(f"{_word(by)} #{digest}", f"{position} {_word(str(label))}")
        releaser = session._releaser.part(division, members, tables_of(relation))
        found_parts[label] = session._with(releaser), replace(relation, members=members)
    return found_parts


@dataclass(frozen=True)
class Division:
    """One part of one split of the persons, as accounts are named."""

    split: str
    part: str


def paying(budget: Budget, divisions: Sequence[Division], version: str | None) -> Budget:
    """The account that pays for a part under a version of the data; without one, the budget that all parts share."""
    for division in divisions if version is not None else ():
        budget = budget.parallel(f"{division.split} @{version}").part(division.part)
    return budget


def tables_of(relation: Relation) -> tuple[str, ...]:
    """The tables whose rows decide who is in a part."""
    return relation.tables


def _word(text: str) -> str:
    """A text as part of an account's name."""
    return "".join(c if c.isprintable() and c != "/" else " " for c in text)[:40]
