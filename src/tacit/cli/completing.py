"""What the shell offers while a word is typed: statistics, shapes, names to audit, and tables and columns of sources.

Nothing here may fail or print, and of a source only public facts are read: its tables, and their columns' names.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import typer

from tacit.errors import TacitError


def statistics(incomplete: str) -> list[str]:
    """What `tacit plan` forecasts."""
    from tacit.tables.statistics.catalogue import made_up

    return _fitting([*made_up(), "p25", "p75", "p90", "p99"], incomplete)


def shapes(incomplete: str) -> list[str]:
    """The shapes of made-up data."""
    from tacit.forecasts import SHAPES

    return _fitting(SHAPES, incomplete)


def audits(incomplete: str) -> list[str]:
    """What `tacit audit` can be asked for by one word: functions and statistics."""
    from tacit.audit.survey import choices

    return _fitting(choices(), incomplete)


def tables(context: typer.Context, incomplete: str) -> list[str]:
    """The tables of the sources before the word."""
    from tacit.cli.tables import Flags, find_places

    try:
        return _fitting(find_places(Flags(_sources(context))), incomplete)
    except TacitError:
        return []


def columns(context: typer.Context, incomplete: str) -> list[str]:
    """The columns of the files before the word."""
    import tacit

    found: dict[str, None] = {}
    for source in _sources(context):
        try:
            found |= dict.fromkeys(tacit.schema(source))
        except TacitError:  # a database of several tables, or no table at all
            continue
    return _fitting(found, incomplete)


def _sources(context: typer.Context) -> list[str]:
    """The files among the words before; as an option waits for its value, no word has found its place."""
    return [word for word in context.args if Path(word).is_file()]


def _fitting(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
