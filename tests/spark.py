"""A real local Spark for the tests: started on first use in a test process, small, without a web page."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

REQUIRED = os.environ.get("TACIT_REQUIRE_ALL") == "1"
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
"""Java compiles quickly rather than well, and takes Spark's classes as they are."""
ROOM = {
    "spark.driver.memory": "1500m",
    "spark.driver.extraJavaOptions": f"{QUICK_START} -Xmn600m",
    "spark.sql.ui.retainedExecutions": "1",
    "spark.ui.retainedJobs": "1",
    "spark.ui.retainedStages": "1",
    "spark.ui.retainedTasks": "1",
}
"""A Spark that is asked much looks for garbage less often, and keeps no plan that nobody will look at."""
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": QUICK_START,
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.log.level": "OFF",
    "spark.sql.session.timeZone": "America/St_Johns",
}
"""A time zone with half hours and summers shows any influence it has."""

QUICK = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}
"""Expressions are evaluated as they stand, without a program compiled for each; a plan is made once."""
COMPILED = {"spark.sql.codegen.factoryMode": "CODEGEN_ONLY", "spark.sql.codegen.fallback": "false"}
"""As usual, but a program that cannot be compiled is an error."""


def java() -> bool:
    """Whether there is a Java that Spark 4 runs on."""
    home = os.environ.get("JAVA_HOME")
    command = os.path.join(home, "bin", "java") if home else shutil.which("java")
    if command is None or find_spec("pyspark") is None:
        return False
    try:
        said = subprocess.run([command, "-version"], capture_output=True, text=True, timeout=200, check=True).stderr
    except (OSError, subprocess.SubprocessError):
        return False
    return int(said.split('"')[1].split(".")[0]) >= 17


SPARK = REQUIRED or java()
needed = pytest.mark.skipif(not SPARK and not REQUIRED, reason="not run: Spark needs Java 17 or 21")
"""On every test that starts Spark."""


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The one session of a test process."""
    from pyspark.sql import SparkSession

    folder = tempfile.mkdtemp(prefix="tacit-spark-")
    builder = SparkSession.builder.master("local[2]")
    for name, value in {
        **SETTINGS,
        **ROOM,
        "spark.local.dir": folder,
        "spark.sql.warehouse.dir": f"{folder}/tables",
    }.items():
        builder = builder.config(name, value)
    handler = signal.getsignal(signal.SIGINT)
    session = builder.getOrCreate()
    signal.signal(signal.SIGINT, handler)  # PySpark's own would cancel all jobs of the process
    yield session
    session.stop()
    shutil.rmtree(folder, ignore_errors=True)


def with_settings(session: SparkSession, settings: Mapping[str, str]) -> SparkSession:
    """A session of the same Spark that differs in some settings."""
    found = session.newSession()
    for name, value in settings.items():
        found.conf.set(name, value)
    return found


def frame(session: SparkSession, table: pa.Table) -> DataFrame:
    """An Arrow table as a Spark DataFrame; times without a zone stay so, and unsigned integers become decimals."""
    from pyspark.sql.pandas.types import from_arrow_schema

    wide = pa.decimal128(20, 0)
    fields = [pa.field(f.name, wide) if f.type == pa.uint64() else f for f in table.schema]
    table = table.cast(pa.schema(fields))
    return session.createDataFrame(table, from_arrow_schema(table.schema, prefer_timestamp_ntz=True))


def machines(process: int) -> list[int]:
    """The JVMs that a process has started."""
    command = ["ps", "-o", "pid=,comm=", "--ppid", str(process)]
    said = subprocess.run(command, capture_output=True, text=True, timeout=200).stdout
    return [int(line.split()[0]) for line in said.splitlines() if line.split()[1] == "java"]
