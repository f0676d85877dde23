"""Pictures: laws, distributions, accuracy against ε, a budget burning down, and what an audit found.

PROMISE. Nothing here reads a table. Forecasts, costs and audits are public; what they show may be shown to anyone. A
law is different: it knows the data it was made from, so a picture of it is a picture of them. `law` is for study with
data that are public or made up, and writes so under the picture; a law of private data may only be sampled, once.

Every function returns a matplotlib `Figure`, which notebooks show and ``figure.savefig("name.png")`` writes. They need
``pip install 'tacit-dp[plot]'``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from importlib.util import find_spec
from itertools import islice
from math import ceil, floor, log10
from textwrap import fill
from typing import TYPE_CHECKING, Any

from tacit.errors import InvalidInput, not_installed
from tacit.guarantees import Guarantee

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tacit.answers import Answers
    from tacit.answers.series import Series
    from tacit.curves import StepLoss
    from tacit.forecasts import Forecast
    from tacit.mechanisms.law import Law

INK, NOISE, TRUTH, ALARM = "#1b6ca8", "#9bbcd4", "#444444", "#c0392b"
"""Colours that stay apart in print and for most eyes."""
STUDY = "for study, with public or made-up data: a law shows the data it was made from"
MOST_POINTS = 400
WIDTH = 6.4
LEAST = 0.01
"""The smallest error, in percent, that is told apart from none."""


def check_installed() -> None:
    """Refuse to draw where matplotlib is missing; who does long work for a picture asks before it."""
    if find_spec("matplotlib") is None:
        raise not_installed("pictures need matplotlib", "plot")


def _figure(height: float, width: float = WIDTH) -> tuple[Figure, Axes]:
    figure, (axes,) = _panels(height, width, (1,))
    return figure, axes


def _panels(height: float, width: float, widths: Sequence[float]) -> tuple[Figure, Sequence[Axes]]:
    """Axes side by side that share their rows."""
    check_installed()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", dpi=150)
    panels = figure.subplots(1, len(widths), sharey=True, width_ratios=widths, squeeze=False)[0]
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
    return figure, panels


def law(shown: Law[Any] | Mapping[str, Law[Any]], points: Iterable[Any] | None = None, title: str = "") -> Figure:
    """The probabilities of a law, or of several by name, at some points; for data that are public or made up."""
    laws = dict(shown) if isinstance(shown, Mapping) else {"": shown}
    if not laws:
        raise InvalidInput("there is no law to draw; give at least one.")
    first = next(iter(laws.values()))
    places = list(islice(first.outcomes() if points is None else points, MOST_POINTS + 1))
    if not places or len(places) > MOST_POINTS:
        raise InvalidInput(f"a picture shows 1 to {MOST_POINTS} outputs; name the wanted ones with points=.")
    figure, axes = _figure(3.2)
    numbers = all(isinstance(place, int | float) or hasattr(place, "__float__") for place in places)
    at = [float(place) for place in places] if numbers else list(range(len(places)))
    for (name, each), colour in zip(laws.items(), _colours(len(laws)), strict=True):
        heights = [float(each.pmf(place, 64)) for place in places]
        if len(laws) == 1:
            axes.vlines(at, 0, heights, color=colour, linewidth=max(1.0, 120 / len(at)))
        else:
            axes.plot(at, heights, color=colour, label=name, drawstyle="steps-mid")
    if not numbers:
        axes.set_xticks(at, [str(place) for place in places])
    if len(laws) > 1:
        axes.legend(frameon=False)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("probability")
    axes.set_xlabel(f"output\n{STUDY}")
    axes.set_title(fill(title or f"{first.name}, {first.guarantee!r} for one draw", 70), fontsize="medium")
    return figure


def loss(shown: StepLoss | Mapping[str, StepLoss], points: Iterable[Any] | None = None, title: str = "") -> Figure:
    """A loss over the values of its grid, or several by name; for data that are public or made up.

    >>> from tacit import plots
    >>> from tacit.grids import integers
    >>> from tacit.mechanisms import median_loss
    >>> figure = plots.loss(median_loss([1, 2, 2, 9], integers(0, 10)))
    """
    losses = dict(shown) if isinstance(shown, Mapping) else {"": shown}
    if not losses:
        raise InvalidInput("there is no loss to draw; give at least one.")
    grid = next(iter(losses.values())).grid
    listed = isinstance(grid.size, int) and grid.size <= MOST_POINTS and grid.first is not None
    if points is None and not listed:
        raise InvalidInput(f"a picture shows 1 to {MOST_POINTS} values; name the wanted ones with points=.")
    first = grid.first or 0
    places = range(first, first + int(grid.size)) if points is None else [grid.index(point) for point in points]
    known = [place for place in places if place is not None][:MOST_POINTS]
    figure, axes = _figure(3.2)
    for (name, each), colour in zip(losses.items(), _colours(len(losses)), strict=True):
        at, heights = [float(grid.value(place)) for place in known], [each.at(place) for place in known]
        axes.plot(at, heights, color=colour, label=name, drawstyle="steps-mid")
    if len(losses) > 1:
        axes.legend(frameon=False)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("persons to change")
    axes.set_xlabel(f"value\n{STUDY}")
    axes.set_title(fill(title or "loss of each value", 70), fontsize="medium")
    return figure


def draws(shown: Mapping[str, Sequence[float]], title: str = "") -> Figure:
    """Histograms of draws from several laws by name; for data that are public or made up."""
    figure, axes = _figure(3.2)
    everything = sorted(x for each in shown.values() for x in each)
    if not everything:
        raise InvalidInput("there are no draws to draw; give at least one.")
    low, high = everything[len(everything) // 200], everything[-1 - len(everything) // 200]
    for (name, each), colour in zip(shown.items(), _colours(len(shown)), strict=True):
        axes.hist(each, bins=50, range=(low, high) if low < high else None, histtype="step", color=colour, label=name)
    axes.legend(frameon=False)
    axes.set_ylabel("draws")
    axes.set_xlabel(f"output\n{STUDY}")
    axes.set_title(fill(title, 70), fontsize="medium")
    return figure


def distribution(*answers: Answers, title: str = "") -> Figure:
    """The share of rows up to each value, from quantiles that were released: those of `cdf`, or any others.

    Several questions are drawn side by side, each under the name of what it was asked of.
    """
    figure, axes = _figure(3.2)
    for each, colour in zip(answers, _colours(len(answers)), strict=True):
        points = sorted((key, answer.value) for key, answer in each.items() if isinstance(key, float))
        if not points or len(points) < len(each):
            raise InvalidInput("a distribution is drawn from quantiles; ask for some with cdf or quantile.")
        words = next(iter(each.values())).statistic.partition(" of ")[2]
        values: list[Any] = [value for _, value in points]
        axes.plot(values, [q for q, _ in points], color=colour, label=words)
    if not answers:
        raise InvalidInput("there are no answers to draw; ask for some with cdf or quantile.")
    axes.legend(frameon=False)
    axes.set_ylim(0, 1)
    axes.set_ylabel("share of all up to it")
    axes.set_title(fill(title or "Quantiles as released", 70), fontsize="medium")
    return figure


HOPELESS = 1000.0
"""Errors in percent that are drawn as if they were no larger."""


def accuracy(*forecasts: Forecast) -> Figure:
    """Expected errors against ε, for one forecast or several side by side."""
    if not forecasts:
        raise InvalidInput("there is no forecast to draw; make one with tacit.plan(…).")
    figure, axes = _figure(3.2 + 0.4 * len(forecasts))
    for forecast, colour in zip(forecasts, _colours(len(forecasts)), strict=True):
        epsilons = [float(line.epsilon) for line in forecast.lines]
        typical = [min(max(100 * line.typical, 1e-6), HOPELESS) for line in forecast.lines]
        nearly_all = [min(max(100 * line.nearly_all, 1e-6), HOPELESS) for line in forecast.lines]
        name = fill(f"{forecast.words or forecast.statistic}, {forecast.persons:,} persons, {forecast.shape}", 60)
        axes.fill_between(epsilons, typical, nearly_all, color=colour, alpha=0.15, linewidth=0)
        axes.plot(epsilons, nearly_all, color=colour, marker="o", markersize=4, label=f"{name}: 19 of 20 within")
        axes.plot(epsilons, typical, color=colour, linestyle=":", label="the same: half of all within")
        axes.set_xticks(epsilons, [f"{x:.3g}" for x in epsilons])
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.minorticks_off()
    low, high = axes.get_ylim()
    digits = (1, 2, 5) if high < 100 * low else (1,)
    ticks = [d * 10.0**k for k in range(-6, 7) for d in digits if low <= d * 10.0**k <= high]
    axes.set_yticks(ticks, [f"{tick:g} %" for tick in ticks])
    axes.set_xticks(
        [float(x.epsilon) for x in forecasts[0].lines], [f"{float(x.epsilon):.3g}" for x in forecasts[0].lines]
    )
    axes.set_xlabel("ε")
    axes.set_ylabel("error, share of the truth")
    figure.legend(frameon=False, fontsize="small", loc="outside lower center")
    axes.set_title("Expected accuracy, from public facts alone", fontsize="medium")
    return figure


def trade_off(*guarantees: Guarantee) -> Figure:
    """What an attacker must put up with under each guarantee: persons missed against persons suspected falsely."""
    if not guarantees:
        raise InvalidInput("there is no guarantee to draw; give at least one, such as Pure(1).")
    figure, axes = _figure(4.2, 4.8)
    at = [Fraction(i, 200) for i in range(1, 200)]
    for shown, colour in zip(guarantees, _colours(len(guarantees)), strict=True):
        curve = [float(shown.missed(alpha)) for alpha in at]
        fair = min(zip(curve, at, strict=True), key=lambda point: abs(point[0] - float(point[1])))
        guess = min(float(shown.best_guess()), 1 - fair[0])
        label = f"{shown.short()}: guesses rightly at most {100 * guess:.1f} %"
        axes.plot([float(alpha) for alpha in at], curve, color=colour, label=label)
    axes.plot([0, 1], [1, 0], color=TRUTH, linestyle=":", label="nothing learnt: a blind guess")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_xlabel("falsely suspects somebody who is not in the data")
    axes.set_ylabel("misses somebody who is, at least")
    figure.legend(frameon=False, fontsize="small", loc="outside lower center")
    axes.set_title("What an attacker must put up with", fontsize="medium")
    return figure


def burn_down(total: Guarantee, costs: Sequence[tuple[str, Guarantee]]) -> Figure:
    """How a budget is used up, one question after the other, oldest first."""
    figure, axes = _figure(1.1 + 0.3 * len(costs))
    _burn(axes, total, costs)
    axes.set_yticks(range(len(costs)), [text if len(text) <= 48 else f"{text[:47]}…" for text, _ in costs])
    axes.set_title("A budget burning down", fontsize="medium")
    return figure


def _burn(axes: Axes, total: Guarantee, costs: Sequence[tuple[str, Guarantee]]) -> None:
    all_of_it, left = _size(total), _size(total)
    for row, (_, cost) in enumerate(costs):
        paid = _size(cost)
        axes.barh(row, max(left - paid, 0), color=NOISE)
        axes.barh(row, paid, left=left - paid, color=INK)
        left -= paid
    axes.invert_yaxis()
    axes.set_xlim(0, all_of_it)
    axes.set_xlabel(f"left (light) and spent (dark) of {total!r}")


def comparison(
    errors: Mapping[str, Mapping[str, float]], total: Guarantee, costs: Sequence[tuple[str, Guarantee]]
) -> Figure:
    """Errors of several ways to answer each question, beside the budget that the questions used up."""
    figure, (axes, beside) = _panels(1.4 + 0.4 * len(errors), 9.6, (2, 1))
    ways = list(dict.fromkeys(way for each in errors.values() for way in each))
    for way, colour, marker in zip(ways, _colours(len(ways)), "oXPs", strict=False):
        points = [(max(100 * each[way], LEAST), row) for row, each in enumerate(errors.values()) if way in each]
        axes.plot([x for x, _ in points], [y for _, y in points], marker, color=colour, label=way, markersize=8)
    axes.set_xscale("log")
    axes.minorticks_off()
    powers = range(floor(log10(axes.get_xlim()[0])), ceil(log10(axes.get_xlim()[1])) + 1)
    axes.set_xlim(10.0 ** powers[0], 10.0 ** powers[-1])
    axes.set_xticks([10.0**k for k in powers], [f"{10.0**k:g} %" for k in powers])
    axes.grid(axis="x", color="#dddddd")
    axes.set_axisbelow(True)
    axes.set_xlabel("off the truth")
    _burn(beside, total, costs)
    beside.set_xlabel(f"left of {total!r}")
    axes.set_yticks(range(len(errors)), [fill(text, 30) for text in errors])
    figure.legend(frameon=False, loc="outside upper center", ncols=len(ways))
    return figure


def _size(amount: Guarantee) -> float:
    """ε, or ρ where there is no ε."""
    numbers = amount.keywords()
    return float(numbers["epsilon" if "epsilon" in numbers else "rho"])


def audit(lines: Iterable[Any]) -> Figure:
    """What an audit measured against what was promised, for promises of pure ε.

    ``lines`` are those of a survey, or of ``tacit audit --json``. A promise is kept when the exact loss lies at or left
    of it. Bounds from samples are lower bounds.
    """
    fields = ("name", "promised", "exact", "sampled")
    rows = [line if isinstance(line, Mapping) else {name: getattr(line, name) for name in fields} for line in lines]
    rows = [row for row in rows if row["promised"].startswith("Pure(")]
    if not rows:
        raise InvalidInput("there is no promise of pure ε among these lines; audit more, or without a name.")
    figure, axes = _figure(1.3 + 0.24 * len(rows), 8.0)
    promises = [_size(Guarantee.parse(row["promised"])) for row in rows]
    edge = 1.5 * max(promises)
    for place, (row, promised) in enumerate(zip(rows, promises, strict=True)):
        exactly, sampled = _number(r"ε = ([\d.]+)", row["exact"]), _number(r"ε ≥ ([\d.]+)", row["sampled"])
        axes.barh(place, promised, color=NOISE, height=0.7, label="promised")
        if sampled is not None:
            axes.barh(place, sampled, color=INK, height=0.3, label="at least, from samples")
        if exactly is not None:
            colour, marker = TRUTH if exactly <= 1.001 * promised else ALARM, "D" if exactly < edge else ">"
            axes.plot([min(exactly, edge)], [place], marker, color=colour, markersize=5, clip_on=False, label="exactly")
    axes.set_yticks(range(len(rows)), [row["name"] for row in rows])
    axes.invert_yaxis()
    axes.set_xlim(0, edge)
    axes.set_xlabel("ε (an arrow at the edge: far beyond)")
    handles, labels = axes.get_legend_handles_labels()
    unique = dict(zip(labels, handles, strict=True))
    figure.legend(unique.values(), unique.keys(), frameon=False, loc="outside lower center", ncols=3)
    axes.set_title("Privacy loss: promised and measured", fontsize="medium")
    return figure


def _number(pattern: str, text: str) -> float | None:
    found = re.search(pattern, text)
    if found is None:
        return None
    top, _, bottom = found.group(1).partition("/")
    return float(top) / float(bottom or 1)


def _colours(count: int) -> list[str]:
    return [(INK, ALARM, "#2e8b57", "#8e44ad", "#b7791f", TRUTH)[i % 6] for i in range(count)]


def series(shown: Series, cumulative: bool = False) -> Figure:
    """A series as a line, with a band that holds each total with 95 % confidence."""
    figure, axes = _figure(3.2)
    answers = shown.cumulative() if cumulative else shown
    days = list(answers)
    ends = [answer.interval() for answer in answers.values()]
    low, high = [float(end.low) for end in ends], [float(end.high) for end in ends]
    axes.fill_between(days, low, high, color=NOISE, alpha=0.5, linewidth=0, label="95 % of each total, as capped")
    axes.plot(days, [float(answer) for answer in answers.values()], color=INK)
    axes.legend(frameon=False)
    axes.set_ylabel("since the beginning" if cumulative else f"each {shown.every}")
    axes.set_title(fill(f"{shown.statistic}, {shown.guarantee!r}", 70), fontsize="medium")
    figure.autofmt_xdate()
    return figure
