"""Nodes of sqlglot: what is inside them, and nodes with others in their place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tacit.errors import UnsupportedQuery
from tacit.language.expressions import LARGEST_EXPRESSION
from tacit.tables.sql.inside import is_aggregate

COMPUTED = " computed"
"""The table of a scope that holds what was computed before: no analyst can write its name."""


def computed_column(name: str) -> Any:
    """The node that stands for something computed before."""
    return named_column(name, COMPUTED)


def named_column(name: str, table: str) -> Any:
    """The node of a column of a table."""
    from sqlglot import exp

    return exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(table, quoted=True))


def aggregates_in(node: Any) -> Iterator[Any]:
    """The aggregates in a node, none of them inside another or a window's own function."""
    kind = type(node).__name__
    if is_aggregate(node):
        yield node
    elif kind == "Window":
        for part in _window_parts(node):
            yield from aggregates_in(part)
    elif kind not in ("Select", "Subquery", "Exists"):
        for part in node.iter_expressions():
            yield from aggregates_in(part)


def windows_in(node: Any) -> Iterator[Any]:
    """The windows in a node, but those of subqueries."""
    if type(node).__name__ == "Window":
        yield node
    elif type(node).__name__ not in ("Select", "Subquery", "Exists"):
        for part in node.iter_expressions():
            yield from windows_in(part)


def swapped(node: Any, old: list[Any], new: list[Any]) -> Any:
    """A node with some nodes in it replaced, each by the one of the same number."""
    changed = [(a, b) for a, b in zip(old, new, strict=True) if a is not b]
    return node.transform(lambda part: next((b.copy() for a, b in changed if a == part), part)) if changed else node


class Outputs:
    """What the output columns of a SELECT stand for, by their names in lower case; the first of a name counts."""

    def __init__(self) -> None:
        self._nodes: dict[str, Any] = {}
        self._sizes: dict[str, int] = {}

    def add(self, name: str, node: Any) -> None:
        """One more column, with nothing but columns of tables in it."""
        if name not in self._nodes:
            self._nodes[name], self._sizes[name] = node, sum(1 for _ in node.walk())

    def written_out(self, node: Any) -> Any:
        """A node with what the names stand for in their place, but not in subqueries, whose names are their own."""
        from sqlglot import exp

        if sum(self._sizes.get(column.name.lower(), 0) for column in node.find_all(exp.Column)) > LARGEST_EXPRESSION:
            raise UnsupportedQuery(
                f"names of columns stand for more than {LARGEST_EXPRESSION} parts here; compute some in a subquery."
            )
        return self._replaced(node.copy())

    def _replaced(self, node: Any) -> Any:
        from sqlglot import exp

        if isinstance(node, exp.Column):
            found = None if node.table else self._nodes.get(node.name.lower())
            return node if found is None else exp.Paren(this=found.copy())
        if type(node).__name__ not in ("Select", "Subquery", "Exists"):
            for part in list(node.iter_expressions()):
                new = self._replaced(part)
                if new is not part:
                    part.replace(new)
        return node


def hidden(nodes: list[Any]) -> tuple[list[Any], dict[str, Any]]:
    """Nodes with a mark in the place of each subquery, for they are no part of what rows are grouped by."""
    from sqlglot import exp

    held: dict[str, Any] = {}

    def mark(node: Any) -> Any:
        if not isinstance(node, exp.Subquery | exp.Exists) and not (
            isinstance(node, exp.In) and node.args.get("query")
        ):
            return node
        held[f"held {len(held)}"] = node
        return exp.Placeholder(this=f"held {len(held) - 1}")

    return [node.transform(mark) for node in nodes], held


def restored(node: Any, held: Mapping[str, Any]) -> Any:
    """A node with its subqueries back in their places."""
    return node.transform(lambda part: held.get(part.this, part) if type(part).__name__ == "Placeholder" else part)


def _window_parts(node: Any) -> list[Any]:
    """What a window is computed from: the arguments of its function, its partition and its order."""
    function = node.this
    while type(function).__name__ in ("IgnoreNulls", "RespectNulls", "Filter"):
        function = function.this
    parts = [part for part in function.iter_expressions() if type(part).__name__ not in ("Star",)]
    return [*parts, *(node.args.get("partition_by") or ()), *([node.args["order"]] if node.args.get("order") else ())]


def inside_window(node: Any, new: Any) -> Any:
    """A window with its parts replaced."""
    copy = node.copy()
    for part in _window_parts(copy):
        part.replace(part.transform(new))
    return copy
