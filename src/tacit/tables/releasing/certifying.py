"""The certificate of a release, from what its room drew.

All draws of all statistics pass through `Room.draw`, which notes the law's own name (`Law.named`), its price and what
it drew. So a new mechanism has to name its law, and nothing else; one that does not is said not to be covered.

Nothing here may fail or depend on a row: whatever a law draws can be written, and where a value is the same as one that
was drawn, up to its unit and rounding, the certificate says so (`_traced`), otherwise that it was computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import ceil, floor
from typing import TYPE_CHECKING, Any

from tacit.answers import Answer, Answers
from tacit.answers.certificates import read, write
from tacit.answers.flows import CappedFlow
from tacit.answers.margins import Combined
from tacit.answers.quotients import Quotient, Share, Variance
from tacit.answers.sampled import SampledCount, SampledValue
from tacit.answers.storing import encode
from tacit.answers.totals import CappedTotal
from tacit.answers.values import plain
from tacit.guarantees import Approx, Guarantee, Zcdp
from tacit.guarantees.conversions import zcdp_order
from tacit.mechanisms.law import Law, Named
from tacit.mechanisms.local.propose_test_release import Release as Proposed
from tacit.mechanisms.search.bayesian_search import Searched
from tacit.mechanisms.totals.ratio_counts import Ratio

if TYPE_CHECKING:
    from tacit.budgets import Receipt
    from tacit.tables.releasing.room import Desk

EPOCH = datetime(1970, 1, 1)
COMPUTED = (Quotient, Share, Variance, Combined, SampledValue, SampledCount)
"""Errors of values that are computed from several draws, or scaled up from a sample."""
ROUNDINGS = {"even": round, "down": floor, "up": ceil}


@dataclass(frozen=True)
class Drawn:
    """One draw: from which law, about which part of the persons, and what came of it."""

    part: str
    law: Named | None
    price: Guarantee
    value: Any

    @classmethod
    def of(cls, part: str, law: Law[Any], value: Any) -> Drawn:
        """What a certificate says of a draw."""
        return cls(part, law.named(), law.guarantee, value)

    def plain(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {"part": self.part, "law": self.law, "price": self.price.text(), "drawn": written(self.value)}


def written(value: Any) -> Any:
    """Whatever a law draws, as JSON holds it: exact numbers as texts, all other values tagged."""
    match value:
        case None | bool():
            return value
        case int() | Fraction():
            return str(Fraction(value))
        case CappedTotal():
            numbers = {"cap": str(value.cap), "within": str(value.within), "above": str(value.above)}
            return {**numbers, "kind": "many" if value.many else "handful" if value.handful else "few"}
        case CappedFlow():
            return {"cap": str(value.cap), "value": str(value.value)}
        case Proposed():
            return {"value": str(value.value), "bound": str(value.bound)}
        case Searched():
            return {"value": str(value.value), "looks": written(value.looks)}
        case Ratio():
            counts = [str(count) for count in value.counts]  # two alone are noise on each; the share follows
            alone = len(counts) == 2 and value.method != "local"
            return counts if alone else {"value": str(value.value), "counts": counts}
        case frozenset():
            return [[written(part) for part in pair] for pair in _shown_keys(value)]
        case tuple():
            return [written(part) for part in value]
    return _key(value)


def _shown_keys(found: frozenset[Any]) -> list[Any]:
    """Keys and their counts, in an order that does not depend on the process."""
    return sorted(found, key=repr)


def _key(value: Any) -> Any:
    """A value found in the data and released, or what tells that it is none that JSON knows."""
    try:
        return {"value": encode(value)}
    except TypeError:
        return {"value": repr(type(value).__name__)}


def proof_hash() -> str:
    """The hash of the proofs of all mechanisms."""
    from tacit.proofs import fingerprint

    return fingerprint()


def released(found: Answer | Answers, room: Desk, inside: Guarantee, sample: Fraction | None) -> dict[str, Any]:
    """What is known of a release before it has a receipt.

    ``inside`` is what the draws may cost, which is the charge unless a ``sample`` of the persons was asked.
    """
    answers = list(found.items()) if isinstance(found, Answers) else [(None, found)]
    drawn, spent, order = room.drawn, room.spent, None
    if isinstance(spent, Zcdp) and isinstance(inside, Approx):
        order = str(zcdp_order(spent.rho, inside.delta))
    return {
        "draws": [draw.plain() for draw in drawn],
        "spent": spent.text(),
        "order": order,
        "sample": None if sample is None else str(sample),
        "values": [
            {
                "statistic": answer.statistic,
                "key": plain(key),
                "value": plain(answer.value),
                "from": _traced(answer, place, drawn),
            }
            for place, (key, answer) in enumerate(answers)
        ],
        "protected": room.protected,
        "private": room.private,
        "proofs": proof_hash(),
    }


def with_release(found: Answer | Answers, facts: dict[str, Any]) -> Answer | Answers:
    """Answers that hold the release they were made of."""
    releases = (write(facts),)
    if isinstance(found, Answer):
        return replace(found, releases=releases)
    answers = {key: replace(answer, releases=releases) for key, answer in found.items()}
    return Answers(answers, found.guarantee, found.name, releases)


def with_receipt(found: Answer | Answers, receipt: Receipt) -> Answer | Answers:
    """Answers whose release says what was charged for it, and where that is written down."""
    if not found.releases:
        return found
    (facts,) = read(found.releases)
    position = receipt.position
    paid = {
        "question": receipt.key,
        "charge": receipt.cost.text(),
        "ledger": None if position is None else position.to_dict(),
    }
    return with_release(found, facts | paid)


# ---- where a value comes from --------------------------------------------------------------------------------------


def _traced(answer: Answer, place: int, drawn: Sequence[Drawn]) -> dict[str, Any] | None:
    """The draw that a value is, up to unit and rounding, or two of which it is the difference; else it was computed."""
    if isinstance(answer.spread, COMPUTED):
        return None
    kind, step, scales = _forms(answer)
    want = plain(answer.value)
    for draws, at, x in _candidates(drawn, place) if kind else ():
        for scale, turn in product(scales, ROUNDINGS):
            if _shown(x * scale, kind, step, turn) == want:
                rule = {"draws": draws, "place": at, "times": str(scale), "step": str(step)}
                return {**rule, "as": kind, "round": turn}
    return None


def _candidates(drawn: Sequence[Drawn], place: int) -> Iterator[tuple[list[int], int, Fraction]]:
    """What was drawn last, of several numbers the one of this place; then its difference from the one of the same law.

    A cut is a position and no value, and what was drawn before is a cap, a test or a rough idea.
    """
    if not drawn or drawn[-1].law is None or "cut" in str(drawn[-1].law):
        return
    last, value = len(drawn) - 1, drawn[-1].value
    parts = [(place, value[place])] if type(value) is tuple and place < len(value) else [(0, value)]
    if isinstance(value, frozenset):
        parts = [(at, count) for at, (_, count) in enumerate(_shown_keys(value))]
    yield from (([last], at, x) for at, part in parts if (x := _amount(part)) is not None)
    same = [number for number, one in enumerate(drawn) if one.law and one.law["law"] == drawn[-1].law["law"]][-2:]
    first, second = (_amount(drawn[number].value) for number in (same[0], same[-1]))
    if len(same) == 2 and first is not None and second is not None:
        yield same, 0, first - second


def _amount(value: Any) -> Fraction | None:
    match value:
        case bool() | None:
            return None
        case int() | Fraction():
            return Fraction(value)
        case CappedTotal() | CappedFlow() | Proposed() | Searched():
            return Fraction(value.value)
    return None


def _forms(answer: Answer) -> tuple[str, Fraction, list[Fraction]]:
    """How a value is written, in which step, and what a drawn number may be multiplied by; "" where it is no number.

    A minimum is minus what was drawn, groups are drawn in parts of a unit, decimals may be drawn as numbers.
    """
    fine = getattr(getattr(answer.spread, "noise", None), "fine", 1)
    kinds = {int: "integer", Decimal: "decimal", float: "float", date: "date", datetime: "time"}
    kind, step, scales = kinds.get(type(answer.value), ""), _step(answer.unit), [Fraction(1, fine)]
    if isinstance(answer.value, Decimal):
        step = Fraction(10) ** int(answer.value.as_tuple().exponent)
    if step != 1:
        scales.append(1 / step)
    return kind, step, [sign * scale for scale in scales for sign in (1, -1)]


def _step(unit: str) -> Fraction:
    """The step that an answer states; 1 where values are those of a grid whose steps differ."""
    try:
        return Fraction(Decimal(unit))
    except ArithmeticError:
        return Fraction(1)


def _shown(x: Fraction, kind: str, step: Fraction, turn: str) -> Any:
    rounded: Any = ROUNDINGS[turn]
    try:
        match kind:
            case "integer":
                return rounded(x * step)
            case "decimal":
                return str(Decimal(rounded(x)) * (Decimal(step.numerator) / Decimal(step.denominator)))
            case "date":
                return str(EPOCH.date() + timedelta(days=rounded(x)))
            case "time":
                return str(EPOCH + timedelta(microseconds=rounded(x)))
        return float(x * step)
    except (ArithmeticError, ValueError):
        return None
