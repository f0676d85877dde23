"""Linear programs: what the solver says is never believed, and every bound is rigorous whatever it says."""

import _thread
import threading
import time
from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from tacit.answers.flows import rounded
from tacit.flows import (
    CappedStatistic,
    Incidences,
    capped_degree,
    capped_distinct,
    capped_frequency,
    capped_sum,
    frequency,
    packing,
    solvers,
)
from tacit.flows.peeling import Core
from tacit.flows.programs import ROUNDS, Program, over_common_denominator, pack, propose, simple_fraction
from tacit.flows.solving import LEAST, solve
from tests.flows.hypergraphs import Hypergraph, relaxed_up


def triples(seed: int, persons: int = 9, rows: int = 24, weight: int = 5) -> Hypergraph:
    """A dense core: rows of three persons, and nobody light."""
    rng = np.random.default_rng(seed)
    sets = [tuple(int(u) for u in rng.choice(persons, 3, replace=False)) for _ in range(rows)]
    return Hypergraph(tuple((int(rng.integers(1, weight + 1)), row, int(rng.integers(3))) for row in sets))


def odd_cycle(weight: int) -> Hypergraph:
    """The Fano plane: seven rows on seven persons, where a third of everybody is removed."""
    lines = [(0, 1, 2), (0, 3, 4), (0, 5, 6), (1, 3, 5), (1, 4, 6), (2, 3, 6), (2, 4, 5)]
    return Hypergraph(tuple((weight, line, 0) for line in lines))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("weight", [1, 10**6, 10**14])
def test_bounds_tighten_to_the_exact_value(seed: int, weight: int) -> None:
    core = Core.of(triples(seed, weight=weight).lists)
    totals = sorted(int(t) for t in core.totals)
    cap = Fraction(totals[1] * 2, 3)
    exact = solve(core, cap, ROUNDS)
    assert exact.low == exact.high
    for effort in range(3):
        line = solve(core, cap, effort)
        assert line.low <= exact.low <= line.high
        assert line.high - line.low <= Fraction(10 * weight, 2 ** (28 * (effort + 1)))
        # a supporting line stays above the curve everywhere
        for other in (Fraction(totals[0], 7), Fraction(totals[0]), Fraction(totals[-1])):
            assert solve(core, other, ROUNDS).low <= line.remaining + other * line.removed


def test_a_third_of_everybody() -> None:
    for weight in (1, 3, 10**17 + 1):
        curve = capped_sum(odd_cycle(weight).lists)
        line = solve(Core.of(odd_cycle(weight).lists), Fraction(weight))
        assert line.high == Fraction(7 * weight, 3)
        assert curve.at(weight) == rounded(Fraction(7 * weight, 3), weight)
        assert curve.profile(3) == (7 * weight, 4 * weight, weight, 0)


class Broken:
    """A solver that fails, or answers with something else."""

    def __init__(self, spoil: Any) -> None:
        self._spoil, self._solver, self.calls = spoil, linprog, 0

    def __call__(self, *args: Any, **options: Any) -> Any:
        self.calls += 1
        answer = self._solver(*args, **options)
        return answer if answer.status else self._spoil(answer, np.random.default_rng(self.calls))


def fails(answer: Any, rng: np.random.Generator) -> Any:
    return SimpleNamespace(status=4)


def spoiled(answer: Any, spoil: Callable[[Any], Any]) -> Any:
    """The answer with its primal and its dual changed."""
    parts = {name: SimpleNamespace(marginals=spoil(answer[name].marginals)) for name in ("eqlin", "ineqlin")}
    return SimpleNamespace(status=0, x=spoil(answer.x), **parts)


def drifts(answer: Any, rng: np.random.Generator) -> Any:
    return spoiled(answer, lambda values: values + rng.normal(0, 1e-5, len(values)))


def lies(answer: Any, rng: np.random.Generator) -> Any:
    return spoiled(answer, lambda values: rng.uniform(-2, 2, len(values)))


def boasts(answer: Any, rng: np.random.Generator) -> Any:
    """Twice the packing, and half the removal."""
    parts = {name: SimpleNamespace(marginals=answer[name].marginals / 2) for name in ("eqlin", "ineqlin")}
    return SimpleNamespace(status=0, x=2 * answer.x, **parts)


def babbles(answer: Any, rng: np.random.Generator) -> Any:
    return spoiled(answer, lambda values: rng.choice([np.nan, np.inf, -np.inf, 1e300], len(values)))


@pytest.mark.parametrize("spoil", [fails, drifts, lies, boasts, babbles])
def test_no_solver_can_change_an_answer(spoil: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = triples(3, persons=6, rows=9, weight=3)
    makers: dict[str, Callable[[], CappedStatistic]] = {
        "sum": lambda: capped_sum(graph.lists),
        "frequency": lambda: capped_frequency(graph.lists, graph.values),
        "degree": lambda: capped_degree(graph.lists),
    }
    honest = {name: (make().profile(3), [make().at(cap) for cap in (1, 2, 4)]) for name, make in makers.items()}
    solver = Broken(spoil)
    monkeypatch.setattr("scipy.optimize.linprog", solver)
    for name, make in makers.items():
        assert (make().profile(3), [make().at(cap) for cap in (1, 2, 4)]) == honest[name]
        assert honest[name][0] == tuple(relaxed_up(graph, name, j) for j in range(4))
    assert solver.calls > 0


def test_exact_simplex_on_a_program_known_by_hand() -> None:
    # maximise 3a + 5b, a ≤ 4, 2b ≤ 12, 3a + 2b ≤ 18: a = 2, b = 6, prices 0, 3/2, 1
    program = Program(
        gain=np.array([3, 5]),
        limit=np.array([4, 12, 18]),
        constraint=np.array([0, 1, 2, 2]),
        variable=np.array([0, 1, 0, 1]),
        coefficient=np.array([1, 2, 3, 2]),
    )
    for effort in (0, ROUNDS):
        proposal = propose(program, effort)
        assert [Fraction(int(z), proposal.denominator) for z in proposal.primal] == [2, 6]
        assert proposal.dual == [0, Fraction(3, 2), 1]


def test_simple_fractions_are_found_and_others_rounded() -> None:
    third = Fraction(round(Fraction(2**40, 3)), 2**40)
    assert simple_fraction(third, 0) == Fraction(1, 3)
    awkward = Fraction(123456789, 2**40)
    assert abs(simple_fraction(awkward, 0) - awkward) <= Fraction(1, 2**30)


def test_common_denominators_stay_short() -> None:
    numbers, unit = over_common_denominator([Fraction(1, 3), Fraction(3, 4)])
    assert (numbers.tolist(), unit) == ([4, 9], 12)
    primes = [Fraction(1, 2**p - 1) for p in (521, 607, 1279, 2203)]
    numbers, unit = over_common_denominator(primes)
    assert unit == 2**512
    assert numbers.tolist() == [round(v * unit) for v in primes]


def test_packing_meets_every_limit_and_lowers_no_more_than_asked() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        variable, constraint = rng.integers(0, 6, 14), rng.integers(0, 4, 14)
        z = np.array(rng.integers(0, 1000, 6).tolist(), dtype=object)
        limit = np.array(rng.integers(0, 2000, 4).tolist(), dtype=object)
        lowered = pack(z, variable, constraint, limit)
        load, before = np.zeros(4, dtype=object), np.zeros(4, dtype=object)
        np.add.at(load, constraint, lowered[variable])
        np.add.at(before, constraint, z[variable])
        assert all(load <= limit)
        untouched = [v for v in range(6) if all(before[c] <= limit[c] for c in constraint[variable == v])]
        assert all(lowered[v] == z[v] for v in untouched)


def test_large_and_small_weights_meet_in_one_row_list() -> None:
    rows = Incidences.from_lists(
        [1, 2**61, 3, 2**62, 1], [0, 3, 6, 9, 12, 15], [0, 1, 2, 1, 2, 3, 0, 2, 3, 0, 1, 3, 1, 3, 4]
    )
    curve = capped_sum(rows)
    # all rows but the first touch person 3, so a cap binds there, and the first row comes on top
    assert curve.at(2**61) == 2**61
    assert curve.at(2**61 + 3) == 2**61 + 4
    assert curve.profile(1) == (2**62 + 2**61 + 5, 1)


def test_an_interrupt_ends_the_wait_for_a_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped, begun = threading.Event(), time.monotonic()
    threading.Timer(0.2, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        solvers.waited_for(lambda: stopped.wait(200), stopped.set)
    assert time.monotonic() - begun < 150
    assert stopped.is_set()


def test_a_solver_that_fails_says_so() -> None:
    with pytest.raises(ZeroDivisionError):
        solvers.waited_for(lambda: 1 // 0)


@pytest.mark.parametrize("lie", ["nothing", "everything", "noise", "nonsense"])
def test_a_solver_that_only_comes_near_cannot_change_an_answer(lie: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it says of the packing and of the removal, both bounds hold, and the value is the exact one, rounded."""
    rng = np.random.default_rng(7)
    say: dict[str, Callable[[int], Any]] = {
        "nothing": np.zeros,
        "everything": lambda size: np.full(size, 9.0),
        "noise": lambda size: rng.uniform(-1, 2, size),
        "nonsense": lambda size: rng.choice([np.nan, np.inf, -np.inf, 1e300], size),
    }
    said = []

    def near(limit: Any, upper: Any, *rest: Any) -> Any:
        said.append(True)
        return say[lie](upper.size), say[lie](limit.size)

    graph = triples(4, persons=6, rows=10, weight=3)
    makers: dict[str, Callable[[], CappedStatistic]] = {
        "sum": lambda: capped_sum(graph.lists),
        "distinct": lambda: capped_distinct(graph.lists, graph.values),
        "frequency": lambda: capped_frequency(graph.lists, graph.values),
        "degree": lambda: capped_degree(graph.lists),
    }
    for module in (packing, frequency):
        monkeypatch.setattr(module, "approached", near)
    for name, make in makers.items():
        curve = make()
        exact = [Fraction(curve._line(Fraction(cap), ROUNDS).high) for cap in (1, 2, 4)]
        assert [curve.at(cap) for cap in (1, 2, 4)] == [
            rounded(value, cap) for value, cap in zip(exact, (1, 2, 4), strict=True)
        ]
        for cap, value in zip((1, 2, 4), exact, strict=True):
            line = curve._line(Fraction(cap), LEAST)
            assert line.low <= value <= line.high, name
    assert said
