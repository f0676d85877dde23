"""Links of a chain as parts of a script: each computes what the next ones use under a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tacit.engines.columns import TableSQL
from tacit.engines.dialect import Dialect
from tacit.engines.script import Fragment, Part, Piece, Reading, fragment
from tacit.engines.term import Term
from tacit.engines.terms import Terms
from tacit.language.expressions import Expression


class Chain(Terms):
    """Terms whose links become parts of a script, by names of their own."""

    def __init__(self, dialect: Dialect, tables: Mapping[str, TableSQL], prefix: str = "") -> None:
        super().__init__(dialect, tables)
        self.prefix = prefix

    def chained(
        self, source: Piece, kept: Sequence[str], terms: Sequence[Term], chain: list[Part], word: str = "link"
    ) -> Piece:
        """What stands after FROM to compute some terms; every link passes on the columns that are ``kept``."""
        for level, link in enumerate(self.links(terms)):
            computed = [f"{term.sql} AS {name}" for term, name in link.computed.items()]
            passed = [name for name in link.passed if name not in kept]
            asked = fragment(f"SELECT {', '.join([*kept, *passed, *computed])} FROM ", source, self.dialect.fence)
            source = self.passed(f"{word}{level + 1}", asked, chain)
        return source

    def passed(self, name: str, link: Fragment, chain: list[Part]) -> Piece:
        """What stands after FROM to use a link."""
        if self.dialect.nested:
            return fragment("(", link, f") AS {name}")
        chain.append(Part(f"{self.prefix}{name}", link))
        return Reading(f"{self.prefix}{name}")

    def inlined(self, expression: Expression) -> str:
        """A condition on the tables themselves, where there is no link to name what is used several times."""
        inner = _Inline(self.dialect, self.tables)
        inner._used = self._used
        return inner.term(expression).sql


class Steps(Chain):
    """A chain over a part of the script, by the names that its columns have there."""

    def __init__(self, dialect: Dialect, prefix: str) -> None:
        super().__init__(dialect, {}, prefix)

    def read(self, sql: str) -> Term:
        """A column of the part."""
        return Term(sql, 0, frozenset((sql,)), short=True)


class _Inline(Terms):
    """Terms in one piece: what would get a name is written out wherever it is used, so they had better be short."""

    def read(self, sql: str) -> Term:
        return Term(sql, short=True)

    def bind(self, term: Term) -> Term:
        return Term(f"({term.sql})", short=True)
