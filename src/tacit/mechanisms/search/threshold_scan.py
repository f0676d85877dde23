"""Threshold scan: walk a grid, compare every loss with one noisy threshold, stop at the first that passes.

PROMISE  Let adding a person move the loss, at any point, by something in [−r, s]: [0, 1] for a one-directional
loss, [−1, 1] for any other loss of sensitivity 1. Draw ξ ~ Geom(ε1) once and ν_i ~ Geom(ε2) afresh at every point
(both ≥ 0, P[Z ≥ a] = e^{-εa}). Upward: stop at the first i with ℓ(y_i) ≤ c − ξ + ν_i and return y_i. Downward: stop
at the first i with ℓ(y_i) + ν_i ≥ c + ξ and return the value visited before it, the top if none was. On a finite
grid a walk that never stops returns its last value. One draw is Pure(ε1·max(r, s) + ε2·(r + s)): ε1 + ε2 for a
one-directional loss, ε1 + 2ε2 otherwise, in either direction.

PROOF  Both walks stop at the first i with ν_i ≥ n_i + ξ; the need n_i is ℓ(y_i) − c upward, c − ℓ(y_i) downward:

    P[stop at i] = Σ_ξ P(ξ)·Π_{j<i}(1 − p_j(ξ))·p_i(ξ),   p_j(ξ) = min(1, e^{-ε2(n_j+ξ)}).

Take neighbours x, x' in either order, with n' − n in [−a, b] at every point, {a, b} = {r, s}. Compare the term ξ of
x with the term ξ + a of x'. P(ξ) = e^{ε1·a}·P(ξ + a). Every "go on" factor of x' is at least that of x, because
n'_j + ξ + a ≥ n_j + ξ. The one "stop" factor is at least e^{-ε2(a+b)} times that of x, because n'_i + ξ + a is at
most n_i + ξ + a + b. So P[stop at i] is at most e^{ε1·a + ε2(a+b)} times, and P[never stops] at most e^{ε1·a} times,
what it is for x'; the answer is a function of where the walk stops. The direction of the walk only exchanges who
pays: upward a = r when a person is added and a = s when one is removed, so a one-directional loss pays ε2 and
ε1 + ε2; downward it is the other way round. The larger of both is promised.

ACCURACY  For a loss that never rises along the grid and is 0 at its top, with r1 = e^{-ε1} and r2 = e^{-ε2}.
Early: one of n points that need at least d stops the walk with probability at most the mean of n·e^{-ε2(d+ξ)},
which is n·e^{-ε2·d}·(1 − r1)/(1 − r1·r2). Late: a point that needs −b or less is passed with probability at most
Σ_{ξ>b} P(ξ)(1 − e^{-ε2(ξ−b)}) = e^{-ε1·b}·r1(1 − r2)/(1 − r1·r2). Upward, the answer is above the lowest value of
loss 0 only if the walk passes that value, of need −c, and has a loss above w only if it stops at a need of w + 1 − c
or more. Downward, the answer is above that value only if the walk stops at a loss of 0, of need c, and has a loss
above w only if it passes the first point of loss above w, of need c − w − 1 or less. So with b + d = w + 1 the
answer is not above the true value and its loss is at most w, except with probability early(d) + late(b). On a grid
with an open end n is taken as 2^64 and the statement says so.

PARAMETERS  A public rule (`scan_rates`): the share of ε that pays for ξ and the threshold c are those that make w
smallest at β. At |Y| = 2^64 and ε = 1 that is (0.2, 0.8) and, downward, c = 59: w = 74 at β = 5 %.

COST  Stretches of equal need are skipped, never walked: the first ν ≥ n + ξ among any number of points is one draw.
Neighbouring stretches are tried together at their smallest need and a hit is kept with probability
e^{-ε2·(excess need)}, which memorylessness makes exact. 0.1 ms for 500 steps on a grid of 2^64.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from math import ceil, inf
from typing import Any, NamedTuple

from tacit.curves import StepLoss
from tacit.errors import InvalidInput
from tacit.guarantees import Pure
from tacit.mechanisms.grid_law import GridLaw
from tacit.mechanisms.law import Accuracy, Named
from tacit.mechanisms.search.scan_rates import BETA, Rates, best_offset, best_share, points, rates
from tacit.numbers.enclosures import Enclosure, exp
from tacit.numbers.exact import Number, between, positive, whole
from tacit.proofs import Argument, Proof
from tacit.proofs import rules as by
from tacit.proofs.terms import largest
from tacit.randomness.basic import _coin_exp
from tacit.randomness.discrete import _geometric
from tacit.randomness.runs import _first_success
from tacit.randomness.source import Randomness

TABLED = 64
"""So many steps of the walk are computed together, for small grids and the beginning of large ones."""


class _Stretch(NamedTuple):
    """Consecutive points of the walk that have equal need; the first is ``start`` steps from the beginning."""

    start: int
    length: int | None
    need: int


def need_of(loss: int, offset: int, up: bool) -> int:
    """The need of a point: the walk stops there if its noise is at least this, with the threshold's added."""
    return loss - offset if up else offset - loss


class ScanLaw(GridLaw):
    """The law of a threshold scan."""

    def __init__(
        self,
        loss: StepLoss,
        up: bool,
        rates: Rates,
        offset: int,
        guarantee: Pure,
        moves: tuple[int, int] | None = None,
    ) -> None:
        self.grid, self.guarantee, self._moves = loss.grid, guarantee, moves or loss.moves
        self.name = f"{'upward' if up else 'downward'} threshold scan"
        self.rates, self.offset = rates, offset
        self._up, self._loss = up, loss
        begin = loss.grid.first if up else loss.grid.last
        assert begin is not None  # the walk has a beginning
        self._begin = begin
        self._stretches = list(self._needs())
        self._starts = [stretch.start for stretch in self._stretches]
        self._table = lru_cache(maxsize=2)(self._visit_first)

    def named(self) -> Named:
        """The rates of both noises, how far the loss moves, and among what; direction and threshold cost nothing."""
        threshold, each = map(str, self.rates)
        moves = [str(part) for part in self._moves]
        return {"law": "threshold scan", "threshold": threshold, "each": each, "moves": moves, "of": self.grid.named()}

    def _needs(self) -> Iterator[_Stretch]:
        start = 0
        for run in self._loss.runs if self._up else reversed(self._loss.runs):
            yield _Stretch(start, run.length, need_of(run.loss, self.offset, self._up))
            start += run.length or 0

    # Drawing

    @cached_property
    def _groups(self) -> list[_Stretch]:
        """Neighbouring stretches joined, with their smallest need, while that leaves about one hit to expect."""
        groups: list[_Stretch] = []
        for stretch in self._stretches:
            if groups and groups[-1].length is not None and stretch.length is not None:
                length, need = groups[-1].length + stretch.length, min(groups[-1].need, stretch.need)
                if 10 * need * self.rates.each >= 7 * length.bit_length():
                    groups[-1] = _Stretch(groups[-1].start, length, need)
                    continue
            groups.append(stretch)
        return groups

    def _stop(self, source: Randomness) -> int | None:
        """How many steps the walk makes before it stops; None where it does not."""
        threshold, each = self.rates
        xi = _geometric(threshold.numerator, threshold.denominator, source)
        for group in self._groups:
            step, need = group.start, max(0, group.need + xi)
            while True:
                left = None if group.length is None else group.start + group.length - step
                hit = _first_success(each * need, left, source)
                if hit is None:
                    break
                step += hit
                excess = max(0, self._stretches[self._which(step)].need + xi) - need
                if not excess or _coin_exp(excess * each.numerator, each.denominator, source):
                    return step
                step += 1
        return None

    def _which(self, step: int) -> int:
        return bisect_right(self._starts, step) - 1

    def _draw_index(self, source: Randomness) -> int:
        step = self._stop(source)
        if step is None:
            end = self.grid.last if self._up else self.grid.first
            assert end is not None  # an endless walk stops with probability one
            return end
        return self._begin + step if self._up else self._begin - max(0, step - 1)

    # The exact law

    def _pmf_at(self, index: int, bits: int) -> Enclosure:
        step = index - self._begin if self._up else self._begin - index
        if self.grid.size == 1:
            return Enclosure.of(1, bits)
        if self._up:
            return self._visit(step, bits)[0 if index == self.grid.last else 1]
        if index == self.grid.first:
            return self._visit(step + 1, bits)[0]
        stop = self._visit(step + 1, bits)[1]
        return stop + self._visit(0, bits)[1] if step == 0 else stop

    def _cdf_at(self, index: int, bits: int) -> Enclosure:
        if self._up:  # stopped by then
            return (1 - self._visit(index - self._begin + 1, bits)[0]).clamp(0, 1)
        return self._visit(self._begin - index + 1, bits)[0]  # passed this point too

    def _visit(self, step: int, bits: int) -> tuple[Enclosure, Enclosure]:
        """The probabilities that the walk makes these steps without stopping, and that it stops there."""
        return self._table(bits)[step] if step <= TABLED else self._visits([step], bits)[0]

    def _visit_first(self, bits: int) -> list[tuple[Enclosure, Enclosure]]:
        return self._visits(range(int(min(self.grid.size, TABLED)) + 1), bits)

    def _visits(self, steps: Sequence[int], bits: int) -> list[tuple[Enclosure, Enclosure]]:
        """For each of increasing steps Σ_ξ P(ξ)·Π(1 − p_j(ξ)) over the points before, and the same with its own p(ξ).

        The terms ξ ≥ cut are summed in closed form, their product being between its value at the cut and 1.
        """
        parts = list(self._parts(steps))
        threshold, each = self.rates
        size = max((length.bit_length() for passed, _ in parts for length, _ in passed), default=0)
        chances = _chances(each, bits + 32, size)
        cut = self._cut(parts, bits)
        weight, fall = 1 - exp(-threshold, bits + 32), exp(-threshold, bits + 32)
        sums = [(Enclosure.of(0, bits), Enclosure.of(0, bits)) for _ in parts]
        for xi in range(cut):
            for i, (product, chance) in enumerate(_products(parts, chances, xi)):
                reached = weight * product
                sums[i] = sums[i][0] + reached, sums[i][1] + reached * chance
            weight = weight * fall
        last = [(Enclosure.of(0, bits), Enclosure.of(0, bits))] * len(parts)
        both = fall * chances.hit(1)  # r1·r2
        for i, (product, chance) in enumerate(_products(parts, chances, cut)):
            rest = Enclosure.between(product, 1, bits + 32)
            last[i] = (rest * weight / (1 - fall), rest * weight * chance / (1 - both))
        return [((a + c).clamp(0, 1), (b + d).clamp(0, 1)) for (a, b), (c, d) in zip(sums, last, strict=True)]

    def _parts(self, steps: Sequence[int]) -> Iterator[tuple[list[tuple[int, int]], int]]:
        """For each step: lengths and needs of the stretches since the step before, and the step's own need."""
        done = 0
        for step in steps:
            passed: list[tuple[int, int]] = []
            for stretch in self._stretches[self._which(done) : self._which(step) + 1]:
                end = step if stretch.length is None else min(step, stretch.start + stretch.length)
                if end > max(done, stretch.start):
                    passed.append((end - max(done, stretch.start), stretch.need))
            yield passed, self._stretches[self._which(step)].need
            done = step

    def _cut(self, parts: Sequence[tuple[list[tuple[int, int]], int]], bits: int) -> int:
        """From which ξ on the closed form is taken, so that what it leaves open is about 2^-bits of the sums."""
        threshold, each = self.rates
        needs = [need for _, need in parts] + [need for passed, _ in parts for _, need in passed]
        begin = max(0, 1 - min(needs))  # from here on every p(ξ) is below 1 and falls like e^{-ε2·ξ}
        for passed, _ in parts:
            for length, need in passed:
                begin = max(begin, ceil(length.bit_length() * Fraction(7, 10) / each) - need)
        return begin + ceil(bits * Fraction(7, 10) / (threshold + each)) + 1

    # Accuracy

    def _parameters(self) -> Hashable:
        return self.rates, self.offset

    def accuracy(self, beta: Number) -> Accuracy:
        """The window [smallest value of loss w, true value], for losses that fall to 0 along the grid."""
        failure = between(beta, "beta", 0, 1)
        size, c = points(self.grid), self.offset
        wrong = self.rates.late(c) if self._up else self.rates.early(size, c)
        left = failure - wrong.high
        if left <= 0:
            raise InvalidInput("beta must be above what the offset allows; give a larger offset or a larger beta.")
        reach = self.rates.need_for(size, left) if self._up else self.rates.excess_for(left)
        window = max(0, c + reach - 1)
        statement = (
            "for a loss that falls to 0 along the grid the answer is not above the lowest value of loss 0 and its loss "
            f"is at most {window}, with probability at least {1 - failure}"
        )
        if self.grid.size == inf:
            statement += ", if that value is among the first 2^64 of the walk"
        return Accuracy(failure, window, statement)


class _Chances:
    """e^{-ε2·n} and −ln(1 − e^{-ε2·n}) for whole n ≥ 1, each computed once."""

    def __init__(self, rate: Fraction, bits: int, size: int) -> None:
        self._rate, self._bits, self.fixed = rate, bits, bits + size
        self._hits: dict[int, Enclosure] = {}
        self._stays: dict[int, Enclosure] = {}
        self._logs: dict[int, tuple[int, int]] = {}

    def hit(self, n: int) -> Enclosure:
        """e^{-ε2·n}."""
        if n not in self._hits:
            self._hits[n] = exp(-self._rate * n, self._bits)
        return self._hits[n]

    def stay(self, n: int) -> Enclosure:
        """1 − e^{-ε2·n}."""
        if n not in self._stays:
            self._stays[n] = 1 - self.hit(n)
        return self._stays[n]

    def log_stay(self, n: int) -> tuple[int, int]:
        """Ends of −ln(1 − e^{-ε2·n})·2^fixed."""
        if n not in self._logs:
            self._logs[n] = (-(1 - exp(-self._rate * n, self.fixed + 16)).log()).fixed(self.fixed)
        return self._logs[n]


@lru_cache(maxsize=8)
def _chances(rate: Fraction, bits: int, size: int) -> _Chances:
    return _Chances(rate, bits, size)


def _products(
    parts: Sequence[tuple[list[tuple[int, int]], int]], chances: _Chances, xi: int
) -> Iterator[tuple[Enclosure, Enclosure]]:
    """For each step Π(1 − p(ξ)) over all points before it, and its own p(ξ); ends where the walk surely stops."""
    product, low, high, bits = Enclosure.of(1, chances._bits), 0, 0, chances._bits
    for passed, need in parts:
        for length, level in passed:
            if level + xi <= 0:
                return
            if length <= 4:  # short: multiply; long: add logarithms
                for _ in range(length):
                    product = product * chances.stay(level + xi)
            else:
                a, b = chances.log_stay(level + xi)
                low, high = low + length * a, high + length * b
        shrunk = product
        if high:
            unit = 1 << chances.fixed
            shrunk = product * Enclosure.between(
                exp(Fraction(-high, unit), bits), exp(Fraction(-low, unit), bits), bits
            )
        yield shrunk, chances.hit(max(0, need + xi))


def threshold_scan(
    loss: StepLoss,
    epsilon: Number,
    direction: str = "up",
    split: Number | None = None,
    offset: int | None = None,
    *,
    change: tuple[int, int] | None = None,
    beta: Number = BETA,
) -> ScanLaw:
    """The first grid value whose loss passes a noisy threshold, walking up; the last before that, walking down.

    ``split`` is the share of ε that pays for the threshold's noise and ``offset`` the threshold c; what is not given
    follows the public rule, made for failure probability ``beta``. ``change`` = (r, s) says that adding a person moves
    the loss by something in [−r, s], for a loss that is not of sensitivity 1.

    >>> from tacit.curves import StepLoss
    >>> from tacit.grids import integers
    >>> from tacit.mechanisms import threshold_scan
    >>> loss = StepLoss.from_losses(integers(0, 3), [3, 2, 1, 0], one_directional=True)
    >>> threshold_scan(loss, epsilon=1).guarantee
    Pure(1)
    """
    total, failure = positive(epsilon, "epsilon"), between(beta, "beta", 0, 1)
    share = None if split is None else between(split, "split", 0, 1)
    if direction not in ("up", "down"):
        raise InvalidInput('direction must be "up" or "down".')
    up = direction == "up"
    begin, end = (loss.grid.first, loss.grid.last) if up else (loss.grid.last, loss.grid.first)
    if begin is None:
        raise InvalidInput("grid must have a lowest value to walk up, a highest one to walk down; give that end.")
    moves, size = _moves(loss, change), points(loss.grid)
    if share is None:
        share = best_share(total, moves, size, end is None, failure)
    pair = rates(total, moves, share)
    c = best_offset(pair, size, up, failure)[1] if offset is None else whole(offset, "offset", 0)
    if end is None and not pair.ends and not exp(-pair.threshold * (c + 1)).below(Fraction(1, 10**6)):
        raise InvalidInput("split must leave the threshold 1.7 times the comparisons' rate on an open grid; raise it.")
    return ScanLaw(loss, up, pair, c, Pure(total), moves)


def _moves(loss: StepLoss, change: tuple[int, int] | None) -> tuple[int, int]:
    """(r, s): how far adding one person can move the loss down and up."""
    if change is None:
        return loss.moves
    down, up = whole(change[0], "change", 0), whole(change[1], "change", 0)
    if not down and not up:
        raise InvalidInput("change must not be (0, 0); give how far one person can move the loss down and up.")
    return down, up


def walk(p: Argument, pair: Rates, low: Any, stop: Any, *, visited: Any, up: bool = True) -> Any:
    """The price of a walk: ``visited`` gives the move of the loss at a point passed by, ``stop`` is that at the stop.

    The threshold's noise grows by −low, low the least move of a need; then every point passed by is passed by again.
    """
    loss, c, xi, nu, by_how_much = p.count("ℓ"), p.whole("c"), p.count("ξ"), p.count("ν"), -low

    def stops(move: Any, more: Any, own: Any) -> Any:
        return nu + own >= need_of(loss + move, c, up) + (xi + more)

    with p.case("going on"):
        by.keep(p, ~stops(0, 0, 0), ~stops(visited(), by_how_much, 0))
    lift = largest(0, need_of(stop, 0, up) + by_how_much)
    by.keep(p, stops(0, 0, 0), stops(stop, by_how_much, lift))
    return by.shift(p, by_how_much, pair.threshold) + by.shift(p, lift, pair.each)


def argue(
    p: Argument, *, rule: Any = rates, up: bool = True, moved: int = 1, change: tuple[int, int] | None = None
) -> None:
    """A loss that moves by something in [−r, s], any or as ``change`` says, walked with the rates of a rule."""
    epsilon, share = p.positive("ε"), p.within("share", 0, 1)
    r, s = (p.count("r"), p.count("s")) if change is None else change
    if change is None:
        p.assume(r + s >= 1)
    pair = rule(epsilon, (r, s), share)
    for low, high in by.both_ways(p, -moved * r, moved * s):
        stop = p.steps("move", low, high)
        price = walk(
            p, pair, low if up else -high, stop, visited=lambda a=low, b=high: p.steps("any move", a, b), up=up
        )
        p.promise(price, epsilon)


_GIVEN = "adding a person moves the loss of every point by something in [−r, s]"

PROOFS = (
    Proof("threshold scan upward", "mechanisms.threshold_scan", "Pure(ε)", argue, _GIVEN),
    Proof("threshold scan downward", "mechanisms.threshold_scan", "Pure(ε)", partial(argue, up=False), _GIVEN),
)
