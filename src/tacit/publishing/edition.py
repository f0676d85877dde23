"""What is to be published: a TOML file with questions, a period, a cost and a folder.

The tables are those of a configuration, as `tacit serve` and `tacit ask` read it: in the file itself, under
``[datasets.NAME]``, or in another one that ``config`` names. Unknown settings are refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from tacit.errors import InvalidInput
from tacit.guarantees import Guarantee
from tacit.numbers.exact import positive
from tacit.serve.config import ServedDataset, read_settings
from tacit.serve.settings import Section, read_toml
from tacit.tables.releasing.room import cost_of

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_PLACE = "{period}"


@dataclass(frozen=True)
class Asked:
    """One question: SQL, or a method of a table by its name."""

    name: str
    title: str
    note: str = ""
    """A sentence for readers."""
    weight: Fraction = Fraction(1)
    sql: str = ""
    keys: tuple[Any, ...] | None = None
    """Public keys of GROUP BY."""
    table: str = ""
    call: str = ""
    """A statistic's method, such as "quantile" or "series"."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    filter: str = ""
    group_by: str = ""

    @property
    def words(self) -> str:
        """The question as it was asked."""
        if self.sql:
            return " ".join(self.sql.split())
        steps = [self.table, *([f"filter({self.filter!r})"] if self.filter else [])]
        steps += [f"group_by({self.group_by!r})"] if self.group_by else []
        given = ", ".join(f"{name}={_written(value)}" for name, value in self.arguments.items())
        return ".".join([*steps, f"{self.call}({given})"])


def _written(value: Any) -> str:
    """A setting as Python writes it, decimals as numbers."""
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    return str(value) if isinstance(value, Decimal) else repr(value)


@dataclass(frozen=True)
class Edition:
    """A publication of one period."""

    name: str
    title: str
    about: str
    period: str
    version: str
    folder: Path
    cost: Guarantee
    questions: tuple[Asked, ...]
    dataset: ServedDataset
    ledger: str


def read_edition(
    path: str | Path, *, period: str | None = None, version: str | None = None, folder: str | Path | None = None,
    ledger: str | None = None,
) -> Edition:  # fmt: skip
    """Read what is to be published; what is given here counts before what the file says.

    Args:
        path: the TOML file.
        period: the period, such as "2026".
        version: the label of the data's version; the period unless one is named.
        folder: where the files go.
        ledger: the ledger that keeps the budget and the answers.
    """
    file = Path(path)
    top = Section("the publication", read_toml(file))
    here = file.absolute().parent
    name = _named(top.text("name", file.stem), top.where)
    when = period or top.text("period", "")
    if not when:
        raise InvalidInput('a publication is about a period; write period = "2026", or give period=.')
    cost = cost_of(*(top.take(letter, None) for letter in ("epsilon", "delta", "rho")))
    questions = tuple(_question(key, section, when) for key, section in top.sections("questions").items())
    if not questions:
        raise InvalidInput("a publication needs questions, such as [questions.persons].")
    dataset = _dataset(top, here)
    place = Path(folder) if folder is not None else here / top.text("folder", f"{name}-{_PLACE}").replace(_PLACE, when)
    _ = top.text("folder", "-")
    kept = ledger or _beside(here, top.text("ledger", ""))
    if not kept:
        raise InvalidInput(
            "a publication needs a ledger, by which it is paid for once; write ledger = 'ledger.db' or give ledger=."
        )
    label = version or top.text("version", "") or when
    _ = (top.text("period", "-"), top.text("version", "-"), top.text("ledger", "-"))
    title, about = (top.text(key, default).replace(_PLACE, when) for key, default in (("title", name), ("about", "")))
    top.done()
    return Edition(name, title, about, when, label, place, cost, questions, dataset, kept)


def _beside(folder: Path, text: str) -> str:
    return text if not text or "://" in text else str(folder / text)


def _dataset(top: Section, here: Path) -> ServedDataset:
    """The dataset of the file itself, or of the configuration that it names."""
    wanted, config, own = top.text("dataset", ""), top.text("config", ""), top.take("datasets", None)
    if bool(config) == (own is not None):
        raise InvalidInput('say what the tables are: [datasets.NAME] here, or config = "tacit.toml", one of them.')
    if config:
        file = here / config
        found = read_settings(read_toml(file), file.absolute().parent, serving=False)
    else:
        found = read_settings({"datasets": own}, here, serving=False)
    if not wanted and len(found.datasets) > 1:
        raise InvalidInput(f'there are the datasets {", ".join(found.datasets)}; choose one with dataset = "…".')
    wanted = wanted or next(iter(found.datasets))
    if wanted not in found.datasets:
        raise InvalidInput(f"there is no dataset {wanted!r}; there are {', '.join(found.datasets)}.")
    return found.datasets[wanted]


def _question(name: str, section: Section, period: str) -> Asked:
    _named(name, section.where)
    title, note = (
        section.text(key, default).replace(_PLACE, period) for key, default in (("title", name), ("note", ""))
    )
    weight = positive(section.take("weight", 1), f"{section.where}: weight")
    sql, call = section.text("sql", "").replace(_PLACE, period), section.text("call", "")
    if bool(sql) == bool(call):
        raise InvalidInput(f"{section.where} needs sql, a SELECT, or call, a method of a table; one of them.")
    given = section.take("keys", None)
    if given is not None and not isinstance(given, list):
        raise InvalidInput(f"{section.where}: keys must be a list of public keys.")
    keys = None if given is None else tuple(tuple(key) if isinstance(key, list) else key for key in given)
    table = section.text("table", "") if sql else section.text("table")
    arguments = {
        name: value.replace(_PLACE, period) if isinstance(value, str) else value
        for name, value in section.mapping("with").items()
    }
    steps = {step: section.text(step, "").replace(_PLACE, period) for step in ("filter", "group_by")}
    section.done()
    if sql and (table or arguments or any(steps.values())):
        raise InvalidInput(f"{section.where}: table, with, filter and group_by go with call; write them in the SELECT.")
    return Asked(name, title, note, weight, sql, keys, table, call, arguments, **steps)


def _named(name: str, where: str) -> str:
    if not _NAME.fullmatch(name):
        raise InvalidInput(f"{where}: a name has letters, digits, '-' and '_' only, at most 64; it names files.")
    return name
