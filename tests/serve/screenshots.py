"""`python -m tests.serve.screenshots docs/images`: pictures of the gateway's pages for the documentation.

Of the demo at three widths, light and dark, then single states; those of a custodian's first hour are made by the test
that walks through it. Colours are reduced so that the files stay small.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from tests.serve.support import Served, serving
from tests.serve.test_browser import CHROMIUM, FLAGS, ask, follow, log_in, write

SIZES = {390: 1300, 820: 1180, 1440: 960}
COLOURS = 48
YEARS = "1968, 1970, 1971, 1972, 1973, 1975, 1977, 1978, 1980, 1982, 1983, 1985, 1987, 1988"
BY_YEAR = f"""SELECT year, COUNT(*) AS interviews, AVG(wage) AS mean_wage
FROM wages
WHERE year IN ({YEARS})
GROUP BY year"""
BY_INDUSTRY = """SELECT name AS industry, COUNT(DISTINCT woman) AS women
FROM wages JOIN industries ON industry = code
GROUP BY name"""


def keep(page: Page, folder: Path, name: str) -> None:
    """A picture of what the window shows, in few colours."""
    path = folder / f"{name}.png"
    page.screenshot(path=path, animations="disabled")
    Image.open(path).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


def keep_all(page: Page, folder: Path, name: str) -> None:
    """Pictures of one state at every width, light and dark."""
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for width, height in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        for scheme in schemes:
            page.emulate_media(color_scheme=scheme)
            page.evaluate("scrollTo(0, 0)")
            keep(page, folder, f"{name}-{width}-{scheme}")
    page.emulate_media(color_scheme="light")


def take(page: Page, served: Served, folder: Path) -> None:
    """Walk through the page."""
    page.goto(served.address)
    page.set_viewport_size({"width": 820, "height": 480})
    keep(page, folder, "serve-login")
    keep_all(page, folder, "serve-login")
    log_in(page, served, "ada")
    page.locator("#preview ul").wait_for()
    began = page.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
    print(f"usable {began:.0f} ms after it was asked for")
    page.get_by_text("Build a question").click()
    page.get_by_label("the", exact=True).select_option("mean")
    page.get_by_label("of the column").select_option("wage")
    page.get_by_label("value of").select_option("college")
    page.locator("#preview").get_by_text("in each of 2 groups").wait_for()
    page.set_viewport_size({"width": 1440, "height": 960})
    keep(page, folder, "serve-builder")
    keep_all(page, folder, "serve-builder")
    ask(page, "SELECT AVG(wage) FROM wages", "0.5")
    page.set_viewport_size({"width": 820, "height": 620})
    page.evaluate("document.getElementById('answer').scrollIntoView()")
    keep(page, folder, "serve-answer")
    keep_all(page, folder, "serve-answer")
    ask(page, BY_YEAR, "1")
    keep_all(page, folder, "serve")
    ask(page, BY_INDUSTRY, "1")
    page.set_viewport_size({"width": 820, "height": 860})
    page.evaluate("document.getElementById('answer').scrollIntoView()")
    keep(page, folder, "serve-groups")
    keep_all(page, folder, "serve-groups")
    ask(page, "SELECT AVG(wage) FROM wages WHERE college", "0.5")
    page.goto(f"{served.address}/datasets/wages/history")
    for box in (page.get_by_role("checkbox").first, page.get_by_role("checkbox").last):
        box.check()
    keep(page, folder, "serve-history")
    keep_all(page, folder, "serve-history")
    follow(page.get_by_role("button", name="Compare two"))
    page.set_viewport_size({"width": 1100, "height": 800})
    page.evaluate("scrollTo(0, 0)")
    keep(page, folder, "serve-compare")
    keep_all(page, folder, "serve-compare")
    page.goto(f"{served.address}/datasets/wages")
    page.set_viewport_size({"width": 820, "height": 560})
    write(page, "SELECT SUM(wage) FROM wages", "9")
    page.locator("#preview .bad").wait_for()
    page.locator("#preview ul").wait_for()
    page.locator("#preview").scroll_into_view_if_needed()
    keep(page, folder, "serve-refused")
    keep_all(page, folder, "serve-refused")
    page.context.clear_cookies()
    log_in(page, served, "custodian")
    follow(page.get_by_role("link", name="Verify the ledger of wages"))
    page.set_viewport_size({"width": 1100, "height": 1000})
    page.evaluate("scrollTo(0, 0)")
    keep(page, folder, "serve-custodian")


def main() -> None:
    """Make all of them in a folder."""
    folder = Path(sys.argv[1])
    with serving("--demo") as served, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_context(viewport={"width": 1440, "height": 960}).new_page()
        page.set_default_timeout(120_000)
        take(page, served, folder)
        browser.close()
    walk = [sys.executable, "-m", "pytest", "-q", "tests/serve/custody/test_browser.py"]
    subprocess.run(walk, env=os.environ | {"TACIT_SCREENSHOTS": str(folder.absolute())}, check=True)


if __name__ == "__main__":
    main()
