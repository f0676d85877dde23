"""Every broken mechanism of the museum is caught, and what is known about it in numbers is found.

The exhibits audited from samples: a repaired one is called broken with probability at most 1e-7; the broken ones lie
so far above their promise that they are missed with a probability far below 1e-6.
"""

from fractions import Fraction
from math import exp, log

import pytest

from tacit.audit.exact import Verification
from tacit.audit.museum import EXHIBITS, Caught, Exhibit, _listed_bound, catch
from tacit.mechanisms.totals.ratio_local import Box, local_bound


def caught(exhibit: Exhibit) -> Caught:
    (found,) = catch([exhibit])
    return found


def by_name(start: str) -> Exhibit:
    (found,) = [exhibit for exhibit in EXHIBITS if exhibit.name.startswith(start)]
    return found


@pytest.mark.parametrize("exhibit", EXHIBITS, ids=[exhibit.name for exhibit in EXHIBITS])
def test_the_mistake_is_caught_and_the_repair_is_not(exhibit: Exhibit) -> None:
    found = caught(exhibit)
    assert found.broken.verdict == "broken"
    assert found.repaired.verdict in ("tight", "loose", "consistent")
    assert found.passed
    assert exhibit.story.endswith(".")


def test_raw_widths_lose_what_the_widths_differ_by() -> None:
    """A grid value of weight 1 gets weight 10·e^{-1/2}: ln 10 − 1/2 = 1.80."""
    assert caught(by_name("shifted inverse")).measured == pytest.approx(log(10) - 0.5)


def test_noise_for_the_local_sensitivity_tells_its_own_size() -> None:
    """Without end: at the furthest answer looked at, 24 steps off, the loss is near 24·(1 − 1/8) and more."""
    found = caught(by_name("noise for the local"))
    assert found.measured > 21
    assert found.repaired.loss < 1


def test_half_the_scale_doubles_the_loss() -> None:
    assert caught(by_name("noise of scale")).measured == pytest.approx(2)


def test_truncation_weighs_as_much_as_its_formula_says() -> None:
    """The ends of continuous noise cut off at R weigh e^{-εR}(e^ε − 1)/(2(1 − e^{-εR})), 2.35 times the δ promised."""
    cut = 2 * 0.001 / exp(1)
    expected = cut * (exp(2) - 1) / (2 * (1 - cut))
    assert caught(by_name("noise truncated")).measured == pytest.approx(expected, rel=0.03)


def test_a_relative_floor_moves_the_loss_by_three_persons() -> None:
    found = by_name("monotonised").broken()
    assert isinstance(found, Verification)
    assert found.worst is not None
    assert sorted(map(len, found.worst)) == [3, 4]


def test_the_listed_ratio_bound_is_too_small() -> None:
    """For a in [40, 60] and b in [80, 120]: 0.00633, where one person moves the share 60/80 by 0.00949."""
    listed = _listed_bound((40, 60), (80, 120))
    assert float(listed) == pytest.approx(0.00633, abs=5e-6)
    moved = Fraction(60, 79) - Fraction(60, 80)
    assert float(moved) == pytest.approx(0.00949, abs=5e-6)
    valid = local_bound(Box(40, 60, 20, 80))
    assert valid is not None
    assert listed < moved <= valid
