"""Cap curves: what a sum of non-negative parts becomes when no person may carry more than λ.

L(λ) is concave, non-decreasing, L(0) = 0, and constant once no cap binds. Adding a person raises L(λ) by at most λ and
never lowers it. For one person per row L(λ) = Σ_u min(s_u, λ), s_u the person's total. The curve and the down profile
are conjugate,

    D_j = max_λ L(λ) − λ·j   and   L(λ) = min_j D_j + λ·j   (D convex),

so one computation serves both the "remove j persons" and the "cap at λ" view. D is a valid surrogate: since pointwise
L(x∖v) ≤ L(x) ≤ L(x∖v) + λ, also D_{j+1}(x) = max_λ L(x) − λ(j+1) ≤ D_j(x∖v) ≤ D_j(x).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise

from tacit.curves.profiles import DownProfile
from tacit.errors import InvalidInput
from tacit.numbers.exact import Number, exact, non_negative, whole

Point = tuple[Fraction, Fraction]


class CapCurve:
    """A concave piecewise linear curve through (0, 0) and the given points (λ, L(λ)), constant after the last."""

    __slots__ = ("_caps", "points")

    points: tuple[Point, ...]
    """The breakpoints, (0, 0) first."""

    def __init__(self, points: Iterable[tuple[Number, Number]]) -> None:
        given = [(exact(cap, "points"), exact(value, "points")) for cap, value in points]
        if not given or any(given[0]):
            given.insert(0, (Fraction(0), Fraction(0)))
        if any(a >= b for (a, _), (b, _) in pairwise(given)):
            raise InvalidInput("points must have increasing caps; sort them and give each cap once.")
        slopes = [*_slopes(given), Fraction(0)]
        if any(a < b for a, b in pairwise(slopes)):
            raise InvalidInput("points must form a concave, non-decreasing curve; a capped sum always does.")
        kept = [
            point for point, before, after in zip(given[1:], slopes[:-1], slopes[1:], strict=True) if before != after
        ]
        self.points = ((Fraction(0), Fraction(0)), *kept)
        self._caps = [cap for cap, _ in self.points]

    @classmethod
    def from_totals(cls, totals: Iterable[Number]) -> CapCurve:
        """L(λ) = Σ_u min(s_u, λ) from the persons' non-negative totals."""
        sizes = sorted(non_negative(total, "totals") for total in totals)
        points: list[Point] = []
        below = Fraction(0)
        for i, size in enumerate(sizes):
            if size > 0 and (not points or points[-1][0] != size):
                points.append((size, below + size * (len(sizes) - i)))
            below += size
        return cls(points)

    @classmethod
    def from_profile(cls, profile: DownProfile) -> CapCurve:
        """L(λ) = min_j D_j + λ·j, for a profile whose unlisted values are 0; D need not be convex."""
        if profile.bottom not in (None, 0) or (profile.values and profile.values[-1] < 0):
            raise InvalidInput("profile must end at 0, the sum over nobody; give a profile of non-negative values.")
        hull: list[tuple[int, Fraction]] = []
        for j, value in enumerate((*profile.values, Fraction(0))):
            while len(hull) > 1 and _cap(hull[-2], hull[-1]) <= _cap(hull[-1], (j, value)):
                hull.pop()  # the line of hull[-1] is nowhere the lowest
            hull.append((j, value))
        turns = [(_cap(a, b), a) for a, b in pairwise(hull)]
        return cls([(cap, value + cap * j) for cap, (j, value) in reversed(turns) if cap > 0])

    def at(self, cap: Number) -> Fraction:
        """L(λ)."""
        x = non_negative(cap, "cap")
        (a, low), slope = self._piece(x)
        return low + slope * (x - a)

    def slope(self, cap: Number) -> Fraction:
        """The slope of L just after λ: with one person per row, the number of persons above the cap."""
        return self._piece(non_negative(cap, "cap"))[1]

    def _piece(self, x: Fraction) -> tuple[Point, Fraction]:
        i = bisect_right(self._caps, x)
        slope = _slopes(self.points[i - 1 : i + 1])[0] if i < len(self.points) else Fraction(0)
        return self.points[i - 1], slope

    @property
    def total(self) -> Fraction:
        """The sum without a cap."""
        return self.points[-1][1]

    def conjugate(self, removed: int) -> Fraction:
        """D_j = max_λ L(λ) − λ·j."""
        j = whole(removed, "removed", 0)
        return max(value - cap * j for cap, value in self.points)

    def profile(self, count: int) -> DownProfile:
        """D_0, …, D_count, in one pass: as j grows the best cap only moves down."""
        slopes = [*_slopes(self.points), Fraction(0)]  # slopes[i] is the slope just after points[i]
        best, values = len(self.points) - 1, []
        for j in range(whole(count, "count", 0) + 1):
            while best > 0 and slopes[best - 1] <= j:
                best -= 1
            cap, value = self.points[best]
            values.append(value - cap * j)
        return DownProfile(values)

    def __eq__(self, other: object) -> bool:
        return self.points == other.points if isinstance(other, CapCurve) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.points)

    def __repr__(self) -> str:
        return "<cap curve>"


def _slopes(points: list[Point] | tuple[Point, ...]) -> list[Fraction]:
    return [(high - low) / (b - a) for (a, low), (b, high) in pairwise(points)]


def _cap(a: tuple[int, Fraction], b: tuple[int, Fraction]) -> Fraction:
    """The λ at which the lines D_j + λ·j of two profile points meet."""
    return (a[1] - b[1]) / (b[0] - a[0])
