"""The privacy statement of a publication, for programs: whom it protects, by what, and how that can be checked."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

from tacit import __version__
from tacit.answers.certificates import together
from tacit.guarantees import Guarantee

if TYPE_CHECKING:
    from tacit.publishing.asking import Published

FORM = "privacy statement 1"
NEIGHBOURS = (
    "Two datasets are neighbours if one has one person more, with all their rows; every person is protected, whoever "
    "they are and whatever else is known."
)


def releases_of(found: Published) -> list[Any]:
    """What was drawn and charged for the whole publication, each once."""
    return [json.loads(one) for one in together(result.releases for result in found.results.values())]


def spent_on(releases: Iterable[Any]) -> Guarantee | None:
    """What some releases were charged, together; None where that is nothing."""
    costs = [Guarantee.parse(release["charge"]) for release in releases]
    return reduce(add, costs) if costs else None


def statement(found: Published) -> dict[str, Any]:
    """Plain values, ready for JSON."""
    edition, releases = found.edition, releases_of(found)
    spent = spent_on(releases)
    answers = [answer for result in found.results.values() for answer in result.values()]
    places = [release["ledger"] for release in releases if release.get("ledger")]
    return {
        "tacit": FORM,
        "publication": {
            "name": edition.name,
            "title": edition.title,
            "period": edition.period,
            "answered": max((a.asked.astimezone(UTC).isoformat() for a in answers), default=None),
        },
        "units": {
            "protected": sorted({answer.protected for answer in answers}) or [f"any one {k}" for k in found.kinds],
            "kinds": list(found.kinds),
        },
        "neighbours": NEIGHBOURS,
        "guarantees": {
            "publication": None if spent is None else spent.text(),
            "meaning": None if spent is None else spent.describe(),
            "holds": found.protection,
        },
        "private": all(release["private"] for release in releases),
        "questions": [
            {
                "name": asked.name,
                "title": asked.title,
                "asked": asked.words,
                "cost": found.costs[asked.name].text(),
                "statistics": _distinct(answer.statistic for answer in found.results[asked.name].values()),
                "mechanisms": _distinct(answer.mechanism for answer in found.results[asked.name].values()),
                "laws": _laws(json.loads(one) for one in found.results[asked.name].releases),
                "intervals": _distinct(answer.interval().covers for answer in found.results[asked.name].values()),
                "files": [f"{asked.name}.csv", f"{asked.name}.parquet"],
            }
            for asked in edition.questions
        ],
        "versions": {
            "tacit": __version__,
            "data": edition.version,
            "period": edition.period,
            "proofs": _distinct(release["proofs"] for release in releases),
        },
        "ledger": {
            "identity": places[0]["ledger"] if places else None,
            "dataset": places[0]["dataset"] if places else None,
            "charges": [{"entry": place["entry"], "hash": place["hash"]} for place in places],
        },
        "certificate": "certificate.json",
    }


def _laws(releases: Iterable[Any]) -> list[str]:
    drawn = [draw["law"] for release in releases for draw in release["draws"]]
    return _distinct(law["law"] for law in drawn if law)


def _distinct(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))
