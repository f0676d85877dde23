# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Laws: what a mechanism really does
#
# You will look at the exact distribution from which an answer is drawn, and see that one person hardly changes it.
#
# Every mechanism of Tacit returns a *law*: the exact distribution of what it would release on the data at hand. Laws
# stay on the trusted side, but with made-up data we may look at them, and that is how promises are verified.
#
# Three hundred persons bought something; the largest purchase is 100. A *down profile* lists what the maximum is when
# 0, 1, 2, … of the persons with the largest purchases are gone.

# %%
from tacit.grids import integers
from tacit.mechanisms import shifted_inverse

profile = [100 - k // 3 for k in range(300)]
law = shifted_inverse(profile=profile, grid=integers(0, 120), epsilon=1, method="exponential")
law

# %% [markdown]
# The repr shows no data. One draw may be released, once, and costs `Pure(1)`.

# %%
law.guarantee, law.accuracy(0.05).statement

# %% [markdown]
# Its probabilities are rigorous enclosures: two fractions with the true probability between them.

# %%
chance = law.pmf(90)
float(chance), chance.high - chance.low < 1e-15

# %% [markdown]
# ## Neighbours
#
# Take one person away, and no probability changes by more than a factor of e. Here is the largest ratio, and both
# laws.

# %%
from math import log

without = shifted_inverse(profile=profile[1:], grid=integers(0, 120), epsilon=1, method="exponential")
max(abs(log(float(law.pmf(y, bits=64)) / float(without.pmf(y, bits=64)))) for y in range(121))

# %%
from tacit import plots

plots.law({"300 persons": law, "299": without}, range(88, 103), "Two neighbours")

# %% [markdown]
# `tacit audit` does this for every mechanism over all small datasets, and then for deliberately broken variants of
# each, which it must catch.

# %%
from tacit.audit.cases.noise import CASES

case = CASES[0]
found = case.verify()
case.name, found.holds, found.pairs
