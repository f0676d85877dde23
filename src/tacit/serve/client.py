"""`tacit.connect`: a gateway's dataset with the face of a local session.

Every question carries a key of its own and is sent again under it when the line breaks, so a lost response costs
nothing twice. Answers arrive whole: intervals of any confidence, explanations and tables work as with local ones. The
token goes into a header, and is in no repr and no message.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from tacit.answers import Answer, Answers
from tacit.answers.sending import read_report
from tacit.answers.storing import MALFORMED
from tacit.budgets.books import FailuresUsedUp
from tacit.closing import Closing
from tacit.errors import (
    BudgetExceeded,
    EngineError,
    InvalidInput,
    LedgerError,
    TacitError,
    UnsupportedQuery,
    instead,
    not_installed,
)
from tacit.guarantees import Guarantee
from tacit.language.types import Schema
from tacit.serve.running import Busy
from tacit.tables.face.preview import ForeseenPart, Preview
from tacit.tables.face.selects import PreviewsSelects, Select

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

TRIES = 4
"""How often a question is sent when the line breaks."""

_ERRORS: dict[str, type[TacitError]] = {
    "busy": Busy,
    "budget_exceeded": BudgetExceeded,
    "failures_used_up": FailuresUsedUp,
    "approval_needed": BudgetExceeded,
    "unsupported_query": UnsupportedQuery,
    "engine_failed": EngineError,
    "charged_before": EngineError,
    "cancelled": EngineError,
    "unforeseen": EngineError,
    "ledger_failed": LedgerError,
}


class RemoteBudget:
    """What is left of a budget that is kept elsewhere; fetched each time.

    >>> far.budget.remaining  # doctest: +SKIP
    Pure(9.5)
    """

    def __init__(self, session: RemoteSession) -> None:
        self._session = session

    @property
    def total(self) -> Guarantee:
        """What all charges together may promise."""
        return self._amount("total")

    @property
    def spent(self) -> Guarantee:
        """What the charges so far add up to."""
        return self._amount("spent")

    @property
    def remaining(self) -> Guarantee:
        """What is left for you, in view of everybody's."""
        return self._amount("remaining")

    def _amount(self, name: str) -> Guarantee:
        with _understood():
            return _amount(self._facts()[name])

    def _facts(self) -> dict[str, Any]:
        return self._session._get("budget")

    def __repr__(self) -> str:
        with _understood():
            return f"<{self._facts()['words']}>"


class RemoteSession(PreviewsSelects, Closing):
    """A dataset behind a gateway: `sql`, `preview`, `budget` and `schema` as in a local session.

    >>> far = tacit.connect("https://tacit.example.org", token="…", dataset="shop")  # doctest: +SKIP
    >>> far.tables  # doctest: +SKIP
    ('orders',)
    """

    def __init__(self, line: httpx.Client, dataset: str) -> None:
        self._line, self.name = line, dataset
        with _understood():
            self._tables = {
                str(table["name"]): (table["declared"], Schema.of({c["name"]: c["type"] for c in table["columns"]}))
                for table in self._get("")["tables"]
            }
        self.budget = RemoteBudget(self)

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of all tables."""
        return tuple(self._tables)

    def schema(self, name: str) -> Schema:
        """The public facts of a table: names and types.

        Args:
            name: the table's name in SQL.

        >>> print(far.schema("orders"))  # doctest: +SKIP
        customer integer, amount integer
        """
        if name not in self._tables:
            raise InvalidInput(f"there is no table {name!r}; {instead(name, self.tables, 'tables')}")
        return self._tables[name][1]

    def _answer(self, select: Select) -> Answer | Answers:
        with _understood():
            return read_report(self._post("ask", select))

    def _preview(self, select: Select) -> Preview:
        with _understood():
            seen = self._post("cost", select)
            charge, asked, left = (_amount(seen[name]) for name in ("charge", "cost", "remaining"))
            public = {name: seen[name] for name in ("fits", "free", "words", "forecast", "noise_std")}
            parts = [ForeseenPart(**(part | {"cost": _amount(part["cost"])})) for part in seen.get("parts", ())]
            return Preview(tuple(seen["statistics"]), charge, asked, left, **public, parts=tuple(parts))

    def close(self) -> None:
        """Close the connection.

        >>> far.close()  # doctest: +SKIP
        """
        self._line.close()

    def __repr__(self) -> str:
        tables = "".join(f"\n  {name} ({declared}): {schema}" for name, (declared, schema) in self._tables.items())
        return f"<Session of {self.name} at {self._line.base_url}, {self.budget!r}{tables}>"

    def _get(self, what: str) -> dict[str, Any]:
        return _sent(self._line, "GET", f"/v1/datasets/{quote(self.name, safe='')}/{what}".rstrip("/"))

    def _post(self, what: str, select: Select) -> dict[str, Any]:
        if select.weights is not None:
            raise InvalidInput("weights= is for local sessions; a gateway splits a cost evenly: leave it out.")
        amounts = {"epsilon": select.epsilon, "delta": select.delta, "rho": select.rho}
        body: dict[str, Any] = {"sql": select.query} | ({} if select.keys is None else {"keys": _keys(select.keys)})
        body |= {name: str(amount) for name, amount in amounts.items() if amount is not None}
        body |= {"fresh": select.fresh} if select.fresh else {}
        try:
            json.dumps(body)
        except (TypeError, ValueError):
            raise InvalidInput("a question and its keys must be texts, numbers, True, False or None.") from None
        headers = {"Idempotency-Key": secrets.token_hex(16)} if what == "ask" else {}
        return _sent(self._line, "POST", f"/v1/datasets/{quote(self.name, safe='')}/{what}", json=body, headers=headers)


def connect(address: str, token: str, *, dataset: str | None = None, timeout: float = 300) -> RemoteSession:
    """Open a dataset behind a gateway, with the face of a local session.

    Args:
        address: where the gateway is, such as "https://tacit.example.org".
        token: what ``tacit serve token`` printed; it goes into a header, and is in no repr and no message.
        dataset: the dataset's name; it may be left out where there is one only.
        timeout: the most seconds to wait for a response.

    >>> far = tacit.connect("https://tacit.example.org", token="…", dataset="shop")  # doctest: +SKIP
    >>> far.sql("SELECT COUNT(*) FROM orders", epsilon=0.5)  # doctest: +SKIP
    Answer(number of rows: 1,234, Pure(0.5))
    """
    try:
        import httpx
    except ImportError:
        raise not_installed("connecting needs the package httpx", "serve") from None
    line = open_line(httpx.Client, address, token, timeout)
    try:
        with _understood():
            known = [str(name) for name in _sent(line, "GET", "/v1/datasets")["datasets"]]
        if dataset is None and len(known) != 1:
            raise InvalidInput(f"name the dataset; there are {', '.join(known)}.")
        return RemoteSession(line, dataset or known[0])
    except BaseException:
        line.close()
        raise


def _local(address: str) -> bool:
    """Whether an address is this machine's own; refused if a token is not safe on the way there."""
    import httpx

    try:
        found = httpx.URL(address)  # as it is read where the connection is made
        host, fine = found.host, bool(found.host) and not found.userinfo and not found.fragment
    except (httpx.InvalidURL, TypeError, ValueError):
        fine = False
    if not fine:
        raise InvalidInput("address must be like https://tacit.example.org, without a name or a password in it.")
    try:
        local = host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        local = False
    if found.scheme == "https" or (found.scheme == "http" and local):
        return local
    raise InvalidInput("address must begin with https:// (http:// only on this machine), to protect the token.")


def open_line(kind: type[T], address: str, token: str, timeout: float) -> T:
    """A client of httpx that sends a token where it was meant to and nowhere else."""
    local = _local(address)
    if not isinstance(token, str) or not token.isascii() or not token.isprintable() or not token:
        raise InvalidInput("token must be what `tacit serve token` printed; check it.")
    settings: dict[str, Any] = {
        "base_url": address,
        "headers": {"Authorization": f"Bearer {token}"},
        "timeout": timeout,
        "follow_redirects": False,
        "trust_env": not local,  # not through a proxy in the clear
    }
    return kind(**settings)


def error_of(found: object) -> TacitError | None:
    """The error that a gateway's response tells of, as the local one; None if it is not a gateway's."""
    if not isinstance(found, dict) or not isinstance(found.get("message"), str):
        return None
    words = found.get("python", found["message"])  # older gateways have one message for all
    return _ERRORS.get(found.get("error", ""), InvalidInput)(str(words))


def _sent(line: httpx.Client, method: str, path: str, **more: Any) -> dict[str, Any]:
    """What the gateway says, sent again a few times when the line breaks or it is busy; errors as the local ones."""
    import httpx

    for attempt in range(TRIES):
        last = attempt == TRIES - 1
        try:
            response = line.request(method, path, **more)
            found = response.json()
        except (httpx.TransportError, ValueError):
            if last:
                break
            time.sleep(0.2 * 3**attempt)
            continue
        if response.is_success and isinstance(found, dict):
            return found
        if response.status_code == 429 and not last:
            time.sleep(1 + attempt)
            continue
        if error := error_of(found):
            raise error
        break
    raise EngineError(
        "the gateway cannot be reached or does not answer; a question that was sent may have been charged: see the "
        "budget, and ask the same again, which is free if it was answered."
    ) from None


def _amount(text: str) -> Guarantee:
    """A guarantee as the gateway writes it; as an amount it may be zero."""
    try:
        return Guarantee.parse(text, amount=True)
    except InvalidInput:
        raise ValueError(text) from None  # not the caller's mistake


def _keys(keys: Any) -> list[Any]:
    """Keys as they are sent."""
    if isinstance(keys, str | bytes) or not isinstance(keys, Iterable):
        raise InvalidInput("keys must be a list of keys, such as ['north', 'south'].")
    return [list(key) if isinstance(key, tuple) else key for key in keys]


@contextmanager
def _understood() -> Iterator[None]:
    """Say in one sentence that what a gateway sent is not what a gateway sends."""
    try:
        yield
    except MALFORMED as error:
        if isinstance(error, TacitError):
            raise
        raise EngineError(
            "the gateway sent a response that Tacit cannot read; a question that was sent may have been charged: "
            "check the address, and that both sides have the same version of Tacit."
        ) from None
