"""Certificates: what was drawn for an answer and what it cost, for whoever wants to check it without Tacit.

A *release* is what one charge paid for: the laws that were drawn from, by name and with their public parameters, their
prices, what they drew, what that composes to, the charge, the values that were released, and the charge's place in the
ledger. An answer holds the releases that it was made of; `tacit.checker` says what is checked.

WHAT A CERTIFICATE TELLS  Everything in it is a function of public facts and of what was drawn. The charge is the price
of all draws together, whether or not the answer shows them, so a certificate may name each: it is post-processing of
what was paid for. Nothing else of the data may enter; `tests/tables/releasing/test_certifying.py` replays the same
draws on all small datasets, and the certificates are the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from tacit.errors import InvalidInput

FORM = "certificate 1"

Release = str
"""What one charge paid for, as JSON with sorted keys and no spaces: one text for one release."""

NONE = (
    "this answer has no certificate: it was released by a version of Tacit that gave none, or outside of tables; ask "
    "again with fresh=True, which costs its price."
)


def certificate_of(releases: Iterable[Release]) -> dict[str, Any]:
    """The certificate of an answer that was made of these releases."""
    found = read(releases)
    if not found:
        raise InvalidInput(NONE)
    return {"tacit": FORM, "releases": found, "digest": sha256(write(found).encode()).hexdigest()}


def together(parts: Iterable[tuple[Release, ...]]) -> tuple[Release, ...]:
    """All releases of some answers, each once."""
    return tuple(dict.fromkeys(release for releases in parts for release in releases))


def write(facts: Mapping[str, Any] | list[Any]) -> Release:
    """A release, or several, as text."""
    return json.dumps(facts, sort_keys=True, separators=(",", ":"))


def read(releases: Iterable[Release]) -> list[Any]:
    """Releases as plain values."""
    return [json.loads(release) for release in releases]
