"""Subset extension: a function with a claimed sensitivity, from its values on the subsets that miss a few persons.

PROMISE  Approx(ε, δ) for one draw, for any function f of groups of persons and any claim of c steps, true or false:
when one person is added or removed, or where their number is public, when one is replaced. The output is a noisy value
or None, a refusal, which is a released and charged answer.

THE EXTENSION  Let k be a fixed floor. A group is *steady* if no person changes f by more than c on any of its subsets
of at least k persons; every subset of it is steady too. For persons x let m(x) be how few must be left out until a
steady group is left, and F(x) = min { f(z) + 3c·|x∖z| : z ⊆ x steady, |x∖z| ≤ 2M }, M a public number.

PROOF  (1) A person who joins raises m by 0 or 1: a steady group of x is one of x∪v, and one of x∪v without v is one of
x, or has fewer than k persons, and then any k of x will do.
(2) Let m(x) ≤ M and |x| − k ≥ 3M. Then F(x) is attained with fewer than 2M missing. For let z miss m(x) and z' miss 2M,
both steady, and i = |z'∖z| ≤ m(x). Then z∩z' has |x| − 2M − i ≥ k persons, and on the way from z down to it and up to
z' every person changes f by at most c, so f(z') ≥ f(z) − c(2M − m(x) + 2i), and f(z') + 3c·2M ≥ f(z) + 3c·m(x) + 2c(2M
− m(x) − i), of which the last is not negative.
(3) So for x' = x∪v F(x') ≤ F(x) + 3c, as the group that attains F(x) misses one more of x' and 2M at most. And F(x) ≤
F(x') + c: the group that attains F(x') is steady without v too, has at least |x| − 2M ≥ k persons then, misses no more
of x, and f rises by c at most on the way.
(4) The value is released when m + Z ≤ T, Z discrete Laplace of rate ε₁, with noise for 3c steps at ε₂, ε₁ + ε₂ = ε.
Where m(x) ≤ M the test costs ε₁ and the noise ε₂. Where m(x) > M also m(x') > M, and M is the largest m that passes
with probability above δ: so either passes with probability at most δ, and a refusal costs ε₁.
Replaced: m moves by at most 1, as both are m or m + 1 for those who stay; F by at most 3c + c through them, who are |x|
− 1: then |x| − k ≥ 3M + 1 is needed and noise for 4c.

ACCURACY  If f keeps its claim on all subsets of at least k persons, m = 0 and F(x) = f(x): it is released but with
probability β, with noise of 3c/ε₂ (4c/ε₂), whatever the range of f is. T is the least with P[Z > T] ≤ β, so
M = T + ⌈ln(1/(δ(1 + e^{−ε₁})))/ε₁⌉ − 1: the subsets looked at miss some 3·ln(1/(βδ))/ε₁ persons, and none can do with
fewer than a constant times ln(1/δ)/ε (Linder, Raskhodnikova, Smith, Steinke 2025).

COST  f on Σ_{i ≤ 3M} C(n, i) subsets (3M + 1 where the number is public), where a filter on all of them takes 2^n.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.guarantees import Approx
from tacit.mechanisms.choose.stable_mode import decide
from tacit.mechanisms.law import Accuracy, Law, Named
from tacit.mechanisms.noise.noise import NoisyInteger, laplace
from tacit.mechanisms.search.scan_rates import BETA
from tacit.noises import DiscreteLaplace
from tacit.numbers.enclosures import BITS, Enclosure
from tacit.numbers.exact import Number, between, positive, whole
from tacit.proofs import Argument, Proof
from tacit.proofs import rules as by
from tacit.randomness import Randomness

TEST_SHARE = Fraction(1, 2)
"""What the test takes of ε."""

SLOPE = 3
"""How many claims a missing person costs the extension."""


@dataclass(frozen=True)
class ExtensionDesign:
    """What is fixed before the data are seen."""

    claim: int
    """c, in steps."""
    epsilon: Fraction
    delta: Fraction
    beta: Fraction = BETA
    """With what probability a function that keeps its claim may be refused."""
    public: bool = False
    """Whether the number of persons is public, and one may be replaced."""

    @property
    def test(self) -> DiscreteLaplace:
        """Z."""
        return DiscreteLaplace(TEST_SHARE * self.epsilon)

    @property
    def most(self) -> int:
        """T: so many persons in the way are let pass without noise."""
        return max(0, self.test.threshold(self.beta) - 1)

    @property
    def last(self) -> int:
        """M: the most persons in the way that the test lets pass with probability above δ, but at least 1."""
        return max(1, self.most + self.test.threshold(self.delta) - 1)

    @property
    def near(self) -> int:
        """2M: how many persons a group may miss whose value counts."""
        return 2 * self.last

    @property
    def missing(self) -> int:
        """How many persons the smallest group that is looked at misses, where all are counted."""
        return 3 * self.last + int(self.public)

    @property
    def moved(self) -> int:
        """The steps by which one person moves the extension."""
        return int(moved_by(self.claim, self.public))

    @property
    def rate(self) -> Fraction:
        """That of the noise on the value."""
        return (1 - TEST_SHARE) * self.epsilon / self.moved

    @property
    def guarantee(self) -> Approx:
        """Approx(ε, δ)."""
        return Approx(self.epsilon, self.delta)


def moved_by(claim: Any, public: bool) -> Any:
    """How far a person who joins, or is replaced, moves the extension, where m ≤ M."""
    return (SLOPE + int(public)) * claim


class ExtensionLaw(Law[int | None]):
    """The law of a tested and noisy value; None is a refusal."""

    name = "subset extension"

    def __init__(self, design: ExtensionDesign, distance: int, value: int) -> None:
        self.design, self.guarantee = design, design.guarantee
        self._distance, self._value = distance, value
        self._noisy: NoisyInteger = laplace(value, design.rate)

    def named(self) -> Named:
        """The test, what passes within δ, and the noise."""
        test, moved = self.design.test, self.design.moved
        tests = [[str(test.rate), str(self.design.last + 1 - self.design.most)]]
        return {"law": "tests", "tests": tests, "beside": [[str(self.design.rate), str(moved)]], "lattice": "1"}

    def _draw(self, source: Randomness) -> int | None:
        passed = self._distance + self.design.test.draw(source) <= self.design.most
        value = self._noisy._draw(source)
        return value if passed else None

    def _passes(self, bits: int) -> Enclosure:
        """P[Z ≤ T − m] = P[Z ≥ m − T]."""
        return self.design.test.tail(self._distance - self.design.most, bits)

    def pmf(self, y: int | None, bits: int = BITS) -> Enclosure:
        """A rigorous enclosure of P[output = y]; None is a refusal."""
        if y is None:
            return (1 - self._passes(bits)).clamp(0, 1)
        return self._passes(bits) * self._noisy.pmf(y, bits)

    def outcomes(self) -> Iterable[int]:
        """The window of the noisy value; what is left is a refusal."""
        return self._noisy.outcomes()

    def key(self) -> Hashable:
        """The two numbers and the design."""
        return type(self), self.design, self._distance, self._value

    def accuracy(self, beta: Number) -> Accuracy:
        """For a function that keeps its claim: how far the noise reaches, where it is not refused."""
        failure = between(beta, "beta", 0, 1)
        statement = (
            f"a function that keeps its claim on groups that miss at most {self.design.missing} persons is refused "
            f"with probability at most {self.design.beta}; otherwise its noise is at most "
            f"{self._noisy.reach(failure)} steps with probability at least {1 - failure}"
        )
        return Accuracy(failure, self.design.missing, statement)


def subset_extension(
    distance: int,
    value: int,
    claim: int,
    epsilon: Number,
    delta: Number,
    *,
    persons_public: bool = False,
    beta: Number = BETA,
) -> ExtensionLaw:
    """The extension of a function of claimed sensitivity, with its noise; None where the claim is too far off.

    ``distance`` is m, the fewest persons to leave out until a steady group is left, ``value`` is F, both of the groups
    that miss at most ``law.design.missing`` persons; ``claim`` is c, in whole steps as ``value`` is.

    >>> from tacit.mechanisms import subset_extension
    >>> subset_extension(0, 40, claim=2, epsilon=8, delta="1e-5").design.missing
    6
    """
    budget, chance = positive(epsilon, "epsilon"), between(delta, "delta", 0, 1)
    failure = between(beta, "beta", 0, 1)
    design = ExtensionDesign(whole(claim, "claim", 1), budget, chance, failure, bool(persons_public))
    return ExtensionLaw(design, whole(distance, "distance", 0), whole(value, "value"))


def argue(
    p: Argument, *, slope: int = SLOPE, low: int = 0, scale: Any = lambda claim, moved: moved, tested: bool = True
) -> None:
    """Lemmas 2 and 3 in units of the claim, then the test and the noise, both ways and where one is replaced."""
    epsilon, delta = p.positive("ε"), p.positive("δ")
    test, rest = TEST_SHARE * epsilon, (1 - TEST_SHARE) * epsilon
    _reached(p, slope)
    for public in (False, True):
        with p.case("a person replaced" if public else "a person added or removed"):
            with p.case("at most M in the way"):
                lead, move = p.whole("M − m"), p.steps("move of m", -1, 1)
                decide(p, test, delta, lead, lead + move, same=True, room=-1)
                claim = p.count("c", 1)
                moved = p.steps("move of F", -moved_by(claim, public), moved_by(claim, public))
                rate = DiscreteLaplace.for_pure(rest, scale(claim, moved_by(claim, public))).rate
                p.promise(by.shift(p, -move, test, test) + by.noise(p, moved, rate, rate), epsilon)
            with p.case("more than M on both"):
                lead, other = p.whole("M − m"), p.whole("M − m'")
                p.assume(other - lead <= 1, lead - other <= 1)
                if tested:
                    p.assume(lead <= -1, other <= -1)
                decide(p, test, delta, lead, other, same=False, room=-1 - low)


def _reached(p: Argument, slope: int) -> None:
    """Lemma 2: a group that misses 2M is never better than one that misses m; lemma 3: F moves by −1 to 3 claims."""
    with p.case("fewer than 2M missing"):
        m, last, i = p.count("m"), p.count("M", 1), p.count("i")
        best, other = p.real("f(z)"), p.real("f(z')")
        p.assume(m <= last, i <= m, other >= best - (2 * last - m + 2 * i))
        p.derive(other + slope * 2 * last >= best + slope * m)
    with p.case("a person joins"):
        f, without, t = p.real("f(z')"), p.real("f(z'∖v)"), p.count("missing")
        p.assume(without - f <= 1, f - without <= 1)
        p.derive(without + slope * t <= f + slope * t + 1)


PROOFS = (
    Proof(
        "subset extension",
        "mechanisms.subset_extension",
        "Approx(ε, δ)",
        argue,
        "m and F are those of one function on the groups that miss at most 3M persons, 3M + 1 where one is replaced",
    ),
)
