"""Datasets that are open: sessions of each dataset and analyst, which go along with what the custodian does.

The process that serves HTTP follows the custodian's acts as they are recorded in the ledger; executors serve what they
were told, and are replaced.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

from tacit.budgets import Budget
from tacit.errors import TacitError
from tacit.ledger import Ledger
from tacit.numbers.exact import exact
from tacit.serve.config import Access, Config, ServedDataset
from tacit.serve.custody.standing import Standing, overlay
from tacit.serve.history import History
from tacit.serve.sparks import connect_spark
from tacit.tables import Session


class Opened:
    """All datasets of a configuration, opened."""

    def __init__(self, config: Config, *, following: bool = True) -> None:
        """Open what a configuration says, with what the custodian did since where it is ``following`` the acts.

        Who follows gives analysts in the ledger the limits that they have now.
        """
        self.file, self.config, self._following = config, config, following
        self.standing = Standing()
        self._sessions: dict[str, Session] = {}
        self._views: dict[tuple[str, str], Session] = {}
        self._histories: dict[str, History] = {}
        self.unopened: dict[str, str] = {}
        with ExitStack() as stack:
            self.ledger: Ledger = stack.enter_context(config.server.open_ledger())
            self._stack = stack
            self.standing = self.standing.followed(self.ledger.acts())
            self.serve(overlay(config, self.standing) if following and self.standing.number else config)
            self._stack = stack.pop_all()

    def serve(self, config: Config) -> None:
        """Serve another configuration from now on, and open what it has besides; what is closed, is so at the end.

        A dataset that the file does not have and that cannot be opened is left out, with the reason in ``unopened``.
        """
        sessions, before = dict[str, Session](), self.config.datasets
        unopened: dict[str, str] = {}
        for name, dataset in config.datasets.items():
            if name in self._sessions and dataset == before.get(name):
                sessions[name] = self._sessions[name]
                continue
            try:
                sessions[name] = self._stack.enter_context(self._open(dataset))
            except TacitError as error:
                if self.file.datasets.get(name) == dataset or not self._following:
                    raise
                unopened[name] = str(error)
        self._views = {
            (analyst, name): _view(sessions[name], analyst, access, config.server.share_answers, settling=True)
            for analyst, allowed in config.analysts.items()
            for name, access in allowed.items()
            if name in sessions and self._following  # an executor opens those that it needs
        }
        self._histories = {name: self._histories.get(name) or History(self.ledger, name) for name in sessions}
        served = {name: dataset for name, dataset in config.datasets.items() if name in sessions}
        analysts = {
            analyst: {name: access for name, access in allowed.items() if name in sessions}
            for analyst, allowed in config.analysts.items()
        }
        self._sessions, self.unopened = sessions, unopened
        self.config = replace(config, datasets=served, analysts=analysts)

    def follow(self) -> bool:
        """Go along with what the custodian did since the last look; whether that was anything."""
        now = self.standing.followed(self.ledger.acts(self.standing.number))
        if now.number == self.standing.number:
            return False
        if self._following:
            self.serve(overlay(self.file, now))
        self.standing = now
        return True

    def _open(self, dataset: ServedDataset) -> Session:
        try:
            session = Session(
                {key: connect_spark(table) for key, table in dataset.tables.items()},
                dataset.periods or dataset.budget,
                composition=dataset.composition,
                name=dataset.name,
                ledger=self.ledger,
                version=dataset.version,
                period=dataset.period,
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

    def whole(self, name: str) -> Budget:
        """What all analysts of a dataset share, for the custodian."""
        return self._sessions[name].budget

    def budget_of(self, analyst: str, name: str) -> Budget:
        """An analyst's budget of a dataset, for the custodian."""
        return self._views[analyst, name].budget

    def columns(self) -> dict[str, dict[str, str]]:
        """The columns of all tables in words."""
        return {
            name: {table: str(session.schema(table)) for table in session.tables}
            for name, session in self._sessions.items()
        }

    def _view(self, analyst: str, name: str) -> Session | None:
        found = self._views.get((analyst, name))
        access = self.config.analysts.get(analyst, {}).get(name)
        if found is None and access is not None and not self._following:
            shared = self.config.server.share_answers
            found = _view(self._sessions[name], analyst, access, shared, settling=False)
            self._views[analyst, name] = found
        return found


def _view(session: Session, analyst: str, access: Access, shared: bool, settling: bool) -> Session:
    """An analyst's view of a dataset, opened or found again; a limit that was changed counts from now."""
    try:
        whole = session if access.share is None else session.share(access.share, analyst)
        view = whole.analyst(analyst)
        limit = access.limit or whole.budget.total
        if settling and view.budget.total != limit:
            view.budget.amend(limit=limit)
    except TacitError as error:
        raise type(error)(f"analyst {analyst!r} of dataset {session.name!r}: {error}") from None
    return view if shared else view._with(view._releaser.apart())
