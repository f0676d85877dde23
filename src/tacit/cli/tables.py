"""Which tables a command is about, and whose rows they hold: said by flags, or by a tacit.toml as Serve reads it.

A file is a table under its stem; a database, a DuckDB file or an address, holds tables under their own names. Of a
database only what is declared can be asked; a file that is named and not declared is a mistake.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import completing
from tacit.errors import InvalidInput, did_you_mean

if TYPE_CHECKING:
    from tacit.budgets import Periods
    from tacit.guarantees import Guarantee
    from tacit.ledger import Ledger
    from tacit.tables import Private, Public

_WHOM = re.compile(r"[^=]+|[^=]+=[^=.]+\.[^=]+")
"""A column, or a column and the key of another table that it leads to."""
SETTINGS = Path("tacit.toml")
"""The configuration that is found in the folder where no source is named."""

_FACTS = ("table", "schema", "person", "source", "through", "unit", "key", "date")
SOURCE = "a Parquet, CSV, JSON, Excel, DuckDB or SQLite file, or a connection string"
SOURCES = (
    "Parquet, CSV, JSON, Excel, DuckDB or SQLite files, a folder or a pattern such as 'orders-*.parquet', "
    "or a connection string."
)


OnePerson = Annotated[
    list[str] | None,
    typer.Option(
        "--person",
        metavar="COLUMN",
        autocompletion=completing.columns,
        help="The column that says who a row is about; repeat it where rows are about several persons.",
    ),
]
PrivateTables = Annotated[
    list[str] | None,
    typer.Option(
        "--private",
        metavar="TABLE:COLUMN",
        autocompletion=completing.tables,
        help="A table about persons: orders:customer. Several columns are joined by commas. items:order_id=orders.id "
        "follows a foreign key to the persons of another table; stock:supplier:s_id names a kind of person.",
    ),
]
PublicTables = Annotated[
    list[str] | None,
    typer.Option(
        "--public",
        metavar="TABLE",
        autocompletion=completing.tables,
        help="A table about nobody; several are joined by commas.",
    ),
]
OneTable = Annotated[
    str | None,
    typer.Option(
        "--table",
        autocompletion=completing.tables,
        help="The only table that is meant: its name in SQL, or in a database.",
    ),
]
Dates = Annotated[
    list[str] | None,
    typer.Option(
        "--date",
        metavar="COLUMN",
        help="When a row happened, for budgets by period: a column, or TABLE.COLUMN where there are several tables.",
    ),
]
ReaderOptions = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="NAME=VALUE", help="An option of the reader, such as encoding=latin-1."),
]
Encoding = Annotated[str | None, typer.Option(metavar="NAME", help="The encoding of text files, such as latin-1.")]
Format = Annotated[
    str | None,
    typer.Option("--format", metavar="KIND", help="What a file is if its name does not say: parquet, csv, json, …"),
]
Delimiter = Annotated[str | None, typer.Option(metavar="MARK", help="What parts the fields of a CSV file.")]
Settings = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="A configuration that says what the tables are, as for tacit serve; without a source tacit.toml is taken.",
    ),
]


@dataclass(frozen=True)
class Flags:
    """What was said about tables."""

    sources: Sequence[str]
    person: Sequence[str] = ()
    private: Sequence[str] = ()
    public: Sequence[str] = ()
    table: str | None = None
    options: Sequence[str] = ()
    config: Path | None = None
    dates: Sequence[str] = ()

    def settings(self) -> Path | None:
        """The configuration that says everything, where one does."""
        if self.config is None and (self.sources or not SETTINGS.is_file()):
            return None
        if self.sources or self.person or self.private or self.public or self.table or self.options or self.dates:
            raise InvalidInput(
                f"{self.config or SETTINGS} says by itself what its tables are; leave out the sources, --person, "
                "--private, --public, --table, --date and --option, or the configuration."
            )
        return self.config or SETTINGS


@dataclass(frozen=True)
class Dataset:
    """Tables under one budget, and where that is kept."""

    tables: Mapping[str, Private | Public]
    name: str | None
    undeclared: tuple[str, ...] = ()
    """Further tables of the database."""
    ledger: Ledger | None = None
    """A gateway's own."""
    budget: Guarantee | Periods | None = None
    composition: str = "basic"
    version: str | None = None
    period: str | None = None


def find_dataset(flags: Flags, name: str | None = None) -> Dataset:
    """The dataset that the flags or a configuration declare."""
    path = flags.settings()
    if path is None:
        places = find_places(flags)
        tables = declare(flags, places)
        return Dataset(tables, name or _default_name(flags), tuple(place for place in places if place not in tables))
    from tacit.serve.config import load
    from tacit.serve.sparks import connect_spark

    config = load(path, serving=False)
    if name is None and len(config.datasets) > 1:
        raise InvalidInput(f"{path} has the datasets {', '.join(config.datasets)}; choose one with --name.")
    name = name or next(iter(config.datasets))
    if name not in config.datasets:
        raise InvalidInput(f"{path} has no dataset {name!r}; there are {', '.join(config.datasets)}.")
    found = config.datasets[name]
    tables = {key: connect_spark(table) for key, table in found.tables.items()}
    ledger = config.server.open_ledger() if config.server.ledger else None
    budget = found.periods or found.budget
    return Dataset(tables, name, (), ledger, budget, found.composition, found.version, found.period)


def _default_name(flags: Flags) -> str | None:
    """What a budget in a ledger is called where nobody says: as its only table, or its only source."""
    from tacit.tables.face.declarations import default_name

    return flags.table or (default_name(flags.sources[0]) if len(flags.sources) == 1 else None)


def declare(flags: Flags, places: Mapping[str, Place], *, of_persons: bool = True) -> dict[str, Private | Public]:
    """The tables by their names in SQL; where nobody need be in them, what is not said to be private is public."""
    from tacit.tables import Private, Public

    options = read_options(flags.options)
    private = _read_private(flags.private, places)
    public = [_known(name.strip(), places, "--public") for text in flags.public for name in text.split(",")]
    if flags.person:
        private[_left_over(flags, places, {*private, *public})] = _Whom(list(flags.person))
    if of_persons and not private:
        raise InvalidInput("say whose rows they are: --person COLUMN, or --private TABLE:COLUMN for several tables.")
    for name in public:
        if name in private:
            raise InvalidInput(f"table {name!r} is private and public; say one of them.")
    declared: dict[str, _Whom | None] = {**private, **dict.fromkeys(public)}
    for name, place in places.items():
        if place.alone and name not in declared and not of_persons:
            declared[name] = None
        elif place.alone and name not in declared:
            raise unsaid(name)
    tables: dict[str, Private | Public] = {}
    dates = _dates(flags.dates, private)
    for name, whom in declared.items():
        place = places[name]
        reader = {"table": place.table, **options}
        if whom is None:
            tables[name] = Public(place.source, **reader)
        else:
            tables[name] = Private(place.source, whom.columns, through=whom.through, date=dates.get(name), **reader)
    return tables


def unsaid(name: str) -> InvalidInput:
    """The error about a table that nothing was said about."""
    return InvalidInput(
        f"nothing says whose rows the table {name!r} holds; add --private {name}:COLUMN, the column that names "
        f"persons, or --public {name} if it is about nobody."
    )


@dataclass(frozen=True)
class Place:
    """Where a table is."""

    source: str
    table: str | None = None
    """Its name in a database."""
    alone: bool = False
    """Whether it is a file of its own."""


def find_places(flags: Flags) -> dict[str, Place]:
    """All tables of all sources by their names in SQL."""
    from tacit.engines import list_tables
    from tacit.tables.face.declarations import default_name

    if not flags.sources:
        raise InvalidInput(f"name {SOURCE}, or a configuration with --config.")
    if flags.table is not None:
        if len(flags.sources) > 1:
            raise InvalidInput("--table names the only table; with several sources use --private and --public.")
        return {flags.table: Place(flags.sources[0], flags.table, alone=not flags.private)}
    found: dict[str, Place] = {}
    for source in flags.sources:
        listed = list_tables(source)
        places = (
            {default_name(source): Place(source, alone=True)}
            if listed is None
            else {name: Place(source, name, alone=len(listed) == 1) for name in listed}
        )
        for name, place in places.items():
            if name in found:
                raise InvalidInput(f"two sources have a table {name!r}; give them names of their own in a tacit.toml.")
            found[name] = place
    return found


@dataclass(frozen=True)
class _Whom:
    """Whose rows a table holds."""

    columns: list[str] = field(default_factory=list)
    through: dict[str, str] = field(default_factory=dict)


def _read_private(given: Sequence[str], places: Mapping[str, Place]) -> dict[str, _Whom]:
    found: dict[str, _Whom] = {}
    for text in given:
        table, colon, rest = text.partition(":")
        parts = [part.strip() for part in rest.split(",")]
        if not (table.strip() and colon and all(map(_WHOM.fullmatch, parts))):
            raise InvalidInput(
                "--private is written TABLE:COLUMN, such as orders:customer, or TABLE:COLUMN=OTHER.KEY where a foreign "
                "key leads to the persons."
            )
        whom = found.setdefault(_known(table.strip(), places, "--private"), _Whom())
        for part in parts:
            column, equals, target = part.partition("=")
            if not equals:
                whom.columns.append(part)
            elif column.strip() in whom.through:
                raise InvalidInput(f"--private: the column {column.strip()!r} of {table!r} leads to two tables.")
            else:
                whom.through[column.strip()] = target.strip()
    return found


def _dates(given: Sequence[str], private: Mapping[str, _Whom]) -> dict[str, str]:
    """The date of each table that has one."""
    found: dict[str, str] = {}
    for text in given:
        table, dot, column = text.rpartition(".")
        table = table if dot else next(iter(private)) if len(private) == 1 else ""
        if table not in private or not column:
            raise InvalidInput("--date is written COLUMN, or TABLE.COLUMN of a private table where there are several.")
        found[table] = column
    return found


def _known(name: str, places: Mapping[str, Place], flag: str) -> str:
    """A table's own name, whatever its capitals."""
    loose = [name] if name in places else [known for known in places if known.lower() == name.lower()]
    if len(loose) != 1:
        near = did_you_mean(name, places)
        raise InvalidInput(f"{flag}: there is no table {name!r}; {f'{near} T' if near else 't'}{_listed(places)[1:]}.")
    return loose[0]


def _left_over(flags: Flags, places: Mapping[str, Place], others: set[str]) -> str:
    """The table that --person speaks about: the only one that nothing else does."""
    if flags.private:
        raise InvalidInput("--person is for one table; with --private write TABLE:COLUMN for each of them.")
    left = [name for name in places if name not in others]
    if len(left) != 1:
        several = len(flags.sources) > 1
        choice = (
            "put a pattern in quotes if these files are one table, 'orders-*.csv'"
            if several
            else ("choose it with --table")
        )
        raise InvalidInput(
            f"{_listed(places)}, and --person speaks about one of them; {choice}, or write --private TABLE:COLUMN and "
            "--public TABLE for each that is asked about."
        )
    return left[0]


def _listed(places: Mapping[str, Place]) -> str:
    names = list(places)
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return f"the tables are {', '.join(names[:20]) or 'none'}{more}"


def reader_options(
    given: Sequence[str] | None, encoding: str | None, kind: str | None, delimiter: str | None
) -> list[str]:
    """The options of the reader, those that have a flag of their own among them."""
    named = {"encoding": encoding, "format": kind, "delimiter": delimiter}
    return [*(given or ()), *(f"{name}={value}" for name, value in named.items() if value is not None)]


def read_options(given: Sequence[str]) -> dict[str, Any]:
    """Options of the reader; true, false and whole numbers are read as such."""
    found: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not (name and equals) or name in _FACTS:
            raise InvalidInput("--option is written NAME=VALUE, such as --option encoding=latin-1.")
        if name in found:
            raise InvalidInput(f"--option {name} is given twice; give it once.")
        found[name] = {"true": True, "false": False}.get(value, int(value) if value.isdecimal() else value)
    return found
