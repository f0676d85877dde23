"""Microseconds per draw of every sampler: median and 95th percentile, with the targets where there are some.

Run it as ``python benchmarks/samplers.py``; it prints a table and writes results/samplers.json beside itself. The time
is processor time: on an idle machine the time one waits, on a busy one without the others' work. Single draws are timed
one by one, vectors as a whole; the clock's own time, about half a microsecond, is not taken off.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from fractions import Fraction
from statistics import median, quantiles
from time import process_time_ns

from record import write

from tacit import randomness as r

MILLION = 10**6
LEVELS = [(2**64 - i, i) for i in range(1000)]
SPREAD = [(2**64 - i, i * 982451653 % 2**40) for i in range(1000)]
TABLE = r.Categorical(LEVELS, Fraction(1, 10))
SCALES = ("1e-9", "1", "1e3", "1e6", "1e9", "1e12")


@dataclass(frozen=True)
class Row:
    sampler: str
    median: float
    p95: float
    """Microseconds for each draw."""
    target: float | None

    @property
    def met(self) -> str:
        return "" if self.target is None else "met" if self.median <= self.target else "missed"


def timed(sampler: str, draw: Callable[[], object], repeats: int, draws: int = 1, target: float | None = None) -> Row:
    """Time ``repeats`` calls that make ``draws`` draws each."""
    draw()  # tables and imports are paid once, except where a table belongs to the draw
    times = []
    for _ in range(repeats):
        start = process_time_ns()
        draw()
        times.append((process_time_ns() - start) / 1000 / draws)
    return Row(sampler, median(times), quantiles(times, n=20)[-1], target)


def single() -> list[Row]:
    rate, third, lattice = Fraction(1, 10), Fraction(1, 3), Fraction(1, 1000)
    draws: dict[str, Callable[[], object]] = {
        "uniform integer below 1000": lambda: r.uniform_below(1000),
        "Bernoulli(1/3)": lambda: r.bernoulli(third),
        "Bernoulli(exp(-1/3))": lambda: r.bernoulli_exp(third),
        "shuffle of 100": lambda: r.shuffled(range(100)),
        "geometric, rate 1/10": lambda: r.geometric(rate),
        "asymmetric Laplace, rates 1/10 and 1/3": lambda: r.asymmetric_laplace(rate, third),
        "truncated Laplace, rate 1/10, bound 50": lambda: r.truncated_laplace(rate, 50),
        "discrete Gaussian, deviation 10": lambda: r.discrete_gaussian(100),
        "discrete Gaussian, deviation 1e12": lambda: r.discrete_gaussian(10**24),
        "categorical, 1,000 levels, table at hand": TABLE.draw,
        "first success in 2^64 trials, gamma 44": lambda: r.first_success(44, 2**64),
        "first success in an endless run, gamma 1000": lambda: r.first_success(1000, None),
        "Laplace on a lattice": lambda: r.rounded_laplace(third, 1, lattice),
        "Gaussian on a lattice": lambda: r.rounded_gaussian(third, 1, lattice),
        "Student, d = 3, on a lattice": lambda: r.rounded_student(third, 1, lattice, 3),
        "1/(1 + |z|^4) on a lattice": lambda: r.rounded_power(third, 1, lattice, 4),
    }
    return [timed(name, draw, 2000) for name, draw in draws.items()]


def laplace() -> list[Row]:
    rates = {scale: 1 / Fraction(scale) for scale in SCALES}
    return [
        timed(f"discrete Laplace, scale {scale}", lambda e=rate: r.discrete_laplace(e), 2000, target=20)  # type: ignore[misc]
        for scale, rate in rates.items()
    ]


def whole_tables() -> list[Row]:
    return [
        timed("categorical, 1,000 levels with its table", lambda: r.categorical(LEVELS, "0.1"), 100, target=3000),
        timed("the same, levels spread over 2^40", lambda: r.categorical(SPREAD, "1e-12"), 100, target=3000),
    ]


def vectors() -> list[Row]:
    draws: dict[str, Callable[[], object]] = {
        "geometric, rate 1/10": lambda: r.geometrics("0.1", MILLION),
        "discrete Laplace, scale 10": lambda: r.discrete_laplaces("0.1", MILLION),
        "discrete Laplace, scale 1e12": lambda: r.discrete_laplaces("1e-12", MILLION),
        "discrete Gaussian, deviation 10": lambda: r.discrete_gaussians(100, MILLION),
        "discrete Gaussian, deviation 1e12": lambda: r.discrete_gaussians(10**24, MILLION),
    }
    return [timed(f"{name}, a million at once", draw, 7, MILLION, target=2) for name, draw in draws.items()]


def main() -> None:
    rows = single() + laplace() + whole_tables() + vectors()
    print(f"{'sampler':<48}{'median µs':>12}{'95 % µs':>12}{'target':>10}")
    for row in rows:
        target = "" if row.target is None else f"{row.target:g}"
        print(f"{row.sampler:<48}{row.median:>12.3f}{row.p95:>12.3f}{target:>10} {row.met}")
    report = {
        "unit": "microseconds of processor time per draw",
        "samplers": [{**asdict(row), "met": row.met} for row in rows],
    }
    write("samplers", report)


if __name__ == "__main__":
    main()
