# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # First answers
#
# A quick start: you will count, add up, group and ask in SQL under one budget, and read what an answer says about its
# own error.
#
# Tacit comes with interviews of young women about their work, from 1968 to 1988. They are real and public, but we
# treat them as if they were private. Each row is one interview, and a woman has up to fifteen of them.

# %%
import tacit
from tacit import Pure
from tacit.data import WAGES

wages = tacit.read(WAGES, person="woman", budget=Pure(3))
wages

# %% [markdown]
# `person="woman"` is what matters most here: each woman is protected with *all* her rows. `Pure(3)` is the budget of
# all questions together. No row is shown, here or anywhere else.
#
# ## Counting
#
# Each question names its cost. Each answer is a number with a story: what it protects, at what cost, and how far off it
# may be.

# %%
print(wages.persons(epsilon=0.1))

# %%
rows = wages.count(epsilon=0.2)
rows.value, rows.interval(0.95), rows.cap

# %% [markdown]
# The number of rows has a *cap*: no woman counts for more than that many rows. Tacit found it privately. The interval
# covers the capped value, and says so. The answer also knows how many women may have more rows than the cap, and what
# the truth is at least.

# %%
rows.persons_above_cap(0.95), rows.at_least(0.95)

# %% [markdown]
# ## Sums and means
#
# You need not say how large a wage can be.

# %%
print(wages.sum("wage * hours", epsilon=0.5))

# %%
print(wages.mean("wage", epsilon=0.4))

# %%
print(wages.quantile("wage", [0.25, 0.5, 0.75], epsilon=0.4))

# %% [markdown]
# ## Groups, filters, SQL
#
# Here the keys of groups are public: you name them, or the query does.

# %%
wages.group_by("college", keys=[True, False]).mean("wage", epsilon=0.4)

# %%
print(wages.filter("year >= 1980").ratio("union_member", epsilon=0.2))

# %%
print(wages.sql("SELECT COUNT(*) FROM wages WHERE hours > 40", epsilon=0.2))

# %% [markdown]
# ## The budget
#
# Each question was charged before it touched the data.

# %%
wages.budget

# %% [markdown]
# Ask the same question again at the same cost, and you get the stored answer for free. A question that does not fit is
# refused, and nothing is spent.

# %%
wages.persons(epsilon=0.1).stored

# %%
try:
    wages.max("wage", epsilon=5)
except tacit.BudgetExceeded as error:
    print(error)

# %% [markdown]
# ## Before you ask: what accuracy to expect
#
# A plan needs no data: it asks made-up persons whose values have an assumed shape.

# %%
print(tacit.plan("sum", persons=5000, epsilon=0.5))

# %% [markdown]
# Next: [a year of a shop](2-shop.md) for analysts, [visits to a hospital](3-hospital.md) for custodians,
# [a graph](4-graph.md), or [what a mechanism really does](5-laws-and-proof.md).
