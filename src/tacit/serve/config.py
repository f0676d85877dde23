"""The one file that says what is served to whom: TOML, read into frozen values, refused with the line at fault.

The schema is in docs/how-to/serve.md. Numbers keep their decimals exactly. Paths are relative to the file. Unknown
settings are refused: a misspelt limit must not be no limit. A configuration is plain data that goes to every executor;
each opens what it names by itself.

`tacit ask` and `tacit check` read the same file (``serving=False``). For them it may be smaller: nobody needs a token,
and no dataset a budget.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from tacit.budgets import Periods
from tacit.errors import InvalidInput, LedgerError
from tacit.guarantees import Guarantee
from tacit.ledger import Ledger, open_ledger
from tacit.serve.settings import Section, read_toml
from tacit.serve.tokens import ANALYST, CUSTODIAN, PREFIX, Caller, signs_in
from tacit.tables import Private, Public
from tacit.tables.releasing.room import cost_of

T = TypeVar("T")

LEAST_MEMORY = 256
"""Megabytes that an executor needs for itself and a small question."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_DIGEST = re.compile(re.escape(PREFIX) + r"([0-9a-f]{64})")


@dataclass(frozen=True)
class Server:
    """Where the gateway listens and what it writes."""

    host: str = "127.0.0.1"
    port: int = 8700
    workers: int = 1
    ledger: str = "ledger.db"
    """A file, or postgresql://…; empty in a file that is for no gateway."""
    log: str = "-"
    """Where the audit log goes: a file, or "-" for standard error."""
    address: str = ""
    """What people type to get here, such as https://tacit.example.org; empty for http://host:port."""
    audit_report: str = "tacit-audit.html"
    """Where the report of the last audit is kept."""
    check_report: str = "tacit-check.json"
    """Where the report of the check of the data is kept."""
    ledger_id: str = ""
    """The identity of the ledger, so that a lost one is not replaced by a new one; printed at the first start."""
    share_answers: bool = False
    """Whether an answer is free for everybody once one analyst paid for it; then analysts see what others asked."""

    def open_ledger(self) -> Ledger:
        """The ledger of the expected identity; without one any ledger, which is made if it is not there."""
        ledger = open_ledger(self.ledger, create=not self.ledger_id)
        if self.ledger_id not in ("", ledger.identity):
            ledger.close()
            raise LedgerError(
                f"the ledger has the identity {ledger.identity!r} and the configuration expects {self.ledger_id!r}, so "
                "it is not the one that budgets were spent from; nothing was spent: put the right one back, or correct "
                "ledger_id."
            )
        return ledger


@dataclass(frozen=True)
class Limits:
    """What one caller, and all together, may ask of the machine."""

    seconds: Decimal = Decimal(30)
    """For one statement of the engine."""
    question_seconds: Decimal = Decimal(90)
    """For a whole question: planning, statements, and what is computed of them."""
    preview_seconds: Decimal = Decimal(5)
    """For a preview, or for looking at an answer again."""
    memory_mb: int = 2048
    """For each executor; the engine gets half of it."""
    concurrency: int = 4
    """Questions that each worker computes at the same time."""
    per_analyst: int = 2
    """Questions of one analyst among them, always fewer than all where there are several."""
    previews: int = 2
    """Previews that each worker computes at the same time, one of an analyst."""
    waiting: int = 200
    """Questions, and previews, of one analyst that may wait in each worker; more are asked to come back."""
    body_bytes: int = 65_536
    query_characters: int = 10_000
    aggregates: int = 20
    """Different aggregates in one question; each takes its own time."""
    per_minute: int = 240
    """Requests of one caller, to all workers together."""
    logins_per_minute: int = 30
    """Wrong tokens that a worker listens to."""
    rows: int = 20_000_000
    """Rows of one question before any filter, where they concern several persons or a join multiplies them."""
    padding_seconds: Decimal = Decimal(0)
    """Answers are sent at multiples of this time after the question; 0 for at once."""
    least_price: Decimal = Decimal("0.0001")
    """The least share of a dataset's budget that each aggregate of a question must cost; 0 for none."""
    failures: int = 3
    """Questions of one analyst to one dataset that may fail after they were charged, until the custodian renews it."""


@dataclass(frozen=True)
class SignIn:
    """The OpenID provider by which people sign in, and what its claims mean here (`tacit.serve.sign_in`)."""

    issuer: str = ""
    """Such as https://login.example.org; empty where people have tokens alone."""
    client_id: str = ""
    secret_file: str = ""
    """The file that holds the client's secret; empty for a public client, or where the environment has it."""
    label: str = "your organisation"
    """What the page calls the provider."""
    scope: str = "openid profile email"
    person: str = "sub"
    """The claim that says who somebody is; an analyst's ``subject`` is its value."""
    roles: str = ""
    """The claim that lists somebody's roles or groups; "realm_access.roles" looks inside."""
    analysts: tuple[str, ...] = ()
    """Roles of which an analyst needs one; without any, being listed is enough."""
    custodians: tuple[str, ...] = ()
    """Roles that open the custodian's view."""


@dataclass(frozen=True)
class Telemetry:
    """Where traces and metrics go (`tacit.serve.telemetry`)."""

    endpoint: str = ""
    """An OTLP receiver over HTTP, such as http://127.0.0.1:4318; empty for none."""
    service: str = "tacit"
    seconds: Decimal = Decimal(15)
    """Between two reports of the metrics."""


@dataclass(frozen=True)
class Access:
    """What an analyst may spend of a dataset: up to a limit, or a share set apart."""

    limit: Guarantee | None = None
    share: Guarantee | None = None
    approve_above: Guarantee | None = None
    """A question that costs more needs a person's approval."""


@dataclass(frozen=True)
class ServedDataset:
    """Tables under one budget."""

    name: str
    tables: Mapping[str, Private | Public]
    budget: Guarantee | None
    """What all analysts together may spend; a gateway needs it."""
    composition: str = "basic"
    persons: int | None = None
    """About how many persons there are, if that is public: for forecasts of accuracy."""
    expanding_joins: bool = False
    """Whether joins are answered whose size only private rows bound; their failures then tell about these rows."""
    version: str | None = None
    """The public label of the data as they are now; answers are found again within it."""
    periods: Periods | None = None
    """A budget for each period, below ``budget`` as the bound for a lifetime."""
    period: str | None = None
    """The period that is asked about."""


@dataclass(frozen=True)
class Config:
    """Everything a gateway needs to know."""

    datasets: Mapping[str, ServedDataset]
    analysts: Mapping[str, Mapping[str, Access]]
    """For each analyst the datasets they may ask."""
    digests: Mapping[Caller, str] = field(repr=False)
    server: Server = Server()
    limits: Limits = Limits()
    sign_in: SignIn = SignIn()
    subjects: Mapping[str, str] = field(default_factory=dict)
    """The analyst whom a provider calls so."""
    telemetry: Telemetry = Telemetry()
    paces: Mapping[str, int] = field(default_factory=dict)
    """Requests a minute of analysts that have a limit of their own."""
    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The tables of the file, from which the configuration is read again with what was done since."""
    folder: Path = Path()
    """Where the file is."""


def load(path: str | Path, *, serving: bool = True) -> Config:
    """Read a configuration file, whole, whether or not it is for a gateway."""
    file = Path(path)
    return read_settings(read_toml(file), file.absolute().parent, serving=serving)


def read_settings(settings: Mapping[str, Any], folder: Path, *, serving: bool = True) -> Config:
    """A configuration from the tables of a TOML file in this folder."""
    top = Section("the configuration", settings)
    alone = not serving and not {"server", "custodian", "analysts"} & settings.keys()
    server = _settings(Server, top.section("server"))
    server = replace(
        server,
        ledger="" if alone else _source(server.ledger, folder),
        log=server.log if server.log == "-" else _source(server.log, folder),
        audit_report=_source(server.audit_report, folder),
        check_report=_source(server.check_report, folder),
    )
    limits = _settings(Limits, top.section("limits"))
    sign_in = _sign_in(top.section("sign_in"), server, folder)
    telemetry = _settings(Telemetry, top.section("telemetry"))
    if limits.least_price > 1:
        raise InvalidInput("limits: least_price must be a share of the budget, from 0 to 1.")
    if not (limits.question_seconds and limits.preview_seconds and limits.memory_mb >= LEAST_MEMORY):
        raise InvalidInput(
            f"limits: question_seconds and preview_seconds must be above 0, and memory_mb at least {LEAST_MEMORY}."
        )
    datasets = {name: _dataset(name, section, folder, serving) for name, section in top.sections("datasets").items()}
    custodian = top.section("custodian")
    if not datasets and not (serving and (custodian.values or sign_in.custodians)):  # a custodian can add datasets
        raise InvalidInput("the configuration has no dataset; add one, such as [datasets.orders].")
    analysts: dict[str, Mapping[str, Access]] = {}
    digests: dict[Caller, str] = {}
    subjects: dict[str, str] = {}
    paces: dict[str, int] = {}
    if sign_in.custodians:
        digests[Caller(CUSTODIAN, CUSTODIAN)] = signs_in(CUSTODIAN)
    if custodian.values:
        digests[Caller(CUSTODIAN, CUSTODIAN)] = _token(custodian)
        custodian.done()
    for section in top.several("analysts"):
        name = _name(section.text("name"), section.where)
        if name in analysts:
            raise InvalidInput(f"two analysts are called {name!r}; give each a name of their own.")
        if subject := section.text("subject", ""):
            if not sign_in.issuer or subject in subjects:
                raise InvalidInput(f"{section.where}: a subject needs [sign_in], and each person their own.")
            subjects[subject] = name
        digests[Caller(ANALYST, name)] = (
            signs_in(subject) if subject and "token" not in section.values else _token(section)
        )
        if pace := section.number("per_minute", 0, whole=True):
            paces[name] = pace
        wanted = section.sections("datasets") or {key: Section("", {}) for key in datasets}
        analysts[name] = {key: _access(key, access, datasets) for key, access in wanted.items()}
        section.done()
    top.done()
    if serving and not digests:
        raise InvalidInput("nobody has a token; make one with `tacit serve token` and add [[analysts]].")
    if len(set(digests.values())) < len(digests):
        raise InvalidInput("two callers have the same token; make one for each with `tacit serve token`.")
    return Config(datasets, analysts, digests, server, limits, sign_in, subjects, telemetry, paces, settings, folder)


def _sign_in(section: Section, server: Server, folder: Path) -> SignIn:
    if not section.values:
        return SignIn()
    found = _settings(SignIn, section)
    if not (found.issuer and found.client_id and server.address):
        raise InvalidInput("sign_in needs an issuer and a client_id, and [server] the address to come back to.")
    if not _safe(found.issuer) or not _safe(server.address):
        raise InvalidInput("sign_in: the issuer and the address must begin with https:// (http:// only on loopback).")
    if (found.analysts or found.custodians) and not found.roles:
        raise InvalidInput('sign_in: roles must name the claim that lists them, such as roles = "groups".')
    return replace(found, secret_file=found.secret_file and str(folder / found.secret_file))


def _safe(address: str) -> bool:
    """Whether nobody on the way can listen."""
    found = urlsplit(address)
    return found.scheme == "https" or (found.scheme == "http" and found.hostname in ("127.0.0.1", "localhost", "::1"))


def _settings(kind: type[T], section: Section) -> T:
    """A section of plain settings with defaults."""
    given: dict[str, Any] = {}
    for item in fields(kind):  # type: ignore[arg-type]
        default = item.default
        if isinstance(default, bool):
            given[item.name] = section.truth(item.name, default)
        elif isinstance(default, str):
            given[item.name] = section.text(item.name, default)
        elif isinstance(default, tuple):
            given[item.name] = section.texts(item.name)
        else:
            given[item.name] = section.number(item.name, default, whole=isinstance(default, int))
    section.done()
    return kind(**given)


def read_dataset(name: str, settings: Mapping[str, Any], folder: Path) -> ServedDataset:
    """A dataset from settings as the file has them."""
    return _dataset(name, Section(f"datasets.{name}", settings), folder, serving=True)


def _dataset(name: str, section: Section, folder: Path, serving: bool) -> ServedDataset:
    _name(name, section.where)
    budget = _guarantee(section.section("budget"))
    periods, period = _periods(section.section("periods"), budget), section.text("period", "") or None
    budget = budget if periods is None else periods.above
    if serving and budget is None:
        raise InvalidInput(f"{section.where} needs a budget, such as budget = {{ epsilon = 1 }}.")
    persons = section.number("persons", 0, whole=True)
    source = section.text("source", "")
    tables = {key: _table(table, source, folder) for key, table in section.sections("tables").items()}
    expanding = section.truth("expanding_joins", False)
    composition, version = section.text("composition", "basic"), section.text("version", "") or None
    section.done()
    if serving and periods is not None and period is None:
        raise InvalidInput(f"{section.where} has a budget for each {periods.every}; say which is asked about: period.")
    return ServedDataset(name, tables, budget, composition, persons or None, expanding, version, periods, period)


def _periods(section: Section, lifetime: Guarantee | None) -> Periods | None:
    """The budget of each period, and that there is no bound for a lifetime where that is said."""
    if not section.values:
        return None
    every, each = section.text("every"), _guarantee(section.section("each"))
    unbounded = section.truth("without_lifetime_bound", False)
    section.done()
    if each is None:
        raise InvalidInput(f"{section.where} needs what each {every} may cost, such as each = {{ epsilon = 1 }}.")
    try:
        return Periods(every, each, lifetime, unbounded)
    except InvalidInput as error:
        raise InvalidInput(f"{section.where}: {error.message} The budget of the dataset is the lifetime.") from None


def _table(section: Section, given: str, folder: Path) -> Private | Public:
    source = _source(section.text("source", given or None), folder)
    through = section.mapping("through")
    person, public = section.take("person", None), section.take("public", False)
    facts = {"key": section.take("key", None), "table": section.take("table", None)}
    reader = {**facts, "schema": section.mapping("schema") or None, **section.mapping("options")}
    unit, day = section.take("unit", None), section.take("date", None)
    section.done()
    of_nobody = public is True and person is None and not through and unit is None and day is None
    if public is not False and not of_nobody:
        raise InvalidInput(
            f"{section.where} is public or has persons, not both; leave out public, or person and through."
        )
    try:
        if of_nobody:
            return Public(source, **reader)
        return Private(source, person, through=through, unit=unit, date=day, **reader)
    except InvalidInput as error:
        raise InvalidInput(f"{section.where}: {error}") from None


def _source(text: str, folder: Path) -> str:
    """A path from the configuration's folder, or an address as it is."""
    return text if "://" in text else str(folder / text)


def read_access(name: str, settings: Mapping[str, Any], datasets: Mapping[str, ServedDataset]) -> Access:
    """What an analyst may spend of a dataset, from settings as the file has them."""
    return _access(name, Section(name, settings), datasets)


def _access(name: str, section: Section, datasets: Mapping[str, ServedDataset]) -> Access:
    if name not in datasets:
        raise InvalidInput(
            f"{section.where} names a dataset {name!r} that is not in the file; it has {', '.join(datasets) or 'none'}."
        )
    access = Access(*(_guarantee(section.section(item.name)) for item in fields(Access)))
    section.done()
    if access.limit is not None and access.share is not None:
        raise InvalidInput(f"{section.where} has a limit and a share; give one of them.")
    return access


def _guarantee(section: Section) -> Guarantee | None:
    if not section.values:
        return None
    amounts = {name: section.take(name, None) for name in ("epsilon", "delta", "rho")}
    section.done()
    try:
        return cost_of(**amounts)
    except InvalidInput as error:
        raise InvalidInput(f"{section.where}: {error}") from None


def _name(name: str, where: str) -> str:
    if not NAME.fullmatch(name):
        raise InvalidInput(f"{where}: a name has letters, digits, '-', '_' and '.' only, at most 64; choose another.")
    return name


def _token(section: Section) -> str:
    match = _DIGEST.fullmatch(section.text("token"))
    if match is None:
        raise InvalidInput(f"{section.where}: token must be a line that `tacit serve token` made, {PREFIX}….")
    return match.group(1)
