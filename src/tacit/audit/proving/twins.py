"""Broken twins as arguments: the proof of a mechanism, asked to prove the mistake. None of them may go through.

Twins of a mechanism are named as in its audit case, exhibits as in the museum. Each argument is that of the mechanism
with what the twin changes: a rate, a bound, a direction, what a person moves, how often something is charged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

from tacit.answers.totals import Charges, TotalDesign
from tacit.audit.cases.capped_flow import WRONG_DOUBLES, WRONG_SCANS, WRONG_WEIGHTS
from tacit.guarantees import subsampling
from tacit.mechanisms.choose import exponential, permute_and_flip, stable_argmin, stable_keys, stable_mode
from tacit.mechanisms.inverse import cuts, inverse_losses, inverse_sensitivity, shifted_inverse
from tacit.mechanisms.local import private_bound, subset_extension
from tacit.mechanisms.local import propose_test_release as ptr
from tacit.mechanisms.noise import noise
from tacit.mechanisms.repeat import absorb, condition_on_success, repeat_promises
from tacit.mechanisms.search import (
    bayesian_search,
    binary_search,
    interior_point,
    shared_scans,
    threshold_scan,
    tree_descent,
)
from tacit.mechanisms.search.scan_rates import Rates, rates
from tacit.mechanisms.totals import (
    bounded_mean,
    capped_flow,
    flow_cap,
    ratio,
    running_totals,
    scan_and_release,
    vector_cap,
)
from tacit.noises import DiscreteGaussian, DiscreteLaplace, Lopsided, discrete_gaussian, discrete_laplace, staircase
from tacit.noises import truncated_laplace as truncated
from tacit.proofs import Argument
from tacit.proofs import rules as by
from tacit.proofs.argument import Build
from tacit.proofs.terms import equal

SURE = 100
"""A rate at which there is hardly any noise, in units of ε."""


# ---- mistakes that no parameter of a proof can make --------------------------------------------------------------


def _scaled_with_data(p: Argument) -> None:
    """Laplace noise whose rate follows the number of persons: far away the ratio has no bound."""
    epsilon, persons, z = p.positive("ε"), p.count("n"), p.whole("Z")
    own, other = epsilon / (persons + 1), epsilon / (persons + 2)
    p.promise(own * abs(z) - other * abs(z - 1), epsilon)  # ln P'/P of an output Z away from the value


def _variance_with_data(p: Argument) -> None:
    """Gaussian noise whose variance follows the data: the log ratio far away is not that of a shift."""
    rho, own, other, z = p.positive("ρ"), p.positive("v"), p.positive("v'"), p.whole("Z")
    p.assume(own * 2 * rho >= 1, other * 2 * rho >= 1)
    p.promise(z * z / (2 * other) - z * z / (2 * own), rho)


def _digits(p: Argument) -> None:
    """Two binary digits, each told for the whole of ε."""
    epsilon = p.positive("ε")
    p.promise(by.repeated(p, 2, epsilon), epsilon)


def _one_noise(p: Argument) -> None:
    """Two counts with one draw between them: no shift of it keeps both."""
    epsilon, z, lift = p.positive("ε"), p.whole("Z"), p.whole("shift")
    first, second = p.steps("move of the first", 0, 1), 1
    by.keep(p, equal(z, z), equal(first + z + lift, z) & equal(second + z + lift, z))
    p.promise(by.shift(p, lift, epsilon / 2, epsilon / 2), epsilon)


def _floats(p: Argument) -> None:
    """Noise in floating point: the draw that would give the same output on the neighbour is none of the doubles."""
    epsilon, step, draw = p.positive("ε"), p.positive("spacing of doubles"), p.whole("draw")
    other, value = p.whole("draw on the neighbour"), p.positive("value")
    by.keep(p, equal(other, (draw * step - value) // step), equal(other * step + value, draw * step))
    p.promise(epsilon * value, epsilon * value)


def _wrong_end(p: Argument) -> None:
    """a/(b(b − 1)) for counts of a box, bounded by the lower end of a: the ends are the wrong way round."""
    low, a, least, b = p.count("a_l"), p.count("a"), p.count("b_l", 2), p.count("b", 2)
    p.assume(a >= low, a <= b, b >= least)
    p.promise(a / (b * (b - 1)), low / (least * (least - 1)))


def _goes_on(p: Argument) -> None:
    """Two questions above one noisy threshold: its noise is shifted once, and that of either question."""
    epsilon, share = p.positive("ε"), p.within("share", 0, 1)
    pair = rates(epsilon, (1, 0), share)
    moves = [p.steps("move", -1, 0) for _ in range(2)]
    price = threshold_scan.walk(p, pair, -1, moves[0], visited=lambda: p.steps("any move", -1, 0))
    p.promise(price + by.shift(p, moves[1] + 1, pair.each), epsilon)


# ---- designs of scan and release ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class ChangedTotals(TotalDesign):
    """A design whose noises are not what its choice leaves, or of a fixed cap."""

    change: Callable[[Any, Charges], Charges] = lambda design, right: right
    fixed: int | None = None

    def charges(self, many: bool, handful: bool = False) -> Charges:
        """Those of the right design, changed."""
        return self.change(self, super().charges(many, handful))

    def noises(self, many: bool, cap: int, epsilon: Fraction, handful: bool = False) -> tuple[Lopsided, Lopsided]:
        """The noises of the cap, or of the fixed one."""
        return super().noises(many, self.fixed or cap, epsilon, handful)


def _total(kind: str, change: Any = lambda design, right: right, fixed: int | None = None, **known: Any) -> Build:
    """The argument for changed designs; ``known`` are rates in place of the design's own, in what is drawn."""

    def designs(p: Argument, kind: str) -> Iterator[TotalDesign]:
        for made in scan_and_release.any_designs(p, kind, partial(ChangedTotals, change=change, fixed=fixed)):
            drawn = {name: rule(getattr(made, name)) for name, rule in known.items()}
            charges = made.charges(*scan_and_release.KINDS[kind])  # what is left of ε stays as it was
            kept = partial(_keep, charges)
            yield ChangedTotals(**{**vars(made), **drawn, "change": kept}) if drawn else made

    return partial(scan_and_release.argue, kind=kind, designs=designs)


def _keep(charges: Charges, design: TotalDesign, right: Charges) -> Charges:
    return charges


def _exchanged(design: TotalDesign, right: Charges) -> Charges:
    return Charges(right.within_down, right.within_up, right.above_down, right.above_up)


def _joining_free(design: TotalDesign, right: Charges) -> Charges:
    return replace(right, within_up=right.within_up + design.test, above_up=right.above_up + design.test)


_TOTALS: dict[str, Build] = {
    "many: the test not charged": _total("many", lambda d, right: replace(right, above_up=1)),
    "many: the choice not charged above the cap": _total("many", lambda d, right: replace(right, above_down=1)),
    "many: the choice not charged within the cap": _total(
        "many", lambda d, right: replace(right, within_up=1 - d.test)
    ),
    "many: twice the rate in the choice": _total("many", choice=lambda rate: 2 * rate),
    "many: persons between cap and limit free": _total("many", lambda d, right: replace(right, within_down=1)),
    "few: the test not charged": _total("few", lambda d, right: replace(right, above_down=1 - d.each)),
    "few: the test for a handful not charged": _total("few", _joining_free),
    "few: persons between cap and limit free": _total("few", lambda d, right: replace(right, within_down=1 - d.test)),
    "a handful: the test not charged": _total(
        "handful", lambda d, right: replace(right, above_down=1 - d.handful_each)
    ),
    "a handful: the threshold not charged": _total("handful", lambda d, right: replace(right, above_up=1)),
    "a handful: charged as few": _total("handful", lambda d, right: TotalDesign.charges(d, many=False)),
    "few: the threshold not charged": _total("few", lambda d, right: replace(right, above_up=1)),
    "few: the comparisons not charged above the cap": _total(
        "few", lambda d, right: replace(right, above_down=1 - d.test)
    ),
    "few: the threshold alone charged within the cap": _total(
        "few", lambda d, right: replace(right, within_up=right.above_up)
    ),
    "few: up and down exchanged": _total("few", _exchanged),
    "few: no noise on the threshold": _total("few", threshold=lambda rate: SURE),
    "few: no noise on the comparisons": _total("few", each=lambda rate: SURE),
    "the noise within not scaled with the cap": _total("many", fixed=1),
    "persons above the cap counted twice": partial(scan_and_release.argue, kind="many", twice=True),
}


# ---- all twins ---------------------------------------------------------------------------------------------------


def _twice(epsilon: Any, moves: Any) -> Any:
    return 2 * exponential.factor(epsilon, moves)


def _one_directional(epsilon: Any, moves: Any) -> Any:
    return exponential.factor(epsilon, (0, 1))


def _scan_rates(threshold: Any = None, each: Any = None) -> Any:
    """The rule of a scan with one of its rates changed."""

    def rule(epsilon: Any, moves: Any, share: Any) -> Rates:
        right = rates(epsilon, moves, share)
        return Rates(
            right.threshold if threshold is None else threshold(right.threshold),
            right.each if each is None else each(right.each),
        )

    return rule


_GENERAL = partial(inverse_sensitivity.argue, method="exponential", moves=(0, 1))
_KNOWN = partial(repeat_promises.argue, known=True)

TWINS: dict[str, dict[str, Build]] = {
    "mechanisms.above_threshold": {
        "no noise on the threshold": partial(
            threshold_scan.argue, change=(1, 0), rule=_scan_rates(threshold=lambda rate: SURE)
        ),
        "no noise on the questions": partial(
            threshold_scan.argue, change=(1, 0), rule=_scan_rates(each=lambda rate: SURE)
        ),
        "half the noise on the questions": partial(
            threshold_scan.argue, change=(1, 0), rule=_scan_rates(each=lambda rate: 2 * rate)
        ),
        "goes on after one was above": _goes_on,
    },
    "mechanisms.absorb": {"a false claim believed": partial(absorb.argue, replaced=lambda beta: 1)},
    "mechanisms.bayesian_search": {
        "half the variance": partial(
            bayesian_search.argue,
            rule=lambda rho, looks: DiscreteGaussian(bayesian_search.look_noise(rho, looks).squared_scale / 2),
        )
    },
    "mechanisms.binary_search": {
        "log2|Y| comparisons charged": partial(
            binary_search.argue, rule=lambda epsilon, count: DiscreteLaplace(epsilon / (max(1, count) - Fraction(2, 5)))
        ),
        "one comparison charged": partial(
            binary_search.argue_gaussian, rule=lambda rho, count: DiscreteGaussian(1 / (2 * rho))
        ),
    },
    "mechanisms.bounded_mean": {
        "noise for half the range": partial(bounded_mean.argue, rule=lambda width, public: width / 2),
        "noise as for adding and removing": partial(bounded_mean.argue, rule=lambda width, public: width),
    },
    "mechanisms.capped_flow": {
        **{
            name: partial(capped_flow.argue_weighed, design=lambda p, wrong=wrong: wrong)
            for name, wrong in (WRONG_WEIGHTS | WRONG_DOUBLES).items()
        },
        **{
            name: partial(capped_flow.argue_scanned, design=lambda p, wrong=wrong: wrong)
            for name, wrong in WRONG_SCANS.items()
        },
        "a step that does not divide the cap": partial(capped_flow.argue_weighed, off=(0, 1)),
        "one of two bounds that do not agree": partial(capped_flow.argue_weighed, off=(-1, 1)),
    },
    "mechanisms.condition_on_success": {
        "a test without noise": partial(condition_on_success.argue, noisy=False),
        "a limit that is hardly ever met": partial(condition_on_success.argue, chance=lambda beta: 0),
    },
    "mechanisms.cuts": {
        "rows that weigh a whole person each": partial(cuts.argue, total=2),
        "losses rounded up to whole persons": partial(cuts.argue, moved=lambda weight: weight + 1),
        "the cell of the cut fully on both sides": partial(cuts.argue, total=2),
        "as if nobody were on both": partial(cuts.argue, total=2),
        "every level for the whole cost": partial(cuts.argue_levels, each=lambda epsilon, levels: epsilon),
    },
    "mechanisms.exponential": {
        "charged as a loss of sensitivity 1": partial(exponential.argue, rule=lambda epsilon, moves: epsilon / 2),
        "half the noise": partial(exponential.argue, rule=_twice),
        "no factor 2 for a general loss": partial(exponential.argue, rule=_one_directional),
        "permute-and-flip, whose range is not bounded": partial(exponential.argue_range, wider=2),
        "the ε of Gaussian noise with a loss of either direction": partial(exponential.argue_range, wider=2),
        "a prior centred on the data": partial(exponential.argue, prior=lambda p: p.real("move of ln π(y)")),
    },
    "mechanisms.flow_cap": {
        "a person taken for one in one group": partial(flow_cap.argue, charged=lambda most: (1, 2)),
        "twice the rate": partial(flow_cap.argue, twice=2),
    },
    "mechanisms.interior_point": {
        "the scale chosen without noise": partial(interior_point.argue, shares=(SURE, *interior_point.SHARES[1:])),
        "the block released without noise": partial(
            interior_point.argue, shares=(interior_point.SHARES[0], SURE, interior_point.SHARES[2])
        ),
        "the value chosen without noise": partial(interior_point.argue, shares=(*interior_point.SHARES[:2], SURE)),
        "the block released without a lead": partial(interior_point.argue, own=lambda delta, levels: Fraction(99, 100)),
    },
    "mechanisms.median_loss": {
        "no factor 2 for a loss that is not one-directional": partial(inverse_losses.argue_replaced, moves=(0, 1))
    },
    "mechanisms.quantile_loss": {
        "no factor 2 for a loss that is not one-directional": partial(inverse_losses.argue_replaced, moves=(0, 1))
    },
    "mechanisms.count_loss": {"no factor 2 for a loss that is not one-directional": _GENERAL},
    "mechanisms.sum_loss": {"no factor 2 for a loss that is not one-directional": _GENERAL},
    "mechanisms.searched_loss": {"no factor 2 for a loss that is not one-directional": _GENERAL},
    "mechanisms.mode_loss": {
        "three times the rate": partial(
            inverse_sensitivity.argue, method="exponential", moves=(Fraction(1, 3), Fraction(1, 3))
        )
    },
    "mechanisms.inverse_sensitivity": {
        "distance in place of persons": partial(inverse_sensitivity.argue, method="exponential", changed=3)
    },
    "mechanisms.laplace": {
        "sensitivity forgotten": partial(discrete_laplace.argue, rule=lambda epsilon, s: DiscreteLaplace(epsilon)),
        "noise grows with the data": _scaled_with_data,
    },
    "mechanisms.gaussian": {
        "sensitivity not squared": partial(
            discrete_gaussian.argue, rule=lambda rho, s: DiscreteGaussian(s / (2 * rho))
        ),
        "noise shrinks with the data": _variance_with_data,
    },
    "mechanisms.truncated_laplace": {
        "one step too short": partial(truncated.argue, short=1),
        "as long as for sensitivity one": partial(truncated.argue, bounded=0),
    },
    "mechanisms.randomised_response": {
        "odds against all others together": partial(noise.argue_response, other=lambda odds, size: odds / (size - 1)),
        "each binary digit for the whole epsilon": _digits,
    },
    "mechanisms.laplace_vector": {
        "noise for one part only": partial(noise.argue_vector, rule=lambda epsilon, s: DiscreteLaplace(epsilon))
    },
    "mechanisms.gaussian_vector": {
        "noise for one part only": partial(
            noise.argue_gaussian_vector, rule=lambda rho, s: DiscreteGaussian(1 / (2 * rho))
        )
    },
    "mechanisms.noisy_max": {
        "half the noise": partial(permute_and_flip.argue, rule=_twice, sides=2),
        "no factor 2 for a general loss": partial(permute_and_flip.argue, rule=_one_directional, sides=2),
    },
    "mechanisms.permute_and_flip": {
        "half the noise": partial(permute_and_flip.argue, rule=_twice),
        "no factor 2 for a general loss": partial(permute_and_flip.argue, rule=_one_directional),
    },
    "mechanisms.private_bound": {
        "noise for half the bound": partial(private_bound.argue, scale=lambda steps: steps / 2),
        "a bound that forgets the noise": partial(private_bound.argue, fails=10),
        "a measurement that is not charged": partial(private_bound.argue, charged=lambda paid: 0),
    },
    "mechanisms.propose_test_release": {
        "a threshold one too low": partial(ptr.argue, low=1),
        "no test": partial(ptr.argue, tested=False),
        "noise for half the bound": partial(ptr.argue, scale=lambda steps: steps / 2),
        "no room left below the threshold": partial(ptr.argue_scanned, room=0),
    },
    "mechanisms.ratio": {
        "stairs too steep": partial(staircase.argue, steep=4),
        "half the noise": partial(ratio.argue, rule=lambda *given: 2 * ratio.count_rate(*given)),
        "noise as for adding and removing": partial(
            ratio.argue, rule=lambda epsilon, method, replaced: ratio.count_rate(epsilon, method, False)
        ),
        "the whole of epsilon for each": partial(ratio.argue, rule=lambda epsilon, method, replaced: epsilon),
        "the published listing": _wrong_end,
        "the bounds of a the wrong way round": _wrong_end,
    },
    "mechanisms.repeat_and_select": {
        **{f"{number} runs, known to be {number}": _KNOWN for number in ("two", "three", "five", "six")},
        "the score looked up in the data": partial(repeat_promises.argue, looked_up=True),
    },
    "mechanisms.scan_and_release": _TOTALS,
    "mechanisms.signed_scan_and_release": {"a person in both parts": partial(scan_and_release.argue_signed, both=True)},
    "mechanisms.shared_scans": {
        "a whole person in every group": partial(shared_scans.argue, total=2),
        "losses rounded up to whole persons": partial(shared_scans.argue, moved=lambda weight, unit: unit),
    },
    "mechanisms.shared_searches": {
        "two persons' weight in every group": partial(shared_scans.argue_searches, total=2),
        "noise for a sixteenth of the cost": partial(shared_scans.argue_searches, cost=16),
    },
    "mechanisms.shifted_inverse": {
        "no factor 2 for a loss that is not one-directional": partial(
            shifted_inverse.argue, method="exponential", moves=(0, 1)
        ),
        "raw width in place of grid points": partial(
            shifted_inverse.argue, method="exponential", prior=lambda p: p.real("move of ln π(y)")
        ),
        "distance to the statistic in place of the shifted loss": partial(
            inverse_sensitivity.argue, method="exponential", changed=3
        ),
    },
    "mechanisms.stable_argmin": {
        "a threshold one too low": partial(stable_argmin.argue, low=1),
        "one-sided noise": partial(stable_argmin.argue, sides=1),
    },
    "mechanisms.stable_keys": {
        "noise for one key": partial(stable_keys.argue_laplace, shared=lambda total, keys: total),
        "shown too early": partial(stable_keys.argue_gaussian, early=1),
    },
    "mechanisms.weighted_keys": {
        "persons above the whole weight": partial(stable_keys.argue_weighted, heavy=2),
        "keys of one person": partial(stable_keys.argue_weighted, alone=True),
    },
    "mechanisms.stable_mode": {
        "a threshold one too low": partial(stable_mode.argue, lower=1),
        "one-sided noise": partial(stable_mode.argue, sides=1),
    },
    "guarantees.allowance": {
        "the noise of ε/p": partial(
            subsampling.argue, share=lambda p: Fraction(1, 3), inside=lambda target, p: target**3
        ),
        "a sample of rows, two to a person": partial(subsampling.argue, drawn=lambda p: 1 - (1 - p) ** 2),
        "a sample that is not secret": partial(subsampling.argue, drawn=lambda p: 1),
    },
    "mechanisms.threshold_scan": {
        "no noise on the comparisons": partial(threshold_scan.argue, rule=_scan_rates(each=lambda rate: SURE)),
        "half the noise on the comparisons": partial(
            threshold_scan.argue, rule=_scan_rates(each=lambda rate: 2 * rate)
        ),
        "no noise on the threshold": partial(threshold_scan.argue, rule=_scan_rates(threshold=lambda rate: SURE)),
        "the cost of a one-directional loss for one that is not": partial(
            threshold_scan.argue, rule=lambda epsilon, moves, share: rates(epsilon, (0, 1), share)
        ),
        "the cost of sensitivity 1": partial(
            threshold_scan.argue, rule=lambda epsilon, moves, share: rates(epsilon, (1, 1), share)
        ),
    },
    "mechanisms.tree_descent": {
        "all nodes for the price of one": partial(
            tree_descent.argue, rule=lambda epsilon, depth, sensitivity: DiscreteLaplace(epsilon / sensitivity)
        )
    },
    "mechanisms.running_totals": {
        "a node counted twice": partial(running_totals.argue, times=2),
        "a cap renewed for free": partial(running_totals.argue, again=2),
        "earlier bins capped anew": partial(running_totals.argue, again=2),
        "every level for the price of one": partial(running_totals.argue, times=2),
        "counted in each bin": partial(running_totals.argue, again=2),
        "no cap": partial(running_totals.argue_gaussian, again=2),
    },
    "mechanisms.subset_extension": {
        "no test": partial(subset_extension.argue, tested=False),
        "a test that lets one more pass": partial(subset_extension.argue, low=1),
        "noise for the claim alone": partial(subset_extension.argue, scale=lambda claim, moved: claim),
        "a missing person costs one claim": partial(subset_extension.argue, slope=1),
    },
    "mechanisms.vector_cap": {
        "a loss that falls when a person joins": partial(vector_cap.argue, weighed=True, falls=True),
        "a target that follows the persons": partial(
            vector_cap.argue, weighed=True, target=lambda p: p.steps("move of T", -1, 1)
        ),
        "twice the rate": partial(vector_cap.argue, weighed=False, twice=2),
        "a rough cap for free": partial(vector_cap.argue_roughly, free=True),
        "a rough cap without noise": partial(vector_cap.argue_roughly, noisy=False),
    },
}
"""By what is broken and by the twin's name, as in the audit's cases."""

UNPROVED = {
    "mechanisms.smooth_sensitivity": "its noise is continuous and its scale follows the data; no rule speaks of that",
    "black_boxes.wrap": "it takes a user's function; its selection is that of the shifted inverse, which is proved",
    "black_boxes.sample_and_aggregate": "it takes a user's function; its median is drawn by mechanisms that are proved",
}
"""Functions with audit cases and twins but without a proof, and why."""

MUSEUM: dict[str, Build] = {
    "noise of scale 1/2ε": partial(discrete_laplace.argue, rule=lambda epsilon, s: DiscreteLaplace(2 * epsilon / s)),
    "threshold without noise": partial(threshold_scan.argue, rule=_scan_rates(each=lambda rate: SURE)),
    "reused noise": _one_noise,
    "Laplace noise in floating point": _floats,
    "shifted inverse, buckets weighed by raw width": partial(
        shifted_inverse.argue, method="exponential", prior=lambda p: p.real("move of ln π(y)")
    ),
    "ratio by local sensitivity, as listed": _wrong_end,
    "binary search charged log2|Y|": TWINS["mechanisms.binary_search"]["log2|Y| comparisons charged"],
    "noise truncated at (1 + ln(1/2δ))/ε": partial(truncated.argue, short=1),
    "failures absorbed for δ + β": partial(absorb.argue, price=lambda factor, beta: beta),
    "monotonised with a relative floor": partial(exponential.argue, rule=lambda epsilon, moves: epsilon),
    "noise for the local sensitivity": partial(discrete_laplace.argue, moved=2),  # the neighbour's is larger
}
"""By the exhibit's name."""
