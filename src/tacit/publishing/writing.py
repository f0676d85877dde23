"""The folder of a publication: for each question a CSV and a Parquet file, a page, a statement and a certificate.

A new folder appears whole: it is written beside its place, synced, and renamed. One that is there gets its files
replaced one by one, each whole; they hold what is in the ledger, so a publication that is written twice is the same.
Nothing in them depends on when they were written.
"""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.answers.certificates import certificate_of, together
from tacit.errors import InvalidInput, LedgerError
from tacit.ledger.reports import harmless
from tacit.publishing.pages import page
from tacit.publishing.statement import statement

if TYPE_CHECKING:
    import pyarrow as pa

    from tacit.publishing.asking import Published


def check_folder(folder: Path) -> None:
    """Refuse a place that cannot be written before anything is charged."""
    if folder.exists() and (not folder.is_dir() or not _ours(folder)):
        raise InvalidInput(
            f"{folder} is there and holds no publication; nothing was asked or spent: name another folder."
        )
    try:
        folder.absolute().parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder if folder.exists() else folder.absolute().parent):
            pass
    except OSError:
        raise InvalidInput(f"{folder} cannot be written; nothing was asked or spent: name another folder.") from None


def _ours(folder: Path) -> bool:
    return not any(folder.iterdir()) or (folder / "privacy.json").is_file()


def write(found: Published) -> None:
    """Write the folder; the numbers are paid for and in the ledger."""
    folder = found.edition.folder.absolute()
    try:
        made = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        try:
            for name, content in _files(found).items():
                _synced(made / name, content)
            made.chmod(0o755)
            try:
                os.rename(made, folder)  # whole at once, where there is none or an empty one
            except OSError:
                for name in sorted(path.name for path in made.iterdir()):
                    os.replace(made / name, folder / name)
            _sync(folder.parent)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    except OSError as error:
        raise LedgerError(
            f"the folder could not be written ({error.strerror}); the answers are paid for and in the ledger: publish "
            "again, which costs nothing."
        ) from None


def _files(found: Published) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for name, result in found.results.items():
        table = result.to_arrow()
        files[f"{name}.csv"] = _csv(table).encode()
        files[f"{name}.parquet"] = _parquet(table, found)
    releases = together(result.releases for result in found.results.values())
    files["index.html"] = page(found).encode()
    if releases:
        files["certificate.json"] = _json(certificate_of(releases))
    files["privacy.json"] = _json(statement(found))
    return files


def _json(facts: Any) -> bytes:
    return (json.dumps(facts, indent=2, ensure_ascii=False) + "\n").encode()


def _csv(table: pa.Table) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.column_names)
    for row in zip(*table.to_pydict().values(), strict=True):
        writer.writerow([harmless(cell) for cell in row])
    return out.getvalue()


def _parquet(table: pa.Table, found: Published) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    labels = {"title": found.edition.title, "period": found.edition.period, "version": found.edition.version}
    sink = pa.BufferOutputStream()
    parquet.write_table(table.replace_schema_metadata(labels), sink)
    return bytes(sink.getvalue())


def _synced(path: Path, content: bytes) -> None:
    with open(path, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    place = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(place)
    finally:
        os.close(place)
