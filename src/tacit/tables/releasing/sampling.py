"""Poisson subsampling as a session's option: every question is answered on a fresh secret sample of the persons.

PROMISE. The cost named is what is charged and what the answer promises to everybody. On the sample the statistic is run
at the larger guarantee that amplification allows (`tacit.guarantees.allowance`): ε with ln(1 + p(e^ε − 1)) equal to the
ε named, δ/p for δ. PROOF. A person is in the sample with probability at most p, independently of all others, by a keyed
hash of the person below p·2^60, under a key of 128 bits drawn for the question and thrown away with it; all rounds of a
question use the one key, so it is one mechanism on one sample, and amplified once. A row must concern one person: then
the sample's rows are those persons' rows, and a person left out leaves no trace. Where a row concerns several, a row
kept only if all its persons are sampled would tell about each of them; no bound is proved for that, so it is refused.

HONESTY. Totals are divided by p, which estimates everybody's without bias (before capping and noise). Averages, shares
and order statistics are the sample's own. A number of different values is neither, so it is refused.
`Statistic.sampled` says which it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from tacit.answers import Answer, Answers
from tacit.answers.sampled import sampled_spread, scaled
from tacit.engines.requests import SAMPLE_STEPS, Relation, Sample
from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.guarantees import Guarantee, Zcdp, allowance
from tacit.numbers.exact import Number, exact
from tacit.randomness import Randomness
from tacit.tables.statistics.base import Statistic

LEAST = Fraction(1, 10**6)
"""The smallest share of the persons that may be sampled."""
KEY_BYTES = 16
"""Of a sample's key: nobody guesses 128 bits, and with a short name they fit one block of the hash."""


@dataclass(frozen=True)
class Sampling:
    """Each person takes part in a question with probability ``probability``."""

    probability: Fraction

    @classmethod
    def of(cls, sample: Number | None) -> Sampling | None:
        """The sampling that a session was asked for; None and 1 take everybody."""
        if sample is None:
            return None
        p = exact(sample, "sample")
        if not LEAST <= p <= 1:
            raise InvalidInput(
                f"sample must lie between {LEAST} and 1; give the probability that a person is included."
            )
        return None if p == 1 else cls(p)

    def inside(self, relation: Relation, statistic: Statistic, cost: Guarantee) -> Guarantee:
        """What may be spent on the sample for this cost to everybody; what a sample cannot answer is refused."""
        if relation.others:
            raise UnsupportedQuery(
                "a session with sample= answers only questions in which a row concerns one person: nothing is proved "
                "where it concerns several; ask a session without sample=."
            )
        if statistic.core.sampled is None:
            raise UnsupportedQuery(
                f"Tacit does not answer the {statistic.words} from a sample, which would say nothing about everybody; "
                "ask a session without sample=."
            )
        if isinstance(cost, Zcdp):
            raise InvalidInput("rho= is not amplified by sampling; give epsilon=, or epsilon= with delta=.")
        return allowance(cost, self.probability)

    def drawn(self, relation: Relation, source: Randomness) -> Relation:
        """The relation on a fresh sample."""
        steps = int(self.probability * SAMPLE_STEPS)
        return replace(relation, sample=Sample(steps, source.bits(8 * KEY_BYTES).to_bytes(KEY_BYTES, "big")))

    def released(self, found: Answer | Answers, statistic: Statistic, cost: Guarantee) -> Answer | Answers:
        """Answers about the sample as answers to everybody's question, for the cost that was charged."""
        if isinstance(found, Answers):
            answers = {key: self._answer(answer, statistic, cost) for key, answer in found.items()}
            return Answers(answers, cost, found.name)
        return self._answer(found, statistic, cost)

    def _answer(self, answer: Answer, statistic: Statistic, cost: Guarantee) -> Answer:
        p, scales = self.probability, statistic.core.sampled != "itself"
        done = f"and the result divided by {p}" if scales else "and the answer is about them"
        spread = answer.spread and sampled_spread(
            answer.spread, answer.value, p, persons=statistic.core.sampled == "persons", scales=scales
        )
        return replace(
            answer,
            value=scaled(answer.value, p) if scales else answer.value,
            guarantee=cost,
            mechanism=f"{answer.mechanism}, on a secret sample of the persons",
            spread=spread,
            notes=(*answer.notes, f"Each person was asked with probability {p}, {done}."),
        )

    def __str__(self) -> str:
        return f"sample={self.probability}"
