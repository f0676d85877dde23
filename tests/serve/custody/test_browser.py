"""The custodian in a real browser: from a first start to an analyst's first answer, an approval, and a revocation.

With TACIT_SCREENSHOTS naming a folder, pictures for the documentation are written there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serve.support import people, serving

playwright = pytest.importorskip("playwright.sync_api")
from axe_playwright_python.sync_playwright import Axe  # noqa: E402
from playwright.sync_api import Browser, Page, expect, sync_playwright  # noqa: E402

from tests.serve.test_browser import CHROMIUM, FLAGS, ask, enter, follow  # noqa: E402

PICTURES = os.environ.get("TACIT_SCREENSHOTS")
SUM = "SELECT SUM(minutes)\nFROM visits"
SIZES = {390: 844, 820: 1180, 1440: 900}
SHOWN = ("budget", "overview", "requests", "analysts", "datasets", "log")
"""The states that the documentation shows."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as found:
        launched = found.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield launched
        launched.close()


def visitor(browser: Browser, address: str, token: str) -> Page:
    """A browser of their own, logged in."""
    page = browser.new_context(viewport={"width": 1000, "height": 900}).new_page()
    page.set_default_timeout(200_000)
    enter(page, address, token)
    return page


def look(page: Page, name: str) -> None:
    """No violation of accessibility, no line wider than a phone; pictures where they are wanted."""
    results = Axe().run(page)
    assert results.violations_count == 0, results.generate_report()
    wide = page.viewport_size
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    if PICTURES and name in SHOWN:
        from tests.serve.screenshots import keep

        for width, height in SIZES.items():
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                page.set_viewport_size({"width": width, "height": height})
                keep(page, Path(PICTURES), f"custodian-{name}-{width}-{scheme}")
        page.emulate_media(color_scheme="light")
    assert wide is not None
    page.set_viewport_size(wide)


def confirm(page: Page) -> None:
    follow(page.get_by_role("button", name="Yes, do it"))
    expect(page.get_by_role("heading", name="Done")).to_be_visible()


def test_from_a_first_start_to_an_answer_an_approval_and_the_end(tmp_path: Path, browser: Browser) -> None:
    people(tmp_path)
    with serving(folder=tmp_path) as served:
        page = visitor(browser, served.address, served.tokens["custodian"])
        expect(page).to_have_url(re.compile("/custodian/start$"))
        page.get_by_label("A file, or the address").fill("nothing.csv")
        follow(page.get_by_role("button", name="Look at it"))
        expect(page.get_by_role("alert")).to_be_visible()
        look(page, "start")
        page.get_by_label("A file, or the address").fill("visits.csv")
        follow(page.get_by_role("button", name="Look at it"))
        expect(page.get_by_label("Which column says whom")).to_have_value("who")
        look(page, "person")
        follow(page.get_by_role("button", name="Look at the persons"))
        expect(page.get_by_text("200 persons by who")).to_be_visible()
        look(page, "budget")
        page.get_by_label("ε = 4").check()
        follow(page.get_by_role("button", name="Go on"))
        expect(page.locator("#confirm")).to_contain_text("with ε = 4 for all questions")
        look(page, "confirm")
        confirm(page)
        follow(page.get_by_role("link", name="Invite an analyst"))
        page.get_by_label("Name").fill("ada")
        page.locator("#invite-epsilon").fill("1")
        follow(page.get_by_role("button", name="Invite"))
        confirm(page)
        token = page.get_by_label("The token, for them alone").input_value()
        look(page, "token")

        ada = visitor(browser, served.address, token)
        expect(ask(ada, SUM, "0.5")).to_contain_text("sum of minutes", ignore_case=True)
        ask(ada, SUM, "2")
        ada.get_by_label("Why you need it").fill("for the yearly report")
        follow(ada.get_by_role("button", name="Ask the custodian"))
        expect(ada.locator("#requests")).to_contain_text("open")

        page.goto(f"{served.address}/custodian")
        look(page, "overview")
        follow(page.get_by_role("link", name="1 waiting for approval"))
        expect(page.get_by_text("for the yearly report")).to_be_visible()
        look(page, "requests")
        follow(page.get_by_role("button", name="Approve once"))
        confirm(page)
        expect(ask(ada, SUM, "2")).to_contain_text("sum of minutes", ignore_case=True)
        expect(ada.locator(".budget")).to_contain_text("ε = 0.5 of ε = 1")

        follow(page.get_by_role("link", name="Analysts"))
        look(page, "analysts")
        page.locator("#require-approval-epsilon").fill("0.2")
        follow(page.get_by_role("button", name="Require approval"))
        confirm(page)
        expect(ask(ada, SUM, "0.3")).to_contain_text("A person must approve it first")
        follow(page.get_by_role("link", name="Go on"))
        expect(page.get_by_role("cell", name="above ε = 0.2 with approval")).to_be_visible()
        follow(page.get_by_role("button", name="Withdraw"))
        confirm(page)
        ada.goto(f"{served.address}/datasets/visits")
        expect(ada.get_by_text("there is no dataset of that name for you")).to_be_visible()
        follow(page.get_by_role("link", name="Go on"))
        page.locator("#set-limit-epsilon").fill("1")
        follow(page.get_by_role("button", name="Set a limit"))
        confirm(page)
        ada.goto(f"{served.address}/datasets/visits")
        follow(page.get_by_role("link", name="Go on"))
        follow(page.get_by_role("button", name="Pause"))
        confirm(page)
        follow(ada.get_by_role("button", name="Ask and pay"))
        expect(ada.get_by_text("the custodian has paused your access")).to_be_visible()
        follow(page.get_by_role("link", name="Go on"))
        cell = page.get_by_role("cell", name="Pause Revoke").or_(page.get_by_role("cell", name="Resume Revoke"))
        follow(cell.get_by_role("button", name="Revoke"))
        expect(page.locator("#confirm")).to_contain_text("This cannot be undone")
        confirm(page)
        ada.goto(served.address)
        expect(ada).to_have_url(re.compile("/login$"))
        follow(page.get_by_role("link", name="Datasets"))
        look(page, "datasets")
        follow(page.get_by_role("link", name="Log", exact=True))
        expect(page.get_by_text("nothing is missing")).to_be_visible()
        look(page, "log")
