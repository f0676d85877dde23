"""Functions that nobody has analysed: their answers made private from what they return on groups of persons.

`wrapping` runs a function on the subsets of few persons, `aggregation` on disjoint blocks of many. Both evaluate it in
processes that hold no data but the group at hand, and turn whatever it does into a value of a public grid.
"""
