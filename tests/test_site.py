"""The site: built once with strict links, complete, found by its own search, and sufficient unto itself."""

import importlib
import json
import os
import re
import subprocess
import sys
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).parent.parent
HOOKS = ROOT / "docs" / "hooks"


def test_the_site_is_built_with_strict_links(tmp_path: Path) -> None:
    """Without running the tutorials, which have a test of their own; one test, so that it is built once."""
    code = "import gc, sys; gc.set_threshold(100_000, 50, 50); sys.path.insert(0, sys.argv.pop(1)); "  # quicker
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"{code}import pages; pages.main()",
            str(HOOKS),
            "--quick",
            "--to",
            str(tmp_path / "site"),
        ],
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    pages = {page: Page.read(page) for page in (tmp_path / "site").rglob("*.html")}
    every_link_leads_somewhere(pages)
    needs_nothing_but_itself(pages)
    every_page_is_in_its_part(pages, tmp_path / "site")
    describes_every_mechanism(tmp_path / "site")
    names_everything(tmp_path / "site")
    is_found_by_its_search(tmp_path / "site")


class Page(HTMLParser):
    """What a page links to, shows and can be linked at."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()

    @classmethod
    def read(cls, path: Path) -> "Page":
        made = cls()
        made.feed(path.read_text(encoding="utf-8"))
        return made

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in ("img", "script") and "src" in given:
            self.loads.append(given["src"])
        if tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload"):
            self.loads.append(given.get("href", ""))


def every_link_leads_somewhere(pages: dict[Path, Page]) -> None:
    """Pages, pictures and anchors; what leads to other hosts is not asked for."""
    broken = []
    for path, page in pages.items():
        if path.name == "404.html":
            continue
        for link in (*page.links, *page.loads):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            place = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = place / "index.html" if place.is_dir() else place
            known = pages.get(place)
            anchor = unquote(parts.fragment)
            if not place.exists() or (anchor and known is not None and anchor not in known.anchors):
                broken.append((path.name, link))
    assert not broken, broken[:10]


def needs_nothing_but_itself(pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        assert not [load for load in page.loads if urlsplit(load).netloc], path


def every_page_is_in_its_part(pages: dict[Path, Page], site: Path) -> None:
    """The navigation has five parts beside the home page, and whatever was built stands in one of them."""
    one = site / "how-to" / "sql.html"
    listed = {(one.parent / link.split("#")[0]).resolve() for link in pages[one].links if not urlsplit(link).scheme}
    built = set(pages) - {site / "404.html", one}
    text = unescape(one.read_text(encoding="utf-8"))
    for part in ("Tutorial", "How to", "Explanation", "Reference", "Measured"):
        assert part in text, part
    assert not built - listed, built - listed


def describes_every_mechanism(site: Path) -> None:
    pages = {page.stem: page.read_text(encoding="utf-8") for page in (site / "mechanisms").glob("*.html")}
    wanted = {"threshold_scan", "scan_and_release", "shifted_inverse", "noise", "smooth_sensitivity"}
    assert wanted <= set(pages)
    for name, text in pages.items():
        if name != "index":
            assert re.search(r"<h2[^>]*>Promise", text), name
            assert re.search(r"<h2[^>]*>References", text), name
    assert wanted <= {picture.stem for picture in (site / "mechanisms").glob("*.png")}
    assert "best published" in (site / "comparison.html").read_text(encoding="utf-8")


def names_everything(site: Path) -> None:
    """Every public name of `tacit` and its rooms stands in the reference, under the name by which it is imported."""
    rooms = hook("rooms")
    pages = [page.read_text(encoding="utf-8") for page in (site / "reference").glob("*.html")]
    shown = {name for page in pages for name in re.findall(r'id="(tacit\.[\w.]+)"', page)}
    for room in rooms.ROOMS:
        names = rooms.homes(room).items()
        missing = [name for name, home in names if not {f"{home}.{name}", f"{room}.{name}"} & shown]
        assert not missing, f"{room}: {missing}"
    assert len(rooms.homes("tacit.mechanisms")) == len(importlib.import_module("tacit.mechanisms").__all__)
    whole = "".join(pages)
    for name in ("tacit.Session", "tacit.read", "tacit.Pure", "tacit.mechanisms.shifted_inverse"):
        assert re.search(rf"<h3[^>]*>(?:(?!</h3>).)*?\b{re.escape(name)}\b", whole, re.DOTALL), name


WANTED = {
    "choose epsilon": "how-to/choosing-epsilon.html",
    "date_trunc": "how-to/sql-functions.html",
    "migrate": "how-to/coming-from.html",
    "publish every year": "how-to/publishing.html",
    "assistants mcp": "how-to/assistants.html",
    "encoding csv": "how-to/csv.html",
    "opendp": "how-to/from-opendp.html",
    "graph": "tutorial/4-graph.html",
    "install": "how-to/install.html",
    "join": "how-to/joins.html",
    "δ": "reference/costs.html",
    "group by": "how-to/group-by.html",
    "spark": "how-to/spark.html",
    "excel": "how-to/files.html",
    "histogram": "how-to/many-quantiles.html",
    "kubernetes": "how-to/serve-ways.html",
    "deploy": "how-to/serve-ways.html",
    "error": "reference/errors.html",
    "null": "reference/sql-functions.html",
    "quick start": "tutorial/1-first-answers.html",
}


def is_found_by_its_search(site: Path) -> None:
    """By plain counting in the index, the right page is among the best three for what people look for."""
    items = json.loads((site / "search.json").read_text(encoding="utf-8"))["items"]
    for query, page in WANTED.items():
        words = query.replace("_", " ").split()
        scores: dict[str, float] = {}
        for item in items:
            title, text = (" ".join(item[name].lower().replace("_", " ").split()) for name in ("title", "text"))
            if all(word in f"{title} {text}" for word in words):
                score = sum(20 * (word in title) + text.count(word) / (5 + len(text.split()) ** 0.5) for word in words)
                place = item["location"].split("#")[0]
                scores[place] = max(score, scores.get(place, 0))
        best = sorted(scores, key=lambda place: -scores[place])[:3]
        assert page in best, (query, best)


def hook(name: str) -> Any:
    if str(HOOKS) not in sys.path:
        sys.path.insert(0, str(HOOKS))
    return importlib.import_module(name)


def test_every_guide_has_its_place() -> None:
    pages = hook("pages")
    listed = [name for names in pages.HOW_TO.values() for name in names]
    assert sorted(listed) == sorted(path.stem for path in (ROOT / "docs" / "how-to").glob("*.md"))
    assert sorted(pages.EXPLANATION) == sorted(path.stem for path in (ROOT / "docs" / "explanation").glob("*.md"))
    assert pages.toml([{"Home": "a.md"}, {"Part": ["b.md", {"Sub": ["c.md"]}]}]) == (
        '[{ "Home" = "a.md" }, { "Part" = ["b.md", { "Sub" = ["c.md"] }] }]'
    )


def test_a_tutorial_becomes_markdown(tmp_path: Path) -> None:
    place = tmp_path / "t.py"
    place.write_text(
        '# ---\n# head\n# ---\n\n# %% [markdown]\n# # Title\n#\n# Words.\n\n# %%\nprint("<a>\\n\\nb")\n1 + 1\n'
    )
    text, pictures = hook("notebooks").markdown(place)
    assert text.startswith("# Title\n\nWords.\n\n```python\nprint(")
    assert '<pre class="output"><code>&lt;a&gt;\n&#8203;\nb</code></pre>' in text
    assert text.endswith('<pre class="output"><code>2</code></pre>\n')
    assert not pictures
    assert "output" not in hook("notebooks").markdown(place, run=False)[0]


def test_words_are_spelt() -> None:
    places = ["docs", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "benchmarks/RESULTS.md"]
    done = subprocess.run(
        [sys.executable, "-m", "codespell_lib", *places], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_links_of_pages_beside_the_site_lead_somewhere() -> None:
    for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"):
        for link in re.findall(r"\]\(([^)#\s]+)", (ROOT / name).read_text(encoding="utf-8")):
            assert urlsplit(link).scheme or (ROOT / link).exists(), (name, link)


def test_every_instruction_installs_what_is_ours() -> None:
    """The package index has another project called tacit."""
    files = [
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "src").rglob("*.py"),
        *(ROOT / "deploy").iterdir(),
        ROOT / "README.md",
    ]
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"pip install[^\n]{0,12}['\" ]tacit['\"\s]|[ '\"]tacit\[[a-z]", text), path
    for path in (ROOT / "README.md", ROOT / "docs" / "index.md"):
        assert "pip install tacit-dp" in path.read_text(encoding="utf-8")


def test_tables_of_the_readme_are_short() -> None:
    tables = re.findall(r"(?:^\|.*\n)+", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(tables) >= 3
    assert all(table.count("\n") <= 6 for table in tables)
