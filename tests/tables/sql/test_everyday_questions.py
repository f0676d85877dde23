"""Fifty questions that the analysts of a shop and of a hospital ask, in the SQL of whichever system they come from.

Each is answered, or refused with the sentence it must say; at most three are refused. The truth is what plain DuckDB
makes of the same text, or of `truth` where the text is another system's. At ε = 10^6 for each question noise and caps
are far below what is compared: a released number is within `NEAR` of the truth, relative to it, with all but 10^-9 of
the probability. So all of them together fail by chance less than once in 10^7 runs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from functools import partial
from typing import Any

import duckdb
import pytest

from tacit import Approx, Private, Public, Session
from tacit.answers import Answer
from tacit.answers.order import Ranked
from tacit.errors import InvalidInput, UnsupportedQuery

NEAR = 2e-3
EPSILON = 10**6
DELTA = "1e-9"
SURE = 1 - Fraction(1, 10**9)
MOST_REFUSED = 3


@dataclass(frozen=True)
class Question:
    """What somebody wants to know, as they write it."""

    words: str
    query: str
    truth: str = ""
    """The same for DuckDB, where the query is another system's."""
    keys: Any = None
    delta: bool = False
    """Whether the groups are found in the data."""
    refused: str = ""
    """What is said where it cannot be answered."""
    within: float = 0.0
    """An absolute error that is fine."""
    ranked: str = ""
    """Of quantiles, the rows: their error is stated in ranks."""


SHOP = """
CREATE TABLE nations (code INTEGER PRIMARY KEY, name VARCHAR, region VARCHAR);
INSERT INTO nations SELECT n, 'nation ' || n, CASE WHEN n < 3 THEN 'north' ELSE 'south' END FROM range(6) AS r (n);
CREATE TABLE products (product VARCHAR PRIMARY KEY, category VARCHAR);
INSERT INTO products SELECT 'p' || n, 'category ' || n % 4 FROM range(20) AS r (n);
CREATE TABLE customers (id INTEGER PRIMARY KEY, nation INTEGER, email VARCHAR, balance DECIMAL(10, 2), born DATE);
INSERT INTO customers SELECT n, n % 5, 'C' || n || '@' || CASE n % 3 WHEN 0 THEN 'Example.com' ELSE 'mail.org' END,
  n * 37 % 1000 - 100, DATE '1950-01-01' + CAST(n * 53 % 20000 AS INTEGER) FROM range(300) AS r (n);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, day DATE, amount DECIMAL(10, 2), status VARCHAR,
  channel VARCHAR);
INSERT INTO orders SELECT n, 280 * (n * 577 % 1200 / 1200.0) ** 1.8 // 1,
  DATE '2024-01-01' + CAST(n * 7 % 366 AS INTEGER), 5 + n * 13 % 240 + 0.25,
  CASE n % 9 WHEN 0 THEN 'returned' ELSE 'paid' END, CASE WHEN n % 5 < 3 THEN 'web' ELSE 'shop' END
  FROM range(1200) AS r (n);
CREATE TABLE items (order_id INTEGER, line INTEGER, product VARCHAR, quantity INTEGER, price DECIMAL(10, 2));
INSERT INTO items SELECT n % 1200, n // 1200, 'p' || n * 11 % 20, 1 + n % 4, 3 + n % 17 FROM range(3000) AS r (n);
CREATE TABLE refunds (id INTEGER PRIMARY KEY, customer INTEGER, day DATE, amount DECIMAL(10, 2));
INSERT INTO refunds SELECT id, customer, day + 9, amount FROM orders WHERE status = 'returned';
"""
HOSPITAL = """
CREATE TABLE patients (patient INTEGER PRIMARY KEY, sex VARCHAR, birth DATE);
INSERT INTO patients SELECT n, CASE n % 2 WHEN 0 THEN 'f' ELSE 'm' END,
  DATE '1930-01-01' + CAST(n * 97 % 34000 AS INTEGER) FROM range(200) AS r (n);
CREATE TABLE visits (visit INTEGER PRIMARY KEY, patient INTEGER, ward VARCHAR, admitted TIMESTAMP, discharged TIMESTAMP,
  diagnosis VARCHAR, cost DOUBLE);
INSERT INTO visits SELECT n, 193 * (n * 337 % 700 / 700.0) ** 1.8 // 1,
  CASE n % 3 WHEN 0 THEN 'heart' WHEN 1 THEN 'lung' ELSE 'surgery' END,
  TIMESTAMP '2024-01-01 08:00:00' + to_hours(CAST(n * 11 % 8000 AS INTEGER)),
  TIMESTAMP '2024-01-01 08:00:00' + to_hours(CAST(n * 11 % 8000 + 5 + n * 7 % 300 AS INTEGER)),
  CASE n % 4 WHEN 0 THEN 'E11.9' WHEN 1 THEN 'I10' WHEN 2 THEN 'E11.2' ELSE 'J45' END, 100.5 + n * 31 % 4000
  FROM range(700) AS r (n);
"""

AMOUNTS = "SELECT amount FROM orders ORDER BY amount"

FIFTY = [
    # ---- counts, sums, means, medians ---------------------------------------------------------------------------
    Question("how many orders", "SELECT COUNT(*) FROM orders;"),
    Question("how many customers ordered", "SELECT COUNT(DISTINCT customer) AS buyers FROM orders"),
    Question("revenue and mean order", "SELECT SUM(amount) AS revenue, AVG(amount) AS mean_order FROM orders -- 2024"),
    Question("the median order", "SELECT MEDIAN(amount) FROM orders", ranked=AMOUNTS),
    Question(
        "the 90th percentile",
        "SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY amount) AS p90 FROM orders",
        ranked=AMOUNTS,
    ),
    Question(
        "quartiles, in BigQuery",
        "SELECT APPROX_QUANTILES(amount, 4) AS quartiles FROM orders",
        "SELECT QUANTILE_DISC(amount, [0, 0.25, 0.5, 0.75, 1]) FROM orders",
        ranked=AMOUNTS,
    ),
    Question("the smallest and the largest order", "SELECT MIN(amount), MAX(amount) FROM orders", within=2),
    Question("how much orders vary", "SELECT STDDEV(amount) FROM orders"),
    Question("how many products were sold", "SELECT COUNT(DISTINCT product) FROM items"),
    # ---- shares and ratios --------------------------------------------------------------------------------------
    Question(
        "the share of orders above 100",
        "SELECT AVG(CASE WHEN amount > 100 THEN 1.0 ELSE 0.0 END) AS share FROM orders",
    ),
    Question(
        "the same in percent, in BigQuery",
        "SELECT ROUND(100 * COUNTIF(amount > 100) / COUNT(*), 1) AS pct FROM `orders`",
        "SELECT ROUND(100 * COUNT(*) FILTER (WHERE amount > 100) / COUNT(*), 1) FROM orders",
        within=0.2,
    ),
    Question(
        "how often orders come back, in PostgreSQL",
        "SELECT 100.0 * COUNT(*) FILTER (WHERE status = 'returned') / COUNT(*) AS return_rate FROM orders",
    ),
    Question("the mean basket", "SELECT SUM(amount) / COUNT(DISTINCT customer) AS per_customer FROM orders"),
    Question(
        "the share of each category",
        """SELECT category, 100.0 * SUM(quantity * price) / SUM(SUM(quantity * price)) OVER () AS pct
           FROM items JOIN products USING (product) GROUP BY category ORDER BY pct DESC""",
        refused="computed from several groups of the answer, which is not supported; ask for each group's own",
    ),
    # ---- groups -------------------------------------------------------------------------------------------------
    Question(
        "revenue by channel",
        "SELECT channel, SUM(amount) AS revenue FROM orders WHERE channel IN ('web', 'shop') GROUP BY channel",
    ),
    Question("orders by status", "SELECT status, COUNT(*) AS n FROM orders GROUP BY status", delta=True),
    Question("by status and channel", "SELECT status, channel, COUNT(*) FROM orders GROUP BY ALL", delta=True),
    Question(
        "customers by nation",
        """SELECT n.name, COUNT(*) AS customers FROM customers c JOIN nations n ON c.nation = n.code
           GROUP BY n.name ORDER BY customers DESC, n.name LIMIT 3""",
    ),
    Question(
        "the ten products that earn most",
        """SELECT product, SUM(quantity * price) AS revenue FROM items GROUP BY product
           ORDER BY revenue DESC LIMIT 10""",
        delta=True,
    ),
    Question(
        "nations that earn more than 30,000",
        """SELECT name, SUM(amount) AS revenue FROM orders JOIN customers ON customer = customers.id
           JOIN nations ON nation = code GROUP BY name HAVING SUM(amount) > 30000 ORDER BY revenue DESC""",
    ),
    Question(
        "small, medium and large orders",
        """SELECT CASE WHEN amount < 50 THEN 'small' WHEN amount < 200 THEN 'medium' ELSE 'large' END AS band,
           COUNT(*) AS orders FROM orders GROUP BY band""",
    ),
    Question(
        "orders in steps of 50",
        "SELECT FLOOR(amount / 50) * 50 AS step, COUNT(*) FROM orders GROUP BY 1 ORDER BY 1",
        delta=True,
    ),
    # ---- dates --------------------------------------------------------------------------------------------------
    Question(
        "revenue by month",
        "SELECT DATE_TRUNC('month', day) AS month, SUM(amount) FROM orders GROUP BY month ORDER BY month",
        delta=True,
    ),
    Question(
        "orders by month, as text",
        "SELECT STRFTIME(day, '%Y-%m') AS month, COUNT(*) AS n FROM orders GROUP BY 1 ORDER BY 1",
        delta=True,
    ),
    Question(
        "orders by day of the week",
        "SELECT EXTRACT(dow FROM day) AS weekday, COUNT(*) FROM orders GROUP BY weekday ORDER BY weekday",
        keys=range(7),
    ),
    Question(
        "orders of the last 90 days", "SELECT COUNT(*) FROM orders WHERE day >= DATE '2024-12-31' - INTERVAL '90 days'"
    ),
    Question(
        "customers by age",
        """SELECT CASE WHEN DATE_DIFF('year', born, DATE '2024-12-31') < 40 THEN 'under 40' ELSE 'older' END AS age,
           COUNT(*) FROM customers GROUP BY age""",
    ),
    # ---- strings ------------------------------------------------------------------------------------------------
    Question(
        "where mail goes",
        """SELECT SPLIT_PART(LOWER(email), '@', 2) AS domain, COUNT(*) AS customers FROM customers
           GROUP BY domain ORDER BY customers DESC""",
        delta=True,
    ),
    Question("addresses at example.com", "SELECT COUNT(*) FROM customers WHERE email ILIKE '%@example.com'"),
    # ---- inside a customer --------------------------------------------------------------------------------------
    Question(
        "mean spend of a customer",
        "SELECT AVG(spent) FROM (SELECT customer, SUM(amount) AS spent FROM orders GROUP BY customer) AS t",
    ),
    Question(
        "customers with at least five orders",
        "SELECT COUNT(*) FROM (SELECT customer FROM orders GROUP BY customer HAVING COUNT(*) >= 5) AS loyal",
    ),
    Question(
        "how many orders customers have",
        """WITH counts AS (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer)
           SELECT n, COUNT(*) AS customers FROM counts GROUP BY n ORDER BY n""",
        keys=range(1, 60),
    ),
    Question(
        "how many come back",
        """SELECT AVG(CASE WHEN n > 1 THEN 1.0 ELSE 0 END) AS repeat_rate
           FROM (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer) AS t""",
    ),
    Question(
        "new customers by month",
        """WITH firsts AS (SELECT customer, MIN(day) AS first_day FROM orders GROUP BY customer)
           SELECT DATE_TRUNC('month', first_day) AS month, COUNT(*) AS new_customers
           FROM firsts WHERE first_day < '2024-07-01' GROUP BY month ORDER BY month""",
        delta=True,
    ),
    Question(
        "items in an order",
        "SELECT AVG(n) FROM (SELECT order_id, COUNT(*) AS n FROM items GROUP BY order_id) AS t",
    ),
    Question(
        "the mean of everybody's last order",
        """SELECT AVG(amount) FROM (
             SELECT amount, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY day DESC, id DESC) AS rn FROM orders
           ) AS t WHERE rn = 1""",
    ),
    Question(
        "the three largest orders of each customer",
        """SELECT SUM(amount) FROM (
             SELECT amount FROM orders
             QUALIFY ROW_NUMBER() OVER (PARTITION BY customer ORDER BY amount DESC, id) <= 3) AS t""",
    ),
    Question(
        "days between two orders",
        """SELECT AVG(day - previous) AS days FROM (
             SELECT day, LAG(day) OVER (PARTITION BY customer ORDER BY day, id) AS previous FROM orders
           ) AS t WHERE previous IS NOT NULL""",
    ),
    # ---- several tables of a customer ---------------------------------------------------------------------------
    Question(
        "who bought p7",
        """SELECT COUNT(*) FROM customers AS c WHERE EXISTS (
             SELECT 1 FROM orders AS o JOIN items AS i ON i.order_id = o.id
             WHERE o.customer = c.id AND i.product = 'p7')""",
    ),
    Question("who never ordered", "SELECT COUNT(*) FROM customers WHERE id NOT IN (SELECT customer FROM orders)"),
    Question(
        "orders of everybody, those without one included",
        """SELECT AVG(n) FROM (SELECT c.id, COUNT(o.id) AS n FROM customers c LEFT JOIN orders o ON o.customer = c.id
           GROUP BY c.id) AS t""",
    ),
    Question(
        "orders above the customer's own mean",
        """SELECT COUNT(*) FROM orders AS o
           WHERE amount > (SELECT AVG(amount) FROM orders AS own WHERE own.customer = o.customer)""",
    ),
    Question(
        "payments and refunds together",
        """SELECT SUM(amount) AS balance FROM (
             SELECT customer, amount FROM orders UNION ALL SELECT customer, -amount FROM refunds) AS t""",
    ),
    # ---- across customers ---------------------------------------------------------------------------------------
    Question(
        "who has more than the mean balance",
        "SELECT COUNT(*) FROM customers WHERE balance > (SELECT AVG(balance) FROM customers)",
    ),
    # ---- the hospital -------------------------------------------------------------------------------------------
    Question(
        "length of stay, in PostgreSQL",
        "SELECT AVG(EXTRACT(EPOCH FROM (discharged - admitted)) / 86400.0) AS days FROM visits",
    ),
    Question(
        "stays by ward and sex",
        """SELECT v.ward, p.sex, COUNT(*) AS stays, AVG(DATE_DIFF('day', v.admitted, v.discharged)) AS days
           FROM visits v JOIN patients p ON v.patient = p.patient
           WHERE p.sex IN ('f', 'm') AND v.ward IN ('heart', 'lung', 'surgery') GROUP BY v.ward, p.sex""",
    ),
    Question(
        "back within 30 days",
        """WITH stays AS (SELECT patient, admitted,
             LAG(discharged) OVER (PARTITION BY patient ORDER BY admitted, visit) AS previous FROM visits)
           SELECT COUNT(*) AS readmissions FROM stays WHERE admitted <= previous + INTERVAL 30 DAY""",
    ),
    Question(
        "patients seen in two wards",
        """SELECT COUNT(*) FROM patients WHERE patient IN (SELECT patient FROM visits WHERE ward = 'heart')
           AND patient IN (SELECT patient FROM visits WHERE ward = 'lung')""",
    ),
    # ---- what shows rows ----------------------------------------------------------------------------------------
    Question("a look at the rows", "SELECT * FROM orders LIMIT 10", refused="rows are never shown"),
    Question(
        "the best customers by name",
        "SELECT customer, SUM(amount) AS spent FROM orders GROUP BY customer ORDER BY spent DESC LIMIT 10",
        refused="customer",
    ),
]


@pytest.fixture(scope="module")
def plain() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute(SHOP + HOSPITAL)
        yield connection


@pytest.fixture(scope="module")
def session(plain: duckdb.DuckDBPyConnection) -> Session:
    def private(table: str, person: str | None = None, **facts: Any) -> Private:
        return Private(plain, person, table=table, **facts)

    tables: dict[str, Private | Public] = {
        "customers": private("customers", "customer:id"),
        "orders": private("orders", "customer:customer"),
        "items": private("items", through={"order_id": "orders.id"}, key=["order_id", "line"]),
        "refunds": private("refunds", "customer:customer"),
        "patients": private("patients", "patient:patient"),
        "visits": private("visits", "patient:patient"),
        "nations": Public(plain, table="nations"),
        "products": Public(plain, table="products"),
    }
    return Session(tables, Approx(10**9, "0.5"))


def cells(found: Any) -> list[tuple[Any, ...]]:
    """The rows of an answer as SQL has them, with answers in the place of released numbers."""
    return [(found,)] if isinstance(found, Answer) else [row.cells for row in found.rows]


def value(cell: Any) -> Any:
    """A cell as a plain value that can be compared."""
    if isinstance(cell, Answer):
        cell = cell.value
    if isinstance(cell, datetime) and cell.time() == datetime.min.time():
        return cell.date()
    return cell


def near(found: Any, truth: Any, question: Question) -> bool:
    if isinstance(truth, list | tuple):
        return len(found) == len(truth) and all(near(a, b, question) for a, b in zip(found, truth, strict=True))
    if truth is None or isinstance(truth, str | bool | date):
        return bool(found == truth)
    return abs(float(found) - float(truth)) <= max(question.within, NEAR * abs(float(truth)), 1e-6)


def check_ranks(found: Any, truth: Sequence[Any], rows: Sequence[Any]) -> None:
    """As many rows as is stated lie between each quantile and the true one, at most; none beyond the ends."""
    answers = [found] if isinstance(found, Answer) else list(found.values())
    assert len(answers) == len(truth)
    for answer, true in zip(answers, truth, strict=True):
        stated = answer.spread.rank_error(SURE) if isinstance(answer.spread, Ranked) else 0
        apart = abs(bisect_left(rows, answer.value) - bisect_left(rows, true))
        assert apart <= stated + 5, (answer.value, true)  # rows with the same value


def check(question: Question, found: Any, truth: Sequence[tuple[Any, ...]]) -> None:
    """Every row of the truth is there, with its numbers; groups that are empty in truth are shown as nothing."""
    rows = cells(found)
    width = len(truth[0])
    keys = [i for i in range(width) if not any(isinstance(row[i], Answer) for row in rows)]
    expected = {tuple(value(row[i]) for i in keys): [row[i] for i in range(width) if i not in keys] for row in truth}
    shown = {tuple(value(row[i]) for i in keys): [value(row[i]) for i in range(width) if i not in keys] for row in rows}
    for key, numbers in expected.items():
        assert near(shown.pop(key), numbers, question), (key, numbers)
    assert all(not number for numbers in shown.values() for number in numbers)
    if "ORDER BY" in question.query.rpartition(")")[2] and keys:
        order = [key for key in (tuple(value(row[i]) for i in keys) for row in rows) if key in expected]
        assert order == list(expected)


@pytest.mark.parametrize("question", FIFTY, ids=lambda question: question.words)
def test_an_everyday_question(question: Question, session: Session, plain: duckdb.DuckDBPyConnection) -> None:
    asked = partial(session.sql, keys=question.keys, epsilon=EPSILON, delta=DELTA if question.delta else None)
    if question.refused:
        spent = session.budget.spent
        with pytest.raises((UnsupportedQuery, InvalidInput)) as refusal:
            asked(question.query)
        assert question.refused in str(refusal.value)
        assert session.budget.spent == spent
        return
    found = asked(question.query)
    truth = plain.execute(question.truth or question.query).fetchall()
    if question.ranked:
        rows = [row[0] for row in plain.execute(question.ranked).fetchall()]
        check_ranks(found, truth[0][0] if isinstance(truth[0][0], list) else truth[0], rows)
    else:
        check(question, found, truth)


def test_fifty_are_asked_and_few_are_refused() -> None:
    assert len(FIFTY) == len({question.words for question in FIFTY}) == 50
    assert sum(bool(question.refused) for question in FIFTY) <= MOST_REFUSED
