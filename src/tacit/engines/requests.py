"""What an engine is asked, and what it returns: frozen, dialect-free values.

PROMISE. A round is one statement over one `Relation`, at most two rounds see one read-only snapshot, and what comes
back never grows with the table: at most 10,000 numbers a round, `group_requests.KeyCounts` excepted (its docstring says
why). No result names a person or shows a row, every number is exact, and no answer or failure depends on the order of
rows.

PERSONS. Rows with a NULL (or NaN) person are dropped, then rows whose filter is not true. A person is present when
at least one row remains. Persons are equal when their column's own type says so.

VALUES. A `Value` turns every row into a 64-bit count of `unit`s, or absent:

- INTEGER and BOOLEAN count in 1, DECIMAL(s) in 10^-s: the stored count itself.
- FLOAT x: absent if NULL or NaN; ±`SATURATION` if |x| ≥ SATURATION·unit, tested *before* multiplying; else x·(1/unit)
  or x/unit as one IEEE operation, rounded half to even. With the default unit 10^-6 the limit is 9.2·10^12.

Totals are sums of these counts in 128 bits, which no table of fewer than 2^50 rows can exceed. An `Ordered` value
is compared as it is: doubles as doubles (±inf as the largest finite one), dates as days and timestamps as
microseconds since 1970-01-01, truth values as 0 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Generic, Literal, TypeVar

from tacit.errors import InvalidInput
from tacit.language.expressions import Column, Expression, Scalar
from tacit.language.types import BOOLEAN, FLOAT, INTEGER, ColumnType, Kind

ResultT = TypeVar("ResultT", covariant=True)

LARGEST_ANSWER = 10_000
"""The most numbers a round may bring back."""

SATURATION = 9_200_000_000_000_000_000
"""The largest count of units that a FLOAT row can have."""

FLOAT_UNIT = Fraction(1, 10**6)
"""What a FLOAT counts in unless a public unit is given."""

WEIGHT = 2**32
"""The weight of one whole person, or of one whole row, in `RankSteps`."""

MOST_PARTS = 1000
"""Into how many parts of the unit a person's mean may be divided."""

RESOLUTION = 2**20
"""The number of steps into which `Moments` divides the range."""


# ---- relations and values --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Join:
    """A table joined by equality; whose persons its rows concern is for the relation to say."""

    table: str
    alias: str
    on: tuple[tuple[Column, Column], ...]
    kind: Literal["inner", "left"] = "inner"

    def __post_init__(self) -> None:
        if not self.on:
            raise InvalidInput("a join needs at least one equality between the tables; write ON a = b.")
        for left, right in self.on:
            exact = left.type.exact_number and right.type.exact_number
            if Kind.OTHER in (left.type.kind, right.type.kind) or not (exact or left.type == right.type):
                raise InvalidInput(f"a join compares {left.type} with {right.type}; use key columns of one kind.")


@dataclass(frozen=True)
class Membership:
    """Only persons whose least ``place`` over all their rows, those that a filter leaves out included, is ``wanted``.

    A person has one least place, so persons of different places are different persons.
    """

    place: Expression
    wanted: int


SAMPLE_STEPS = 2**60
"""Into so many steps the chance of a person to be sampled is divided; `Dialect.number` has as many values."""


@dataclass(frozen=True, repr=False)
class Sample:
    """Only persons whose keyed hash is below ``steps`` of `SAMPLE_STEPS`; the key is secret and never reused."""

    steps: int
    key: bytes

    def __post_init__(self) -> None:
        if not 1 <= self.steps <= SAMPLE_STEPS or len(self.key) < 16:
            raise InvalidInput(f"a sample takes 1 to {SAMPLE_STEPS} steps and a key of at least 16 secret bytes.")


@dataclass(frozen=True)
class Bound:
    """The most rows that a relation's joins may have before any filter, compared before the first of them is made.

    With ``root`` public facts say that each row of that table is in at most ``repeats`` of the joined ones; without it
    counts on the join keys say how many there can be (`tacit.engines.sizes`).
    """

    most: int
    root: str | None = None
    repeats: int = 1


@dataclass(frozen=True)
class Relation:
    """The rows a question is about: a private table, its person column, joins and a filter.

    Derived columns need no place of their own: an expression contains what it is derived from.
    """

    table: str
    alias: str
    person: Column
    joins: tuple[Join, ...] = ()
    filter: Expression | None = None
    others: tuple[tuple[str, Column], ...] = ()
    """Further persons whom every row concerns, each with its kind; only `tacit.engines.incidence` may then be asked."""
    kind: str = ""
    """The kind of ``person``."""
    members: tuple[Membership, ...] = ()
    """Which persons belong; only where a row concerns one."""
    sample: Sample | None = field(default=None, repr=False)
    """Which of them are sampled; only where a row concerns one."""
    bound: Bound | None = field(default=None, repr=False, compare=False)
    """How many rows there may be, where that is to be compared; no part of the question."""

    @property
    def persons(self) -> tuple[tuple[str, Column], ...]:
        """All person columns with their kinds."""
        return ((self.kind, self.person), *self.others)

    def __post_init__(self) -> None:
        if self.filter is not None and self.filter.type != BOOLEAN:
            raise InvalidInput(
                f"filter must be true or false for each row, not {self.filter.type}; write a comparison."
            )
        if self.members and (self.others or any(member.place.type != INTEGER for member in self.members)):
            raise InvalidInput("persons are told apart by a whole number, and only where a row concerns one person.")
        if self.sample and self.others:
            raise InvalidInput("persons are sampled only where a row concerns one person.")
        aliases = [self.alias, *(join.alias for join in self.joins)]
        if len(set(aliases)) < len(aliases):
            raise InvalidInput("each table of a join needs its own name; write AS other_name.")


@dataclass(frozen=True)
class Value:
    """A row's number as a count of units; build it with `value`."""

    expression: Expression
    unit: Fraction


def value(expression: Expression, unit: Fraction | None = None) -> Value:
    """A value in its type's own unit, or for FLOAT in a public one: a whole number or one over a whole number."""
    kind: ColumnType = expression.type
    if kind == FLOAT:
        unit = FLOAT_UNIT if unit is None else unit
        if 1 not in (unit.numerator, unit.denominator) or not 0 < unit <= 10**15 or unit.denominator > 10**15:
            raise InvalidInput("unit must be a whole number or one over a whole number, such as 100, 1 or '0.01'.")
        return Value(expression, unit)
    if unit is not None:
        raise InvalidInput("unit is for floats; integers and decimals count in their own steps.")
    if kind.exact_number or kind == BOOLEAN:
        return Value(expression, Fraction(1, 10**kind.scale))
    raise InvalidInput(f"a sum or mean needs numbers, not {kind}; use a numeric column.")


@dataclass(frozen=True)
class RowCount:
    """The number of rows, or of rows where an expression is not NULL."""

    expression: Expression | None = None


@dataclass(frozen=True)
class Deviation:
    """The sum over a person's values of how far each lies from a public centre, which is a 64-bit count of units."""

    value: Value
    centre: int

    def __post_init__(self) -> None:
        if not -(2**63) <= self.centre < 2**63:
            raise InvalidInput("centre must fit in 64 bits.")


@dataclass(frozen=True)
class PersonMean:
    """The mean of a person's values, or deviations, rounded toward zero to a whole number of ``parts`` of the unit."""

    value: Value | Deviation
    parts: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.parts <= MOST_PARTS:
            raise InvalidInput(f"parts must lie between 1 and {MOST_PARTS}.")


@dataclass(frozen=True)
class Presence:
    """One for a person with at least one row, however many there are."""


@dataclass(frozen=True)
class Ordered:
    """A row's value for minimum, maximum and quantiles."""

    expression: Expression

    def __post_init__(self) -> None:
        if not self.expression.type.ordered:
            raise InvalidInput(
                f"min, max and quantile need numbers or dates, not {self.expression.type}; use another column."
            )


Total = Value | RowCount | Deviation | PersonMean
Entry = Value | RowCount | Presence


# ---- requests, each beside its result ---------------------------------------------------------------------------


class Request(Generic[ResultT]):
    """One of the questions below, answered by a result of its own kind."""


def check_boundaries(boundaries: tuple[int, ...], parts: int) -> None:
    """Refuse boundaries that do not ascend, or are too many for an answer of so many parts."""
    ascending = all(low < high for low, high in pairwise(boundaries))
    if not boundaries or not ascending or boundaries[0] < 0 or boundaries[-1] >= 2**126:
        raise InvalidInput("boundaries must be ascending whole numbers from 0 to below 2^126, at least one.")
    if parts * (len(boundaries) + 1) > LARGEST_ANSWER:
        raise InvalidInput(f"boundaries are too many for one answer of {LARGEST_ANSWER} numbers; use a coarser grid.")


@dataclass(frozen=True)
class Persons(Request[int]):
    """The number of persons present."""


@dataclass(frozen=True)
class Bucket:
    """How many persons fall into a bucket, and the sum of their absolute totals."""

    count: int
    sum: int


@dataclass(frozen=True)
class Buckets:
    """Buckets (0, b_0], (b_0, b_1], …, (b_last, ∞) of the positive and of the negative totals' absolute values."""

    positive: tuple[Bucket, ...]
    negative: tuple[Bucket, ...]


@dataclass(frozen=True)
class TotalBuckets(Request[Buckets]):
    """Per-person totals in buckets between public boundaries; totals of zero are in none."""

    total: Total
    boundaries: tuple[int, ...]

    def __post_init__(self) -> None:
        check_boundaries(self.boundaries, parts=4)


@dataclass(frozen=True)
class Extremes(Request[tuple[Fraction, ...]]):
    """The ``k`` largest per-person maxima, descending, or smallest minima, ascending; fewer if fewer have a value.

    Results of `Ordered` are in the column's own scale, those of a `Value` in units.
    """

    value: Ordered | Value
    k: int
    largest: bool

    def __post_init__(self) -> None:
        if not 1 <= self.k <= LARGEST_ANSWER:
            raise InvalidInput(f"k must lie between 1 and {LARGEST_ANSWER}.")


@dataclass(frozen=True)
class FlagCounts:
    """Persons with at least one true row, and persons present without one."""

    true: int
    false: int


@dataclass(frozen=True)
class Flags(Request[FlagCounts]):
    """How many persons have at least one row where the condition is true."""

    condition: Expression

    def __post_init__(self) -> None:
        if self.condition.type != BOOLEAN:
            raise InvalidInput(f"a ratio needs a true-or-false column, not {self.condition.type}; write a comparison.")


@dataclass(frozen=True)
class Step:
    """A value, with the weight of all smaller values and of all values up to and with it."""

    value: Fraction
    before: int
    after: int


@dataclass(frozen=True)
class Ranks:
    """The total weight, and for each quantile the steps of the cumulative weight near it, ascending."""

    weight: int
    steps: tuple[tuple[Step, ...], ...]


@dataclass(frozen=True)
class RankSteps(Request[Ranks]):
    """The weighted distribution of rows around quantiles.

    A row with a value weighs ⌊2^32/n⌋ where its person has n of them (``cap`` None, per person), or
    ⌊2^32·min(1, cap/n)⌋ (per row), so a person weighs at most Λ = 2^32, or 2^32·cap. W is the total. The thresholds of
    quantile q are t_j = qW + j·max(q, 1−q)·Λ for −reach < j ≤ reach, and a value is a step of q when one of them lies
    in its interval (before, after]. So for every y it is known which of them W(≤y) reaches.
    """

    value: Ordered
    quantiles: tuple[Fraction, ...]
    reach: int
    cap: int | None = None

    def __post_init__(self) -> None:
        if not self.quantiles or any(not 0 <= q <= 1 or q.denominator > 10**9 for q in self.quantiles):
            raise InvalidInput("quantiles must lie between 0 and 1, with at most nine decimals, and be at least one.")
        if self.reach < 1 or (self.cap is not None and not 1 <= self.cap < 2**31):
            raise InvalidInput("reach must be at least 1 and cap between 1 and 2^31.")
        if 3 * len(self.quantiles) * 2 * self.reach > LARGEST_ANSWER:
            raise InvalidInput(f"reach is too large for one answer of {LARGEST_ANSWER} numbers; use a smaller one.")


@dataclass(frozen=True)
class Moments(Request[tuple[int, ...]]):
    """Sums from which a mean (``degree`` 1) or a variance (2) over a public range follows.

    With S = `RESOLUTION`, a row x becomes t = (min(max(x, low), high) − low)·S // (high − low) and the vector
    (S−t, t), or (S(S−t), t(S−t), t²), whose parts add up to S, or S². Per row: a person's n rows are added, each part
    then cut to part·cap // n where n > cap; one person moves the answer by at most cap·S (or cap·S²) in ℓ1.
    Per person (``cap`` None): t is the person's mean ⌊Σt/n⌋ and counts once. ``low`` and ``high`` are in units.
    """

    value: Value
    low: int
    high: int
    degree: Literal[1, 2]
    cap: int | None = None

    def __post_init__(self) -> None:
        if not -(2**63) <= self.low < self.high < 2**63:
            raise InvalidInput("low must lie below high, both within 64 bits.")
        if self.cap is not None and not 1 <= self.cap < 2**31:
            raise InvalidInput("cap must lie between 1 and 2^31.")


@dataclass(frozen=True)
class Lead:
    """The value that most persons have, and by how many persons it is ahead of the next; None and 0 in a tie."""

    value: Scalar
    persons: int

    def __repr__(self) -> str:
        return "<a lead>"


@dataclass(frozen=True)
class LeadingValue(Request[Lead]):
    """Which value of a column most persons have, each person counted once for every value they have."""

    value: Expression

    def __post_init__(self) -> None:
        if self.value.type.kind is Kind.OTHER:
            raise InvalidInput("mode needs a column of a type that Tacit reads; name another column.")
