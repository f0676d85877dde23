"""The one way from a statistic to its answer.

`Releaser.ask` goes through five steps:
1. the statistic and the cost are checked on public facts (nothing spent if they are refused);
2. an answer already released to the same question at the same cost, or to the same message, is returned, free;
3. a read-only snapshot is opened, which touches no rows (nothing spent if the tables cannot be reached);
4. the budget is charged;
5. the engine is asked, noise is drawn, the answer is kept and returned.
Whatever fails after 4 has been paid: giving it back would tell what the data look like.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from tacit.answers import Answer, Answers
from tacit.answers.storing import decode_answer, encode
from tacit.budgets import ONE_PART, Budget, Message, Question, Receipt, Unanswered
from tacit.engines import FAILED, Opening, Snapshot
from tacit.engines.requests import MAX_ROWS, Membership, Relation
from tacit.engines.requests.beside import Beside
from tacit.engines.requests.derived import NOBODY, Derived, PersonGroups, PersonRows, Union
from tacit.errors import EngineError, UnsupportedQuery
from tacit.guarantees import Guarantee
from tacit.language.expressions import Cast, Column, expressions
from tacit.randomness import SYSTEM, Randomness
from tacit.tables.releasing.certifying import proof_hash, released, with_receipt, with_release
from tacit.tables.releasing.identity import identity
from tacit.tables.releasing.parts import Division, paying, tables_of
from tacit.tables.releasing.room import Room
from tacit.tables.releasing.sampling import Sampling

if TYPE_CHECKING:
    from tacit.tables.sql.open_tables import OpenTables
    from tacit.tables.statistics.base import Statistic

T = TypeVar("T")


@dataclass(frozen=True)
class Releaser:
    """Checks a statistic, tells the budget what is asked, charges it, and releases the answer."""

    tables: OpenTables
    account: Budget
    """What pays; for a part of the persons, what all parts share."""
    randomness: Randomness = SYSTEM
    sampling: Sampling | None = None
    max_rows: int = MAX_ROWS
    analyst: str = ""
    version: str = ""
    """The public label of the version of the data; answers are found again within it."""
    period: str = ""
    """The period whose rows are asked about and whose budget pays, where there is a calendar."""
    divisions: tuple[Division, ...] = ()
    """The splits that this part of the persons comes from."""
    members: tuple[Membership, ...] = ()
    """Who is in this part."""
    deciding: tuple[str, ...] = ()
    """The tables whose rows say who is in this part."""
    message: Message | None = None
    """The message that a question came in, which may arrive twice."""
    continued: bool = False
    """Whether a charge that brought no answer pays for the next attempt (`tacit.ledger.attempts`)."""
    own_answers: bool = False
    """Whether only what this account asked before is free."""
    owner: str = ""
    """Whose answers they are, where another account pays for them."""
    opening: Opening | None = None
    """How snapshots are opened, where several statistics of the same rows are asked together."""

    @property
    def budget(self) -> Budget:
        """What pays for questions; of a part, what was paid under the present version of the data, to look at only."""
        if not self.divisions:
            return self.account
        return paying(self.account, self.divisions, self.tables.engine.version(self.deciding)).shown

    def ask(
        self, relation: Relation, statistic: Statistic, cost: Guarantee, *, fresh: bool = False, text: str = ""
    ) -> Answer | Answers:
        """Answer one statistic of one relation for one cost."""
        inside = self.check(relation, statistic, cost)
        question = replace(self.question(relation, statistic, text, cost), anew=fresh)
        stored = self.account.repeated(question, cost) or (None if fresh else self.account.recall(question, cost))
        if stored is not None:
            return decode_answer(stored.answer).as_stored()
        proof_hash()  # read once in a process: before anything is charged
        with self.together((statistic,), statistic.rereads) as mine, mine._snapshot() as snapshot, waiting():
            sampling, protected = self.sampling, protected_persons(relation)
            asked = relation if sampling is None else sampling.drawn(relation, self.randomness)
            room = Room(
                self.tables.engine,
                snapshot,
                asked,
                self.randomness,
                inside,
                protected,
                self.max_rows,
                self.tables.most_groups,
                mine.opening,
            )

            def release() -> Answer | Answers:
                answer = statistic.release(room)
                share = None if sampling is None else sampling.probability
                told = answer if sampling is None else sampling.released(answer, statistic, cost)
                return with_release(labelled(told, self.version), released(told, room, inside, share))

            if not self.divisions:
                return charge_and_release(self.account, cost, question, release)
            return self._ask_part(tables_of(relation), cost, question, release)

    def _ask_part(
        self, tables: tuple[str, ...], cost: Guarantee, question: Question, release: Callable[[], Answer | Answers]
    ) -> Answer | Answers:
        """An answer about a part, paid under the version of the data that all of its rounds saw."""
        engine = self.tables.engine
        version = engine.version(tables)

        def steady() -> Answer | Answers:
            answer = release()
            if version is not None and engine.version(tables) != version:
                raise EngineError(FAILED)
            return answer

        return charge_and_release(paying(self.account, self.divisions, version), cost, question, steady)

    def check(self, relation: Relation, statistic: Statistic, cost: Guarantee) -> Guarantee:
        """Refuse, before anything is spent, what cannot be answered; what may be spent on the persons asked."""
        inside = cost if self.sampling is None else self.sampling.inside(relation, statistic, cost)
        self._refuse_groups_of_one(relation, statistic)
        statistic.check(inside)
        statistic.suits(bool(relation.others))
        return inside

    def _refuse_groups_of_one(self, relation: Relation, statistic: Statistic) -> None:
        """Refuse groups that are single persons: none of them can be shown, and all would be paid for."""
        bare = [e.operand if isinstance(e, Cast) else e for e in statistic.by]
        columns = [column for column in bare if isinstance(column, Column)]
        alone = self.tables.persons.one_each(relation, columns)
        if alone is not None:
            name = (relation.origins(alone) or (("", alone.name),))[0][1]
            raise UnsupportedQuery(
                f"grouping by {name!r} would make one group of each person, and nobody is shown alone; write it as a "
                f"subquery with an aggregate over it: SELECT AVG(x) FROM (SELECT {name}, … AS x … GROUP BY {name}) AS p"
                "[[, or as .per_person(x=…).mean('x')]]."
            )

    @contextmanager
    def together(self, statistics: tuple[Statistic, ...], wanted: bool = True) -> Iterator[Releaser]:
        """For statistics that ask for the same rows several times, which an engine need not read anew each time."""
        if self.opening is not None or not wanted:
            yield self
            return
        rereading = () if all(statistic.by_totals for statistic in statistics) else statistics
        columns = {column for found in expressions(rereading) for column in found.columns()} - {NOBODY}
        totals = dict.fromkeys(total for statistic in statistics for total in statistic.totals)
        with _uncharged(self.tables.engine.together(Beside(frozenset(columns), tuple(totals)))) as opening:
            yield replace(self, opening=opening)

    def _snapshot(self) -> AbstractContextManager[Snapshot]:
        """A view of the tables, opened while nothing is charged yet."""
        return _uncharged((self.opening or self.tables.engine.snapshot)())

    def question(
        self, relation: Relation, statistic: Statistic, text: str = "", cost: Guarantee | None = None
    ) -> Question:
        """What the budget is told about a question; a part's budget is told about that part's persons only."""
        if not self._of_this_part(relation):
            raise UnsupportedQuery(ONE_PART)
        return Question(
            identity=identity((relation, statistic, *([self.sampling] if self.sampling else []))),
            text=text or statistic.words,
            statistics=statistic.policy_keys,
            columns=columns_read(relation, statistic),
            analyst=self.analyst,
            message=self.message,
            owner=(self.owner or self.budget.account) if self.own_answers else "",
            version=self.version,
            period=self.period,
            continued=self.continued,
            runs=None if cost is None or self.sampling is not None else statistic.runs(cost),
        )

    def _of_this_part(self, relation: Relation) -> bool:
        """Whether every row that is read, however deep, is one of this part's persons."""
        if relation.members[: len(self.members)] == self.members:
            return True
        read = (relation.table, *(join.table for join in relation.joins))
        private = [table for table in read if self.tables.persons.private(table)]
        return all(isinstance(table, Derived) and all(map(self._of_this_part, table.sources)) for table in private)

    def paid_by(self, budget: Budget) -> Releaser:
        """The same tables, paid from another budget."""
        return replace(self, account=budget)

    def approved(self, budget: Budget) -> Releaser:
        """The same questions, paid once from another budget; the answers stay those of this one's account."""
        return replace(self, account=budget, owner=self.owner or self.budget.account)

    def within(self, message: Message | None, heard: Callable[[Receipt], object] | None = None) -> Releaser:
        """For one message: what the same message asked and paid before is not charged again.

        ``heard`` is told of each charge once it is recorded.
        """
        return replace(self, account=self.account if heard is None else self.account.telling(heard), message=message)

    def continuing(self) -> Releaser:
        """For a publication: what an interrupted attempt charged and did not answer is not charged again."""
        return replace(self, continued=True)

    def apart(self) -> Releaser:
        """Answers are kept for this account alone: what others asked is neither free here nor known."""
        return replace(self, own_answers=True)

    def part(self, division: Division, members: tuple[Membership, ...], deciding: tuple[str, ...]) -> Releaser:
        """For some persons only, who are told from the others by the rows of the ``deciding`` tables."""
        return replace(self, divisions=(*self.divisions, division), members=members, deciding=deciding)


def labelled(found: Answer | Answers, version: str) -> Answer | Answers:
    """An answer that says which version of the data it is about."""
    if not version:
        return found
    if isinstance(found, Answer):
        return replace(found, version=version)
    return Answers({k: replace(each, version=version) for k, each in found.items()}, found.guarantee, found.name)


def dated(found: Answer | Answers, at: datetime) -> Answer | Answers:
    """An answer that says when it was asked; when it was ready depends on the data."""
    if isinstance(found, Answer):
        return replace(found, asked=at)
    dated = {key: replace(each, asked=at) for key, each in found.items()}
    return Answers(dated, found.guarantee, found.name, found.releases)


@contextmanager
def _uncharged(opened: AbstractContextManager[T]) -> Iterator[T]:
    """What fails on entering was not charged."""
    with ExitStack() as stack:
        try:
            found = stack.enter_context(opened)
        except EngineError as error:
            raise EngineError(f"{error} Nothing was charged.") from None
        yield found


def columns_read(relation: Relation, asked: object) -> tuple[str, ...]:
    """Every column of a table that a question reads, however deep, by the tables' own names."""
    read: set[str] = set()
    joins = tuple((join.on, join.condition) for join in relation.joins)
    for found in expressions((relation.person, relation.others, relation.filter, relation.members, joins, asked)):
        for column in found.columns() - {NOBODY}:
            table = relation.read_as(column.table)
            read |= {f"{table}.{column.name}"} if isinstance(table, str) else set()
    for table in (relation.table, *(join.table for join in relation.joins)):
        for part in table.parts if isinstance(table, Union) else (table,):
            if isinstance(part, PersonGroups):
                read.update(columns_read(part.source, (part.by, part.aggregates)))
            elif isinstance(part, PersonRows):
                read.update(columns_read(part.source, (part.shown, part.windows)))
    return tuple(sorted(read))


def protected_persons(relation: Relation) -> str:
    """Whom an answer about a relation protects."""
    kinds = dict.fromkeys(kind or relation.origins(column)[0][1] for kind, column in relation.persons)
    return f"any one {' or '.join(kinds)} with all their rows"


def charge_and_release(
    budget: Budget, cost: Guarantee, question: Question, release: Callable[[], Answer | Answers]
) -> Answer | Answers:
    """Charge first, then look at the data: the one order in which an answer is made.

    Returns what ``release`` returns; whatever it raises becomes one sentence, no trace.
    """
    try:
        receipt = budget.charge(cost, question)
    except Unanswered:
        if not question.continued or (stored := budget.recall(question, cost)) is None:
            raise
        return decode_answer(stored.answer).as_stored()  # another attempt was first
    answer: Answer | Answers | None = None
    kept: Mapping[str, Any] | None = None
    try:
        answer = dated(with_receipt(release(), receipt), (question.message and question.message.begun) or receipt.at)
        kept = encode(answer)
    except Exception:
        answer = None  # what went wrong may show rows; not even as a context does it leave this block
    finally:
        first = budget.settle(receipt, kept)
    if answer is None:
        raise EngineError(FAILED)
    if first and not question.continued:
        return answer
    if (stored := budget.recall(question, cost)) is None:
        raise EngineError(FAILED)  # what was drawn here was not written, so nobody sees it
    return decode_answer(stored.answer)  # the one that was written, whoever drew it


@contextmanager
def waiting(after: float = 1.0) -> Iterator[None]:
    """A sign of life: after some seconds a moving bar on stderr, if that is a terminal, gone when the work is done.

    It shows that time passes and nothing else: how far flows or an engine have come would depend on the rows.
    """
    if not sys.stderr.isatty():
        yield
        return
    done = threading.Event()
    shown = threading.Thread(target=_show, args=(done, after), name="tacit-waiting", daemon=True)
    shown.start()
    try:
        yield
    finally:
        done.set()
        shown.join()


def _show(done: threading.Event, after: float) -> None:
    if done.wait(after):
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        progress.add_task("answering", total=None)
        done.wait()
