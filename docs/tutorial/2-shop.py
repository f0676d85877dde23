# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # An analyst: a year of a shop
#
# You will describe a table, forecast accuracy, and report revenue by month and kind of goods, each with its interval.
#
# You work for a web shop and want to know how the year went. Orders are personal data, so each customer is protected
# with everything they bought. These orders are made up; put your own file in their place.

# %%
import datetime

import numpy as np
import pandas as pd

import tacit
from tacit import Approx

random = np.random.default_rng(7)
customers, size = 5000, 20_000
orders = pd.DataFrame(
    {
        "customer": random.integers(0, customers, size) * random.integers(0, customers, size) // customers,
        "day": [datetime.date(2025, 1, 1) + datetime.timedelta(days=int(d)) for d in random.integers(0, 365, size)],
        "amount": random.lognormal(3.2, 1.0, size).round(2),
        "kind": random.choice(
            ["books", "games", "garden", "kitchen", "rarities"], size, p=[0.4, 0.3, 0.2, 0.099, 0.001]
        ),
        "returned": random.random(size) < 0.08,
    }
)
shop = tacit.read(orders, person="customer", budget=Approx(4, "1e-6"), table="orders")
shop

# %% [markdown]
# ## What is in it?
#
# `describe` asks all the first questions at once, for one cost. Each customer counts once.

# %%
print(shop.describe(epsilon="0.5"))

# %% [markdown]
# ## How accurate will it be?
#
# Before any budget is spent, a plan says what to expect. It needs only a public fact: there are about 5,000 customers.

# %%
print(tacit.plan("sum", persons=5000, epsilon="0.5"))

# %% [markdown]
# ## Revenue by month
#
# The months of a year are no secret, so we list them. All twelve together cost ε only once.

# %%
months = [datetime.date(2025, month, 1) for month in range(1, 13)]
by_month = shop.sql(
    "SELECT DATE_TRUNC('month', day) AS month, SUM(amount) AS revenue FROM orders GROUP BY month ORDER BY month",
    keys=months,
    epsilon=1,
)
print(by_month)

# %% [markdown]
# Nobody told Tacit how much a customer may spend: it found a cap that suits these data, and names it. The intervals
# are for sums under that cap.
#
# ## What sells?
#
# This time we do not list the keys. With a δ Tacit finds them in the data, and leaves out kinds that few customers
# bought, such as rarities, because a group of one or two people would give them away.

# %%
print(shop.group_by("kind").count(epsilon="0.5", delta="1e-7"))

# %% [markdown]
# ## What do customers do?
#
# First make one row for each customer, at no cost; then ask about these rows.

# %%
each = shop.per_person(orders="COUNT(*)", spent="SUM(amount)", first="MIN(day)")
print(each.quantile("spent", [0.25, 0.5, 0.75], epsilon="0.5"))

# %%
print(each.filter("orders >= 5").count(epsilon="0.25"))

# %%
print(shop.ratio("returned", epsilon="0.25"))

# %% [markdown]
# ## A question that does not fit
#
# The budget is there for everybody who asks. When it is gone, nothing more is answered.

# %%
print(shop.budget.remaining)
try:
    shop.mean("amount", epsilon=3)
except tacit.BudgetExceeded as refusal:
    print(refusal)

# %% [markdown]
# ## What to write in the report
#
# Give each number with its interval, and say what the interval covers: `answer.interval()` has the ends and
# `print(answer)` the sentence. `by_month.to_pandas()` has the values with their ends in a frame. Read on about [dates
# and texts in SQL](../how-to/sql-functions.md), [questions about persons](../how-to/persons.md) and
# [groups](../how-to/group-by.md).

# %%
by_month.to_pandas().head(3)
