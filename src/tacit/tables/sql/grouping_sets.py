"""GROUP BY with ROLLUP, CUBE and GROUPING SETS: the columns it has, and which of them each set keeps."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from tacit.errors import UnsupportedQuery

MOST_SETS = 64
"""The most sets of one GROUP BY."""

Nodes = tuple[Any, ...]


def grouping_sets(group: Any) -> tuple[list[Any], list[tuple[int, ...]] | None]:
    """What rows are grouped by, each once, and the sets as places in it; None where there is one set of all."""
    items = [_sets(node) for node in group.expressions]
    for name, spread in (("rollup", _rolled), ("cube", _cubed)):
        spelled = [clause for clause in group.args.get(name) or [] if clause is not True]
        if group.args.get(name) and all(not clause.expressions for clause in spelled):  # GROUP BY a, b WITH ROLLUP
            items = [spread([(node,) for node in group.expressions])]
        else:
            items += [spread([_nodes(node) for node in clause.expressions]) for clause in spelled]
    items += [_listed(clause) for clause in group.args.get("grouping_sets") or []]
    found: list[Nodes] = [()]
    for item in items:
        found = [(*before, *more) for before in found for more in item]
        if len(found) > MOST_SETS:
            raise UnsupportedQuery(f"GROUP BY has more than {MOST_SETS} grouping sets; ask for fewer.")
    columns: list[Any] = []
    for node in (node for one in found for node in one):
        if node not in columns:
            columns.append(node)
    if not columns:
        raise UnsupportedQuery("GROUPING SETS without any column is one total; leave GROUP BY out.")
    if len(found) == 1:
        return columns, None
    return columns, [tuple(sorted({columns.index(node) for node in one})) for one in found]


def _sets(node: Any) -> list[Nodes]:
    """The sets that an item of GROUP BY stands for."""
    kind = type(node).__name__
    if kind == "GroupingSets":
        return _listed(node)
    if kind == "Rollup":
        return _rolled([_nodes(part) for part in node.expressions])
    if kind == "Cube":
        return _cubed([_nodes(part) for part in node.expressions])
    return [(node,)]


def _listed(clause: Any) -> list[Nodes]:
    return [one for part in clause.expressions for one in _inside(part)]


def _inside(part: Any) -> list[Nodes]:
    return _sets(part) if type(part).__name__ in ("Rollup", "Cube", "GroupingSets") else [_nodes(part)]


def _rolled(parts: list[Nodes]) -> list[Nodes]:
    return [_joined(parts[:count]) for count in range(len(parts), -1, -1)]


def _cubed(parts: list[Nodes]) -> list[Nodes]:
    if 2 ** len(parts) > MOST_SETS:
        raise UnsupportedQuery(f"CUBE has more than {MOST_SETS} grouping sets; name fewer columns.")
    return [_joined(chosen) for count in range(len(parts), -1, -1) for chosen in combinations(parts, count)]


def _joined(parts: Any) -> Nodes:
    return tuple(node for part in parts for node in part)


def _nodes(part: Any) -> Nodes:
    """An element: a column, or several in parentheses."""
    if type(part).__name__ == "Tuple":
        return tuple(part.expressions)
    return (part.this,) if type(part).__name__ == "Paren" else (part,)
