"""What people read of a ledger: a list of datasets, a page for the privacy officer, exports for other tools.

Everything here comes from the ledger alone: questions, costs and released answers, never data. All functions work on a
read-only view.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import reduce
from operator import add

from tacit.budgets import Calendar
from tacit.guarantees import Guarantee
from tacit.ledger import texts
from tacit.ledger.entries import Entry
from tacit.ledger.ledger import Ledger
from tacit.ledger.store import moment, stamp
from tacit.ledger.verify import verify


@dataclass(frozen=True)
class Charge:
    """One charged question, with what became of it."""

    number: int
    at: str
    who: str
    account: str
    cost: str
    text: str
    statistics: str
    columns: str
    status: str
    """"charged" (no answer recorded yet), "answered" or "failed"."""
    version: str = ""
    """The public label of the data's version, where they have one."""

    @property
    def guarantee(self) -> Guarantee:
        """The cost as a guarantee."""
        return texts.guarantee(self.cost)


def charges(ledger: Ledger, name: str) -> list[Charge]:
    """Every charged question of a dataset, oldest first, with its status."""
    outcomes: dict[int, str] = {}
    asked: list[Entry] = []
    for entry in ledger.history(name, answers=False):
        if entry.what == "charged":
            asked.append(entry)
        elif entry.what in ("answered", "failed"):
            outcomes[entry.body["charge"]] = entry.what
    return [_charge(entry, outcomes.get(entry.number, "charged")) for entry in asked]


def _charge(entry: Entry, status: str) -> Charge:
    body = entry.body
    return Charge(
        entry.number,
        stamp(entry.at),
        body["who"],
        body["account"],
        body["cost"],
        body.get("text", ""),
        ", ".join(body.get("statistics", ())),
        ", ".join(body.get("columns", ())),
        status,
        body.get("version", ""),
    )


def show(ledger: Ledger) -> str:
    """One line for each dataset: its budget, what is spent and what is left."""
    lines = []
    for name in ledger.names():
        dataset = ledger.dataset(name)
        rule, sums = dataset.root.filter, dataset.root.sums
        calendar = Calendar.find(ledger.budget(name))
        terms = f"{rule.describe()}, spent {rule.spent(sums)!r}, left {dataset.root.left!r}"
        terms = terms if calendar is None else calendar.describe()
        count = "1 entry" if dataset.entries == 1 else f"{dataset.entries} entries"
        lines.append(f"{name}: {terms}; {count}, the last at {moment(dataset.at).astimezone():%Y-%m-%d %H:%M}")
    return "\n".join(lines) or "The ledger has no datasets yet."


def history(ledger: Ledger, name: str) -> Iterator[str]:
    """What happened to a dataset, for people: a line for each question with its time here, cost and outcome.

    What one question was charged for in several parts stands on one line; acts on the budget have lines of their own.
    """
    outcomes: dict[int, str] = {}
    lines: list[list[Entry]] = []
    for entry in ledger.history(name, answers=False):
        if entry.what in ("answered", "failed"):
            outcomes[entry.body["charge"]] = entry.what
        elif lines and _continues(lines[-1], entry):
            lines[-1].append(entry)
        elif entry.what != "resumed":
            lines.append([entry])
    for parts in lines:
        line = f"{parts[0].at.astimezone():%Y-%m-%d %H:%M}  {_happened(parts, outcomes)}"
        yield "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in line)  # a terminal obeys


_SAME = ("text", "who", "account", "version")


def _continues(parts: list[Entry], entry: Entry) -> bool:
    """Whether an entry is a further part of the question before it: the same text, about something else."""
    if entry.what != "charged" or parts[0].what != "charged" or not entry.body.get("text"):
        return False
    keys = [part.body.get("key") for part in parts]
    return all(entry.body.get(x) == parts[0].body.get(x) for x in _SAME) and entry.body.get("key") not in keys


def _happened(parts: list[Entry], outcomes: dict[int, str]) -> str:
    """One line of a history, without its time."""
    body, what = parts[0].body, parts[0].what
    if what == "charged":
        costs = [texts.guarantee(part.body["cost"]) for part in parts]
        cost = reduce(add, costs) if len(set(map(type, costs))) == 1 else " + ".join(map(repr, costs))
        become = {outcomes.get(part.number, "no outcome") for part in parts}
        status = "answered" if become == {"answered"} else "failed" if "failed" in become else "no outcome"
        asked = " ".join(str(body.get("text") or ", ".join(body.get("statistics", ())) or "a question").split())
        account = f" ({body['account']})" if body.get("account") else ""
        return f"{cost if isinstance(cost, str) else repr(cost)}  {status}  {body['who']}{account}: {asked}"
    facts = {
        key: value for key, value in body.items() if key not in ("after", "key", "who", "tally", "literals", "link")
    }
    if "terms" in facts:
        facts["total"] = repr(texts.filter_from(facts.pop("terms")).total)
    if what == "registered":
        facts = {"protects": ", ".join(facts.pop("kinds", ())), **facts}
    told = ", ".join(f"{key} {_brief(value)}" for key, value in facts.items() if value not in ("", "{}", [], {}))
    by = f" by {body['who']}" if body.get("who") else ""
    return f"{what}{by}{f': {told}' if told else ''}"


def _brief(value: object) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 100 else f"{text[:99]}…"


def report(ledger: Ledger, name: str) -> str:
    """One page about a dataset for a privacy officer, in Markdown."""
    dataset, asked, checked = ledger.dataset(name), charges(ledger, name), verify(ledger, name)
    rule, sums, left = dataset.root.filter, dataset.root.sums, dataset.root.left
    status, calendar = Counter(charge.status for charge in asked), Calendar.find(ledger.budget(name))
    terms = (
        [f"- Budget: {rule.describe()}. {rule.total.describe()}", f"- Spent: {rule.spent(sums)!r}. Left: {left!r}."]
        if calendar is None
        else [f"- Budget: {calendar.describe()}.", *(f"- {sentence}" for sentence in calendar.holds.values())]
    )
    lines = [
        f"# Privacy report: {name}",
        "",
        f"- Protected: each {' and each '.join(dataset.kinds)}, with all their rows.",
        *terms,
        f"- Questions: {len(asked)} charged, of which {status['answered']} answered, {status['failed']} failed and "
        f"{status['charged']} without a recorded outcome.",
        f"- Policy: {_policy(texts.policy_text(dataset.root.policy))}",
        f"- Constants in questions: {'kept as written' if dataset.literals == 'keep' else 'replaced by ?'}.",
        f"- History: {'sound' if checked.sound else '; '.join(checked.problems)}; {checked.entries} entries, last hash "
        f"`{checked.head}` (note it elsewhere to detect a rewritten history).",
        "",
        *_table("Calendar", ("period", "limit", "spent", "left"), _periods(calendar)),
        *_table("Accounts", ("account", "total", "spent", "left"), _accounts(ledger, name)),
        *_table("By analyst", ("who", "questions", "sum of costs"), _by(asked, "who")),
        *_table("By statistic", ("statistic", "questions", "sum of costs"), _by(asked, "statistics")),
        *_table("Latest questions", ("at", "who", "cost", "question", "status"), _latest(asked)),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _policy(text: str) -> str:
    limits = json.loads(text)
    if not limits:
        return "no limits on single questions."
    words = {
        "largest": "largest cost of one question",
        "least": "least share of the budget for one question",
        "columns": "columns",
        "statistics": "statistics",
        "failures": "failures of each account until renewed",
        "dated": "charged to a period only",
    }
    return "; ".join(f"{words[key]}: {_brief(value)}" for key, value in limits.items()) + "."


def _periods(calendar: Calendar | None) -> list[tuple[str, ...]]:
    lines = () if calendar is None else calendar.lines
    return [(line.name, repr(line.limit), repr(line.spent), repr(line.left)) for line in lines]


def _accounts(ledger: Ledger, name: str) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [
        (key, repr(b.total), repr(b.spent), repr(b.remaining)) for key, b in ledger.accounts(name).items()
    ]
    return rows[:10] + ([(f"… and {len(rows) - 10} more", "", "", "")] if len(rows) > 10 else [])


def _by(asked: list[Charge], field: str) -> list[tuple[str, ...]]:
    """Questions and costs by who asked or by statistic, the ten largest groups first."""
    groups: dict[str, list[Charge]] = defaultdict(list)
    for charge in asked:
        groups[getattr(charge, field) or "(not stated)"].append(charge)
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    return [(key, str(len(group)), _sum(group)) for key, group in ordered[:10]]


def _sum(group: list[Charge]) -> str:
    """The costs of each kind, added number by number; a summary, not a promise."""
    totals: dict[str, list[Fraction]] = {}
    for charge in group:
        kind, vector = charge.guarantee.addends()
        totals[kind] = [a + b for a, b in zip(totals.get(kind, [Fraction(0)] * len(vector)), vector, strict=True)]
    return "; ".join(f"{kind} {' '.join(map(_number, numbers))}" for kind, numbers in sorted(totals.items()))


def _number(x: Fraction) -> str:
    return f"{float(x):.6g}"


def _latest(asked: list[Charge]) -> list[tuple[str, ...]]:
    return [(c.at[:19], c.who, c.cost, _brief(c.text), c.status) for c in reversed(asked[-10:])]


def _table(title: str, header: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    if not rows:
        return []
    cells = [header, ("---",) * len(header), *rows]
    return [f"## {title}", "", *("| " + " | ".join(map(_cell, row)) + " |" for row in cells), ""]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def to_csv(ledger: Ledger, name: str) -> str:
    """The charged questions as CSV."""
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(Charge.__dataclass_fields__), lineterminator="\n")
    writer.writeheader()
    for charge in charges(ledger, name):
        writer.writerow({key: harmless(value) for key, value in asdict(charge).items()})
    return out.getvalue()


def harmless(value: object) -> object:
    """A cell that a spreadsheet does not take for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value


def to_json(ledger: Ledger, name: str) -> str:
    """A dataset with its whole history as JSON."""
    dataset = ledger.dataset(name)
    entries = [
        {"number": e.number, "at": stamp(e.at), "what": e.what, "body": e.body, "hash": e.hash}
        for e in ledger.history(name)
    ]
    facts = {
        "name": dataset.name,
        "kinds": list(dataset.kinds),
        "terms": json.loads(texts.filter_text(dataset.root.filter)),
        "sums": texts.vector_text(dataset.root.sums),
        "policy": json.loads(texts.policy_text(dataset.root.policy)),
        "entries": entries,
        "head": dataset.head,
    }
    return json.dumps(facts, indent=2, ensure_ascii=False) + "\n"
