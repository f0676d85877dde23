"""`tacit verify`: check an answer from its certificate, and its place in a ledger."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from tacit import checker
from tacit.cli.speech import Json, say, say_json, working
from tacit.errors import InvalidInput

HELP = """Check an answer from its certificate alone: do the charges cover the laws, can the values be drawn from them?

The file is a certificate, or the output of tacit ask --json, or an answer of Tacit Serve. With a ledger it is also
checked that the charge stands there, and that the answer recorded for it has this certificate.

\b
Examples:
  tacit ask orders.csv --person customer --epsilon 0.5 \\
        --certificate answer.json "SELECT SUM(amount) FROM orders"
  tacit verify answer.json
  tacit verify answer.json --ledger ledger.db

Exit codes: 0 everything holds, 1 something does not, 5 what could be checked holds, but a law is not known to the
checker; 2 and 4 as everywhere."""


TAG = 12
"""So wide is the word before each line of a verdict."""


def verify(
    answer: Annotated[Path, typer.Argument(metavar="FILE", help="A certificate, or an answer that has one.")],
    ledger: Annotated[str | None, typer.Option(help="The ledger that must hold the charge.", metavar="FILE")] = None,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Check a certificate."""
    found = _read(answer)
    verdict = checker.check(found)
    if not verdict.wrong:
        certificate = found.get("certificate", found)
        verdict.wrong += _not_certified(found, certificate["releases"])
        if ledger is not None:
            with working("reading the ledger"):
                _check_ledger(ledger, certificate["releases"], verdict)
    if as_json:
        facts = {"checked": verdict.checked, "wrong": verdict.wrong, "not_covered": verdict.uncovered}
        say_json({"verified": verdict.code == checker.VERIFIED, **facts})
    else:
        say(str(verdict).replace("\n" + " " * TAG, " "), hanging=TAG)
    raise typer.Exit(verdict.code)


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise InvalidInput(f"{path} cannot be read; give the file with the answer.") from None
    except (ValueError, RecursionError):
        raise InvalidInput(f"{path} is no JSON; give a certificate, or what tacit ask --json printed.") from None
    if not isinstance(found, dict) or ("certificate" not in found and "tacit" not in found):
        raise InvalidInput(f"{path} holds no certificate; write one with tacit ask --certificate {path}.")
    if found.get("certificate", found) is None:
        raise InvalidInput(
            f"the answer in {path} has no certificate: it was released by a version of Tacit that gave none, or read "
            "public tables only; ask again to get one, which costs the question's price."
        )
    return found


def _not_certified(found: dict[str, Any], releases: list[Any]) -> Iterator[str]:
    """Values that an answer shows beside its certificate, as released, and that the certificate does not have."""
    from tacit.answers.computed import COMPUTED

    known = {json.dumps([value["statistic"], value["value"]]) for one in releases for value in one["values"]}
    shown = found.get("answer", found)
    for answer in shown.get("answers", [shown] if "statistic" in shown else []):
        alike = json.dumps([answer["statistic"], answer["value"]]) in known
        if not alike and answer["mechanism"] != COMPUTED:
            yield f"the {answer['statistic']} that is shown is not the one that the certificate names"


def _check_ledger(where: str, releases: list[Any], verdict: checker.Verdict) -> None:
    from tacit.ledger import open_ledger
    from tacit.ledger.positions import misplaced

    with open_ledger(where, read_only=True) as ledger:
        for release in releases:
            problems = list(misplaced(ledger, release))
            verdict.wrong += problems
            if not problems:
                at = release["ledger"]
                verdict.checked.append(
                    f"the charge is entry {at['entry']} of {at['dataset']!r} in the ledger, for this question at this "
                    "cost; its chain of hashes is whole, and the answer recorded for it has this certificate"
                )
