"""One equality: whoever are different persons are different in every join, filter, group, distinct count and hash.

The attack: ids that a join saturates or rounds while persons are compared whole. The join then matches rows of
different persons, the plan believes that an equality made them one and lists only one of them, and the victim's rows
move what is answered about somebody else. So for every native type that holds such ids, rows are joined and listed with
their persons, and leaving one person out of the data must leave out exactly the rows that list that person.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from math import inf, nan
from typing import Any

import pyarrow as pa
import pytest
import sqlglot

import tacit
from tacit import Private, Pure, Session
from tacit.engines import Source, open_engine
from tacit.engines.requests import Incidence, KeyCounts, Persons, Relation, Sample
from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.language.expressions import Column, Scope
from tacit.language.parsing import parse
from tacit.tables.sql.views import ViewBuilder
from tests.engines.support import shared
from tests.postgres import POSTGRES, REQUIRED, run, schema, server
from tests.spark import QUICK, frame, needed, spark, with_settings

__all__ = ["server", "spark"]

on_postgres = pytest.mark.skipif(not POSTGRES and not REQUIRED, reason="not run: PostgreSQL needs a server")
SELF = "SELECT COUNT(*) FROM t AS a JOIN t AS b ON a.who = b.who"
GROUPED = "SELECT COUNT(*) FROM t AS a JOIN t AS b ON a.g = b.g WHERE a.who = b.who"
THROUGH = "SELECT COUNT(*) FROM line"
CAST = "SELECT COUNT(*) FROM t AS a JOIN t AS b ON a.g = b.g WHERE CAST(a.who AS DOUBLE) = CAST(b.who AS DOUBLE)"


def relation_of(session: Session, query: str) -> Relation:
    """The rows and persons that a query is about."""
    builder = ViewBuilder(session._tables)
    return builder.relation(builder.rows(sqlglot.parse_one(query, read="duckdb"), {}))  # type: ignore[arg-type]


def listed(session: Session, query: str) -> list[tuple[int, frozenset[int]]]:
    """The rows of a query: how many, and whom they concern."""
    with session._tables.engine.snapshot() as snapshot:
        touches = snapshot.touches(relation_of(session, query), Incidence())
    persons = zip(*(numbers.tolist() for numbers in touches.persons), strict=True)
    return [(weight, frozenset(found)) for weight, found in zip(touches.weights.tolist(), persons, strict=True)]


def checked(open_without: Callable[[Any], Session], persons: Sequence[Any], query: str) -> int:
    """Leaving a person out leaves out exactly the rows that list that person; the number of all rows."""
    with open_without(None) as session:
        rows = listed(session, query)
    total = sum(weight for weight, _ in rows)
    numbers = {number for _, found in rows for number in found}
    assert len(numbers) == len(persons)
    left = sorted(sum(weight for weight, found in rows if number not in found) for number in numbers)
    truth = []
    for person in persons:
        with open_without(person) as session:
            truth.append(sum(weight for weight, _ in listed(session, query)))
    assert left == sorted(truth)
    return total


# ---- DuckDB -------------------------------------------------------------------------------------------------------

WIDE = {
    "UBIGINT": ["9223372036854775807", "9223372036854775808", "18446744073709551615"],
    "HUGEINT": ["9223372036854775807", "9223372036854775808", "-9223372036854775809", "-9223372036854775808"],
    "DECIMAL(38,0)": ["9223372036854775807", "9223372036854775808", "9" * 38],
    "DECIMAL(38,6)": ["9223372036854.775807", "9223372036854.775808", "9" * 32 + ".999999"],
    "DECIMAL(38,18)": ["9.223372036854775807", "9.223372036854775808", "9" * 20 + "." + "9" * 18],
    "TIMESTAMP": ["9999-12-31 23:59:59.999999", "10000-01-01", "infinity", "0001-01-01", "0044-03-15 (BC)"],
    "TIMESTAMP WITH TIME ZONE": ["9999-12-31 23:59:59.999999+00", "10000-01-01 12:00:00+00", "infinity"],
    "DATE": ["9999-12-31", "10000-01-01", "infinity", "-infinity"],
    "DOUBLE": ["1.7976931348623157e308", "inf", "-inf", "-1.7976931348623157e308"],
    "UUID": ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"],
    "VARCHAR COLLATE NOCASE": ["a", "A", "a ", ""],
    "BOOLEAN": ["true", "false"],
}  # fmt: skip


def _duckdb(native: str, link: str = "") -> Callable[[Any], Session]:
    """Three rows for each person, in a table ``t``; lines that point to them with a key of another native type."""
    connection = shared().cursor()

    def opened(without: Any) -> Session:
        connection.execute(f"CREATE OR REPLACE TABLE t (who {native}, g INTEGER)")
        connection.execute(f"CREATE OR REPLACE TABLE line (who {link or native}, g INTEGER)")
        for person in WIDE[native]:
            if person != without:
                connection.execute(f"INSERT INTO t VALUES ('{person}', 1)")
                connection.execute(f"INSERT INTO line SELECT '{person}', 1 FROM range(3)")
        kind = {"who": "integer"} if link else None
        tables = {
            "t": Private(connection, "who", schema=kind and {**kind, "g": "integer"}),
            "line": Private(connection, through={"who": "t.who"}, schema=kind),
        }
        return Session(tables, Pure(1))

    return opened


@pytest.mark.parametrize("native", list(WIDE))
def test_ids_that_a_value_cannot_hold(native: str) -> None:
    opened, persons = _duckdb(native), WIDE[native]
    assert checked(opened, persons, SELF) == len(persons)
    assert checked(opened, persons, GROUPED) == len(persons)
    assert checked(opened, persons, THROUGH) == 3 * len(persons)


@pytest.mark.parametrize("link", ["HUGEINT", "DECIMAL(38,0)", "VARCHAR"])
def test_one_number_in_two_native_types_is_one_person(link: str) -> None:
    assert checked(_duckdb("UBIGINT", link), WIDE["UBIGINT"], THROUGH) == 9


def test_texts_of_two_native_types() -> None:
    """A UUID beside text that is no UUID: the text is compared, and nothing is converted back."""
    connection = shared().cursor()
    connection.execute("CREATE OR REPLACE TABLE t AS SELECT CAST(lpad('7', 32, '0') AS UUID) AS who")
    connection.execute("CREATE OR REPLACE TABLE line AS SELECT who::VARCHAR AS who FROM t UNION ALL SELECT 'no uuid'")
    tables = {"t": Private(connection, "who"), "line": Private(connection, "who", through={"who": "t.who"})}
    with Session(tables, Pure(1)) as session:
        assert listed(session, THROUGH) == [(1, frozenset((1,)))]


def test_a_cast_filters_and_makes_nobody_one() -> None:
    """2^63 and 2^63 + 1 are one double and two persons."""
    ids = [2**63, 2**63 + 1, 2**53, 2**53 + 1, 7]

    def opened(without: Any) -> Session:
        kept = [person for person in ids if person != without]
        return Session(
            {"t": Private(pa.table({"who": pa.array(kept, pa.uint64()), "g": [1] * len(kept)}), "who")}, Pure(1)
        )

    with opened(None) as session:
        assert len(relation_of(session, GROUPED).persons) == 1
        assert len(relation_of(session, CAST).persons) == 2
        for query in (
            CAST.replace("a.g = b.g WHERE ", ""),
            "SELECT COUNT(*) FROM t AS a JOIN t AS b ON a.who + 0 = b.who",
        ):
            with pytest.raises(UnsupportedQuery, match="without an equality of two columns"):
                relation_of(session, query)
    assert checked(opened, ids, GROUPED) == 5
    assert checked(opened, ids, CAST) == 9


def test_zero_has_one_sign_and_nan_is_nobody() -> None:
    values = [0.0, -0.0, nan, inf, -inf, 1.7976931348623157e308, None]
    table = pa.table({"x": pa.array(values), "y": pa.array(values).cast(pa.float32()), "n": range(len(values))})
    engine = open_engine({"t": Source(table)})
    scope = Scope.of(engine.schema("t"), "t")
    for name, different in (("x", 4), ("y", 3)):  # the largest double is infinite in 32 bits
        column = scope.find(name)
        assert isinstance(column, Column)
        person = Relation("t", "t", column)
        number = Relation("t", "t", Column(engine.schema("t")["n"], "t", "n"))
        with engine.snapshot() as snapshot:
            (persons,) = snapshot.ask(person, (Persons(),))
            distinct = snapshot.touches(number, Incidence(values=column)).values
        assert distinct is not None
        assert persons == len(set(distinct.tolist())) == different
        with engine.snapshot() as snapshot:
            (shown,) = snapshot.ask(number, (KeyCounts((column,), 9, 1, bytes(16)),))
        assert len(shown) == 4  # absent, zero, and the largest of either sign, which stands for the infinite ones
        with engine.snapshot() as snapshot:
            halves = [
                snapshot.ask(Relation("t", "t", column, sample=Sample(2**59, bytes([k] * 16))), (Persons(),))
                for k in (1, 2)
            ]
        assert all(0 <= part[0] <= different for part in halves)
    same = Relation("t", "t", Column(engine.schema("t")["n"], "t", "n"), filter=parse("x = y", scope))
    with engine.snapshot() as snapshot:
        assert snapshot.ask(same, (Persons(),)) == (4,)  # both zeros and both infinities
    engine.close()


def test_groups_and_distinct_values_beyond_64_bits() -> None:
    ids = [2**63 - 1, 2**63, 2**64 - 1]
    table = pa.table({"who": range(30), "id": pa.array(ids * 10, pa.uint64())})
    read = tacit.read(table, person="who", budget=tacit.Approx(10**6, 0.5), table="t")
    found: Any = read.group_by("id").count(epsilon=10**5, delta=0.1)
    different: Any = read.nunique("id", epsilon=10**5)
    assert sorted(found) == ids
    assert [round(found[key].value) for key in ids] == [10, 10, 10]
    assert round(different.value) == 3


@pytest.mark.parametrize(
    ("native", "value", "declared"),
    [
        ("UHUGEINT", "1", "integer"),
        ("TIMESTAMP_NS", "2020-01-01", "timestamp"),
        ("BIGINT", "1", "float"),
        ("DECIMAL(9,2)", "1", "integer"),
        ("TIMESTAMP", "2020-01-01", "date"),
        ("VARCHAR", "1", "float"),
        ("DOUBLE[]", "[1]", "other"),
        ("INTERVAL", "1 day", "other"),
        ("BIGINT", "1", "boolean"),
    ],
)
def test_types_without_an_exact_key_name_no_person(native: str, value: str, declared: str) -> None:
    connection = shared().cursor()
    connection.execute(f"CREATE OR REPLACE TABLE odd AS SELECT CAST('{value}' AS {native}) AS who, 1 AS n")
    facts = {"who": declared, "n": "integer"}
    with pytest.raises(
        InvalidInput, match=f"person names odd.who, whose values are not told apart exactly as {declared}"
    ):
        Session({"odd": Private(connection, "who", schema=facts)}, Pure(1))
    tables = {
        "odd": Private(connection, "n", schema=facts),
        "b": Private(connection, through={"who": "odd.who"}, table="odd"),
    }
    with pytest.raises(InvalidInput, match=r"through names \w+\.who, whose values are not told apart exactly"):
        Session(tables, Pure(1))
    with Session({"odd": Private(connection, "n", schema=facts)}, Pure(1)):
        pass  # it may be there all the same


def test_through_compares_exactly_or_is_refused() -> None:
    wide, fine = pa.array([Decimal(2**70)], pa.decimal128(38, 0)), pa.array([Decimal(2**70)], pa.decimal128(38, 2))
    tables = {"t": Private(pa.table({"who": wide}), "who"), "u": Private(pa.table({"x": fine}), through={"x": "t.who"})}
    with pytest.raises(InvalidInput, match=r"through leads from u\.x to t\.who, whose types are not compared exactly"):
        Session(tables, Pure(1))
    one, two = pa.array([Decimal(1)], pa.decimal128(9, 0)), pa.array([Decimal(1)], pa.decimal128(9, 2))
    tables = {
        "t": Private(pa.table({"who": one}), "who"),
        "line": Private(pa.table({"x": two}), through={"x": "t.who"}),
    }
    with Session(tables, Pure(1)) as session:
        assert listed(session, THROUGH) == [(1, frozenset((1,)))]
    kinds = {"t": Private(pa.table({"who": [b"1"]}), "who"), "u": Private(pa.table({"who": wide}), "who")}
    with pytest.raises(InvalidInput, match="must have one type"):
        Session(kinds, Pure(1))


# ---- PostgreSQL and Spark ------------------------------------------------------------------------------------------

SERVED = {
    "numeric": ["1e400", "1.5e400", "0.1", "0.10000000000000000001", "Infinity"],
    "numeric(38,0)": ["9223372036854775807", "9223372036854775808"],
    "numeric(38,10)": ["9223372036854775807.5", "9223372036854775808"],
    "timestamptz": ["infinity", "-infinity", "9999-12-31 23:59:59.999999+00", "10000-01-01+00", "4713-01-01 BC"],
    "float8": ["Infinity", "1.7976931348623157e308"],
    "date": ["infinity", "4713-01-01 BC", "9999-12-31", "5874897-12-31"],
    "char(5)": ["a", "b", "A"],
}


@on_postgres
def test_postgresql(server: str) -> None:
    where = schema(server)
    run(where, *(f"CREATE TABLE t{n} (who {kind}, g int)" for n, kind in enumerate(SERVED)))
    run(where, *(f"CREATE TABLE line{n} (who {kind})" for n, kind in enumerate(SERVED)))
    for number, (native, persons) in enumerate(SERVED.items()):
        run(where, *(f"INSERT INTO t{number} VALUES ('{p}', 1)" for p in persons))
        run(where, *(f"INSERT INTO line{number} VALUES ('{p}'), ('{p}')" for p in persons))

        def opened(without: Any, number: int = number, native: str = native) -> Session:
            names = [f"t{number}", f"line{number}"]
            if without is not None:
                kept = "" if without is None else f"WHERE who <> CAST('{without}' AS {native})"
                run(where, *(f"CREATE OR REPLACE VIEW v{name} AS SELECT * FROM {name} {kept}" for name in names))
                names = [f"v{name}" for name in names]
            tables = {
                "t": Private(where, "who", table=names[0]),
                "line": Private(where, through={"who": "t.who"}, table=names[1]),
            }
            return Session(tables, Pure(1))

        assert checked(opened, persons, SELF) == len(persons), native
        assert checked(opened, persons, GROUPED) == len(persons), native
        assert checked(opened, persons, THROUGH) == 2 * len(persons), native


@on_postgres
def test_numbers_of_postgresql_are_one_whatever_their_zeros_and_types(server: str) -> None:
    where = schema(server)
    run(
        where,
        "CREATE TABLE t (who numeric)",
        "CREATE TABLE line (who int8)",
        "INSERT INTO t VALUES (1.0), (2), ('NaN'), (9007199254740993)",
        "INSERT INTO line VALUES (1), (2), (2), (9007199254740992), (NULL)",
    )
    kind = {"who": "integer"}
    tables = {
        "t": Private(where, "who", schema=kind),
        "line": Private(where, "who", through={"who": "t.who"}, schema=kind),
    }
    with Session(tables, Pure(1)) as session:
        assert sorted(weight for weight, _ in listed(session, THROUGH)) == [1, 2]


@needed
def test_spark(spark: Any) -> None:
    ids: dict[str, Any] = {"who": pa.decimal128(20, 0), "fine": pa.decimal128(38, 18)}
    values: dict[str, list[Any]] = {
        "who": [2**63 - 1, 2**63, 2**64 - 1],
        "fine": [Decimal("9.223372036854775807"), Decimal("9." + "3" * 18), Decimal(10**19)],
    }
    table = pa.table({name: pa.array([Decimal(v) for v in values[name]], kind) for name, kind in ids.items()})
    quick = with_settings(spark, QUICK)
    for name in ids:
        source = frame(quick, table.select([name]).rename_columns(["who"]).append_column("g", pa.array([1, 1, 1])))
        with Session({"t": Private(source, "who")}, Pure(1)) as session:
            rows = listed(session, SELF)
            assert ([weight for weight, _ in rows], len({found for _, found in rows})) == ([1, 1, 1], 3)
            column = session.schema("t")["who"]
            with session._tables.engine.snapshot() as snapshot:
                asked = KeyCounts((Column(column, "t", "who"),), 9, 1, bytes(16))
                (keys,) = snapshot.ask(Relation("t", "t", Column(column, "t", "who")), (asked,))
        assert [key[0] for key, _ in keys] == values[name]
