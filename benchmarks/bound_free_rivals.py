"""Other ways to release a sum without bounds that were tried: each is Pure(ε) and simulated as it would run.

With N(C) persons above C, rates as shares of ε:

- *joint scan*: the upward scan (ε1, ε2, c) on N(C), C = ρλ, then one number, Σ min(s, λ) or Σ_{s≤C} s + λ·N(C), with
  noise of rates up/λ and down/λ. Adding a person pays at most ε1 + up if s > C and ε1 + ε2 + ρ·up if not, upward, and
  ε2 + down downward: up = min(1 − ε1, (1 − ε1 − ε2)/ρ), down = 1 − ε2.
- *separate scan*: half of ε for the scan, half for Laplace noise at the cap.
- *joint weights*: the cap with probability ∝ C^-p·e^{-κN(C)}, then one number as above; a person pays up if s > C, κ
  + ρ·up if not, and κ + down downward.
- *two numbers after a scan*: what lies within the cap and how many lie above it, the cap by a scan alone.
- *extrapolated*: a level C0 by weights C^-p·e^{-κN(C)} at a low rate, where dozens of persons still lie above; how many
  do, N0, and how many lie between C0/2 and C0, at rates that with κ make up E1 (a person is counted in one of them:
  above C0 they pay [−κ, 0] for the choice and then up to E1 upward and E1 − κ downward, below it the other way round);
  from both the tail's slope, and by it the cap at which about one person/ε is left; then Σ min(s, C) with Laplace noise
  of the rest. Pure by composition. Its weights need n·κ > p·ln C, some 130·ln C persons/ε, so that fine units fail.
- *parts by scale*: a rough scan, then a noisy sum for each scale above it (disjoint persons, so each at nearly all of
  ε), added up as long as they stand out of the noise.
"""

from __future__ import annotations

from collections.abc import Callable
from math import floor

import numpy as np
from bound_free_data import Floats, Rng, Totals, drawn, lopsided, scanned, weighed

Method = Callable[[Totals, float, int, Rng], Floats]
"""Totals, ε, how many draws, and where they come from, to the released values."""

PER_DOUBLING = 4
FINE = np.unique(np.rint(2 ** (np.arange(126 * PER_DOUBLING) / PER_DOUBLING)))


def grid(base: float) -> Floats:
    """Ascending integers by a factor."""
    found = [1.0]
    while found[-1] < 2.0**120:
        found.append(max(found[-1] + 1, float(round(found[-1] * base))))
    return np.array(found)


def joint_scan(
    threshold: float, each: float, offset: float, base: float, inner: float, *, exactly: bool = True, shift: float = 0
) -> Method:
    """``exactly``: persons between C and λ count as they are, not as λ; ``shift``: λ/ε times it is added."""

    def release(data: Totals, epsilon: float, size: int, rng: Rng) -> Floats:
        largest = grid(base)
        caps = np.floor(inner * largest)
        above, within = data.split(caps)
        law = scanned(above, threshold * epsilon, each * epsilon, floor(offset / epsilon))
        up, down = min(1 - threshold, (1 - threshold - each) / inner) * epsilon, (1 - each) * epsilon
        value = data.capped(largest) if exactly else within + largest * above
        return _one_number(value, largest, law, (up, down), shift / epsilon, size, rng)

    return release


def separate_scan(threshold: float, offset: float, base: float) -> Method:
    """``threshold`` is the share of the scan's half."""

    def release(data: Totals, epsilon: float, size: int, rng: Rng) -> Floats:
        caps, half = grid(base), epsilon / 2
        law = scanned(data.split(caps)[0], threshold * half, (1 - threshold) * half, floor(offset / epsilon))
        return _one_number(data.capped(caps), caps, law, (half, half), 0, size, rng)

    return release


def joint_weights(rate: float, power: float, base: float, inner: float, shift: float) -> Method:
    """The weights of the choice, then one number."""

    def release(data: Totals, epsilon: float, size: int, rng: Rng) -> Floats:
        largest = grid(base)
        caps = np.floor(inner * largest)
        law = weighed(data.split(caps)[0], largest, rate * epsilon, power)
        up, down = min(1.0, (1 - rate) / inner) * epsilon, (1 - rate) * epsilon
        return _one_number(data.capped(largest), largest, law, (up, down), shift / epsilon, size, rng)

    return release


def _one_number(
    value: Floats, scale: Floats, law: Floats, rates: tuple[float, float], shift: float, size: int, rng: Rng
) -> Floats:
    place = drawn(rng, law, size)
    unit = scale[place]
    return np.asarray(value[place] + lopsided(rng, rates[0] / unit, rates[1] / unit, size) + shift * unit)


def two_numbers_after_scan(threshold: float, each: float, offset: float, counted: float, allowed: float) -> Method:
    """As for few persons in the library, whatever their number."""

    def release(data: Totals, epsilon: float, size: int, rng: Rng) -> Floats:
        caps = FINE
        above, within = data.split(caps)
        place = drawn(rng, scanned(above, threshold * epsilon, each * epsilon, floor(offset / epsilon)), size)
        unit = caps[place]
        low = within[place] + lopsided(rng, (1 - threshold - each) * epsilon / unit, epsilon / unit, size)
        high = above[place] + lopsided(rng, (1 - threshold) * epsilon, (1 - each) * epsilon, size)
        return np.asarray(low + counted * unit * np.maximum(0, high - allowed / epsilon))

    return release


def parts_by_scale(threshold: float, each: float, offset: float, steps: int, stands_out: float, shift: float) -> Method:
    """Each part spans ``steps`` of the fine grid; ``shift`` largest scales over ε are added for who is left."""

    def release(data: Totals, epsilon: float, size: int, rng: Rng) -> Floats:
        above, within = data.split(FINE)
        start = drawn(rng, scanned(above, threshold * epsilon, each * epsilon, floor(offset / epsilon)), size)
        unit = FINE[start]
        rates = (1 - threshold - each) * epsilon, epsilon, (1 - threshold) * epsilon, (1 - each) * epsilon
        total = within[start] + lopsided(rng, rates[0] / unit, rates[1] / unit, size)
        going, place = np.ones(size, dtype=bool), start
        for _ in range(10 * PER_DOUBLING // steps):
            following = np.minimum(place + steps, len(FINE) - 1)
            scale = FINE[following]
            part = within[following] - within[place] + lopsided(rng, rates[2] / scale, rates[3] / scale, size)
            going &= part > stands_out * scale / epsilon
            total = total + np.where(going, part, 0)
            unit, place = np.where(going, scale, unit), following
        return np.asarray(total + shift * unit / epsilon)

    return release


def extrapolated(rate: float, found: float, power: float, slope: float, least: float, left: float) -> Method:
    """``rate`` is κ and ``found`` E1; the slope counts ``slope`` times, at least ``least``; ``left``/ε persons stay."""

    def release(data: Totals, epsilon: float, size: int, rng: Rng) -> Floats:
        caps = np.unique(np.rint(10 ** (np.arange(37 * 40) / 40)))
        above = data.split(caps)[0]
        start = caps[drawn(rng, weighed(above, caps, rate * epsilon, power), size)]
        over = data.split(start)[0]
        near = data.split(start / 2)[0] - over
        seen = over + lopsided(rng, found * epsilon, (found - rate) * epsilon, size)
        below = np.maximum(near + lopsided(rng, (found - rate) * epsilon, found * epsilon, size), 1 / epsilon)
        bend = slope * np.log2(1 + below / np.maximum(seen, 0.6 / epsilon))
        further = np.maximum(seen - 0.44 / found / epsilon, 0.6 / epsilon) * epsilon / left
        cap = start * np.clip(further, 1, 1e4) ** (1 / np.maximum(bend, least))
        cap = caps[np.minimum(np.searchsorted(caps, cap), len(caps) - 1)]
        return np.asarray(data.capped(cap) + cap * (rng.laplace(0, 1 / ((1 - found) * epsilon), size) + 0.08 / epsilon))

    return release


RIVALS: dict[str, Method] = {
    "extrapolated from dozens of persons": extrapolated(0.06, 0.155, 8.3, 1.42, 2.1, 0.67),
    "joint scan (0.35, 0.2, 7), base 1.5": joint_scan(0.35, 0.2, 7, 1.5, 1 - 0.2 / 0.65, exactly=False),
    "joint scan (0.4, 0.15, 8), base 1.5": joint_scan(0.4, 0.15, 8, 1.5, 0.75, exactly=False),
    "joint scan, best found": joint_scan(0.37, 0.15, 3, 1.19, 0.74, shift=0.35),
    "joint scan, best with a safe far tail": joint_scan(0.43, 0.13, 5.4, 1.16, 0.57, shift=0.1),
    "separate scan, halves": separate_scan(0.65, 6, 1.3),
    "joint weights, one number": joint_weights(0.32, 3.2, 1.35, 0.76, 0.5),
    "two numbers after a scan": two_numbers_after_scan(0.33, 0.08, 11, 1.6, 1.5),
    "parts by scale": parts_by_scale(0.12, 0.06, 50, 3, 1.5, 0.5),
}
