"""Copies of a gateway's memory: the ledger (with all acts), the audit log and the configuration, and the way back.

PROMISE. A copy is of one moment, whatever is charged meanwhile, and verifies. After `restore` no account has less spent
than at that moment; and what the log of today says was asked since is charged again, so that answers which people have
are paid for though the ledger forgot them.
PROOF. SQLite copies one snapshot. Sums in the copy are those of its moment, and afterwards are only added to. A
question is in the log with what it would cost, which is no less than what it was charged; those that ended before
anything could be charged are left out by their outcome, and all others are charged, up to the end of the budget.

An old copy that is simply put in the ledger's place is refused, because the head beside it is ahead of it
(`tacit.ledger.heads`); `restore` is how one says that it is meant.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tacit.budgets import Budget, Question
from tacit.errors import InvalidInput, LedgerError, TacitError
from tacit.guarantees import Guarantee
from tacit.ledger import Ledger, open_ledger, verify
from tacit.ledger.store import stamp
from tacit.serve.config import Config
from tacit.tables.releasing.room import cost_of

LEDGER, LOG, FILE = "ledger.db", "audit.jsonl", "tacit.toml"
"""What the parts of a backup are called."""
FREE = frozenset(("stored", "invalid_input", "unsupported_query", "budget_exceeded", "approval_needed")) | frozenset(
    ("failures_used_up", "busy", "not_found", "unknown_token", "forbidden", "charged_before")
)
"""Outcomes in the log of questions that were not charged."""


@dataclass(frozen=True)
class Backup:
    """What was copied, or put back."""

    folder: Path
    heads: dict[str, str]
    """The last hash of each dataset's history: note them elsewhere."""
    acts: int
    charged: int = 0
    """Questions that were charged again, because the log has them and the copy has not."""

    def __str__(self) -> str:
        lines = [f"{name}: the last hash is {head}" for name, head in self.heads.items()]
        return "\n".join([*lines, f"{self.acts} acts of custodians; everything verifies."])


def back_up(config: Config, path: Path, folder: Path) -> Backup:
    """Copy the ledger, the log and the configuration of a gateway, running or not, into a new folder."""
    try:
        folder.mkdir(mode=0o700, parents=True)
    except OSError:
        raise InvalidInput(f"{str(folder)!r} is there already, or cannot be made; name a new folder.") from None
    if "://" not in config.server.ledger:
        with config.server.open_ledger() as ledger:
            ledger.copy_to(folder / LEDGER)
    _copy(path, folder / FILE)
    if config.server.log != "-" and Path(config.server.log).exists():
        _copy(Path(config.server.log), folder / LOG, lines=True)
    return examine(folder)


def _copy(source: Path, target: Path, *, lines: bool = False) -> None:
    """A file that only this user can read; of a log that grows, whole lines."""
    text = source.read_bytes()
    kept = text[: text.rfind(b"\n") + 1] if lines else text
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(kept)
        file.flush()
        os.fsync(file.fileno())


def examine(folder: Path) -> Backup:
    """Verify a backup; raises if anything is wrong with it."""
    if not (folder / LEDGER).exists():
        return Backup(folder, {}, 0)
    with open_ledger(folder / LEDGER, read_only=True) as ledger:
        return Backup(folder, _verified(ledger), len(ledger.acts()))


def _verified(ledger: Ledger) -> dict[str, str]:
    problems, heads = list(ledger.verify_acts()), dict[str, str]()
    for name in ledger.names():
        found = verify(ledger, name)
        problems += [f"{name}: {problem}" for problem in found.problems]
        heads[name] = found.head
    if problems:
        raise LedgerError(f"the backup does not verify and was not used: {'; '.join(problems)}.")
    return heads


def restore(config: Config, folder: Path) -> Backup:
    """Put a backup's ledger in the place of the one that is lost, and charge again what the log says was asked since.

    The gateway must not run. What was in the ledger's place is kept beside it.
    """
    found = examine(folder)
    if not found.heads and not (folder / LEDGER).exists():
        raise InvalidInput("this backup holds no ledger; a PostgreSQL ledger is restored by its own tools.")
    place = Path(config.server.ledger)
    moment = _last_moment(folder / LEDGER)
    aside = f".before-{datetime.now(UTC):%Y%m%dT%H%M%S}"
    for suffix in ("", "-wal", "-shm", ".head"):
        old = place.with_name(place.name + suffix)
        if old.exists():
            os.replace(old, old.with_name(old.name + aside))
    shutil.copyfile(folder / LEDGER, place)
    os.chmod(place, 0o600)
    with open_ledger(place, create=False, accept=True) as ledger:
        charged = _charge_again(ledger, list(_asked(config.server.log, moment)))
        return Backup(folder, _verified(ledger), found.acts, charged)


def _last_moment(file: Path) -> str:
    """When the last entry of a copy was made."""
    with open_ledger(file, read_only=True) as ledger:
        acts = [stamp(entry.at) for entry in ledger.acts()]
        return max([*(ledger.dataset(name).at for name in ledger.names()), *acts[-1:]], default="")


def _asked(log: str, after: str) -> Iterator[dict[str, Any]]:
    """The questions of a log after a moment that may have been charged."""
    if log == "-" or not Path(log).exists():
        return
    with open(log, encoding="utf-8") as file:
        for line in file:
            try:
                said = json.loads(line)
            except ValueError:  # the last line of a process that died
                continue
            at = stamp(datetime.fromisoformat(said["at"]))
            if said.get("event") == "asked" and said.get("outcome") not in FREE and at[:23] >= after[:23]:
                yield said


def _charge_again(ledger: Ledger, asked: list[dict[str, Any]]) -> int:
    """Charge what a ledger forgot, as far as it fits."""
    done = 0
    for said in asked:
        name, analyst = said["dataset"], said["analyst"]
        if name not in ledger.names():
            continue
        text = f"asked after the backup, at {said['at']}; charged again from the log"
        question = Question(f"restored {said['at']} {analyst}", text, analyst=analyst)
        try:
            cost = cost_of(**{key: said["cost"].get(key) for key in ("epsilon", "delta", "rho")})
        except TacitError:  # the cost stood inside the SQL, which the log does not hold
            cost = ledger.budget(name).remaining
        done += _charged(ledger, name, analyst, cost, question)
    return done


def _account(ledger: Ledger, name: str, analyst: str) -> Budget:
    accounts = ledger.accounts(name)
    return next((each for key, each in accounts.items() if key.endswith(f"analyst:{analyst}")), ledger.budget(name))


def _charged(ledger: Ledger, name: str, analyst: str, cost: Guarantee, question: Question) -> bool:
    """Whether a cost was charged: to the analyst, else to the whole, else as much of the whole as is left."""
    whole = ledger.budget(name)
    for budget, amount in ((_account(ledger, name, analyst), cost), (whole, cost), (whole, whole.remaining)):
        try:
            budget.settle(budget.charge(amount, question), None)
            budget.renew()  # it is no failure of theirs
            return True
        except TacitError:
            continue
    return False
