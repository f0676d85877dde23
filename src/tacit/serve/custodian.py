"""The custodian's view: who asks what, what is left, whether the ledger hangs together, and whether promises hold.

The custodian sees questions and released answers, as in the ledger, and numbers about the data (`checking`), which no
analyst can see. The audit runs in a process of its own
and leaves a report; a second one is not started while the first runs.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from tacit import ledger as books
from tacit.budgets import Budget
from tacit.serve import checking, fragments
from tacit.serve.gateway import Gateway, NotHere
from tacit.serve.pages import page
from tacit.serve.web import Forbidden, Visit, check_mark, chore, download, read_form, state, visit

LATEST = 20
REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"
"""The report of an audit is one file with its own style, and no script."""

_audits: list[subprocess.Popen[bytes]] = []
"""The audit that runs, if any."""


def _custodian(request: Request) -> Visit:
    known = visit(request)
    if not known.caller.custodian:
        raise Forbidden("this is the custodian's view; log in with the custodian's token.")
    return known


async def overview(request: Request) -> Response:
    """All datasets, analysts and the audit on one page."""
    known = _custodian(request)
    here = state(request)
    wanted = request.query_params.get("verify", "")
    mark = here.doorkeeper.mark(known.cookie)
    sections = await chore(
        request, lambda: [_dataset(here.gateway, name, wanted, mark) for name in here.gateway.config.datasets]
    )
    data = await chore(request, lambda: checking.section(here.gateway.config))
    body = f"<h1>Custodian</h1>{_analysts(here.gateway)}{''.join(sections)}{data}{_audit(here.gateway, mark)}"
    here.log.write("custodian looked")
    return page(request, known, "Custodian", body)


def _analysts(gateway: Gateway) -> str:
    rows = [
        (escape(name), ", ".join(f"{escape(key)} ({escape(_terms(access))})" for key, access in allowed.items()))
        for name, allowed in gateway.config.analysts.items()
    ]
    return f"<section><h2>Analysts</h2>{fragments.table(('name', 'may ask'), rows)}</section>"


def _terms(access: Any) -> str:
    if access.share is not None:
        return f"a share of {fragments.price(access.share)}"
    return "no limit of their own" if access.limit is None else f"up to {fragments.price(access.limit)}"


def _dataset(gateway: Gateway, name: str, verified: str, mark: str) -> str:
    ledger = gateway.ledger
    asked = books.charges(ledger, name)
    states = Counter(charge.status for charge in asked)
    whole = ledger.budget(name)
    own = ledger.accounts(name)
    accounts = [("everybody", whole), *own.items()]
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
    return (
        f'<section id="{escape(name)}"><h2>{escape(name)}</h2>'
        f"<p>Questions charged: {len(asked)}, of which {states['answered']} answered, {states['failed']} failed, "
        f"{states['charged']} without a recorded outcome.</p>"
        f"{fragments.table(('account', 'total', 'spent', 'left'), rows, 'Budgets')}{_failures(name, own, mark)}{check}"
        f"{fragments.table(('when (UTC)', 'who', 'cost', 'question', 'outcome'), latest, 'Latest questions')}"
        f"<p>{files}</p></section>"
    )


def _failures(name: str, accounts: Mapping[str, Budget], mark: str) -> str:
    """Who had questions that failed, and a button that lets them fail again."""
    rows = [
        (
            escape(account),
            f"{count} of {budget.failures_left + count}",
            f'<form method="post" action="/custodian/{escape(name)}/renew">'
            f'<input type="hidden" name="mark" value="{escape(mark)}">'
            f'<input type="hidden" name="account" value="{escape(account)}">'
            '<button class="second">Renew</button></form>',
        )
        for account, budget in accounts.items()
        if not account.rpartition("/")[2].startswith(("group:", "part:"))  # those count with the account above them
        and (count := budget.unanswered)
        and budget.failures_left is not None
    ]
    return fragments.table(("account", "failed or without an outcome", ""), rows, "Failures") if rows else ""


async def renew(request: Request) -> Response:
    """Reset an analyst's allowance of failures."""
    known = _custodian(request)
    given = await read_form(request)
    check_mark(request, known, given.get("mark", ""))
    here, name, account = state(request), request.path_params["dataset"], given.get("account", "")
    await chore(request, lambda: here.gateway.renew(name, account))
    here.log.write("failures renewed", dataset=name, account=account)
    return RedirectResponse(f"/custodian#{name}", 303)


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
    known = _custodian(request)
    check_mark(request, known, (await read_form(request)).get("mark", ""))
    here = state(request)
    if not _running():
        report = here.gateway.config.server.audit_report
        code = "import sys; from tacit.cli import main; sys.argv[1:] = ['audit', '--html', sys.argv[1]]; main()"
        quiet = subprocess.DEVNULL
        _audits.append(subprocess.Popen([sys.executable, "-c", code, report], stdin=quiet, stdout=quiet, stderr=quiet))
        here.log.write("audit started")
    return RedirectResponse("/custodian", 303)


async def audit_report(request: Request) -> Response:
    """The report of the last audit."""
    _custodian(request)
    report = Path(state(request).gateway.config.server.audit_report)
    if not report.exists():
        raise NotHere("no audit was run yet; start one in the custodian's view.")
    text = await chore(request, lambda: report.read_text(encoding="utf-8"))
    return HTMLResponse(text, headers={"content-security-policy": REPORT_POLICY})


async def file(request: Request) -> Response:
    """A report or an export of one dataset's ledger."""
    _custodian(request)
    gateway, name, wanted = state(request).gateway, request.path_params["dataset"], request.path_params["file"]
    kinds = {
        "report.md": (books.report, "text/markdown"),
        "charges.csv": (books.to_csv, "text/csv"),
        "history.json": (books.to_json, "application/json"),
    }
    if name not in gateway.config.datasets or wanted not in kinds:
        raise NotHere("there is no such file; see the custodian's view.")
    make, kind = kinds[wanted]
    text = await chore(request, lambda: make(gateway.ledger, name))
    return download(text, f"{name}-{wanted}", kind)


ROUTES = [
    Route("/custodian", overview),
    Route("/custodian/{dataset}/renew", renew, methods=["POST"]),
    Route("/custodian/audit", audit_report),
    Route("/custodian/audit", run_audit, methods=["POST"]),
    Route("/custodian/{dataset}/{file}", file),
]
