"""Totals over time that go on for ever: noise on every node of trees over bins, persons capped over all of them.

Bins of time come one after the other or many at once, and nobody says how many there will be. A *chapter* is what one
charge pays for. Its bins are cut into *blocks* with a tree over each (`tacit.answers.nodes`); a node is released, with
noise, once its last bin is there, and stays as it was released. Bins, cumulative totals and totals of ranges follow
from the nodes by least squares. Nothing else is kept: no noise waits for later, so a series is continued from what was
released alone.

CAP  x_t ≥ 0 is what a person brings to bin t of the chapter (the size of it, for sums), X_t = x_1 + … + x_t. It counts
for v_t = min(X_t, C) − min(X_{t-1}, C): rows count in the order of time until C is reached, and then no more. v_t
follows from the person's own rows up to bin t, so it is the same when later bins arrive. All v_t add up to C at most.
Beside the totals the number of persons who pass C in each bin is released in the same way: a person does so once.

PROMISE  All that is ever released of a chapter is Pure(ε), or Zcdp(ρ), however many bins there will be, whenever they
are asked for and whatever decides that. So the next period costs nothing inside a chapter; a new chapter, with a new
cap, costs what is named for it. The unit is a person over the whole series; over k chapters the costs add up.

PROOF  Level l of a block has the share w_l of ε, Σ_l w_l = 1, and its nodes get Laplace noise of scale C/(w_l·ε). A bin
lies in one node of each level of one block. A person adds v_t to the nodes that hold bin t, so moves those of level l
by at most Σ_{t in block} v_t in ℓ1, and the ratio of probabilities of everything released is at most exp(Σ_blocks Σ_l
(w_l·ε/C)·Σ_{t in block} v_t) = exp(ε/C·Σ_t v_t) ≤ e^ε. This holds along every path of outcomes, so bins may be asked
for, and rows may be added, in view of what was released. With ρ the noise on level l has the variance C²/(2·w_l·ρ): the
ℓ2 norm of what a person adds to a level of a block is at most its ℓ1 norm c_b = Σ_{t in block} v_t, so the sum of D_α
is at most α·Σ_b Σ_l w_l·ρ·c_b²/C² = αρ·Σ_b (c_b/C)² ≤ αρ, along every path again: a filter over rounds whose costs add
up to ρ for certain (Feldman and Zrnic 2021).

IF EARLIER DATA CHANGE  Rows that come late, for bins that were released, cost nothing more as long as what a person
brings to a bin only grows, as counts and sums of positive values do: nodes of one level are released in the order of
time, each with min(X_t, C) as it is then, which only grows, so what a person adds to them still telescopes to C at
most. If rows of released bins are taken away or changed, in a corrected file, the person may be counted anew from there
on: whose rows were changed r times is protected by (r + 1) times ε, or (r + 1)² times ρ; everybody else as before.
Nodes that were released stay what they were.

THE TREES  With Laplace noise every level costs its share, so few levels and many children are best: none below 16 bins,
one level of nodes above the bins from there on, two from 250, three from 3,000 (`opening`). With Gaussian noise shares
count by their roots, so nodes have about three children and there is one over the whole block. A block for bins to come
has room for `GROWTH` times as many as there are: the sum over all blocks is then not much larger than the last one's.
Standard deviation of cumulative totals, root mean square over the bins, in C/ε or C/√(2ρ), as measured in
benchmarks/series.py:

    bins at once            12     60    365  1,800   |  1,800 one after the other
    Laplace noise, this    3.6    5.9    9.0   12.3   |  15.9
      binary tree          3.6    7.8   13.2   18.4   |
      bins added up        3.6    7.8   19.1   42.4   |  42.4
    Gaussian noise, this   1.8    2.4    3.3    4.0   |  4.7
      binary tree          1.8    2.5    3.1    3.9   |
      root of the sums     1.7    2.2    2.8    3.3   |

A binary tree has as many levels as serve it best. The last is the factorisation by the square root of the matrix of
sums: it needs the number of bins, and to go on it would have to keep noise that was not released. With Laplace noise it
is worse than adding up bins.

COST  Milliseconds, for thousands of bins.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any

from tacit.answers.nodes import Block
from tacit.errors import InvalidInput
from tacit.guarantees import Guarantee
from tacit.mechanisms.noise.noise import NoiseVector, gaussian_vector, laplace_vector
from tacit.mechanisms.together import Together
from tacit.noises import DiscreteGaussian, DiscreteLaplace
from tacit.numbers.exact import Number, whole
from tacit.proofs import Argument, Proof
from tacit.proofs import rules as by
from tacit.proofs.terms import equal, smallest

GROWTH = 7
"""A block for bins to come has room for so many times as many as the chapter has."""

FIRST = {False: 32, True: 27}
"""The least room of such a block, with Laplace and with Gaussian noise."""

TILT = Fraction(9, 10)
"""With Gaussian noise a level takes so much of what the one below takes."""

ABOVE = ((16, 1, Fraction(8, 5)), (250, 2, Fraction(19, 10)), (3000, 3, Fraction(2)))
"""With Laplace noise: from so many bins on, so many levels above the bins, and by what the number of children grows."""


def opening(bins: int, concentrated: bool) -> Block:
    """The block of bins that are there at once, or that have room for them."""
    if concentrated:
        levels, children = max(0, _whole_root(bins, 3) - 1), 3
        sizes = [1, *(children**level for level in range(1, levels + 1))]
        sizes += [bins] if bins > sizes[-1] else []
        parts = [TILT**level for level in range(len(sizes))]
        return Block(bins, tuple(sizes), tuple(part / sum(parts) for part in parts))
    levels, more = next(((n, by) for least, n, by in reversed(ABOVE) if bins >= least), (0, Fraction(1)))
    children = nearest_root(bins * more, levels + 1)
    sizes = [children**level for level in range(levels + 1)]
    return Block(bins, tuple(sizes), (Fraction(1, len(sizes)),) * len(sizes))


def following(before: int, concentrated: bool) -> Block:
    """The block of bins to come, where a chapter has so many."""
    return opening(max(FIRST[concentrated], GROWTH * before), concentrated)


def blocks_for(blocks: Sequence[Block], bins: int, concentrated: bool) -> tuple[Block, ...]:
    """The blocks of a chapter with room for so many bins: those it has, and further ones as needed."""
    found = list(blocks) or [opening(bins, concentrated)]
    while (room := sum(block.bins for block in found)) < bins:
        found.append(following(room, concentrated))
    return tuple(found)


def _whole_root(number: int, base: int) -> int:
    """The power of the base nearest to a number, on the scale of powers."""
    power = 0
    while base ** (2 * power + 1) < number**2:
        power += 1
    return power


def nearest_root(number: Fraction, power: int) -> int:
    """The whole number, at least 2, whose power is nearest to a number on the scale of numbers."""
    root = 2
    while (2 * root + 1) ** power < number * 2**power:
        root += 1
    return root


def allowed(before: Any, after: Any, cap: Any) -> Any:
    """What counts of a bin in which all that a person brought so far grows from one number to another."""
    return min(after, cap) - min(before, cap)


def capped(brought: Sequence[int], cap: int) -> list[int]:
    """What a person counts for in each bin: in the order of time, until the cap is reached."""
    sums = list(accumulate(map(abs, brought), initial=0))
    sizes = [allowed(before, after, cap) for before, after in pairwise(sums)]
    return [size if x >= 0 else -size for size, x in zip(sizes, brought, strict=True)]


def passes(brought: Sequence[int], cap: int) -> list[int]:
    """In which bin a person passes the cap: 1 there, 0 elsewhere."""
    sums = list(accumulate(map(abs, brought), initial=0))
    return [int(before <= cap < after) for before, after in pairwise(sums)]


def node_laws(
    values: Sequence[int],
    block: Block,
    moves: int,
    epsilon: Number | None = None,
    rho: Number | None = None,
    *,
    before: int = 0,
) -> list[NoiseVector | None]:
    """For each level the law of the nodes of a block that these bins complete; None where they complete none.

    ``moves`` is by how much a person moves the bins of the chapter altogether, ``before`` how many bins were there.
    """
    (amount,), noisy = paid(epsilon, rho).numbers, laplace_vector if rho is None else gaussian_vector
    levels = zip(block.totals(values, before), block.weights, strict=True)
    return [noisy(totals, level_amount(amount, weight), moves) if totals else None for totals, weight in levels]


def paid(epsilon: Number | None, rho: Number | None) -> Guarantee:
    """What a chapter costs."""
    if (epsilon is None) is (rho is None):
        raise InvalidInput("give either epsilon= or rho=.")
    return Guarantee.of(epsilon=epsilon, rho=rho)


def level_amount(amount: Any, weight: Any) -> Any:
    """What a level of this weight has of ε or ρ."""
    return amount * weight


def running_totals(
    values: Sequence[int],
    cap: int,
    epsilon: Number | None = None,
    rho: Number | None = None,
    *,
    batches: Sequence[int] | None = None,
) -> Together[tuple[int, ...]]:
    """The law of all nodes of a chapter whose bins come in some batches, Pure(ε) or Zcdp(ρ).

    Args:
        values: the total of each bin, persons capped by `capped`.
        cap: what a person counts for at most over all bins.
        epsilon: what the chapter may cost.
        rho: the same for Gaussian noise.
        batches: how many bins come at once each time; all of them unless given.

    A draw has the nodes level by level, in the order in which they are released.

    >>> from tacit.mechanisms import running_totals
    >>> running_totals([12, 9, 15], cap=1, epsilon=1).guarantee
    Pure(1)
    """
    guarantee, moves = paid(epsilon, rho), whole(cap, "cap", 1)
    sizes = [len(values)] if batches is None else [whole(size, "batches", 1) for size in batches]
    if sum(sizes) != len(values) or not values:
        raise InvalidInput("batches must add up to the number of values, of which there must be at least one.")
    blocks: tuple[Block, ...] = ()
    laws: list[NoiseVector] = []
    for before, done in pairwise(accumulate(sizes, initial=0)):
        blocks = blocks_for(blocks, done, rho is not None)
        batch = batch_laws(values[:done], blocks, before, moves, epsilon, rho)
        laws += [law for levels in batch for law in levels if law is not None]
    return Together(laws, guarantee)


def batch_laws(
    values: Sequence[int],
    blocks: Sequence[Block],
    before: int,
    moves: int,
    epsilon: Number | None = None,
    rho: Number | None = None,
) -> list[list[NoiseVector | None]]:
    """For each block and each level the law of the nodes that are complete now and were not ``before``."""
    found, first = [], 0
    for block in blocks:
        inside = values[first : first + block.bins]
        old = min(max(before - first, 0), block.bins)
        found.append(node_laws(inside, block, moves, epsilon, rho, before=old) if inside else [])
        first += block.bins
    return found


def argue(p: Argument, *, times: int = 1, again: int = 1) -> None:
    """Bin after bin until anything: two levels of any weights, a person who brings anything to each bin.

    ``times`` is how often a node is released, ``again`` how often the cap is given to a person.
    """
    epsilon, cap = p.positive("ε"), p.count("C", 1)
    weight, sign = p.within("w", 0, 1), p.steps("sign", -1, 1)
    p.assume(weight > 0, weight < 1)
    rates = [DiscreteLaplace.for_pure(level_amount(epsilon, w), cap).rate for w in (weight, 1 - weight)]

    def turn(state: Any) -> Any:
        brought, used = state
        after = brought + p.count("x")
        counted = allowed(brought, after, cap)
        prices = [by.noise(p, sign * counted, rate, rate) for rate in rates]
        return (after, used + counted), times * sum(prices)

    def invariant(spent: Any, state: Any) -> Any:
        brought, used = state
        return (brought >= 0) & equal(used, smallest(brought, cap)) & (spent * cap <= epsilon * used)

    chapters = [by.loop(p, (0, 0), invariant, turn, lambda state: state[1] <= cap, epsilon) for _ in range(again)]
    p.promise(sum(chapters), epsilon)


def argue_gaussian(p: Argument, *, again: int = 1) -> None:
    """Blocks of any number, in each of which a person adds c to two levels of any weights."""
    rho, cap, weight = p.positive("ρ"), p.count("C", 1), p.within("w", 0, 1)
    p.assume(weight > 0, weight < 1)
    scales = [DiscreteGaussian.for_zcdp(level_amount(rho, w), cap).squared_scale for w in (weight, 1 - weight)]

    def turn(state: Any) -> Any:
        counted = p.count("c")
        return (state[0] + counted,), sum(by.gaussian(p, counted, scale) for scale in scales)

    def invariant(spent: Any, state: Any) -> Any:
        return (state[0] >= 0) & (spent * cap * cap <= rho * state[0] * state[0])

    p.promise(by.loop(p, (0,), invariant, turn, lambda state: state[0] <= again * cap, rho), rho)


_GIVEN = "a person brings something to each bin, and counts for `allowed` of it; their rows in released bins stay"

PROOFS = (
    Proof("totals over time", "mechanisms.running_totals", "Pure(ε)", argue, _GIVEN),
    Proof("totals over time, Gaussian noise", "mechanisms.running_totals", "Zcdp(ρ)", argue_gaussian, _GIVEN),
)
