"""Which joins public facts bound, and what becomes of the others.

WHY. A question that fails or runs out of time on some data and is answered on others tells which data they are,
exactly and at any ε. A join of tables whose keys repeat can have as many rows as the product of its tables, so one row
more or less, picked by a filter, decides between an answer and a failure. Such a join is *expanding*.

RULE. A query is bounded if there is a table R among the joined ones from which every other is reached step by step: a
table is reached when the columns by which equalities of keys (`tacit.language.types`: the values themselves, before
anything saturates) tie it to tables reached before contain a declared key of it, or
when it is public and the values of those columns repeat there at most f times, f read from the public table. A table
that is derived inside persons (`tacit.engines.requests.derived`) has the keys that made it: the person and what it is
grouped by. A LEFT JOIN is reached last, by the same rule; a join that only keeps or drops rows adds none. One table T
may be joined by LEFT JOIN without a key of its own if the columns on the left contain a key of R. The product F of all
f may be at most `MOST_REPEATS`. What a derived table is made from is held to the rule by itself.
CLAIM. The query then has at most F·|R| rows, with such a T at most F·(|R| + |T|).
PROOF. Let R = t_0, t_1, …, t_n be the inner tables in the order of reaching them. A joined row is a tuple (r_0, …,
r_n) of their rows that satisfies all equalities. Let N_i be the number of different (r_0, …, r_i) in it; N_0 ≤ |R|.
Given (r_0, …, r_{i−1}), the tied columns of r_i have given values, none of them NULL, for NULL equals nothing. If they
contain a key, at most one row of t_i has these values; if t_i is public, at most f_i have. So N_i ≤ f_i·N_{i−1}. A
LEFT JOIN gives every row max(1, f) at most, and filters only remove rows. A row of T has given values in the columns
that it is joined by, so it meets one row of R, which is in at most F rows; the rows that meet none are at most F·|R|. ∎
The top of each step is any table reached before, so the rule is about a tree with R at its root, not about pairs: B.a
= A.id and T.a = A.id with A.id unique is a join of each pair by a key, and has Σ |B_a|·|T_a| rows.
The same argument holds for every connected part of that tree with its own top as R, so an engine that joins the tables
in another order along the tree makes no more rows on the way than F times its largest table.

KEYS are declared by ``key=``, which also says that a table has one row for each person when it names the person
column; by ``through=``, whose target is a key; and by constraints that a database enforces. They are believed:
`Session.verify` looks. Public tables need no declaration.

WHAT FOLLOWS. The library answers expanding joins: whoever is at the keyboard holds the data. Serve refuses them before
anything is charged unless the custodian allows them for a dataset. Where they are allowed, the engine first bounds
their size by counts on the join keys alone, and a question above the limit fails before a row is made
(`tacit.engines.requests.join_size`). Rows beyond a limit are never left out instead: whichever order chose them, adding
a person could push out rows of others, for a row of several persons has no one owner whose rows alone would move, and
then the answer would change by more than one person's rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from tacit.engines import Engine
from tacit.engines.requests import Bound, Relation, Repeats, before_filters, duplicate_keys
from tacit.engines.requests.derived import Listed
from tacit.errors import InvalidInput, UnsupportedQuery, instead
from tacit.language.expressions import Column
from tacit.language.types import KeyType
from tacit.tables.face.declarations import Key, Private, Public, declared_keys
from tacit.tables.sql.persons import PersonFinder, Table, tables_by_alias

MOST_REPEATS = 1000
"""How many rows public tables may make of one private row before a join counts as expanding."""

Keys = Mapping[str, frozenset[Key]]
Tied = tuple[tuple[Table, Key], ...]
"""Public tables, each with columns by which it is joined."""


@dataclass(frozen=True)
class Reach:
    """How far the rule got: a root, the public tables whose repetition counts, and a table that was not reached."""

    root: str
    repeating: Tied
    missed: tuple[Table, Key] | None = None
    """The first table out of reach and the columns by which it is joined."""


def known_keys(tables: Mapping[str, Private | Public], enforced: Callable[[str], Iterable[Key]]) -> Keys:
    """All keys of each table: those that declarations call unique, and what the source enforces."""
    keys = {name: set(enforced(name)) for name in tables}
    for name, key in declared_keys(tables):
        keys.setdefault(name, set()).add(key)
    return {name: frozenset(found) for name, found in keys.items()}


def reach(
    relation: Relation,
    keys: Callable[[Table], Iterable[Key]],
    public: Callable[[Table], bool],
    meet: Callable[[Column, Column], bool],
) -> Reach:
    """The root from which all tables are reached, with the fewest public tables that repeat; or the best attempt.

    ``meet`` says whether an equality of two columns compares their very keys: only then is a key met at most once.
    """
    inner = {relation.alias: relation.table} | {j.alias: j.table for j in relation.joins if j.kind == "inner"}
    pairs = [pair for join in relation.joins if join.kind == "inner" for pair in join.on if meet(*pair)]
    outer = [
        (join.table, tuple(dict.fromkeys(right.name for left, right in join.on if meet(left, right))))
        for join in relation.joins
        if join.kind == "left"
    ]
    unkeyed = [(table, tied) for table, tied in outer if not _keyed(keys(table), tied)]
    last = tuple((table, tied) for table, tied in unkeyed if tied and public(table))
    tries = [_reach_from(root, inner, pairs, keys, public) for root in inner]
    unmet = [pair for pair in unkeyed if pair not in last]
    if len(unmet) == 1 and not relation.others:  # a row of that table meets one of the root, if that is joined by a key
        joins = [join for join in relation.joins if join.kind == "left" and join.table == unmet[0][0]]
        lefts = [left for join in joins for left, right in join.on if meet(left, right)]
        once = [t for t in tries if _keyed(keys(inner[t.root]), tuple(c.name for c in lefts if c.table == t.root))]
        if len(joins) == 1 and once:
            tries, unmet = once, []
    best = min(tries, key=lambda found: (found.missed is not None, len(found.repeating)))
    return replace(best, repeating=best.repeating + last, missed=best.missed or next(iter(unmet), None))


def _keyed(keys: Iterable[Key], tied: Key) -> bool:
    return any(set(key) <= set(tied) for key in keys)


def _reach_from(
    root: str,
    tables: Mapping[str, Table],
    pairs: Iterable[tuple[Column, Column]],
    keys: Callable[[Table], Iterable[Key]],
    public: Callable[[Table], bool],
) -> Reach:
    """Walk from a root, by keys first and by public tables only where no key leads on."""
    reached, repeating = {root}, list[tuple[Table, Key]]()
    sides = [side for left, right in pairs for side in ((left, right), (right, left))]
    while len(reached) < len(tables):
        tied: dict[str, list[str]] = {}
        for near, far in sides:
            if near.table in reached and far.table not in reached:
                tied.setdefault(far.table, []).append(far.name)
        columns = {alias: tuple(dict.fromkeys(names)) for alias, names in tied.items()}
        by_key = next((alias for alias in columns if _keyed(keys(tables[alias]), columns[alias])), None)
        step = by_key or next((alias for alias in columns if public(tables[alias])), None)
        if step is None:
            missed = next(iter(columns), None) or next(alias for alias in tables if alias not in reached)
            return Reach(root, tuple(repeating), (tables[missed], columns.get(missed, ())))
        if by_key is None:
            repeating.append((tables[step], columns[step]))
        reached.add(step)
    return Reach(root, tuple(repeating))


class JoinRule:
    """Applies the rule to the relations of a session."""

    def __init__(
        self,
        tables: Mapping[str, Private | Public],
        keys: Keys,
        repeats: Callable[[str, Key], Repeats],
        persons: PersonFinder,
        *,
        allowed: bool,
        max_join_rows: int,
        max_rows: int,
    ) -> None:
        self._tables, self._keys, self._repeats, self._persons = tables, keys, repeats, persons
        self._allowed, self._most, self._max_rows = allowed, max_join_rows, max_rows
        self._known: dict[tuple[str, Key], int] = {}

    def keys_of(self, table: Table) -> Iterable[Key]:
        """The keys of a table: declared and enforced ones, or what a derived table is made unique by."""
        return self._keys[table] if isinstance(table, str) else self._persons.unique(table)

    def bound(self, relation: Relation) -> Relation:
        """The relation with a bound that the engine compares, where there is something to compare; or a refusal.

        Where ``max_join_rows`` is no larger than ``max_rows`` every question about rows of several persons is compared,
        so that ``max_rows``, which a filter can reach, never binds.
        """
        meet = partial(self._persons.compares_keys, tables=tables_by_alias(relation))
        found = reach(relation, self.keys_of, self._repeatable, meet)
        factor = 1
        for table, columns in found.repeating if found.missed is None else ():
            factor *= max(1, self._repeated(table, columns))
        expanding = found.missed is not None or factor > MOST_REPEATS
        if expanding and not self._allowed:
            raise UnsupportedQuery(self._refusal(found))
        if expanding and before_filters(relation) is None:
            raise UnsupportedQuery(
                "a table is joined by computed columns alone, so the size of the join cannot be told beforehand; join "
                "by the person or another column too."
            )
        if expanding:
            return replace(relation, bound=Bound(self._most))
        if relation.others and self._most <= self._max_rows:
            return replace(relation, bound=Bound(self._most, found.root, factor))
        return relation

    def _repeatable(self, table: Table) -> bool:
        """Whether it is known from public facts how often values repeat."""
        return isinstance(table, Listed) or (isinstance(table, str) and isinstance(self._tables[table], Public))

    def _repeated(self, table: Table, columns: Key) -> int:
        if isinstance(table, Listed):
            places = [i for i, (name, _) in enumerate(table.heads) if name in columns]
            return max(Counter(tuple(row[i] for i in places) for row in table.rows).values(), default=0)
        assert isinstance(table, str)
        if (table, columns) not in self._known:
            self._known[table, columns] = self._repeats(table, columns).largest
        return self._known[table, columns]

    def _refusal(self, found: Reach) -> str:
        allow = "or ask the custodian to allow expanding_joins"
        if found.missed is None:
            names = " and ".join(dict.fromkeys(_called(table) for table, _ in found.repeating))
            return (
                f"joining {names} would make more than {MOST_REPEATS:,} rows of one private row; join public tables "
                f"by a key, {allow}."
            )
        table, columns = found.missed
        keys = " or ".join(" with ".join(key) for key in sorted(self.keys_of(table))) if isinstance(table, str) else ""
        known = f"its keys are {keys}" if keys else "it has no declared key"
        by = f"by {' and '.join(columns)}" if columns else "by columns of other types"
        return (
            f"table {_called(table)} is joined {by}, which no declared key makes unique ({known}), so "
            f"the size of the join would tell about private rows; join by a declared key (key= or through=), {allow}."
        )


def _called(table: Table) -> str:
    return repr(table) if isinstance(table, str) else "of a subquery"


def check_keys(
    tables: Mapping[str, Private | Public],
    schemas: Mapping[str, Iterable[str]],
    key_type: Callable[[str, str], KeyType],
) -> None:
    """Refuse a key of columns that the table does not have, or whose values are not told apart exactly."""
    for name, table in tables.items():
        for column in (column for key in table.keys for column in key):
            if column not in schemas[name]:
                raise InvalidInput(
                    f"key names a column {column!r} that table {name!r} does not have; {instead(column, schemas[name])}"
                )
            if not key_type(name, column).exact:
                raise InvalidInput(
                    f"key names {name}.{column}, whose values are not told apart exactly; declare it as text or "
                    "integer in schema=, or leave the key out."
                )


def verify_keys(engine: Engine, keys: Keys) -> None:
    """Look whether keys are unique as declared; those that the source enforces are not looked at again."""
    for table, declared in keys.items():
        for key in sorted(declared.difference(engine.keys(table))):
            if duplicate_keys(engine, table, key):
                raise InvalidInput(
                    f"table {table!r} has rows that share a value of its key {' with '.join(key)}, and what rests on "
                    "that key is not promised; correct the rows, or declare another key= or through=."
                )


def verify_sizes(engine: Engine, relations: Mapping[str, Relation]) -> None:
    """Look whether tables are so large that every question about them would fail."""
    for table, relation in relations.items():
        with engine.snapshot() as snapshot:
            if not snapshot.fits(relation):
                raise InvalidInput(
                    f"table {table!r}, whose rows concern several persons, has more rows than a question may have, so "
                    "that all would fail; raise the limit of rows."
                )
