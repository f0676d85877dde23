# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # A researcher: a mechanism of your own
#
# You will turn a mechanism on paper into a law, verify it over all small datasets, break it on purpose to see that the
# check notices, compare it with another mechanism, and release it under a budget.
#
# The example is **the busiest of a few public places**. Each person visits one place, and we release a place that is
# nearly the busiest. The idea: choose place i with probability in proportion to 1/(1 + g)², where g is the number of
# visits by which it falls short of the busiest. That needs no exponential, and every probability is a fraction.
#
# One person moves a gap by at most one, and so 1 + g by a factor of at most 2, each weight by at most 4, and the sum of
# the weights by at most 4. So no probability changes by a factor of more than 16, and ε = log 16 = 2.7726 is enough.
# That is a proof. Is it the best?

# %%
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement
from math import lcm

from tacit import Pure
from tacit.audit.exact import neighbours, verify
from tacit.mechanisms import Law
from tacit.numbers.enclosures import BITS, Enclosure
from tacit.randomness import uniform_below

PLACES = ("harbour", "market", "park")

# %% [markdown]
# ## The law
#
# A law says how to draw an output and how probable each output is. A probability is an enclosure, two fractions with
# the true one between them, so that no rounding can hide a loss. Draws use integers only.


# %%
class Busiest(Law[str]):
    """A place, with probability in proportion to 1/(1 + gap)²."""

    name = "busiest place"
    guarantee = Pure("2.7726")
    power = 2

    def __init__(self, visits: tuple[str, ...]) -> None:
        counts = Counter(visits)
        best = max((counts[place] for place in PLACES), default=0)
        weights = [Fraction(1, (1 + best - counts[place]) ** self.power) for place in PLACES]
        scale = lcm(*(weight.denominator for weight in weights))
        self._weights = dict(zip(PLACES, (int(weight * scale) for weight in weights), strict=True))

    def _draw(self, source):
        left = uniform_below(sum(self._weights.values()), source=source)
        for place, weight in self._weights.items():
            left -= weight
            if left < 0:
                return place
        raise AssertionError

    def pmf(self, y, bits=BITS):
        return Enclosure.of(Fraction(self._weights[y], sum(self._weights.values())), bits)

    def outcomes(self):
        return PLACES


law = Busiest(("park",) * 9 + ("market",) * 4)
{place: round(float(law.pmf(place)), 3) for place in PLACES}

# %% [markdown]
# ## Verified, over every pair of neighbours
#
# We check all datasets of up to six persons, and all pairs of them that differ by one person.

# %%
datasets = [each for n in range(7) for each in combinations_with_replacement(PLACES, n)]
found = verify(Busiest, neighbours(datasets), Pure("2.7726"))
found.holds, found.pairs, round(found.loss, 4), found.worst

# %% [markdown]
# The promise holds, and the mechanism costs far less than we promised. The worst pair shows why: one more person makes
# one weight larger or, in the busiest place, all others smaller, but never one larger and another smaller. So a
# probability moves by a factor of at most 4, and ε = log 4 is enough for any number of places. The check was no proof,
# but it showed where to find a better one.

# %%
Busiest.guarantee = Pure("1.3863")
verify(Busiest, neighbours(datasets), Busiest.guarantee).holds

# %% [markdown]
# ## Broken on purpose
#
# Suppose somebody wants a clearer winner, takes the fourth power and leaves the promise as it is. A check that cannot
# fail shows nothing; this one fails.


# %%
class Sharper(Busiest):
    """Too sharp for its promise."""

    power = 4


wrong = verify(Sharper, neighbours(datasets), Sharper.guarantee)
wrong.broken, round(wrong.loss, 4), wrong.worst

# %% [markdown]
# ## Is it any good?
#
# Compare it with the exponential mechanism at the same ε: how likely is the busiest place?

# %%
from tacit.curves import StepLoss
from tacit.grids import integers
from tacit.mechanisms import exponential

for ahead in (1, 2, 5, 20, 100):
    ours = float(Busiest(("park",) * ahead).pmf("park"))
    loss = StepLoss.from_losses(integers(0, 2), [ahead, ahead, 0])
    theirs = float(exponential(loss, epsilon="1.3863").pmf(2))
    print(f"ahead by {ahead:3}: ours {ours:.4f}, exponential {theirs:.4f}")

# %% [markdown]
# Ours is better in a close race but has heavier tails, as polynomial weights must: where the winner is clear, the
# exponential mechanism is surer. An honest table is worth more than a new name.
#
# ## Released under a budget
#
# `session.release` charges for and releases laws of the library. Yours is not among them, so charge the budget
# yourself, before the data are touched, and draw once.

# %%
import pandas as pd

import tacit

visits = pd.DataFrame({"person": range(900), "place": ["park", "market", "harbour", "park"] * 225})
table = tacit.read(visits, person="person", budget=Pure(4))
table.budget.charge(Busiest.guarantee)
print(Busiest(tuple(visits["place"])).sample())
print(table.budget.remaining)

# %% [markdown]
# The promise is only as good as your law: Tacit cannot see that each person is in one place only. To become part of
# Tacit, a mechanism needs more: a proof for every dataset that two solvers check, a name that certificates know, and a
# case in the audit. [Bringing your own function](../how-to/own-functions.md) needs none of that: say what you know
# about a function, and Tacit chooses the mechanism. [Auditing](../how-to/auditing.md) has more checks.
