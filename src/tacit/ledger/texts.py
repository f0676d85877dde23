"""How promises, sums and terms are written in a ledger: exact, short, and readable without Tacit.

A guarantee is its kind and its numbers ("Approx 1 1/1000000"), a vector its numbers ("1/2 0"), everything else JSON
with sorted keys. Reading inverts writing exactly; whatever cannot be read is reported as damage, never guessed.
"""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from tacit.budgets.accounts import Policy, statistics
from tacit.budgets.filters import Advanced, Basic, Concentrated, Filter, Rooted, Vector
from tacit.budgets.odometers import Metered
from tacit.budgets.tight import Squared, Tight
from tacit.errors import InvalidInput, LedgerError
from tacit.guarantees import Guarantee, Pure

_FILTERS: dict[str, type[Filter]] = {
    kind.__name__: kind for kind in (Basic, Concentrated, Advanced, Rooted, Squared, Metered, Tight)
}


def canonical(value: Any) -> str:
    """JSON with sorted keys, no spaces and plain ASCII: equal values, equal text, on every store."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def parsed(text: str) -> Any:
    """Read JSON."""
    try:
        return json.loads(text)
    except ValueError:
        raise _damaged() from None


def vector_text(vector: Vector) -> str:
    """Exact numbers, a space between them."""
    return " ".join(map(str, vector))


@lru_cache(maxsize=1024)
def vector(text: str) -> Vector:
    """Read `vector_text`."""
    try:
        return tuple(Fraction(word) for word in text.split(" "))
    except (ValueError, ZeroDivisionError):
        raise _damaged() from None


def sums_text(sums: Vector, short: Fraction) -> str:
    """An account's sums, and what charges fell short of a least price, if they did: "1/2 0+1/10"."""
    return vector_text(sums) + (f"+{short}" if short else "")


def sums(text: str) -> tuple[Vector, Fraction]:
    """Read `sums_text`."""
    own, _, short = text.partition("+")
    return vector(own), vector(short or "0")[0]


FREE = Pure.amount(Fraction(0))


@lru_cache(maxsize=1024)
def guarantee(text: str) -> Guarantee:
    """Read `Guarantee.text`; what is free, because it was paid for before, costs Pure(0)."""
    if text == FREE.text():
        return FREE
    try:
        return Guarantee.parse(text)
    except InvalidInput:
        raise _damaged() from None


def filter_text(rule: Filter) -> str:
    """The terms of a budget."""
    terms: dict[str, Any] = {"filter": type(rule).__name__, "limits": vector_text(rule.limits)}
    more = {"coin": rule.coin} if isinstance(rule, Tight) else {}
    return canonical(terms | {"total": rule.total.text()} | more)


@lru_cache(maxsize=256)
def filter_from(text: str) -> Filter:
    """Read `filter_text`."""
    try:
        terms = parsed(text)
        rule = _FILTERS[terms["filter"]](guarantee(terms["total"]), vector(terms["limits"]))
        return replace(rule, coin=int(terms["coin"])) if isinstance(rule, Tight) else rule
    except (KeyError, TypeError, ValueError):
        raise _damaged() from None


@lru_cache(maxsize=256)
def policy_text(policy: Policy) -> str:
    """What is limited, and nothing else."""
    limits: dict[str, Any] = {}
    if policy.largest is not None:
        limits["largest"] = policy.largest.text()
    if policy.columns is not None:
        limits["columns"] = sorted(policy.columns)
    if policy.statistics is not None:
        limits["statistics"] = sorted(policy.statistics)
    if policy.least is not None:
        limits["least"] = str(policy.least)
    if policy.failures is not None:
        limits["failures"] = policy.failures
    if policy.dated:
        limits["dated"] = True
    return canonical(limits)


@lru_cache(maxsize=256)
def policy_from(text: str) -> Policy:
    """Read `policy_text`."""
    try:
        limits = parsed(text)
        largest, columns, named = (limits.get(name) for name in ("largest", "columns", "statistics"))
        return Policy(
            None if largest is None else guarantee(largest),
            None if columns is None else frozenset(columns),
            None if named is None else frozenset(key for name in named for key in _statistics(name)),
            None if "least" not in limits else vector(limits["least"])[0],
            limits.get("failures"),
            limits.get("dated") is True,
        )
    except (AttributeError, TypeError, ValueError):
        raise _damaged() from None


def _statistics(name: str) -> tuple[str, ...]:
    """The statistics that a stored name allows.

    Policies of earlier versions were held against the names of classes, so some may have been stored. A name that
    means nothing allowed nothing, and still does not.
    """
    return (name,) if name in statistics() else _FORMER.get(name, ())


_FORMER = {
    "distinctvalues": ("nunique",),
    "extremum": ("max", "min"),
    "foundgroups": ("count", "mean", "persons", "sum"),
    "frequent": ("mode", "top"),
    "groupedmeans": ("mean",),
    "groupedtotals": ("count", "histogram", "persons", "sum"),
    "localquantile": ("quantile",),
    "maximumdegree": ("max_degree",),
    "modalcount": ("modal_count",),
    "moment": ("mean", "std", "variance"),
    "personcount": ("persons",),
    "quantiles": ("quantile",),
    "stablemode": ("mode",),
    "total": ("count", "sum"),
}


def _damaged() -> LedgerError:
    return LedgerError(
        "the ledger holds an entry that cannot be read, so it is damaged or was changed by hand; nothing was spent: "
        "run `tacit ledger verify` and restore a copy."
    )
