"""Answers as plain JSON and back: the one form in which ledgers keep them and gateways send them.

CONTRACT  A stored answer outlives the version that wrote it, so this module keeps:

- *Tags.* Every value of Tacit is written as ``{"!": tag, field: …}``. Tags and fields stand in `FORMS` and nowhere
  else; they are never derived from the name of a class or from a `repr`, so classes can be renamed and moved. A tag
  means one thing for ever and is its own version: a class whose fields change their meaning gets a new tag.
- *Old ledgers.* Whatever a released version wrote can be read, and says what holds: the same value, and what is known
  about its error by the present version. `OLDER` reads tags that are no longer written. Fields that are missing have
  their defaults, which must stay what they meant; fields that are not known are left out, for what they said is
  worked out anew.
- *New ledgers.* An older version cannot read tags it does not know and says so (`UnknownForm`); it never guesses.

Numbers, texts, dates and times are exact: a Fraction or Decimal is written as text under its own tag, a float as JSON
writes it, which is exact as well. Nothing else is read or written, so a stored answer can hold nothing but these.

TO ADD A CLASS  that an answer may hold, add one line to `FORMS`, with a new tag. TO RENAME one, leave its line's tag
and fields as they are. TO CHANGE its fields, give it a new tag and move the old one to `OLDER` with a function that
reads it. `tests/answers/older_answers.json` holds answers of every kind as older versions wrote them; record new
kinds there before a release, and never change what it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Any

from tacit.answers import Answer, certificates
from tacit.answers.capped import CappedBelow, CappedSum
from tacit.answers.computed import Computed
from tacit.answers.flows import CappedFlow, Doubled, Scanned, Weighed
from tacit.answers.formulas import Calculation, Constant, Part
from tacit.answers.groups import Capped, CappedGroup, ShownCount
from tacit.answers.margins import Combined
from tacit.answers.moments import Correlation, Fitted, Gram, SecondMoment
from tacit.answers.nodes import Block
from tacit.answers.nonnegative import FromZero
from tacit.answers.order import Between, Changed, Fallen, FallenWithin, Inner, InnerOfGroup, Ranked
from tacit.answers.quotients import Quotient, Share, Variance
from tacit.answers.results import Result, known_cells, shaped
from tacit.answers.sampled import SampledCount, SampledValue
from tacit.answers.series import Chapter, Nodes, Series, SeriesError, Told
from tacit.answers.several import Answers
from tacit.answers.spreads import Additive, Chosen, Covers, Spread
from tacit.answers.totals import CappedTotal, TotalDesign
from tacit.errors import TacitError
from tacit.guarantees import Approx, Guarantee, Pure, Renyi, Zcdp
from tacit.noises import (
    Coarser,
    Difference,
    DiscreteGaussian,
    DiscreteLaplace,
    Lopsided,
    Noise,
    Rounded,
    TruncatedLaplace,
)
from tacit.numbers.exact import WHOLE, Unit

TAG = "!"


MALFORMED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
"""What reading something that nobody wrote may raise."""


class UnknownForm(TacitError):
    """What is read was written by a newer version of Tacit, or is no answer."""


@dataclass(frozen=True)
class Form:
    """How one class is written."""

    kind: Callable[..., Any]
    """The class; of a form that is only read, what makes the value of its fields."""
    fields: tuple[str, ...]


def _form(kind: Callable[..., Any], fields: str) -> Form:
    return Form(kind, tuple(fields.split()))


FORMS: dict[str, Form] = {
    "Answer": _form(
        Answer,
        "statistic value guarantee mechanism protected per unit spread cap notes private asked stored name version",
    ),
    # guarantees
    "Pure": _form(Pure, "epsilon"),
    "Approx": _form(Approx, "epsilon delta"),
    "Zcdp": _form(Zcdp, "rho"),
    "Renyi": _form(Renyi, "order epsilon"),
    # noises
    "DiscreteLaplace": _form(DiscreteLaplace, "rate"),
    "DiscreteGaussian": _form(DiscreteGaussian, "squared_scale"),
    "TruncatedLaplace": _form(TruncatedLaplace, "rate bound"),
    "Lopsided": _form(Lopsided, "up down"),
    "Difference": _form(Difference, "first second"),
    "Coarser": _form(Coarser, "noise fine"),
    "Rounded": _form(Rounded, "noise step"),
    # capped totals and what is public about them
    "LimitedTotal": _form(CappedTotal, "cap within above many epsilon design beyond handful"),
    "TotalDesign": _form(
        TotalDesign,
        "test size choice power threshold each offset counted allowed doubted stride handful handful_threshold "
        "handful_each handful_offset handful_stride beyond lifted "
        "scanned_lifted scanned_doubted",
    ),
    "CappedFlow": _form(CappedFlow, "cap value epsilon design"),
    "Weighed": _form(Weighed, "weight ratio parts least"),
    "Doubled": _form(Doubled, "weight ratio parts least"),
    "Scanned": _form(Scanned, "threshold each offset limit"),
    # spreads
    "Unit": _form(Unit, "step kind"),
    "Additive": _form(Additive, "noise unit covers"),
    "Capped": _form(Capped, "noise unit covers"),
    "CappedSum": _form(CappedSum, "noise unit covers"),
    "CappedGroup": _form(CappedGroup, "noise unit covers"),
    "CappedBelow": _form(CappedBelow, "noise unit covers"),
    "Combined": _form(Combined, "estimate variance largest unit covers"),
    "ShownCount": _form(ShownCount, "noise threshold"),
    "Share": _form(Share, "rest part rest_noise part_noise low high covers"),
    "Quotient": _form(Quotient, "top bottom top_noise bottom_noise unit offset"),
    "Variance": _form(Variance, "sums noise width root"),
    "SecondMoment": _form(SecondMoment, "top bottom top_noise bottom_noise unit means wanted"),
    "Gram": _form(Gram, "sums weights noise steps centres"),
    "Correlation": _form(Correlation, "gram squared"),
    "Fitted": _form(Fitted, "gram place"),
    "Inner": _form(Inner, "largest beyond inner"),
    "InnerOfGroup": _form(InnerOfGroup, "largest beyond inner"),
    "Fallen": _form(Fallen, "persons least"),
    "FallenWithin": _form(FallenWithin, "persons least most"),
    "Changed": _form(Changed, "persons within"),
    "Ranked": _form(Ranked, "epsilon size step what place"),
    "Between": _form(Between, "epsilon size step what place low high"),
    "Chosen": _form(Chosen, "inside among"),
    "FromZero": _form(FromZero, "inside released"),
    "Computed": _form(Computed, "formula parts"),
    # formulas
    "Part": _form(Part, "number"),
    "Constant": _form(Constant, "value"),
    "Calculation": _form(Calculation, "name operands"),
    "SampledValue": _form(SampledValue, "inside value probability scales"),
    "SampledCount": _form(SampledCount, "noise value probability"),
    # series
    "Series": _form(Told, "statistic name every start chapters protected unit per private asked stored"),
    "Chapter": _form(Chapter, "guarantee cap bins opened blocks totals cuts tolerated charge"),
    "Nodes": _form(Nodes, "amount moves concentrated totals"),
    "Block": _form(Block, "bins sizes weights"),
    "SeriesError": _form(SeriesError, "estimate variance largest unit covers caps"),
}
"""What is written, and read, under each tag."""


def _two_sided(above: Fraction, below: Fraction) -> Noise:
    """Discrete Laplace noise was written with a rate for either side."""
    return DiscreteLaplace(above) if above == below else Lopsided(above, below)


def _additive(noise: Noise, unit: Unit = WHOLE, covers: Covers = "truth") -> Spread:
    """The number of persons of a group that was found forgot that it is shown only above a threshold.

    Its noise is truncated at a bound R that the threshold exceeds by two, so the threshold can be told from it.
    """
    if isinstance(noise, TruncatedLaplace):
        return ShownCount(noise, noise.bound + 2)
    return Additive(noise, unit, covers)


OLDER: dict[str, Form] = {
    "CappedTotal": _form(CappedTotal, "cap within above many epsilon design"),  # persons above the cap counted apart
    "Design": _form(TotalDesign, "test size choice power threshold each offset counted allowed doubted"),
    "TwoSidedGeometric": _form(_two_sided, "above below"),
    "TruncatedNoise": _form(TruncatedLaplace, "rate bound"),
    "TotalNoise": _form(lambda drawn: drawn, "drawn"),  # a capped total is its own noise
    "Additive": _form(_additive, "noise unit covers"),
}
"""How values are read that earlier versions wrote otherwise."""

WHERE_SET = frozenset({"version"})
"""Fields that are written where they are set: answers without them are written as they always were."""

SHAPE = ("columns", "released", "by", "known")
"""What is written of a result beside its answers; versions that do not know it read the answers."""

_READ = FORMS | OLDER
_TAGS = {form.kind: tag for tag, form in FORMS.items()}


def _fraction(text: str) -> Fraction:
    """As `str` writes it: no exponent, whose size nobody has to pay for."""
    numerator, _, denominator = text.partition("/")
    return Fraction(int(numerator), int(denominator or 1))


_TEXTS: dict[str, Callable[[str], Any]] = {
    "Fraction": _fraction,
    "Decimal": Decimal,
    "float": float,
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
}


def encode(part: Any) -> Any:
    """Plain values from an answer, or from anything that an answer may hold; an answer with its releases, once each."""
    facts = _encode(part)
    if not isinstance(part, Answer | Answers) or not part.releases:
        return facts
    facts["releases"] = certificates.read(part.releases)
    if isinstance(part, Answers) and not isinstance(part, Series):
        places = {release: place for place, release in enumerate(part.releases)}
        facts["made of"] = [[places[one] for one in answer.releases if one in places] for answer in part.values()]
    return facts


def _encode(part: Any) -> Any:
    match part:
        case None | bool() | str():
            return part
        case int():
            return int(part)
        case float():
            return part if isfinite(part) else {TAG: "float", "text": repr(part)}
        case Fraction():
            return {TAG: "Fraction", "text": str(part)}
        case Decimal():
            return {TAG: "Decimal", "text": str(part)}
        case datetime():
            return {TAG: "datetime", "text": part.isoformat()}
        case date():
            return {TAG: "date", "text": part.isoformat()}
        case tuple():
            return {TAG: "tuple", "items": [_encode(item) for item in part]}
        case Series():
            return _encode(part.told)
        case Answers():
            pairs = [[_encode(key), _encode(answer)] for key, answer in part.items()]
            facts = {TAG: "Answers", "pairs": pairs, "guarantee": _encode(part.guarantee), "name": part.name}
            return facts | (_shape(part) if isinstance(part, Result) else {})
    tag = _TAGS.get(type(part))
    if tag is None:
        raise TypeError("an answer cannot hold a value of this class; add its form.")
    held = {name: getattr(part, name) for name in FORMS[tag].fields}
    return {TAG: tag} | {name: _encode(value) for name, value in held.items() if value or name not in WHERE_SET}


def _shape(result: Result) -> dict[str, Any]:
    found = (result.columns, result.released, result.by, known_cells(result))
    return {name: _encode(held) for name, held in zip(SHAPE, found, strict=True)}


def decode(part: Any) -> Any:
    """What `encode` wrote, or the `encode` of an earlier version."""
    if not isinstance(part, Mapping):
        return part
    tag = part[TAG]
    if tag in _TEXTS:
        return _TEXTS[tag](part["text"])
    if tag == "tuple":
        return tuple(decode(item) for item in part["items"])
    if tag == "Answers":
        answers = {decode(key): decode(answer) for key, answer in part["pairs"]}
        releases = _releases(part)
        for key, places in zip(answers, part.get("made of", ()), strict=False):
            answers[key] = replace(answers[key], releases=tuple(releases[place] for place in places))
        if "columns" in part:
            columns, released, by, known = (decode(part[name]) for name in SHAPE)
            return shaped(list(answers.values()), columns, released, by, known, decode(part["guarantee"]), releases)
        return Answers(answers, decode(part["guarantee"]), part["name"], releases)
    form = _READ.get(tag)
    if form is None:
        raise UnknownForm(
            "this answer was written by a newer version of Tacit; update Tacit, or pay again with fresh=True."
        )
    fields = {name: decode(part[name]) for name in form.fields if name in part}
    kind: Any = form.kind
    if kind is Answer:
        fields["releases"] = _releases(part)
    if isinstance(kind, type) and issubclass(kind, Guarantee) and not any(fields.values()):
        return kind.amount(*fields.values())  # what is free costs nothing
    return Series(kind(**fields), _releases(part)) if kind is Told else kind(**fields)


def _releases(part: Mapping[str, Any]) -> tuple[certificates.Release, ...]:
    """What an answer was made of; answers of before do not say."""
    return tuple(certificates.write(release) for release in part.get("releases", ()))


def decode_answer(stored: Mapping[str, Any]) -> Answer | Answers:
    """A whole answer that was stored or sent."""
    try:
        answer = decode(stored)
    except MALFORMED:
        answer = None
    if isinstance(answer, Answer):
        return answer
    if isinstance(answer, Answers) and all(isinstance(one, Answer) for one in answer.values()):
        return answer
    raise UnknownForm("what was stored or sent is no answer.")
