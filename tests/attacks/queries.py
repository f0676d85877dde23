"""Random SQL that reads well: joins, subqueries, CTEs, filters, CASE, groups with keys and every aggregate."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from tests.attacks.datasets import Dataset

Scope = dict[str, dict[str, str]]
"""For each alias its columns, each with its class."""

_LITERALS = {
    "int": ["0", "1", "2", "-1", "9007199254740993", "9223372036854775807"],
    "dec": ["0.01", "1.5", "0.001", "2"],
    "float": ["0.5", "0", "1e300", "5e-324"],
    "text": ["'u'", "'v'", "'a'", "'A'", "''"],
    "bool": ["TRUE", "FALSE"],
    "date": ["DATE '2020-01-01'", "DATE '9999-12-31'"],
    "ts": ["TIMESTAMP '2020-01-01'", "TIMESTAMP '1969-12-31 01:00:00'"],
}
_NUMBERS = ("int", "dec", "float")
_WIDER = {"int": ["int"], "dec": ["dec", "int"], "float": ["float", "dec", "int"]}
_AGGREGATES = [
    "COUNT(*)", "COUNT(*)", "COUNT({any})", "SUM({number})", "SUM({number})", "AVG({number})", "MIN({ordered})",
    "MAX({ordered})", "MEDIAN({number})", "QUANTILE_CONT({number}, 0.25)", "COUNT(DISTINCT {column})",
    "VARIANCE({number})", "STDDEV({number})",
]  # fmt: skip
_DEPTHS = (0, 0, 1, 2)
"""How deep expressions are: what a row concerns hangs on joins more than on them."""
_GROUPED = ["COUNT(*)", "SUM({number})", "COUNT({any})", "AVG({number})"]


class Writer:
    """Writes queries over one dataset."""

    def __init__(self, draw: Random, data: Dataset) -> None:
        self.draw, self.data = draw, data
        self._count = 0

    def query(self) -> tuple[str, list[Any] | None]:
        """A query and the keys of its groups, if it has groups whose keys must be given."""
        draw = self.draw
        ctes: dict[str, tuple[str, dict[str, str]]] = {}
        if draw.random() < 0.2:
            text, columns = self._subquery({})
            ctes["cte"] = (text, columns)
        scope: Scope = {}
        text = self._from(scope, ctes)
        where = f" WHERE {self._where(scope)}" if draw.random() < 0.55 else ""
        keys: list[Any] | None = None
        if draw.random() < 0.25:
            by, keys = self._group(scope)
            wanted = [by, *(self._aggregate(scope, _GROUPED) for _ in range(draw.choice((1, 2))))]
            where += f" GROUP BY {by}"
        else:
            wanted = [self._aggregate(scope, _AGGREGATES) for _ in range(draw.choice((1, 1, 2)))]
        with_ = "".join(f"WITH {name} AS ({inner}) " for name, (inner, _) in ctes.items())
        return f"{with_}SELECT {', '.join(wanted)} FROM {text}{where}", keys

    def _where(self, scope: Scope) -> str:
        """A condition; of two persons sometimes that they are one, or are as doubles."""
        named = [name for name in self._of(scope, "float") if name.split(".")[1][0] == "w"]
        if len(named) > 1 and self.draw.random() < 0.25:
            a, b = self.draw.sample(named, 2)
            return self.draw.choice((f"{a} = {b}", f"CAST({a} AS DOUBLE) = CAST({b} AS DOUBLE)"))
        return self.condition(scope, self.draw.choice(_DEPTHS))

    def _from(self, scope: Scope, ctes: Mapping[str, tuple[str, dict[str, str]]]) -> str:
        draw = self.draw
        text = self._item(scope, ctes, private=True)
        for _ in range(draw.choice((0, 1, 1, 1, 2, 2, 3))):
            before = dict(scope)
            item = self._item(scope, ctes)
            (alias,) = scope.keys() - before.keys()
            outer = item.startswith("p") and draw.random() < 0.5
            tie = self._tie(before, {alias: scope[alias]}, disguised=not outer or draw.random() < 0.05)
            if tie is None:
                del scope[alias]
                continue
            if outer:
                text += f" LEFT JOIN {item} ON {tie}"
            else:
                more = f" AND {self.condition(scope, 1)}" if draw.random() < 0.25 else ""
                text += f" JOIN {item} ON {tie}{more}"
        return text

    def _item(self, scope: Scope, ctes: Mapping[str, tuple[str, dict[str, str]]], private: bool = False) -> str:
        """A table, a subquery or a CTE, under a name of its own."""
        draw = self.draw
        alias = self._name("a")
        if ctes and "cte" not in scope and draw.random() < 0.5:
            scope["cte"] = dict(ctes["cte"][1])
            return "cte"
        if draw.random() < 0.2:
            text, columns = self._subquery({})
            scope[alias] = columns
            return f"({text}) AS {alias}"
        names = [name for name, shape in self.data.shapes.items() if shape.private or not private]
        name = draw.choice(names)
        scope[alias] = self._columns(name)
        return f"{name} AS {alias}"

    def _columns(self, name: str) -> dict[str, str]:
        return {column: kind.kind for column, kind in self.data.shapes[name].columns.items()}

    def _subquery(self, scope: Scope) -> tuple[str, dict[str, str]]:
        """Rows of one or two tables, renamed, derived and filtered."""
        draw = self.draw
        inner: Scope = {}
        text = self._item_plain(inner)
        if draw.random() < 0.3:
            before = dict(inner)
            other = self._item_plain(inner)
            (alias,) = inner.keys() - before.keys()
            tie = self._tie(before, {alias: inner[alias]})
            if tie is None:
                del inner[alias]
            else:
                text += f" JOIN {other} ON {tie}"
        columns: dict[str, str] = {}
        items = []
        for alias, known in inner.items():
            for column, kind in known.items():
                if column not in columns and draw.random() < 0.8:
                    columns[column] = kind
                    items.append(f"{alias}.{column}")
        derived = draw.choice(("int", "float"))
        items.append(f"{self.value(inner, derived, draw.choice(_DEPTHS))} AS z")
        columns["z"] = derived
        where = f" WHERE {self.condition(inner, 1)}" if draw.random() < 0.5 else ""
        return f"SELECT {', '.join(items)} FROM {text}{where}", columns

    def _item_plain(self, scope: Scope) -> str:
        alias = self._name("b")
        name = self.draw.choice([name for name, shape in self.data.shapes.items() if shape.private])
        scope[alias] = self._columns(name)
        return f"{name} AS {alias}"

    def _tie(self, left: Scope, right: Scope, disguised: bool = True) -> str | None:
        """One or two equalities between what is joined and what comes, some of them disguised.

        The first is mostly plain: a join needs one, and is refused otherwise.
        """
        pairs = [
            (f"{a}.{x}", f"{b}.{y}", kind, other)
            for a, columns in left.items()
            for x, kind in columns.items()
            for b, theirs in right.items()
            for y, other in theirs.items()
            if kind == other or {kind, other} == {"int", "dec"}
        ]
        if not pairs:
            return None
        named = [pair for pair in pairs if pair[0].split(".")[1][0] in "wko" and pair[1].split(".")[1][0] in "wko"]
        found = []
        for place in range(self.draw.choice((1, 1, 2)) if disguised else 1):
            x, y, kind, other = self.draw.choice(named if named and self.draw.random() < 0.7 else pairs)
            disguise = self.draw.random() if disguised and (place or self.draw.random() < 0.05) else 1
            if disguise < 0.4 and kind in _NUMBERS and other in _NUMBERS:
                found.append(f"CAST({x} AS DOUBLE) = CAST({y} AS DOUBLE)")
            else:
                found.append(f"COALESCE({x}, {y}) = {y}" if disguise < 0.5 else f"{x} = {y}")
        return " AND ".join(dict.fromkeys(found))

    def _group(self, scope: Scope) -> tuple[str, list[Any] | None]:
        draw = self.draw
        texts = self._of(scope, "text")
        if texts and draw.random() < 0.5:
            return draw.choice(texts), ["u", "v", None] if draw.random() < 0.8 else None
        if draw.random() < 0.5:
            return f"CASE WHEN {self.condition(scope, 1)} THEN 'yes' ELSE 'no' END", None
        return f"({self.condition(scope, 1)})", None

    def _aggregate(self, scope: Scope, known: list[str]) -> str:
        text = self.draw.choice(known)
        columns = [f"{alias}.{column}" for alias, theirs in scope.items() for column in theirs]
        return text.format(
            any=self.draw.choice(columns),
            column=self.draw.choice(columns),
            number=self.value(scope, self.draw.choice(_NUMBERS), self.draw.choice(_DEPTHS))
            if "{number}" in text
            else "",
            ordered=self.value(scope, self.draw.choice((*_NUMBERS, "date")), self.draw.choice(_DEPTHS))
            if "{ordered}" in text
            else "",
        )

    def _of(self, scope: Scope, kind: str) -> list[str]:
        wanted = _WIDER.get(kind, [kind])
        return [
            f"{alias}.{column}" for alias, columns in scope.items() for column, own in columns.items() if own in wanted
        ]

    def value(self, scope: Scope, kind: str, depth: int) -> str:
        """An expression of a class."""
        draw = self.draw
        known = self._of(scope, kind)
        if depth <= 0 or draw.random() < 0.4:
            return draw.choice(known) if known and draw.random() < 0.85 else draw.choice(_LITERALS[kind])

        def one() -> str:
            return self.value(scope, kind, depth - 1)

        forms = [
            lambda: f"COALESCE({one()}, {one()})",
            lambda: f"CASE WHEN {self.condition(scope, depth - 1)} THEN {one()} ELSE {one()} END",
            lambda: f"CASE WHEN {self.condition(scope, depth - 1)} THEN {one()} END",
        ]
        if kind in _NUMBERS:
            forms += [
                lambda: f"({one()} {draw.choice('+-*')} {one()})",
                lambda: f"ABS({one()})",
                lambda: f"LEAST({one()}, {one()})",
                lambda: f"- {one()}",
            ]
        if kind == "float":
            forms += [lambda: f"({one()} / {one()})", lambda: f"CAST({self.value(scope, 'int', depth - 1)} AS DOUBLE)"]
        if kind == "int":
            forms.append(lambda: f"EXTRACT(year FROM {self.value(scope, 'date', 0)})")
        return draw.choice(forms)()

    def condition(self, scope: Scope, depth: int) -> str:
        """Something true or false."""
        draw = self.draw
        if depth > 0 and draw.random() < 0.4:
            a, b = self.condition(scope, depth - 1), self.condition(scope, depth - 1)
            return draw.choice((f"({a} AND {b})", f"({a} OR {b})", f"NOT ({a})"))
        kind = draw.choice([*_LITERALS])
        if not self._of(scope, kind):
            kind = "int"

        def one() -> str:
            return self.value(scope, kind, depth)

        forms = [
            lambda: f"{one()} {draw.choice(('=', '<', '>=', '<>'))} {one()}",
            lambda: f"{one()} {draw.choice(('=', '<', '>=', '<>'))} {one()}",
            lambda: f"{one()} IS {draw.choice(('', 'NOT '))}NULL",
            lambda: f"{one()} IN ({', '.join(draw.choices(_LITERALS[kind], k=2))})",
            lambda: f"{one()} BETWEEN {one()} AND {one()}",
        ]
        if kind == "text":
            forms.append(lambda: f"{one()} LIKE '{draw.choice(('%', 'a%', '_', 'u'))}'")
        return draw.choice(forms)()

    def _name(self, letter: str) -> str:
        self._count += 1
        return f"{letter}{self._count}"
