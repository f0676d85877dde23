"""What an executor makes of answers of before: pages, files, comparisons, scripts. Nothing is asked or charged."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from typing import Any

from tacit.answers import Answer, Answers
from tacit.answers.results import Result, alone
from tacit.answers.sending import report
from tacit.answers.several import told, warned
from tacit.answers.values import plain
from tacit.errors import InvalidInput
from tacit.serve import answering, comparing
from tacit.serve.fragments import notice
from tacit.serve.gateway import Gateway, NotHere
from tacit.serve.repeating import Past, lines_of, look_back
from tacit.serve.script import notebook, script
from tacit.serve.tokens import Caller

Work = Mapping[str, Any]
Made = tuple[dict[str, Any], bytes]
NOTHING = "charged, and there is no answer."


def asked_before(gateway: Gateway, work: Work) -> list[Past]:
    """The questions that a piece of work is about."""
    caller, name = Caller(*work["caller"]), work["dataset"]
    return [look_back(gateway, caller, name, line) for line in lines_of(gateway, name, work["lines"])]


def page(gateway: Gateway, work: Work) -> Made:
    """An answer as HTML, with the facts that the page around it wants."""
    (past,) = asked_before(gateway, work)
    shown = notice("plain", NOTHING) if past.found is None else answering.to_keep(past.found)
    facts = {"amounts": past.amounts, "answered": past.found is not None}
    return facts, shown.encode(errors="replace")


def compare(gateway: Gateway, work: Work) -> Made:
    """Two answers beside each other, as HTML."""
    asked = asked_before(gateway, work)
    first, second = (past.found for past in asked)
    if first is None or second is None:
        raise NotHere("one of these has no answer; choose two that have.")
    pieces = [comparing.compare(first, second), answering.answer(first), answering.answer(second)]
    return {"costs": [past.cost.short() for past in asked]}, json.dumps(pieces).encode(errors="replace")


def file(gateway: Gateway, work: Work) -> Made:
    """An answer, or questions, as a file."""
    past = asked_before(gateway, work)
    name = work["file"].rpartition(".")[2]
    if name in _SCRIPTS:
        return {}, _SCRIPTS[name](work["address"], work["dataset"], past).encode(errors="replace")
    found = past[0].found
    if found is None:
        raise NotHere("charged, and there is no answer; there is nothing to download.")
    return {}, _FILES[name](past[0], found)


_SCRIPTS = {"py": script, "ipynb": notebook}


def _frame(found: Answer | Answers) -> Answers:
    return alone(found) if isinstance(found, Answer) else found


def _csv(past: Past, found: Answer | Answers) -> bytes:
    earlier = {} if (said := warned(found, "page")) is None else {"warning": said}
    records = [earlier | record for record in _frame(found)._records()]
    names = list(records[0]) if records else list(found.columns) if isinstance(found, Result) else []
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(map(_harmless, names))
    writer.writerows([_harmless(record[name]) for name in names] for record in records)
    return text.getvalue().encode(errors="replace")


def _harmless(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula."""
    text = isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{value}" if text else plain(value)


def _json(past: Past, found: Answer | Answers) -> bytes:
    facts = {"question": past.text, "asked": past.line.at} | report(found)
    return json.dumps(facts, ensure_ascii=False, allow_nan=False, indent=1).encode(errors="replace")


def _parquet(past: Past, found: Answer | Answers) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    buffer = io.BytesIO()
    try:
        facts = {"question": past.text, "words": told(found, "page")}
        written = {name.encode(): text.encode(errors="replace") for name, text in facts.items()}
        parquet.write_table(_frame(found).to_arrow().replace_schema_metadata(written), buffer)
    except (pa.ArrowException, TypeError, OverflowError):
        raise InvalidInput("these numbers have no common type in Parquet; take CSV or JSON.") from None
    return buffer.getvalue()


_FILES: dict[str, Callable[[Past, Answer | Answers], bytes]] = {"csv": _csv, "json": _json, "parquet": _parquet}
KINDS = {
    "csv": "text/csv",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
    "py": "text/x-python",
    "ipynb": "application/x-ipynb+json",
}
"""The files of an answer, with their media types."""
