"""The catalogue: every statistic, a line for each. Its own file says all about it.

A statistic's file holds its class, which computes it, and a class with the method that asks it and its `Entry`. Who
wants to know what there is, reads it here: tables and their groups inherit the methods; SQL, Serve, forecasts, policies
and the audit look up entries. `add` puts in a statistic of one's own while the program runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tacit.errors import InvalidInput
from tacit.tables.statistics.asking import AnswerT, Asking, Entry
from tacit.tables.statistics.base import Statistic
from tacit.tables.statistics.count import AsksCount
from tacit.tables.statistics.covariance import AsksCovariance
from tacit.tables.statistics.distinct import AsksDistinct
from tacit.tables.statistics.extremes import AsksExtremes
from tacit.tables.statistics.histogram import AsksHistogram
from tacit.tables.statistics.interquartile import AsksInterquartile
from tacit.tables.statistics.mean import AsksMean
from tacit.tables.statistics.mode import AsksMode
from tacit.tables.statistics.peaks import AsksPeaks
from tacit.tables.statistics.persons import AsksPersons
from tacit.tables.statistics.quantiles import AsksQuantiles
from tacit.tables.statistics.ratio import AsksRatio
from tacit.tables.statistics.regression import AsksRegression
from tacit.tables.statistics.sum import AsksSum
from tacit.tables.statistics.trimmed import AsksTrimmed
from tacit.tables.statistics.variance import AsksVariance


class Statistics(
    AsksPersons[AnswerT],
    AsksCount[AnswerT],
    AsksSum[AnswerT],
    AsksMean[AnswerT],
    AsksQuantiles[AnswerT],
    AsksExtremes[AnswerT],
    AsksVariance[AnswerT],
    AsksCovariance[AnswerT],
    AsksRegression[AnswerT],
    AsksDistinct[AnswerT],
    AsksRatio[AnswerT],
    AsksPeaks[AnswerT],
    AsksHistogram[AnswerT],
    AsksMode[AnswerT],
    AsksInterquartile[AnswerT],
    AsksTrimmed[AnswerT],
):
    """Everything that can be asked of a table, or of its groups."""


_added: list[type[Any]] = []


def entries() -> tuple[Entry, ...]:
    """What is known about each statistic, in the order of the list."""
    faces = [base for base in Statistics.__bases__ if issubclass(base, Asking)]
    return tuple(entry for face in (*faces, *_added) for entry in face._entries)


def add(face: type[Any]) -> None:
    """Put in the statistics of one more subclass of `Asking`: their methods, and what their entries say.

    No name may be there already: a method's, because it would replace another; a key, because policies allow by it;
    the head of an identity, because a stored answer of one statistic would answer another.
    """
    _check_names(face)
    for name, method in _methods(face):
        setattr(Statistics, name, method)
    _added.append(face)


def _check_names(face: type[Any]) -> None:
    from tacit.tables.face.grouping import GroupBy
    from tacit.tables.face.table import Table

    methods, own = [name for name, _ in _methods(face)], [entry.key for entry in face._entries]
    if len(set(own)) < len(own) or not set(own) <= set(methods):
        raise InvalidInput("each entry needs a key of its own and a method of that name.")
    if old := sorted(set(own) & {entry.key for entry in entries()}):
        raise InvalidInput(f"there is a statistic {old[0]!r}; choose another name.")
    if old := sorted(set(methods) & {*dir(Table), *dir(GroupBy)}):
        raise InvalidInput(f"tables have {old[0]!r} already; choose another name.")
    heads = {head(entry.statistic): entry.statistic for entry in entries()}
    aggregates = {name for entry in entries() for name in entry.sql}
    for entry in face._entries:
        if vars(entry.statistic).get("key", entry.policy) != entry.policy:
            raise InvalidInput(f"the statistic of {entry.key!r} has another key than its entry; policies need one.")
        if heads.setdefault(head(entry.statistic), entry.statistic) is not entry.statistic:
            raise InvalidInput(f"a statistic with the tag or key of {entry.key!r} is there already; choose another.")
        for name in entry.sql:
            if name in aggregates or not _is_aggregate(name):
                raise InvalidInput(f"{name!r} is there already or no name of an aggregate; choose one such as 'SKEW'.")


def head(statistic: type[Statistic]) -> str:
    """How identities of a statistic begin."""
    return statistic.tag or str(vars(statistic).get("key", ""))


def _is_aggregate(name: str) -> bool:
    """Whether SQL can call an aggregate by this name: a class of sqlglot's, or in capitals one it does not know."""
    from sqlglot import exp

    known = getattr(exp, name, None)
    if isinstance(known, type):
        return issubclass(known, exp.AggFunc)
    return name.isidentifier() and name == name.upper() and name not in exp.FUNCTION_BY_NAME


def remove(face: type[Any]) -> None:
    """Take out what `add` put in."""
    if face not in _added:
        raise InvalidInput("this was not added; there is nothing to take out.")
    _added.remove(face)
    for name, _ in _methods(face):
        delattr(Statistics, name)


def _methods(face: type[Any]) -> Iterator[tuple[str, Any]]:
    return ((name, item) for name, item in vars(face).items() if callable(item) and not name.startswith("_"))


def keys() -> frozenset[str]:
    """The names that ledgers and policies know."""
    return frozenset(entry.policy for entry in entries())


def asked_by(aggregate: str) -> Entry | None:
    """What an aggregate of SQL asks, by its name there."""
    return next((entry for entry in entries() if aggregate in entry.sql), None)


def callable_in_sql() -> dict[str, Entry]:
    """What can be written as a call of one column in SQL."""
    return {entry.key: entry for entry in entries() if entry.call and entry.of != "columns"}


def forecastable() -> dict[str, Entry]:
    """What `tacit.plan` can forecast."""
    return {entry.key: entry for entry in entries() if entry.made is not None and entry.made.planned}


def made_up() -> dict[str, Entry]:
    """What can be asked of made-up people, so that a preview can say which error to expect; by its key in ledgers."""
    found: dict[str, Entry] = {}
    for entry in entries():
        if entry.made is not None:
            found.setdefault(entry.policy, entry)
    return found


def forecast_of(statistic: Statistic) -> str | None:
    """The name under which the accuracy of a statistic can be forecast."""
    forecasts = forecastable().items()
    return next((k for k, entry in forecasts if type(statistic) is entry.statistic and statistic.key == k), None)


def groupable() -> list[str]:
    """What can be asked for each group."""
    return [entry.key for entry in entries() if entry.groupable]


def shared() -> list[str]:
    """What can be asked of rows that concern several persons."""
    return [entry.key for entry in entries() if entry.statistic.several]
