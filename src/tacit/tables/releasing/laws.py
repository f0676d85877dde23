"""`Session.release`: any law of the library, charged to a session's budget, drawn from once, and recorded.

A law was made of data by whoever holds them, so this is for the trusted side. What is promised is what the law
promises, *given that it was made as its mechanism asks*: that a count moves by one, that a loss has sensitivity 1, that
nothing else in its making depended on the data. Nobody can check that from outside, and a law made by hand could draw
anything for any price. So laws of other classes than the library's are refused, a policy that names statistics forbids
this unless it lists "release", a policy that names columns forbids it, for a law does not say which it is made of, and
the gateway has no door to it.

The charge stands in the ledger before anything is drawn. The same law may be released again, and is paid again.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any
from uuid import uuid4

from tacit.answers import Answer, Answers
from tacit.answers.flows import CappedFlow
from tacit.answers.spreads import Additive, Spread
from tacit.answers.totals import CappedTotal
from tacit.answers.values import Value
from tacit.budgets import Budget, Question
from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.guarantees import Approx, Guarantee, Pure, Zcdp
from tacit.mechanisms.law import Law
from tacit.mechanisms.local.propose_test_release import Release
from tacit.mechanisms.noise.noise import NoiseVector, NoisyInteger
from tacit.mechanisms.search.bayesian_search import Searched
from tacit.mechanisms.totals.bounded_mean import TwoSums
from tacit.mechanisms.totals.ratio_counts import Ratio
from tacit.randomness import Randomness
from tacit.tables.releasing.certifying import proof_hash, released, with_release
from tacit.tables.releasing.releaser import Releaser, charge_and_release, labelled
from tacit.tables.releasing.room import Desk

KEY = "release"
"""Its name in ledgers and policies."""

SURE = "0.05"


def release_law(releaser: Releaser, law: Law[Any], text: str, protected: str) -> Answer | Answers:
    """Charge a law's guarantee to what pays for a session, and draw from it once."""
    if not isinstance(law, Law):
        raise InvalidInput("release needs a law of tacit.mechanisms, such as laplace(count, epsilon=1).")
    if not type(law).__module__.startswith("tacit."):
        raise InvalidInput(
            "release takes laws of the library, and this one is of another class: nothing is known about what it draws."
        )
    if not isinstance(law.guarantee, Pure | Zcdp | Approx):
        raise InvalidInput("a law that is released promises Pure, Zcdp or Approx; convert its guarantee first.")
    if releaser.divisions:
        raise UnsupportedQuery("a law is released by a whole session: nothing tells which part's persons it is about.")
    words = text or law.name
    question = new_question(releaser, KEY, words)

    def state(desk: Desk) -> Answer | Answers:
        return labelled(stated(desk, law, words), releaser.version)

    return charge_at_desk(releaser.account, law.guarantee, question, releaser.randomness, protected, state)


def new_question(releaser: Releaser, key: str, words: str) -> Question:
    """A question that is like no other: who asks what, about which version and period of the data."""
    return Question(
        f"{key} {uuid4().hex}",
        words,
        (key,),
        analyst=releaser.analyst,
        message=releaser.message,
        version=releaser.version,
        period=releaser.period,
    )


def charge_at_desk(
    budget: Budget,
    cost: Guarantee,
    question: Question,
    source: Randomness,
    protected: str,
    state: Callable[[Desk], Answer | Answers],
) -> Answer | Answers:
    """Charge, then draw at a desk without tables; the answer has a certificate."""
    proof_hash()  # read once in a process: before anything is charged

    def release() -> Answer | Answers:
        desk = Desk(source, cost, protected)
        found = state(desk)
        return with_release(found, released(found, desk, cost, None))

    return charge_and_release(budget, cost, question, release)


def stated(desk: Desk, law: Law[Any], words: str) -> Answer | Answers:
    """One draw of a law as an answer, or as several by place or by key."""
    drawn = desk.draw(law)
    spread = _spread(law)
    notes = () if spread is not None else _promised(law)

    def one(value: Any, more: tuple[str, ...] = (), name: str = words) -> Answer:
        return desk.answer(name, _plain(value), mechanism=law.name, per="person", spread=spread, notes=(*notes, *more))

    match drawn:
        case Release():
            return one(drawn.value, (f"Its noise was made for a bound of {float(drawn.bound):g}.",))
        case CappedTotal() | CappedFlow():
            return one(drawn.value, (f"It was released with a cap of {drawn.cap:,}.",))
        case Searched() | Ratio() | TwoSums():
            return one(drawn.value)
        case frozenset():
            pairs: list[tuple[Any, Any]] = sorted(drawn, key=repr)
        case tuple():
            pairs = list(enumerate(drawn))
        case _:
            return one(drawn)
    return Answers({key: one(value, name=f"{words}, {key}") for key, value in pairs}, desk.cost, "place")


def _plain(value: Any) -> Any:
    """A value as answers hold it."""
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else float(value)
    return value if isinstance(value, Value) else str(value)


def _spread(law: Law[Any]) -> Spread | None:
    """The error, where it is noise on whole numbers and nothing else."""
    return Additive(law.noise) if isinstance(law, NoisyInteger | NoiseVector) else None


def _promised(law: Law[Any]) -> tuple[str, ...]:
    try:
        statement = str(law.accuracy(SURE))
    except InvalidInput:  # it states none
        return ()
    return (statement[:1].upper() + statement[1:].rstrip(".") + ".",)
