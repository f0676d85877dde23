"""Margins: they add up, keep their promise over all small datasets, and are at least as good as their own noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import pytest

from tacit import Approx, InvalidInput, Private, Pure, Session, UnsupportedQuery
from tacit.answers.margins import Combined
from tacit.audit.statistics import StatisticCheck
from tacit.noises import DiscreteGaussian, DiscreteLaplace
from tacit.randomness import seeded_not_private
from tacit.tables import Table
from tacit.tables.statistics.base import noisy_vector
from tacit.tables.statistics.ways import margins
from tacit.tables.statistics.ways.margins import Fit, every_set

pa = pytest.importorskip("pyarrow")

ROWS = range(1200)
VISITS = pa.table(
    {
        "who": [i % 300 for i in ROWS],
        "a": [i // 7 % 3 for i in ROWS],
        "b": ["xy"[i // 5 % 2] for i in ROWS],
        "v": [i * i % 90 - 30 for i in ROWS],
    }
)
KEYS = [(a, b) for a in range(3) for b in "xyz"]


@pytest.fixture
def session() -> Iterator[Session]:
    with Session(
        {"visits": Private(VISITS, person="who")}, budget=Approx(100, "1e-3"), randomness=seeded_not_private(3)
    ) as opened:
        yield opened


def add_up(values: dict[Any, Any]) -> None:
    for a, b in list(values):
        if a is not None and (a, None) in values:
            assert values[a, None] == sum(values[a, y] for y in "xyz")
        if b is not None and (None, b) in values:
            assert values[None, b] == sum(values[x, b] for x in range(3))
    assert values[None, None] == sum(values[key] for key in KEYS)


@pytest.mark.parametrize("cost", [{"epsilon": "0.1"}, {"rho": "0.01"}])
def test_margins_add_up_exactly(cost: dict[str, str], session: Session) -> None:
    groups = session["visits"].group_by(["a", "b"], KEYS, margins=True)
    for answers in (groups.count(**cost), groups.sum("v", **cost)):  # type: ignore[arg-type]
        assert len(answers) == 9 + 3 + 3 + 1
        add_up({key: answer.value for key, answer in answers.items()})
        for answer in answers.values():
            low, high = answer.interval()
            assert low <= answer.value <= high
    counts = session["visits"].group_by(["a", "b"], KEYS, margins=True, nonnegative=True).count(epsilon="0.05")
    values: dict[Any, Any] = {key: answer.value for key, answer in counts.items()}
    assert min(values.values()) == 0
    add_up(values)
    assert session["visits"].group_by(["a", "b"], KEYS, margins=True).count(**cost).stored  # type: ignore[arg-type]


def test_sql_has_rollup_cube_and_grouping_sets(session: Session) -> None:
    query = "SELECT a, b, COUNT(v) AS n, SUM(v) AS s, AVG(v) AS m FROM visits GROUP BY {}"
    forms = {
        "ROLLUP (a, b)": 9 + 3 + 1,
        "CUBE (a, b)": 9 + 3 + 3 + 1,
        "a, ROLLUP (b)": 9 + 3,
        "GROUPING SETS ((a, b), (b), ())": 9 + 3 + 1,
        "GROUPING SETS ((a), (b))": 3 + 3,
    }
    for form, count in forms.items():
        found = session.sql(query.format(form), keys=KEYS, epsilon=4)
        assert len(found.rows) == count  # type: ignore[union-attr]
        assert found.guarantee == Pure(4)
        rows = {row.key: [getattr(cell, "value", cell) for cell in row.cells] for row in found.rows}  # type: ignore[union-attr]
        assert all(n == 0 or m == pytest.approx(s / n) for _, _, n, s, m in rows.values())
        if form.startswith(("ROLLUP", "CUBE")):
            for place in (2, 3):
                add_up({key: cells[place] for key, cells in rows.items()})
    assert "count by a, b with margins" in str(session.preview(query.format("CUBE (a, b)"), keys=KEYS, epsilon=4))


@pytest.mark.parametrize(
    ("ask", "error"),
    [
        (
            lambda s: s.sql("SELECT a, COUNT(*) FROM visits GROUP BY ROLLUP (a)", epsilon=1),
            "need groups that are known",
        ),
        (lambda s: s.sql("SELECT a, MAX(v) FROM visits GROUP BY ROLLUP (a)", keys=[1], epsilon=1), "which add up"),
        (lambda s: s["visits"].group_by("a", [1], margins=True).persons(epsilon=1), "which add up"),
        (lambda s: s["visits"].group_by("a", [1], margins=True).mean("v", epsilon=1), "AVG"),
        (lambda s: s["visits"].group_by("a", [1, None], margins=True).count(epsilon=1), "NULL"),
        (lambda s: s["visits"].group_by("a", range(3000), margins=True).count(epsilon=1), "3,000"),
        (lambda s: s["visits"].group_by("a", margins=True), "give keys="),
        (lambda s: s["visits"].group_by("a", [1], nonnegative=True).sum("v", epsilon=1), "for counts"),
        (lambda s: s["visits"].group_by("a", [1], margins=True, nonnegative=True).sum("v", epsilon=1), "for counts"),
        (lambda s: s.sql("SELECT COUNT(*) FROM visits GROUP BY GROUPING SETS (())", epsilon=1), "one total"),
    ],
)
def test_what_has_no_margins_is_refused(ask: Callable[[Session], Any], error: str, session: Session) -> None:
    with pytest.raises((InvalidInput, UnsupportedQuery), match=error):
        ask(session)
    assert session.budget.spent.keywords() == {"epsilon": 0, "delta": 0}


def test_every_group_is_at_least_as_good_as_its_own_noise() -> None:
    sets = [[0, 1, 2, 3, 4, 5], [0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [0] * 6]
    drawn = [[5, 9, 1, 0, 3, 7], [20, 4], [6, 11, 5], [31]]
    for noise, own in ((DiscreteLaplace(Fraction(1, 4)), 32), (DiscreteGaussian(Fraction(9)), 9)):
        fit = Fit.of(sets, drawn, noise, 1, nonnegative=False)
        stds = [spread.std for spreads in fit.spreads for spread in spreads]
        assert max(stds) < own**0.5
        assert sum(fit.cells) == pytest.approx(fit.spreads[3][0].estimate, abs=0.5)
    exact = Fit.of(sets, [[1, 2, 3, 4, 5, 6], [6, 15], [5, 7, 9], [21]], noise, 1, nonnegative=True)
    assert exact.cells == [1, 2, 3, 4, 5, 6]


def test_an_interval_is_no_shorter_than_the_noise_it_bounds() -> None:
    """Of one Laplace noise of scale b it must reach b·ln 20, of one Gaussian 1.96 deviations."""
    low, high = Combined(0.0, 2 * 100.0**2, 100.0).interval(0, Fraction(95, 100))
    assert -low == high >= 299
    low, high = Combined(0.0, 100.0**2, 0.0).interval(0, Fraction(95, 100))
    assert -low == high
    assert 196 <= high <= 280


# ---- exactly, over all small datasets ---------------------------------------------------------------------------

PERSONS = (({"v": 3, "g": "x"}, {"v": 2, "g": "y"}), ({"v": -4, "g": "x"},), ({"v": 100, "g": "y"},) * 3)


@pytest.fixture(scope="module")
def small() -> StatisticCheck:
    """Up to two persons of three kinds: 10 datasets."""
    return StatisticCheck(PERSONS, 2, {"v": "integer", "g": "text"})


def by_group(t: Table, **cost: Any) -> Any:
    return t.group_by("g", ["x", "y"], margins=True).sum("v", fresh=True, **cost)


@pytest.mark.parametrize("cost", [{"epsilon": 4}, {"rho": 2}])
def test_margins_keep_their_promise(cost: dict[str, int], small: StatisticCheck) -> None:
    report = small.check(lambda t: by_group(t, **cost), paths=2)
    assert len(report.stages) > 3
    assert report.spent
    assert report.holds, [stage for stage in report.stages if not stage.verification.holds]


def test_margins_that_forget_the_cap_or_a_set_are_caught(
    small: StatisticCheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = margins._added

    def twice(cells: Sequence[int], places: Sequence[int], count: int) -> list[int]:
        """Counts every cell of a margin twice."""
        return [total * (1 if count > 1 else 2) for total in honest(cells, places, count)]

    monkeypatch.setattr(margins, "_added", twice)
    assert small.check(lambda t: by_group(t, epsilon=4), paths=2).broken
    monkeypatch.setattr(margins, "_added", honest)
    cheap = lambda values, share, cap: noisy_vector(values, share.share(Fraction(2)), cap)  # noqa: E731
    monkeypatch.setattr(margins, "noisy_vector", cheap)
    assert small.check(lambda t: by_group(t, epsilon=4), paths=2).broken  # each set at the price of both


def test_all_sets_of_two_columns() -> None:
    assert every_set(2) == [(), (0,), (1,), (0, 1)]
    with pytest.raises(InvalidInput, match="at most"):
        every_set(7)
