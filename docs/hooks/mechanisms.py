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
from collections.abc import Iterator
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
from tacit.audit.registry import Case, cases
from tacit.errors import TacitError
from tacit.mechanisms.law import Law
from tacit.randomness import seeded_not_private
from tacit.randomness.source import NotPrivate

SOURCE = Path(tacit.mechanisms.__file__).parent.parent
HEADING = re.compile(r"^([A-Z]{4,}(?: [A-Z]+)*)\.?(?: {1,2}|: |\n)(?=\S)", re.MULTILINE)
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


def pages() -> Iterator[Page]:
    """Every module of mechanisms that states a promise."""
    known = _cases()
    for folder in ("mechanisms", "black_boxes"):
        for path in sorted((SOURCE / folder).glob("*.py")):
            docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            if re.search(r"^PROMISE", docstring, re.MULTILINE) and path.stem not in HELPERS:
                yield _page(folder, path.stem, docstring, known)


HELPERS = ("alternating_series", "ratio_local")
"""Modules that only other mechanisms use."""


def _page(folder: str, stem: str, docstring: str, known: dict[str, list[Case]]) -> Page:
    first, _, rest = docstring.partition("\n\n")
    sentence = " ".join(first.split())
    module = import_module(f"tacit.{folder}.{stem}")
    functions = _functions(module)
    picture = next((drawn for name in functions for drawn in _pictures(known.get(f"{folder}.{name}", []))), None)
    key = stem if folder == "mechanisms" else f"{folder}.{stem}"
    parts = [f"# {_title(stem)}", "", sentence, "", f"*Module* `tacit.{folder}.{stem}`"]
    if functions:
        parts[-1] += ", *functions* " + ", ".join(f"`{name}`" for name in functions)
    if picture is not None:
        parts += ["", "## Picture", "", f"![The law on two neighbouring datasets]({stem}.png)", "", UNDER]
    parts += ["", _headed(rest), "", "## References", ""]
    parts += [f"- {PAPERS[paper]}" for paper in BEHIND.get(key, [])] or ["- None: it is Tacit's own."]
    return Page(stem, _title(stem), "\n".join(parts) + "\n", picture)


UNDER = (
    "The law on two neighbouring datasets of made-up persons, one of them with one person more. The promise bounds the "
    "ratio of the two at every output."
)


def _title(stem: str) -> str:
    return stem.replace("_", " ").capitalize()


def _functions(module: ModuleType) -> list[str]:
    """The public functions of a module that make laws or answers."""
    found = inspect.getmembers(module, inspect.isfunction)
    public = set(tacit.mechanisms.__all__) | {"wrap", "sample_and_aggregate", "best_of"}
    return [name for name, function in found if function.__module__ == module.__name__ and name in public]


def _headed(text: str) -> str:
    """Words in capitals at the start of a paragraph become headings."""
    headed = HEADING.sub(lambda found: f"## {found.group(1).capitalize()}\n\n", text)
    return "\n".join(line if line.startswith("    ") else _safe(line) for line in headed.splitlines())


def _safe(line: str) -> str:
    """A line whose signs are not taken for markup."""
    return re.sub(r"<(?=[A-Za-z/!])", "&lt;", line)


def _cases() -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = {}
    for case in cases():
        found.setdefault(case.covers, []).append(case)
    return found


def _pictures(known: list[Case]) -> Iterator[bytes]:
    """The laws of a neighbouring pair: exactly for the first case that a picture can show, otherwise from draws."""
    pairs = {case.name: _largest_pair(case) for case in known}
    for case in known:
        laws = {name: case.law(dataset) for name, dataset in pairs[case.name].items()}
        try:
            points = list(islice(next(iter(laws.values())).outcomes(), FEW + 1))
            if len(points) <= FEW and all(hasattr(point, "__float__") for point in points):
                yield _png(plots.law(laws, points, f"{case.name}, {case.promised!r}"))
        except TacitError:
            continue
    for case in known:
        draws = {name: _drawn(case.law(dataset)) for name, dataset in pairs[case.name].items()}
        if all(draws.values()):
            yield _png(plots.draws(draws, f"{case.name}, {case.promised!r}, {DRAWS} draws of each"))


def _largest_pair(case: Case) -> dict[str, Any]:
    largest: tuple[Any, Any] = max(case.pairs(case.datasets), key=lambda pair: len(pair[0]) + len(pair[1]))
    small, large = sorted(largest, key=len)
    return {"without": small, "with one person more": large}


def _drawn(law: Law[Any]) -> list[float]:
    """Draws with a fixed seed, as numbers, as far as they are."""
    numbers = [_number(outcome) for outcome in law.sample(DRAWS, source=seeded_not_private(7))]
    return [number for number in numbers if number is not None]


def _number(outcome: Any) -> float | None:
    """An outcome as a number: itself, its value, or its first part."""
    if isinstance(outcome, NotPrivate):
        outcome = outcome.value
    if isinstance(outcome, tuple | list):
        outcome = next(iter(outcome), None)
    outcome = getattr(outcome, "value", outcome)
    return float(outcome) if hasattr(outcome, "__float__") else None


def _png(figure: Figure) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=110)
    return out.getvalue()
