"""Errors of second moments, correlations and fitted lines: what follows from noisy sums of products.

A second moment is a sum of products around public centres over a count, less d·d', d being how far each mean lies from
its centre. The errors of sum and count and those of each d are bounded by `Quotient`, and hold together.

A `Gram` holds the noisy sums of all products of some columns and the constant 1, all with the same noise. Correlations
are bounded by boxes: while each sum stays within its reach, so does what follows. Of a fitted line Aβ = b the true β_t
for the sums without noise, A_t = A − E and b_t = b − e, has A(β_t − β) = Eβ_t − e: each equation's right side is a sum
of independent noises of known variance. With q the reach of such a sum, in standard deviations, and
D = |β_t − β|, the triangle inequality gives D ≤ |A⁻¹|·(q·sd(β) + q·sd(E)·D), so

    |l·(β_t − β)| ≤ |l·A⁻¹|·(q·sd(β) + q·sd(E)·D),   D ≤ (1 − |A⁻¹|·q·sd(E))⁻¹·|A⁻¹|·q·sd(β)

for any l, unless the matrix in front may be singular: then nothing is bounded. One of v equations misses with at most a
v-th of what the confidence leaves. Of independent noises a sum reaches, in its own standard deviations, at most as far
as one noise alone or a normal law, whichever is farther (a test holds it to that).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf, log, sqrt
from typing import TYPE_CHECKING, Any, Literal

from tacit.answers.quotients import Quotient
from tacit.answers.spreads import SURE, Ends, Spread
from tacit.noises import DiscreteGaussian, Noise

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tacit.answers import Answer

    Floats = NDArray[np.float64]

MEANS = Fraction(1, 5)
"""What the errors of the means get of what a confidence leaves; sum and count get the rest."""

Wanted = Literal["mean product", "root", "total"]


@dataclass(frozen=True)
class SecondMoment(Spread):
    """unit·top/bottom − d·d' for a sum of products around centres and a count; its root, or the sum itself.

    ``means`` say how far the means lie from the centres: one for a variance, two for a covariance.
    """

    top: int
    bottom: int
    top_noise: Noise
    bottom_noise: Noise
    unit: float
    means: tuple[Quotient, ...]
    wanted: Wanted = "mean product"
    covers = "capped value"

    @property
    def value(self) -> float:
        """What the released numbers give; a variance below zero counts as zero."""
        moment = self._whole.value - self.means[0].value * self.means[-1].value
        return self._turn(moment * max(self.bottom, 1) if self.wanted == "total" else moment)

    @property
    def _whole(self) -> Quotient:
        return Quotient(self.top, self.bottom, self.top_noise, self.bottom_noise, self.unit)

    def _turn(self, moment: float) -> float:
        least = max(moment, 0.0) if len(self.means) == 1 else moment
        return sqrt(least) if self.wanted == "root" else least

    @property
    def std(self) -> float:
        """To first order."""
        if self.wanted == "total":
            return self.unit * sqrt(self.top_noise.variance)
        return self._whole.std / (2 * self.value) if self.wanted == "root" and self.value > 0 else self._whole.std

    def interval(self, value: Any, confidence: Fraction) -> Ends:
        """Those of the quotient, or of the sum, and beyond them what the errors of the means may make."""
        miss, alone = 1 - confidence, len(self.means) == 1
        low, high, number = self._ends(1 - miss * (1 - MEANS))
        level = 1 - miss * MEANS / len(self.means)
        offs = [mean.interval(None, level) for mean in self.means]
        if inf in (high, *(max(-least, most) for least, most in offs)):
            return (0.0 if alone else -inf), inf
        corners = [a * b for a in offs[0] for b in offs[-1]]
        if alone:
            corners = [end * end for end in offs[0]] + [0.0] * (offs[0][0] < 0 < offs[0][1])
        return self._turn(low - number * max(corners)), self._turn(high - number * min(corners))

    def _ends(self, level: Fraction) -> tuple[float, float, float]:
        """Between what the sum around the centres lies, and how many products it has at most."""
        if self.wanted != "total":
            return *self._whole.interval(None, level), 1.0
        each = (1 + float(level)) / 2
        (down, up), (below, _) = self.top_noise.reach(each), self.bottom_noise.reach(each)
        return self.unit * (self.top - up), self.unit * (self.top + down), max(self.bottom + below, 0)

    def sentences(self, answer: Answer, level: Fraction = SURE) -> Iterator[str]:
        """The interval, and what is not in it."""
        yield from super().sentences(answer, level)
        if answer.interval().high == inf:
            yield "There seem to be too few persons: at this cost the noise may be all of it."
        else:
            yield "The interval does not include the effect of persons above the caps."


@dataclass(frozen=True)
class Gram:
    """Noisy sums of the products of some columns, as `ProductTotals` defines them, all with the same noise."""

    sums: tuple[int, ...]
    weights: tuple[int, int]
    noise: Noise
    steps: tuple[float, ...]
    """One step of each column, in its own unit."""
    centres: tuple[float, ...]
    """What each column's distances are from, in its own unit."""

    @property
    def columns(self) -> int:
        """How many there are."""
        return len(self.steps)

    @cached_property
    def matrix(self) -> Floats:
        """The noisy sums, the constant first."""
        return self._filled(self.sums)

    @cached_property
    def deviations(self) -> Floats:
        """The standard deviations of the noise in `matrix`."""
        return self._filled([sqrt(self.noise.variance)] * len(self.sums))

    def _filled(self, entries: Any) -> Floats:
        import numpy as np

        size, filled = self.columns + 1, np.zeros((self.columns + 1, self.columns + 1))
        places = [(0, 0), *((0, j) for j in range(1, size)), *((j, k) for j in range(1, size) for k in range(j, size))]
        for (j, k), entry in zip(places, entries, strict=True):
            filled[j, k] = filled[k, j] = entry / (self.weights[0] if k == 0 else self.weights[1] if j == 0 else 1)
        return filled

    def reach(self, confidence: float) -> Floats:
        """Within how much of each sum the one without noise lies, all at once."""
        return self._filled([max(self.noise.reach(1 - (1 - confidence) / len(self.sums)))] * len(self.sums))

    def reach_of_sums(self, confidence: float) -> float:
        """Within how many standard deviations a sum of such noises stays."""
        from statistics import NormalDist

        normal = NormalDist().inv_cdf((1 + confidence) / 2)
        return normal if isinstance(self.noise, DiscreteGaussian) else max(normal, log(1 / (1 - confidence)) / sqrt(2))

    def bounds(self, j: int, k: int, reach: Floats) -> Ends:
        """The least and the largest that the covariance of two columns may be, in steps."""
        low, high = self.matrix - reach, self.matrix + reach
        if low[0, 0] < 1:
            return -inf, inf
        means = [[end[0, i] / n[0, 0] for end in (low, high) for n in (low, high)] for i in (j, k)]
        products = [a * b for a in means[0] for b in means[1]]
        if j == k:
            products = [max(products), 0.0 if min(means[0]) < 0 < max(means[0]) else min(m * m for m in means[0])]
        ends = [end[j, k] / n[0, 0] for end in (low, high) for n in (low, high)]
        return min(ends) - max(products), max(ends) - min(products)

    def covariance(self, j: int, k: int) -> float:
        """From the released sums, in steps."""
        number = max(self.matrix[0, 0], 1.0)
        return float(self.matrix[j, k] / number - self.matrix[0, j] * self.matrix[0, k] / number**2)


@dataclass(frozen=True)
class Correlation(Spread):
    """The correlation of the two columns of a Gram matrix, or its square."""

    gram: Gram
    squared: bool = False
    covers = "capped value"

    @property
    def value(self) -> float:
        """From the released sums, never beyond ±1."""
        product = max(self.gram.covariance(1, 1), 0.0) * max(self.gram.covariance(2, 2), 0.0)
        r = _unit(self.gram.covariance(1, 2) / sqrt(product)) if product > 0 else 0.0
        return r * r if self.squared else r

    def interval(self, value: Any, confidence: Fraction) -> Ends:
        """What the box of all sums allows."""
        reach = self.gram.reach(float(confidence))
        (low, high), left, right = (self.gram.bounds(j, k, reach) for j, k in ((1, 2), (1, 1), (2, 2)))
        least, most = left[0] * right[0], left[1] * right[1]
        ends = (-1.0, 1.0)
        if min(left[0], right[0]) > 0 and most < inf:
            over = [_unit(end / sqrt(size)) for end in (low, high) for size in (least, most)]
            ends = min(over), max(over)
        if self.squared:
            squares = [end * end for end in ends]
            return (0.0 if ends[0] < 0 < ends[1] else min(squares)), max(squares)
        return ends

    def sentences(self, answer: Answer, level: Fraction = SURE) -> Iterator[str]:
        """The interval, and what is not in it."""
        yield from super().sentences(answer, level)
        yield "Persons above the cap weigh less in it; the interval does not include that."


@dataclass(frozen=True)
class Fitted(Spread):
    """A coefficient of the least-squares line of a Gram matrix's first column on the others.

    ``place`` 0 is the intercept, 1 the coefficient of the second column, and so on.
    """

    gram: Gram
    place: int
    covers = "capped value"

    @property
    def value(self) -> float:
        """From the released sums; where the noise hides all variance of a direction, it has that of the noise."""
        import numpy as np

        A, b = self._equations
        spread = A[1:, 1:] - np.outer(A[0, 1:], A[0, 1:]) / A[0, 0]
        product = b[1:] - A[0, 1:] * b[0] / A[0, 0]
        values, vectors = np.linalg.eigh(spread)
        least = float(self.gram.deviations[1, 1])
        slopes = vectors @ ((vectors.T @ product) / np.maximum(values, least))
        return float(self._functional @ np.array([(b[0] - A[0, 1:] @ slopes) / A[0, 0], *slopes])) + self._shift

    @cached_property
    def _equations(self) -> tuple[Floats, Floats]:
        """A and b of Aβ = b, in steps; fewer rows than one count as one."""
        keep = [0, *range(2, self.gram.columns + 1)]
        A, b = self.gram.matrix[keep][:, keep].copy(), self.gram.matrix[keep, 1]
        A[0, 0] = max(A[0, 0], 1.0)
        return A, b

    @cached_property
    def _functional(self) -> Floats:
        """What turns β, in steps, into the coefficient."""
        import numpy as np

        steps, centres = self.gram.steps, self.gram.centres
        found = np.zeros(self.gram.columns)
        for k in range(1, self.gram.columns):
            slope = steps[0] / steps[k]
            found[k] = -slope * centres[k] if self.place == 0 else slope * (k == self.place)
        found[0] = steps[0] if self.place == 0 else 0.0
        return found

    @property
    def _shift(self) -> float:
        return self.gram.centres[0] if self.place == 0 else 0.0

    def interval(self, value: Any, confidence: Fraction) -> Ends:
        """What the module's inequality allows."""
        import numpy as np

        (A, b), size = self._equations, self.gram.columns
        keep = [0, *range(2, size + 1)]
        noise = self.gram.deviations
        q = self.gram.reach_of_sums(1 - (1 - float(confidence)) / size)
        inverse = np.linalg.pinv(A)
        beta = inverse @ b
        off = q * np.sqrt(noise[keep, 1] ** 2 + (noise[keep][:, keep] ** 2) @ beta**2)
        loop = np.abs(inverse) @ (q * noise[keep][:, keep])
        if max(abs(np.linalg.eigvals(loop))) >= 1 or np.linalg.matrix_rank(A) < size:
            return -inf, inf
        wide = np.linalg.solve(np.eye(size) - loop, np.abs(inverse) @ off)
        reach = float(np.abs(self._functional @ inverse) @ (off + q * noise[keep][:, keep] @ wide))
        middle = float(self._functional @ beta) + self._shift
        return min(middle - reach, value), max(middle + reach, value)

    def sentences(self, answer: Answer, level: Fraction = SURE) -> Iterator[str]:
        """The interval, and what is not in it."""
        yield from super().sentences(answer, level)
        yield (
            "Persons above the cap weigh less in the fit, and other persons might have given another line; the "
            "interval includes neither."
        )


def _unit(x: float) -> float:
    return max(-1.0, min(x, 1.0))
