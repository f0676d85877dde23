"""Scan and release: the proof on random designs, sampler against law, coverage of what is said about the error."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.answers.totals import DESIGN, CappedTotal, SignedTotal, TotalDesign
from tacit.audit.cases.scan_and_release import SMALL, buckets
from tacit.audit.exact import verify
from tacit.errors import InvalidInput
from tacit.guarantees import Pure
from tacit.mechanisms.totals.scan_and_release import CAPS, CappedTotalLaw, scan_and_release, signed_scan_and_release
from tacit.noises import Lopsided, LopsidedSum
from tacit.randomness.source import NotPrivate, seeded_not_private
from tests.support import Binomial, agrees

ALARM = 1e-7


def lognormal(n: int, unit: int = 1, seed: int = 5) -> list[int]:
    random = Random(seed)
    return sorted(1 + round(unit * random.lognormvariate(3, 1.5)) for _ in range(n))


def law_of(totals: list[int], epsilon: object, design: TotalDesign = DESIGN) -> CappedTotalLaw:
    return scan_and_release(*buckets(tuple(totals), CAPS), epsilon, design=design)  # type: ignore[arg-type]


# The noises

RATES = st.fractions(Fraction(1, 4), 3, max_denominator=60)


@settings(max_examples=12, deadline=None)
@given(RATES, RATES, RATES, RATES, st.integers(1, 6), st.integers(0, 40))
def test_tails_of_the_joint_noise_are_sums_of_its_law(
    a: Fraction, b: Fraction, c: Fraction, d: Fraction, factor: int, t: int
) -> None:
    first, second = Lopsided(a, b), Lopsided(c, d)
    masses = [{z: float(noise.mass(z, 60)) for z in range(-150, 151)} for noise in (first, second)]
    sums: Counter[int] = Counter()
    for (z, p), (k, q) in product(masses[0].items(), masses[1].items()):
        sums[z + factor * k] += p * q  # type: ignore[assignment]
    noise = LopsidedSum(first, second, factor)
    assert float(noise.tail(t)) == pytest.approx(sum(p for w, p in sums.items() if w >= t), abs=1e-9)
    assert float(noise.mirrored.tail(t)) == pytest.approx(sum(p for w, p in sums.items() if w <= -t), abs=1e-9)


@settings(max_examples=15, deadline=None)
@given(RATES, RATES)
def test_one_noise_has_its_law_tail_and_variance(up: Fraction, down: Fraction) -> None:
    noise = Lopsided(up, down)
    mass = {z: float(noise.mass(z, 60)) for z in range(-150, 151)}
    mean = sum(z * p for z, p in mass.items())
    assert sum(mass.values()) == pytest.approx(1, abs=1e-9)
    assert float(noise.tail(3)) == pytest.approx(sum(p for z, p in mass.items() if z >= 3), rel=1e-9)
    assert noise.variance == pytest.approx(sum((z - mean) ** 2 * p for z, p in mass.items()), rel=1e-9)
    for beta in (Fraction(1, 20), Fraction(1, 1000)):
        k = noise.limit(beta)
        assert noise.tail(k + 1).high <= beta
        assert k == 0 or noise.tail(k).high > beta


def test_a_tail_far_out_and_one_with_equal_rates() -> None:
    wide = LopsidedSum(
        Lopsided(Fraction(7, 10**40), Fraction(1, 10**39)), Lopsided(Fraction(1, 1000), Fraction(1, 999)), 10**37
    )
    tail = wide.tail(10**41, 64)
    assert tail.low > 0
    assert tail.width < tail.high / 2**50
    even = LopsidedSum(Lopsided(Fraction(1, 4), Fraction(1, 4)), Lopsided(Fraction(1), Fraction(1)), 4)  # up·4 = up
    assert float(even.tail(0)) + float(even.mirrored.tail(1)) == pytest.approx(1)


# The promise

SHARE = st.fractions(Fraction(1, 20), Fraction(3, 10), max_denominator=40)


@settings(max_examples=6, deadline=None)
@given(
    st.builds(
        TotalDesign,
        test=SHARE,
        size=st.fractions(0, 4),
        choice=SHARE,
        power=st.integers(0, 7),
        threshold=SHARE,
        each=SHARE,
        offset=st.fractions(0, 4),
        stride=st.integers(1, 2),
        handful=st.fractions(0, 3),
        handful_threshold=SHARE,
        handful_each=SHARE,
        handful_offset=st.fractions(0, 4),
        handful_stride=st.integers(1, 3),
        beyond=st.integers(0, 2),
    ),
    st.lists(st.integers(1, 7), max_size=3),
    st.integers(1, 7),
    st.sampled_from([Fraction(1, 2), Fraction(3)]),
)
def test_no_design_exceeds_its_promise(design: TotalDesign, totals: list[int], joins: int, epsilon: Fraction) -> None:
    caps = (1, 3, 4)
    pair = (tuple(sorted([*totals, joins])), tuple(sorted(totals)))
    found = verify(
        lambda x: scan_and_release(*buckets(x, caps), epsilon, caps=caps, design=design), [pair], Pure(epsilon)
    )
    assert found.holds


@pytest.mark.parametrize(("many", "handful"), [(False, False), (False, True), (True, False)])
def test_every_noise_of_the_default_gets_a_share(many: bool, handful: bool) -> None:
    charges = DESIGN.charges(many, handful)
    shares = (charges.within_up, charges.within_down, charges.above_up, charges.above_down)
    assert all(0 < share <= 1 for share in shares)


def test_caps_are_public_ascending_and_reach_beyond_every_sum() -> None:
    assert list(CAPS) == sorted(set(CAPS))
    assert CAPS[0] == 1
    assert max(b / a for a, b in pairwise(CAPS[6:])) < 1.34
    assert 2 * CAPS[-1] > 2**126
    assert min(DESIGN.weights(CAPS)) >= 2**60


# Sampler and law


@pytest.mark.parametrize("persons", [60, 4000], ids=["few", "many"])
def test_draws_follow_the_law(persons: int) -> None:
    """False alarm 5e-7: the kinds and caps together, and at each cap the two noises."""
    law, size = law_of(lognormal(persons), 1), 6000
    draws = law.sample(size)
    many = persons > 600
    kinds = [kind for kind in law._kinds if kind[0] == many]
    assert sum(draw.many == many for draw in draws) > size - 20  # another choice has probability below 1e-4
    chances = {
        (cap, handful): float(law._pmf_choice(many, i, 64, handful))
        for i, cap in enumerate(CAPS[:80])
        for _, handful in kinds
    }
    assert agrees(((draw.cap, draw.handful) for draw in draws), chances)
    for _, handful in kinds:
        _, above = DESIGN.noises(many, 1, Fraction(1), handful)
        found = [draw for draw in draws if (draw.many, draw.handful) == (many, handful)]
        counts = Counter(draw.above - law._above[law._places[draw.cap]] for draw in found)
        assert agrees(counts.elements(), {z: float(above.mass(z)) for z in range(-12, 13)})
        within, _ = DESIGN.noises(many, 10**6, Fraction(1), handful)
        halves = [(d.within - law._within[law._places[d.cap]]) * 2 // d.cap for d in found if d.cap >= 100]
        step = {j: float(_between(within, j * 500_000, 500_000)) for j in range(-6, 7)}
        assert agrees(halves, step) if len(halves) > 1000 else persons < 600


def _between(noise: Lopsided, start: int, length: int) -> float:
    return float(noise.tail(start)) - float(noise.tail(start + length))


def test_probabilities_of_all_caps_add_up() -> None:
    caps = CAPS[:30]
    law = scan_and_release(*buckets(tuple(lognormal(30)), caps), 1, caps=caps, design=SMALL)
    chances = [float(law._pmf_choice(many, i, 64, handful)) for many, handful in law._kinds for i in range(len(caps))]
    assert sum(chances) == pytest.approx(1)
    assert law.pmf(CappedTotal(7, 0, 0, False, Fraction(1), SMALL)).high == 0  # 7 is no cap


# What is said about the error


@pytest.mark.parametrize(("persons", "epsilon"), [(60, "1"), (4000, "0.5"), (4000, "4")])
def test_statements_hold_as_often_as_they_say(persons: int, epsilon: str) -> None:
    """False alarm 3e-7 in all: the capped total and the persons above the cap, at 90 %."""
    totals, size, level = lognormal(persons), 400, "0.9"
    law = law_of(totals, epsilon)
    missed = unseen = 0
    for draw in law.sample(size):
        i = law._places[draw.cap]
        down, up = draw.reach(level)
        truth = law._within[i] + draw.counted * law._above[i]
        missed += not draw.value - up <= truth <= draw.value + down
        unseen += law._above[i] > draw.persons_above_cap(level)
    at_worst = Binomial(size, 0.1)
    assert at_worst.at_least(missed) > ALARM / 2
    assert at_worst.at_least(unseen) > ALARM / 2


@pytest.mark.parametrize("persons", [0, 1, 20, 200])
@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), "0.1", 1, 20])
def test_never_fails_on_little_data(persons: int, epsilon: object) -> None:
    law = law_of(lognormal(persons, unit=10**6), epsilon)
    draw = law.sample()
    down, up = draw.reach()
    assert isinstance(draw.value, int)
    assert down + up >= 0
    assert draw.persons_above_cap() >= 0
    assert law.guarantee == Pure(epsilon)  # type: ignore[arg-type]


@pytest.mark.parametrize(("design", "found"), [(DESIGN, True), (TotalDesign(), False)], ids=["now", "before"])
def test_a_handful_of_persons_finds_a_cap(design: TotalDesign, found: bool) -> None:
    """Twenty persons of about a thousand: the chance of a cap from there to ten times that, from the law itself."""
    law = law_of([1000 + 10 * i for i in range(20)], 1, design)
    near = [i for i, cap in enumerate(CAPS) if 1000 < cap <= 12_000]
    chance = sum(float(law._pmf_choice(many, i, 64, handful)) for many, handful in law._kinds for i in near)
    assert (chance > 0.55) == found
    assert found or chance < 0.05


def test_too_few_persons_are_told_what_would_be_needed() -> None:
    draws = law_of(lognormal(5), "0.5").sample(40)
    assert {draw.wanted for draw in draws if draw.handful} == {140}
    assert {draw.wanted for draw in draws if not draw.handful} <= {None}


def test_enormous_totals_stay_exact() -> None:
    """False alarm 1e-7: the cap would have to be a hundred times too large, which has a chance of 100^-3.5 a draw."""
    totals = [2**62 * (1 + i % 3) for i in range(3000)]
    draw = law_of(totals, 1).sample()
    assert abs(draw.value - sum(totals)) < sum(totals) // 4


def test_a_seeded_source_marks_what_it_makes() -> None:
    law = law_of([3, 4, 5], 1)
    draws = [law.sample(source=seeded_not_private(3)) for _ in range(2)]
    assert draws[0] == draws[1]
    assert isinstance(draws[0], NotPrivate)


def test_nothing_private_is_shown() -> None:
    assert repr(law_of([3, 4], 1)) == repr(law_of(lognormal(500), 1))


# Signs


def test_signed_parts_are_independent_and_their_statements_join() -> None:
    gains, losses = lognormal(900), lognormal(700, seed=6)
    law = signed_scan_and_release(buckets(tuple(gains), CAPS), buckets(tuple(losses), CAPS), 4)
    assert law.guarantee == Pure(4)
    draw = law.sample()
    assert isinstance(draw, SignedTotal)
    assert draw.value == draw.positive.value - draw.negative.value
    assert draw.cap == max(draw.positive.cap, draw.negative.cap)
    parts = [part.persons_above_cap("0.95") for part in (draw.positive, draw.negative)]
    assert max(0, sum(parts) - 2) <= draw.persons_above_cap("0.9") <= sum(parts)  # one law for both is no looser
    (down, up), (other_down, other_up) = draw.positive.reach("0.95"), draw.negative.reach("0.95")
    assert draw.reach("0.9") == (down + other_up, up + other_down)
    assert draw.noise_std**2 == pytest.approx(draw.positive.variance + draw.negative.variance)


def test_an_empty_part_adds_next_to_nothing() -> None:
    """With nobody on one side its cap is 1 with probability 95 %, so that its noise is that of a single unit."""
    law = law_of([], 1)
    chances = [sum(float(law._pmf_choice(many, i, 64, handful)) for many, handful in law._kinds) for i in range(4)]
    assert chances[0] > 0.95


# Refusals


@pytest.mark.parametrize(
    "call",
    [
        lambda: scan_and_release([0, 1], [0, 1], 1),
        lambda: scan_and_release([0] * 4, [0] * 3, 1, caps=(1, 2, 3)),
        lambda: scan_and_release([0] * 4, [0] * 4, 0, caps=(1, 2, 3)),
        lambda: scan_and_release([0.5] * 4, [0] * 4, 1, caps=(1, 2, 3)),  # type: ignore[list-item]
        lambda: CappedTotal(1, 0, 0, True, Fraction(1)).reach(1),
        lambda: CappedTotal(1, 0, 0, True, Fraction(1)).persons_above_cap(0),
        lambda: list(law_of([1], 1).outcomes()),
    ],
    ids=["default caps", "lengths", "epsilon", "counts", "confidence 1", "confidence 0", "too many caps"],
)
def test_refused(call: Callable[[], object]) -> None:
    with pytest.raises(InvalidInput):
        call()


def test_another_design_is_another_outcome() -> None:
    law = scan_and_release([1, 0], [1, 0], 1, caps=(1,), design=SMALL)
    assert law.pmf(CappedTotal(1, 1, 0, False, Fraction(1), SMALL, 1)).low > 0
    assert law.pmf(CappedTotal(1, 1, 0, False, Fraction(1), SMALL, 1, handful=True)).low > 0
    assert law.pmf(CappedTotal(1, 1, 0, False, Fraction(1), SMALL, 2)).high == 0  # another limit
    assert law.pmf(CappedTotal(1, 1, 0, False, Fraction(1), beyond=1)).high == 0
    assert law.pmf(CappedTotal(1, 1, 0, False, Fraction(2), SMALL, 1)).high == 0
