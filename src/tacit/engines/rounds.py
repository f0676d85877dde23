"""A round: the statement that answers some requests about a relation, and the reading of what comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tacit.engines.columns import TableSQL
from tacit.engines.dialect import Dialect
from tacit.engines.requests.relation import Relation
from tacit.engines.requests.request import AnswerRow, Request
from tacit.engines.rows import Rows
from tacit.engines.script import Script
from tacit.engines.statement import Statement


@dataclass(frozen=True)
class Round:
    """A statement ready to run, and the requests that read what it returns."""

    script: Script
    requests: tuple[Request[Any], ...]

    def results(self, rows: Sequence[AnswerRow]) -> tuple[Any, ...]:
        """One result for each request."""
        own: list[list[AnswerRow]] = [[] for _ in self.requests]
        for row in rows:
            own[row[0]].append(row)
        return tuple(request.read(part) for request, part in zip(self.requests, own, strict=True))


def render(
    dialect: Dialect, tables: Mapping[str, TableSQL], relation: Relation, requests: Sequence[Request[Any]]
) -> Round:
    """The statement for some requests."""
    statement = Statement(dialect, Rows(dialect, relation, tables))
    arms = [(number, arm) for number, request in enumerate(requests) for arm in request.write(statement)]
    return Round(statement.script(arms), tuple(requests))
