"""No option is taken twice in silence: every option of every command, found by walking through them."""

from collections.abc import Iterator
from typing import Any

import pytest
import typer

from tacit.cli.app import app, run

SEVERAL = {
    ("ask", "--person"),
    ("ask", "--private"),
    ("ask", "--public"),
    ("ask", "--keys"),
    ("ask", "--date"),
    ("ask", "--fresh-only"),
    ("ask", "--option"),
    ("schema", "--option"),
    ("describe", "--person"),
    ("describe", "--private"),
    ("describe", "--public"),
    ("describe", "--date"),
    ("describe", "--column"),
    ("describe", "--option"),
    ("publish", "--fresh-only"),
    ("check", "--person"),
    ("check", "--private"),
    ("check", "--public"),
    ("check", "--option"),
    ("ledger", "create", "--person"),
}
"""Options that mean more when they are repeated."""
ANYWHERE = {"--debug", "--quiet", "--help", "--version", "--install-completion", "--show-completion"}


def options(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for parameter in command.params:
        if parameter.param_type_name == "option" and parameter.opts[-1] not in ANYWHERE:
            yield path, parameter
    for name, inner in getattr(command, "commands", {}).items():
        yield from options(inner, (*path, name))


def words(path: tuple[str, ...], option: Any) -> tuple[str, ...]:
    given = (option.opts[-1],) if option.is_flag else (option.opts[-1], "1")
    return (*path, *given)


def test_every_option_is_refused_when_it_is_given_twice(capfd: pytest.CaptureFixture[str]) -> None:
    """Before anything else is looked at: what would be missing besides is not even said."""
    found = list(options(typer.main.get_command(app)))
    assert len(found) > 50
    repeated = {(*path, option.opts[-1]) for path, option in found if option.multiple}
    assert repeated == SEVERAL
    for path, option in found:
        if not option.multiple:
            once = words(path, option)
            assert run((*once, *once[len(path) :])) == 2
            out, err = capfd.readouterr()
            assert out == ""
            assert err in {f"tacit: {name} is given twice; give it once.\n" for name in option.opts}


def test_other_spellings_of_the_same_option_count(capfd: pytest.CaptureFixture[str]) -> None:
    query = "SELECT COUNT(*) FROM orders"
    assert run(("ask", "orders.csv", "--epsilon=1", "--person", "customer", query, "--epsilon", "1")) == 2
    assert capfd.readouterr().err == "tacit: --epsilon is given twice; give it once.\n"


def test_what_may_stand_anywhere_may_stand_twice(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(("--quiet", "schema", "nothing.csv", "--quiet")) == 2
    assert "there is no file" in capfd.readouterr().err
