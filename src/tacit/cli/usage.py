"""How commands show themselves in --help, and what is said about a line that they cannot read.

Typer names the types of Python there and cuts the summary of a command off where the line ends; here an option names
what it takes, and a summary is the first clause of the help, whole.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from tacit.errors import did_you_mean

NARROW, LEAST = 56, 10
"""In so few columns, names take no more than so many."""
_NUMBERS = {"epsilon", "delta", "rho", "error", "persons", "seconds", "port", "workers"}
_FILES = {"ledger", "config"}
_CLAUSE = re.compile(r"[^:;.]+")
_WHOLE, _NUMBER = "valid integer", "valid number"
"""What a message says of a text that is no number."""


def in_plain_words(command: Any) -> Any:
    """The same command, whose help speaks to people; so do all commands below it."""
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            parameter.display_type_rich = lambda ctx: ""
        elif parameter.metavar is None and not parameter.is_flag:
            parameter.metavar = _takes(parameter.opts)
    command.context_class = _in_columns(command.context_class)
    for inner in getattr(command, "commands", {}).values():
        if (clause := _CLAUSE.match(inner.help or "")) is not None:
            inner.short_help = f"{' '.join(clause[0].split())}."
        in_plain_words(inner)
    return command


@cache
def _in_columns(context: Any) -> Any:
    """The same context, whose help puts explanations below long names where beside them little room is left."""

    class Formatter(context.formatter_class):  # type: ignore[misc]
        def write_dl(self, rows: Any, col_max: int = 30, col_spacing: int = 2) -> None:
            super().write_dl(rows, col_max if self.width > NARROW else LEAST, col_spacing)

    return type(context.__name__, (context,), {"formatter_class": Formatter})


def _takes(flags: Sequence[str]) -> str:
    """What stands after an option: --each-epsilon NUMBER, --host HOST."""
    name = max(flags, key=len).rpartition("-")[2]
    return "NUMBER" if name in _NUMBERS else "FILE" if name in _FILES else name.upper()


def mistake(error: Any) -> str:
    """One sentence about a line that no command can read, and where to look; a command's help where it had no words."""
    context, message = getattr(error, "ctx", None), error.format_message().rstrip(".")
    if message.startswith("Usage: ") or not message:
        return str(message)
    wrong, known = getattr(error, "option_name", None), getattr(error, "possibilities", None)
    if wrong and known:
        begun = [name for name in known if name.startswith(wrong)]
        message = f"No such option: {wrong}; {did_you_mean(wrong, begun or known) or f'did you mean {known[0]}?'}"
    message = re.sub(r"\. Did you mean '(.*)'\?$", r"; did you mean \1?", message)
    message = re.sub(r"^Got unexpected extra argument\S* \((.*)\)$", r"\1 is more than this command takes", message)
    if (found := re.match(r"Invalid value for '(.*?)'", message)) is not None:
        if _WHOLE in message:
            message = f"{found[1]} takes a whole number such as 10000, without commas"
        elif _NUMBER in message:
            message = f"{found[1]} takes a number such as 0.5"
    where = f"{context.command_path if context else 'tacit'} --help."
    return f"{message} See {where}" if message.endswith("?") else f"{message}; see {where}"
