"""How far the searches reach on a grid of 2^64 values: the stated and the simulated window at β = 5 %, and the time.

    python benchmarks/searches.py [--draws 400]

For ε in {0.1, 0.5, 1, 2} and every method of the shifted inverse: the window w it states (the answer lies in
[D_w, D_0] with probability 95 %), and two trials. *Stairs*: D falls at every person by an equal part of the grid; the
smallest window that held 95 % of the draws. *Jump*: D_0 = … = D_w and then the lowest value, near either end of the
grid, where the statement is hardest to keep; the share of draws in the stated window and, where the law is exact, its
exact probability. The Bayesian search runs at the ρ that ε pays for in zCDP; its statement is proved for jumps only, so
it is also tried on *plateaus*, profiles that rest somewhere inside the window. Last, milliseconds of processor time for
one draw from a profile of 500 steps, and the Bayesian search at ρ = 0.0244, τ = 65.
Results go to benchmarks/results/searches.json.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from fractions import Fraction
from random import Random
from time import process_time
from typing import Any

from record import write

from tacit.curves import DownProfile
from tacit.grids import integers
from tacit.guarantees import Pure, Zcdp
from tacit.mechanisms import bayesian_search, shifted_inverse

N = 2**64
GRID = integers(0, N - 1)
BETA = Fraction(1, 20)
EPSILONS = ("0.1", "0.5", "1", "2")
METHODS = ("exponential", "scan", "scan_down", "binary_search", "bayesian_search")


def cost(method: str, epsilon: str) -> dict[str, Any]:
    """The budget as the method takes it."""
    if method != "bayesian_search":
        return {"epsilon": epsilon}
    spent = Pure(epsilon).to(Zcdp)
    assert isinstance(spent, Zcdp)
    return {"rho": spent.rho}


def stairs(steps: int) -> DownProfile:
    """D falls by an equal part of half of the grid at each of so many persons."""
    return DownProfile([N // 2 - j * (N // 2 // (steps + 1)) for j in range(steps)])


def jump(window: int, at: int) -> DownProfile:
    """D stays at one value for the whole window, then is the lowest."""
    return DownProfile([at] * (window + 1))


def plateau(window: int, level: int, at: int) -> DownProfile:
    """D rests far below D_0 from person ``level`` to the end of the window."""
    return DownProfile([at] * level + [at // 2] * (window + 1 - level))


def missed(profile: DownProfile, window: int, answers: Sequence[Any]) -> float:
    """The share of answers outside [D_window, D_0]."""
    low, high = profile.at(window) or 0, profile.at(0) or 0
    return sum(not low <= int(y) <= high for y in answers) / len(answers)


def reached(profile: DownProfile, answers: Sequence[Any]) -> float:
    """The smallest window that holds 95 % of the answers."""
    loss, true = profile.loss(GRID), profile.at(0) or 0
    windows = sorted(float("inf") if int(y) > true else loss.at(int(y)) for y in answers)
    return windows[-(-len(windows) * 19 // 20) - 1]


def measure(method: str, epsilon: str, draws: int) -> dict[str, Any]:
    """One row of the table."""
    spent = cost(method, epsilon)
    window = shifted_inverse(stairs(1), GRID, method=method, **spent).accuracy(BETA).window
    assert window is not None
    wide = stairs(window + window // 4 + 10)
    jumps = [(shifted_inverse(jump(window, at), GRID, method=method, **spent), jump(window, at)) for at in (1, N - 2)]
    result: dict[str, Any] = {
        "stated": window,
        "stairs": reached(wide, shifted_inverse(wide, GRID, method=method, **spent).sample(draws)),
        "jump": 1 - statistics.mean(missed(profile, window, law.sample(draws)) for law, profile in jumps),
    }
    if method != "bayesian_search":
        result["jump exactly"] = min(float(law.pmf(profile.values[0])) for law, profile in jumps)
    if method == "bayesian_search":
        random = Random(1)
        levels = [random.randrange(1, window) for _ in range(draws)]
        hard = [plateau(window, level, random.randrange(N // 4, N)) for level in levels]
        result["plateau"] = 1 - statistics.mean(
            missed(p, window, [shifted_inverse(p, GRID, method=method, **spent).sample()]) for p in hard
        )
    return result


def milliseconds(method: str) -> dict[str, float]:
    """The time of one draw at ε = 1 from 500 steps, and of building its law."""
    profile, spent, times = stairs(500), cost(method, "1"), []
    start = process_time()
    law = shifted_inverse(profile, GRID, method=method, **spent)
    law.sample()
    first = process_time() - start
    for _ in range(40):
        start = process_time()
        law.sample()
        times.append(1000 * (process_time() - start))
    times.sort()
    return {"median": statistics.median(times), "95th percentile": times[37], "law and first draw": 1000 * first}


def design_point(draws: int) -> float:
    """The share of successes of the Bayesian search at ρ = 0.0244 with τ = 65, over stairs, jumps and plateaus."""
    random, failures = Random(2), 0.0
    for i in range(draws):
        at = random.randrange(N // 4, N)
        profile = (stairs(500), jump(400, at), plateau(400, 32, at), plateau(400, 97, at))[i % 4]
        answer = bayesian_search(profile.loss(GRID), "0.0244", 65).sample()
        failures += missed(profile, 130, [answer])
    return 1 - failures / draws


def main() -> None:
    parser = argparse.ArgumentParser(description="Windows and times of the searches on a grid of 2^64 values.")
    parser.add_argument("--draws", type=int, default=400)
    draws = parser.parse_args().draws
    table: dict[str, Any] = {}
    print(f"{'ε':>4} {'method':<16} {'stated w':>9} {'stairs w':>9} {'jump':>7} {'exactly':>8} {'plateau':>8}")
    for epsilon in EPSILONS:
        for method in METHODS:
            row = table.setdefault(epsilon, {})[method] = measure(method, epsilon, draws)
            rest = [f"{row[name]:8.1%}" if name in row else " " * 8 for name in ("jump exactly", "plateau")]
            print(
                f"{epsilon:>4} {method:<16} {row['stated']:>9} {row['stairs']:>9} {row['jump']:7.1%}", *rest, flush=True
            )
    times = {method: milliseconds(method) for method in METHODS}
    for method, found in times.items():
        print(f"{method:<16}", ", ".join(f"{name} {value:.2f} ms" for name, value in found.items()))
    success = design_point(draws)
    print(f"Bayesian search at ρ = 0.0244 with τ = 65: {success:.1%} of {draws} draws succeed")
    record = {
        "beta": float(BETA),
        "grid": "2^64",
        "draws": draws,
        "windows": table,
        "milliseconds": times,
        "bayesian_search at rho 0.0244, target 65": success,
    }
    write("searches", record)


if __name__ == "__main__":
    main()
