"""The gateway: datasets behind budgets, and what callers may do with them. Everything here blocks.

The process that serves HTTP has one for public facts and the ledger; what a caller wrote is parsed and computed by
those of its executors alone (`tacit.serve.work`).

PROMISE. An analyst sees public facts, costs, and answers that were paid for; nothing else, in no message.
PROOF. The only way to data is the query that the analyst's own session makes of SQL, which charges first
(tacit.tables.releasing.releaser); all else here reads the configuration and the ledger, which hold no data.

A question that is sent again under the same key is the same `Message` to the budget: charged once, in the transaction
of the charge itself, whichever process it reaches. If the first is still being answered the second waits for it; if
its answer was lost in a crash, that is said and nothing more is charged. A question whose executor was ended is charged
and failed, and the gateway writes that down.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from typing import Any

from tacit.answers import Answer, Answers
from tacit.answers.storing import decode_answer
from tacit.budgets import Budget, Message, Receipt, Unanswered, Unsettled, filter_for
from tacit.errors import InvalidInput, TacitError
from tacit.forecasts import Forecast
from tacit.forecasts import plan as forecast
from tacit.guarantees import Guarantee
from tacit.ledger import Ledger, texts
from tacit.numbers.exact import exact
from tacit.serve.config import Access, Config, ServedDataset, connect_spark
from tacit.serve.history import History, Line
from tacit.serve.questions import SentQuestion, read_question
from tacit.serve.tokens import Caller
from tacit.tables import Private, Session
from tacit.tables.releasing.releaser import Releaser
from tacit.tables.sql.queries import Understood, understand

MOST_POINTS = 200
"""The most points of a drawing of the past."""
PATIENT = 0.8
"""The share of its own time for which a question waits for the same request's earlier one."""
GLANCE = 0.05
"""Seconds between two looks for an answer that another request is waiting for."""
TURN = 3.0
"""Seconds for which a question waits for the analyst's earlier ones, if all of them together could fail too often."""
MOST_PERSONS = 100_000
"""The most persons that a forecast makes up; more only make errors smaller."""


class NotHere(TacitError):
    """There is no such thing for this caller."""


class Gateway:
    """All datasets, opened."""

    def __init__(self, config: Config) -> None:
        self.config = config
        with ExitStack() as stack:
            self.ledger: Ledger = stack.enter_context(config.server.open_ledger())
            self._sessions = {
                name: stack.enter_context(self._open(dataset)) for name, dataset in config.datasets.items()
            }
            self._views = {
                (analyst, name): _view(self._sessions[name], analyst, access, config.server.share_answers)
                for analyst, allowed in config.analysts.items()
                for name, access in allowed.items()
            }
            self._histories = {name: History(self.ledger, name) for name in config.datasets}
            self._stack = stack.pop_all()

    def _open(self, dataset: ServedDataset) -> Session:
        try:
            session = Session(
                {key: connect_spark(table) for key, table in dataset.tables.items()},
                dataset.budget,
                composition=dataset.composition,
                name=dataset.name,
                ledger=self.ledger,
                timeout=float(self.config.limits.seconds) or None,
                max_rows=self.config.limits.rows,
                max_join_rows=self.config.limits.rows,
                expanding_joins=dataset.expanding_joins,
            )
            self._limit(session.budget)
            return session
        except TacitError as error:
            raise type(error)(f"dataset {dataset.name!r}: {error}") from None

    def check_sizes(self) -> None:
        """Say, to the custodian who starts the gateway, which tables are too large for every question."""
        for name, session in self._sessions.items():
            try:
                session._tables.verify_sizes()
            except TacitError as error:
                raise type(error)(f"dataset {name!r}: {error}") from None

    def _limit(self, budget: Budget) -> None:
        """Let the ledger hold every charge against the least price and the allowance of failures."""
        limits = self.config.limits
        policy = replace(budget.policy, least=exact(limits.least_price, "least_price"), failures=limits.failures)
        if policy != budget.policy:
            budget.amend(policy=policy)

    def close(self) -> None:
        """Close the data and the ledger."""
        self._stack.close()

    # Public facts

    def datasets(self, caller: Caller) -> list[str]:
        """The names of the datasets a caller may look at."""
        return list(self._sessions if caller.custodian else self.config.analysts[caller.name])

    def session(self, caller: Caller, name: str) -> Session:
        """A caller's session of a dataset; the custodian's can look at public facts."""
        found = self._sessions.get(name) if caller.custodian else self._views.get((caller.name, name))
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
        return {"name": name, "persons": self.config.datasets[name].persons, "tables": tables}

    def budget(self, caller: Caller, name: str) -> dict[str, Any]:
        """What a caller may spend, has spent, and has left, in view of everybody's budget."""
        budget = self.session(caller, name).budget
        return {
            "total": budget.total.text(),
            "spent": budget.spent.text(),
            "remaining": budget.remaining.text(),
            "composition": budget.composition,
            "least": None if budget.least is None else budget.least.text(),
            "failures_left": budget.failures_left,
            "words": repr(budget)[1:-1],
        }

    def columns(self) -> dict[str, dict[str, str]]:
        """The columns of all tables in words."""
        return {
            name: {table: str(session.schema(table)) for table in session.tables}
            for name, session in self._sessions.items()
        }

    # Questions

    def read_question(self, caller: Caller, name: str, body: object) -> SentQuestion:
        """Read a question as it was sent, and check its kind and size."""
        return read_question(body, self.session(caller, name), self.config.limits.query_characters)

    def preview(self, caller: Caller, name: str, question: SentQuestion) -> dict[str, Any]:
        """What a question would cost and whether it fits; nothing is spent."""
        seen = self._query(self.session(caller, name)._releaser, question).preview(question.fresh)
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
            "words": seen.words,
        }

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
        session = self.session(caller, name)
        if caller.custodian:
            raise NotHere("the custodian asks no questions here; use an analyst's token.")
        sender = sha256(f"{caller.name}\x00{key}".encode(errors="surrogatepass")).hexdigest()
        releaser = session._releaser.within(Message(sender, question.fingerprint) if key else None, heard)
        query = self._query(releaser, question)
        begins()
        turn = time.monotonic() + TURN
        while True:
            try:
                return query.ask(question.fresh)
            except Unanswered as waiting:
                if waiting.failed or time.monotonic() > end or datetime.now(UTC) - waiting.at > self._patience:
                    raise
                time.sleep(GLANCE)
            except Unsettled as waiting:
                if datetime.now(UTC) - waiting.at > self._patience:
                    raise waiting.lost from None
                if time.monotonic() > turn:
                    raise
                time.sleep(GLANCE)

    def record_failures(self, caller: Caller, name: str, charged: Sequence[Mapping[str, Any]]) -> None:
        """Write down that charges failed whose executor was ended, unless their outcome is there already."""
        budget = self.session(caller, name).budget
        states = {line.number: line.status for line in self.history(caller, name)} if charged else {}
        for each in charged:
            if states.get(each["number"]) == "charged":
                cost, account = texts.guarantee(each["cost"]), tuple(each["account"])
                receipt = Receipt(each["number"], cost, datetime.now(UTC), "", each["once"], account)
                budget.settle(receipt, None)

    def _query(self, releaser: Releaser, question: SentQuestion) -> Understood:
        """What a question asks; refuses what is too much for one."""
        query = understand(releaser, question.price(), question.keys)
        if len(query.statistics) > (most := self.config.limits.aggregates):
            raise InvalidInput(f"a question may have at most {most} different aggregates here; ask several questions.")
        return query

    @property
    def _patience(self) -> timedelta:
        """After this time a question without an outcome is lost: its executor was ended by then."""
        return timedelta(seconds=float(self.config.limits.question_seconds) + 5)

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
        account = self.session(caller, name).budget.account
        return self._histories[name].of(account)

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
        budget, lines = self.session(caller, name).budget, self.history(caller, name)
        rule = filter_for(budget.total, budget.composition)
        whole = _size(budget.total)
        chosen = sorted({len(lines) * i // MOST_POINTS for i in range(1, MOST_POINTS + 1)} - {0})
        left = [(n, _size(rule.remaining(texts.sums(lines[n - 1].sums)[0])) / whole) for n in chosen]
        return [(0, 1.0), *((n, max(0.0, share)) for n, share in left)]


@lru_cache(maxsize=512)
def _forecast(statistic: str, persons: int, epsilon: str, shape: str) -> Forecast:
    return forecast(statistic, persons=persons, epsilon=epsilon, shape=shape)


def _view(session: Session, analyst: str, access: Access, shared: bool) -> Session:
    """An analyst's view of a dataset, opened or found again; a limit that was changed in the file counts from now."""
    try:
        whole = session if access.share is None else session.share(access.share, analyst)
        view = whole.analyst(analyst)
        limit = access.limit or whole.budget.total
        if view.budget.total != limit:
            view.budget.amend(limit=limit)
    except TacitError as error:
        raise type(error)(f"analyst {analyst!r} of dataset {session.name!r}: {error}") from None
    return view if shared else view._with(view._releaser.apart())


def _size(amount: Guarantee) -> float:
    """The number that burns down: ε or ρ."""
    numbers: Mapping[str, Any] = vars(amount)
    return float(numbers.get("epsilon", numbers.get("rho", 0)))
