"""An option that is given twice is refused, in every command: typer would silently take the last one.

Options that take several values (their type is a list) may be repeated; --debug and --quiet may stand anywhere and mean
the same however often they do.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tacit.errors import InvalidInput


def refuse_repeats(command: Any) -> Any:
    """The same command, which notices repeated options while it reads its words; so do all commands below it."""
    make = command.make_parser

    def make_parser(context: Any) -> Any:
        parser = make(context)
        parse = parser.parse_args

        def parse_once(args: list[str]) -> Any:
            values, rest, order = parse(args)
            if not context.resilient_parsing:  # the shell completes a line
                _check(order)
            return values, rest, order

        parser.parse_args = parse_once
        return parser

    command.make_parser = make_parser
    for inner in getattr(command, "commands", {}).values():
        refuse_repeats(inner)
    return command


def _check(given: Iterable[Any]) -> None:
    """Refuse what stands twice among the parameters that were found."""
    seen: set[int] = set()
    for parameter in given:
        if parameter.param_type_name == "option" and not parameter.multiple:
            if id(parameter) in seen:
                raise InvalidInput(f"{max(parameter.opts, key=len)} is given twice; give it once.")
            seen.add(id(parameter))
