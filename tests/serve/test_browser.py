"""The page in a real browser: first visit to first answer, refusal, the custodian's view, keyboard alone, no script.

With TACIT_SCREENSHOTS naming a folder, pictures for the documentation are written there.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.postgres import REQUIRED
from tests.serve.support import Served, serving

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None and not REQUIRED:
    pytest.skip("not run: there is no chromium on this machine", allow_module_level=True)

expect.set_options(timeout=100_000)
FLAGS = [
    "--no-sandbox",
    "--headless=new",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PICTURES = os.environ.get("TACIT_SCREENSHOTS")


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serving("--demo") as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that allows no mistake of its own: neither in the script nor against the content policy."""
    context = browser.new_context(viewport={"width": 1000, "height": 900})
    found = context.new_page()
    found.set_default_timeout(30_000)
    said: list[str] = []
    found.on("pageerror", lambda error: said.append(str(error)))
    found.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    yield found
    context.close()
    assert [text for text in said if "status of 4" not in text] == []


def picture(page: Page, name: str, *, full: bool = False) -> None:
    if PICTURES:
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=Path(PICTURES) / f"{name}.png", full_page=full)


def log_in(page: Page, served: Served, name: str) -> None:
    page.goto(served.address)
    page.get_by_label("Your token").fill(served.tokens[name])
    page.get_by_role("button", name="Log in").click()


def test_a_demo_is_usable_within_seconds(served: Served) -> None:
    assert served.work < 5  # on a quiet machine this is the time to the page; other tests do not make it longer


def test_first_visit_to_first_answer(served: Served, page: Page) -> None:
    page.goto(served.address)
    expect(page).to_have_url(re.compile("/login$"))
    picture(page, "serve-login")
    log_in(page, served, "ada")
    expect(page.get_by_role("heading", name="wages", level=1)).to_be_visible()
    expect(page.get_by_text("weeks_unemployed").first).to_be_attached()
    page.get_by_text("Build a question").click()
    page.get_by_label("What", exact=True).select_option("mean")
    page.get_by_label("of the column").select_option("wage")
    page.get_by_label("only rows where").fill("age < 30")
    page.get_by_role("button", name="Write it as SQL").click()
    sql = page.get_by_label("Question, as SQL")
    expect(sql).to_have_value("SELECT AVG(wage)\nFROM wages\nWHERE age < 30")
    page.get_by_label("private ←").fill("40")  # the slider: 0.01 · 1000^(40/60)
    expect(page.get_by_label("ε", exact=True)).to_have_value("1")
    expect(page.locator("#preview")).to_contain_text("mean of wage: costs Pure(1)", ignore_case=True)
    expect(page.locator("#preview")).to_contain_text("in 19 of 20 answers")
    picture(page, "serve-preview")
    page.get_by_role("button", name="Ask and pay").click()
    answer = page.locator("#answer")
    expect(answer).to_contain_text("Mean of wage, over all rows")
    expect(answer).to_contain_text("Protects any one woman with all their rows with Pure(1)")
    expect(answer.locator("svg.interval circle")).to_be_visible()
    expect(answer).to_be_focused()
    picture(page, "serve-answer")
    expect(page.locator(".budget")).to_contain_text("ε = 4 of ε = 5")
    page.reload()  # the browser sends the form again: the same key, so nothing more is charged
    expect(page.locator(".budget")).to_contain_text("ε = 4 of ε = 5")
    page.get_by_label("Question, as SQL").fill(
        "SELECT name, COUNT(*) FROM wages JOIN industries ON industry = code GROUP BY name"
    )
    page.get_by_role("button", name="Ask and pay").click()
    expect(page.locator("#answer svg.small")).to_have_count(12)
    picture(page, "serve-groups", full=True)
    page.get_by_role("link", name=re.compile("^answer")).last.click()
    expect(page.get_by_text("returned at no cost")).to_be_visible()
    page.go_back()
    with page.expect_download() as download:
        page.get_by_role("link", name="A Python script").click()
    text = Path(download.value.path()).read_text()
    assert "session.sql('SELECT AVG(wage)" in text
    assert served.tokens["ada"] not in text + page.content()


def test_a_spent_budget_refuses(served: Served, page: Page) -> None:
    log_in(page, served, "grace")
    page.get_by_label("ε", exact=True).fill("2")
    page.get_by_role("button", name="Ask and pay").click()
    expect(page.locator(".budget")).to_contain_text("ε = 0 of ε = 2")
    page.get_by_label("Question, as SQL").fill("SELECT SUM(wage) FROM wages")
    page.get_by_label("ε", exact=True).fill("0.1")
    expect(page.locator("#preview .bad")).to_contain_text("but only")
    page.get_by_role("button", name="Ask and pay").click()
    expect(page.get_by_role("alert")).to_contain_text("nothing was spent")
    expect(page.get_by_label("Question, as SQL")).to_have_value("SELECT SUM(wage) FROM wages")
    picture(page, "serve-refused")


def test_the_custodian_sees_budgets_and_verifies(served: Served, page: Page) -> None:
    log_in(page, served, "custodian")
    expect(page.get_by_role("cell", name="analyst:ada")).to_be_visible()
    page.get_by_role("link", name="Verify the ledger of wages").click()
    expect(page.locator(".notice.good")).to_contain_text("entries verified")
    picture(page, "serve-custodian", full=True)
    with page.expect_download() as download:
        page.get_by_role("link", name="report of one page").click()
    assert "# Privacy report: wages" in Path(download.value.path()).read_text()
    expect(page.get_by_role("button", name="Run the audit now")).to_be_visible()


def test_the_keyboard_alone_in_a_narrow_window(served: Served, page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(served.address)
    expect(page.get_by_label("Your token")).to_be_focused()
    page.keyboard.type(served.tokens["ada"])
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="wages", level=1)).to_be_visible()
    expect(page.locator("#slider")).to_be_visible()
    focused = "document.activeElement.id"
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate(focused) == "sql":
            break
    assert page.evaluate(focused) == "sql"
    page.keyboard.press("Control+A")
    page.keyboard.type("SELECT COUNT(*) FROM wages")
    page.keyboard.press("Tab")
    assert page.evaluate(focused) == "slider"
    page.keyboard.press("Home")
    expect(page.get_by_label("ε", exact=True)).to_have_value("0.01")
    page.keyboard.press("Tab")
    with page.expect_navigation():
        page.keyboard.press("Enter")  # the free preview is what Enter does
    expect(page.locator("#preview")).to_contain_text("Nothing was spent")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.value") == "ask":
            break
    page.keyboard.press("Enter")
    expect(page.locator("#answer")).to_contain_text("Number of rows")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    picture(page, "serve-narrow")


def test_without_script_everything_works(served: Served, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    log_in(page, served, "ada")
    page.get_by_label("ε", exact=True).fill("0.02")
    page.get_by_role("button", name="Preview, free").click()
    expect(page.locator("#preview")).to_contain_text("Pure(0.02)")
    page.get_by_role("button", name="Ask and pay").click()
    expect(page.locator("#answer")).to_contain_text("Number of rows")
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_label("Your token")).to_be_visible()
    context.close()
