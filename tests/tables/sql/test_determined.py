"""In how many groups one person can be, as declared keys tell, and nothing but them."""

from typing import Any

import pyarrow as pa
import pytest

from tacit import Private, Public, Pure, Session
from tacit.tables.sql.privacy_clause import price
from tacit.tables.sql.queries import understand
from tacit.tables.sql.query import Query
from tacit.tables.statistics.ways.vectors import GroupedTotals

CUSTOMER = pa.table({"c": [1, 2], "c_nation": [0, 1]})
SUPPLIER = pa.table({"s": [1, 2], "s_nation": [0, 1]})
SALE = pa.table({"cust": [1, 2], "supp": [1, 2], "year": [5, 6], "amount": [3, 4]})
NATION = pa.table({"n": [0, 1], "name": ["A", "B"]})
ONE = pa.table({"a": [1, 2], "b": [2, 1], "w": [1, 1]})


def session(customer: Any = "c", supplier: Any = "s", nation: Any = "n") -> Session:
    tables: dict[str, Private | Public] = {
        "customer": Private(CUSTOMER, "customer:c", key=customer),
        "supplier": Private(SUPPLIER, "supplier:s", key=supplier),
        "sale": Private(SALE, ["customer:cust", "supplier:supp"]),
        "nation": Public(NATION, key=nation),
        "knows": Private(ONE, ["person:a", "person:b"]),
        "about": Private(CUSTOMER, "person:c", key="c"),
    }
    return Session(tables, Pure(10))


def most(opened: Session, query: str, keys: list[Any]) -> int:
    asked = understand(opened._releaser, price(query, 1), keys)
    (statistic,) = asked.statistics
    assert isinstance(asked, Query)
    assert isinstance(statistic, GroupedTotals)
    return opened._tables.most_groups(asked.relation, statistic.groups.by, statistic.groups.keys)


BOTH = "FROM sale JOIN customer ON cust = c JOIN supplier ON supp = s"
THREE = [0, 1, 2]
PAIRS = [(0, 5), (0, 6), (1, 5), (1, 6), (2, 7)]


@pytest.mark.parametrize(
    ("query", "keys", "expected"),
    [
        (f"SELECT c_nation, COUNT(*) {BOTH} WHERE c_nation = s_nation GROUP BY 1", THREE, 1),
        (f"SELECT c_nation, COUNT(*) {BOTH} GROUP BY 1", THREE, 3),  # a supplier sells to every nation
        (f"SELECT c_nation + s_nation, COUNT(*) {BOTH} WHERE c_nation = s_nation GROUP BY 1", THREE, 1),
        (f"SELECT c_nation, COUNT(*) {BOTH} WHERE c_nation = s_nation OR amount > 3 GROUP BY 1", THREE, 3),
        (f"SELECT c_nation, COUNT(*) {BOTH} WHERE c_nation = s_nation + 0 GROUP BY 1", THREE, 3),
        (f"SELECT c_nation, year, COUNT(*) {BOTH} WHERE c_nation = s_nation GROUP BY 1, 2", PAIRS, 2),
        (f"SELECT year, COUNT(*) {BOTH} WHERE c_nation = s_nation GROUP BY 1", THREE, 3),
        (f"SELECT name, COUNT(*) {BOTH} JOIN nation ON n = s_nation WHERE n = c_nation GROUP BY 1", ["A", "B", "C"], 1),
        (f"SELECT name, COUNT(*) {BOTH} LEFT JOIN nation ON n = s_nation WHERE s_nation = c_nation GROUP BY 1",
         ["A", "B", None], 1),
        ("SELECT c_nation, COUNT(*) FROM knows JOIN about ON a = c GROUP BY 1", THREE, 3),  # b knows everybody
        ("SELECT x.c_nation, COUNT(*) FROM knows JOIN about AS x ON a = x.c JOIN about AS y ON b = y.c "
         "WHERE x.c_nation = y.c_nation GROUP BY 1", [*range(9)], 2),  # once as a and once as b
    ],
)  # fmt: skip
def test_the_most_groups_of_one_person(query: str, keys: list[Any], expected: int) -> None:
    with session() as opened:
        assert most(opened, query, keys) == expected


@pytest.mark.parametrize("missing", ["customer", "supplier", "nation"])
def test_without_a_declared_key_nothing_is_taken_for_granted(missing: str) -> None:
    query = f"SELECT name, COUNT(*) {BOTH} JOIN nation ON n = s_nation WHERE s_nation = c_nation GROUP BY 1"
    with session(**{missing: None}) as opened:
        assert most(opened, query, ["A", "B", "C"]) == 3
