"""A session: tables, a budget that is charged before data is touched, and answers kept for the same question.

The one way from a question to an answer is `Session.ask`:
1. the statistic and the cost are checked on public facts (nothing spent if they are refused);
2. an answer already released to the same question at the same cost, or to the same message, is returned, free;
3. a read-only snapshot is opened, which touches no rows (nothing spent if the tables cannot be reached);
4. the budget is charged;
5. the engine is asked, noise is drawn, the answer is kept and returned.
Whatever fails after 4 has been paid: giving it back would tell what the data look like.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from tacit.answers import Answer, Answers
from tacit.answers.storing import decode_answer
from tacit.budgets import ONE_PART, Budget, Message, Question, Receipt, open_budget
from tacit.closing import Closing
from tacit.engines import FAILED, Engine, Snapshot, open_engine
from tacit.engines.requests import MAX_JOIN_ROWS, MAX_ROWS, Membership, Relation, key_repeats
from tacit.errors import EngineError, InvalidInput, UnsupportedQuery
from tacit.guarantees import Guarantee
from tacit.language.expressions import Cast, Column, Scope, expressions
from tacit.language.types import Schema
from tacit.numbers.exact import Number, whole
from tacit.randomness import SYSTEM
from tacit.randomness import Source as Randomness
from tacit.tables.face.declare import Columns, KeyNames, Private, Public, as_source, default_name
from tacit.tables.face.table import Table
from tacit.tables.face.waiting import waiting
from tacit.tables.releasing.charging import charged
from tacit.tables.releasing.costs import Cost
from tacit.tables.releasing.identity import identity
from tacit.tables.releasing.parts import Division, paying, tables_of
from tacit.tables.releasing.room import Room
from tacit.tables.releasing.sampling import Sampling
from tacit.tables.sql.expanding import Expanding, check_keys, known_keys, verify_keys, verify_sizes
from tacit.tables.sql.persons import Touching
from tacit.tables.sql.privacy_clause import priced
from tacit.tables.sql.views import View, ViewBuilder
from tacit.tables.statistics.base import Statistic

if TYPE_CHECKING:
    from tacit.ledger import Ledger


class Session(Closing):
    """Private and public tables under one budget."""

    def __init__(
        self,
        tables: Mapping[str, Private | Public],
        budget: Guarantee | Budget | None = None,
        *,
        composition: str = "basic",
        name: str | None = None,
        ledger: str | Path | Ledger | None = None,
        analyst: str = "",
        timeout: float | None = None,
        sample: Number | None = None,
        max_rows: int = MAX_ROWS,
        max_join_rows: int = MAX_JOIN_ROWS,
        expanding_joins: bool = True,
        randomness: Randomness = SYSTEM,
    ) -> None:
        """``sample`` is each person's chance to be asked, afresh for every question; costs are amplified by it.

        A question about rows of several persons that is left with more than ``max_rows`` rows fails, and what was
        charged stays charged. Such a failure tells that there are so many, exactly: whoever may ask with any filter can
        find out single rows by it, so it is for those who hold the data. No rule is known that would hide it: rows of
        several persons cannot be left out without moving others', and one person may add any number of them, so no
        noise hides a count. Where others ask, ``max_join_rows`` must be no larger than ``max_rows``, as in Serve: then
        the number of joined rows *before any filter* is compared, so the failure is the same for every question over
        the same joins, and ``max_rows`` cannot be reached any more, for fewer rows are left than were joined.

        Joins that public facts do not bound (`tacit.tables.sql.expanding`) are refused without ``expanding_joins``;
        with it, one that can have more than ``max_join_rows`` rows, by counts on its keys alone, fails before any row
        is made.
        """
        _check_tables(tables)
        self._max_rows = whole(max_rows, "max_rows", 1)
        most = whole(max_join_rows, "max_join_rows", 1)
        self._sampling = Sampling.of(sample)
        self._tables = dict(tables)
        self._engine: Engine = open_engine({key: table.source for key, table in self._tables.items()}, timeout)
        try:
            schemas = {key: self._engine.schema(key) for key in self._tables}
            self.touching = Touching(self._tables, schemas, self._engine.key_type)
            self.touching.check()
            check_keys(self._tables, schemas, self._engine.key_type)
            self._keys = known_keys(self._tables, self._engine.keys)
            self.expanding = Expanding(
                self._tables,
                self._keys,
                partial(key_repeats, self._engine),
                self._engine.key_type,
                allowed=expanding_joins,
                max_join_rows=most,
                max_rows=self._max_rows,
            )
            self._account = _budget(budget, composition, name, ledger, tuple(self._kinds()))
        except BaseException:
            self._engine.close()
            raise
        self.name = name
        self._analyst = analyst
        self._randomness = randomness
        self._owner = True
        self._members: tuple[Membership, ...] = ()
        self._divisions: tuple[Division, ...] = ()
        self._deciding: tuple[str, ...] = ()
        self._message: Message | None = None
        self._own_answers = False

    def _kinds(self) -> dict[str, None]:
        """The kinds of person that the private tables are about; without a name, the columns'."""
        declared = [p for t in self._tables.values() if isinstance(t, Private) for p in t.persons]
        return dict.fromkeys(person.kind or person.column for person in declared)

    def __getitem__(self, name: str) -> Table:
        """The private table of this name."""
        table = self._tables.get(name)
        if not isinstance(table, Private):
            known = ", ".join(key for key, value in self._tables.items() if isinstance(value, Private))
            raise InvalidInput(f"there is no private table {name!r}; the private tables are {known}.")
        scope = Scope.of(self._engine.schema(name), name)
        relation = ViewBuilder(self).relation(View(((name, name),), (), (), scope))
        return Table(self, relation, scope, table.unit)

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of all tables."""
        return tuple(self._tables)

    @property
    def budget(self) -> Budget:
        """What pays for questions; of a part, what was paid under the present version of the data, to look at only."""
        if not self._divisions:
            return self._account
        return paying(self._account, self._divisions, self._engine.version(self._deciding)).shown

    def schema(self, name: str) -> Schema:
        """The public facts of a table: names and types."""
        if name not in self._tables:
            raise InvalidInput(f"there is no table {name!r}; the tables are {', '.join(self._tables)}.")
        return self._engine.schema(name)

    def verify(self) -> None:
        """Look at the data, as their holder: are declared keys unique, and no tables too large for every question?

        Both are believed otherwise: opening a session reads no row. Whether this raises tells about rows.
        """
        verify_keys(self._engine, self._keys)
        self._verify_sizes()

    def _verify_sizes(self) -> None:
        private = [name for name, table in self._tables.items() if isinstance(table, Private)]
        verify_sizes(self._engine, {name: self[name]._relation for name in private})

    def declared(self, name: str) -> Private | Public:
        """How a table was declared."""
        return self._tables[name]

    def sql(
        self,
        query: str,
        *,
        keys: Any = None,
        **cost: Unpack[Cost],
    ) -> Answer | Answers:
        """Answer one SELECT with aggregates; what cannot be answered privately is refused before anything is spent.

        The cost is named by keywords, or inside the query by GoogleSQL's WITH DIFFERENTIAL_PRIVACY OPTIONS(…).
        """
        from tacit.tables.sql.queries import plan

        asked = priced(query, cost)
        return plan(self, asked, keys).ask(asked.fresh)

    def cost(
        self,
        query: str,
        *,
        keys: Any = None,
        **cost: Unpack[Cost],
    ) -> str:
        """What a question would cost and whether it fits, without spending anything."""
        from tacit.tables.sql.queries import plan

        asked = priced(query, cost)
        return plan(self, asked, keys).preview(asked.fresh)

    def ask(
        self, relation: Relation, statistic: Statistic, cost: Guarantee, *, fresh: bool = False, text: str = ""
    ) -> Answer | Answers:
        """Answer one statistic of one relation for one cost."""
        inside = self.check(relation, statistic, cost)
        question = self.question(relation, statistic, text)
        stored = self._account.repeated(question, cost) or (None if fresh else self._account.recall(question, cost))
        if stored is not None:
            return decode_answer(stored.answer).as_stored()
        with self._snapshot() as snapshot, waiting():
            sampling, protected = self._sampling, self.protected(relation)
            asked = relation if sampling is None else sampling.drawn(relation, self._randomness)
            room = Room(self._engine, snapshot, asked, self._randomness, inside, protected, self._max_rows)

            def release() -> Answer | Answers:
                found = statistic.release(room)
                return found if sampling is None else sampling.released(found, statistic, cost)

            if not self._divisions:
                return charged(self._account, cost, question, release)
            return self._charged_part(tables_of(relation), cost, question, release)

    def _charged_part(
        self, tables: tuple[str, ...], cost: Guarantee, question: Question, release: Callable[[], Answer | Answers]
    ) -> Answer | Answers:
        """An answer about a part, paid under the version of the data that all of its rounds saw."""
        version = self._engine.version(tables)

        def steady() -> Answer | Answers:
            found = release()
            if version is not None and self._engine.version(tables) != version:
                raise EngineError(FAILED)
            return found

        return charged(paying(self._account, self._divisions, version), cost, question, steady)

    def check(self, relation: Relation, statistic: Statistic, cost: Guarantee) -> Guarantee:
        """Refuse, before anything is spent, what cannot be answered; what may be spent on the persons asked."""
        inside = cost if self._sampling is None else self._sampling.inside(relation, statistic, cost)
        self._nobody_alone(relation, statistic)
        statistic.check(inside)
        statistic.suits(bool(relation.others))
        return inside

    def _nobody_alone(self, relation: Relation, statistic: Statistic) -> None:
        """Refuse groups that are single persons: none of them can be shown, and all would be paid for."""
        tables = {relation.alias: relation.table} | {join.alias: join.table for join in relation.joins}
        for expression in statistic.by:
            column = expression.operand if isinstance(expression, Cast) else expression
            if not isinstance(column, Column):
                continue
            declared = self._tables[tables[column.table]]
            if isinstance(declared, Private) and column.name in (person.column for person in declared.persons):
                raise UnsupportedQuery(
                    f"grouping by {column.name!r} would make one group of each person, and nobody is shown alone; "
                    "group by what persons have in common, or ask for all with per='person'."
                )

    @contextmanager
    def _snapshot(self) -> Iterator[Snapshot]:
        """A view of the tables, opened while nothing is charged yet."""
        with ExitStack() as stack:
            try:
                snapshot = stack.enter_context(self._engine.snapshot())
            except EngineError as error:
                raise EngineError(f"{error} Nothing was charged.") from None
            yield snapshot

    def question(self, relation: Relation, statistic: Statistic, text: str = "") -> Question:
        """What the budget is told about a question; a part's budget is told about that part's persons only."""
        if relation.members[: len(self._members)] != self._members:
            raise UnsupportedQuery(ONE_PART)
        columns = {f"{column.table}.{column.name}" for _, column in relation.persons}
        for expression in expressions((relation, statistic)):
            columns |= {f"{column.table}.{column.name}" for column in expression.columns()}
        return Question(
            identity=identity(relation, statistic, *([self._sampling] if self._sampling else [])),
            text=text or statistic.words,
            statistics=(statistic.key,),
            columns=tuple(sorted(columns)),
            analyst=self._analyst,
            message=self._message,
            owner=self.budget.account if self._own_answers else "",
        )

    def protected(self, relation: Relation) -> str:
        """Whom an answer about this relation protects."""
        kinds = dict.fromkeys(kind or column.name for kind, column in relation.persons)
        return f"any one {' or '.join(kinds)} with all their rows"

    def share(self, total: Guarantee, name: str) -> Session:
        """A session over the same tables with its own share of the budget, set apart now whether used or not."""
        return self._under(self.budget.share(total, name))

    def analyst(self, name: str, limit: Guarantee | None = None) -> Session:
        """One analyst's view: every charge counts here too and may not exceed ``limit`` altogether."""
        view = self._under(self.budget.analyst(name, limit))
        view._analyst = name
        return view

    def within(self, message: Message | None, heard: Callable[[Receipt], object] | None = None) -> Session:
        """A session for one message: what the same message asked and paid before is not charged again.

        ``heard`` is told of each charge once it is recorded.
        """
        view = self._under(self._account if heard is None else self._account.telling(heard))
        view._message = message
        return view

    def apart(self) -> Session:
        """A session whose answers are kept for its own account: what others asked is neither free here nor known."""
        view = self._under(self._account)
        view._own_answers = True
        return view

    def _part(self, division: Division, members: tuple[Membership, ...], deciding: tuple[str, ...]) -> Session:
        """A session for some persons only, who are told from the others by the rows of the ``deciding`` tables."""
        view = self._under(self._account)
        view._divisions, view._members, view._deciding = (*self._divisions, division), members, deciding
        return view

    def _under(self, budget: Budget) -> Session:
        view = copy(self)
        view._account, view._owner = budget, False
        return view

    def close(self) -> None:
        """Let go of files and connections; a share leaves them to the session it came from."""
        if self._owner:
            self._engine.close()

    def __repr__(self) -> str:
        sampled = f", {self._sampling}" if self._sampling else ""
        lines = [f"<Session, {self.budget!r}{sampled}"]
        for name, table in self._tables.items():
            lines.append(f"  {name} ({table}): {self._engine.schema(name)}")
        return "\n".join(lines) + ">"

    def _repr_html_(self) -> str:
        rows = "".join(
            "<tr>" + "".join(f"<td style='text-align:left'>{escape(cell)}</td>" for cell in cells) + "</tr>"
            for cells in ((name, str(table), str(self._engine.schema(name))) for name, table in self._tables.items())
        )
        return f"<table><tr><th>table</th><th></th><th>columns</th></tr>{rows}</table>{self.budget._repr_html_()}"


def _budget(
    budget: Guarantee | Budget | None,
    composition: str,
    name: str | None,
    ledger: str | Path | Ledger | None,
    kinds: tuple[str, ...],
) -> Budget:
    """A budget in memory, or the durable one of this name."""
    if isinstance(budget, Budget):
        return budget
    if ledger is not None:
        from tacit.ledger import open_ledger

        if name is None:
            raise InvalidInput("a ledger keeps budgets by name; give name= for this dataset.")
        return open_ledger(ledger).budget(name, budget, kinds=kinds, composition=composition)
    if budget is None:
        raise InvalidInput("give a budget such as budget=Pure(1), or a ledger and a name under which it has one.")
    return open_budget(budget, composition)


def _check_tables(tables: Mapping[str, Private | Public]) -> None:
    if not isinstance(tables, Mapping) or not any(isinstance(table, Private) for table in tables.values()):
        raise InvalidInput("tables must hold at least one Private table, such as {'orders': Private(…, person=…)}.")
    for name, table in tables.items():
        if not isinstance(name, str) or not name or not isinstance(table, Private | Public):
            raise InvalidInput("tables must map names to Private(…) or Public(…).")


def read(
    source: Any,
    person: str | Sequence[str],
    budget: Guarantee | Budget | None = None,
    *,
    table: str | None = None,
    name: str | None = None,
    ledger: str | Path | Ledger | None = None,
    analyst: str = "",
    schema: Columns | None = None,
    unit: Number | None = None,
    composition: str = "basic",
    timeout: float | None = None,
    sample: Number | None = None,
    max_rows: int = MAX_ROWS,
    max_join_rows: int = MAX_JOIN_ROWS,
    key: KeyNames | None = None,
    randomness: Randomness = SYSTEM,
    **options: Any,
) -> Table:
    """One private table under a budget of its own.

    ``source`` is a path (Parquet, CSV, JSON, a DuckDB file), a pandas or Polars frame, an Arrow table, an open DuckDB
    or psycopg connection, a string "postgresql://…", a Spark DataFrame or session; further options go to the reader.
    The table's name in SQL is ``table``, or the file's stem. A statement that takes longer than ``timeout`` seconds
    fails, and so does one whose rows concern several persons and are more than ``max_rows``, or whose joins multiply
    rows to more than ``max_join_rows``; what was charged stays charged. ``key`` as for `Private`. With ``sample``
    every question is asked of a fresh secret sample of the persons, each with this probability.
    """
    called = table or default_name(source)
    private = Private(source, person, key=key, table=table, schema=schema, unit=unit, **options)
    session = Session(
        {called: private},
        budget,
        composition=composition,
        name=name,
        ledger=ledger,
        analyst=analyst,
        timeout=timeout,
        sample=sample,
        max_rows=max_rows,
        max_join_rows=max_join_rows,
        randomness=randomness,
    )
    return session[called]


def schema(source: Any, *, table: str | None = None, **options: Any) -> Schema:
    """The public facts of a source as Tacit reads them, to be confirmed or corrected with ``schema=``."""
    key = table or default_name(source)
    engine = open_engine({key: as_source(source, table, None, options)})
    try:
        return engine.schema(key)
    finally:
        engine.close()
