"""The custodian's view: who asks what, what is left, whether the ledger hangs together, and whether promises hold.

The custodian sees questions and released answers, as in the ledger, and numbers about the data (`checking`), which no
analyst can see. What the custodian does is in `tacit.serve.custody`. The audit runs in a process of its own and leaves
a report; a second one is not started while the first runs.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from html import escape
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from tacit import ledger as books
from tacit.budgets import Budget, Link
from tacit.serve import checking, fragments
from tacit.serve.custody.api import custodian, file
from tacit.serve.custody.first import START
from tacit.serve.custody.forms import button, waiting
from tacit.serve.custody.pages import custodians_page
from tacit.serve.custody.standing import overrides
from tacit.serve.gateway import Gateway, NotHere
from tacit.serve.web import check_mark, chore, read_form, state

LATEST = 20
REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"
"""The report of an audit is one file with its own style, and no script."""

_audits: list[subprocess.Popen[bytes]] = []
"""The audit that runs, if any."""


async def overview(request: Request) -> Response:
    """All datasets, analysts and the audit on one page."""
    known = custodian(request)
    here = state(request)
    if not here.gateway.config.datasets:
        return RedirectResponse(START, 303)  # the first start
    wanted = request.query_params.get("verify", "")
    mark = here.doorkeeper.mark(known.cookie)
    sections = await chore(
        request, lambda: [_dataset(here.gateway, name, wanted, mark) for name in here.gateway.config.datasets]
    )
    data = await chore(request, lambda: checking.section(here.gateway.config))
    said = "".join(fragments.notice("warn", words) for words in overrides(here.gateway.file, here.gateway.standing))
    count = waiting(here.gateway.standing.requests.values())
    if count:
        said += (
            f'<p class="notice warn" role="status"><a href="/custodian/requests">{count} waiting for approval</a></p>'
        )
    body = f"<h1>Custodian</h1>{said}{''.join(sections)}{data}{_audit(here.gateway, mark)}"
    here.log.write("custodian looked", who=known.caller.shown)
    return custodians_page(request, known, "Custodian", body)


def _dataset(gateway: Gateway, name: str, verified: str, mark: str) -> str:
    ledger = gateway.ledger
    asked = books.charges(ledger, name)
    states = Counter(charge.status for charge in asked)
    whole = ledger.budget(name)
    own = ledger.accounts(name)
    accounts = [("everybody", whole), *((_called(key), each) for key, each in own.items())]
    rows = [tuple(map(escape, (key, *map(fragments.price, (b.total, b.spent, b.remaining))))) for key, b in accounts]
    latest = [
        (
            fragments.when(c.at),
            escape(c.who),
            fragments.whole(fragments.price(c.guarantee)),
            f"<code>{escape(c.text)}</code>",
            escape(c.status),
        )
        for c in reversed(asked[-LATEST:])
    ]
    check = f'<p><a href="/custodian?verify={escape(name)}#{escape(name)}">Verify the ledger of {escape(name)}</a></p>'
    if verified == name:
        found = books.verify(ledger, name)
        check = fragments.notice("good" if found.sound else "bad", f"the ledger of {found}")
    files = " · ".join(
        f'<a href="/custodian/{escape(name)}/{file}" download>{words}</a>'
        for file, words in (
            ("report.md", "report of one page"),
            ("charges.csv", "charges (CSV)"),
            ("history.json", "history (JSON)"),
        )
    )
    questions = fragments.table(("when", "who", "cost", "question", "outcome"), latest, "Latest questions", cards=True)
    return (
        f'<section id="{escape(name)}"><h2>{escape(name)}</h2>'
        f"<p>Questions charged: {len(asked)}, of which {states['answered']} answered, {states['failed']} failed, "
        f"{states['charged']} without a recorded outcome.</p>"
        f"{fragments.table(('account', 'total', 'spent', 'left'), rows, 'Budgets')}{_failures(name, own, mark)}{check}"
        f"{questions if latest else '<p>Nobody has asked anything yet.</p>'}"
        f"<p>{files}</p></section>"
    )


def _called(account: str) -> str:
    """An account as people call it: an analyst by the name alone."""
    return account.removeprefix(f"{Link.ANALYST.value}:")


def _failures(name: str, accounts: Mapping[str, Budget], mark: str) -> str:
    """Who had questions that failed, and a button that lets them fail again."""
    rows = [
        (
            escape(_called(account)),
            f"{count} of {budget.failures_left + count}",
            button(mark, "Renew", "renew failures", dataset=name, account=account),
        )
        for account, budget in accounts.items()
        if not account.rpartition("/")[2].startswith(("group:", "part:"))  # those count with the account above them
        and (count := budget.unanswered)
        and budget.failures_left is not None
    ]
    return fragments.table(("account", "failed or without an outcome", ""), rows, "Failures") if rows else ""


def _audit(gateway: Gateway, mark: str) -> str:
    report = Path(gateway.config.server.audit_report)
    said = "The audit checks every promise of the library on this machine; it takes a minute or two."
    if report.exists():
        made = datetime.fromtimestamp(report.stat().st_mtime, UTC)
        said = f'<a href="/custodian/audit">The report of {made:%Y-%m-%d %H:%M} UTC</a> says what was checked.'
    if _running():
        said += " <strong>An audit is running now.</strong>"
    return (
        f"<section><h2>Audit</h2><p>{said}</p>"
        f'<form method="post" action="/custodian/audit"><input type="hidden" name="mark" value="{escape(mark)}">'
        '<button class="second">Run the audit now</button></form></section>'
    )


def _running() -> bool:
    _audits[:] = [process for process in _audits if process.poll() is None]
    return bool(_audits)


async def run_audit(request: Request) -> Response:
    """Start an audit in a process of its own."""
    known = custodian(request)
    check_mark(request, known, (await read_form(request)).get("mark", ""))
    here = state(request)
    if not _running():
        report = here.gateway.config.server.audit_report
        code = "import sys; from tacit.cli import main; sys.argv[1:] = ['audit', '--html', sys.argv[1]]; main()"
        quiet = subprocess.DEVNULL
        _audits.append(subprocess.Popen([sys.executable, "-c", code, report], stdin=quiet, stdout=quiet, stderr=quiet))
        here.log.write("audit started", who=known.caller.shown)
    return RedirectResponse("/custodian", 303)


async def audit_report(request: Request) -> Response:
    """The report of the last audit."""
    custodian(request)
    report = Path(state(request).gateway.config.server.audit_report)
    if not report.exists():
        raise NotHere("no audit was run yet; start one in the custodian's view.")
    text = await chore(request, lambda: report.read_text(encoding="utf-8"))
    return HTMLResponse(text, headers={"content-security-policy": REPORT_POLICY})


ROUTES = [
    Route("/custodian", overview),
    Route("/custodian/audit", audit_report),
    Route("/custodian/audit", run_audit, methods=["POST"]),
    Route("/custodian/{dataset}/{file}", file),
]
