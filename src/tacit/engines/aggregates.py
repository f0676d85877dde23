"""Aggregates of a person's rows in SQL, each by the rule that `tacit.language.aggregates` states.

Three steps: what must be known of a row among the others of its group, such as its place in an order (``before``); the
groups, with plain aggregates that every engine computes alike; and what is made of these (``after``). Nothing depends
on the order in which an engine meets the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from tacit.engines.chains import Chain, Steps
from tacit.engines.dialect import LARGEST
from tacit.engines.requests.operands import value as counted
from tacit.engines.script import Part, Reading, fragment
from tacit.engines.term import Term, combine, fill
from tacit.language.aggregates import LONGEST_ITEM, LONGEST_TEXT, MOST_ITEMS, sum_scale
from tacit.language.expressions import Literal
from tacit.language.inside import Aggregate, Ordering
from tacit.language.types import FLOAT, ColumnType, Kind

if TYPE_CHECKING:
    from tacit.engines.rows import Rows


class Aggregates:
    """The aggregates of one grouping."""

    def __init__(self, rows: Rows, by: Sequence[str]) -> None:
        self.rows, self.dialect, self.by = rows, rows.dialect, list(by)
        self.before = Steps(rows.dialect, f"{rows.prefix}each_")
        self.after = Steps(rows.dialect, f"{rows.prefix}then_")
        self._raw: dict[Term, str] = {}

    def value(self, aggregate: Aggregate) -> Term:
        """What an aggregate is, over the names that are known after the groups."""
        return _WRITTEN[aggregate.function](self, aggregate)

    def parts(self, name: str, shown: Sequence[tuple[Term, str]]) -> list[Part]:
        """The parts, of which the last has the person and what is to be shown under its names."""
        parts, each = self.rows.own_parts(), list[Part]()
        keys = ["person", *self.by]
        source = self.before.chained(self.rows.every, keys, list(self._raw), each)
        linked = self.before.links(list(self._raw))
        grouped = fragment(source, f" GROUP BY {', '.join(keys)}") if linked else self.rows.grouped(self.by)
        aggregated = ", ".join([*keys, *(f"{term.sql} AS {alias}" for term, alias in self._raw.items())])
        parts += [*each, Part(f"{name}_groups", fragment(f"SELECT {aggregated} FROM ", grouped))]
        groups = Reading(f"{name}_groups", "groups")
        source = self.after.chained(groups, ["person"], [term for term, _ in shown], parts)
        columns = ", ".join(["person", *(f"{term.sql} AS {alias}" for term, alias in shown)])
        return [*parts, Part(name, fragment(f"SELECT {columns} FROM ", source), kept=True)]

    # ---- the steps ------------------------------------------------------------------------------------------------

    def raw(self, term: Term) -> Term:
        """A plain aggregate of terms of the rows, under a name."""
        return self.after.read(self._raw.setdefault(term, f"a{len(self._raw)}"))

    def least(self, x: Term, kind: ColumnType, largest: bool = False) -> Term:
        """The least or the largest of a column; truth values have functions of their own."""
        words = ("BOOL_AND", "BOOL_OR") if kind.kind is Kind.BOOLEAN else ("MIN", "MAX")
        return self.raw(fill(f"{words[largest]}({{}})", x))

    def placed(self, order: Sequence[str], *terms: Term, also: str = "") -> Term:
        """A row's place among those of its group in some order."""
        return self.over("ROW_NUMBER()", order, *terms, also=also)

    def over(self, function: str, order: Sequence[str], *terms: Term, also: str = "") -> Term:
        """A window over the rows of a group, or those of them that are alike in one thing more."""
        partition = ", ".join(["person", *self.by, *([also] if also else [])])
        ordered = f" ORDER BY {', '.join(order)}" if order else ""
        return self.before.bind(combine(f"{function} OVER (PARTITION BY {partition}{ordered})", *terms))

    def operand(self, aggregate: Aggregate, place: int = 0) -> Term:
        """An operand's own value, absent in rows that do not count; zeros have no sign."""
        return self._only(aggregate, self.before.read(self.rows.shown(aggregate.operands[place])))

    def key(self, aggregate: Aggregate) -> Term:
        """What tells the first operand's values apart."""
        return self._only(aggregate, self.before.read(self.rows.distinct(aggregate.operands[0])))

    def number(self, aggregate: Aggregate) -> Term:
        """The first operand as a 64-bit count of its units."""
        return self.different(
            aggregate, self._only(aggregate, self.before.read(self.rows.value(counted(aggregate.operands[0]))))
        )

    def different(self, aggregate: Aggregate, x: Term) -> Term:
        """With DISTINCT, x in one row of each value and absent in the others."""
        if not aggregate.distinct:
            return x
        key, value = self.before.bind(self.key(aggregate)), self.before.bind(self.operand(aggregate))
        first = self.placed([f"{value.sql} NULLS LAST"], value, key, also=key.sql)
        return fill("CASE WHEN {} = 1 THEN {} END", first, x)

    def _only(self, aggregate: Aggregate, x: Term) -> Term:
        if aggregate.filter is None:
            return x
        return fill("CASE WHEN {} THEN {} END", self.before.read(self.rows.plain(aggregate.filter)), x)

    def ordered(self, aggregate: Aggregate, reverse: bool = False) -> tuple[list[str], list[Term]]:
        """What an aggregate's rows are ordered by, and the terms in it."""
        terms = [self.before.read(self.rows.shown(item.by)) for item in aggregate.order]
        return [direction(item, term.sql, reverse) for item, term in zip(aggregate.order, terms, strict=True)], terms


def direction(item: Ordering, sql: str, reverse: bool = False) -> str:
    """An ORDER BY that leaves nothing to an engine's habits."""
    word = "DESC" if item.descending != reverse else "ASC"
    return f"{sql} {word} NULLS {'FIRST' if item.nulls_first != reverse else 'LAST'}"


def mean(chain: Chain, total: Term, number: Term, scale: int) -> Term:
    """The mean of exact numbers as a double: with |sum| = q·n + r it is (q + r/n) / 10^scale, with the sum's sign.

    Each of these is one IEEE operation on integers of 64 bits. Without any numbers it is absent.
    """
    dialect = chain.dialect
    total, number = chain.bind(total), chain.bind(number)
    size = f"ABS({total.sql})"
    quotient = chain.bind(combine(dialect.quotient(size, f"NULLIF({number.sql}, 0)"), total, number))
    rest = f"CAST({size} - {quotient.sql} * {dialect.wide(number.sql)} AS {dialect.int64})"
    whole = f"CAST(LEAST({quotient.sql}, {LARGEST}) AS {dialect.int64})"
    double = dialect.float64
    sizes = f"(CAST({whole} AS {double}) + CAST({rest} AS {double}) / CAST(NULLIF({number.sql}, 0) AS {double}))"
    found = chain.bind(combine(sizes, total, quotient, number))
    signed = f"CASE WHEN {total.sql} < 0 THEN -{found.sql} ELSE {found.sql} END"
    return combine(signed if not scale else f"({signed}) / {dialect.double(10.0**scale)}", total, found)


# ---- each aggregate -------------------------------------------------------------------------------------------------


def _count(groups: Aggregates, aggregate: Aggregate) -> Term:
    if not aggregate.operands:
        counted_row = groups._only(aggregate, Term("1", short=True)) if aggregate.filter else Term("*")
        return groups.raw(fill("COUNT({})", counted_row))
    if aggregate.distinct:
        return groups.raw(fill("COUNT(DISTINCT {})", groups.key(aggregate)))
    return groups.raw(fill("COUNT({})", groups.operand(aggregate)))


def _total(groups: Aggregates, x: Term) -> Term:
    x = x if x.short else groups.before.bind(x)
    return groups.raw(combine(groups.dialect.total(x.sql), x))


def _sum(groups: Aggregates, aggregate: Aggregate) -> Term:
    total = _total(groups, groups.number(aggregate))
    return combine(groups.dialect.narrow(total.sql), total)


def _average(groups: Aggregates, aggregate: Aggregate) -> Term:
    x = groups.number(aggregate)
    number = groups.raw(fill("COUNT({})", x))
    return mean(groups.after, _total(groups, x), number, sum_scale(aggregate.operands[0].type))


def _extreme(largest: bool) -> Callable[[Aggregates, Aggregate], Term]:
    return lambda groups, aggregate: groups.least(groups.operand(aggregate), aggregate.type, largest)


def _picked(groups: Aggregates, x: Term, kind: ColumnType, place: Term, wanted: Term) -> Term:
    """The value in the one row that has a place."""
    return groups.least(fill("CASE WHEN {} = {} THEN {} END", place, wanted, x), kind, largest=True)


_FIRST = Term("1", short=True)


def _end(groups: Aggregates, aggregate: Aggregate) -> Term:
    """FIRST, LAST, and the value where another one is least or largest."""
    last, extremal = aggregate.function == "last", aggregate.function in ("arg_min", "arg_max")
    x = groups.before.bind(groups.operand(aggregate))
    order, terms = groups.ordered(aggregate, reverse=last)
    order.append(f"{x.sql} {'DESC NULLS FIRST' if last else 'ASC NULLS LAST'}")
    outside = [f"{term.sql} IS NULL" for term in (x, *terms)] if extremal else []
    if aggregate.filter is not None:
        included = groups.before.read(groups.rows.plain(aggregate.filter))
        terms.append(included)
        outside.append(f"{included.sql} IS NOT TRUE")
    first = [f"CASE WHEN {' OR '.join(outside)} THEN 1 ELSE 0 END"] if outside else []
    place = groups.placed([*first, *order], x, *terms)
    if extremal:
        absent = combine(f"CASE WHEN {' OR '.join(outside)} THEN NULL ELSE {x.sql} END", x, *terms)
        return _picked(groups, absent, aggregate.type, place, _FIRST)
    return _picked(groups, x, aggregate.type, place, _FIRST)


def _mode(groups: Aggregates, aggregate: Aggregate) -> Term:
    x, key = groups.before.bind(groups.operand(aggregate)), groups.before.bind(groups.key(aggregate))
    if aggregate.distinct:
        return groups.least(x, aggregate.type)
    times = groups.over(f"COUNT({x.sql})", [], x, key, also=key.sql)
    place = groups.placed([f"{times.sql} DESC", f"{x.sql} ASC NULLS LAST"], times, x)
    return _picked(groups, x, aggregate.type, place, _FIRST)


def _in_order(groups: Aggregates, aggregate: Aggregate) -> tuple[Term, Term, Term, Fraction]:
    """The values of a quantile, each value's place among them, their number, and the share below the quantile."""
    x = groups.before.bind(groups.different(aggregate, groups.operand(aggregate)))
    word = "DESC" if aggregate.order and aggregate.order[0].descending else "ASC"
    share = aggregate.operands[1]
    assert isinstance(share, Literal)
    return x, groups.placed([f"{x.sql} {word} NULLS LAST"], x), groups.over(f"COUNT({x.sql})", [], x), share.exact


def _quantile(groups: Aggregates, aggregate: Aggregate) -> Term:
    """The value at the place ⌈q·n⌉, the first for q = 0."""
    x, place, number, share = _in_order(groups, aggregate)
    if not share:
        return _picked(groups, x, aggregate.type, place, _FIRST)
    p, q = share.numerator, share.denominator
    upto = groups.dialect.quotient(f"({number.sql} * {p} + {q - 1})", str(q), short=True)
    return _picked(groups, x, aggregate.type, place, combine(upto, number))


def _between(groups: Aggregates, aggregate: Aggregate) -> Term:
    """With q·(n − 1) = place + r/d, the value after that place times (d − r)/d, and the next times r/d."""
    x, place, number, share = _in_order(groups, aggregate)
    dialect, after, kind = groups.dialect, groups.after, aggregate.operands[0].type
    p, d = share.numerator, share.denominator
    low = dialect.quotient(f"(({number.sql} - 1) * {p})", str(d), short=True)
    lower = _picked(groups, x, kind, place, combine(f"{low} + 1", number))
    upper = _picked(groups, x, kind, place, combine(f"{low} + 2", number))
    many = groups.raw(fill("COUNT({})", x))
    rest = after.bind(combine(f"(({many.sql} - 1) * {p}) % {d}", many))
    upper = after.bind(combine(f"CASE WHEN {rest.sql} > 0 THEN {upper.sql} ELSE {lower.sql} END", lower, upper, rest))
    if kind != FLOAT:
        whole = f"({dialect.wide(lower.sql)} * ({d} - {rest.sql}) + {dialect.wide(upper.sql)} * {rest.sql})"
        return mean(after, combine(whole, lower, upper, rest), Term(f"CAST({d} AS {dialect.int64})"), kind.scale)
    share_above = after.bind(combine(f"CAST({rest.sql} AS {dialect.float64}) / {dialect.double(float(d))}", rest))
    share_below = after.bind(combine(f"{dialect.double(1.0)} - {share_above.sql}", share_above))
    parts = [
        after.bind(combine(dialect.operation("*", value.sql, part.sql), value, part))
        for value, part in ((lower, share_below), (upper, share_above))
    ]
    both = after.bind(combine(dialect.operation("+", parts[0].sql, parts[1].sql), *parts))
    alike = f"CASE WHEN {lower.sql} = {upper.sql} THEN {lower.sql} ELSE {dialect.finite(both.sql)} END"
    return combine(alike, lower, upper, both)


def _texts(groups: Aggregates, aggregate: Aggregate) -> Term:
    """The first texts in order, each cut, one after another, cut again."""
    between = aggregate.operands[1]
    assert isinstance(between, Literal)
    x = groups.before.bind(groups.different(aggregate, groups.operand(aggregate)))
    order, terms = groups.ordered(aggregate)
    absent = f"CASE WHEN {x.sql} IS NULL THEN 1 ELSE 0 END"
    place = groups.placed([absent, *order, f"{x.sql} ASC NULLS LAST"], x, *terms)
    item = groups.before.bind(
        combine(f"CASE WHEN {place.sql} <= {MOST_ITEMS} THEN SUBSTR({x.sql}, 1, {LONGEST_ITEM}) END", x, place)
    )
    joined = groups.dialect.texts(item.sql, groups.dialect.constant(between), place.sql)
    return fill(f"SUBSTR({{}}, 1, {LONGEST_TEXT})", groups.raw(combine(joined, item, place)))


_COARSEST = 24
_FINE = 40
_MOST_ROWS = 2**23
"""A person with more rows has no variance: beyond it 128 bits might not hold the sums."""


def _variance(groups: Aggregates, aggregate: Aggregate) -> Term:
    """From distances to the mean, rounded toward zero, in units that keep all of them below 2^40."""
    dialect, before, after, kind = groups.dialect, groups.before, groups.after, aggregate.operands[0].type
    x = before.bind(groups.number(aggregate))
    total = groups.over(dialect.total_over(x.sql), [], x)
    number = groups.over(f"COUNT({x.sql})", [], x)
    size = before.bind(combine(dialect.quotient(f"ABS({total.sql})", f"NULLIF({number.sql}, 0)"), total, number))
    centre = f"CASE WHEN {total.sql} < 0 THEN -{size.sql} ELSE {size.sql} END"
    far = before.bind(combine(f"{dialect.wide(x.sql)} - {centre}", x, total, size))
    farthest = groups.over(f"MAX(ABS({far.sql}))", [], far)
    units = "".join(f"WHEN {farthest.sql} < {2 ** (_FINE + b)} THEN {2**b} " for b in range(0, _COARSEST, 8))
    unit = before.bind(combine(f"CASE {units}ELSE {2**_COARSEST} END", farthest))
    steps = before.bind(combine(dialect.quotient(f"ABS({far.sql})", unit.sql), far, unit))
    away = before.bind(
        combine(f"CAST(CASE WHEN {far.sql} < 0 THEN -{steps.sql} ELSE {steps.sql} END AS {dialect.int64})", far, steps)
    )
    squares = before.bind(combine(f"{dialect.wide(away.sql)} * {dialect.wide(away.sql)}", away))
    first, second = groups.raw(combine(dialect.total(away.sql), away)), groups.raw(fill("SUM({})", squares))
    many, scale = groups.raw(fill("COUNT({})", away)), groups.raw(fill("MAX({})", unit))
    sample = aggregate.function.endswith("_samp")
    few = f"{many.sql} BETWEEN {1 + sample} AND {_MOST_ROWS}"
    wide = dialect.wide
    spread = f"CASE WHEN {few} THEN {wide(many.sql)} * {wide(second.sql)} - {wide(first.sql)} * {wide(first.sql)} END"
    over = f"CASE WHEN {few} THEN {many.sql} * ({many.sql} - {int(sample)}) END"
    found = _ratio(groups, after.bind(combine(spread, many, first, second)), after.bind(combine(over, many)))
    step = f"(CAST({scale.sql} AS {dialect.float64}) / {dialect.double(10.0 ** sum_scale(kind))})"
    variance = after.bind(combine(f"{found.sql} * {step} * {step}", found, scale))
    return fill("SQRT({})", variance) if aggregate.function.startswith("stddev") else variance


def _ratio(groups: Aggregates, above: Term, below: Term) -> Term:
    """A number below 2^103 over one of 64 bits, as a double: its whole part in two halves, then the rest."""
    dialect, after = groups.dialect, groups.after
    whole = after.bind(combine(dialect.quotient(above.sql, f"NULLIF({below.sql}, 0)"), above, below))
    half = 2**_FINE
    upper = after.bind(combine(dialect.quotient(whole.sql, str(half)), whole))

    def double(sql: str) -> str:
        return f"CAST(CAST({sql} AS {dialect.int64}) AS {dialect.float64})"

    lower, rest = f"{whole.sql} - {upper.sql} * {half}", f"{above.sql} - {whole.sql} * {dialect.wide(below.sql)}"
    sql = (
        f"({double(upper.sql)} * {dialect.double(float(half))} + {double(lower)}) + "
        f"{double(rest)} / {double(f'NULLIF({below.sql}, 0)')}"
    )
    return after.bind(combine(sql, whole, upper, above, below))


_Written = Callable[[Aggregates, Aggregate], Term]
_WRITTEN: dict[str, _Written] = {
    "count": _count,
    "sum": _sum,
    "avg": _average,
    "min": _extreme(False),
    "max": _extreme(True),
    "any_value": _extreme(False),
    "bool_and": _extreme(False),
    "bool_or": _extreme(True),
    "first": _end,
    "last": _end,
    "arg_min": _end,
    "arg_max": _end,
    "mode": _mode,
    "quantile_disc": _quantile,
    "quantile_cont": _between,
    "string_agg": _texts,
    "var_pop": _variance,
    "var_samp": _variance,
    "stddev_pop": _variance,
    "stddev_samp": _variance,
}
