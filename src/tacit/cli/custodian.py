"""`tacit custodian …`: everything a custodian does, from the command line of the machine itself.

Whoever can write the ledger acts here without a token; what is done counts at once in a gateway that runs, and is
recorded under the name of the system's user.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli.speech import Json, notice, say, say_json
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.serve.custody.actions import Desk

custodian = typer.Typer(
    help="Analysts, limits, approvals and datasets of a gateway, while it runs or not.", no_args_is_help=True
)

Config = Annotated[Path, typer.Option("--config", envvar="TACIT_CONFIG", help="The gateway's configuration file.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do it without asking once more.")]
AsJson = Annotated[bool, Json]
Analyst = Annotated[str, typer.Argument(help="The analyst's name.")]
Dataset = Annotated[str, typer.Argument(help="The dataset's name.")]
Number = Annotated[int, typer.Argument(help="The request's number, as `show` lists it.")]
Epsilon = Annotated[str, typer.Option(help="ε.")]
Delta = Annotated[str, typer.Option(help="δ, with --epsilon.")]
Rho = Annotated[str, typer.Option(help="ρ.")]
FILE = Path("tacit.toml")


@contextmanager
def _desk(config: Path) -> Iterator[Desk]:
    from tacit.ledger.book import login
    from tacit.serve.config import load
    from tacit.serve.custody.actions import Desk
    from tacit.serve.gateway import Gateway

    with closing(Gateway(load(config))) as gateway:
        yield Desk(gateway, login(), "command line", local=True)


def _do(config: Path, yes: bool, as_json: bool, action: str, **fields: str) -> None:
    """Propose an action, ask, and do it."""
    from tacit.serve.custody.actions import perform, propose
    from tacit.serve.custody.catalogue import read_action
    from tacit.serve.records import AuditLog

    read = read_action({"action": action} | {name: text for name, text in fields.items() if text})
    with _desk(config) as desk:
        proposal = propose(desk, read)
        if not yes:
            if as_json:
                raise InvalidInput("with --json nobody can be asked; say --yes.")
            say(proposal.words)
            if not typer.confirm("Do it?", err=True):
                notice("nothing was done.")
                return
        done = perform(desk, read, proposal.code)
        desk.gateway.follow()
        AuditLog(desk.gateway.config.server.log).write(
            "act", number=done.number, action=action, who=desk.who, way=desk.way
        )
    if as_json:
        say_json({"done": done.number, "words": done.words, **done.secret})
        return
    say(f"Done, as act {done.number}: {done.words}")
    for name, secret in done.secret.items():
        say(f"the {name}, shown once: {secret}")


@custodian.command()
def found(
    file: Annotated[Path, typer.Argument(help="The file to write.")] = FILE,
    as_json: AsJson = False,
) -> None:
    """Write a first configuration: a ledger, a log, and a custodian's token that is shown once.

    Example: tacit custodian found
    """
    from tacit.serve.custody.founding import found as made

    token = made(file)
    if as_json:
        say_json({"file": str(file), "token": token})
    else:
        say(f"wrote {file}.\nthe custodian's token, shown once: {token}")


@custodian.command()
def show(config: Config = FILE, as_json: AsJson = False) -> None:
    """Who may ask what, what is left, and who waits for approval."""
    from tacit.ledger import texts
    from tacit.serve.custody.summary import summary

    with _desk(config) as desk:
        found = summary(desk.gateway)
    if as_json:
        say_json(found)
        return

    for each in found["datasets"]:
        say(f"dataset {each['name']}: {each['words']}")
    for each in found["analysts"]:
        tokens = ", ".join(each["tokens"]) or "none"
        say(f"analyst {each['name']}, {each['state']}; tokens: {tokens}")
        for name, access in each["access"].items():
            say(f"  {name}: {access['words']}")
    for each in found["requests"]:
        if each["status"] == "open":
            cost = texts.guarantee(each["cost"]).short()
            say(f"request {each['number']} of {each['analyst']} to {each['dataset']}, {cost}: {each['question']}")
    for words in (*found["overrides"], *(f"{name}: {why}" for name, why in found["unopened"].items())):
        notice(words)


@custodian.command()
def log(config: Config = FILE, as_json: AsJson = False) -> None:
    """What was done, oldest first, and whether nothing is missing."""
    from tacit.ledger import open_ledger
    from tacit.serve.config import load
    from tacit.serve.custody.summary import act_facts

    with open_ledger(load(config).server.ledger, read_only=True) as ledger:
        acts, problems = [act_facts(entry) for entry in ledger.acts()], ledger.verify_acts()
    if as_json:
        say_json({"acts": acts, "problems": list(problems)})
    else:
        for each in acts:
            facts = " ".join(f"{key}={value}" for key, value in each["facts"].items())
            say(f"{each['number']} {each['at']} {each['who']} {each['act']} {facts}")
        say("; ".join(problems) or f"{len(acts)} acts; nothing is missing.")


@custodian.command()
def add_dataset(
    name: Dataset,
    source: Annotated[str, typer.Argument(help="A file, or the address of a database.")],
    person: Annotated[str, typer.Option(help="The column that says whom a row is about.")],
    epsilon: Epsilon = "",
    delta: Delta = "",
    rho: Rho = "",
    table: Annotated[str, typer.Option(help="What the table is called in SQL.")] = "",
    inside: Annotated[str, typer.Option(help="The table inside a database.")] = "",
    key: Annotated[str, typer.Option(help="The columns that no two rows share, with commas.")] = "",
    persons: Annotated[str, typer.Option(help="About how many persons there are, if that is public.")] = "",
    composition: Annotated[str, typer.Option(help="basic, advanced, tight or odometer.")] = "basic",
    config: Config = FILE,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Serve a file or a table under a budget of its own.

    Example: tacit custodian add-dataset shop orders.parquet --person customer --epsilon 4
    """
    where = source if "://" in source else str(Path(source).absolute())
    amounts = {"epsilon": epsilon, "delta": delta, "rho": rho, "composition": composition}
    facts = {"name": name, "source": where, "person": person, "table": table, "inside": inside}
    _do(config, yes, as_json, "add dataset", **facts, row_key=key, persons=persons, **amounts)


@custodian.command()
def add_version(
    name: Dataset,
    version: Annotated[str, typer.Argument(help="The version's label, such as 2026-11.")],
    source: Annotated[str, typer.Argument(help="Where its data are.")],
    table: Annotated[str, typer.Option(help="Which table, where there are several.")] = "",
    config: Config = FILE,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Let a dataset go on with newer data, under the same budget.

    Example: tacit custodian add-version shop 2026-11 orders-2026-11.parquet
    """
    where = source if "://" in source else str(Path(source).absolute())
    _do(config, yes, as_json, "add version", name=name, version=version, source=where, table=table)


@custodian.command()
def withdraw_dataset(name: Dataset, config: Config = FILE, yes: Yes = False, as_json: AsJson = False) -> None:
    """Serve a dataset no more; its budget stays in the ledger."""
    _do(config, yes, as_json, "withdraw dataset", name=name)


@custodian.command()
def add_analyst(
    name: Analyst,
    dataset: Dataset,
    epsilon: Epsilon = "",
    delta: Delta = "",
    rho: Rho = "",
    config: Config = FILE,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Invite an analyst, with a limit of their own or without; their token is shown once.

    Example: tacit custodian add-analyst ada shop --epsilon 1
    """
    _do(config, yes, as_json, "add analyst", name=name, dataset=dataset, epsilon=epsilon, delta=delta, rho=rho)


@custodian.command()
def set_limit(
    name: Analyst,
    dataset: Dataset,
    epsilon: Epsilon = "",
    delta: Delta = "",
    rho: Rho = "",
    config: Config = FILE,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Set, raise or lower what an analyst may spend; without an amount up to the budget that all share.

    Example: tacit custodian set-limit ada shop --epsilon 2
    """
    _do(config, yes, as_json, "set limit", name=name, dataset=dataset, epsilon=epsilon, delta=delta, rho=rho)


@custodian.command()
def require_approval(
    name: Analyst,
    dataset: Dataset,
    epsilon: Epsilon = "",
    delta: Delta = "",
    rho: Rho = "",
    config: Config = FILE,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Let a person approve each question that costs more than this; none, without an amount."""
    _do(config, yes, as_json, "require approval", name=name, dataset=dataset, epsilon=epsilon, delta=delta, rho=rho)


@custodian.command()
def withdraw_access(
    name: Analyst, dataset: Dataset, config: Config = FILE, yes: Yes = False, as_json: AsJson = False
) -> None:
    """Let an analyst ask one dataset no more."""
    _do(config, yes, as_json, "withdraw access", name=name, dataset=dataset)


def _about_analyst(word: str, action: str, words: str) -> None:
    """A command that needs an analyst's name alone."""

    def command(name: Analyst, config: Config = FILE, yes: Yes = False, as_json: AsJson = False) -> None:
        _do(config, yes, as_json, action, name=name)

    custodian.command(word, help=words)(command)


_about_analyst("pause", "pause analyst", "Refuse an analyst until further notice.")
_about_analyst("resume", "resume analyst", "Let a paused analyst go on.")
_about_analyst("revoke", "revoke analyst", "End an analyst's access for good, also for questions that wait.")
_about_analyst("add-token", "add token", "A further token for an analyst, shown once.")


@custodian.command()
def revoke_token(
    name: Analyst,
    token: Annotated[str, typer.Argument(help="The token's id, as `show` lists it.")],
    config: Config = FILE,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Let one token count no more."""
    _do(config, yes, as_json, "revoke token", name=name, token=token)


@custodian.command()
def approve(
    request: Number,
    days: Annotated[int, typer.Option(help="For how many days.")] = 7,
    config: Config = FILE,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Approve one question of one analyst, once, at its cost."""
    _do(config, yes, as_json, "approve", request=str(request), days=str(days))


@custodian.command()
def decline(request: Number, config: Config = FILE, yes: Yes = False, as_json: AsJson = False) -> None:
    """Decline a request."""
    _do(config, yes, as_json, "decline", request=str(request))


@custodian.command()
def withdraw_approval(request: Number, config: Config = FILE, yes: Yes = False, as_json: AsJson = False) -> None:
    """Take back an approval that was not used."""
    _do(config, yes, as_json, "withdraw approval", request=str(request))


@custodian.command()
def backup(
    folder: Annotated[Path, typer.Argument(help="A new folder for the copy.")],
    config: Config = FILE,
    as_json: AsJson = False,
) -> None:
    """Copy the ledger, the log and the configuration, while the gateway runs, and verify the copy.

    Example: tacit custodian backup /backups/2026-11-16
    """
    from tacit.serve.config import load
    from tacit.serve.custody.backups import back_up

    found = back_up(load(config), config, folder)
    if as_json:
        say_json({"folder": str(folder), "heads": found.heads, "acts": found.acts})
    else:
        say(f"wrote {folder}.\n{found}")


@custodian.command()
def restore(
    folder: Annotated[Path, typer.Argument(help="A folder that `backup` made.")],
    config: Config = FILE,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Put the ledger of a backup in the place of one that is lost; the gateway must not run.

    What the audit log says was asked since the backup is charged again, so that it is not forgotten.
    """
    from tacit.serve.config import load
    from tacit.serve.custody.backups import restore as put_back

    words = "The present ledger is put aside and the backup's counts from now on. Do it?"
    if not yes and not typer.confirm(words, err=True):
        notice("nothing was done.")
        return
    found = put_back(load(config), folder)
    if as_json:
        say_json({"heads": found.heads, "acts": found.acts, "charged_again": found.charged})
    else:
        say(f"restored; {found.charged} questions that were asked since were charged again.\n{found}")
