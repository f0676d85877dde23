"""The page in a real browser: every flow of an analyst, at phone and desk widths, light and dark, without a violation
of axe-core, without a request to anywhere else, by keyboard alone, and without a script.

One browser and one gateway serve all tests. `python -m tests.serve.screenshots` makes the documentation's pictures.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect, sync_playwright

from tacit.data import INDUSTRIES, WAGES
from tests.postgres import REQUIRED
from tests.serve.support import TOKENS, Served, serving

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
MOST_BYTES = 200_000
"""Of a page with all that belongs to it."""
EVIL = "<img src=x onerror=hacked()>"
"""A name of a column, of a group and of an output."""


def configuration(folder: Path) -> Path:
    """Wages as in the demo, and visits with days and with a column whose name is an attack."""
    rows = [f"{i},{i % 9},2024-{1 + (i + j) % 6:02d}-15,{EVIL}" for i in range(300) for j in range(2)]
    (folder / "visits.csv").write_text(f'who,minutes,day,"{EVIL}"\n' + "\n".join(rows) + "\n")
    people = "\n".join(
        f'[[analysts]]\nname = "{name}"\ntoken = "{TOKENS[name][1]}"\ndatasets.wages.limit.epsilon = {most}'
        for name, most in (("ada", 20), ("grace", 2))
    )
    path = folder / "tacit.toml"
    path.write_text(
        f"""
[server]
log = "audit.jsonl"
[limits]
preview_seconds = 100
seconds = 100
question_seconds = 200
[custodian]
token = "{TOKENS["custodian"][1]}"
[datasets.wages]
budget = {{ epsilon = 40 }}
persons = 5000
[datasets.wages.tables]
wages = {{ source = '{WAGES}', person = "woman", key = ["woman", "year"] }}
visits = {{ source = "visits.csv", person = "who" }}
industries = {{ source = '{INDUSTRIES}', public = true, key = "code" }}
{people}
"""
    )
    return path


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    path = configuration(tmp_path_factory.mktemp("served"))
    tokens = {name: token for name, (token, _) in TOKENS.items()}
    with serving(str(path), tokens=tokens, planted="tests.serve.planted") as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()


class Watched:
    """A page that allows no mistake of its own: in its script, against the content policy, or by asking elsewhere."""

    def __init__(self, context: BrowserContext, served: Served) -> None:
        self.page, self.said, self.elsewhere = context.new_page(), list[str](), list[str]()
        self.page.set_default_timeout(200_000)
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("console", lambda message: self.said.append(message.text) if message.type == "error" else None)
        self.page.on("dialog", lambda dialog: self.said.append(dialog.message))
        self.page.on("request", lambda request: self._asked(request.url, served.address))

    def _asked(self, address: str, ours: str) -> None:
        if not address.startswith(f"{ours}/"):
            self.elsewhere.append(address)

    def done(self) -> None:
        """Look back at what happened."""
        assert [text for text in self.said if "status of 4" not in text] == []
        assert self.elsewhere == []


@pytest.fixture
def page(browser: Browser, served: Served) -> Iterator[Page]:
    context = browser.new_context(
        viewport={"width": 1440, "height": 900},
        timezone_id="Asia/Tokyo",
        permissions=["clipboard-read", "clipboard-write"],
    )
    watched = Watched(context, served)
    yield watched.page
    context.close()
    watched.done()


def check(page: Page, *schemes: Literal["light", "dark"]) -> None:
    """No violation of axe-core in these colours, and nothing that is wider than the window."""
    for scheme in schemes or ("light",):
        page.emulate_media(color_scheme=scheme)
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
    page.emulate_media(color_scheme="light")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def follow(link: Locator) -> None:
    """Click what leads to another page, and wait until its script runs: a click does not wait, and keys before the
    script are only letters.
    """
    with link.page.expect_navigation():
        link.click()


def enter(page: Page, address: str, token: str) -> None:
    """Log in."""
    page.goto(address)
    page.get_by_label("Your token").fill(token)
    follow(page.get_by_role("button", name="Log in"))


def log_in(page: Page, served: Served, name: str) -> None:
    enter(page, served.address, served.tokens[name])


def write(page: Page, sql: str, epsilon: str = "") -> None:
    expect(page.locator("#slider")).to_be_visible()  # the script is there: before it no key does more than in any form
    page.get_by_label("Question, as SQL").fill(sql)
    page.keyboard.press("Escape")
    if epsilon:
        page.get_by_label("ε", exact=True).fill(epsilon)


def ask(page: Page, sql: str, epsilon: str = "") -> Locator:
    """Ask by the keyboard; returns the answer, which has the focus."""
    write(page, sql, epsilon)
    with page.expect_navigation():
        page.keyboard.press("Control+Enter")
    answer = page.locator("#answer")
    expect(answer).to_be_focused()
    return answer


def test_first_visit_to_first_answer(served: Served, page: Page) -> None:
    page.goto(served.address)
    expect(page).to_have_url(re.compile("/login$"))
    check(page)
    sizes: list[int] = []
    page.on("response", lambda response: sizes.append(len(response.body())) if response.status == 200 else None)
    log_in(page, served, "ada")
    expect(page.get_by_role("heading", name="wages", level=1)).to_be_visible()
    expect(page.locator("#preview")).to_contain_text("19 of 20 answers within")
    assert 20_000 < sum(sizes) < MOST_BYTES

    page.get_by_text("Build a question").click()  # what belongs to which table, and the SQL beside it
    columns, sql = page.get_by_label("of the column"), page.get_by_label("Question, as SQL")
    page.get_by_label("in the table").select_option("visits")
    assert columns.locator("option").all_text_contents() == ["all rows", "who", "minutes", "day", EVIL]
    page.get_by_label("in the table").select_option("wages")
    page.get_by_label("the", exact=True).select_option("mean")
    assert "college" not in columns.locator("option").all_text_contents()  # a mean is of numbers
    columns.select_option("wage")
    page.get_by_label("value of").select_option("college")
    page.get_by_label("the column", exact=True).select_option("age")
    page.get_by_label("compares so").select_option("<")
    page.get_by_label("with", exact=True).fill("30")
    expect(sql).to_have_value("SELECT college, AVG(wage)\nFROM wages\nWHERE age < 30\nGROUP BY college")
    page.get_by_label("private ←").fill("40")  # the slider: 0.01 · 1000^(40/60)
    expect(page.get_by_label("ε", exact=True)).to_have_value("1")
    expect(page.locator("#preview")).to_contain_text("costs ε = 1 of the ε = 20 left")
    expect(page.locator("#preview")).to_contain_text(
        "in each of 2 groups of about 2,500 persons: 19 of 20 answers within"
    )
    check(page)

    page.get_by_role("link", name="What is the mean wage?").click()  # a sample fills the form and asks nothing
    expect(sql).to_have_value("SELECT AVG(wage)\nFROM wages")
    with page.expect_navigation():
        sql.press("Control+Enter")
    answer = page.locator("#answer")
    expect(answer).to_be_focused()
    expect(answer.locator(".what")).to_have_text("Mean of wage, over all rows")
    expect(answer.locator(".big")).to_have_text(re.compile(r"^\d"))
    expect(answer).to_contain_text("protects any one woman with all their rows")
    expect(answer.locator("svg.interval")).to_be_visible()
    check(page)
    expect(page.locator(".budget")).to_contain_text("ε = 19 of ε = 20")
    page.reload()  # the browser sends the form again: the same key, so nothing more is charged
    expect(page.locator(".budget")).to_contain_text("ε = 19 of ε = 20")
    assert served.tokens["ada"] not in page.content()


def fetched(page: Page, served: Served, link: Locator) -> bytes:
    """What a link downloads; a busy machine may let it run out of time."""
    assert link.get_attribute("download") is not None
    for _ in range(10):
        response = page.request.get(f"{served.address}{link.get_attribute('href')}", timeout=200_000)
        if response.status != 503:
            break
    assert response.ok, response.text()
    assert response.headers["content-disposition"].startswith("attachment")
    return response.body()


def test_pictures_files_and_comparisons(served: Served, page: Page) -> None:
    log_in(page, served, "ada")
    bars = ask(page, f'SELECT college, COUNT(*) AS "{EVIL}", AVG(wage) AS pay FROM wages GROUP BY college', "2")
    assert bars.locator("figcaption strong").all_text_contents() == [EVIL, "pay"]
    expect(bars.locator("figure")).to_have_count(2)  # a count and a mean never share an axis
    expect(bars.locator("svg.bar-row")).to_have_count(4)
    bars.get_by_role("button", name="Copy", exact=True).click()
    expect(bars.get_by_role("button", name="Copied")).to_be_visible()
    assert "pay" in page.evaluate("navigator.clipboard.readText()")
    for words, begin in (
        ("CSV", b"warning,college,<img"),
        ("Parquet", b"PAR1"),
        ("JSON", b"{"),
        ("Python", b'"""'),
        ("Notebook", b"{"),
    ):
        assert fetched(page, served, bars.get_by_role("link", name=words, exact=True)).startswith(begin)
    check(page, "light", "dark")
    days = "SELECT DATE_TRUNC('month', day) AS month, COUNT(*) AS n FROM visits WHERE day BETWEEN DATE '2024-01-01' AND"
    line = ask(page, f"{days} DATE '2024-06-30' GROUP BY 1", "2")
    expect(line.locator("svg.line .band")).to_be_attached()
    expect(line.locator(".marks").first).to_contain_text("2024-01-01")
    page.set_viewport_size({"width": 390, "height": 844})
    check(page, "dark")
    assert min(cell.bounding_box()["width"] for cell in page.locator(".cards code").all()) > 150  # type: ignore[index]
    page.set_viewport_size({"width": 1440, "height": 900})
    first = (
        ask(page, "SELECT COUNT(*) FROM visits WHERE minutes < 5", "1")
        .get_by_role("link", name="Link")
        .get_attribute("href")
    )
    ask(page, "SELECT COUNT(*) FROM visits WHERE minutes >= 5", "1")
    spent = page.locator(".budget").text_content()
    page.goto(f"{served.address}{first}")
    expect(page.get_by_text("returned at no cost").first).to_be_visible()
    follow(page.get_by_role("link", name="Change"))  # opens the question and asks nothing
    expect(page.get_by_label("Question, as SQL")).to_have_value("SELECT COUNT(*) FROM visits WHERE minutes < 5")
    assert page.locator(".budget").text_content() == spent

    follow(page.get_by_role("link", name="Your questions").first)
    rows = page.locator("#asked tbody tr:visible")
    before = rows.count()
    utc, shown = (
        page.locator("#asked time").first.get_attribute("datetime"),
        page.locator("#asked time").first.text_content(),
    )
    assert utc is not None
    assert shown is not None
    assert (int(shown[11:13]) - int(utc[11:13])) % 24 == 9  # Tokyo
    page.get_by_label("Search").fill("visits minutes")
    expect(rows).to_have_count(2)
    assert before > 2
    check(page)
    for box in page.get_by_role("checkbox").all():
        if box.is_visible():
            box.check()
    follow(page.get_by_role("button", name="Compare two"))
    expect(page.get_by_role("heading", name="The difference")).to_be_visible()
    expect(page.locator("#answer")).to_contain_text(re.compile("is higher, by|may be equal"))
    check(page)


def test_the_editor_completes_names_and_colours_words(served: Served, page: Page) -> None:
    log_in(page, served, "ada")
    sql, list_ = page.get_by_label("Question, as SQL"), page.get_by_role("listbox", name="Completions")
    write(page, "SELECT ")
    sql.press_sequentially("wa")
    expect(list_.get_by_role("option").first).to_have_text("wagecolumn")
    sql.press("Escape")
    expect(list_).to_be_hidden()
    write(page, "SELECT AVG() FROM wages JOIN industries i ON code = industry WHERE i.")
    sql.press("Control+ ")
    assert list_.get_by_role("option").all_text_contents() == ["codecolumn", "namecolumn"]
    check(page, "dark")
    sql.press("ArrowDown")
    sql.press("Tab")
    expect(sql).to_have_value(re.compile(r"i\.name$"))
    expect(sql).to_be_focused()
    write(page, "SELECT * FROM visits WHERE ")
    sql.press("Control+ ")
    expect(list_).to_contain_text(EVIL)  # as text
    sql.press("Escape")
    write(page, "SELECT COUNT(*) FROM ind")
    sql.press("Control+ ")
    sql.press("Enter")
    expect(sql).to_have_value("SELECT COUNT(*) FROM industries")
    kinds = page.locator(".colours span").evaluate_all("all => all.map((one) => one.className + one.textContent)")
    assert kinds == ["sql-wordSELECT", "sql-callCOUNT", "sql-wordFROM"]
    page.get_by_label("Search tables").fill("visits minutes")
    expect(page.locator("#tables li:visible")).to_have_count(1)
    page.get_by_role("button", name="minutes").click()
    expect(sql).to_have_value("SELECT COUNT(*) FROM industriesminutes")
    expect(sql).to_be_focused()
    assert page.evaluate("typeof hacked") == "undefined"


def test_a_page_is_light(served: Served, page: Page) -> None:
    """Usable within 1.5 s: the processor's time for a page and its script, which other processes do not lengthen."""
    log_in(page, served, "ada")
    line = page.context.new_cdp_session(page)
    line.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.reload(wait_until="load")
    found = {each["name"]: each["value"] for each in line.send("Performance.getMetrics")["metrics"]}
    assert found["TaskDuration"] < 1.5


def test_a_spent_budget_refuses(served: Served, page: Page) -> None:
    log_in(page, served, "grace")
    ask(page, "SELECT COUNT(*) FROM wages", "2")
    expect(page.locator(".budget")).to_contain_text("ε = 0 of ε = 2")
    write(page, "SELECT SUM(wage) FROM wages", "0.1")
    expect(page.locator("#preview .bad")).to_contain_text("but only")
    follow(page.get_by_role("button", name="Ask and pay"))
    expect(page.get_by_role("alert").first).to_contain_text("nothing was spent")
    expect(page.get_by_label("Question, as SQL")).to_have_value("SELECT SUM(wage) FROM wages")
    check(page, "dark")


CANCELS = """
const cancel = document.getElementById("cancel");
setInterval(async () => {
  const history = await (await fetch("/v1/datasets/wages/history")).text();
  if (history.includes("hold, paid") && !cancel.hidden) cancel.click();
}, 200);
"""
"""Somebody who cancels once their question is charged: no browser is driven from outside while it waits for a page."""


def test_a_question_is_cancelled(served: Served, page: Page) -> None:
    """One that was charged and does not end."""
    log_in(page, served, "ada")
    write(page, "SELECT COUNT(*) FROM wages -- hold, paid", "0.1")
    page.evaluate(CANCELS)
    with page.expect_navigation():
        page.get_by_role("button", name="Ask and pay").click(no_wait_after=True)
    expect(page.get_by_role("alert").first).to_contain_text("You cancelled this question after it had begun to charge")
    expect(page.locator(".cards").first).to_contain_text("charged, no answer")
    expect(page.get_by_role("button", name="Ask and pay")).to_be_enabled()


def test_the_keyboard_alone_in_a_narrow_window(served: Served, page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(served.address)
    expect(page.get_by_label("Your token")).to_be_focused()
    page.keyboard.type(served.tokens["ada"])
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="wages", level=1)).to_be_visible()
    expect(page.locator("#slider")).to_be_visible()

    def tab(wanted: str) -> None:
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.id || document.activeElement.value") == wanted:
                return
        raise AssertionError(wanted)

    tab("sql")
    page.keyboard.press("Control+A")
    page.keyboard.type("SELECT COUNT(*) FROM wages")
    page.keyboard.press("Escape")  # the list of completions, which has the keyboard before
    tab("slider")
    page.keyboard.press("Home")
    expect(page.get_by_label("ε", exact=True)).to_have_value("0.01")
    page.keyboard.press("Tab")
    with page.expect_navigation():
        page.keyboard.press("Enter")  # the free preview is what Enter does
    expect(page.locator("#preview")).to_contain_text("Nothing was spent")
    tab("ask")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page.locator("#answer")).to_contain_text("Number of rows")
    check(page)


def test_without_script_everything_works(served: Served, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    context.set_default_timeout(200_000)
    page = context.new_page()
    log_in(page, served, "ada")
    page.get_by_text("Build a question").click()
    page.get_by_label("the", exact=True).select_option("sum")
    page.get_by_label("of the column").select_option("hours")
    page.get_by_role("button", name="Write it as SQL").click()
    expect(page.get_by_label("Question, as SQL")).to_have_value("SELECT SUM(hours)\nFROM wages")
    page.get_by_label("ε", exact=True).fill("0.02")
    page.get_by_role("button", name="Preview, free").click()
    expect(page.locator("#preview")).to_contain_text("costs ε = 0.02")
    expect(page.locator("#preview")).to_contain_text("Expected error")
    page.get_by_role("button", name="Ask and pay").click()
    expect(page.locator("#answer")).to_contain_text("Sum of hours")
    expect(page.locator("#answer time, .cards time").first).to_contain_text("UTC")
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_label("Your token")).to_be_visible()
    context.close()


def test_the_custodian_sees_budgets_and_verifies(served: Served, page: Page) -> None:
    log_in(page, served, "custodian")
    expect(page.get_by_role("cell", name="ada", exact=True).first).to_be_visible()  # and among the failures
    follow(page.get_by_role("link", name="Verify the ledger of wages"))
    expect(page.locator(".notice.good")).to_contain_text("entries verified")
    check(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="report of one page").click()
    assert "# Privacy report: wages" in Path(download.value.path()).read_text()
    expect(page.get_by_role("button", name="Run the audit now")).to_be_visible()
