"""Datasets that the custodian adds, changes or withdraws while the gateway runs.

What a dataset is stands in its act as settings, the same as the file would have them, with whole paths. A dataset is
opened, and its keys are compared with the rows, before anything is recorded. Files are named by whoever sits at the
machine only: a path tells what is on it, and a public table shows what is in a file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tacit.budgets import open_budget
from tacit.errors import InvalidInput, TacitError
from tacit.language.names import check_names
from tacit.serve import checking
from tacit.serve.config import NAME, ServedDataset, read_dataset
from tacit.serve.custody.actions import Act, Action, Desk, amount_of, settings_of
from tacit.serve.custody.standing import REVOKED, overlay
from tacit.tables import Private, Session

MOST_NAMES = 10
"""The most names that a sentence lists."""
_TABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")


@dataclass(frozen=True)
class AddDataset(Action):
    """Serve a file, or a table of a database, under a budget of its own."""

    key, final, local = "add dataset", True, True
    name: str
    source: str
    """A path, or an address such as postgresql://…"""
    person: str
    """The column that says whom a row is about; several with commas."""
    table: str = ""
    """What the table is called in SQL; the file's name without its ending, if nothing is said."""
    inside: str = ""
    """The table inside a database."""
    row_key: str = ""
    """The columns that no two rows share, with commas."""
    persons: str = ""
    """About how many persons there are, if that is public."""
    epsilon: str = ""
    delta: str = ""
    rho: str = ""
    composition: str = "basic"

    def settings(self, folder: Path) -> dict[str, Any]:
        """The dataset's settings as the file would have them."""
        budget = amount_of(self)
        if budget is None:
            raise InvalidInput("a dataset needs a budget; give epsilon, epsilon and delta, or rho.")
        persons = re.sub(r"(?<=[0-9])[ ,_'’](?=[0-9]{3})", "", self.persons)  # 60,000 as people write it
        if persons and not re.fullmatch(r"[0-9]{1,9}", persons):
            raise InvalidInput("persons must be a whole number such as 60000; write it without anything else.")
        where = self.source if "://" in self.source else str(folder / self.source)
        table: dict[str, Any] = {"source": where, "person": _listed(self.person)}
        table |= {"key": _listed(self.row_key)} if self.row_key else {}
        table |= {"table": self.inside} if self.inside else {}
        name = self.table or re.sub(r"\W", "_", Path(self.source).stem) or "data"
        if not _TABLE.fullmatch(name):
            raise InvalidInput("the table needs a name of letters, digits and '_'; give one.")
        more = {"persons": int(persons)} if persons else {}
        return {"budget": settings_of(budget), "composition": self.composition, "tables": {name: table}} | more

    def words(self, desk: Desk) -> str:
        """What would happen, after the table was opened."""
        gateway = desk.gateway
        if not NAME.fullmatch(self.name):
            raise InvalidInput("a name has letters, digits, '-', '_' and '.' only, at most 64; choose another.")
        if self.name in gateway.config.datasets or self.name in gateway.unopened:
            raise InvalidInput(f"there is a dataset {self.name!r} already; choose another name, or add a version.")
        served = read_dataset(self.name, self.settings(gateway.file.folder), gateway.file.folder)
        _no_other_budget(desk, served)
        columns = try_dataset(served)
        (table,) = served.tables
        budget = amount_of(self)
        assert budget is not None
        return (
            f"{self.name} is served: the table {table} with {len(columns[table])} columns, about each {self.person}, "
            f"with {budget.short()} for all questions that are ever asked. The budget stays as it is for good. "
            f"{self._who(desk)}"
        )

    def _who(self, desk: Desk) -> str:
        """Who may ask it without an invitation."""
        gateway = desk.gateway
        settings = {**gateway.standing.datasets, self.name: self.settings(gateway.file.folder)}
        after = overlay(gateway.file, replace(gateway.standing, datasets=settings))
        gone = {name for name, state in gateway.standing.states.items() if state == REVOKED}
        names = [name for name, allowed in after.analysts.items() if self.name in allowed and name not in gone]
        if not names:
            return "Nobody may ask it until you invite them."
        told = ", ".join(names[:MOST_NAMES]) + (f" and {left} more" if (left := len(names) - MOST_NAMES) > 0 else "")
        return f"At once it may be asked by those whom the file or an earlier act gave it: {told}."

    def act(self, desk: Desk) -> Act:
        """What is recorded."""
        return Act("dataset added", {"dataset": self.name, "settings": self.settings(desk.gateway.file.folder)})


@dataclass(frozen=True)
class AddVersion(Action):
    """Let a dataset go on with newer data, under a version's label and the same budget."""

    key, local = "add version", True
    name: str
    version: str
    source: str
    """Where the new data of the table are."""
    table: str = ""
    """Which table they are of; the only one, if nothing is said."""

    def settings(self, desk: Desk) -> dict[str, Any]:
        """The dataset's settings with the new version."""
        gateway = desk.gateway
        added, written = gateway.standing.datasets.get(self.name), gateway.file.settings.get("datasets", {})
        known: dict[str, Any] = json.loads(json.dumps(added or written[self.name], default=str))  # decimals as text
        tables = known.get("tables", {})
        if not self.table and len(tables) > 1:
            raise InvalidInput(f"say which table is new: {', '.join(tables)}.")
        table = self.table or next(iter(tables))
        if table not in tables:
            raise InvalidInput(f"{self.name!r} has no table {table!r}; there are {', '.join(tables)}.")
        where = self.source if "://" in self.source else str(gateway.file.folder / self.source)
        return known | {"version": self.version, "tables": tables | {table: tables[table] | {"source": where}}}

    def words(self, desk: Desk) -> str:
        """What would happen, after the data were opened."""
        desk.dataset(self.name)
        folder, before = desk.gateway.file.folder, desk.gateway.config.datasets[self.name]
        if before.version == self.version:
            raise InvalidInput(f"{self.name!r} is of version {self.version!r} already; give another label.")
        try_dataset(read_dataset(self.name, self.settings(desk), folder))
        return (
            f"{self.name} is of version {self.version} from now on. The budget goes on; answers of before stay those "
            "of their version."
        )

    def act(self, desk: Desk) -> Act:
        """What is recorded."""
        body = {"dataset": self.name, "version": self.version, "settings": self.settings(desk)}
        return Act("version added", body)


@dataclass(frozen=True)
class WithdrawDataset(Action):
    """Serve a dataset no more; its budget stays in the ledger."""

    key = "withdraw dataset"
    name: str

    def words(self, desk: Desk) -> str:
        """What would happen."""
        if self.name not in desk.gateway.unopened:
            desk.dataset(self.name)
        return f"Nobody can ask {self.name} any more; its history and what was spent stay in the ledger."

    def act(self, desk: Desk) -> Act:
        """What is recorded."""
        return Act("dataset withdrawn", {"dataset": self.name})


def _listed(text: str) -> str | list[str]:
    names = [name.strip() for name in text.split(",")]
    return names[0] if len(names) == 1 else names


def _no_other_budget(desk: Desk, served: ServedDataset) -> None:
    """Refuse a name that the ledger knows under another budget."""
    ledger = desk.gateway.ledger
    if served.name in ledger.names() and ledger.budget(served.name).total != served.budget:
        raise InvalidInput(
            f"the ledger knows {served.name!r} with {ledger.budget(served.name).total.short()}; give the same budget, "
            "which goes on where it stopped, or another name."
        )


def try_dataset(served: ServedDataset) -> Mapping[str, list[tuple[str, str]]]:
    """Open a dataset's tables and compare its keys with the rows; the columns of each table."""
    assert served.budget is not None
    try:
        with Session(dict(served.tables), open_budget(served.budget, served.composition)) as session:
            columns = {
                name: [(column, str(kind)) for column, kind in session.schema(name).columns] for name in session.tables
            }
        for listed in columns.values():
            check_names(name for name, _ in listed)
        found = checking.repeated_keys(served.tables)
    except TacitError as error:
        raise type(error)(f"dataset {served.name!r}: {error}") from None
    if found:
        raise InvalidInput(f"dataset {served.name!r}, {found}")
    if not any(isinstance(table, Private) for table in served.tables.values()):
        raise InvalidInput(f"dataset {served.name!r} has no table about persons; name the person's column.")
    return columns
