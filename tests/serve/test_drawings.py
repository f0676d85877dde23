"""Pictures of ordinary and odd answers: to scale, inside their frame, and well-formed."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from datetime import date
from decimal import Decimal
from fractions import Fraction
from math import inf
from typing import Any

import pytest

from tacit.answers import Answer
from tacit.answers.spreads import Additive, Spread
from tacit.guarantees import Pure
from tacit.noises import DiscreteLaplace
from tacit.serve import drawings


class OneSided(Spread):
    """Nothing bounds it above."""

    covers = "truth"

    def interval(self, value: Any, confidence: Fraction) -> tuple[Any, Any]:
        return value - 1, inf


def made(value: Any, *, noisy: bool = True, spread: Spread | None = None) -> Answer:
    noise = Additive(DiscreteLaplace.for_pure(Fraction(1, 2), 1)) if noisy else None
    return Answer("sum of <x>", value, Pure("0.5"), "noise", "any one <person>", spread=spread or noise)


@pytest.mark.parametrize("value", [7, -(10**30), 0, Decimal("12.50"), 1.5])
def test_an_interval_is_drawn_to_scale(value: Any) -> None:
    picture = drawings.interval(made(value))
    ElementTree.fromstring(picture)
    whisker, dot = r'class="whisker" d="M([\d.]+)[^H]*H([\d.]+)', r'class="dot" d="M([\d.]+)'
    low, high = map(float, re.findall(whisker, picture)[0])
    assert 0 <= low <= float(re.findall(dot, picture)[0]) <= high <= 100


def test_an_open_end_is_drawn_open_and_no_number_not_at_all() -> None:
    assert 'class="whisker open"' in drawings.interval(made(5, spread=OneSided()))
    for answer in (made(None), made(date(2020, 1, 1), noisy=False), made("text", noisy=False), made(1e400), made(True)):
        assert drawings.interval(answer) == ""
    assert drawings.bars([made(None), made(5)])[0] == ""


def test_bars_and_lines_stay_in_their_frame() -> None:
    answers = [made(value) for value in (100, -50, 0)]
    for picture in drawings.bars(answers):
        ElementTree.fromstring(picture)
        places = [float(x) for x in re.findall(r'M([\d.]+)|x="([\d.]+)', picture) for x in x if x]
        assert all(0 <= place <= 100 for place in places)
    points = [(date(2020, month, 1), made(10 * month)) for month in range(1, 13)]
    picture, low, high = drawings.line(points, 'a "line"', zero=True)
    ElementTree.fromstring(picture)
    assert (low, high > 120) == (0.0, True)
    assert 'class="band"' in picture
    ElementTree.fromstring(drawings.line([(year, made(None)) for year in (1, 2, 3)], "nothing", zero=False)[0])


def test_a_budget_burns_down() -> None:
    for left in ([(0, 1.0)], [(0, 1.0), (1, 0.5)], [(0, 1.0), (1, 0.9), (500, 0.2), (1000, 0.0)]):
        picture = drawings.burn_down(left, "ε = 2")
        ElementTree.fromstring(f"<div>{picture}</div>")
        assert f"{100 * left[-1][1]:.3g} % of ε = 2 is left" in picture
    after_one = drawings.burn_down([(0, 1.0), (1, 0.5)], "ε = 2")  # what the last question left has room of its own
    assert 'class="step" d="M0 2.00L50.00 2.00L50.00 20.00L100 20.00"' in after_one
    ElementTree.fromstring(drawings.gauge(1.5, "all"))
