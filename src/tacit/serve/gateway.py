"""The gateway: datasets behind budgets, and what callers may do with them. Everything here blocks.

The process that serves HTTP has one for public facts and the ledger; what a caller wrote is parsed and computed by
those of its executors alone (`tacit.serve.work`).

PROMISE. An analyst sees public facts, costs, and answers that were paid for; nothing else, in no message.
PROOF. The only way to data is the query that the analyst's own session makes of SQL, which charges first
(tacit.tables.releasing.releaser); all else here reads the configuration and the ledger, which hold no data.

A question that is sent again under the same key is the same `Message` to the budget: charged once, in the transaction
of the charge itself, whichever process it reaches. If the first is still being answered the second waits for it; if
its answer was lost in a crash, it is taken up again under the same charge, once, as soon as the first cannot be alive
any more. A question whose executor was ended is charged and failed, and the gateway writes that down.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from typing import Any

from tacit.answers import Answer, Answers
from tacit.answers.storing import decode_answer
from tacit.budgets import Link, Message, Receipt, Unanswered, Unsettled, filter_for, open_budget
from tacit.errors import BudgetExceeded, InvalidInput, TacitError
from tacit.forecasts import Forecast
from tacit.forecasts import plan as forecast
from tacit.guarantees import Guarantee
from tacit.ledger import texts
from tacit.ledger.acts import acts_after
from tacit.ledger.store import Work as LedgerWork
from tacit.serve.config import Access
from tacit.serve.custody.standing import Request
from tacit.serve.history import History, Line
from tacit.serve.opened import Opened
from tacit.serve.questions import SentQuestion, read_question
from tacit.serve.running import Busy
from tacit.serve.tokens import Caller
from tacit.tables import Preview, Private, Session
from tacit.tables.releasing.releaser import Releaser
from tacit.tables.sql.queries import Understood, understand

MOST_POINTS = 200
"""The most points of a drawing of the past."""
PATIENT = 0.8
"""The share of its own time for which a question waits for the same request's earlier one."""
GLANCE = 0.05
"""Seconds between two looks for an answer that another request is waiting for."""
AFTER = 5.0
"""Seconds after the limit of a question at which nobody works on it any more, whatever happened."""
TURN = 3.0
"""Seconds for which a question waits for the analyst's earlier ones, if all of them together could fail too often."""
MOST_PERSONS = 100_000
"""The most persons that a forecast makes up; more only make errors smaller."""


LOST = (
    "this request was charged before and is still being answered, or its answer was lost; nothing more was charged: "
    "send it again under the same key in a minute, and it will be answered."
)
"""What is said about a request whose first attempt may still be alive."""
APPROVE = "A person must approve it first: ask the custodian to, or ask for less."
"""What to do about a question that may not be asked by itself."""


class NotHere(TacitError):
    """There is no such thing for this caller."""


class NeedsApproval(BudgetExceeded):
    """A question that costs more than may be asked without a person's approval; nothing was spent."""


class Gateway(Opened):
    """All datasets, opened, and what callers may do with them."""

    # Public facts

    def datasets(self, caller: Caller) -> list[str]:
        """The names of the datasets a caller may look at."""
        return list(self._sessions if caller.custodian else self.config.analysts.get(caller.name, ()))

    def session(self, caller: Caller, name: str) -> Session:
        """A caller's session of a dataset; the custodian's can look at public facts."""
        found = self._sessions.get(name) if caller.custodian else self._view(caller.name, name)
        if found is None:
            raise NotHere("there is no dataset of that name for you; see the list of datasets.")
        return found

    def facts(self, caller: Caller, name: str) -> dict[str, Any]:
        """Names, types and whom the tables are about."""
        session = self.session(caller, name)
        tables = []
        for table in session.tables:
            declared = session._tables.declared[table]
            tables.append(
                {
                    "name": table,
                    "private": isinstance(declared, Private),
                    "declared": str(declared),
                    "columns": [{"name": n, "type": str(kind)} for n, kind in session.schema(table).columns],
                }
            )
        labels = {"version": session.version, "period": session.period}
        facts = {"name": name, **labels, "persons": self.config.datasets[name].persons}
        return facts | {"tables": tables}

    def budget(self, caller: Caller, name: str) -> dict[str, Any]:
        """What a caller may spend, has spent, and has left, in view of everybody's budget."""
        session = self.session(caller, name)
        budget = session.budget
        return {
            "protection": session.protection(),
            "total": budget.total.text(),
            "spent": budget.spent.text(),
            "remaining": budget.remaining.text(),
            "composition": budget.composition,
            "least": None if budget.least is None else budget.least.text(),
            "failures_left": budget.failures_left,
            "words": repr(budget)[1:-1],
        }

    # Questions

    def read_question(self, caller: Caller, name: str, body: object) -> SentQuestion:
        """Read a question as it was sent, and check its kind and size."""
        return read_question(body, self.session(caller, name), self.config.limits.query_characters)

    def preview(self, caller: Caller, name: str, question: SentQuestion) -> dict[str, Any]:
        """What a question would cost and whether it fits; nothing is spent."""
        releaser, approved = self._releaser(caller, name, question)
        seen = self._query(releaser, question).preview(question.fresh)
        approval = not (seen.free or approved) and self.needs_approval(caller.name, name, seen.cost)
        return {
            "sql": question.sql,
            "cost": seen.asked.text(),
            "charge": seen.cost.text(),
            "fits": seen.fits,
            "free": seen.free,
            "remaining": seen.remaining.text(),
            "statistics": list(seen.statistics),
            "forecast": seen.forecast,
            "noise_std": seen.noise_std,
            "needs_approval": approval,
            "words": f"{seen.words} {APPROVE}" if approval else seen.words,
            "told": f"{_told(seen)} {APPROVE}" if approval else _told(seen),
            "parts": [vars(part) | {"cost": part.cost.text()} for part in seen.parts],
        }

    def needs_approval(self, analyst: str, dataset: str, cost: Guarantee) -> bool:
        """Whether a person must approve a question of this cost first; what cannot be compared needs it too."""
        above = self.config.analysts.get(analyst, {}).get(dataset, Access()).approve_above
        if above is None:
            return False
        try:
            return not open_budget(above).fits(cost)
        except InvalidInput:
            return True

    def ask(
        self,
        caller: Caller,
        name: str,
        question: SentQuestion,
        key: str = "",
        heard: Callable[[Receipt], object] | None = None,
        begins: Callable[[], object] = lambda: None,
    ) -> Answer | Answers:
        """The answer to a question, charged at most once for each key.

        ``begins`` is called before the first charge can be made, and ``heard`` is told of each.
        """
        end = time.monotonic() + PATIENT * float(self.config.limits.question_seconds)
        if caller.custodian:
            raise NotHere("the custodian asks no questions here; use an analyst's token.")
        releaser, approval = self._releaser(caller, name, question)
        sender, asked = f"{caller.name}\x00{key or secrets.token_hex(16)}", question.fingerprint
        if approval is not None:  # one message for all who ask it: the ledger charges each of its releases once
            sender, asked = f"\x00approval {approval.number}", question.identity
        hashed = sha256(sender.encode(errors="surrogatepass")).hexdigest()
        message = Message(hashed, asked, begun=datetime.now(UTC))
        query = self._query(releaser.within(message, heard), question)
        if approval is None:
            self._check_approval(caller, name, query, question)
        begins()
        turn = time.monotonic() + TURN
        while True:
            try:
                return query.ask(question.fresh)
            except Unanswered as waiting:
                lost = datetime.now(UTC) - self._patience
                if waiting.failed or (message.lost(waiting.at) and waiting.at < lost):
                    raise
                if waiting.at < lost:
                    message = replace(message, lost_before=lost)
                    query = self._query(releaser.within(message, heard), question)
                elif time.monotonic() > end:
                    raise Busy(LOST) from None
                else:
                    time.sleep(GLANCE)
            except Unsettled as waiting:
                if datetime.now(UTC) - waiting.at > self._patience:
                    raise waiting.lost from None
                if time.monotonic() > turn:
                    raise
                time.sleep(GLANCE)

    def _check_approval(self, caller: Caller, name: str, query: Understood, question: SentQuestion) -> None:
        """Refuse what needs a person's approval and has none; answers that were paid for stay free."""
        access = self.config.analysts.get(caller.name, {}).get(name, Access())
        if access.approve_above is None or (seen := query.preview(question.fresh)).free:
            return
        if self.needs_approval(caller.name, name, seen.cost):
            raise NeedsApproval(
                f"this costs more than {access.approve_above!r} at once, and nothing was spent. {APPROVE}"
            )

    def _releaser(self, caller: Caller, name: str, question: SentQuestion) -> tuple[Releaser, Request | None]:
        """Who answers a question, and the approval by which it is asked, if the custodian gave one.

        Every charge looks, in its own transaction, whether the caller is still admitted and the approval holds.
        """
        releaser = self.session(caller, name)._releaser
        if caller.custodian:
            return releaser, None
        self.follow()
        self.standing.check(caller, name, caller.token)
        approval = self.standing.approval(caller.name, name, question.identity)
        if approval is not None:
            releaser = releaser.approved(self.whole(name).analyst(approval.account))

        def guard(work: LedgerWork) -> None:
            now = self.standing.followed(acts_after(work, self.standing.number))
            now.check(caller, name, caller.token, approval.number if approval else 0)

        return releaser.paid_by(releaser.account.under(guard)), approval

    def record_failures(self, name: str, charged: Sequence[Mapping[str, Any]]) -> None:
        """Write down that charges failed whose executor was ended, unless their outcome is there already."""
        budget = self.ledger.budget(name)
        for each in charged:
            account = tuple(each["account"])
            known = self._histories.get(name) or History(self.ledger, name)  # it may be withdrawn meanwhile
            states = {line.number: line.status for line in known.of("/".join(account))}
            if states.get(each["number"]) == "charged":
                cost = texts.guarantee(each["cost"])
                now, taken_up = datetime.now(UTC), each["resumed"]
                receipt = Receipt(each["number"], cost, now, "", each["once"], account, resumed=taken_up)
                budget.settle(receipt, None)

    def understood(self, caller: Caller, name: str, question: SentQuestion) -> Understood:
        """What a caller's question asks; nothing is spent."""
        return self._query(self._releaser(caller, name, question)[0], question)

    def _query(self, releaser: Releaser, question: SentQuestion) -> Understood:
        """What a question asks; refuses what is too much for one."""
        query = understand(releaser, question.price(), question.keys)
        if len(query.statistics) > (most := self.config.limits.aggregates):
            raise InvalidInput(f"a question may have at most {most} different aggregates here; ask several questions.")
        return query

    @property
    def _patience(self) -> timedelta:
        """After this time a question without an outcome is lost: its executor was ended by then."""
        return timedelta(seconds=float(self.config.limits.question_seconds) + AFTER)

    def plan(self, name: str, statistic: str, persons: int | None, epsilon: str, shape: str) -> Forecast:
        """The accuracy to expect of made-up data."""
        count = persons or self.config.datasets[name].persons
        if count is None:
            raise InvalidInput("say about how many persons there are; the dataset does not state it.")
        if count > MOST_PERSONS:
            raise InvalidInput(f"persons must be at most {MOST_PERSONS:,}; more of them only make errors smaller.")
        return _forecast(statistic, count, epsilon, shape)

    def renew(self, name: str, account: str) -> None:
        """Reset an analyst's allowance of failures, for the custodian."""
        known = self.ledger.accounts(name) if name in self.config.datasets else {}
        if account not in known:
            raise NotHere("there is no such account; see the custodian's view.")
        known[account].renew()

    # The past

    def history(self, caller: Caller, name: str) -> list[Line]:
        """A caller's charged questions, oldest first."""
        own = self.session(caller, name).budget.account
        approved = (self._paid_by(each) for each in self.standing.requests_of(caller.name, name))
        return self._histories[name].of(own, *approved)

    def used(self, request: Request) -> bool:
        """Whether what was approved has been asked and paid for."""
        return request.dataset in self.config.datasets and bool(
            self._histories[request.dataset].of(self._paid_by(request))
        )

    def _paid_by(self, request: Request) -> str:
        """The account from which an approved question is paid."""
        above = self.whole(request.dataset).account
        word = f"{Link.ANALYST.value}:{request.account}"
        return f"{above}/{word}" if above else word

    def line(self, caller: Caller, name: str, number: int) -> Line:
        """A question that a caller paid for."""
        for line in self.history(caller, name):
            if line.number == number:
                return line
        raise NotHere("you have no question of that number; see your history.")

    def find_answer(self, name: str, outcome: int | None) -> Answer | Answers | None:
        """The answer in an entry of the ledger, as it was released; None where there is none."""
        entry = None if outcome is None else self.ledger.entry(name, outcome)
        stored = None if entry is None else entry.body.get("answer")
        return None if stored is None else decode_answer(stored).as_stored()

    def burn_down(self, caller: Caller, name: str) -> list[tuple[int, float]]:
        """The share of the caller's budget that was left after some numbers of questions, from none to all."""
        budget = self.session(caller, name).budget
        lines = self._histories[name].of(budget.account)
        rule = filter_for(budget.total, budget.composition)
        whole = _size(budget.total)
        chosen = sorted({len(lines) * i // MOST_POINTS for i in range(1, MOST_POINTS + 1)} - {0})
        left = [(n, _size(rule.remaining(texts.sums(lines[n - 1].sums)[0])) / whole) for n in chosen]
        return [(0, 1.0), *((n, max(0.0, share)) for n, share in left)]


@lru_cache(maxsize=512)
def _forecast(statistic: str, persons: int, epsilon: str, shape: str) -> Forecast:
    return forecast(statistic, persons=persons, epsilon=epsilon, shape=shape)


def _told(seen: Preview) -> str:
    """A preview in letters that people know."""
    words = ", ".join(seen.statistics)
    if seen.free:
        return f"{words}: {'answered before, so it' if seen.parts else 'only public tables are read, so it'} is free."
    paid = f"{words}: costs {seen.cost.short()}"
    if not seen.fits:
        return f"{paid}, but only {seen.remaining.short()} is left. Nothing was spent."
    return f"{paid} of the {seen.remaining.short()} left. Nothing was spent yet."


def _size(amount: Guarantee) -> float:
    """The number that burns down: ε or ρ."""
    numbers: Mapping[str, Any] = vars(amount)
    return float(numbers.get("epsilon", numbers.get("rho", 0)))
