"""Every block of code in the README and the documentation runs; what the README claims is what the studies stored."""

import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tacit.audit.registry import cases
from tacit.black_boxes import isolation
from tacit.cli.app import run as main
from tacit.data import WAGES
from tests.spark import QUICK, REQUIRED, needed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TUTORIALS = sorted((ROOT / "docs" / "tutorial").glob("*.py"))
BLOCK = re.compile(r"^(```|~~~)(\w+)[^\n]*\n(.*?)^\1", re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str) -> list[str]:
    return [code for _, kind, code in BLOCK.findall(page.read_text(encoding="utf-8")) if kind == language]


def with_blocks(language: str) -> list[Path]:
    """Pages whose blocks run here; a guide that another test names is run there, beside the server that it needs."""
    others = [test for test in Path(__file__).parent.rglob("test_*.py") if test != Path(__file__)]
    named = "".join(test.read_text(encoding="utf-8") for test in others)
    elsewhere = [page for page in PAGES if page.stem == "spark" or f'"how-to" / "{page.name}"' in named]
    return [page for page in PAGES if blocks(page, language) and page not in elsewhere]


def run(arguments: list[str], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name != "TACIT_LEDGER"}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**clean, "MPLBACKEND": "agg", **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("page", with_blocks("python"), ids=lambda page: str(page.relative_to(ROOT)))
def test_python_of_a_page_runs_from_top_to_bottom(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process, except where functions are sent to others, which need a script to find them in."""
    code = "\n\n".join(blocks(page, "python"))
    if page.name == "black-boxes.md" and not REQUIRED and not isolation().available:
        pytest.skip("not run: calls cannot be kept apart on this system")
    if "def " not in code:
        monkeypatch.chdir(tmp_path)
        exec(compile(code, str(page), "exec"), {"__name__": "page"})
        return
    (tmp_path / "page.py").write_text(code, encoding="utf-8")
    done = run(["page.py"], tmp_path)
    assert done.returncode == 0, done.stderr


@needed
def test_the_guide_to_spark_runs(spark: "SparkSession", tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    orders = spark.createDataFrame([(n % 9, n % 2, 1.5) for n in range(40)], "customer int, item int, amount double")
    orders.write.parquet(str(tmp_path / "orders"))
    orders.createOrReplaceTempView("guide_orders")
    spark.createDataFrame([(0, 2), (1, 3)], "id int, weight int").createOrReplaceTempView("guide_product")
    places = {"s3a://shop/orders": str(tmp_path / "orders"), "lake.sales.": "guide_"}
    code = "\n\n".join(blocks(ROOT / "docs" / "how-to" / "spark.md", "python"))
    for told, real in places.items():
        assert told in code
        code = code.replace(told, real)
    for name, value in QUICK.items():
        spark.conf.set(name, value)
    try:
        exec(compile(code, "spark.md", "exec"), {"__name__": "page"})
    finally:
        for name in QUICK:
            spark.conf.unset(name)
    assert capsys.readouterr().out.count("Protects any one customer") == 2


def commands(page: Path) -> Iterator[list[str]]:
    """What follows a dollar sign, lines that end with a backslash joined; only the tool itself is run."""
    for code in blocks(page, "console"):
        for line in code.replace("\\\n", " ").splitlines():
            if line.startswith("$ tacit "):
                yield shlex.split(line)[2:]


@pytest.mark.parametrize("page", with_blocks("console"), ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_of_a_page_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """In this process, as starting one takes a second; tests/cli starts real ones."""
    shutil.copy(WAGES, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TACIT_LEDGER", raising=False)
    for command in commands(page):
        assert main(command) == 0, (command, capfd.readouterr().err)


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_runs(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the site shows it, cell by cell."""
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "hooks"))
    text, _ = importlib.import_module("notebooks").markdown(page)
    assert '<pre class="output">' in text


def test_commands_in_the_table_of_sources_name_what_exists() -> None:
    """Pages, tests, benchmarks and mechanisms; the pages' own blocks run above."""
    explanation = ROOT / "docs" / "explanation"
    written = (explanation / "sources.md").read_text(encoding="utf-8")
    rows = [line for line in written.splitlines() if line.startswith("| ")]
    text = "\n".join(rows)
    assert len(rows) >= 60
    assert all(line.replace(r"\|", "").count("|") == 5 for line in rows)
    for page in re.findall(r"`page ([\w-]+)`", text):
        assert (explanation / f"{page}.md").exists(), page
    for path in re.findall(r"`(?:pytest|python) ([\w/]+\.py)`", text):
        assert (ROOT / path).exists(), path
    for name in re.findall(r"`tacit audit (\w+)`", text):
        assert any(name in case.covers for case in cases()), name


def test_the_readme_says_and_shows_what_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "hooks"))
    comparison = importlib.import_module("comparison")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme.count("<!-- end -->") == 4
    assert comparison.sums(comparison.SHORT) in readme
    assert comparison.readme(readme) == readme, "run python docs/hooks/comparison.py"
    comparison.draw_sums(tmp_path / "sums.svg")
    stored = ROOT / "docs" / "images" / "sums.svg"
    assert (tmp_path / "sums.svg").read_text() == stored.read_text(), "run python docs/hooks/comparison.py"
