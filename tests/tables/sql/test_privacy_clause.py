"""GoogleSQL's clause means the same as the keywords, and nothing else is taken for it."""

from collections.abc import Iterator

import pyarrow as pa
import pytest

from tacit import Answer, Approx, InvalidInput, Private, Pure, Session, UnsupportedQuery

ROWS = pa.table({"who": list(range(50)), "v": [3] * 50, "g": ["a", "b"] * 25})
ITEMS = pa.table({"order": list(range(50)), "other": list(range(50)), "w": [1] * 50})


@pytest.fixture
def session() -> Iterator[Session]:
    tables = {"t": Private(ROWS, person="who"), "two": Private(ITEMS, person=["order", "other"])}
    with Session(tables, budget=Approx(10**9, "0.5")) as session:
        yield session


DP = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS"

SAME: dict[str, tuple[str, Pure | Approx]] = {
    f"{DP}(epsilon=0.5, privacy_unit_column=who) SUM(v) FROM t": ("SELECT SUM(v) FROM t", Pure("0.5")),
    f"{DP}(epsilon = 5e-1, delta=0.0) SUM(v) FROM t": ("SELECT SUM(v) FROM t", Pure("0.5")),
    f'{DP}(EPSILON=1, delta=.01, privacy_unit_column=t."who") SUM(v) FROM t': (
        "SELECT SUM(v) FROM t",
        Approx(1, "0.01"),
    ),
    "select /* é */ with differential_privacy options(epsilon=1, max_groups_contributed=null) count(*, "
    "contribution_bounds_per_group => (-1.5, 2)) from t where g = 'DIFFERENTIAL_PRIVACY'": (
        "SELECT COUNT(*) FROM t WHERE g = 'DIFFERENTIAL_PRIVACY'",
        Pure(1),
    ),
    f"WITH x AS (SELECT v + 1 AS d FROM t) {DP}(epsilon=1) SUM(d, contribution_bounds_per_row=>(0, 1)) FROM x": (
        "WITH x AS (SELECT v + 1 AS d FROM t) SELECT SUM(d) FROM x",
        Pure(1),
    ),
    "SELECT WITH ANONYMIZATION OPTIONS(epsilon=1, kappa=3) ANON_SUM(v CLAMPED BETWEEN -1 AND 2.5) FROM t": (
        "SELECT SUM(v) FROM t",
        Pure(1),
    ),
    f"WITH x AS (SELECT v AS clamped FROM t) {DP}(epsilon=1) ANON_COUNT(*) FROM x WHERE clamped BETWEEN 1 AND 5": (
        "SELECT COUNT(*) FROM t WHERE v BETWEEN 1 AND 5",
        Pure(1),
    ),
}


@pytest.mark.parametrize("query", SAME)
def test_the_clause_is_the_same_question_at_the_same_cost(query: str, session: Session) -> None:
    plain, cost = SAME[query]
    assert repr(cost) in str(session.cost(query))
    first = session.sql(query)
    assert first.guarantee == cost
    named = {"epsilon": cost.epsilon} | ({"delta": cost.delta} if isinstance(cost, Approx) else {})
    again = session.sql(plain, **named)  # type: ignore[arg-type]
    assert isinstance(again, Answer)
    assert again.stored
    assert not session.sql(query, fresh=True).stored


REFUSED = {
    f"{DP}(epsilon=1, privacy_unit_column=g) SUM(v) FROM t": "person = who, and that is who is protected",
    f"{DP}(epsilon=1, privacy_unit_column=order) SUM(w) FROM two": "person = order and other",
    f"{DP}(delta=0.1) SUM(v) FROM t": "OPTIONS needs epsilon",
    f"{DP}(epsilon=-1) SUM(v) FROM t": "epsilon must be above 0",
    f"{DP}(epsilon=v) SUM(v) FROM t": "epsilon must be an exact number",
    f"{DP}(epsilon=1, epsilon=1) SUM(v) FROM t": "each option once",
    f"{DP}(epsilon) SUM(v) FROM t": "each option once",
    f"{DP}(epsilon=1, min_privacy_units_per_group=5) SUM(v) FROM t": "OPTIONS has no min_privacy_units_per_group",
    f"{DP}(epsilon=1, max_groups_contributed=v) SUM(v) FROM t": "must be a whole number or NULL",
    f"{DP}(epsilon=1, SUM(v) FROM t": "never closed",
    f"{DP}(epsilon=1) SUM(v, contribution_bounds_per_group => 7) FROM t": "must be a pair of numbers",
    f"{DP}(epsilon=1) SUM(v, contribution_bounds_per_group => (0, v)) FROM t": "must be a pair of numbers",
    f"SELECT SUM(v) FROM ({DP}(epsilon=1) v FROM t) AS x": "outermost SELECT",
    f"{DP}(epsilon=1) SUM(v) FROM t UNION {DP}(epsilon=1) SUM(v) FROM t": "outermost SELECT",
    "SELECT WITH DIFFERENTIAL_PRIVACY SUM(v) FROM t": "needs OPTIONS",
}


@pytest.mark.parametrize("query", REFUSED)
def test_what_the_clause_cannot_say_is_refused_and_nothing_is_spent(query: str, session: Session) -> None:
    with pytest.raises((InvalidInput, UnsupportedQuery), match=REFUSED[query]):
        session.sql(query)
    assert repr(session.budget.spent) == "Approx(0, 0)"


@pytest.mark.parametrize("name", ["epsilon", "delta", "rho"])
def test_a_second_cost_is_refused(name: str, session: Session) -> None:
    with pytest.raises(InvalidInput, match=f"OPTIONS and {name}= names one too"):
        session.sql(f"{DP}(epsilon=1) SUM(v) FROM t", **{name: 1})  # type: ignore[arg-type]
    assert repr(session.budget.spent) == "Approx(0, 0)"


def test_a_text_of_that_name_is_no_clause(session: Session) -> None:
    with pytest.raises(InvalidInput, match="name what the answer may cost"):
        session.sql("SELECT COUNT(*) FROM t WHERE g = 'SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1)'")
