"""Nested queries through the public face: tables of one person, keys that lead to persons, and what is asked first."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import tacit
from tacit import Answer, Answers, Approx, Private, Public, Pure, Session
from tacit.budgets import Policy, open_budget
from tacit.errors import BudgetExceeded, InvalidInput, UnsupportedQuery
from tacit.tables.sql import public_keys
from tests.tables.support import refused

SURE: Any = {"epsilon": 1000}
TABLES = {
    "customers": pa.table({"customer": range(40), "balance": [n * 7 % 50 for n in range(40)]}),
    "orders": pa.table(
        {
            "id": range(120),
            "customer": [n * n % 37 for n in range(120)],
            "amount": [n * 13 % 60 for n in range(120)],
            "day": pa.array([n * 5 % 300 for n in range(120)], pa.date32()),
        }
    ),
    "lines": pa.table(
        {
            "order_id": [n % 110 for n in range(300)],
            "part": [n % 7 for n in range(300)],
            "quantity": [1 + n * 11 % 9 for n in range(300)],
            "supplier": [n * n % 5 for n in range(300)],
        }
    ),
    "parts": pa.table({"part": range(7), "brand": list("xxyyzzx"), "size": [1, 2, 1, 2, 1, 2, None]}),
}


def declared() -> dict[str, Private | Public]:
    return {
        "customers": Private(TABLES["customers"], person="customer", key="customer"),
        "orders": Private(TABLES["orders"], person="customer", key="id"),
        "lines": Private(TABLES["lines"], through={"order_id": "orders.id"}),
        "parts": Public(TABLES["parts"], key="part"),
    }


@pytest.fixture(scope="module")
def shop() -> Iterator[Session]:
    with Session(declared(), budget=Pure(10**7)) as session:
        yield session


@pytest.fixture(scope="module")
def plain() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect()
    for name, table in TABLES.items():
        connection.register(name, table)
    yield connection
    connection.close()


COUNTED = [
    "orders AS o WHERE EXISTS (SELECT * FROM lines AS l WHERE l.order_id = o.id AND quantity > 8)",
    "lines AS a WHERE EXISTS (SELECT * FROM lines AS b WHERE b.order_id = a.order_id AND b.supplier <> a.supplier)",
    "lines AS a, orders AS o WHERE o.id = a.order_id AND NOT EXISTS (SELECT * FROM lines AS b WHERE b.order_id = "
    "a.order_id AND b.supplier > a.supplier) AND amount > 5",
    "orders WHERE id IN (SELECT order_id FROM lines GROUP BY order_id HAVING SUM(quantity) > 14)",
    "(SELECT order_id, SUM(quantity) AS q FROM lines GROUP BY order_id) AS t JOIN orders ON order_id = id WHERE q > 10",
    "customers AS c LEFT JOIN orders AS o ON c.customer = o.customer AND amount > 20",
    "(SELECT c.customer, COUNT(o.id) FROM customers AS c LEFT JOIN orders AS o ON c.customer = o.customer GROUP BY 1) "
    "AS t(who, n) WHERE n = 0",
    "lines, parts WHERE (lines.part = parts.part AND brand = 'x' AND quantity > 3) OR (lines.part = parts.part AND "
    "brand = 'y' AND quantity < 3)",
    "lines WHERE part IN (SELECT part FROM parts WHERE brand = 'x')",
    "lines WHERE part NOT IN (SELECT part FROM parts WHERE brand = 'x')",
    "lines WHERE quantity NOT IN (SELECT size FROM parts)",
    "lines WHERE quantity IN (SELECT size FROM parts) OR part = 3",
    "lines WHERE quantity > (SELECT MAX(size) FROM parts)",
    "orders AS o WHERE (SELECT balance FROM customers AS c WHERE c.customer = o.customer) > 20",
    "(SELECT * FROM orders) AS a JOIN (SELECT * FROM orders) AS b ON a.id = b.id",
    "(SELECT a.customer FROM orders AS a JOIN lines AS l ON l.order_id = a.id GROUP BY a.customer) AS t",
    "(SELECT customer, COUNT(*) AS n, SUM(amount) AS s FROM orders GROUP BY customer HAVING n >= 3 AND s > 40) AS t",
    "(SELECT id, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY day, id) AS r FROM orders QUALIFY r = 2) AS t",
    "(SELECT customer, SUM(amount) AS s, COUNT(*) AS n, s / n AS mean, mean * 2 AS twice FROM orders GROUP BY 1) AS t "
    "WHERE twice > 50",
]


@pytest.mark.parametrize("rest", COUNTED)
def test_rows_are_counted_as_sql_counts_them(rest: str, shop: Session, plain: duckdb.DuckDBPyConnection) -> None:
    query = f"SELECT COUNT(*) FROM {rest}"
    (truth,) = plain.execute(query).fetchone() or (None,)
    answer = shop.sql(query, **SURE)
    assert isinstance(answer, Answer)
    assert answer.value == truth
    assert answer.protected == "any one customer with all their rows"


def test_names_of_output_columns_stay_inside_a_person_and_within_bounds(shop: Session) -> None:
    doubled = ", ".join(f"a{n} + a{n} AS a{n + 1}" for n in range(60))
    for inside, why in {
        "SELECT day AS who, COUNT(*) AS n FROM orders GROUP BY who HAVING n > 1": "rows of several persons together",
        "SELECT day AS customer, COUNT(*) AS n FROM orders GROUP BY day HAVING n > 1": "rows of several persons",
        "SELECT day AS who, ROW_NUMBER() OVER (PARTITION BY who ORDER BY id) AS r FROM orders QUALIFY r = 1": "several",
        "SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer HAVING SUM(n) > 1": "not supported",
        f"SELECT customer, SUM(amount) AS a0, {doubled} FROM orders GROUP BY customer": "more than 2000 parts",
    }.items():
        query = f"SELECT COUNT(*) FROM ({inside})"
        refused(shop.budget, UnsupportedQuery, why, partial(shop.sql, query, epsilon=1))


def test_groups_that_are_one_person_each_are_refused_unpaid(shop: Session) -> None:
    for query in (
        "SELECT order_id, SUM(quantity) FROM lines GROUP BY order_id",
        "SELECT t.customer, SUM(s) FROM (SELECT customer, SUM(amount) AS s FROM orders GROUP BY customer) AS t GROUP "
        "BY 1",
    ):
        refused(shop.budget, UnsupportedQuery, "one group of each person", partial(shop.sql, query, epsilon=1))
    spent = shop["orders"].per_person(s="SUM(amount)")
    refused(
        shop.budget,
        UnsupportedQuery,
        "one group of each person",
        lambda: spent.group_by("customer", keys=[1]).count(epsilon=1),
    )


# ---- per_person --------------------------------------------------------------------------------------------------


def test_one_row_for_each_person(shop: Session, plain: duckdb.DuckDBPyConnection) -> None:
    spending = shop["orders"].per_person(
        spent="SUM(amount)", n="COUNT(*)", mean="SUM(amount) / COUNT(*)", first="MIN(day)"
    )
    assert "per person: customer integer, spent integer, n integer, mean float, first date" in repr(spending)
    inner = "(SELECT customer, SUM(amount) AS spent, COUNT(*) AS n, MIN(day) AS first FROM orders GROUP BY customer)"

    def truth(what: str) -> Any:
        return (plain.execute(f"SELECT {what} FROM {inner}").fetchone() or (None,))[0]

    assert spending.count(**SURE).value == spending.count(per="person", **SURE).value == truth("COUNT(*)")
    assert spending.filter("n >= 5").count(**SURE).value == truth("COUNT(*) FILTER (WHERE n >= 5)")
    assert spending.max("first", **SURE).value == truth("MAX(first)")
    assert abs(spending.sum("spent", **SURE).value - truth("SUM(spent)")) < 5
    assert abs(spending.mean("spent / n", **SURE).value - truth("AVG(spent / n)")) < 0.5
    by_band = spending.mutate(often="n > 3").group_by("often", keys=[True, False]).count(**SURE)
    assert by_band[True].value == truth("COUNT(*) FILTER (WHERE n > 3)")
    twice = shop["orders"].per_person(by=["amount > 30"], n="COUNT(*)").per_person(most="MAX(n)", bands="COUNT(*)")
    assert twice.filter("bands = 2").count(**SURE).value == truth("COUNT(*)") - len(
        plain.execute("SELECT customer FROM orders GROUP BY customer HAVING COUNT(DISTINCT amount > 30) = 1").fetchall()
    )


def test_per_person_of_lines_finds_persons_through_orders(shop: Session) -> None:
    table = shop["lines"].per_person(q="SUM(quantity)")
    assert table.count(**SURE).value == len({n * n % 37 for n in range(110)})


def test_what_per_person_refuses(shop: Session) -> None:
    orders = shop["orders"]
    wrong: list[tuple[type[Exception], str, Any]] = [
        (InvalidInput, "needs an aggregate", lambda: orders.per_person()),
        (UnsupportedQuery, "inside an aggregate", lambda: orders.per_person(x="amount")),
        (InvalidInput, "two columns", lambda: orders.per_person(customer="COUNT(*)")),
        (UnsupportedQuery, "ARRAY_AGG", lambda: orders.per_person(x="ARRAY_AGG(amount)")),
        (InvalidInput, "does not exist", lambda: orders.per_person(x="SUM(nothing)")),
    ]
    for kind, words, ask in wrong:
        refused(shop.budget, kind, words, ask)
    edges = tacit.read(pa.table({"a": [1], "b": [2]}), person=["a", "b"], budget=Pure(1), table="edges")
    refused(edges.budget, UnsupportedQuery, "concern several", lambda: edges.per_person(n="COUNT(*)"))


def test_samples_and_parts_of_derived_tables() -> None:
    with Session(declared(), budget=Pure(10**7), sample="0.5") as session:
        found: Any = session["orders"].per_person(n="COUNT(*)").persons(epsilon=100).value
        assert 0 <= found <= 80
    with Session(declared(), budget=Pure(10**7)) as session:
        parts = session["orders"].per_person(n="COUNT(*)").mutate(often="n > 3").partition("often", [True, False])
        counts: list[Any] = [part.count(epsilon=1000).value for part in parts.values()]
        assert sum(counts) == len({n * n % 37 for n in range(120)})
        assert session.budget.spent == Pure(1000)


# ---- asked first -------------------------------------------------------------------------------------------------

ABOVE = "SELECT COUNT(*) FROM customers WHERE balance > (SELECT AVG(balance) FROM customers)"


def test_a_subquery_across_persons_is_answered_first_for_its_share(shop: Session) -> None:
    seen = shop.preview(ABOVE, epsilon=4000)
    assert "Pure(2000) for each of 2 questions" in str(seen)
    assert (seen.cost, seen.free) == (Pure(4000), False)
    before = shop.budget.spent
    answer = shop.sql(ABOVE, epsilon=4000)
    assert isinstance(answer, Answer)
    assert shop.budget.spent == before + Pure(4000)
    assert answer.guarantee == Pure(4000)
    assert "answered first, for Pure(2000)" in " ".join(answer.notes)
    assert answer.notes[-1].startswith("What is said of the truth takes that as it is")
    balances = [n * 7 % 50 for n in range(40)]
    assert answer.value == sum(balance > sum(balances) / 40 for balance in balances)
    assert shop.preview(ABOVE, epsilon=4000).free
    again = shop.sql(ABOVE, epsilon=4000)
    assert isinstance(again, Answer)
    assert (again.value, again.stored, shop.budget.spent) == (answer.value, True, before + Pure(4000))


def test_subqueries_nest_and_the_same_one_is_asked_once(shop: Session) -> None:
    nested = (
        "SELECT COUNT(*) FROM customers WHERE balance > (SELECT AVG(balance) FROM customers WHERE balance < "
        "(SELECT MAX(balance) FROM customers)) OR balance < 0.5 * (SELECT AVG(balance) FROM customers WHERE balance < "
        "(SELECT MAX(balance) FROM customers))"
    )
    assert "for each of 3 questions" in str(shop.preview(nested, epsilon=3))
    inside = (
        "SELECT COUNT(*) FROM (SELECT customer, SUM(amount) AS s FROM orders GROUP BY customer HAVING SUM(amount) > "
        "(SELECT AVG(amount) FROM orders)) AS t"
    )
    assert "for each of 2 questions" in str(shop.preview(inside, epsilon=3))
    named = (
        "WITH a AS (SELECT AVG(amount) AS x FROM orders) SELECT COUNT(*) FROM orders WHERE amount > (SELECT x FROM a)"
    )
    assert "for each of 2 questions" in str(shop.preview(named, epsilon=3))


def test_a_subquery_by_a_public_key_is_answered_for_each_value(shop: Session, plain: duckdb.DuckDBPyConnection) -> None:
    query = (
        "SELECT COUNT(*) FROM lines, parts WHERE lines.part = parts.part AND brand <> 'z' AND quantity < "
        "(SELECT AVG(quantity) FROM lines AS l WHERE l.part = parts.part)"
    )
    (truth,) = plain.execute(query).fetchone() or (0,)
    answer = shop.sql(query, epsilon=10**5)
    assert isinstance(answer, Answer)
    assert abs(answer.value - truth) <= 20
    assert "gave 5 groups" in " ".join(answer.notes)


def test_public_keys_are_read_once_for_a_question(shop: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often it is gone over until all is answered; the next question reads them anew."""
    read, reads = public_keys._values, list[Any]()

    def counted(*asked: Any) -> Any:
        reads.append(asked)
        return read(*asked)

    monkeypatch.setattr(public_keys, "_values", counted)
    query = (
        "SELECT COUNT(*) FROM lines, parts WHERE lines.part = parts.part AND quantity < "
        "(SELECT AVG(quantity) FROM lines AS l WHERE l.part = parts.part)"
    )
    for questions in (1, 2):
        shop.sql(query, epsilon=questions)
        assert len(reads) == questions


def test_no_number_that_is_answered_first_makes_it_cost_more(shop: Session) -> None:
    """Whether any part is left to compare with follows from the first answer; the question counts either way."""
    for factor in (5, 0.05):  # with none left before the first is answered, and afterwards
        query = (
            f"SELECT COUNT(*) FROM lines, parts WHERE lines.part = parts.part AND size > {factor} * (SELECT COUNT(*) / "
            "10000 FROM customers) AND quantity < (SELECT AVG(quantity) FROM lines AS l WHERE l.part = parts.part)"
        )
        assert "for each of 3 questions" in str(shop.preview(query, epsilon=3000))
        before = shop.budget.spent
        answer = shop.sql(query, epsilon=3000, fresh=True)
        assert isinstance(answer, Answer)
        assert shop.budget.spent == before + Pure(3000)
        assert answer.guarantee == Pure(3000)


def test_what_public_tables_make_of_a_number_that_was_answered_first_is_not_called_free(shop: Session) -> None:
    answer = shop.sql("SELECT SUM(size + (SELECT MAX(balance) FROM customers)) FROM parts", epsilon=1000)
    assert isinstance(answer, Answer)
    assert answer.guarantee == Pure(1000)
    assert "costs nothing" not in str(answer)
    assert "answered first" in str(answer)


def test_all_of_it_fits_or_nothing_is_charged() -> None:
    with Session(declared(), budget=Pure(1)) as session:
        refused(session.budget, BudgetExceeded, "nothing was spent", lambda: session.sql(ABOVE, epsilon=2))
        wrong = ABOVE.replace("COUNT(*)", "STDDEV(nothing)")
        refused(session.budget, InvalidInput, "does not exist", lambda: session.sql(wrong, epsilon=1))
        assert not session.preview(ABOVE, epsilon=2).fits
    dear = Policy(least=Fraction(1, 10))
    with Session(declared(), budget=open_budget(Pure(10), policy=dear)) as session:
        words = "costs at least Pure\\(1\\) by the policy"
        refused(session.budget, BudgetExceeded, words, lambda: session.sql(ABOVE, epsilon="1.9"))
        session.sql(ABOVE, epsilon=2)
        assert session.budget.spent == Pure(2)


# ---- public tables alone -----------------------------------------------------------------------------------------


def test_public_tables_alone_are_exact_and_free(shop: Session, plain: duckdb.DuckDBPyConnection) -> None:
    before = shop.budget.spent
    for query in (
        "SELECT brand, COUNT(*) AS n, SUM(size) AS s FROM parts GROUP BY brand HAVING COUNT(*) > 1 ORDER BY n DESC, "
        "brand",
        "SELECT DISTINCT brand FROM parts ORDER BY brand DESC LIMIT 2",
        "SELECT part, size FROM parts WHERE size = (SELECT MAX(size) FROM parts AS p WHERE p.brand = parts.brand) "
        "ORDER BY 1",
        "SELECT part, RANK() OVER (ORDER BY size DESC) AS r FROM parts WHERE size IS NOT NULL ORDER BY 1 OFFSET 1",
    ):
        assert shop.preview(query, epsilon=1).free
        found: Any = shop.sql(query, epsilon=1)
        assert [row.cells for row in found.rows] == plain.execute(query).fetchall(), query
        assert "exact" in str(found)
    (one,) = plain.execute("SELECT AVG(part) FROM parts").fetchone() or (None,)
    alone = shop.sql("SELECT AVG(part) FROM parts", epsilon=1)
    assert isinstance(alone, Answer)
    assert (alone.value, repr(alone.guarantee)) == (one, "Pure(0)")
    assert shop.budget.spent == before
    beyond = "SELECT part FROM parts WHERE part IN (SELECT part FROM lines)"
    refused(shop.budget, UnsupportedQuery, "rows of others", lambda: shop.sql(beyond, epsilon=1))


def test_a_policy_of_columns_holds_inside_and_for_public_tables() -> None:
    allowed = Policy(columns=frozenset({"orders.customer", "orders.amount"}))
    with Session(declared(), budget=open_budget(Pure(10)).analyst("ada", policy=allowed)) as session:
        session["orders"].per_person(s="SUM(amount)").sum("s", epsilon=1)
        for query in (
            "SELECT COUNT(*) FROM (SELECT customer, MIN(day) AS d FROM orders GROUP BY customer) AS t",
            "SELECT SUM(amount) FROM customers AS orders JOIN orders AS o ON orders.customer = o.customer",
            "SELECT COUNT(*) FROM parts",
            "SELECT COUNT(*) FROM orders WHERE amount > (SELECT AVG(balance) FROM customers)",
            "SELECT SUM(id) FROM orders WHERE amount > (SELECT AVG(amount) FROM orders)",
        ):
            refused(session.budget, UnsupportedQuery, "policy", partial(session.sql, query, epsilon=1))


def test_groups_of_persons_are_found_without_a_cap() -> None:
    """A person with one row takes part in one group, which is known: all of the cost goes into finding them."""
    orders = pa.table({"customer": [n % 400 for n in range(1000)], "v": [1] * 1000})
    with Session({"orders": Private(orders, person="customer")}, budget=Approx(10, "1e-5")) as session:
        inner = "(SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer) AS t"
        found = session.sql(f"SELECT n, COUNT(*) FROM {inner} GROUP BY n", epsilon=2, delta="1e-6")
        assert isinstance(found, Answers)
        assert set(found) == {2, 3}
        assert all("at most 1 group" in " ".join(answer.notes) for answer in found.values())
        values: list[Any] = [answer.value for answer in found.values()]
        assert all(abs(value - 200) < 20 for value in values)  # beyond that with probability e^-40 each
