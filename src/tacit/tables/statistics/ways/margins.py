"""Margins that add up: counts and sums of given groups together with those of coarser groups.

A *set* says which of the columns that rows are grouped by are kept: GROUP BY ROLLUP (a, b) has the sets (a, b), (a) and
(). A group of a set is the sum of the cells that agree in its columns; a cell is a given key of all columns.

PROMISE  All sets together cost ε (or ρ).

PROOF  A norm λ is chosen as for other vectors (`tacit.tables.statistics.ways.vectors`), and each person's vector over
the cells is scaled to ℓ1 norm at most λ. The sums of any set are sums of its cells, each cell in one of them, so a
person moves them by at most λ in ℓ1, and so in ℓ2. Each set gets noise for that at its share, one over their number:
adaptive composition. What follows uses released numbers alone.

ADDING UP  The cells x̂ minimise Σ_s Σ_c (y_sc − Σ_{i in c} x_i)²/σ_s² over all sets s and their groups c. Every group is
then the sum of its cells, and by Gauss and Markov its variance is at most that of its own noise, for its own y_sc is
one of the unbiased estimates that it beats. If no set keeps all columns the cells themselves are not determined, but
the groups are. With ``nonnegative`` the cells minimise the same among those that are not negative.

ROUNDING  Cells are rounded in order so that the running sum is off by at most 1/2; then groups are added up from the
rounded cells, exactly. Groups of neighbouring cells, as all of ROLLUP are, are thus off by at most one unit.

COST OF IT  A matrix of all groups by all groups: at most `MOST_GROUPS` of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any, ClassVar

from tacit.answers import Answers
from tacit.answers.margins import Combined
from tacit.engines.requests import GroupNorms, GroupTotals, Value
from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.noises import DiscreteGaussian, DiscreteLaplace, Noise
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.base import Statistic, noisy_vector
from tacit.tables.statistics.ways.groups import Grouped, Groups
from tacit.tables.statistics.ways.vectors import FINE, GroupedTotals, choose_norm, norm_steps

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

MOST_GROUPS = 3_000
"""The most groups of all sets together."""

MOST_COLUMNS = 6
"""The most columns all of whose sets are asked for at once."""

ROUNDS = 400
"""How often cells that must not be negative are moved toward their best values."""


@dataclass(frozen=True)
class MarginGroups(Groups):
    """Given groups with coarser ones beside them."""

    sets: tuple[tuple[int, ...], ...] = ()
    """For each set the places of the columns that it keeps."""
    nonnegative: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(part.value is None for key in self.keys for part in key):
            raise UnsupportedQuery(
                "margins stand under NULL, so NULL cannot be a key beside them; replace it with COALESCE."
            )
        if sum(len(groups) for groups, _ in self.members) > MOST_GROUPS:
            raise UnsupportedQuery(f"groups and margins are more than {MOST_GROUPS:,} together; name fewer keys.")

    @property
    def members(self) -> list[tuple[list[Any], list[int]]]:
        """For each set its groups' labels, and for each cell the place of its group among them."""
        found = []
        for kept in self.sets:
            places: dict[Any, int] = {}
            of_cell = []
            labels: list[Any] = []
            for key, label in zip(self.keys, self.labels, strict=True):
                place = places.setdefault(tuple(key[i] for i in kept), len(places))
                of_cell.append(place)
                if place == len(labels):
                    parts = label if len(self.by) > 1 else (label,)
                    coarse = tuple(part if i in kept else None for i, part in enumerate(parts))
                    labels.append(coarse if len(self.by) > 1 else coarse[0])
            found.append((labels, of_cell))
        return found


def with_margins(groups: Groups, sets: Sequence[Sequence[int]], nonnegative: bool = False) -> MarginGroups:
    """Given groups with these sets, the finest first."""
    distinct = sorted({tuple(sorted(kept)) for kept in sets}, key=lambda kept: (-len(kept), kept))
    return MarginGroups(groups.by, groups.keys, groups.labels, groups.name, tuple(distinct), nonnegative)


def every_set(columns: int) -> list[tuple[int, ...]]:
    """All sets of some columns."""
    if columns > MOST_COLUMNS:
        raise InvalidInput(f"margins= takes at most {MOST_COLUMNS} columns; write GROUPING SETS in SQL.")
    return [kept for count in range(columns + 1) for kept in combinations(range(columns), count)]


def margins_of(grouped: Statistic, groups: MarginGroups) -> Statistic:
    """A statistic by group with its margins; refused unless it adds up."""
    if isinstance(grouped, GroupedTotals) and not grouped.counts_persons and grouped.per == "row":
        if groups.nonnegative and isinstance(grouped.entry, Value):
            raise InvalidInput("nonnegative= is for counts; a sum may be negative: leave it out.")
        return MarginTotals(grouped.entry, grouped.name, groups, key=grouped.key)
    parts = grouped.quotient_of
    if parts is not None and not groups.nonnegative:
        return MarginMeans(grouped, groups)
    raise UnsupportedQuery(
        "margins (ROLLUP, CUBE, GROUPING SETS) are answered for counts, sums and means of rows, which add up, and not "
        f"for the {grouped.words}; ask for each grouping by itself."
    )


@dataclass(frozen=True)
class MarginTotals(GroupedTotals, tag="MarginTotals"):
    """A count or sum for each group of several sets."""

    groups: MarginGroups
    sampled: ClassVar[None] = None  # what is scaled up and rounded does not add up any more

    @property
    def several(self) -> bool:  # type: ignore[override]
        """Rows of several persons have no margins: their groups' totals are capped flows, each by itself."""
        return False

    @property
    def words(self) -> str:
        """What is counted or added up."""
        return f"{super().words} with margins"

    def release(self, room: Room) -> Answers:
        """A cap, noisy totals of every set, and what they are when they add up."""
        groups, unit = self.groups, self.unit
        members, steps = groups.members, norm_steps(self.entry, groups)
        (norms,) = room.ask(GroupNorms(self.entry, groups.by, groups.keys, "l1", steps))
        count = sum(len(labels) for labels, _ in members)
        allowance = room.allow(noises=len(members))
        cap, rest = choose_norm(room, steps, norms, count, allowance, not isinstance(self.entry, Value))
        fine = FINE if cap < 2**50 else 1
        (cells,) = room.ask(GroupTotals(self.entry, groups.by, groups.keys, "l1", cap, fine))
        share = rest.share(Fraction(1, len(members)))
        drawn: list[Sequence[int]] = []
        for labels, places in members:
            law, noise = noisy_vector(_added(cells, places, len(labels)), share, cap * fine)
            values = room.draw(law)
            drawn.append(values)
        fitted = Fit.of([places for _, places in members], drawn, noise, fine, groups.nonnegative)
        answers = {}
        for number, (labels, places) in enumerate(members):
            totals = _added(fitted.cells, places, len(labels))
            for place, label in enumerate(labels):
                answers[label] = room.answer(
                    f"{self.name} where {groups.name} is {_shown(label)}",
                    unit.value(totals[place]),
                    mechanism="vectors capped at a privately chosen norm, noise on every set, then least squares",
                    spread=replace(fitted.spreads[number][place], unit=unit),
                    per=self.per,
                    unit=unit,
                    cap=unit.value(cap),
                )
        return Answers(answers, room.cost, groups.name)


@dataclass(frozen=True)
class MarginMeans(Grouped, tag="MarginMeans"):
    """Means with margins: always the quotients of sums and counts with theirs."""

    means: Statistic
    groups: MarginGroups
    only_quotient: ClassVar[bool] = True

    @property
    def key(self) -> str:
        """That of the means."""
        return self.means.key

    @property
    def words(self) -> str:
        """Those of the means."""
        return f"{self.means.words} with margins"

    @property
    def quotient_of(self) -> tuple[Statistic, Statistic]:
        """Sums and counts with margins."""
        assert self.means.quotient_of is not None
        top, bottom = (margins_of(part, self.groups) for part in self.means.quotient_of)
        return top, bottom

    def check(self, cost: Any) -> None:
        """Refused by itself."""
        raise UnsupportedQuery("a mean with margins is asked in SQL, as AVG; or ask for the sum and the count.")

    def release(self, room: Room) -> Answers:
        """Never reached: `check` refuses it, and queries ask for its two parts."""
        raise AssertionError("means with margins are quotients")


@dataclass(frozen=True)
class Fit:
    """Cells that fit noisy groups best, rounded to units, and the error of every group."""

    cells: list[int]
    spreads: list[list[Combined]]

    @classmethod
    def of(
        cls, sets: Sequence[Sequence[int]], drawn: Sequence[Sequence[int]], noise: Noise, fine: int, nonnegative: bool
    ) -> Fit:
        """Least squares; all sets have the same noise, so all groups weigh the same."""
        import numpy as np

        groups = [np.asarray(places) for places in sets]
        tops = [len(values) for values in drawn]
        stacked = np.zeros((sum(tops), len(groups[0])))
        for places, start in zip(groups, np.cumsum([0, *tops]), strict=False):
            stacked[start + places, np.arange(len(places))] = 1
        inverse = np.linalg.pinv(stacked.T @ stacked, hermitian=True)
        noisy = np.array([float(Fraction(value, fine)) for values in drawn for value in values])
        cells = inverse @ (stacked.T @ noisy)
        hat = stacked @ inverse @ stacked.T  # how much of each noisy group is in each estimate
        estimates = stacked @ cells
        if nonnegative:
            cells = _raised(stacked, noisy, cells)
        variance, scale = _facts(noise, fine)
        parts = np.einsum("ij,ij->i", hat, hat) * variance
        largest = np.abs(hat).max(axis=1) * scale
        flat = [Combined(float(e), float(v), float(m)) for e, v, m in zip(estimates, parts, largest, strict=True)]
        ends = np.cumsum([0, *tops])
        return cls(_rounded(cells.tolist()), [flat[a:b] for a, b in pairwise(ends)])


def _facts(noise: Noise, fine: int) -> tuple[float, float]:
    """A variance of the noise in units that bounds its exponential moments, and its scale if it is Laplace's."""
    if isinstance(noise, DiscreteGaussian):
        return float(noise.squared_scale) / fine**2, 0.0
    assert isinstance(noise, DiscreteLaplace)
    scale = float(1 / noise.rate) / fine
    return 2 * scale**2, scale


def _raised(stacked: Numbers, noisy: Numbers, start: Numbers) -> Numbers:
    """The best cells among those that are not negative, by accelerated projected gradients."""
    import numpy as np

    cells = np.maximum(start, 0)
    ahead, pace = cells, 1.0
    steepest = float((stacked.T @ (stacked @ np.ones(stacked.shape[1]))).max())  # at least the largest eigenvalue
    for _ in range(ROUNDS):
        after = np.maximum(ahead - stacked.T @ (stacked @ ahead - noisy) / steepest, 0)
        faster = (1 + (1 + 4 * pace * pace) ** 0.5) / 2
        ahead, cells, pace = after + (pace - 1) / faster * (after - cells), after, faster
    return cells


def _rounded(cells: Sequence[float]) -> list[int]:
    """Whole cells whose running sum is that of the cells, rounded."""
    found, exact, before = [], Fraction(0), 0
    for cell in cells:
        exact += Fraction(cell)
        found.append(round(exact) - before)
        before = round(exact)
    return found


def _added(cells: Sequence[int], places: Sequence[int], count: int) -> list[int]:
    """The sum of the cells of each group."""
    totals = [0] * count
    for cell, place in zip(cells, places, strict=True):
        totals[place] += cell
    return totals


def _shown(label: Any) -> str:
    """A group's label with "any" for what it does not keep."""
    parts = label if isinstance(label, tuple) else (label,)
    words = ["any" if part is None else str(part) for part in parts]
    return words[0] if len(words) == 1 else f"({', '.join(words)})"
