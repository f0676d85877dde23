"""An engine that remembers: what was asked is read once, and a snapshot allows two rounds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tacit.engines.remembering import Remembering


class _Counting:
    """An engine that answers with how often it was asked."""

    asked = 0

    @contextmanager
    def snapshot(self) -> Iterator[_Counting]:
        yield self

    def _count(self, *_: Any) -> int:
        self.asked += 1
        return self.asked

    ask = touches = blocks = repeats = _count


def test_the_same_request_is_read_once_and_a_snapshot_allows_two_rounds() -> None:
    engine: Any = Remembering(_Counting())  # type: ignore[arg-type]
    with engine.snapshot() as snapshot:
        assert [snapshot.ask("orders", ("count",)), snapshot.ask("orders", ("sum",))] == [1, 2]
        with pytest.raises(AssertionError, match="two rounds"):
            snapshot.ask("orders", ("count",))
    with engine.snapshot() as snapshot:
        assert [snapshot.ask("orders", ("sum",)), snapshot.ask("orders", ("count",))] == [2, 1]
        assert [snapshot.touches("orders", "persons"), snapshot.touches("orders", "persons")] == [3, 3]
        assert snapshot.blocks("orders", "blocks") == 4
        assert snapshot.repeats("orders", ("id",)) == 5
