"""How a series is released: its state is found in the budget's book, and the next periods are added to it.

PROMISE  Every node is shown once. Opening a chapter is charged its cost before data are touched. Continuing one is
written down before data are touched too, at no cost, as a message of its own for each place in the chapter; who finds
that message without an answer, because it failed or a machine died, takes over with the next one.

PROOF  What was drawn is shown only if `settle` kept it, and that refuses it, in one transaction, once the next message
was charged. Who charges a message looks for answers to those before it and draws only if there is none. So of all who
continue a chapter from one place at most one keeps what they drew: an answer kept before the next message is charged
stops that one from drawing, one that comes later is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from itertools import count
from typing import Literal

from tacit.answers import Answers
from tacit.answers.series import Chapter, Series, Told, later, period_of, periods_between
from tacit.answers.storing import decode_answer, encode
from tacit.budgets import Message, Question, Receipt
from tacit.budgets.questions import Unanswered
from tacit.engines import FAILED
from tacit.engines.requests import Relation
from tacit.errors import EngineError, InvalidInput, UnsupportedQuery
from tacit.guarantees import Guarantee, Pure
from tacit.tables.releasing.certifying import proof_hash, released, with_receipt, with_release
from tacit.tables.releasing.releaser import Releaser, protected_persons, waiting
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.base import Operand
from tacit.tables.statistics.series import MOST_PERIODS, SeriesTotals

FREE = Pure.amount(Fraction(0))
"""What continuing a chapter costs: it was paid for."""

CONTINUED = "The series was continued by somebody else meanwhile; nothing was charged: ask again."


@dataclass(frozen=True)
class Asked:
    """A series as an analyst asks for it."""

    releaser: Releaser
    relation: Relation
    statistic: SeriesTotals
    day: Operand
    every: str
    start: date | None
    until: date | None
    cost: Guarantee | None
    renew: bool | Literal["now"] = False

    def answer(self, fresh: bool) -> Series:
        """The series with all periods that have ended."""
        self._refuse()
        known = None if fresh else self._known()
        if known is None:
            return self._open(None)
        if self.start is not None and period_of(self.start, self.every) != known.start:
            raise InvalidInput(
                f"this series begins on {known.start}; leave start= out, or begin anew with fresh=True, at full cost."
            )
        if self._ended(known.start) <= known.bins:
            return known.as_stored()
        renewed = self.renew == "now" or (self.renew and known.outgrown)
        return self._open(known) if renewed else self._go_on(known)

    def _refuse(self) -> None:
        releaser, relation = self.releaser, self.relation
        if releaser.sampling is not None or releaser.divisions:
            raise UnsupportedQuery("a series is about all persons of a table; ask it of the whole table.")
        if releaser.period:
            raise UnsupportedQuery("a series goes over all periods; ask it in a session without period=.")
        if relation.others:
            raise UnsupportedQuery("Tacit does not answer series where a row concerns several persons; ask by group.")
        if self.cost is not None:
            releaser.check(relation, self.statistic, self.cost)

    @property
    def _question(self) -> Question:
        return replace(self.releaser.question(self.relation, self.statistic), lasting=True)

    def _known(self) -> Series | None:
        """What was released of it."""
        stored = self.releaser.account.recall(self._question, FREE)
        found = None if stored is None else decode_answer(stored.answer)
        return found if isinstance(found, Series) else None

    def _ended(self, start: date) -> int:
        """How many periods from the first on have ended."""
        yesterday = datetime.now(UTC).date() - timedelta(days=1)
        until = min(self.until or yesterday, yesterday)  # rows of a period that goes on would change what was told
        return max(0, periods_between(start, period_of(until + timedelta(days=1), self.every), self.every))

    def _open(self, known: Series | None) -> Series:
        """A new chapter, charged first: the first one, or one after those that are known."""
        cost = self.cost
        if cost is None:
            raise InvalidInput("name what a new chapter may cost: epsilon=0.5, or rho=0.01.")
        if known is not None and type(cost) is not type(known.guarantee):
            raise InvalidInput(f"this series was paid by {known.guarantee!r}; name a cost of the same kind.")
        start = None if self.start is None else period_of(self.start, self.every)
        first = known.start if known is not None else start
        if first is not None:
            _check_periods(self._ended(first) - (known.bins if known else 0))

        def chapter(room: Room) -> tuple[date, Chapter]:
            begin = first or self._found(room)
            days = [later(begin, self.every, place) for place in range(self._ended(begin))]
            before = known.bins if known else 0
            new = days[before:]
            window = days[max(0, len(days) - max(before, len(new))) :][-MOST_PERIODS:]
            single = self.relation.one_row_each
            return begin, self.statistic.open(room, new, window, cost, single, first is None)

        return self._released(known, cost, self._question, chapter)

    def _found(self, room: Room) -> date:
        """The first period, found in the data; no later than the last that ended, and not too many before it."""
        begin = period_of(self.statistic.begin(room, self.day), self.every)
        while self._ended(begin) < 1:
            begin = later(begin, self.every, self._ended(begin) - 1)
        if self._ended(begin) > MOST_PERIODS:
            begin = later(begin, self.every, self._ended(begin) - MOST_PERIODS)
        return begin

    def _go_on(self, known: Series) -> Series:
        """The last chapter with the next periods."""
        before = known.bins - known.chapters[-1].bins
        ended = self._ended(known.start)
        _check_periods(ended - before)
        days = [later(known.start, self.every, place) for place in range(before, ended)]

        def chapter(room: Room) -> tuple[date, Chapter]:
            return known.start, self.statistic.go_on(room, known.chapters[-1], days)

        claim = f"series {self._question.bare(FREE)} {known.chapters[-1].charge} {known.bins}"
        for turn in count():
            asked = replace(self._question, message=Message(f"{claim} {turn}", "series"))
            try:
                if self.releaser.account.repeated(asked, FREE) is not None:
                    break
                return self._released(known, FREE, asked, chapter, claim, turn)
            except Unanswered:
                continue  # it failed, or who asked is gone or slow: the next one takes over
        newer = self._known()
        if newer is None or newer.bins <= known.bins:
            raise EngineError(CONTINUED)
        return newer.as_stored()

    def _released(
        self,
        known: Series | None,
        cost: Guarantee,
        question: Question,
        chapter: Callable[[Room], tuple[date, Chapter]],
        claim: str = "",
        turn: int = 0,
    ) -> Series:
        """Charge, then look at the data, then keep what was drawn before it is shown."""
        releaser, account = self.releaser, self.releaser.account
        proof_hash()
        with releaser._snapshot() as snapshot, waiting():
            room = Room(
                releaser.tables.engine,
                snapshot,
                self.relation,
                releaser.randomness,
                cost,
                protected_persons(self.relation),
                releaser.max_rows,
                releaser.tables.most_groups,
            )
            receipt = account.charge(cost, question)
            if any(self._answered(question, f"{claim} {earlier}") for earlier in range(turn)):
                account.settle(receipt, None)
                raise EngineError(CONTINUED)
            series, kept = None, None
            try:
                series = self._continued(known, *chapter(room), room, receipt, cost)
                kept = encode(series)
            except Exception:
                series = None  # what went wrong may show rows; not even as a context does it leave this block
            finally:
                after = Message(f"{claim} {turn + 1}", "series") if claim else None
                in_time = account.settle(receipt, kept, unless=after)
        if series is None or not in_time:
            raise EngineError(FAILED if series is None else CONTINUED)
        return series

    def _answered(self, question: Question, message: str) -> bool:
        try:
            asked = replace(question, message=Message(message, "series"))
            return self.releaser.account.repeated(asked, FREE) is not None
        except Unanswered:
            return False

    def _continued(
        self, known: Series | None, start: date, chapter: Chapter, room: Room, receipt: Receipt, cost: Guarantee
    ) -> Series:
        """The series with its new or longer last chapter."""
        statistic, releases = self.statistic, known.releases if known else ()
        opened = known is None or cost != FREE
        earlier = () if known is None else known.chapters if opened else known.chapters[:-1]
        if opened:
            chapter = replace(chapter, charge=receipt.number)
            nothing = Answers({}, cost)
            facts = released(nothing, room, cost, None)
            releases = (*releases, *with_receipt(with_release(nothing, facts), receipt).releases)
        told = Told(
            statistic.title,
            self.day.name,
            self.every,
            start,
            (*earlier, chapter),
            room.protected,
            statistic.unit,
            statistic.per,
            room.private and (known is None or known.told.private),
        )
        return Series(told, releases)


def _check_periods(count: int) -> None:
    """Refuse what a chapter cannot hold."""
    if count < 1:
        raise InvalidInput("no period has ended in this time; name an earlier start= or a later until=.")
    if count > MOST_PERIODS:
        raise InvalidInput(f"a chapter holds {MOST_PERIODS:,} periods; take longer ones, or a later start=.")
