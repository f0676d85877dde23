"""Capped flow: what its parameters mean, what it states, and how little of a curve it looks at."""

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

import pytest

from tacit.answers.flows import DOUBLED, SCANNED, WEIGHED, CappedFlow, Doubled, FlowDesign, Scanned, Weighed
from tacit.errors import InvalidInput
from tacit.mechanisms.totals.capped_flow import LEVELS, capped_flow, choice, octaves
from tacit.mechanisms.totals.flow_levels import Slopes, WeighedLaw
from tacit.numbers.enclosures import Enclosure
from tacit.randomness import seeded_not_private

each_design = pytest.mark.parametrize("design", [WEIGHED, DOUBLED, SCANNED])


@dataclass
class Persons:
    """Persons of one total each: L(λ) = n·min(total, λ); remembers what was asked."""

    count: int
    total: int
    asked: list[int] = field(default_factory=list)

    def at(self, cap: int, /) -> int:
        self.asked.append(cap)
        return self.count * min(self.total, cap)

    def above(self, cap: int, /) -> int:
        return self.count * cap


class Vague(Persons):
    """Of which nothing is known but what was asked."""

    def above(self, cap: int, /) -> int:
        return self.count * self.total


def test_levels_hold_their_doubles() -> None:
    assert octaves(50) == (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48)
    assert {2 * level for level in LEVELS if 2 * level <= LEVELS[-1]} <= set(LEVELS)
    assert all(b <= 2 * a for a, b in pairwise(LEVELS))


def test_slopes_count_persons_who_gain_and_stop_at_the_limit() -> None:
    curve = Persons(300, 64)
    loss = Slopes(curve, octaves(256), 4, 400).all()
    assert [loss.at(i) for i, level in enumerate(octaves(256)) if level >= 64] == [0] * 5
    assert loss.at(octaves(256).index(48)) == 4 * 300 * 16 // 48
    assert loss.at(0) == 400
    assert min(curve.asked) > 16  # an upper bound was enough for what lies far below


@each_design
def test_the_cap_is_found_at_any_scale_and_intervals_hold(design: FlowDesign) -> None:
    """More than 15 of 60 draws miss a 95 % interval, or half of 61 caps are off, with probability below 10^-7."""
    for total in (10, 10**9):
        curve = Persons(2000, total)
        law = capped_flow(curve, 1, design=design)
        missed = 0
        for draw in law.sample(60):
            down, up = draw.reach("0.95")
            missed += not draw.value - up <= curve.at(draw.cap) <= draw.value + down
            assert draw.noise_std == pytest.approx(draw.variance**0.5)
        assert missed <= 15
        middle = sorted(draw.cap for draw in law.sample(61))[30]
        assert total / 2 <= middle <= 8 * total


@each_design
@pytest.mark.parametrize("epsilon", ["0.001", 1, 1000])
def test_nobody_and_few_never_fail(design: FlowDesign, epsilon: object) -> None:
    for count in (0, 1, 20):
        draw = capped_flow(Persons(count, 7), epsilon, design=design).sample()  # type: ignore[arg-type]
        assert draw.cap >= 1
        assert draw.reach("0.999")[0] >= 0


def test_designs_that_break_the_promise_are_refused() -> None:
    for design in (
        Weighed(weight=Fraction(1, 3)),
        Doubled(weight=Fraction(2, 7)),
        Scanned(each=Fraction(1, 4)),
        Scanned(threshold=Fraction(1, 2)),
    ):
        with pytest.raises(InvalidInput, match="design"):
            capped_flow(Persons(3, 3), 1, design=design)
    with pytest.raises(InvalidInput, match="epsilon"):
        capped_flow(Persons(3, 3), 0)


def test_another_design_or_cap_has_no_probability() -> None:
    law = capped_flow(Persons(3, 3), 1)
    assert float(law.pmf(CappedFlow(3, 9, Fraction(1), WEIGHED))) > 0
    assert float(law.pmf(CappedFlow(5, 9, Fraction(1), WEIGHED))) == 0
    assert float(law.pmf(CappedFlow(3, 9, Fraction(1), SCANNED))) == 0
    with pytest.raises(InvalidInput, match="listed"):
        list(law.outcomes())
    assert "9" not in repr(law)


def test_levels_are_looked_at_as_needed_and_drawn_as_if_all_were_known() -> None:
    epsilon, levels = Fraction(1), octaves(2**40)
    curve = Persons(300, 64)
    law = choice(WEIGHED, curve, WEIGHED.share * epsilon, levels)
    drawn = [int(law._draw(seeded_not_private(seed))) for seed in range(60)]
    assert isinstance(law, WeighedLaw)
    assert law._slopes.unknown > 5
    whole = law._whole
    assert drawn == [int(whole._draw(seeded_not_private(seed))) for seed in range(60)]
    assert all(law._pmf_at(i, 64) == whole._pmf_at(i, 64) for i in range(0, 12, 3))


@pytest.mark.parametrize(("count", "total"), [(300, 64), (5000, 7), (40, 10**6), (0, 1)])
def test_bounds_of_levels_that_were_not_looked_at_hold(count: int, total: int) -> None:
    levels = octaves(2**20)
    slopes, all_known = (
        Slopes(Persons(count, total), levels, 16, 10**4),
        Slopes(Persons(count, total), levels, 16, 10**4),
    )
    exact = all_known.all()
    while slopes.unknown:
        slopes.find()
        assert all(bound <= exact.at(i) for i, bound in enumerate(slopes.below()))
    assert slopes.known() == all_known.known()


def test_a_level_in_doubt_has_no_piece_with_a_known_one() -> None:
    """Everybody is full at the low levels, so these all have one loss; what was enough ends among them."""
    levels = octaves(2**20)
    law = choice(WEIGHED, Vague(250, 10**4), WEIGHED.share * Fraction(1), levels)
    assert isinstance(law, WeighedLaw)
    enough, everything = law._enough, law._everything
    loss = law._slopes.all()
    assert loss.at(law._cut - 1) == loss.at(law._cut)
    known = len(enough._pieces) - enough._doubtful
    assert enough._doubtful > 0 < known
    masses = [[piece.mass(64) for piece, _ in one._pieces[-known:]] for one in (enough, everything)]
    assert masses[0] == masses[1]
    early = sum((piece.mass(64) for piece, _ in everything._pieces[:-known]), start=Enclosure.of(0, 64))
    exact = sum((law._prior.weight(i, 64) for i in range(law._cut)), start=Enclosure.of(0, 64))
    assert early.low <= exact.high
    assert exact.low <= early.high
