# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # A custodian: visits to a hospital
#
# You will check the data, open a budget that is kept for good, and give analysts limits of their own.
#
# You hold the data of a hospital, and researchers want to ask about them. You decide who is a person, what all
# answers together may reveal, and how much each analyst may spend. The data here are made up.

# %%
import datetime

import numpy as np
import pandas as pd

from tacit import BudgetExceeded, Private, Public, Pure, Session

random = np.random.default_rng(11)
patients, size = 4000, 12_000
pd.DataFrame(
    {
        "patient": random.integers(0, patients, size),
        "day": [datetime.date(2025, 1, 1) + datetime.timedelta(days=int(d)) for d in random.integers(0, 365, size)],
        "ward": random.integers(1, 5, size),
        "nights": random.poisson(3, size),
        "cost": random.lognormal(7, 0.8, size).round(2),
    }
).to_parquet("visits.parquet")
wards = pd.DataFrame({"ward": [1, 2, 3, 4], "name": ["surgery", "children", "heart", "eyes"]})

# %% [markdown]
# ## Look at the data first
#
# `tacit check` is for you alone: it looks at the rows and finds what would surprise you later, such as rows without a
# person, one person with half of the rows, or numbers stored as text. In a shell:
#
# ```text
# $ tacit check visits.parquet --person patient
# visits: 12,000 rows, 3,819 persons by patient (rows each: median 3, largest 11)
# Nothing was found.
# ```

# %% [markdown]
# ## Say who is protected, and open a budget
#
# Each patient is protected with all their visits. The names of wards are public. The ledger keeps the budget for good:
# whoever opens it again goes on where it stopped.

# %%
session = Session(
    {"visits": Private("visits.parquet", person="patient"), "wards": Public(wards, key="ward")},
    budget=Pure(4),
    ledger="ledger.db",
    name="hospital",
)
print(Pure(4).describe())

# %% [markdown]
# That sentence is what you promise. If it allows too much, choose a smaller ε: [choose
# ε](../how-to/choosing-epsilon.md) shows what each means.
#
# ## Give analysts limits of their own
#
# Ada may spend a quarter of the budget. Her questions count against her limit and against the whole.

# %%
ada = session.analyst("ada", limit=Pure(1))
query = """
    SELECT name, COUNT(*) AS visits, AVG(nights) AS nights
    FROM visits JOIN wards ON visits.ward = wards.ward GROUP BY name
"""
print(ada.preview(query, epsilon="0.6"))

# %%
print(ada.sql(query, epsilon="0.6"))

# %%
try:
    ada.sql("SELECT SUM(cost) FROM visits", epsilon="0.6")
except BudgetExceeded as refusal:
    print(refusal)

# %% [markdown]
# The refused question cost nothing, and the refusal says nothing about the data. Her first question is free when she
# asks it again:

# %%
ada.sql(query, epsilon="0.6")
print(session.budget)

# %% [markdown]
# ## What was asked, and is the ledger in order?
#
# The ledger is a chain: checking it finds any line that was changed or left out.

# %%
from tacit.ledger import open_ledger, verify

print(verify(open_ledger("ledger.db", read_only=True), "hospital"))

# %% [markdown]
# In a shell, `tacit ledger history hospital --ledger ledger.db` lists what was asked, and `tacit ledger verify` checks
# the chain.
#
# ## Let them ask without you
#
# In a notebook you trust whoever types. For everybody else, put a gateway in front: `tacit serve` has a page for people
# and an interface for programs, logs analysts in, and charges before it reads. No message depends on the data, and
# answers can be padded so that their timing hides it too. [From `pip install` to an analyst's first
# answer](../how-to/first-answer.md) takes five minutes, and [publishing](../how-to/publishing.md) writes a page for
# readers every year.
