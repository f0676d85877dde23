"""`tacit describe`: what is in a table, for one cost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from tacit.cli import completing
from tacit.cli.asking import (
    CertificateFile,
    Delta,
    Epsilon,
    Fresh,
    Interrupted,
    LedgerFile,
    Name,
    PeriodName,
    PersonsGuess,
    Preview,
    Rho,
    Version,
    guessed,
    notice_unrecorded,
    open_session,
    show_preview,
    writable,
)
from tacit.cli.speech import Json, notice, say, say_json, working
from tacit.cli.tables import (
    SOURCES,
    Dataset,
    Dates,
    Delimiter,
    Encoding,
    Flags,
    Format,
    OnePerson,
    OneTable,
    PrivateTables,
    PublicTables,
    ReaderOptions,
    Settings,
    find_dataset,
    reader_options,
)
from tacit.errors import InvalidInput

HELP = """Describe a private table for one cost: persons, rows, and of each column what suits its type.

Numbers have their mean, quartiles and range; dates their quartiles and range; true and false the persons of each; texts
how many different values there are and, with --delta, the most frequent. Columns that name persons are left out.

\b
Examples:
  tacit describe orders.parquet --person customer --epsilon 1
  tacit describe orders.csv --person customer --epsilon 1 --delta 1e-6
  tacit describe orders.csv --person customer --epsilon 1 \\
        --column amount --column region --html orders.html
  tacit describe orders.csv --person customer --epsilon 1 --preview"""


def describe(
    sources: Annotated[
        list[str] | None,
        typer.Argument(metavar="SOURCE", help=SOURCES),
    ] = None,
    *,
    person: OnePerson = None,
    private: PrivateTables = None,
    public: PublicTables = None,
    config: Settings = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    of: Annotated[
        str | None, typer.Option(metavar="TABLE", help="Which table, where several are declared as private.")
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            autocompletion=completing.columns,
            help="Only this column; repeat it for others. The fewer, the better each.",
        ),
    ] = None,
    per: Annotated[
        str, typer.Option(metavar="WHAT", help="person: each person counts once; row: each row does.")
    ] = "person",
    table: OneTable = None,
    encoding: Encoding = None,
    kind: Format = None,
    delimiter: Delimiter = None,
    option: ReaderOptions = None,
    date: Dates = None,
    ledger: LedgerFile = None,
    name: Name = None,
    version: Version = None,
    period: PeriodName = None,
    fresh: Fresh = False,
    preview: Preview = False,
    persons: PersonsGuess = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A page with pictures, which loads nothing from elsewhere.")
    ] = None,
    certificate: CertificateFile = None,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Describe a table."""
    from tacit.tables.releasing.room import cost_of
    from tacit.tables.statistics.base import per_of

    guessed(persons, preview)
    writable(html)
    writable(certificate)
    cost, counted = cost_of(epsilon, delta, rho), per_of(per)
    read = reader_options(option, encoding, kind, delimiter)
    flags = Flags(sources or (), person or (), private or (), public or (), table, read, config, date or ())
    found = find_dataset(flags, name)
    described = _described(found, of)
    with open_session(found, cost, ledger, version, period) as session:
        asked = session[described]
        if preview:
            show_preview(
                asked.describe(column, per=counted, epsilon=epsilon, delta=delta, rho=rho, fresh=fresh, preview=True),
                as_json,
                persons,
            )
        try:
            with working("asking"):
                shown = asked.describe(column, per=counted, epsilon=epsilon, delta=delta, rho=rho, fresh=fresh)
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted; the budget says: {session.budget!r}.") from None
        finally:
            notice_unrecorded(session, ledger, found)
    if certificate is not None:
        certificate.write_text(json.dumps(shown.certificate(), indent=2) + "\n", encoding="utf-8")
    if html is not None:
        html.write_text(shown.to_html(), encoding="utf-8")
        notice(f"wrote {html}.")
    if as_json:
        say_json(shown.to_dict() | {"certificate": shown.certificate() if shown.releases else None})
    else:
        say(shown.told("command line"))


def _described(found: Dataset, of: str | None) -> str:
    """The only private table, or the one that is named."""
    from tacit.tables import Private

    names = [name for name, table in found.tables.items() if isinstance(table, Private)]
    if of is None and len(names) == 1:
        return names[0]
    if of not in names:
        raise InvalidInput(f"the private tables are {', '.join(names)}; say with --of which is to be described.")
    return of
