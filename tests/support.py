"""What several tests share: statistical agreement with a stated false-alarm rate, and patience.

Laws are functions of `scipy.special`: to import `scipy.stats` takes a second, in every process of the tests.
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from math import exp
from typing import Any, TypeVar

from scipy.special import bdtr, bdtrc, chdtrc, gammaln, xlog1py, xlogy

from tacit import checker
from tacit.mechanisms.law import Law

K = TypeVar("K", bound=Hashable)


def agrees(draws: Iterable[K], probabilities: Mapping[K, float], alarm: float = 1e-7) -> bool:
    """Whether draws fit a law by the chi-square test, wrong about a correct sampler with probability ``alarm``.

    Outcomes with fewer than ten expected draws, and all that ``probabilities`` leaves out, are pooled, so that the
    chi-square approximation is good; the pool is compared too when it expects ten or more, and must otherwise stay
    below a Poisson bound of the same false-alarm rate.
    """
    counts = Counter(draws)
    n = sum(counts.values())
    expected = {y: n * p for y, p in probabilities.items() if n * p >= 10}
    pooled = max(0.0, n - sum(expected.values()))
    seen = n - sum(counts[y] for y in expected)
    statistic = sum((counts[y] - e) ** 2 / e for y, e in expected.items())
    cells = len(expected)
    if pooled >= 10:
        statistic += (seen - pooled) ** 2 / pooled
        cells += 1
    elif seen > pooled + 8 * max(pooled, 1.0) ** 0.5 + 16:
        return False
    return cells < 2 or bool(chdtrc(cells - 1, statistic) > alarm)


class Binomial:
    """How many of some trials succeed."""

    def __init__(self, trials: int, chance: float) -> None:
        self.trials, self.chance = trials, chance

    def exactly(self, k: int) -> float:
        n, p = self.trials, self.chance
        ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
        return float(exp(ways + xlogy(k, p) + xlog1py(n - k, -p)))

    def at_most(self, k: int) -> float:
        return float(bdtr(k, self.trials, self.chance))

    def at_least(self, k: int) -> float:
        return float(bdtrc(k - 1, self.trials, self.chance))


def follows(law: Law[Any], draws: int) -> bool:
    """Whether draws from a law agree with its probabilities, by `agrees`."""
    return agrees(law.sample(draws), {y: float(law.pmf(y)) for y in law.outcomes()})


def as_private(certificate: dict[str, Any]) -> dict[str, Any]:
    """A certificate of a seeded answer as if its source had been a true one, written and read as JSON."""
    releases = json.loads(json.dumps(certificate["releases"]))
    for release in releases:
        release["private"] = True
    return {**certificate, "releases": releases, "digest": checker.digest(releases)}


def until(found: Callable[[], object], what: str = "it did not happen in 200 seconds") -> None:
    """Wait until something is found, however busy the machine is."""
    end = time.monotonic() + 200
    while not found():
        assert time.monotonic() < end, what
        time.sleep(0.02)
