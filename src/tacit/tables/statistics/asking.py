"""How a statistic is asked, and what the catalogue knows about it.

Each statistic's file has three things: a `Statistic`, which computes it; an `Entry`, which says what the catalogue
knows about it; and a class with the method that asks it (`Asking`), the same for a table, which answers with an
`Answer`, and for its groups, which answer with `Answers`. `tacit.tables.statistics.catalogue` lists those classes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Literal, TypeVar

from tacit.answers import Answer, Answers
from tacit.guarantees import Guarantee
from tacit.numbers.exact import Number
from tacit.tables.statistics.base import Call, Methods, Operand, Statistic


@dataclass(frozen=True)
class Made:
    """How the accuracy of a statistic is forecast on a table of made-up people.

    Its columns are ``person``, ``value``, ``other``, which goes up with it, ``flag``, which half of them have, and
    ``code``, which ten of them share.
    """

    truth: str
    """The true answer, in SQL."""
    statistic: Callable[[Callable[[str], Operand]], Statistic]
    """What is asked, given a way to name a column."""
    draws: int = 120
    """How often it is asked for each ε."""
    several_rows: bool = False
    """Whether persons have several rows, as many as their value says."""
    planned: bool = True
    """Whether `tacit.plan` knows it by name; previews know all."""


@dataclass(frozen=True)
class Audited:
    """A statistic at one cost, asked of the small tables on which `tacit.audit` verifies every draw.

    Their columns are ``value``, ``group`` and ``flag``; those of a network are ``value`` and ``group``.
    """

    name: str
    cost: Guarantee
    ask: Callable[..., Any]
    """From a table, the cost by keywords, and fresh=True to ask again."""
    slow: bool = False
    """Whether its exact verification takes more than a few seconds."""
    network: bool = False
    """Whether it is asked of rows that concern several persons."""

    def __call__(self, table: Any, **options: Any) -> Any:
        """Ask the question."""
        return self.ask(table, **self.cost.keywords(), **options)


@dataclass(frozen=True)
class Entry:
    """One statistic of the catalogue."""

    statistic: type[Statistic]
    words: str
    """What it is, for people who choose it from a list."""
    key: str = ""
    """The public name of its method, in forecasts and on the wire; by default the statistic's own key."""
    recorded: str = ""
    """The key that ledgers and policies know it by, where that is another."""
    sql: Mapping[str, Callable[[Call], Statistic]] = field(default_factory=dict)
    """What each aggregate asks: by the name of sqlglot's node, "CountDistinct", "CountPersons", or a name."""
    written: str = ""
    """How it is written in SQL, with {} for the column, where that is not as its aggregate is named."""
    of: Literal["column", "columns", "rows", "persons"] = "column"
    """What stands in that place: a column, two of them, all rows unless a column is named, or the persons."""
    methods: Methods = field(default_factory=dict)
    """What ``method=`` may be."""
    made: Made | None = None
    """How its accuracy is forecast; None where it is not."""
    audited: tuple[Audited, ...] = ()
    """The questions by which it is verified."""

    def __post_init__(self) -> None:
        if not self.key:
            own = vars(self.statistic).get("key")
            assert isinstance(own, str), "say which key"
            object.__setattr__(self, "key", own)

    @property
    def call(self) -> str:
        """How it is written in SQL, with {} for the column; empty where SQL has no word for it."""
        return self.written or "".join(f"{name.upper()}({{}})" for name in list(self.sql)[:1])

    @property
    def policy(self) -> str:
        """Its name in ledgers and policies."""
        return self.recorded or self.key

    @property
    def groupable(self) -> bool:
        """Whether it can be asked for each group."""
        return self.statistic.grouped is not Statistic.grouped


AnswerT = TypeVar("AnswerT", Answer, Answers)
"""What is answered: one answer, or one for each group."""

Amount = Number | None
"""An ε, δ or ρ; None where the cost is named otherwise."""


class Asking(ABC, Generic[AnswerT]):
    """Whatever statistics can be asked of."""

    _entries: ClassVar[tuple[Entry, ...]] = ()
    """What the catalogue says about the statistics whose methods stand here."""

    @abstractmethod
    def _operand(self, column: str) -> Operand:
        """A column by its exact name, otherwise a SQL expression."""

    @abstractmethod
    def _one(self, statistic: Statistic, epsilon: Amount, delta: Amount, rho: Amount, fresh: bool) -> AnswerT:
        """The answer to a statistic that has one."""

    @abstractmethod
    def _many(self, statistic: Statistic, epsilon: Amount, delta: Amount, rho: Amount, fresh: bool) -> Answers:
        """The answers to a statistic that has several."""
