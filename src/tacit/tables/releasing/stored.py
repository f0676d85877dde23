"""Answers as plain JSON values and back, so that the same question asked again returns what was released before.

Only classes that an answer is made of are written and read: frozen values of Tacit, numbers, dates and texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import cache
from math import isfinite
from typing import Any

from tacit.answers.answer import Answer, Answers
from tacit.answers.groups import ShownCount
from tacit.answers.spreads import Additive
from tacit.noises import Coarser, Difference, DiscreteGaussian, DiscreteLaplace, TruncatedLaplace

_KIND = "!"

_OLDER: dict[str, tuple[str, dict[str, str]]] = {
    "TwoSidedGeometric": ("DiscreteLaplace", {"above": "rate"}),
    "TruncatedNoise": ("TruncatedLaplace", {}),
}
"""Names that older answers were written with: the class now, and its fields' names now; both rates were the same."""


@cache
def _classes() -> dict[str, type]:
    from tacit.answers import capped, groups, order, quotients, sampled, spreads
    from tacit.guarantees import Approx, Pure, Renyi, Zcdp
    from tacit.mechanisms.totals.capped_flow import CappedFlow, Scanned, Weighed
    from tacit.mechanisms.totals.scan_and_release import CappedTotal, Design
    from tacit.numbers import units

    classes: list[type] = [Answer, Pure, Approx, Zcdp, Renyi, units.Unit, CappedTotal, Design]
    classes += [CappedFlow, Scanned, Weighed]
    classes += [Coarser, Difference, DiscreteGaussian, DiscreteLaplace, TruncatedLaplace]
    for module in (spreads, sampled, order, quotients, groups, capped):
        classes += [
            item
            for item in vars(module).values()
            if isinstance(item, type) and is_dataclass(item) and item.__module__ == module.__name__
        ]
    return {item.__name__: item for item in classes}


def encode(part: Any) -> Any:
    """Plain values from an answer."""
    if isinstance(part, Answers):
        pairs = [[encode(key), encode(answer)] for key, answer in part.items()]
        return {_KIND: "Answers", "pairs": pairs, "guarantee": encode(part.guarantee), "name": part.name}
    if isinstance(part, bool | str) or part is None:
        return part
    if isinstance(part, int):
        return int(part)
    if isinstance(part, float):
        return part if isfinite(part) else {_KIND: "float", "text": repr(part)}
    if isinstance(part, Fraction | Decimal):
        return {_KIND: type(part).__name__, "text": str(part)}
    if isinstance(part, date):
        return {_KIND: "datetime" if isinstance(part, datetime) else "date", "text": part.isoformat()}
    if isinstance(part, tuple):
        return {_KIND: "tuple", "items": [encode(item) for item in part]}
    name: str = type(part).__name__
    if not is_dataclass(part) or _classes().get(name) is not type(part):
        raise TypeError(f"an answer cannot hold a {name}")
    return {_KIND: name, **{item.name: encode(getattr(part, item.name)) for item in fields(part)}}


_TEXTS: dict[str, Any] = {
    "Fraction": Fraction,
    "Decimal": Decimal,
    "float": float,
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
}


def decode(part: Any) -> Any:
    """The answer that `encode` wrote."""
    if not isinstance(part, Mapping):
        return part
    kind = part[_KIND]
    if kind in _TEXTS:
        return _TEXTS[kind](part["text"])
    if kind == "tuple":
        return tuple(decode(item) for item in part["items"])
    if kind == "Answers":
        answers = {decode(key): decode(answer) for key, answer in part["pairs"]}
        return Answers(answers, decode(part["guarantee"]), part["name"])
    kind, renamed = _OLDER.get(kind, (kind, {}))
    found = _classes()[kind]
    known = {item.name for item in fields(found)}  # what an older answer said beside that is worked out anew
    named = ((renamed.get(name, name), item) for name, item in part.items())
    values = {name: decode(item) for name, item in named if name in known}
    if isinstance(values.get("noise"), TruncatedLaplace) and found is Additive:
        return ShownCount(values["noise"], values["noise"].bound + 2)  # an older answer forgot that it was shown
    return found(**values)
