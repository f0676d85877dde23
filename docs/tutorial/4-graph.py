# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # A graph: who writes to whom
#
# You will count edges, paths and mutual pairs of a graph, and ask for degrees, with every node protected.
#
# An edge of a graph concerns two people. To protect a person is to protect a node with all its edges, and one node can
# have an edge to everybody. That is where most tools stop; Tacit answers.

# %%
import numpy as np
import pandas as pd

from tacit import Private, Pure, Session

random = np.random.default_rng(3)
nodes = 2000
ends = random.integers(0, nodes, (9000, 2))
hub = np.column_stack([np.full(600, 17), random.integers(0, nodes, 600)])  # one node writes to very many
mails = pd.DataFrame(np.vstack([ends, hub]), columns=["sender", "receiver"])
graph = Session({"mail": Private(mails, person=["sender", "receiver"])}, budget=Pure(6))
graph

# %% [markdown]
# Both columns name persons: each row concerns two.
#
# ## Edges

# %%
edges = graph.sql("SELECT COUNT(*) FROM mail", epsilon=1)
print(edges)

# %% [markdown]
# The cap says how many edges a node counts for at most; Tacit found it privately. The hub's edges beyond the cap are
# left out. An honest interval cannot say how many these are, so it has no upper end.

# %%
edges.cap, edges.at_least(0.95)

# %% [markdown]
# ## Paths of two edges
#
# Patterns are self-joins. A path `a → b → c` concerns three persons, and a busy node is in very many paths. A linear
# program, solved exactly, bounds what each person counts for.

# %%
paths = "SELECT COUNT(*) FROM mail x JOIN mail y ON x.receiver = y.sender WHERE x.sender <> y.receiver"
print(graph.sql(paths, epsilon=1))

# %% [markdown]
# ## Mails in both directions

# %%
both = "SELECT COUNT(*) FROM mail x JOIN mail y ON x.receiver = y.sender AND x.sender = y.receiver"
print(graph.sql(both, epsilon=1))

# %% [markdown]
# There are few such pairs, and few pairs leave little to tell: the interval says so.
#
# ## Degrees
#
# The hub has more than 600 edges. Does the largest degree give it away?

# %%
print(graph["mail"].max_degree(epsilon=1))

# %% [markdown]
# It does not. A lone hub is one person, and one person is what must stay hidden, so the answer is near degrees that
# several nodes have.
#
# ## If only one side is protected
#
# Suppose that receivers are companies, which are public. Then each row concerns its sender alone, and you can ask
# everything that Tacit has for tables: means, quantiles, groups.

# %%
senders = Session({"mail": Private(mails, person="sender")}, budget=Pure(3))
sent = senders["mail"].per_person(sent="COUNT(*)")
print(sent.quantile("sent", [0.5, 0.9], epsilon=1))

# %% [markdown]
# Whom you protect decides what can be answered. Decide it before the first question, and for good.
#
# [Joins and graphs](../how-to/joins.md) has the rules, and the [comparison](../comparison.md) sets Tacit's errors
# beside those that others published for the same graphs and joins.
