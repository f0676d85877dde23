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
# An edge of a graph concerns two people. Protecting a person means protecting a node with all its edges, however many
# it has, and that is where most tools stop: one node can have an edge to everybody. Tacit answers, and tells how.

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
# The cap says how many edges a node counts for at most. It was found privately; the hub's edges beyond it are left
# out, and an honest interval cannot say how many these are, so it has no upper end.

# %%
edges.cap, edges.at_least(0.95)

# %% [markdown]
# ## Paths of two edges
#
# Patterns are self-joins. A path `a → b → c` concerns three persons, and a busy node is in very many of them. What a
# person counts for is bounded by a linear program, solved exactly.

# %%
paths = "SELECT COUNT(*) FROM mail x JOIN mail y ON x.receiver = y.sender WHERE x.sender <> y.receiver"
print(graph.sql(paths, epsilon=1))

# %% [markdown]
# ## Mails in both directions

# %%
both = "SELECT COUNT(*) FROM mail x JOIN mail y ON x.receiver = y.sender AND x.sender = y.receiver"
print(graph.sql(both, epsilon=1))

# %% [markdown]
# That is a small number, and its interval says so: few pairs leave little to tell.
#
# ## Degrees
#
# The largest degree is told as a number that would not be exceeded if a few persons were left out.

# %%
print(graph["mail"].max_degree(epsilon=1))

# %% [markdown]
# A hub of its own is one person, and one person is what is hidden: the answer is near the degrees that several have.
#
# ## If only one side is protected
#
# Say that receivers are companies, which are public. Then a row concerns its sender alone, and everything that Tacit
# has for tables is there: means, quantiles, groups.

# %%
senders = Session({"mail": Private(mails, person="sender")}, budget=Pure(3))
sent = senders["mail"].per_person(sent="COUNT(*)")
print(sent.quantile("sent", [0.5, 0.9], epsilon=1))

# %% [markdown]
# Whom you protect decides what can be told. Decide it before the first question, and for good.
#
# How errors compare with those that were published for the same graph and joins is
# [measured](../comparison.md); [joins and graphs](../how-to/joins.md) has the rules.
