"""An engine that answers every request once and then from memory, for rows that never change.

The exact verification of statistics and `tacit.plan` ask the same made-up rows over and over. A snapshot allows two
rounds, as the contract of `tacit.engines` says, so a statistic that asks more is noticed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from tacit.engines import Engine, Opening, Snapshot
from tacit.language.types import KeyType, Schema

if TYPE_CHECKING:
    import pyarrow as pa

    from tacit.engines.requests import Relation, Request
    from tacit.engines.requests.beside import Beside
    from tacit.engines.requests.blocks import Blocks
    from tacit.engines.requests.derived import Derived
    from tacit.engines.requests.incidence import Incidence, Touches
    from tacit.engines.requests.key_repeats import Repeats
    from tacit.engines.requests.public_rows import PublicRows
    from tacit.engines.requests.weighed_rows import WeighedRows, WeighedValues
    from tacit.language.expressions import Column

ROUNDS = 2
"""The rounds that one snapshot allows."""


class Remembering:
    """An engine over rows that never change."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._known: dict[tuple[Any, ...], Any] = {}

    def schema(self, table: str) -> Schema:
        """The engine's."""
        return self._engine.schema(table)

    def keys(self, table: str) -> tuple[tuple[str, ...], ...]:
        """The engine's."""
        return self._engine.keys(table)

    def key_type(self, table: str | Derived, column: str) -> KeyType:
        """The engine's."""
        return self._engine.key_type(table, column)

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Two rounds, answered from memory where the same was asked before."""
        yield _Rounds(self)

    def together(self, beside: Beside) -> AbstractContextManager[Opening]:
        """The same snapshots: memory is what they share."""
        return nullcontext(self.snapshot)

    def version(self, tables: Sequence[str]) -> str | None:
        """The engine's."""
        return self._engine.version(tables)

    def close(self) -> None:
        """Close the engine."""
        self._engine.close()

    def remember(self, asked: tuple[Any, ...], ask: Callable[[Snapshot], Any]) -> Any:
        """The answer to what was ``asked``, read from the engine the first time."""
        if asked not in self._known:
            with self._engine.snapshot() as snapshot:
                self._known[asked] = ask(snapshot)
        return self._known[asked]


class _Rounds:
    """A snapshot of what never changes."""

    def __init__(self, engine: Remembering) -> None:
        self._engine, self._left = engine, ROUNDS

    def ask(self, relation: Relation, requests: tuple[Request[Any], ...], /) -> Any:
        assert self._left > 0, "a snapshot allows at most two rounds"
        self._left -= 1
        return self._engine.remember((relation, requests), lambda snapshot: snapshot.ask(relation, requests))

    def touches(self, relation: Relation, request: Incidence, /) -> Touches:
        touches: Touches = self._engine.remember((relation, request), lambda s: s.touches(relation, request))
        return touches

    def weigh(self, relation: Relation, request: WeighedRows, /) -> WeighedValues:
        weighed: WeighedValues = self._engine.remember((relation, request), lambda s: s.weigh(relation, request))
        return weighed

    def blocks(self, relation: Relation, request: Blocks | PublicRows, /) -> pa.Table:
        blocks: pa.Table = self._engine.remember((relation, request), lambda s: s.blocks(relation, request))
        return blocks

    def fits(self, relation: Relation, /) -> bool:
        return bool(self._engine.remember(("fits", relation), lambda snapshot: snapshot.fits(relation)))

    def repeats(self, table: str, columns: tuple[Column, ...], /) -> Repeats:
        repeats: Repeats = self._engine.remember((table, columns), lambda snapshot: snapshot.repeats(table, columns))
        return repeats
