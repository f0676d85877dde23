"""Tacit: differentially private answers about personal data, without clipping bounds.

>>> import tacit
>>> orders = tacit.read("orders.parquet", person="customer", budget=tacit.Pure(2))
>>> orders.sum("amount", epsilon=0.5)

Names are loaded when first used, so that importing the package stays quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tacit.errors import BudgetExceeded, EngineError, InvalidInput, LedgerError, TacitError, UnsupportedQuery
from tacit.guarantees import Approx, Guarantee, Pure, Renyi, Zcdp

if TYPE_CHECKING:
    from tacit.answers import Answer, Answers, Interval
    from tacit.answers.results import Result
    from tacit.black_boxes.aggregation import sample_and_aggregate
    from tacit.black_boxes.selection import best_of
    from tacit.black_boxes.wrapping import wrap
    from tacit.budgets import Periods
    from tacit.forecasts import plan
    from tacit.serve.client import connect
    from tacit.tables import Preview, Private, Public, Session, Table, read, schema

__version__ = "0.1.0"

_HOMES = {
    "Answer": "tacit.answers.answer",
    "Answers": "tacit.answers.several",
    "Result": "tacit.answers.results",
    "Interval": "tacit.answers.answer",
    "Periods": "tacit.budgets.periods",
    "Preview": "tacit.tables",
    "Private": "tacit.tables",
    "Public": "tacit.tables",
    "Session": "tacit.tables",
    "Table": "tacit.tables",
    "best_of": "tacit.black_boxes.selection",
    "connect": "tacit.serve.client",
    "plan": "tacit.forecasts",
    "read": "tacit.tables",
    "sample_and_aggregate": "tacit.black_boxes.aggregation",
    "schema": "tacit.tables",
    "wrap": "tacit.black_boxes.wrapping",
}

_ROOMS = ("audit", "functions")
"""Packages that are at hand without an import of their own."""

__all__ = [
    "Answer",
    "Answers",
    "Approx",
    "BudgetExceeded",
    "EngineError",
    "Guarantee",
    "Interval",
    "InvalidInput",
    "LedgerError",
    "Periods",
    "Preview",
    "Private",
    "Public",
    "Pure",
    "Renyi",
    "Result",
    "Session",
    "Table",
    "TacitError",
    "UnsupportedQuery",
    "Zcdp",
    "__version__",
    "best_of",
    "connect",
    "plan",
    "read",
    "sample_and_aggregate",
    "schema",
    "wrap",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _ROOMS:
        return import_module(f"tacit.{name}")
    raise AttributeError(f"module 'tacit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


def _trade_off(*guarantees: Guarantee) -> Any:
    """The picture of guarantees."""
    from tacit import plots

    return plots.trade_off(*guarantees)


def _statistics() -> frozenset[str]:
    """The names that policies know: those of the catalogue, and of functions that are run on records of persons."""
    from tacit.tables.statistics import catalogue

    return catalogue.keys() | {"above", "function", "release", "sample_and_aggregate", "wrap"}
