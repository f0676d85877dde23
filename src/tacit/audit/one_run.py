"""One-run audit: a lower bound on ε from a single run of a whole pipeline, with many canaries in it at once.

PROMISE  If the pipeline is (ε, δ)-private, the bound reported exceeds ε with probability at most 1 − confidence,
whatever the data, the canaries, the scores and the queries are.

PROOF  Each of m canary persons is put in or left out by its own fair coin. What comes out of one run is used to guess r
of the coins, v of them rightly; the others are left open. Under pure ε the coins are, given the output, independent and
each is guessed with probability at most q = 1/(1 + e^{-ε}), so v is at most Bin(r, q) in distribution. δ adds to the
chance of v or more at most 2mδ·α, which gives

    p = min(1, β + 2mδα),  β = P[Bin(r, q) ≥ v],  α = max_{1≤i≤v} P[v > Bin(r, q) ≥ v − i]/i.

p is the probability, at most, of doing so well under (ε, δ). The bound is the largest ε up to which p stays below the
significance: if it exceeds the true ε, then p did so at the true ε, which happens with at most that probability.

CHOICE  r must not depend on the output. `audit_run` tries several numbers of guesses, named in advance, and tests each
at the significance divided by how many there are, so that reporting the best of them is honest.

COST  One run, plus about a millisecond for the bound. What one run can show is limited: with all of r guesses right,
q^r ≥ 0.05, so r = 100 shows at most ε = 3.49.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp
from typing import Any, TypeVar

from tacit.audit.statistical import CONFIDENCE, LowerBound
from tacit.errors import InvalidInput
from tacit.guarantees import Guarantee
from tacit.numbers.exact import Number, between, exact, whole
from tacit.randomness import SYSTEM, Randomness

T = TypeVar("T")

CEILING = 64.0
"""The largest ε that a bound can state."""
PRECISION = 2**-30
"""How far below the exact bound the reported one may lie."""


def p_value(canaries: int, guesses: int, correct: int, epsilon: float, delta: float = 0.0) -> float:
    """The largest probability, under (ε, δ), of at least ``correct`` correct guesses."""
    import numpy as np
    from scipy.stats import binom

    _counted(canaries, guesses, correct)
    if correct == 0:
        return 1.0
    q = 1 / (1 + exp(-epsilon))
    beta = float(binom.sf(correct - 1, guesses, q))
    if delta == 0:
        return min(1.0, beta)
    below = np.cumsum(binom.pmf(np.arange(correct - 1, -1, -1), guesses, q))
    alpha = float(np.max(below / np.arange(1, correct + 1)))
    return min(1.0, beta + 2 * canaries * delta * alpha)


def epsilon_bound(
    canaries: int, guesses: int, correct: int, delta: Number = 0, confidence: Number = CONFIDENCE
) -> float:
    """The largest ε that the guesses refute at this confidence; 0 where they refute none."""
    significance = float(1 - between(confidence, "confidence", 0, 1))
    slack = _delta(delta)
    if p_value(canaries, guesses, correct, 0.0, slack) >= significance:
        return 0.0
    low, high = 0.0, CEILING
    while high - low > PRECISION:
        middle = (low + high) / 2
        if p_value(canaries, guesses, correct, middle, slack) < significance:
            low = middle
        else:
            high = middle
    return low


def _counted(canaries: int, guesses: int, correct: int) -> None:
    if not 0 <= correct <= guesses <= canaries:
        raise InvalidInput("canaries, guesses and correct must satisfy 0 ≤ correct ≤ guesses ≤ canaries.")


def _delta(delta: Number) -> float:
    value = exact(delta, "delta")
    if not 0 <= value < 1:
        raise InvalidInput("delta must be at least 0 and below 1.")
    return float(value)


@dataclass(frozen=True)
class Rule:
    """The canaries of the highest scores are guessed to be in, those of the lowest to be out."""

    highest: int
    lowest: int

    @property
    def guesses(self) -> int:
        """How many coins are guessed."""
        return self.highest + self.lowest

    def correct(self, scores: Sequence[Any], included: Sequence[bool]) -> int:
        """How many guesses are right; canaries of equal score are taken in the order given."""
        order = sorted(range(len(scores)), key=lambda i: scores[i])
        out, into = order[: self.lowest], order[len(order) - self.highest :]
        return sum(not included[i] for i in out) + sum(included[i] for i in into)


@dataclass(frozen=True)
class Outcome:
    """How one rule did, and the ε it refutes after the correction for having several rules."""

    rule: Rule
    correct: int
    epsilon: float


@dataclass(frozen=True)
class OneRun(LowerBound):
    """What a one-run audit found."""

    canaries: int
    delta: Fraction
    confidence: Fraction
    outcomes: tuple[Outcome, ...]
    promised: Guarantee | None = None

    @property
    def best(self) -> Outcome:
        """The rule that refutes the largest ε."""
        return max(self.outcomes, key=lambda outcome: outcome.epsilon)

    @property
    def epsilon(self) -> float:
        """The lower bound: no smaller ε explains the guesses, at this confidence."""
        return self.best.epsilon

    @property
    def loss(self) -> float:
        """The same."""
        return self.epsilon

    def __str__(self) -> str:
        best = self.best
        guessed = f"{best.correct} of {best.rule.guesses} guesses right among {self.canaries} canaries"
        return f"{guessed}: {self._sentence()}"


def rules(canaries: int) -> tuple[Rule, ...]:
    """The rules tried unless others are named: 1, 5, 20 and 50 % at both ends."""
    counts = [max(1, canaries * share // 100) for share in (1, 5, 20, 50)]
    return tuple(Rule(k, k) for k in dict.fromkeys(counts) if 2 * k <= canaries)


def score_run(
    scores: Sequence[Any],
    included: Sequence[bool],
    *,
    delta: Number = 0,
    confidence: Number = CONFIDENCE,
    tried: Sequence[Rule] | None = None,
    promised: Guarantee | None = None,
) -> OneRun:
    """The bound from one score for each canary (higher: more likely in) and the coins that decided who was in."""
    if len(scores) != len(included) or len(scores) < 2:
        raise InvalidInput("scores and included must have one entry for each canary, and at least two of them.")
    plan = rules(len(scores)) if tried is None else tuple(tried)
    if not plan or any(rule.guesses > len(scores) for rule in plan):
        raise InvalidInput("tried must hold at least one rule, none with more guesses than canaries.")
    sure = between(confidence, "confidence", 0, 1)
    each = 1 - (1 - sure) / len(plan)
    found = []
    for rule in plan:
        correct = rule.correct(scores, included)
        found.append(Outcome(rule, correct, epsilon_bound(len(scores), rule.guesses, correct, delta, each)))
    return OneRun(len(scores), exact(delta, "delta"), sure, tuple(found), promised)


def insert_canaries(
    records: Any, person: str, canaries: Sequence[Sequence[Mapping[str, Any]]], included: Sequence[bool]
) -> Any:
    """An Arrow table: the records and, for each canary whose coin says so, its rows under a person of its own.

    ``records`` is an Arrow table, a pandas or Polars frame, or a list of rows. New persons are numbered above all
    others, or named in a way that no other is, as the person column is.
    """
    import pyarrow as pa

    table = _arrow(records)
    if person not in table.column_names:
        raise InvalidInput("person must name a column of records.")
    column = table.column(person)
    kind = column.type
    if pa.types.is_integer(kind):
        first = max((v for v in column.to_pylist() if v is not None), default=0) + 1
        names: list[Any] = [first + i for i in range(len(canaries))]
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        longest = max((len(v) for v in column.to_pylist() if v is not None), default=0)
        names = [f"canary{i}-".ljust(longest + 1, "c") for i in range(len(canaries))]
    else:
        raise InvalidInput("person must be a column of integers or text.")
    rows = [
        {**row, person: name}
        for name, canary, is_in in zip(names, canaries, included, strict=True)
        if is_in
        for row in canary
    ]
    return pa.concat_tables([table, pa.Table.from_pylist(rows, schema=table.schema)])


def _arrow(records: Any) -> Any:
    import pyarrow as pa

    if isinstance(records, pa.Table):
        return records
    if hasattr(records, "to_arrow"):
        return records.to_arrow()
    if isinstance(records, list):
        return pa.Table.from_pylist(records)
    return pa.Table.from_pandas(records, preserve_index=False)


def audit_run(
    records: Any,
    person: str,
    canaries: Sequence[Sequence[Mapping[str, Any]]],
    session: Callable[[Any], T],
    score: Callable[[T, int], Any],
    *,
    delta: Number = 0,
    confidence: Number = CONFIDENCE,
    tried: Sequence[Rule] | None = None,
    promised: Guarantee | None = None,
    source: Randomness = SYSTEM,
) -> OneRun:
    """Put each canary in or out by a fair coin, run the whole session once, guess from what it released, report.

    ``canaries`` lists the rows of each canary person, without the person column. ``session`` takes the table (Arrow)
    and returns everything it releases, from any number of queries. ``score(released, i)`` is higher when canary i
    seems to be in.
    """
    count = whole(len(canaries), "the number of canaries", 2)
    included = [bool(source.bits(1)) for _ in range(count)]
    released = session(insert_canaries(records, person, canaries, included))
    scores = [score(released, i) for i in range(count)]
    return score_run(scores, included, delta=delta, confidence=confidence, tried=tried, promised=promised)
