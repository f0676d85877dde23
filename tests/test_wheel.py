"""The first minutes with what is installed: the wheel is built, laid out as an installer does, and walked through.

What each command shows stands in `tests/walks`, as a terminal of 40 columns shows it where nothing but the base is
installed, and one of 80 columns with all extras. `TACIT_WALK=keep` writes the files anew; read them then.
"""

import gzip
import os
import re
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.cli.terminals import watched

pytest.importorskip("hatchling")
HERE = Path(__file__).parent
KEPT = HERE / "walks"
EXTRAS = ("matplotlib", "pandas", "polars", "httpx", "starlette", "uvicorn", "mcp", "authlib", "python_calamine", "z3")
"""What extras bring, and the base must do without."""
WALK = [
    "",
    "ask --help",
    "schema orders.csv",
    "schema orders.csv orders.tsv --json",
    "schema bank.csv --encoding latin-1 --delimiter ';'",
    "schema orders.csv --delimeter ';'",
    "schma orders.csv",
    "schema orders.csv.gz",
    "schema orders.tsv",
    "ask orders.csv --person customer --epsilon 1000 'SELECT COUNT(DISTINCT customer) FROM orders'",  # no noise is left
    "ask orders.csv --person customer 'SELECT COUNT(*) FROM orders'",
    "ask orders.csv --person customer --epsilon 1 'SELECT SUM(amuont) FROM orders'",
    "ask orders.csv --person customer --epsilon 1 'SELECT region, COUNT(*) FROM orders GROUP BY region'",
    "ask orders.csv --person customer --epsilon 1 --dry-run 'SELECT COUNT(DISTINCT customer) FROM orders'",
    "ask orders.csv --person customer --epsilon 1 --keys EU,US --dry-run --persons 1000 "
    "'SELECT region, COUNT(*), MEDIAN(amount) FROM orders GROUP BY region'",
    "ask orders.csv --person customer --epsilon 1 --dry-run "
    "'SELECT COUNT(DISTINCT customer) FROM orders; SELECT AVG(amount) FROM orders'",
    "ask orders.csv --person custmer --epsilon 1 'SELECT SUM(amount) FROM orders'",
    "ask orders.csv --person customer --epsilon much 'SELECT SUM(amount) FROM orders'",
    "ask orders.csv --person customer --epsilon 1 SELECT COUNT FROM orders",
    "ask orders.csv --person customer --epsilon 1 --keys EU,US "
    "'SELECT region, amount, COUNT(*) FROM orders GROUP BY region, amount'",
    "ask orders.csv --person customer --epsilon 1000 "
    "'SELECT COUNT(DISTINCT customer) AS persons, 2 * COUNT(DISTINCT customer) AS twice FROM orders'",
    "ledger create visits --ledger spent.db --epsilon 2",
    "ledger create orders --ledger spent.db --epsilon 2000 --person customer",
    "ask orders.csv --person customer --epsilon 1000 --ledger spent.db 'SELECT COUNT(DISTINCT customer) FROM orders'",
    "ask orders.csv --person customer --epsilon 2000 --ledger spent.db --fresh 'SELECT COUNT(*) FROM orders'",
    "ask orders.csv --person customer --epsilon 1 --ledger spent.db --name visits 'SELECT COUNT(*) FROM orders'",
    "ledger show --ledger spent.db",
    "ledger history orders --ledger spent.db",
    "ledger verify orders --ledger spent.db",
    "check orders.csv --person customer",
    "verify nothing.json",
    "describe orders.csv --person customer --epsilon 1 --column amount --preview",
    "plan --statistic persons --persons 1000 --epsilon 0.5",
    "plan --statistic persons --persons 10,000 --epsilon 0.5",
    "plan --statistic mood --persons 1000 --epsilon 0.5",
    "plan --statistic persons --persons 1000 --epsilon 0.5 --plot plan.png",
]
"""Commands whose output is the same every time, but for the time of day and a ledger's name of its own."""
LACKING = ["ask orders.xlsx --person customer --epsilon 1 'SELECT COUNT(*) FROM orders'", "serve"]
"""Commands that need an extra."""
SCRIPT = """
import shlex, sys
for name in sys.argv[2].split():
    sys.modules[name] = None
import tacit
assert tacit.__file__.startswith(sys.argv[1]), tacit.__file__
from tacit.cli.app import run
for line in sys.argv[3:]:
    print(f"$ tacit {line}", flush=True)
    code = run(["--quiet", *shlex.split(line)])
    print(f"[{code}]\\n", flush=True)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's files where an installer puts them."""
    from hatchling.builders.wheel import WheelBuilder

    place = tmp_path_factory.mktemp("installed")
    wheel = next(iter(WheelBuilder(str(HERE.parent)).build(directory=str(place), versions=["standard"])))
    with ZipFile(wheel) as archive:
        archive.extractall(place / "site")
    return place / "site"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    rows = "".join(f"{n % 60},{'EU' if n % 2 else 'US'},{n % 97}\n" for n in range(300))
    text = f"customer,region,amount\n{rows}"
    (tmp_path / "orders.csv").write_text(text)
    (tmp_path / "orders.csv.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "orders.tsv").write_text(text.replace(",", "\t"))
    (tmp_path / "orders.xlsx").write_bytes(b"PK")
    (tmp_path / "bank.csv").write_text("name;straße;größe\n" + "Ada;Müllerstraße 1;klein\n" * 9, encoding="latin-1")
    return tmp_path


@pytest.mark.parametrize(("name", "columns", "without"), [("base", 40, EXTRAS), ("extras", 80, ())])
def test_the_walk_is_the_one_that_was_kept(
    name: str, columns: int, without: tuple[str, ...], installed: Path, work: Path
) -> None:
    theirs = {name: value for name, value in os.environ.items() if name not in ("TACIT_LEDGER", "COLUMNS", "LINES")}
    environment = {**theirs, "PYTHONPATH": str(installed), "TERM": "dumb", "NO_COLOR": "1", "LOGNAME": "ada"}
    lines = [*WALK, *(LACKING if without else ())]
    command = [sys.executable, "-P", "-c", SCRIPT, str(installed), " ".join(without), *lines]
    code, out, err = watched(["/bin/sh", "-c", 'exec "$@" 2>&1', "sh", *command], columns=columns, cwd=work,
                             environment=environment)  # fmt: skip
    assert (code, err) == (0, "")
    shown = re.sub(r" +\n", "\n", out)
    shown = re.sub(r"\b[0-9a-f]{32,64}\b", lambda found: "0" * len(found[0]), shown)
    shown = re.sub(r"\d{4}-\d\d-\d\d(\s)\d\d:\d\d", r"2026-01-31\g<1>12:00", shown)
    kept = KEPT / f"{name}.txt"
    if os.environ.get("TACIT_WALK") == "keep":
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(shown, encoding="utf-8")
    assert shown == kept.read_text(encoding="utf-8")
    told = [line for line in shown.splitlines() if not (line.startswith(("$ ", "    ")) or "0" * 64 in line)]
    assert [line for line in told if len(line) > columns] == []  # but for commands, examples and hashes, to be copied
