"""A page for each mechanism, made from what its module says about itself and from its exact law.

The promise, the proof, the accuracy and the cost stand at the top of the module, in that order and in capitals; here
they become headings, so that nothing is written twice. The picture is the law of the mechanism on two neighbouring
datasets of the audit, which are made up.
"""

from __future__ import annotations

import ast
import inspect
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

from matplotlib.figure import Figure
from papers import BEHIND, PAPERS

import tacit.mechanisms
from tacit import plots
from tacit.audit.registry import AuditCase, cases
from tacit.errors import TacitError
from tacit.mechanisms.law import Law
from tacit.randomness import seeded_not_private
from tacit.randomness.source import NotPrivate

SOURCE = Path(tacit.mechanisms.__file__).parent.parent
HEADING = re.compile(r"^([A-Z]{4,}(?: [A-Z]+)*)\.?(?: {1,2}|: |\n)(?=\S)", re.MULTILINE)
WIDE = 100
"""The longest signature that stands in one line."""
FEW = 60
"""So many outputs can be told apart in a picture."""


DRAWS = 500


@dataclass(frozen=True)
class Page:
    """A mechanism as a page."""

    name: str
    title: str
    text: str
    picture: bytes | None


def pages(drawn: Sequence[str] | None = None) -> Iterator[Page]:
    """Every module of mechanisms that states a promise; pictures are drawn of some of them, or of all."""
    known = _cases()
    for room in ("mechanisms", "noises", "black_boxes"):
        for path in sorted((SOURCE / room).rglob("*.py"), key=lambda path: path.stem):
            docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            if re.search(r"^PROMISE", docstring, re.MULTILINE) and path.stem not in HELPERS:
                module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
                yield _page(module, docstring, known if drawn is None or path.stem in drawn else {})


HELPERS = ("ratio_local",)
"""Modules that only other mechanisms use."""


def _page(name: str, docstring: str, known: dict[str, list[AuditCase]]) -> Page:
    first, _, rest = docstring.partition("\n\n")
    sentence = " ".join(first.split())
    module = import_module(f"tacit.{name}")
    folder, stem = name.partition(".")[0], name.rpartition(".")[2]
    functions = _functions(module)
    covered = [f"{folder}.{stem}", *(f"{folder}.{name}" for name in functions), ALSO.get(stem, "")]
    picture = next((drawn for name in covered for drawn in _pictures(known.get(name, []))), None)
    key = f"{folder}.{stem}" if folder == "black_boxes" else stem
    parts = [f"# {_title(stem)}", "", sentence, "", _imported(functions) if functions else f"*Module* `tacit.{name}`"]
    if picture is not None:
        parts += ["", "## Picture", "", f"![The law on two neighbouring datasets]({stem}.png){{ .drawn }}", "", UNDER]
    parts += _called(module, functions)
    parts += ["", _headed(rest), "", "## References", ""]
    parts += [f"- {PAPERS[paper]}" for paper in BEHIND.get(key, [])] or ["- None: it is Tacit's own."]
    return Page(stem, _title(stem), "\n".join(parts) + "\n", picture)


ALSO = {
    "block_median": "black_boxes.sample_and_aggregate",
    "discrete_gaussian": "mechanisms.gaussian",
    "discrete_laplace": "mechanisms.laplace",
    "extensions": "mechanisms.subset_extension",
    "fallen": "black_boxes.wrap",
    "floors": "black_boxes.wrap",
    "lipschitz": "black_boxes.wrap",
    "selection": "mechanisms.repeat_and_select",
    "smooth_noises": "mechanisms.smooth_sensitivity",
    "truncated_laplace": "mechanisms.truncated_laplace",
}
"""Whose audit shows a module without one of its own."""
TITLES = {
    "aggregation": "Sample and aggregate",
    "block_median": "Median of block answers",
    "discrete_gaussian": "Discrete Gaussian noise",
    "discrete_laplace": "Discrete Laplace noise",
    "extensions": "Claimed sensitivity on few subsets",
    "fallen": "Wrapper of a monotone function",
    "floors": "Wrapper of a function",
    "lopsided": "Lopsided noise",
    "lipschitz": "Lipschitz filter",
    "noise": "Noise on an integer",
    "selection": "Best of several runs",
    "staircase": "Staircase noise",
    "truncated_laplace": "Truncated Laplace noise",
}

UNDER = (
    "The law on two neighbouring datasets of made-up persons, one of them with one person more. The promise bounds the "
    "ratio of the two at every output."
)


def _title(stem: str) -> str:
    return TITLES.get(stem, stem.replace("_", " ").capitalize())


def _functions(module: ModuleType) -> list[str]:
    """The public functions of a module that make laws or answers."""
    found = inspect.getmembers(module, inspect.isfunction)
    return [name for name, made in found if made.__module__ == module.__name__ and made in _public(name)]


def _public(name: str) -> tuple[Any, ...]:
    """What a name means where people import it from."""
    inside = (getattr(tacit.mechanisms, name),) if name in tacit.mechanisms.__all__ else ()
    return (*inside, getattr(tacit, name)) if name in OUTSIDE else inside


OUTSIDE = ("wrap", "sample_and_aggregate", "best_of")
"""What stands in `tacit` itself."""


def _imported(functions: list[str]) -> str:
    """How people import the functions of a module."""
    inside = [name for name in functions if name in tacit.mechanisms.__all__]
    outside = [name for name in functions if name not in inside]
    rooms = {"tacit.mechanisms": inside, "tacit": outside}
    lines = [f"`from {room} import {', '.join(names)}`" for room, names in rooms.items() if names]
    return "*Import* " + ", ".join(lines)


def _called(module: ModuleType, functions: list[str]) -> list[str]:
    """How the functions of a module are called: their signatures, and the examples that their docstrings have."""
    found = []
    for name in functions:
        function = getattr(module, name)
        _, _, example = (inspect.getdoc(function) or "").partition(">>> ")
        found += ["", "```python", *_signature(function), "```"]
        found += ["", "```pycon", f">>> {example}", "```"] if example else []
    return ["", "## How to call it", *found] if found else []


def _signature(function: Any) -> list[str]:
    """A signature as it is written, one parameter in a line where it is long."""
    tree = ast.parse(inspect.getsource(function)).body[0]
    assert isinstance(tree, ast.FunctionDef)
    given = "" if tree.returns is None else f" -> {ast.unparse(tree.returns)}"
    whole = ast.unparse(tree.args)
    if len(f"{tree.name}({whole}){given}") <= WIDE:
        return [f"{tree.name}({whole}){given}"]
    parts, depth = [""], 0
    for letter in whole:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [f"{tree.name}(", *(f"    {part.strip()}," for part in parts), f"){given}"]


def _headed(text: str) -> str:
    """Words in capitals at the start of a paragraph become headings."""
    headed = HEADING.sub(lambda found: f"## {found.group(1).capitalize()}\n\n", text)
    return "\n".join(line if line.startswith("    ") else _safe(line) for line in headed.splitlines())


def _safe(line: str) -> str:
    """A line whose signs are not taken for markup."""
    return re.sub(r"<(?=[A-Za-z/!])", "&lt;", line)


def _cases() -> dict[str, list[AuditCase]]:
    found: dict[str, list[AuditCase]] = {}
    for case in cases():
        found.setdefault(case.covers, []).append(case)
    return found


def _pictures(known: list[AuditCase]) -> Iterator[bytes]:
    """The laws of a neighbouring pair: exactly where they can be listed, otherwise from draws."""
    listed = [found for case in known[:FEW_CASES] if (found := _listed(case)) is not None]
    if listed:
        _, case, laws, points = max(listed, key=lambda found: found[0])
        yield _png(plots.law(laws, points, f"{case.name}, {case.promised!r}"))
    for case in known:
        draws = {name: _drawn(law) for name, law in _laws(case, _large_pairs(case)[0]).items()}
        if all(draws.values()):
            yield _png(plots.draws(draws, f"{case.name}, {case.promised!r}, {DRAWS} draws of each"))


FEW_CASES, FEW_PAIRS = 4, 8


def _listed(case: AuditCase) -> tuple[float, AuditCase, dict[str, Law[Any]], list[Any]] | None:
    """The pair of a case whose laws lie furthest apart, if their outputs are few numbers."""
    pairs = [_laws(case, pair) for pair in _large_pairs(case)]
    try:
        points = list(islice(pairs[0]["without"].outcomes(), FEW + 1))
    except TacitError:
        return None
    if len(points) > FEW or not all(hasattr(point, "__float__") for point in points):
        return None
    apart = [sum(abs(_chance(laws["without"], y) - _chance(laws[MORE], y)) for y in points) for laws in pairs]
    return max(apart), case, pairs[apart.index(max(apart))], points


def _chance(law: Law[Any], outcome: Any) -> float:
    return float(law.pmf(outcome, 64))


MORE = "with one person more"


def _large_pairs(case: AuditCase) -> list[tuple[Any, Any]]:
    """Some of the pairs with the most persons."""
    return sorted(case.pairs(case.datasets), key=lambda pair: -len(pair[0]) - len(pair[1]))[:FEW_PAIRS]


def _laws(case: AuditCase, pair: tuple[Any, Any]) -> dict[str, Law[Any]]:
    small, large = sorted(pair, key=len)
    return {"without": case.law(small), MORE: case.law(large)}


def _drawn(law: Law[Any]) -> list[float]:
    """Draws with a fixed seed, as numbers, as far as they are."""
    numbers = [_number(outcome) for outcome in law.sample(DRAWS, source=seeded_not_private(7))]
    return [number for number in numbers if number is not None]


def _number(outcome: Any) -> float | None:
    """An outcome as a number: itself, its value, its last number, or how many things it names."""
    if isinstance(outcome, NotPrivate):
        outcome = outcome.value
    if isinstance(outcome, frozenset):
        outcome = len(outcome)
    if isinstance(outcome, tuple) and hasattr(outcome, "value"):  # a share, a mean, a proposal: what it says it is
        return _number(outcome.value)
    if isinstance(outcome, tuple | list):
        return next((number for part in reversed(outcome) if (number := _number(part)) is not None), None)
    outcome = getattr(outcome, "value", outcome)
    return float(outcome) if hasattr(outcome, "__float__") else None


def _png(figure: Figure) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=110)
    return out.getvalue()
