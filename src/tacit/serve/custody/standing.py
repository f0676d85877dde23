"""Where all acts of custodians lead: who may come in, what they may ask, what was requested and approved.

A `Standing` is made from the acts in their order and holds nothing else, so every process that has read the same acts
has the same one. `overlay` lays it over what the configuration file says; what differs from the file is said at the
start and on the custodian's page (`overrides`), never silently.

The words of acts and the keys of their bodies stay as they are: a ledger keeps them for good.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import reduce
from typing import Any

from tacit.guarantees import Guarantee
from tacit.ledger import Entry, texts
from tacit.ledger.store import moment, stamp
from tacit.serve.config import Access, Config, read_access, read_settings
from tacit.serve.tokens import ANALYST, PREFIX, SIGNED, Caller, NotAdmitted, signs_in, token_id

PAUSED, REVOKED = "paused", "revoked"
OPEN, APPROVED, DECLINED, WITHDRAWN = "open", "approved", "declined", "withdrawn"


@dataclass(frozen=True)
class Request:
    """An analyst's request to approve one question, and what became of it."""

    number: int
    """That of the act in which it was made."""
    at: str
    analyst: str
    dataset: str
    identity: str
    """Of the question: its text, its keys and its cost."""
    sql: str
    cost: str
    """As the ledger writes it."""
    reason: str
    status: str = OPEN
    until: str = ""
    """When an approval ends, as the ledger writes times."""
    keys: str = ""
    """The groups that it names beside its text, as JSON; empty where it names none, or literals are not kept."""

    @property
    def guarantee(self) -> Guarantee:
        """The cost as a guarantee."""
        return texts.guarantee(self.cost)

    @property
    def account(self) -> str:
        """The name of the account that pays for the question, once approved; no analyst can be called so."""
        return f"{self.analyst} approval {self.number}"

    @property
    def expired(self) -> bool:
        """Whether it was approved and the time is over."""
        return self.status == APPROVED and self.until <= stamp(datetime.now(UTC))

    @property
    def state(self) -> str:
        """Its status in a word."""
        return "expired" if self.expired else self.status

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        facts = {"number": self.number, "at": self.at, "analyst": self.analyst, "dataset": self.dataset}
        said = {"question": self.sql, "cost": self.cost, "reason": self.reason, "status": self.state}
        return facts | said | {"until": self.until or None} | ({"keys": self.keys} if self.keys else {})


@dataclass(frozen=True)
class Standing:
    """What the acts so far have led to; the file says everything else."""

    number: int = 0
    """That of the last act."""
    datasets: Mapping[str, Mapping[str, Any] | None] = field(default_factory=dict)
    """The settings of datasets that were added or changed; None for one that is withdrawn."""
    analysts: Mapping[str, str] = field(default_factory=dict)
    """Analysts that were added, with the digest of their first token."""
    access: Mapping[tuple[str, str], Mapping[str, Any] | None] = field(default_factory=dict)
    """What an analyst may spend of a dataset, as settings; None where access was withdrawn."""
    states: Mapping[str, str] = field(default_factory=dict)
    """Who is paused or revoked."""
    tokens: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The digests of further tokens, by analyst."""
    revoked: frozenset[str] = frozenset()
    """The ids of tokens that count no more."""
    requests: dict[int, Request] = field(default_factory=dict)

    def followed(self, acts: Sequence[Entry]) -> Standing:
        """The standing after further acts."""
        return reduce(_after, acts, self)

    def check(self, caller: Caller, dataset: str = "", token: str = "", approval: int = 0) -> None:
        """Refuse an analyst whose access, token or approval ended; ``token`` is an id, empty for who has none."""
        if caller.custodian:
            return
        state = self.states.get(caller.name)
        if state == PAUSED:
            raise NotAdmitted("the custodian has paused your access; nothing more is spent: ask them.")
        if state == REVOKED or token in self.revoked or self.access.get((caller.name, dataset), {}) is None:
            raise NotAdmitted("the custodian has ended this access; nothing more is spent: ask them.")
        if approval and self.requests[approval].status != APPROVED:
            raise NotAdmitted("the custodian took back the approval of this question; nothing more is spent: ask them.")

    def approval(self, analyst: str, dataset: str, identity: str) -> Request | None:
        """The latest approval of this very question, if there is one that holds."""
        wanted = (analyst, dataset, identity, APPROVED)
        for request in reversed(self.requests.values()):
            if (request.analyst, request.dataset, request.identity, request.state) == wanted:
                return request
        return None

    def requests_of(self, analyst: str, dataset: str) -> Iterator[Request]:
        """What an analyst has requested about a dataset, oldest first."""
        return (each for each in self.requests.values() if (each.analyst, each.dataset) == (analyst, dataset))

    def digests(self, config: Config) -> dict[Caller, tuple[str, ...]]:
        """The digests of all tokens that open the door, by whose they are."""
        found: dict[Caller, tuple[str, ...]] = {}
        signing = {name: signs_in(subject) for subject, name in config.subjects.items()}
        for caller, digest in config.digests.items():
            if self.states.get(caller.name) == REVOKED and not caller.custodian:
                continue
            more = () if caller.custodian else self.tokens.get(caller.name, ())
            own = () if caller.custodian or caller.name not in signing else (signing[caller.name],)
            listed = dict.fromkeys((digest, *own, *more))
            found[caller] = tuple(each for each in listed if token_id(each) not in self.revoked)
        return found

    def knew(self, name: str) -> bool:
        """Whether any act was about an analyst of this name."""
        asked = {request.analyst for request in self.requests.values()}
        return name in {*self.analysts, *self.states, *self.tokens, *(who for who, _ in self.access), *asked}

    def token_ids(self, config: Config, analyst: str) -> list[str]:
        """The ids of an analyst's tokens that open the door."""
        digests = self.digests(config).get(Caller(ANALYST, analyst), ())
        return [token_id(digest) for digest in digests if not digest.startswith(SIGNED)]


def _after(now: Standing, act: Entry) -> Standing:
    """The standing after one more act; an act that only a later Tacit knows changes nothing here."""
    body, now = act.body, replace(now, number=act.number)
    if act.what in ("dataset added", "version added"):
        return replace(now, datasets={**now.datasets, body["dataset"]: body["settings"]})
    if act.what == "dataset withdrawn":
        return replace(now, datasets={**now.datasets, body["dataset"]: None})
    if act.what == "analyst added":
        given = {(body["analyst"], name): access for name, access in body["datasets"].items()}
        added = {**now.analysts, body["analyst"]: body["token"]}
        return replace(now, analysts=added, access={**now.access, **given})
    if act.what in ("analyst paused", "analyst revoked"):
        return replace(now, states={**now.states, body["analyst"]: act.what.rpartition(" ")[2]})
    if act.what == "analyst resumed":
        return replace(now, states={name: state for name, state in now.states.items() if name != body["analyst"]})
    if act.what in ("access set", "access withdrawn"):
        return replace(now, access={**now.access, (body["analyst"], body["dataset"]): body.get("access")})
    if act.what == "token added":
        more = (*now.tokens.get(body["analyst"], ()), body["token"])
        return replace(now, tokens={**now.tokens, body["analyst"]: more})
    if act.what == "token revoked":
        return replace(now, revoked=now.revoked | {body["token"]})
    return replace(now, requests=_requests(now.requests, act))


def _requests(known: dict[int, Request], act: Entry) -> dict[int, Request]:
    body = act.body
    if act.what == "approval requested":
        names = ("analyst", "dataset", "identity", "sql", "cost", "reason")
        said = {name: body[name] for name in names}
        made = Request(number=act.number, at=stamp(act.at), **said, keys=body.get("keys", ""))
        return {**known, act.number: made}
    states = {"question approved": APPROVED, "question declined": DECLINED, "approval withdrawn": WITHDRAWN}
    if act.what in states:
        request = replace(known[body["request"]], status=states[act.what], until=body.get("until", ""))
        return {**known, request.number: request}
    return known


def overlay(config: Config, now: Standing) -> Config:
    """The configuration as it is now: the file's, with what was done since."""
    settings, file = dict(config.settings), list(config.settings.get("analysts", []))
    datasets = {**settings.get("datasets", {}), **now.datasets}
    settings["datasets"] = served = {name: given for name, given in datasets.items() if given is not None}
    added = [{"name": name, "token": PREFIX + digest} for name, digest in now.analysts.items()]
    settings["analysts"] = [_without(section, served) for section in file] + added
    found = read_settings(settings, config.folder)
    listed = {section["name"]: section.get("datasets", {}) for section in file}
    analysts: dict[str, dict[str, Access]] = {}
    for name, allowed in found.analysts.items():
        none = name in now.analysts or (listed[name] and not set(listed[name]) & set(served))
        analysts[name] = {} if none else dict(allowed)
    for (name, dataset), access in now.access.items():
        if name not in analysts:
            continue  # they stood in the file, and do no more
        analysts[name].pop(dataset, None)
        if access is not None and dataset in served:
            analysts[name][dataset] = read_access(dataset, access, found.datasets)
    return replace(found, settings=config.settings, analysts=analysts, server=config.server)


def as_it_is(config: Config) -> Config:
    """The configuration as the ledger has it now."""
    with config.server.open_ledger() as ledger:
        return overlay(config, Standing().followed(ledger.acts()))


def _without(section: Mapping[str, Any], served: Mapping[str, Any]) -> Mapping[str, Any]:
    """An analyst's section of the file without datasets that were withdrawn."""
    if "datasets" not in section:
        return section
    return {**section, "datasets": {name: given for name, given in section["datasets"].items() if name in served}}


def overrides(config: Config, now: Standing) -> list[str]:
    """In which way the acts say otherwise than the file, a sentence for each."""
    file, current, said = read_settings(config.settings, config.folder), overlay(config, now), list[str]()
    for name, settings in now.datasets.items():
        if name in file.datasets:
            said.append(
                f"dataset {name!r} stands in the file and was withdrawn since."
                if settings is None
                else f"dataset {name!r} has other settings since than in the file."
            )
    for name, state in now.states.items():
        if name in file.analysts:
            said.append(f"analyst {name!r} stands in the file and is {state}.")
    for name, dataset in now.access:
        if name in file.analysts and file.analysts[name].get(dataset) != current.analysts[name].get(dataset):
            said.append(f"what analyst {name!r} may spend of {dataset!r} was set since, and not as in the file.")
    for digest in file.digests.values():
        if token_id(digest) in now.revoked:
            said.append(f"the token {token_id(digest)} stands in the file and is revoked.")
    return said


def until(days: int) -> str:
    """A time in so many days, as the ledger writes it."""
    return stamp(datetime.now(UTC) + timedelta(days=days))


def until_words(text: str) -> str:
    """The same for people."""
    return f"{moment(text):%Y-%m-%d %H:%M} UTC"
