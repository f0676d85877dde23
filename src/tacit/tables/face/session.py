"""A session: tables, a budget that is charged before data is touched, and answers kept for the same question.

How a question becomes an answer is told in `tacit.tables.releasing.releaser`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from tacit.answers import Answer, Answers
from tacit.answers.report import Report
from tacit.budgets import Budget, Calendar, Period, Periods, open_budget
from tacit.closing import Closing
from tacit.engines.requests import MAX_JOIN_ROWS, MAX_ROWS
from tacit.errors import InvalidInput
from tacit.guarantees import Guarantee
from tacit.language.types import Schema
from tacit.numbers.exact import Number, whole
from tacit.randomness import SYSTEM, Randomness
from tacit.tables.face.declarations import Private, Public, as_label
from tacit.tables.face.preview import Preview, ReportPreview
from tacit.tables.face.selects import PreviewsSelects, Select, Weights
from tacit.tables.face.table import Table
from tacit.tables.releasing.releaser import Releaser
from tacit.tables.releasing.room import cost_of
from tacit.tables.releasing.sampling import Sampling
from tacit.tables.sql.open_tables import OpenTables
from tacit.tables.sql.privacy_clause import price
from tacit.tables.sql.views import ViewBuilder
from tacit.tables.statistics.asking import Amount

if TYPE_CHECKING:
    from tacit.ledger import Ledger
    from tacit.mechanisms.law import Law
    from tacit.tables.releasing.watch import Watch
    from tacit.tables.sql.queries import Understood

Questions = Mapping[str, str] | Sequence[str]
"""SELECTs by their names, or one after the other."""
Anew = bool | Sequence[str]
"""Whether to ask and pay again: all questions, or some by their names."""

PROTECTED = "any one person, as the law's own mechanism counts them"
"""Whom a law protects, as far as a session knows."""


class Session(PreviewsSelects, Closing):
    """Private and public tables under one budget.

    >>> shop = tacit.Session({"orders": Private(data, person="customer"), "regions": Public(regions)}, budget=Pure(1))
    >>> shop.sql("SELECT COUNT(*) FROM orders", epsilon=0.5)
    Answer(number of rows: ..., Pure(0.5))
    >>> shop.budget.remaining
    Pure(0.5)
    """

    _calendar: Calendar | None = None

    def __init__(
        self,
        tables: Mapping[str, Private | Public],
        budget: Guarantee | Budget | Periods | None = None,
        *,
        composition: str = "basic",
        name: str | None = None,
        ledger: str | Path | Ledger | None = None,
        analyst: str = "",
        version: str | None = None,
        period: str | None = None,
        timeout: float | None = None,
        sample: Number | None = None,
        max_rows: int = MAX_ROWS,
        max_join_rows: int = MAX_JOIN_ROWS,
        expanding_joins: bool = True,
        randomness: Randomness = SYSTEM,
    ) -> None:
        """Open tables under a budget; no row is read.

        Args:
            tables: the tables by their names in SQL, each a `Private` or a `Public`.
            budget: what all answers together may cost, such as ``Pure(1)``, or about each period (`Periods`); an open
                `Budget` is shared with others.
            composition: how costs add up: "basic", or "advanced", "tight" or "odometer" for an `Approx` budget.
            name: the name of the budget in a ledger.
            ledger: the file or address of a ledger, or an open one; it keeps the budget and the answers.
            analyst: who asks, for the ledger.
            version: a public label of the data as they are now, such as "2026-11"; an answer is stored for its version,
                and the next one is charged again. Without one a stored answer says when it was answered.
            period: the period whose rows are asked about and whose budget pays, such as "2026-11"; needed where the
                budget is by period. Tables that declare no ``date=`` are read whole.
            timeout: the most seconds that one statement may take.
            sample: the probability that a person is included, drawn anew for each question; a sample lowers the cost.
            max_rows: the most rows that a question about rows of several persons may be left with (see below).
            max_join_rows: the largest number of rows a join may produce.
            expanding_joins: whether to answer joins that public facts do not bound (`tacit.tables.sql.expanding`).
            randomness: where noise comes from; `tacit.randomness.seeded_not_private` is for tests.

        A question about rows of several persons that is left with more than ``max_rows`` rows fails, and what was
        charged stays charged. Such a failure tells exactly that there are more: whoever may ask with any filter can
        find out single rows by it, so it is for those who hold the data. No rule is known that would hide it: rows of
        several persons cannot be left out without moving others', and one person may add any number of them, so no
        noise hides a count. Where others ask, ``max_join_rows`` must be no larger than ``max_rows``, as in Serve: then
        the number of joined rows *before any filter* is compared, so the failure is the same for every question over
        the same joins, and ``max_rows`` cannot be reached any more, for fewer rows are left than were joined.

        With ``expanding_joins`` a join that can have more than ``max_join_rows`` rows, by counts on its keys alone,
        fails before any row is made.
        """
        most, joined = whole(max_rows, "max_rows", 1), whole(max_join_rows, "max_join_rows", 1)
        sampling, label = Sampling.of(sample), as_label(version, "version")
        self._tables = OpenTables(tables, timeout, expanding_joins=expanding_joins, max_join_rows=joined, max_rows=most)
        try:
            account = _open_account(budget, composition, name, ledger, self._tables.kinds)
            account = self._within(account, budget, period)
        except BaseException:
            self._tables.close()
            raise
        dated = self._tables.period.name if self._tables.period else ""
        self._releaser = Releaser(self._tables, account, randomness, sampling, most, analyst, label, dated)
        self._owner = True
        self.name = name

    def _within(self, account: Budget, budget: Guarantee | Budget | Periods | None, period: str | None) -> Budget:
        """The budget of a period, and from now on only its rows, where budgets are by period."""
        calendar = Calendar.open(account, budget) if isinstance(budget, Periods) else Calendar.find(account)
        if calendar is None and period is not None:
            raise InvalidInput(
                "period= is for budgets by period, such as budget=tacit.Periods('month', Pure(1), lifetime=Pure(6)); "
                "leave it out, or open one."
            )
        if calendar is None:
            return account
        own = calendar.within(account)
        if own is None and account.account:
            raise InvalidInput(f"nothing is paid outside of a {calendar.every} here; give the budget of one.")
        if period is not None and own not in (None, period):
            raise InvalidInput(f"this budget is for {own}, not for {period!r}; leave period= out.")
        asked = own or period
        if asked is None:
            raise InvalidInput(f"this budget is for each {calendar.every}; say which is asked about with period=.")
        self._calendar, self._tables.period = calendar, Period.of(asked, calendar.every)
        self._tables.check_dates()
        return calendar.period(asked) if own is None else account

    @property
    def period(self) -> str | None:
        """The period whose rows are asked about; None where budgets are not by period.

        >>> session.period is None
        True
        """
        return self._releaser.period or None

    @property
    def calendar(self) -> Calendar | None:
        """The periods of the budget; None where it has none.

        >>> session.calendar is None
        True
        """
        return self._calendar

    def protection(self) -> dict[str, str]:
        """What holds for whom, in sentences: an event, all rows of a period, and a person's lifetime.

        >>> for whom, sentence in session.protection().items():
        ...     print(f"{whom}: {sentence}")
        lifetime: Any one customer, with all their rows, is protected by Pure(...) for everything that is asked.
        """
        calendar, kinds = self._calendar, " or ".join(self._tables.kinds)
        if calendar is None:
            sentence = f"Any one {kinds}, with all their rows, is protected by {self.budget.whole.total!r}"
            return {"lifetime": f"{sentence} for everything that is asked."}
        whole = [name for name in self._tables.private_names if not self._tables.dated(name, name)]
        undated = {"undated": f"{', '.join(whole)} without a date: read whole in every {calendar.every}, so only the "
                   "sentence on a lifetime holds for these rows."} if whole else {}  # fmt: skip
        return calendar.holds | undated

    def __getitem__(self, name: str) -> Table:
        """The private table of this name."""
        if name not in self._tables.private_names:
            known = ", ".join(self._tables.private_names)
            raise InvalidInput(f"there is no private table {name!r}; the private tables are {known}.")
        declared = self._tables.declared[name]
        assert isinstance(declared, Private)
        views = ViewBuilder(self._tables)
        view = views.table(name)
        return Table(self, views.relation(view), view.scope, declared.unit)

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of all tables.

        >>> session.tables
        ('orders', 'regions')
        """
        return self._tables.names

    @property
    def version(self) -> str | None:
        """The public label of the version of the data; None where they have none.

        >>> session.version is None
        True
        """
        return self._releaser.version or None

    @property
    def budget(self) -> Budget:
        """What pays for questions. For a part of a table: what that part has paid on the current version of the data.

        >>> session.budget.remaining
        Pure(...)
        """
        return self._releaser.budget

    def schema(self, name: str) -> Schema:
        """The public facts of a table: names and types.

        Args:
            name: the table's name in SQL.

        >>> print(session.schema("regions"))
        region text, country text
        """
        return self._tables.schema(name)

    def verify(self) -> None:
        """Look at the rows, as their holder: raise if a declared key is not unique or a table is too large.

        Both are believed otherwise: opening a session reads no row. Whether this raises tells about rows.

        >>> session.verify()
        """
        self._tables.verify()

    def _answer(self, select: Select) -> Answer | Answers:
        return self._query(select).ask(select.fresh)

    def _preview(self, select: Select) -> Preview:
        return self._query(select).preview(select.fresh)

    def _query(self, select: Select) -> Understood:
        from tacit.tables.sql.queries import understand

        asked = price(select.query, select.epsilon, select.delta, select.rho)
        return understand(self._releaser, asked, select.keys, select.weights)

    @overload
    def report(
        self, queries: Questions, *, keys: Mapping[str, Any] | None = None, weights: Weights = None,
        epsilon: Amount = None, delta: Amount = None, rho: Amount = None, fresh: Anew = False,
        preview: Literal[False] = False,
    ) -> Report: ...  # fmt: skip

    @overload
    def report(
        self, queries: Questions, *, keys: Mapping[str, Any] | None = None, weights: Weights = None,
        epsilon: Amount = None, delta: Amount = None, rho: Amount = None, fresh: Anew = False, preview: Literal[True],
    ) -> ReportPreview: ...  # fmt: skip

    def report(
        self, queries: Questions, *, keys: Mapping[str, Any] | None = None, weights: Weights = None,
        epsilon: Amount = None, delta: Amount = None, rho: Amount = None, fresh: Anew = False, preview: bool = False,
    ) -> Report | ReportPreview:  # fmt: skip
        """Answer several SELECTs that are planned together: all of them, or none if they do not fit.

        What several questions ask of the same rows is released once, a mean beside its sum and count is their quotient,
        and groups are found once.

        Args:
            queries: the SELECTs by their names, or a list of them, which are then named "1", "2", ….
            keys: the public keys of GROUP BY, by the names of the questions.
            weights: how the cost is split: a positive number for some questions by their names, or a list with one for
                each; 1 unless named. A release weighs as much as the heaviest question that needs it.
            epsilon, delta, rho: what the whole report may cost: ε, or ε with δ, or ρ.
            fresh: ask and pay again even if the same was answered before; or the names of the questions to ask anew.
            preview: only say what would be released, what each release costs and how far off it will lie.

        >>> questions = {"rows": "SELECT COUNT(*) FROM orders", "mean": "SELECT AVG(amount) FROM orders"}
        >>> session.report(questions, epsilon=1)
        <Report of rows, mean: Pure(1)>
        """
        from tacit.tables.sql.report import plan_report

        planned = plan_report(self._releaser, queries, cost_of(epsilon, delta, rho), keys, weights)
        anew = planned.anew(fresh)
        return planned.preview(anew) if preview else planned.ask(anew)

    def release(self, law: Law[Any], text: str = "", *, protected: str = PROTECTED) -> Answer | Answers:
        """Draw once from a law of `tacit.mechanisms`, charged to this session's budget and recorded. For the trusted
        side: a law was made of data by whoever holds them, and its promise is only as good as its making.

        Args:
            law: what to draw from; its guarantee is the cost.
            text: what it is about, for the answer and the ledger; the law's own name if nothing is said.
            protected: whom its guarantee is about, in words.

        >>> from tacit.mechanisms import laplace
        >>> session.release(laplace(300, epsilon=1), "customers")
        Answer(customers: ..., Pure(1))
        """
        from tacit.tables.releasing.laws import release_law

        return release_law(self._releaser, law, text, protected)

    def above(self, threshold: int, *, epsilon: Amount) -> Watch:
        """Ask how many persons there are, again and again, until one number is above a threshold, for one ε.

        Args:
            threshold: the number of persons to be exceeded, which is public.
            epsilon: what all questions together cost; it is charged now.

        >>> with session.above(120, epsilon=1) as watch:
        ...     regions = [r for r in ("east", "north") if watch.open and watch.ask(orders.filter(f"region = '{r}'"))]
        """
        from tacit.tables.releasing.watch import Watch

        return Watch(self._releaser, threshold, epsilon)

    def share(self, total: Guarantee, name: str) -> Session:
        """A session over the same tables with its own share of the budget, set apart now whether used or not.

        Args:
            total: the size of the share.
            name: what the share is called; the same name finds it again.

        >>> interns = session.share(Pure("0.5"), "interns")
        >>> interns.budget.total
        Pure(0.5)
        """
        return self._with(self._releaser.paid_by(self.budget.share(total, name)))

    def analyst(self, name: str, limit: Guarantee | None = None) -> Session:
        """One analyst's view: every charge counts here too and may not exceed a limit altogether.

        Args:
            name: who asks.
            limit: the most that all of this analyst's questions may cost; without one only the budget limits them.

        >>> ada = session.analyst("ada", Pure(1))
        >>> ada.budget.total
        Pure(1)
        """
        view = self._releaser.paid_by(self.budget.analyst(name, limit))
        return self._with(replace(view, analyst=name))

    def _with(self, releaser: Releaser) -> Session:
        """A session over the same tables that another releaser answers; it leaves closing to this one."""
        view = copy(self)
        view._releaser, view._owner = releaser, False
        return view

    def close(self) -> None:
        """Close files and connections; closing a share leaves them open for its session.

        >>> session.share(Pure("0.1"), "briefly").close()
        """
        if self._owner:
            self._tables.close()

    def _lines(self) -> list[tuple[str, str, str]]:
        """For each table its name, how it was declared, and its columns."""
        tables = self._tables
        return [(name, str(tables.declared[name]), str(tables.schema(name))) for name in tables.names]

    def __repr__(self) -> str:
        sampling = self._releaser.sampling
        labels = {"version": self.version, "period": self.period}
        label = "".join(f", {name} {text}" for name, text in labels.items() if text)
        lines = [f"<Session, {self.budget!r}{label}{f', {sampling}' if sampling else ''}"]
        lines += [f"  {name} ({declared}): {columns}" for name, declared, columns in self._lines()]
        return "\n".join(lines) + ">"

    def _repr_html_(self) -> str:
        rows = "".join(
            "<tr>" + "".join(f"<td style='text-align:left'>{escape(cell)}</td>" for cell in cells) + "</tr>"
            for cells in self._lines()
        )
        return f"<table><tr><th>table</th><th></th><th>columns</th></tr>{rows}</table>{self.budget._repr_html_()}"


def _open_account(
    budget: Guarantee | Budget | Periods | None,
    composition: str,
    name: str | None,
    ledger: str | Path | Ledger | None,
    kinds: tuple[str, ...],
) -> Budget:
    """A budget in memory, or the durable one of this name."""
    if isinstance(budget, Budget):
        return budget
    budget = budget.above if isinstance(budget, Periods) else budget
    if ledger is not None:
        from tacit.ledger import open_ledger

        if name is None:
            raise InvalidInput("a ledger keeps budgets by name; give name= for this dataset.")
        return open_ledger(ledger).budget(name, budget, kinds=kinds, composition=composition)
    if budget is None:
        raise InvalidInput("give a budget such as budget=Pure(1), or a ledger and a name under which it has one.")
    return open_budget(budget, composition)
