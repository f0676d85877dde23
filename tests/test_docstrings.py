"""Every public name explains itself: a sentence for each parameter, and an example that runs.

What is walked: `tacit.__all__`, what its methods return, and the public methods of all these classes. Examples run with
a small table of orders and seeded noise; `...` stands for what noise decides.
"""

from __future__ import annotations

import doctest
import inspect
import re
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit import Private, Public, Pure, Session, functions
from tacit.answers.series import Series
from tacit.audit.claims import Checked, check
from tacit.black_boxes.selection import Selection
from tacit.budgets import Budget, open_budget
from tacit.forecasts import Forecast
from tacit.ledger import Ledger, open_ledger
from tacit.randomness import seeded_not_private
from tacit.serve.client import RemoteBudget, RemoteSession
from tacit.tables.face.grouping import GroupBy
from tacit.tables.face.preview import ExpectedError
from tacit.tables.releasing.watch import Watch

pa = pytest.importorskip("pyarrow")

RETURNED = [
    *(Budget, ExpectedError, Forecast, GroupBy, Ledger, RemoteBudget, RemoteSession, Selection, Series, Watch),
]
"""Classes that public functions return."""
FURTHER = [
    *(open_budget, open_ledger, check, Checked),
    *(functions.monotone, functions.monotonise, functions.local, functions.bounded, functions.inverse),
    *(functions.sampled, functions.several, functions.OwnFunction.ask, functions.OwnFunction.law),
]

NOT_YET: set[str] = set()
"""What still lacks examples. Must stay empty."""


def public() -> list[Any]:
    """Everything that is walked."""
    named = [getattr(tacit, name) for name in tacit.__all__ if not name.startswith("__")]
    return [*named, *RETURNED, *FURTHER]


def methods(kind: type) -> Iterator[tuple[str, Any]]:
    """Public methods of a class. Where Tacit defines one several times, one definition has the example for all."""
    found: dict[str, Any] = {}
    for owner in kind.__mro__:
        for name, member in vars(owner).items() if owner.__module__.startswith("tacit") else ():
            if not name.startswith("_") and ">>> " not in (getattr(found.get(name), "__doc__", None) or ""):
                found[name] = member
    yield from found.items()


def documented() -> Iterator[tuple[str, Any]]:
    """Names with what must be documented: functions, classes, methods and properties, inherited ones once."""
    seen = set()
    for thing in public():
        yield thing.__name__, thing
        if isinstance(thing, type):
            for name, member in methods(thing):
                plain = member.__func__ if isinstance(member, classmethod | staticmethod) else member
                if (callable(plain) or isinstance(plain, property | cached_property)) and plain not in seen:
                    seen.add(plain)
                    yield f"{thing.__name__}.{name}", plain


THINGS = {name: thing for name, thing in documented() if name.split(".")[0] not in NOT_YET and name not in NOT_YET}


def parameters(thing: Any) -> list[str]:
    """The parameters that a caller gives; a dataclass says beside each field what it is."""
    made = vars(thing).get("__init__") if isinstance(thing, type) else thing
    if made is None or isinstance(made, property | cached_property) or not made.__code__.co_filename.endswith(".py"):
        return []
    return [name for name in inspect.signature(made).parameters if name not in ("self", "cls")]


def text(thing: Any) -> str:
    """The documentation of a thing, with that of its constructor."""
    made = vars(thing).get("__init__") if isinstance(thing, type) else None
    return "\n\n".join(inspect.cleandoc(doc) for doc in (thing.__doc__, getattr(made, "__doc__", None)) if doc)


def explained(doc: str) -> set[str]:
    """The parameters that lines such as "epsilon, delta, rho: what it may cost" explain."""
    lines = re.findall(r"^ {4}(\w+(?:, \w+)*): \S", doc, flags=re.MULTILINE)
    return {name for line in lines for name in line.split(", ")}


MADE = RemoteSession | RemoteBudget | Budget | Ledger | GroupBy | tacit.Table | Watch
"""Made by functions and methods, not by users."""


def test_every_parameter_is_explained() -> None:
    assert [name for name, thing in THINGS.items() if not text(thing).strip()] == [], "they have no docstring"
    users = {name: thing for name, thing in THINGS.items() if not (isinstance(thing, type) and issubclass(thing, MADE))}
    pairs = {name: (set(parameters(thing)), explained(text(thing))) for name, thing in users.items()}
    assert {name: wanted - told for name, (wanted, told) in pairs.items() if wanted - told} == {}, "not explained"
    assert {name: told - wanted for name, (wanted, told) in pairs.items() if told - wanted} == {}, "not there"


def test_everything_has_an_example() -> None:
    called = {name: thing for name, thing in THINGS.items() if not isinstance(thing, property | cached_property)}
    assert [name for name, thing in called.items() if ">>> " not in text(thing)] == []


@pytest.fixture(scope="module")
def rows() -> dict[str, Any]:
    """A small table of orders, and one of regions."""
    orders = range(900)
    return {
        "data": pa.table(
            {
                "customer": [i % 300 for i in orders],
                "region": [("north", "south", "east")[i % 7 % 3] for i in orders],
                "product": [f"p{i % 12}" for i in orders],
                "amount": [(i * 37) % 200 for i in orders],
                "returned": [i % 9 == 0 for i in orders],
                "day": [date(2025, 1, 1) + timedelta(days=i % 300) for i in orders],
            }
        ),
        "regions": pa.table({"region": ["north", "south"], "country": ["A", "B"]}),
    }


@pytest.mark.parametrize("name", [name for name, thing in THINGS.items() if ">>> " in text(thing)])
def test_examples_run(name: str, rows: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tables: dict[str, Private | Public] = {
        "orders": Private(rows["data"], person="customer"),
        "regions": Public(rows["regions"]),
    }
    with Session(tables, budget=Pure(100), randomness=seeded_not_private(7)) as session:
        names = {name: getattr(tacit, name) for name in tacit.__all__ if name[0].isupper()}
        known = {**names, **rows, "tacit": tacit, "session": session, "orders": session["orders"]}
        if name.startswith("Series."):
            dates: dict[str, Any] = {"every": "month", "start": "2025-01-01", "until": "2025-06-30"}
            known["series"] = session["orders"].series("day", **dates, epsilon=1)
        test = doctest.DocTestParser().get_doctest(text(THINGS[name]), known, name, None, 0)
        said: list[str] = []
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        outcome = doctest.DocTestRunner(optionflags=flags).run(test, out=said.append)
    assert outcome.failed == 0, "".join(said)


def test_the_list_of_exceptions_names_what_is_there() -> None:
    known = {name for name, _ in documented()}
    assert known >= NOT_YET
