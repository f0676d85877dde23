"""Running the checks: each by itself, so that what one engine cannot do, or not in time, leaves the others whole."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from tacit.checks import columns, files, keys, persons
from tacit.checks.report import Finding, Report
from tacit.engines import open_engine
from tacit.engines.inspection import Inspection
from tacit.errors import EngineError
from tacit.tables import Private, Public
from tacit.tables.face.declarations import declared_keys
from tacit.tables.sql.persons import PersonFinder

Check = Callable[[], Iterable[Finding]]


def check(tables: Mapping[str, Private | Public], seconds: float | None = None) -> Report:
    """Everything about some tables, within a time; what was not done then is said."""
    with _inspecting(tables, seconds) as (inspection, schemas):
        progress = _Progress(seconds)
        for name, table in tables.items():
            facts = progress.facts.setdefault(name, {})
            progress.run(f"{name}: lines", partial(files.check_lines, inspection, name, facts, progress.late))
            if isinstance(table, Private):
                progress.run(f"{name}: persons", partial(persons.check_persons, inspection, name, table, facts))
            else:
                progress.run(f"{name}: rows", partial(persons.count_rows, inspection, name, facts))
            progress.run(f"{name}: types", partial(columns.check_types, inspection, name, schemas[name]))
            progress.run(f"{name}: columns", partial(columns.find_suspicious, inspection, name, table, schemas[name]))
        for words, work in [
            *keys.list_checks(inspection, tables),
            *columns.list_shared_checks(inspection, tables, schemas),
        ]:
            progress.run(words, work)
    return progress.report()


def check_keys(tables: Mapping[str, Private | Public], seconds: float | None = None) -> Report:
    """Only what the promise rests on: whether keys that are called unique are."""
    if not declared_keys(tables):
        return Report()
    with _inspecting(tables, seconds) as (inspection, _):
        progress = _Progress(seconds)
        for words, work in keys.list_checks(inspection, tables, dangling=False):
            progress.run(words, work)
    return progress.report()


@contextmanager
def _inspecting(
    tables: Mapping[str, Private | Public], seconds: float | None
) -> Iterator[tuple[Inspection, Mapping[str, Any]]]:
    engine = open_engine({name: table.source for name, table in tables.items()}, seconds)
    try:
        schemas = {name: engine.schema(name) for name in tables}
        PersonFinder(tables, schemas, engine.key_type).check()
        yield Inspection(engine), schemas
    finally:
        engine.close()


class _Progress:
    """What was found so far, and the time that is left."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds
        self.facts: dict[str, dict[str, Any]] = {}
        self._findings: list[Finding] = []
        self._unchecked: list[str] = []

    def late(self) -> bool:
        """Whether the time limit was reached."""
        return self._end is not None and time.monotonic() > self._end

    def run(self, words: str, work: Check) -> None:
        """Run one check, unless it is too late."""
        if self.late():
            self._unchecked.append(f"{words}, for lack of time")
            return
        try:
            self._findings += work()
        except EngineError:
            self._unchecked.append(f"{words}, which this engine could not do (or not in time)")

    def report(self) -> Report:
        """All of it."""
        return Report(self.facts, tuple(self._findings), tuple(self._unchecked))
