"""The sections of a TOML file, read setting by setting: whatever nobody asked for is refused at the end."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from tacit.errors import InvalidInput
from tacit.numbers.exact import bounded


def read_toml(file: Path) -> dict[str, Any]:
    """The tables of a file; numbers keep their decimals exactly."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"), parse_float=Decimal)
    except OSError:
        raise InvalidInput(f"there is no configuration that can be read at {str(file)!r}; check the path.") from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits is a plain ValueError
        raise InvalidInput(f"{file} is not TOML: {error}; correct it there.") from None


class Section:
    """A table of the file, from which settings are taken; what is left at the end is unknown."""

    def __init__(self, where: str, values: object) -> None:
        if not isinstance(values, Mapping):
            raise InvalidInput(f"{where} must be a table with settings.")
        self.where, self.values = where, values
        self._left = dict.fromkeys(values)
        self._known: list[str] = []

    def take(self, name: str, default: Any) -> Any:
        """A setting of any kind."""
        self._left.pop(name, None)
        self._known.append(name)
        return self.values.get(name, default)

    def text(self, name: str, default: str | None = None) -> str:
        """A text, which must be there unless it has a default."""
        value = self.take(name, default)
        if not isinstance(value, str) or (not value and default is None):
            raise InvalidInput(f'{self.where} needs a text for {name!r}; write {name} = "…".')
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts, empty if it is not there."""
        value = self.take(name, [])
        if not isinstance(value, list) or not all(isinstance(text, str) and text for text in value):
            raise InvalidInput(f'{self.where}: {name} must be a list of texts, such as ["research"].')
        return tuple(value)

    def number(self, name: str, default: Any, *, whole: bool) -> Any:
        """A number of at least zero; whole numbers that have a default above zero stay above zero."""
        value = self.take(name, default)
        kinds = int if whole else int | Decimal
        least = 1 if whole and default and name != "port" else 0
        if isinstance(value, bool) or not isinstance(value, kinds) or not bounded(value) or not least <= value <= 10**9:
            raise InvalidInput(f"{self.where}: {name} must be a {'whole ' if whole else ''}number from {least} up.")
        return value if whole else Decimal(value)

    def truth(self, name: str, default: bool) -> bool:
        """True or false."""
        value = self.take(name, default)
        if not isinstance(value, bool):
            raise InvalidInput(f"{self.where}: {name} must be true or false.")
        return value

    def mapping(self, name: str) -> dict[str, Any]:
        """A table whose names are free."""
        return dict(Section(f"{self.where}.{name}", self.take(name, {})).values)

    def section(self, name: str) -> Section:
        """A table of settings, empty if it is not there."""
        return Section(self._inside(name), self.take(name, {}))

    def sections(self, name: str) -> dict[str, Section]:
        """A table of tables."""
        inside = self.section(name)
        return {key: Section(f"{inside.where}.{key}", value) for key, value in inside.values.items()}

    def several(self, name: str) -> list[Section]:
        """A list of tables."""
        found = self.take(name, [])
        if not isinstance(found, list):
            raise InvalidInput(f"{self.where}: write each of the {name} as [[{name}]].")
        return [Section(f"{self._inside(name)} number {i + 1}", value) for i, value in enumerate(found)]

    def done(self) -> None:
        """Refuse what nobody asked for."""
        for name in self._left:
            raise InvalidInput(f"{self.where} has no setting {name!r}; there are {', '.join(sorted(self._known))}.")

    def _inside(self, name: str) -> str:
        return name if self.where == "the configuration" else f"{self.where}.{name}"
