"""RESULTS.md, made from the stored results and from nothing else.

`page` turns reports into text; the test suite holds the stored page to it. Other pages may use `sections`, which has
the same text by heading.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from statistics import geometric_mean, median, mode
from textwrap import fill
from typing import Any

import record
from asked import Results
from extension import section as extension
from freshness import state
from latest import EARLIER
from latest import FIGURES as LATEST
from layout import number, table
from scoreboard import asked, scoreboard

PAGE = Path(__file__).parent / "RESULTS.md"
OPENING = """# What was measured

A scoreboard, then every figure that was asked for with the measured one beside it, then the studies themselves. This
page is made by `python -m benchmarks report` from the files in `benchmarks/results/`; nothing on it is typed by hand
but what others published. Machines are noisy: times are compared as ratios within one run, errors are medians with a
tail. How each study works is said at the top of its script. `python -m benchmarks report --check` says whether a study
is older than its code, and fails if one is.
"""
KEY = ("sum", "mean", "count", "max", "quantiles", "distinct", "group by")
ERRORS = {
    "sum": "relative to Σ|x|",
    "mean": "relative to the mean of |x|",
    "count": "relative to the number of rows",
    "max": "relative to the largest |x|",
    "quantiles": "mean rank error of the three quartiles",
    "distinct": "relative to the number of values",
    "group by": "all ten groups' errors together, relative to Σ|x|",
}
MANY = 2_000
"""Persons from which methods are compared in short."""


def save() -> None:
    """Write the page."""
    PAGE.write_text(page(record.read, age(_older())))
    print(f"{PAGE.name} written")


def check() -> list[str]:
    """Say of each study whether it is older than its code; the names of those that are, and of a page that is."""
    states = _states()
    for study, found in states.items():
        print(f"{study:20} {found}")
    old = _older(states)
    return old if PAGE.read_text() == page(record.read, age(old)) else [*old, PAGE.name]


def _states() -> dict[str, str]:
    names = sorted(path.stem for path in (Path(__file__).parent / "results").glob("*.json"))
    return {name: state(name, record.read(name).get("facts", {})) for name in names}


def _older(states: Mapping[str, str] | None = None) -> list[str]:
    return [study for study, found in (states or _states()).items() if found != "fresh"]


def age(old: Sequence[str]) -> str:
    """Which studies are older than their code, in a paragraph."""
    listed = f"Older than their code when this page was made, and to be run again: {', '.join(old)}."
    return fill(listed, 120) if old else "When this page was made no study was older than its code."


def page(results: Results, age: str) -> str:
    """The whole page."""
    top = f"{OPENING}\n{age}\n"
    return "\n".join([top, *(f"## {name}\n\n{text}" for name, text in sections(results).items())])


def sections(results: Results) -> dict[str, str]:
    """The text of each section that has results."""
    made = {
        "Scoreboard": scoreboard(results),
        "Asked in the latest round": asked(results, LATEST),
        "Asked before": asked(results, EARLIER),
        "Accuracy without bounds": accuracy(results("accuracy")) + tumult(results("tumult")),
        "Speed and memory": speed(results("speed")),
        "Every statistic beside its plain query": beside_plain(results("beside_plain")),
        "Joins and graphs beside published mechanisms": joins(results("joins"), results("baselines")),
        "Patterns at the scale of the papers": patterns(results("patterns")),
        "Many quantiles, and a thousand groups": quantiles(results("quantiles")),
        "Second moments and regression": moments(results("moments")),
        "How often what answers say is true": coverage(results("coverage")),
        "TPC-H, verbatim": tpch_queries(results("tpch_queries")),
        "Beside DuckDB's extension": extension(results("tpch_queries")),
        "How cost grows": growth(results("growth")),
        "What a δ and a ρ are worth": delta(results("delta")),
        "What the studies changed": changes(results("changes")),
        "Engines that agree": conformance(results("conformance")) + expressions(results("expressions")),
        "Attacks": attacks(results("attacks")),
        "Where and when": machines(results),
    }
    return {name: text for name, text in made.items() if text}


# Sections


def accuracy(report: Any) -> str:
    """For each statistic: errors by the number of persons at ε = 1, and how methods compare over all cells."""
    if not report:
        return ""
    cells = {tuple(row[:6]): row[6:] for row in report["rows"]}
    sizes = sorted({place[2] for place in cells})
    text = (
        "Tacit is given nothing but the table; each peer is given bounds. Errors at ε = 1: the median over the data "
        "shapes of the median error and, in brackets, of its 95th percentile. “Over Tacit's” is the peer's median "
        f"error over Tacit's, the geometric mean over every shape, every ε and {MANY:,} persons or more. “refused”: "
        "by the peer, for this data. A single refused release counts as the answer 0. diffprivlib takes the number of "
        "persons as public, which makes its means easier; the others protect it too. python-dp finds bounds of sums "
        "and means itself; a maximum without bounds it searches among all integers of 64 bits.\n"
    )
    ways: dict[tuple[str, str, str], dict[Any, Any]] = {}
    for place, value in cells.items():
        ways.setdefault((place[0], place[4], place[5]), {})[place] = value
    for statistic in KEY:
        pairs = list(dict.fromkeys(place[4:6] for place in cells if place[0] == statistic))
        pairs.sort(key=lambda pair: (pair[0] != "tacit", pair[0] != "oracle", pair))
        rows = [
            [
                f"{method}, {bound}",
                *(_errors(ways[statistic, method, bound], size) for size in sizes),
                _over_tacit(ways[statistic, method, bound], cells, method),
            ]
            for method, bound in pairs
        ]
        head = ["method, bound", *(f"{size:,}" for size in sizes), "over Tacit's"]
        text += f"\n### {statistic.capitalize()} ({ERRORS[statistic]})\n\n{table(head, rows)}"
    left = {name: why for name, why in report["peers"].items() if isinstance(why, str)}
    return text + _releases(cells, report) + "".join(f"\n{name}: {why}.\n" for name, why in left.items())


def tumult(report: Any) -> str:
    """A few cells of a peer that runs on Spark alone."""
    if not report:
        return ""
    rows = [
        [name, f"{number(one['median'])} ({number(one['p95'])})", number(one["tacit"]), number(one["seconds"])]
        for name, one in report["statistics"].items()
    ]
    text = (
        f"\n### Tumult Analytics {report['versions']['tmlt.analytics']}\n\n{report['persons']:,} persons "
        f"({report['shape']}), ε = {report['epsilon']}, {report['bound']} bounds, {report['releases']} releases, for "
        "each is a Spark job.\n\n"
    )
    return text + table(["statistic", "Tumult Analytics", "tacit, none", "seconds for a release"], rows)


def _releases(cells: Any, report: Any) -> str:
    """How many cells have all releases, and which have fewer, with the reason."""
    made = {place: value[2] for place, value in cells.items() if value[2]}
    usual = mode(made.values())
    fewer: dict[tuple[str, str, int], list[int]] = {}
    for (statistic, _, persons, _, method, _), runs in made.items():
        if runs < usual:
            fewer.setdefault((method, statistic, persons), []).append(runs)
    text = f"\n{len(made) - sum(map(len, fewer.values())):,} of {len(made):,} cells have {usual} releases"
    text += " or more" * any(runs > usual for runs in made.values())
    refused = sum(value[0] is None for value in cells.values())
    text += f"; in {refused:,} more the peer refused every release.\n" if refused else ".\n"
    if fewer:
        rows = [
            [method, statistic, f"{persons:,}", str(len(runs)), f"{min(runs)} to {max(runs)}"]
            for (method, statistic, persons), runs in sorted(fewer.items())
        ]
        text += "\n" + table(["fewer releases", "statistic", "persons", "cells", "releases"], rows)
        why = {method: report.get("fewer", {}).get(method, "a release takes long") for method, _, _ in sorted(fewer)}
        text += "".join(f"\n{method}: {reason}.\n" for method, reason in why.items())
    return text


def _errors(cells: Any, size: int) -> str:
    chosen = [value for place, value in cells.items() if place[2:4] == (size, 1)]
    known = [value for value in chosen if value[0] is not None]
    if not known:
        return "refused" if chosen else "–"
    tails = [value[1] for value in known if value[1] is not None]
    tail = f" ({number(median(tails))})" if len(tails) == len(known) else ""
    return number(median(value[0] for value in known)) + tail


def _over_tacit(cells: Any, every: Any, method: str) -> str:
    ratios = []
    for place, value in cells.items():
        if place[2] >= MANY and value[0] is not None:
            own, *_ = every.get((*place[:4], "tacit", "none"), [0])
            if own > 0 and value[0] > 0:
                ratios.append(value[0] / own)
    return "" if method == "tacit" or not ratios else number(geometric_mean(ratios))


def speed(report: Any) -> str:
    """Whole queries."""
    if not report:
        return ""
    rows = [
        [
            size,
            name,
            f"{one['seconds']:.2f}",
            f"{one['times the plain query']:.2f}",
            f"{one['megabytes']:.0f}",
            f"{100 * one['relative error']:.2g} %",
        ]
        for size, measured in report["sizes"].items()
        for name, one in measured["methods"].items()
    ]
    head = ["table", "method", "seconds", "times the plain query", "MB", "relative error"]
    text = "The sum of evidence A with each person protected, ε = 1, whole queries in processes of their own.\n\n"
    return text + table(head, rows)


def joins(measured: Any, baselines: Any) -> str:
    """Errors beside published ones and re-made ones."""
    if not baselines:
        return ""
    rows = []
    for row, mechanisms in baselines["rows"].items():
        own = measured.get(row, {}).get("error")
        rows.append([row, "Tacit", number(own), ""])
        rows += [[row, name, number(one["error"]), number(one["published"])] for name, one in mechanisms.items()]
    text = (
        "Absolute errors at ε = 1, mean of the middle 60 %. The other mechanisms are made again from their formulas "
        "(`baselines.py`); race to the top needs the most a person can add, which is guessed there.\n\n"
    )
    return text + table(["query", "mechanism", "error here", "error published"], rows)


def patterns(measured: Any) -> str:
    """Time and error of whole questions about graphs and joins."""
    rows = [
        [name, *(number(one.get(part)) for part in ("processor", "seconds", "plain_seconds", "error", "best"))]
        for name, one in measured.items()
        if isinstance(one, dict) and "processor" in one and name != "facts"
    ]
    if not rows:
        return ""
    text = (
        f"ε = {measured['epsilon']}: seconds of the processor and of the clock for a whole question, of the clock for "
        "the plain count in the same run, the mean error of the middle 60 %, and that of the best cap that knows the "
        "data.\n\n"
    )
    return text + table(["question", "processor", "clock", "plain", "error", "best cap's"], rows)


def quantiles(report: Any) -> str:
    """Rank errors and seconds of many quantiles, and of groups beside one group."""
    if not report:
        return ""
    rows = [
        [
            row["data"],
            row["of"],
            str(row["quantiles"]),
            number(row["error"]),
            number(row["worst"]),
            number(row["seconds"]),
        ]
        for row in report["many"]
    ]
    groups = [
        [
            row["what"],
            *(f"{number(row[of]['median'])} ({number(row[of]['p95'])})" for of in ("groups", "single")),
            number(row["seconds"]),
        ]
        for row in report["groups"]
    ]
    text = "Mean rank errors at ε = 1 without a range: medians over releases, and the worst of them.\n\n"
    text += table(["data", "of", "quantiles", "mean rank error", "worst release", "seconds"], rows)
    text += (
        "\n1,000 groups of 200 persons each in one question at ε = 1, beside one table of 200 persons: rank errors, "
    )
    text += "the median and in brackets the 95th percentile.\n\n"
    return text + table(["what", "of each group", "of a single group", "seconds for all"], groups)


def coverage(report: Any) -> str:
    """For each sentence of each statistic the share of runs in which it was true, by shape."""
    if not report:
        return ""
    cells, sizes = report["cells"], sorted({cell["rows"] for cell in report["cells"]})
    shapes = list(dict.fromkeys(cell["shape"] for cell in cells))
    rows = []
    for said in dict.fromkeys((cell["statistic"], cell["sentence"]) for cell in cells):
        here = [[c for c in cells if (c["statistic"], c["sentence"], c["shape"]) == (*said, s)] for s in shapes]
        rows.append([*said, f"{sum(c['runs'] for c in chain(*here)):,}", *map(_share_true, here)])
    text = (
        f"Every sentence with a confidence of {100 * report['confidence']:.0f} % that an answer prints at ε = 1 (or "
        f"ρ = 0.5), compared with the rows, over tables of {', '.join(f'{size:,}' for size in sizes[:-1])} and "
        f"{sizes[-1]:,} rows: the percentage of runs in which it was true, all sizes together, and in brackets the "
        f"size with the lowest. {report['below']} of {len(cells):,} cells (a sentence, a shape, a size) lie below by "
        "more than chance explains (once in 100,000 each). Where a cell is empty nothing was said: a variance, a mean "
        "by group or a value that nobody has states no such thing, or the interval was open. What is said only where "
        'it bounds something, such as "with at least 4 persons above 2,000", is not false where it is not said.\n\n'
    )
    return text + table(["statistic", "sentence", "runs", *shapes], rows)


def _share_true(cells: Any) -> str:
    if not cells:
        return ""
    true, runs = (sum(cell[name] for cell in cells) for name in ("true", "runs"))
    return f"{100 * true / runs:.1f} ({100 * min(cell['true'] / cell['runs'] for cell in cells):.0f})"


def tpch_queries(report: Any) -> str:
    """What becomes of each query, with customers private and with suppliers private."""
    if not report:
        return ""
    rows = []
    for name, one in report["queries"].items():
        found = one[one["counts"]]
        other = one["customers" if one["counts"] == "suppliers" else "suppliers"]
        if "refusal" in found:
            cells = ["refused", found["refusal"], "", ""]
        else:
            shown = f"{found['rows']:,.0f} rows where there are {found['true rows']:,}"
            cells = [found["cost"], f"{_percent(found)}, {shown}", *_times(found)]
        rows.append([name, one["counts"], *cells, "refused" if "refusal" in other else _percent(other)])
    answered = sum("refusal" not in one[one["counts"]] for one in report["queries"].values())
    text = (
        f"{answered} of {len(report['queries'])} queries are answered as the specification writes them, over "
        f"{report['lines']:,} lines; the others show rows of persons, in the reading that counts. The error is that of "
        "the worst column, all groups together; groups that are not shown count as 0. The last column says what "
        "becomes of the query in the other reading. An error of 100 % means that too few persons stand behind what is "
        "asked: no group is shown, or nothing is left below the cap. Queries are compared by the time of all "
        "processors; in brackets, the same aggregates by person and group, without which nothing is private.\n\n"
    )
    head = [
        "query",
        "private",
        "cost",
        "error, or why it is refused",
        "seconds",
        "times the plain query (by person)",
        "otherwise",
    ]
    return text + table(head, rows)


def _percent(found: Any) -> str:
    return f"{number(100 * found['error'])} %"


def _times(found: Any) -> list[str]:
    persons = f" ({found['by person']:.2f})" if "by person" in found else ""
    return [f"{found['seconds']:.2f}", f"{found['times']:.2f}{persons}"]


def beside_plain(report: Any) -> str:
    """Ratios of processor time, by statistic and engine."""
    if not report:
        return ""
    engines, asked = report["engines"], report["asked"]
    head = [f"{name}, {one['rows']:,} rows" for name, one in engines.items()]
    rows = [
        [what, *(number(one["statistics"][what]["ratio"]) for one in engines.values()), number(asked.get(what))]
        for what in next(iter(engines.values()))["statistics"]
    ]
    text = "Processor time of a question over that of its plain query in the same run.\n\n"
    text += table(["statistic", *head, "asked on DuckDB"], rows)
    rows = [
        [what, *(number(one["samples"][what]["ratio"]) for one in engines.values())]
        for what in next(iter(engines.values()))["samples"]
    ]
    text += "\nA sample of 1 % of the persons over the whole.\n\n" + table(["statistic", *head], rows)
    rows = [
        [what, *(number(one["small"][what]) for one in engines.values())]
        for what in next(iter(engines.values()))["small"]
    ]
    text += "\nMilliseconds of processor time on 1,000 rows.\n\n"
    return text + table(["statistic", *engines], rows)


def growth(report: Any) -> str:
    """Fitted slopes."""
    if not report:
        return ""
    rows = [
        [
            name,
            f"{one['slope']:.2f}",
            f"{number(one['points'][0][0])}: {number(1000 * one['points'][0][1])} ms",
            f"{number(one['points'][-1][0])}: {number(1000 * one['points'][-1][1])} ms",
        ]
        for name, one in report["studies"].items()
    ]
    text = "Processor time against one size, the others fixed: the slope of the logarithms, 1 being proportional.\n\n"
    return text + table(["what", "slope", "from", "to"], rows)


def moments(report: Any) -> str:
    """Variances beside an oracle, and lines by three ways."""
    if not report:
        return ""
    variances = [
        [
            one["what"],
            f"{one['persons']:,}",
            one["shape"],
            f"{100 * one['error']:.2g} % ({100 * one['tail']:.2g} %)",
            f"{100 * one['oracle']:.2g} %",
            f"{one['ratio']:.2f}",
            f"{100 * one['holds']:.1f} % of {one['runs']}",
            f"{100 * one['holds truth']:.1f} %",
        ]
        for one in report["variances"]
    ]
    lines = [
        [
            f"{data}: {name}",
            f"{100 * one['error']:.2g} % ({100 * one['tail']:.2g} %)",
            f"{one['in standard errors']:.2g}",
            f"{100 * one['blocks']:.2g} %",
            f"{100 * one['blocks without interval']:.2g} %",
            f"{100 * one['knowing']:.2g} %",
            f"{100 * one['holds']:.1f} % of {found['runs']}",
            f"{100 * one['holds truth']:.1f} %",
        ]
        for data, found in report["regression"].items()
        for name, one in found["coefficients"].items()
    ]
    first = table(
        [
            *("statistic", "persons", "shape", "error (95th percentile)", "oracle's caps", "over the oracle's"),
            *("interval holds the capped value", "and the truth"),
        ],
        variances,
    )
    second = table(
        [
            *("coefficient", "error (95th percentile)", "in standard errors", "blocks", "blocks without an interval"),
            *("caps that know the data", "interval holds the capped value", "and the truth"),
        ],
        lines,
    )
    return (
        "At ε = 1, medians of relative errors. The oracle's caps are those of AVG(x²) − AVG(x)² that know the data.\n\n"
        f"{first}\nLines: wages of women on age and hours, and 20,000 made-up persons. The wage hardly depends on the "
        "hours: that coefficient is less than two standard errors of the fit without privacy. Blocks are a private "
        f"median of fits on blocks of persons, the best number of blocks taken by looking.\n\n{second}"
    )


def delta(report: Any) -> str:
    """Every statistic with and without δ, many at once, and two theorems."""
    if not report:
        return ""
    cells = [(name, place, one) for name, found in report["every statistic"].items() for place, one in found.items()]
    same = sum(one["same"] for *_, one in cells)
    worst = max(cells, key=lambda cell: cell[2]["ratio"])
    text = (
        f"{len(report['every statistic'])} statistics, three shapes, 200 to 20,000 persons, at ε = 1 and at (1, 10⁻⁶) "
        f"with the same seeds: in {same} of {len(cells)} cells all answers are the same, and 20 releases are enough."
    )
    if same < len(cells):
        text += (
            f" In the others, of {report['draws']} releases each, the largest error with δ over that without is "
            f"{number(worst[2]['ratio'])} ({worst[0]}: {worst[1]} persons)."
        )
    text += "\n\n"
    rows = [
        [name, number(one["epsilon"]["mean"]), number(one["epsilon, delta"]["mean"]), number(1 / one["ratio"]),
         number(one["promised"])]
        for name, one in report["many at once"].items()
    ]  # fmt: skip
    text += table(["many at once, ε = 1", "mean error", "with δ", "times smaller", "by theory, free of overhead"], rows)
    median, most = report["theorems"]["median"], report["theorems"]["max"]
    rows = [["median, mean rank error", *(number(each) for each in list(median.values())[:3])]]
    both = [f"{number(each['mean'])}, at most {number(each['most'])} of {each['stated']}" for each in most.values()]
    rows.append(["maximum, persons above it: mean, most and stated", both[0], "", both[1]])
    return text + "\n" + table(["for ρ", "by its own curve", "the same ε", "as a pure step"], rows)


def changes(report: Any) -> str:
    """Before and after."""
    if not report:
        return ""
    rows = [
        [one["what"], *(f"{number(one[when]['median'])} ({number(one[when]['p95'])})" for when in ("before", "after"))]
        for one in report["changes"].values()
    ]
    return table(["what", "before: median (95th percentile)", "after"], rows)


def conformance(report: Any) -> str:
    """How long the engines take to agree."""
    if not report:
        return ""
    names = ("passed", "failed", "skipped")
    rows = [[name, *(str(one[n]) for n in names), f"{one['seconds']:.0f}"] for name, one in report["engines"].items()]
    return table(["engine", *names, "seconds"], rows)


def expressions(report: Any) -> str:
    """Expressions at random on each engine."""
    if not report:
        return ""
    names = ("expressions", "values", "failed", "different")
    rows = [[name, *(f"{one[n]:,}" for n in names), number(one["seconds"])] for name, one in report["engines"].items()]
    said = (
        "\nExpressions at random over rows of awkward values; every value is compared with plain Python, all bits.\n\n"
    )
    return said + table(["engine", *names, "seconds"], rows)


ATTACKS = {
    "plans": "random plans: who is removed takes along the rows that list them, and nothing else",
    "values": "random values of every type in every source, each with every question: no failure, no other row changed",
    "queries": "odd queries: a cost or a refusal within a second of processor time and 512 MB",
    "http": "odd requests: no server error but an engine's, no charge but for a question",
}


def attacks(report: Any) -> str:
    """What the generators of tests/attacks tried and found."""
    if not report:
        return ""
    rows = [
        [ATTACKS[name], f"{row['cases']:,}", f"{row['failures']:,}", number(row["seconds"])]
        for name, row in report["classes"].items()
    ]
    return table(["class", "cases", "failures", "seconds of a processor"], rows)


def machines(results: Results) -> str:
    """The facts of every study that keeps them."""
    rows = list(_machines(results))
    head = ["study", "date", "python", "duckdb", "numpy", "processor", "cores", "load at the end", "code"]
    text = table(head, rows)
    peers = results("accuracy").get("peers", {})
    known = [f"{name} {what}" for peer in peers.values() if isinstance(peer, dict) for name, what in peer.items()]
    return text + (f"\nPeers: {', '.join(sorted(set(known)))}.\n" if known else "")


def _machines(results: Results) -> Iterator[list[str]]:
    for path in sorted((Path(__file__).parent / "results").glob("*.json")):
        facts = results(path.stem).get("facts")
        if facts:
            packages = facts["packages"]
            yield [
                path.stem,
                facts["date"],
                facts["python"],
                packages.get("duckdb", ""),
                packages.get("numpy", ""),
                facts["processor"],
                str(facts["cores"]),
                str(facts["load"]),
                str(facts.get("code", "")),
            ]


if __name__ == "__main__":
    save()
