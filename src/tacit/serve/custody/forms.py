"""Pieces of the custodian's pages: forms that propose an action, what is confirmed, and lists."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from html import escape
from typing import Any

from tacit.serve import fragments
from tacit.serve.custody.standing import APPROVED, OPEN, Request, until_words

ACT = "/custodian/act"
START = "/custodian/start"
LINKS = (
    ("/custodian", "Overview"),
    ("/custodian/analysts", "Analysts"),
    ("/custodian/requests", "Requests"),
    ("/custodian/datasets", "Datasets"),
    ("/custodian/acts", "Log"),
)
"""The bar of the custodian's pages."""
PILLS = {"active": "good", "paused": "warn", "revoked": "bad", "open": "warn", "approved": "good", "declined": "bad"}


def hidden(fields: Mapping[str, str]) -> str:
    """Fields that go along with a form."""
    return "".join(f'<input type="hidden" name="{escape(k)}" value="{escape(v)}">' for k, v in fields.items())


def button(mark: str, words: str, action: str, style: str = "tiny", **fields: str) -> str:
    """A form of one button that proposes an action."""
    inside = hidden({"mark": mark, "action": action, **fields})
    return f'<form method="post" action="{ACT}">{inside}<button class="{style}">{escape(words)}</button></form>'


def field(name: str, label: str, value: str = "", hint: str = "", **more: str) -> str:
    """A field with its label; ``more`` are attributes."""
    attributes = "".join(f' {key}="{escape(text)}"' for key, text in more.items())
    told = f'<span class="hint" id="{name}-hint">{escape(hint)}</span>' if hint else ""
    described = f' aria-describedby="{name}-hint"' if hint else ""
    return (
        f'<p><label for="{name}">{escape(label)}</label><input id="{name}" name="{name}" value="{escape(value)}" '
        f'autocomplete="off"{described}{attributes}>{told}</p>'
    )


def chooser(name: str, label: str, choices: Iterable[str], chosen: str = "", where: str = "") -> str:
    """A list to choose from, with its label; ``where`` tells it apart from others of its name on the page."""
    options, place = fragments.options(((each, each) for each in choices), chosen), f"{where}{name}"
    return f'<p><label for="{place}">{escape(label)}</label><select id="{place}" name="{name}">{options}</select></p>'


def pill(word: str) -> str:
    """A state in a word."""
    return f'<span class="pill {PILLS.get(word, "")}">{escape(word)}</span>'


def confirmation(mark: str, fields: Mapping[str, str], words: str, final: bool, code: str, back: str) -> str:
    """What would happen, and the button that lets it."""
    warning = fragments.notice("warn", "this cannot be undone.") if final else ""
    sent = {**fields, "mark": mark, "confirm": code, "back": back}
    return (
        f'<h1>Is this what you want?</h1><section id="confirm" tabindex="-1"><p>{escape(words)}</p>'
        f'{warning}<form method="post" action="{ACT}">{hidden(sent)}<p class="buttons">'
        f'<button class="{"danger" if final else "main"}" autofocus>Yes, do it</button> '
        f'<a class="button" href="{escape(back)}">No, go back</a></p></form></section>'
    )


def again(mark: str, fields: Mapping[str, str], back: str) -> str:
    """The way back from what was refused; for a dataset to the step at which its budget is chosen."""
    if not {"source", "person", "name"} <= set(fields):
        return f'<p><a class="button" href="{escape(back)}">Go back</a></p>'
    kept = {name: fields[name] for name in ("source", "person", "name", "inside") if name in fields}
    inside = hidden({"mark": mark, **kept})
    return f'<form method="post" action="{START}">{inside}<p><button class="second">Go back</button></p></form>'


def done(words: str, number: int, secret: Mapping[str, str], back: str, address: str, further: str = "") -> str:
    """What was done; a new token stands here and nowhere else."""
    shown = ""
    if "token" in secret:
        shown = (
            '<p><label for="token">The token, for them alone: it is shown here once and cannot be shown again.</label>'
            f'<input id="token" class="code" readonly value="{escape(secret["token"])}"></p>'
            '<p><button type="button" class="second" data-copy="token" hidden>Copy</button></p>'
            f"<p>Send it by a way that only they can read. They log in with it at <code>{escape(address)}</code>.</p>"
        )
    said = fragments.notice("good", f"done, and written down as act {number}.")
    return (
        f'<h1>Done</h1><section id="done" tabindex="-1">{said}<p>{escape(words)}</p>{shown}'
        f'<p class="buttons">{further}<a class="button" href="{escape(back)}">Go on</a></p></section>'
    )


def spending(facts: Mapping[str, Any]) -> str:
    """What is spent of what, with a bar; of `summary.amounts`."""
    rule = f"; {facts['rule']}" if facts.get("rule") else ""
    return (
        f'{escape(facts["words"] + rule)}<svg class="gauge" viewBox="0 0 100 4" preserveAspectRatio="none" '
        'aria-hidden="true"><rect class="all" width="100" height="4"/>'
        f'<rect class="rest" width="{100 * facts["left"]:.0f}" height="4"/></svg>'
    )


def _groups(request: Request) -> str:
    """The groups that a question names beside its text."""
    return f"<p>For these groups: <code>{escape(request.keys)}</code></p>" if request.keys else ""


def requests(found: Iterable[Request], mark: str) -> str:
    """Requests that wait, each with what can be done about it."""
    cards = []
    for request in found:
        days = (
            f'<form method="post" action="{ACT}" class="buttons">'
            f"{hidden({'mark': mark, 'action': 'approve', 'request': str(request.number)})}"
            f'<label for="days-{request.number}">Days</label><input id="days-{request.number}" name="days" value="7" '
            'inputmode="numeric" size="3"><button class="main">Approve once</button></form>'
        )
        cards.append(
            f'<section class="card"><h2>{escape(request.analyst)} asks {escape(request.dataset)} for '
            f"{escape(request.guarantee.short())}</h2><pre>{escape(request.sql)}</pre>{_groups(request)}"
            f"<p>{escape(request.reason) or '<span class=quiet>no reason was given</span>'}</p>"
            f'<p class="quiet">Request {request.number}, {fragments.when(request.at)}</p><div class="buttons">{days}'
            f"{button(mark, 'Decline', 'decline', 'danger', request=str(request.number))}</div></section>"
        )
    return "".join(cards) or "<p>Nobody waits for you.</p>"


def _became(request: Request, used: Container[int]) -> str:
    """What became of a request; an approval that was used says so."""
    if request.number in used and request.status == APPROVED:
        return pill("used")
    return pill(request.state) + (f" until {until_words(request.until)}" if request.until else "")


def past_requests(found: Iterable[Request], used: Container[int], mark: str) -> str:
    """Requests that were decided, the latest first; ``used`` are the numbers of those that were paid for."""
    rows = [
        (
            fragments.when(request.at),
            escape(request.analyst),
            f"<code>{escape(request.sql)}</code>",
            fragments.whole(request.guarantee.short()),
            _became(request, used),
            button(mark, "Take back", "withdraw approval", request=str(request.number))
            if request.state == "approved" and request.number not in used
            else "",
        )
        for request in reversed(list(found))
    ]
    return fragments.table(("when", "who", "question", "cost", "", ""), rows, "Decided", cards=True) if rows else ""


def own_requests(found: Iterable[Request], used: Container[int]) -> str:
    """An analyst's own requests, as a section of their page."""
    rows = [
        (
            fragments.when(request.at),
            f"<code>{escape(request.sql)}</code>",
            fragments.whole(request.guarantee.short()),
            _became(request, used),
        )
        for request in reversed(list(found))
    ]
    if not rows:
        return ""
    listed = fragments.table(("when", "question", "cost", ""), rows, cards=True, label="your requests")
    return f'<section id="requests"><h2>Your requests for approval</h2>{listed}</section>'


def approval_form(dataset: str, fields: Mapping[str, str], mark: str) -> str:
    """For a question that was refused by a limit: ask the custodian to approve this one."""
    return (
        f'<form method="post" action="/datasets/{escape(dataset)}/approvals" class="card">'
        f"{hidden({**fields, 'mark': mark})}"
        "<p><strong>The custodian can approve this one question.</strong></p>"
        f"{field('reason', 'Why you need it', hint='The custodian reads this beside the question and its cost.')}"
        '<p><button class="second">Ask the custodian</button></p></form>'
    )


def waiting(found: Iterable[Request]) -> int:
    """How many requests wait."""
    return sum(request.state == OPEN for request in found)
