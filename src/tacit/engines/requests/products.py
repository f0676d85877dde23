"""Products of distances from public centres, added up over a person's rows.

A distance is exact where a step is a whole number of units, or a unit a whole number of steps, and the range is no
wider than `WIDEST`: then a person's sum is rounded, not each row. With u = x − m cut to ±R it is a = k·u − t, in units
or in steps, and Σ a·b = k·k'·Σ u·u' − k·t'·Σ u − k'·t·Σ u' + n·t·t'. So it follows from a person's number of rows, sums
and sum of products, whatever the centre is: `Squares` keeps these from one statement to the next, which then reads no
more than the rows beyond the range. Those of them count apart: what they added to the kept sums is taken away, and
their own products, cut to the range, are added.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tacit.engines.dialect import Dialect
from tacit.engines.requests.operands import HALF, Steps, Value, mean_steps
from tacit.engines.script import ALL_ROWS, PERSONS, Reading

if TYPE_CHECKING:
    from tacit.engines.rows import Rows
    from tacit.engines.snapshots import Statement

WIDEST = 2**30
"""The largest radius, in units, of an exact distance: a product of two fits into 64 bits."""

KEPT = 2**31
"""Products of values of at most this size are kept; larger ones lie beyond the range of every middle up to `WIDEST`."""


@dataclass(frozen=True)
class Squares:
    """What every near `Product` of two columns is made of, whatever the centres are: kept for a later statement."""

    left: Value
    right: Value
    mean: bool = False

    def of_person(self, statement: Statement) -> str:
        """The columns of the table of persons; the name of the last."""
        return [*self.names(statement).values()][-1]

    def names(self, statement: Statement) -> dict[str, str]:
        """The columns of the table of persons, by what they are."""
        return {what: statement.aggregate(sql) for what, sql in self.aggregates(statement.rows).items()}

    def aggregates(self, rows: Rows) -> dict[str, str]:
        """A person's number of rows n, sums s and r and, but for means, sum p of products of values up to `KEPT`."""
        columns = [value.column(rows) for value in (self.left, self.right)]
        found = {"n": f"COUNT({columns[0]})", "s": self.left.total(rows), "r": self.right.total(rows)}
        if not self.mean:
            known = " AND ".join(dict.fromkeys(f"{column} BETWEEN {-KEPT} AND {KEPT}" for column in columns))
            found["p"] = rows.dialect.total(f"CASE WHEN {known} THEN {' * '.join(columns)} END")
        return found


@dataclass(frozen=True)
class Distance:
    """An exact distance a = k·u − t, of which ``parts`` are a step; u is a value less the middle, cut to the radius."""

    steps: Steps
    k: int
    t: int
    parts: int

    @classmethod
    def of(cls, steps: Steps) -> Distance | None:
        """The distances in steps, if they are exact."""
        if HALF % steps.radius == 0:
            return cls(steps, HALF // steps.radius, steps.shift, 1)
        if steps.radius % HALF == 0 and steps.radius <= WIDEST:
            step = steps.radius // HALF
            return cls(steps, 1, steps.shift * step, step)
        return None

    @property
    def low(self) -> int:
        """The lower end of the range."""
        return self.steps.middle - self.steps.radius

    @property
    def high(self) -> int:
        """The upper end."""
        return self.steps.middle + self.steps.radius

    def column(self, rows: Rows) -> str:
        """The distance of a row."""
        u = f"({rows.clamped(self.steps.value, self.low, self.high)} - ({self.steps.middle}))"
        return f"({u if self.k == 1 else f'{u} * {self.k}'} - ({self.t}))"

    def beyond(self, rows: Rows) -> str:
        """Whether a row lies beyond the range."""
        x = self.steps.value.column(rows)
        return f"{x} < {self.low} OR {x} > {self.high}"

    def around(self, total: str, number: str) -> str:
        """Σ u from Σ x and the number of rows."""
        return f"({total} - ({self.steps.middle}) * {number})"


@dataclass(frozen=True)
class Product:
    """The sum over a person's rows of the product of two distances; both have a value in the same rows.

    Where both distances are exact the sum is rounded toward zero to a whole number of products of steps; elsewhere each
    row's distances are rounded down to whole steps. Per person (``mean``) it is the product of the person's two means,
    each rounded toward zero.
    """

    left: Steps
    right: Steps
    mean: bool = False

    @cached_property
    def exact(self) -> tuple[Distance, Distance] | None:
        """Both distances, if they are exact."""
        left, right = Distance.of(self.left), Distance.of(self.right)
        return (left, right) if left and right else None

    def total(self, rows: Rows) -> str:
        """Products fit into 64 bits, their sums into 128."""
        dialect, sides = rows.dialect, self.exact or (self.left, self.right)
        parts = [side.parts if isinstance(side, Distance) else 1 for side in sides]
        a, b = (side.column(rows) for side in sides)
        if self.mean:
            return f"({mean_steps(dialect, a, parts[0])} * {mean_steps(dialect, b, parts[1])})"
        total = dialect.total(f"({a} * {b})")
        return _rounded(dialect, total, str(parts[0] * parts[1]), squared=self.left == self.right)

    def of_persons(self, statement: Statement) -> tuple[Reading, str]:
        """A table of persons, and the sum of each."""
        kept = Squares(self.left.value, self.right.value, self.mean)
        near = abs(self.left.middle) <= WIDEST and abs(self.right.middle) <= WIDEST
        if self.exact and near and kept in statement.beside.totals:
            return self._of_kept(statement, kept, *self.exact)
        return PERSONS, statement.aggregate(self.total(statement.rows))

    def _of_kept(self, statement: Statement, kept: Squares, left: Distance, right: Distance) -> tuple[Reading, str]:
        """From what was kept, less what rows beyond the range added to it, and the products of these rows."""
        rows, dialect = statement.rows, statement.dialect
        a, b = left.column(rows), right.column(rows)
        own = {"a": a, "b": b} if self.mean else {"a": f"({a} * {b})"}
        sums = {**kept.aggregates(rows), **{what: dialect.total(sql) for what, sql in own.items()}}
        listed = ", ".join(f"{sql} AS {what}" for what, sql in sums.items())
        far = " OR ".join(dict.fromkeys((left.beyond(rows), right.beyond(rows))))
        outside = statement.table(
            "outside", f"SELECT person, {listed} FROM ", ALL_ROWS, f" WHERE {far} GROUP BY person", kept=False
        )
        names, statement.keep_person = kept.names(statement), True

        def whole(name: str) -> str:
            return dialect.wide(f"COALESCE({name}, 0)")

        inside = [f"{whole(f'persons.{name}')} - {whole(f'{outside.name}.{w}')} AS {w}" for w, name in names.items()]
        beside = [f"{whole(f'{outside.name}.{what}')} AS {what}" for what in own]
        present = f"persons.{names['n']}"
        number = f"{dialect.wide(present)} AS number"
        near = statement.table(
            "near",
            f"SELECT {', '.join([number, *inside, *beside])} FROM ",
            PERSONS,
            " LEFT JOIN ",
            outside,
            f" ON persons.person = {outside.name}.person WHERE {present} > 0",
            kept=False,
        )
        if self.mean:
            sides = zip((left, right), "sr", "ab", strict=True)
            both = [f"{side.k} * {side.around(total, 'n')} - ({side.t}) * n + {own}" for side, total, own in sides]
            found = statement.table("sums", f"SELECT number, {both[0]} AS v, {both[1]} AS w FROM ", near, kept=False)
            means = [_rounded(dialect, name, f"(number * {side.parts})") for side, name in ((left, "v"), (right, "w"))]
            total = " * ".join(means)
        else:
            x, y = left.steps.middle, right.steps.middle
            products = f"(p - ({y}) * s - ({x}) * r + ({x * y}) * n)"
            sum_ = (
                f"{left.k * right.k} * {products} - ({left.k * right.t}) * {left.around('s', 'n')} "
                f"- ({right.k * left.t}) * {right.around('r', 'n')} + ({left.t * right.t}) * n + a"
            )
            found = statement.table("sums", f"SELECT {sum_} AS v FROM ", near, kept=False)
            total = _rounded(dialect, "v", str(left.parts * right.parts), squared=left == right)
        return statement.table("products", f"SELECT {total} AS total FROM ", found), "total"


def _rounded(dialect: Dialect, sql: str, parts: str, squared: bool = False) -> str:
    """A quotient rounded toward zero; that of a sum of squares has no sign."""
    if parts == "1":
        return sql
    if squared:
        return dialect.quotient(dialect.wide(sql), parts)
    size = dialect.quotient(dialect.wide(f"ABS({sql})"), parts)
    return f"(CASE WHEN {sql} < 0 THEN -{size} ELSE {size} END)"
