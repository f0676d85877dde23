"""What the site adds to the written pages: mechanisms, papers, the comparison, and the order of it all."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import comparison
import figures
import mechanisms
import rooms
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from papers import PAPERS

HOW_TO = (
    "user-level-privacy",
    "choosing-epsilon",
    "sql",
    "group-by",
    "many-quantiles",
    "regression",
    "reports",
    "joins",
    "own-functions",
    "black-boxes",
    "files",
    "check",
    "command-line",
    "several-tables",
    "auditing",
    "verify",
)
"""Guides that come first; the others follow by name."""

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


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages in order."""
    docs = Path(config.docs_dir)
    guides = sorted(path.stem for path in (docs / "how-to").glob("*.md"))
    ordered = [name for name in HOW_TO if name in guides] + [name for name in guides if name not in HOW_TO]
    tutorials = sorted(path.name for path in (docs / "tutorial").glob("*.py"))
    references = sorted(path.name for path in (docs / "reference").glob("*.md"))
    config.nav = [
        {"Home": "index.md"},
        {"Tutorial": [f"tutorial/{name}" for name in tutorials]},
        {"How to": [f"how-to/{name}.md" for name in ordered]},
        {"Explanation": [f"explanation/{name}.md" for name in EXPLANATION]},
        {"Mechanisms": ["mechanisms/index.md", *(f"mechanisms/{page.name}.md" for page in _mechanisms())]},
        {"Compared with others": "comparison.md"},
        {"Reference": [f"reference/{name}" for name in references]},
        {"Glossary": "glossary.md"},
        {"Known limits": "known-limits.md"},
        {"Papers": "papers.md"},
    ]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made."""
    for page in _mechanisms():
        files.append(File.generated(config, f"mechanisms/{page.name}.md", content=page.text))
        if page.picture is not None:
            files.append(File.generated(config, f"mechanisms/{page.name}.png", content=page.picture))
    files.append(File.generated(config, "mechanisms/index.md", content=_index()))
    files.append(File.generated(config, "papers.md", content=_papers()))
    files.append(File.generated(config, "comparison.md", content=comparison.page()))
    for name, picture in figures.pictures():
        files.append(File.generated(config, f"explanation/figures/{name}.svg", content=picture))
    for stored in sorted(comparison.RESULTS.glob("*.svg")):
        files.append(File.generated(config, f"results/{stored.name}", abs_src_path=str(stored)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Put the names of its rooms into a page of the reference."""
    return rooms.filled(markdown) if page.file.src_path.startswith("reference") else markdown


def on_post_page(output: str, page: Any, config: MkDocsConfig) -> str:
    """Notebooks bring a script that would fetch from elsewhere; the site needs nothing but itself."""
    return re.sub(r"<script(?:(?!</script>).)*?cdnjs\.cloudflare\.com.*?</script>", "", output, flags=re.DOTALL)


_made: list[Any] = []


def _mechanisms() -> list[mechanisms.Page]:
    """Made once for each build."""
    if not _made:
        _made.extend(mechanisms.pages())
    return _made


def _index() -> str:
    lines = ["# Mechanisms", "", "Each page is made from the module's own words and its exact law.", ""]
    lines += [f"- [{page.title}]({page.name}.md): {page.text.splitlines()[2]}" for page in _mechanisms()]
    return "\n".join(lines) + "\n"


def _papers() -> str:
    lines = ["# Papers", "", "If Tacit helps your work, cite the papers whose mechanisms you used.", ""]
    return "\n".join([*lines, *(f"- {paper}" for paper in PAPERS.values())]) + "\n"
