"""Everything Tacit raises on purpose.

Each message is one sentence that says what happened, what was or was not spent, and what to do. No message
carries anything that depends on private data.

FACES  A message is written once, in the words of Python, and told in the words of the face that was used. An argument
is written as Python names it, ``keys=``, with a constant after it or none; the command line reads it as its flag, a
page as its field. What can be done in Python alone stands in double brackets, ``[[, or with per_person]]``, and is
left out elsewhere.
"""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Literal

DISTRIBUTION = "tacit-dp"
"""What is installed; ``tacit`` alone is somebody else's."""

Face = Literal["python", "command line", "json", "page"]
"""Where a question was asked: in a program, in a terminal, over HTTP, in a browser."""

_QUESTION = ("epsilon", "delta", "rho", "keys", "fresh")
"""Arguments that every face has."""
_FLAGS = (*_QUESTION, "person", "persons", "table", "ledger", "name", "version", "period", "error", "shape")
"""Arguments that are flags of the command line."""
_SETTINGS = ("through", "key", "schema", "unit", "composition")
"""Arguments that have no flag; a configuration knows them."""


def _arguments(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.-])({'|'.join(names)})=(\d[\w./-]*|'[^']*'|\"[^\"]*\"|…|True)?(, (?=delta=))?")


_EVERYWHERE, _IN_SHELLS = _arguments(_QUESTION), _arguments((*_FLAGS, *_SETTINGS))
_PYTHON_ONLY = re.compile(r"\[\[(?!\w+\]\])(.*?)\]\]", re.DOTALL)
"""Not a bare word in double brackets, which is a heading of TOML."""
_LABELS = {"epsilon": "ε", "delta": "δ", "rho": "ρ"}
"""What the fields of a page are called."""
_LETTERS = {"Pure": "ε", "Approx": "εδ", "Zcdp": "ρ"}
_GUARANTEE = re.compile(rf"\b({'|'.join(_LETTERS)})\(([\d./e+', -]+)\)")
_FRESH = {"command line": "--fresh", "json": "'fresh': true", "page": "“Ask anew”"}
"""How each face asks again although an answer is stored."""


def tell(message: str, face: Face) -> str:
    """A message in the words of a face."""
    if face == "python":
        return _PYTHON_ONLY.sub(r"\1", message)

    def named(found: re.Match[str]) -> str:
        name, value, more = found.groups(default="")
        if name in _SETTINGS:
            return f"{name} (in tacit.toml)"
        if name == "fresh":
            return _FRESH[face]
        if face == "command line":
            bare = value.strip("'\"")
            return f"--{name}{' ' if bare else ''}{bare}{' ' if more else ''}"
        if face == "page" and name == "keys":
            return "a condition such as WHERE region IN ('EU', 'US')"
        label = _LABELS.get(name, name) if face == "page" else f"'{name}'"
        return f"{label}{' = ' if value else ''}{value}{more}"

    arguments = _IN_SHELLS if face == "command line" else _EVERYWHERE
    said = arguments.sub(named, _PYTHON_ONLY.sub("", message))
    return _GUARANTEE.sub(_in_letters, said) if face == "page" else said


def _in_letters(found: re.Match[str]) -> str:
    """A guarantee as people write it: Pure(1) is ε = 1."""
    letters = _LETTERS[found[1]]
    return ", ".join(
        f"{letter} = {number}" for letter, number in zip(letters, found[2].replace("'", "").split(", "), strict=False)
    )


class TacitError(Exception):
    """The root of all errors raised by Tacit.

    ``str`` tells it in the words of Python, ``told`` in those of another face.

    >>> try:
    ...     orders.sum("amount", epsilon=-1)
    ... except tacit.TacitError as error:
    ...     print(error)
    epsilon must be above 0...
    """

    @property
    def message(self) -> str:
        """What is told, as it was written for all faces."""
        return str(self.args[0]) if self.args else ""

    def told(self, face: Face) -> str:
        """The message in the words of a face.

        Args:
            face: where it was asked: "python", "command line", "json" or "page".

        >>> try:
        ...     orders.count()
        ... except tacit.TacitError as error:
        ...     print(error.told("command line"))
        name what the answer may cost: --epsilon 0.5, or --rho 0.01, or --epsilon 0.5 --delta 1e-6.
        """
        return tell(self.message, face)

    def __str__(self) -> str:
        return self.told("python")


class InvalidInput(TacitError, ValueError):
    """An argument is wrong; nothing was computed and nothing was spent.

    >>> orders.sum("amount")
    Traceback (most recent call last):
    tacit.errors.InvalidInput: name what the answer may cost: epsilon=0.5, or rho=0.01, or epsilon=0.5, delta=1e-6.
    """


class BudgetExceeded(TacitError):
    """The budget does not cover the question; nothing was spent.

    >>> orders.sum("amount", epsilon=1000)
    Traceback (most recent call last):
    tacit.errors.BudgetExceeded: ...
    """


class UnsupportedQuery(TacitError):
    """The question cannot be answered privately as written; nothing was spent.

    >>> session.sql("SELECT amount FROM orders", epsilon=1)
    Traceback (most recent call last):
    tacit.errors.UnsupportedQuery: ...
    """


class EngineError(TacitError):
    """The engine failed; the message says whether the question was charged, never what the data look like.

    >>> import os, pyarrow.parquet
    >>> pyarrow.parquet.write_table(data, "gone.parquet")
    >>> gone = tacit.read("gone.parquet", person="customer", budget=Pure(1))
    >>> os.remove("gone.parquet")
    >>> gone.sum("amount", epsilon=1)
    Traceback (most recent call last):
    tacit.errors.EngineError: ...stays charged...
    """


class LedgerError(TacitError):
    """The durable budget could not be read or written.

    >>> tacit.read(data, person="customer", ledger="ledger.db", name="unknown")
    Traceback (most recent call last):
    tacit.errors.LedgerError: the ledger has no dataset 'unknown'; create it, or give a budget to register it.
    """


def not_installed(what: str, extra: str) -> InvalidInput:
    """The error about a part of Tacit whose packages are not there; the distribution has a name of its own."""
    return InvalidInput(f"{what}; install it with: pip install '{DISTRIBUTION}[{extra}]'.")


def instead(wanted: str, known: Iterable[str], kind: str = "columns") -> str:
    """What to say after a name that does not exist: the one that was meant, if it looks alike, and all there are."""
    names = list(known)
    near = did_you_mean(wanted, names)
    return f"{near}{' The' if near else 'the'} {kind} are {', '.join(names) or 'none'}."


def did_you_mean(wanted: object, known: Iterable[str]) -> str:
    """Ask whether the known name was meant that looks like this one; nothing where none does."""
    folded = {name.lower(): name for name in known}
    near = get_close_matches(wanted.lower(), folded, 1) if isinstance(wanted, str) else []
    return f"did you mean {folded[near[0]]}?" if near else ""
