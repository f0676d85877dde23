"""`Session.above`: ask how many persons there are, again and again, until one number is above a threshold.

PROMISE. All answers of a watch together cost its ε once, by `tacit.mechanisms.search.above_threshold`: a question is
the number of persons with rows in a table of the session, filtered or derived as any table, which one person raises by
at most one and never lowers. A table of another session, of a part of the persons, of a sample, or whose rows concern
several persons is refused: there a person could count twice, or somebody else would have to pay.

CHARGED ONCE, FOR GOOD. The ε stands in the ledger before the first question. The noise of the threshold is secret and
stands nowhere but in memory: when the process ends, whatever the reason, the watch is over, what it cost stays charged,
and no later question can be asked for it. A question that fails ends it too, for that may depend on rows: a watch
fails once, and not as often as it is asked. What it found is recorded when it ends or is closed; where a policy limits
failures, a watch that is open or lost counts as one.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from tacit.answers import Answer
from tacit.answers.storing import encode
from tacit.closing import Closing
from tacit.engines.requests import Persons
from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.mechanisms.search.above_threshold import AboveThreshold, split
from tacit.numbers.exact import Number, whole
from tacit.tables.releasing.certifying import Drawn, proof_hash, released, with_receipt, with_release
from tacit.tables.releasing.laws import new_question
from tacit.tables.releasing.releaser import Releaser, labelled
from tacit.tables.releasing.room import Desk, cost_of
from tacit.tables.statistics.persons import PersonCount

if TYPE_CHECKING:
    from tacit.tables.face.table import Table

KEY = "above"
"""Its name in ledgers and policies."""

OVER = "this watch is over: one number was above, or it was closed; open another, which costs its own ε."


class Watch(Closing):
    """Questions about numbers of persons, answered until one is above a threshold; `Session.above` opens one.

    >>> watch = session.above(120, epsilon=1)
    >>> [watch.ask(orders.filter(f"region = '{region}'")) for region in ("nowhere", "north")]
    [False, True]
    >>> watch.open
    False
    """

    def __init__(self, releaser: Releaser, threshold: int, epsilon: Number | None) -> None:
        limit, cost = whole(threshold, "threshold"), cost_of(epsilon)
        if releaser.divisions or releaser.sampling is not None:
            raise UnsupportedQuery("a watch asks about all persons of a session: neither a part of them nor a sample.")
        rates = split(cost.keywords()["epsilon"])
        proof_hash()  # read once in a process: before anything is charged
        self._releaser, self._lock = releaser, threading.Lock()
        self._words = f"first number of persons above {limit:,}"
        self._receipt = releaser.account.charge(cost, new_question(releaser, KEY, self._words))
        self._asking = AboveThreshold(limit, rates, releaser.randomness)
        self._settled = False

    @property
    def asked(self) -> int:
        """How many questions were answered.

        >>> session.above(120, epsilon=1).asked
        0
        """
        return self._asking.asked

    @property
    def open(self) -> bool:
        """Whether more can be asked: nothing was above so far, and it was not closed.

        >>> session.above(120, epsilon=1).open
        True
        """
        return not self._settled

    @property
    def rules(self) -> AboveThreshold:
        """The mechanism, with its public numbers; `reach` says how far it may be off.

        >>> session.above(120, epsilon=1).rules.reach(questions=10)
        (7, 12)
        """
        return self._asking

    def ask(self, table: Table) -> bool:
        """Whether more persons than the threshold have rows in this table; once that is true the watch is over.

        Args:
            table: a table of the same session, such as ``orders.filter("amount > 100")``.

        >>> with session.above(1000, epsilon=1) as watch:
        ...     watch.ask(orders)
        False
        """
        relation, theirs = table._relation, table._session._releaser
        if theirs.tables is not self._releaser.tables or theirs.divisions or theirs.sampling is not None:
            raise UnsupportedQuery("a watch asks about tables of its own session, about all of their persons.")
        PersonCount().suits(bool(relation.others))
        with self._lock:
            if self._settled:
                raise InvalidInput(OVER)
            try:
                with self._releaser._snapshot() as snapshot:
                    (count,) = snapshot.ask(relation, (Persons(),))
            except BaseException:  # which may depend on rows: one watch fails once
                self._settled = True
                self._releaser.account.settle(self._receipt, None)
                raise
            above = self._asking.above(count)
            if above:
                self._settle()
            return above

    def close(self) -> None:
        """Ask no more, and record what was found so far.

        >>> watch = session.above(1000, epsilon=1)
        >>> watch.close()
        >>> watch.open
        False
        """
        with self._lock:
            if not self._settled:
                self._settle()

    def _settle(self) -> None:
        """Record where it ended; from here on nothing is answered, whatever becomes of the record."""
        self._settled = True
        asked, ended = self._asking.asked, self._asking.ended
        desk = Desk(self._releaser.randomness, self._receipt.cost, "any one person with all their rows")
        below = asked - 1 if ended else asked
        law = self._asking.law([0] * asked)  # for its name alone, which the numbers asked about do not enter
        desk._spent[""] = [law.guarantee]
        desk.drawn.append(Drawn.of("", law, below))
        found: Answer = desk.answer(
            self._words,
            asked if ended else None,
            mechanism="numbers of persons, asked until one is above a noisy threshold",
            per="person",
            notes=(f"Of {asked:,} questions {below:,} were below.",),
        )
        told = labelled(found, self._releaser.version)
        answer = with_receipt(with_release(told, released(found, desk, desk.cost, None)), self._receipt)
        self._releaser.account.settle(self._receipt, encode(answer))

    def __repr__(self) -> str:
        return repr(self._asking)
