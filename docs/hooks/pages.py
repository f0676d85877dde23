"""The site: all pages as plain Markdown in one folder, their order, and the generator that makes HTML of them.

    python docs/hooks/pages.py [--to site] [--quick]

What a page needs beyond Markdown is done here, so that any generator would do: mechanisms, papers and the comparison
are written, tutorials are run and become Markdown, rooms of the reference are filled in. ``--quick`` does not run the
tutorials and draws few pictures: for a check of links.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import comparison
import figures
import mechanisms
import notebooks
import rooms
from papers import PAPERS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
HOW_TO = {
    "Begin": ("install", "describe", "choosing-epsilon"),
    "Ask": (
        *("user-level-privacy", "sql", "sql-functions", "persons", "group-by"),
        *("many-quantiles", "regression", "reports", "series", "subsampling", "choosing-a-method"),
    ),
    "Bring data": ("files", "csv", "check", "several-tables", "joins", "postgresql", "spark", "over-time"),
    "The command line": ("command-line",),
    "Publish": ("publishing",),
    "Serve others": ("first-answer", "serve", "serve-custodian", "serve-ways", "assistants"),
    "Functions of your own": ("own-functions", "black-boxes", "local-sensitivities", "repeat-and-never-fail"),
    "Trust": ("budgets", "auditing", "verify", "proofs"),
    "Coming from": (
        *("coming-from", "from-opendp", "from-tumult", "from-pipelinedp", "from-diffprivlib"),
        *("from-smartnoise", "from-bigquery"),
    ),
}
"""Guides, by what somebody has in mind."""

EXPLANATION = (
    "index",
    "sensitivities",
    "inverse-sensitivity",
    "lower-bounds",
    "ratios",
    "wrappers",
    "selection",
    "sampling-and-failing",
    "composition",
    "sources",
)
"""The story, in the order in which it is told."""


def nav(made: list[mechanisms.Page]) -> list[Any]:
    """The order of all pages, in five parts."""
    tutorials = sorted(path.stem for path in (DOCS / "tutorial").glob("*.py"))
    references = sorted(path.stem for path in (DOCS / "reference").glob("*.md"))
    return [
        {"Home": "index.md"},
        {"Tutorial": [f"tutorial/{name}.md" for name in tutorials]},
        {
            "How to": [
                "how-to/index.md",
                *({part: [f"how-to/{name}.md" for name in names]} for part, names in HOW_TO.items()),
            ]
        },
        {
            "Explanation": [
                {"The story": [f"explanation/{name}.md" for name in EXPLANATION]},
                {"Mechanisms": ["mechanisms/index.md", *(f"mechanisms/{page.name}.md" for page in made)]},
                {"Known limits": "known-limits.md"},
                {"Papers": "papers.md"},
            ]
        },
        {"Reference": [*(f"reference/{name}.md" for name in references), "glossary.md"]},
        {"Measured": ["comparison.md", "results.md"]},
    ]


def write(folder: Path, *, quick: bool = False) -> list[Any]:
    """All pages in a folder, and their order."""
    shutil.copytree(DOCS, folder, ignore=shutil.ignore_patterns("hooks", "*.py", "__pycache__"), dirs_exist_ok=True)
    made = list(mechanisms.pages(DRAWN if quick else None))
    for name, content in _made(made, quick=quick):
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            place.write_bytes(content)
        else:
            place.write_text(content, encoding="utf-8")
    for page in (folder / "reference").glob("*.md"):
        page.write_text(rooms.filled(page.read_text(encoding="utf-8")), encoding="utf-8")
    return nav(made)


DRAWN = ("threshold_scan", "scan_and_release", "shifted_inverse", "noise", "smooth_sensitivity")
"""The mechanisms that have a picture in a quick build, too."""


def _made(pages: list[mechanisms.Page], *, quick: bool) -> Iterator[tuple[str, str | bytes]]:
    """Pages and pictures that nobody writes."""
    for page in pages:
        yield f"mechanisms/{page.name}.md", page.text
        if page.picture is not None:
            yield f"mechanisms/{page.name}.png", page.picture
    yield "mechanisms/index.md", _index(pages)
    yield "how-to/index.md", _guides()
    yield "papers.md", _papers()
    yield "comparison.md", comparison.page()
    yield "results.md", (comparison.RESULTS.parent / "RESULTS.md").read_text(encoding="utf-8")
    for name, picture in figures.pictures():
        yield f"explanation/figures/{name}.svg", picture
    for stored in sorted(comparison.RESULTS.glob("*.svg")):
        yield f"results/{stored.name}", stored.read_bytes()
    for tutorial in sorted((DOCS / "tutorial").glob("*.py")):
        text, pictures = notebooks.markdown(tutorial, run=not quick)
        yield f"tutorial/{tutorial.stem}.md", text
        for name, picture in pictures.items():
            yield f"tutorial/{name}", picture


def _index(pages: list[mechanisms.Page]) -> str:
    lines = ["# Mechanisms", "", "Each page is made from the module's own words and its exact law.", ""]
    lines += [f"- [{page.title}]({page.name}.md): {page.text.splitlines()[2]}" for page in pages]
    return "\n".join(lines) + "\n"


def _guides() -> str:
    """All guides, each with what its reader will do, as its first sentence says."""
    lines = ["# Guides", "", "Pick what you want to do; every block of code in a guide runs as it stands."]
    for part, names in HOW_TO.items():
        lines += ["", f"## {part}", ""]
        for name in names:
            title, promise = opening(DOCS / "how-to" / f"{name}.md")
            lines.append(f"- [{title}]({name}.md): {promise}")
    return "\n".join(lines) + "\n"


def opening(guide: Path) -> tuple[str, str]:
    """The title of a guide and what its reader will do: its first paragraph says "You will …"."""
    found = re.search(r"^# (.+)\n\nYou will (.+?)\n\n", guide.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    if found is None:
        raise ValueError(f"{guide.name} begins with a title and what the reader will have done: 'You will …'")
    return found[1], " ".join(found[2].split())


def _papers() -> str:
    lines = ["# Papers", "", "If Tacit helps your work, cite the papers whose mechanisms you used.", ""]
    return "\n".join([*lines, *(f"- {paper}" for paper in PAPERS.values())]) + "\n"


def toml(order: Any) -> str:
    """An order of pages as TOML."""
    if isinstance(order, dict):
        return ", ".join(f'{{ "{name}" = {toml(pages)} }}' for name, pages in order.items())
    return f'"{order}"' if isinstance(order, str) else "[" + ", ".join(map(toml, order)) + "]"


def build(site: Path, *, quick: bool = False) -> None:
    """Write the pages beside the configuration, and have HTML made of them; a broken link ends it."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        order = write(place / "docs", quick=quick)
        settings = (ROOT / "zensical.toml").read_text(encoding="utf-8").replace('"src"', f'"{ROOT / "src"}"')
        settings = settings.replace("docs/hooks/", f"{Path(__file__).parent}/")
        head = f"[project]\nnav = {toml(order)}\n"
        (place / "zensical.toml").write_text(settings.replace("[project]\n", head, 1), encoding="utf-8")
        code = "import gc; gc.set_threshold(100_000, 50, 50); from zensical.main import cli; cli()"  # quicker
        command = [sys.executable, "-c", code, "build", "--strict", "--config-file", str(place / "zensical.toml")]
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stdout + done.stderr)
        shutil.copytree(place / "site", site, dirs_exist_ok=True)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--to", type=Path, default=ROOT / "site")
    parser.add_argument("--quick", action="store_true", help="do not run tutorials, draw few pictures")
    given = parser.parse_args()
    build(given.to, quick=given.quick)


if __name__ == "__main__":
    main()
