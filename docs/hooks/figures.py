"""The figures of the pages under explanation, made from what the library computes."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import comb, exp, log, tanh
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tacit.curves import DownProfile, Run, StepLoss
from tacit.grids import integers
from tacit.guarantees import RenyiCurve, subsampling_plan
from tacit.mechanisms import Law, exponential, shifted_inverse, tree_descent
from tacit.mechanisms.totals.ratio_local import Box, local_bound
from tacit.noises import DiscreteLaplace
from tacit.plots import ALARM, INK, NOISE, TRUTH

COLOURS = (INK, ALARM, "#2e8b57", "#8e44ad", "#b7791f")
SEARCHES = json.loads((Path(__file__).parents[2] / "benchmarks" / "results" / "searches.json").read_text())


def loss(axes: Axes) -> None:
    """Removals until the maximum is at most y, for 32 persons spread like five tosses of a coin."""
    tosses = sorted((y for y in range(6) for _ in range(comb(5, y))), reverse=True)
    falls = DownProfile(tosses).loss(integers(0, 7))
    axes.step(range(8), [falls.at(y) for y in range(8)], where="post", color=INK)
    axes.axvline(5, color=TRUTH, linestyle=":")
    axes.annotate("the true maximum", (5, 20), (5.1, 20), color=TRUTH)
    axes.set(xlabel="y", ylabel="persons to remove until the maximum is at most y")


def maximum(axes: Axes) -> None:
    """What inverse and shifted inverse release about a maximum of 50, on a grid up to 1,000."""
    grid = integers(0, 1000)
    flat = StepLoss(grid, (*(Run(y, y, 50 - y) for y in range(51)), Run(51, 1000, 1)))
    shifted = {method: shifted_inverse(range(50, -1, -1), grid, 1, method) for method in ("exponential", "scan")}
    laws: dict[str, Law[Any]] = {"inverse": exponential(flat, epsilon=1)}
    laws |= {f"shifted inverse, {method}": law for method, law in shifted.items()}
    shown = range(101)
    for (name, law), colour in zip(laws.items(), COLOURS, strict=False):
        axes.plot(shown, [float(law.cdf(y, 64)) for y in shown], color=colour, label=name)
    axes.axvline(50, color=TRUTH, linestyle=":")
    axes.set(xlabel="y (the true maximum is 50; the grid goes on to 1,000)", ylabel="probability to be at most y")


def windows(axes: Axes) -> None:
    """Windows of the searches at ε = 1 and β = 5 %, and what no pure mechanism can be below."""
    bits = (1, 2, 4, 8, 12, 16, 24, 32, 48, 64)
    for method, colour in zip(("scan", "exponential", "binary_search", "interior_point"), COLOURS, strict=False):
        laws = [shifted_inverse([0], integers(0, 2**b - 1), 1, method) for b in bits]
        axes.plot(bits, [law.accuracy("0.05").window or 0 for law in laws], color=colour, marker=".", label=method)
    bayesian = SEARCHES["windows"]["1"]["bayesian_search"]["stated"]
    axes.plot([64], [bayesian], "s", color=COLOURS[4], label="bayesian_search, at the ρ of ε = 1")
    least = [max(0.5, log(0.95) + b * log(2) - 1) for b in bits]
    axes.plot(bits, least, color=TRUTH, linestyle=":", label="least for a pure ε")
    axes.set(xlabel="size of the grid, in bits", ylabel="window, in persons", yscale="log")


def ratio_split(axes: Axes) -> None:
    """The scale of the noise against the share of ε that the bound takes, at a share of one half."""
    shares = [Fraction(i, 100) for i in (1, 2, 3, 5, 8, 12, 20, 30, 40, 50, 60)]
    reach = [DiscreteLaplace(share).threshold(Fraction(1, 4 * 10**6)) - 1 for share in shares]
    for persons, colour in zip((1_000, 10_000, 1_000_000), COLOURS, strict=False):
        half, points = persons // 2, []
        for share, far in zip(shares, reach, strict=True):
            low = max(0, half - far)
            bound = local_bound(Box(low, half + far, low, half + far))
            if bound is not None:
                points.append((float(share), persons * float(bound) / (1 - float(share))))
        axes.plot(*zip(*points, strict=True), color=colour, marker=".", label=f"b = {persons:,}")
    axes.axhline(0.75, color=TRUTH, linestyle=":", label="two counts, without δ")
    axes.set(xlabel="share of ε for the bound", ylabel="mean error, in units of 1/b", ylim=(0, 2))


def selection(axes: Axes) -> None:
    """The mean excess loss at ½-zCDP on the loss that is worst for a tree."""
    depths = (2, 3, 4, 5, 6, 7, 8)
    found: dict[str, list[float]] = {"tree descent": [], "exponential mechanism": []}
    for k in depths:
        losses = [round(1.5 * k**0.5) * y.bit_count() for y in range(2**k)]
        steps = StepLoss.from_losses(integers(0, 2**k - 1), losses)
        laws = tree_descent(steps, rho=Fraction(1, 2)), exponential(steps, rho=Fraction(1, 2))
        for means, law in zip(found.values(), laws, strict=True):
            means.append(sum(float(law.pmf(y, 64)) * losses[y] for y in range(2**k)))
    for (name, means), colour in zip(found.items(), COLOURS, strict=False):
        axes.plot(depths, means, color=colour, marker=".", label=name)
    axes.plot(depths, [0.34 * k**1.5 for k in depths], color=TRUTH, linestyle=":", label="0.34·k^1.5")
    axes.set(xlabel="k, the logarithm of the grid's size", ylabel="mean excess loss")


def sampling(axes: Axes) -> None:
    """Noise without sampling over noise with it, against the probability of being drawn."""
    drawn = [10 ** (i / 6 - 3) for i in range(19)]
    for epsilon, colour in zip(("0.01", "0.1", "1", "2"), COLOURS, strict=False):
        plans = [subsampling_plan(epsilon, Fraction(min(p, 1.0)).limit_denominator(10**6)) for p in drawn]
        axes.plot(drawn, [1 / float(plan.noise_ratio) for plan in plans], color=colour, label=f"ε = {epsilon}")
    for c, style in ((0.5, ":"), (2, "--"), (5, "-.")):
        ratios = [p / (c * p) * log(1 + (exp(c * p) - 1) / p) for p in drawn]
        axes.plot(drawn, ratios, color=NOISE, linestyle=style, label=f"ε = {c:g}·p")
    axes.set(xlabel="p, the probability to be in the sample", ylabel="pε' / ε (1: free)", xscale="log", ylim=(0, 1.02))


def sampling_epsilon(axes: Axes) -> None:
    """The same against ε."""
    epsilons = [Fraction(i, 20) for i in (1, 2, 4, 7, 10, 15, 20, 30, 40)]
    for drawn, colour in zip(("0.001", "0.01", "0.1", "0.5"), COLOURS, strict=False):
        plans = [subsampling_plan(epsilon, drawn) for epsilon in epsilons]
        ratios = [1 / float(plan.noise_ratio) for plan in plans]
        axes.plot([float(epsilon) for epsilon in epsilons], ratios, color=colour, label=f"p = {drawn}")
    axes.set(xlabel="ε", ylabel="pε' / ε (1: free)", ylim=(0, 1.02))


def sampling_limit(axes: Axes) -> None:
    """c/ln(1 + c)."""
    cs = [i / 10 for i in range(1, 101)]
    axes.plot(cs, [c / log(1 + c) for c in cs], color=INK)
    axes.set(xlabel="c, where ε = c·p", ylabel="noise grows at most by", ylim=(1, None))


def renyi(axes: Axes) -> None:
    """The Rényi divergence of ε-DP, exactly, trivially, and by zCDP."""
    orders = [Fraction(i, 5) for i in (6, 8, 10, 15, 20, 25, 30, 40, 50, 65, 80)]
    at = [float(order) for order in orders]
    for epsilon, colour in zip(("1/2", "1", "2"), COLOURS, strict=False):
        e, curve = float(Fraction(epsilon)), RenyiCurve.pure(Fraction(epsilon))
        exactly = [float(curve.divergence(order, 64)) for order in orders]
        axes.plot(at, exactly, color=colour, label=f"ε = {epsilon}")
        axes.axhline(e, color=colour, linestyle=":")
        axes.plot(at, [order * e * tanh(e / 2) for order in at], color=colour, linestyle="--")
    axes.set(xlabel="order α (dotted: ε; dashed: αρ)", ylabel="Rényi divergence", ylim=(0, 2.2))


def zcdp(axes: Axes) -> None:
    """ρ of ε-DP: ε·tanh(ε/2), below ε²/2 and ε."""
    es = [i / 20 for i in range(81)]
    axes.plot(es, [e * tanh(e / 2) for e in es], color=INK, label="ε·tanh(ε/2), exact")
    axes.plot(es, [e * e / 2 for e in es], color=ALARM, linestyle="--", label="ε²/2")
    axes.plot(es, es, color=TRUTH, linestyle=":", label="ε")
    axes.set(xlabel="ε", ylabel="ρ", ylim=(0, 4))


SETTINGS = {
    "sequential": (),
    "adaptive": (("M1", "M2"), ("M2", "M3")),
    "fully adaptive": (("M1", "M2"), ("M2", "M3"), ("M1", "ε2"), ("M2", "ε3")),
    "concurrent": (("M1", "A"), ("A", "M1"), ("M2", "B"), ("B", "M2"), ("A", "B"), ("B", "A")),
    "fully concurrent": (("M1", "A"), ("A", "M1"), ("M2", "B"), ("B", "M2"), ("A", "B"), ("B", "A"), ("M1", "M3")),
}
"""Who tells whom in each setting: mechanisms M, their costs ε, analysts A and B."""

PLACES = {"data": (0.5, 0.08), "A": (0.15, 0.92), "B": (0.85, 0.92)}
PLACES |= {f"M{i}": (0.15 + 0.35 * (i - 1), 0.42) for i in (1, 2, 3)}
PLACES |= {f"ε{i}": (0.15 + 0.35 * (i - 1), 0.72) for i in (1, 2, 3)}
BESIDE = PLACES | {"M2": (0.85, 0.42), "M3": (0.5, 0.66)}


def settings() -> Figure:
    """Five settings of composition, side by side: an arrow goes to what may depend on where it comes from."""
    figure = Figure(figsize=(9.6, 2.2), layout="constrained")
    for axes, (name, told) in zip(figure.subplots(1, len(SETTINGS)), SETTINGS.items(), strict=True):
        axes.set(xlim=(0, 1), ylim=(0, 1))
        axes.set_axis_off()
        axes.set_title(name, fontsize="small")
        several = "concurrent" in name
        places = BESIDE if several else PLACES
        asked = [mechanism for mechanism in ("M1", "M2", "M3") if not several or mechanism != "M3" or "fully" in name]
        shown = [*asked, "data", *("AB" if several else ("ε1", "ε2", "ε3"))]
        arrows = [*(("data", mechanism) for mechanism in asked), *told]
        for start, end in arrows:
            axes.annotate("", places[end], places[start], arrowprops={"arrowstyle": "->", "shrinkA": 9, "shrinkB": 9})
        for word in shown:
            kind = {"boxstyle": "round", "facecolor": NOISE if word in asked else "white", "edgecolor": TRUTH}
            axes.text(*places[word], word, ha="center", va="center", fontsize="small", bbox=kind)
    return figure


DRAWN: dict[str, Callable[[Axes], None]] = {
    "loss": loss,
    "maximum": maximum,
    "windows": windows,
    "ratio-split": ratio_split,
    "selection": selection,
    "sampling": sampling,
    "sampling-epsilon": sampling_epsilon,
    "sampling-limit": sampling_limit,
    "renyi": renyi,
    "zcdp": zcdp,
}
"""The figures with one pair of axes, by name."""


def pictures() -> Iterator[tuple[str, bytes]]:
    """Every figure as the name and the text of an SVG."""
    for name, draw in DRAWN.items():
        figure = Figure(figsize=(6.4, 3.6), layout="constrained")
        axes = figure.subplots()
        axes.spines[["top", "right"]].set_visible(False)
        draw(axes)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(frameon=False, fontsize="small")
        yield name, _svg(figure)
    yield "settings", _svg(settings())


def _svg(figure: Figure) -> bytes:
    out = io.BytesIO()
    with mpl.rc_context({"svg.fonttype": "none"}):
        figure.savefig(out, format="svg", facecolor="white")
    return out.getvalue()
