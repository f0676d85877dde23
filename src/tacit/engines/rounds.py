"""A round: the statement that answers some requests about a relation, and the reading of what comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tacit.engines import groups as groups  # these add their requests to `answer`
from tacit.engines import top_rows as top_rows
from tacit.engines.answers import answer
from tacit.engines.columns import TableSQL
from tacit.engines.dialect import Dialect
from tacit.engines.requests import Relation, Request
from tacit.engines.rows import Rows
from tacit.engines.script import Script
from tacit.engines.statement import AnswerRow, Decoder, Statement


@dataclass(frozen=True)
class Round:
    """A statement ready to run, and how to read what it returns."""

    script: Script
    decoders: tuple[Decoder, ...]

    def results(self, rows: Sequence[AnswerRow]) -> tuple[Any, ...]:
        """One result for each request."""
        parts: list[list[AnswerRow]] = [[] for _ in self.decoders]
        for row in rows:
            parts[row[0]].append(row)
        return tuple(decode(part) for decode, part in zip(self.decoders, parts, strict=True))


def render(
    dialect: Dialect, tables: Mapping[str, TableSQL], relation: Relation, requests: Sequence[Request[Any]]
) -> Round:
    """The statement for some requests."""
    statement = Statement(dialect, Rows(dialect, relation, tables))
    decoders = tuple(answer(request, statement, index) for index, request in enumerate(requests))
    return Round(statement.script(), decoders)
