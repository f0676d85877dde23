"""Tables on Spark: a configuration has the address of a server, and each process opens a session of its own there."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

from tacit.errors import not_installed
from tacit.tables import Private, Public


def on_spark(table: Private | Public) -> bool:
    """Whether a table's source is the address of a Spark server."""
    address = table.source.data
    return isinstance(address, str) and address.startswith(("sc://", "spark://"))


def connect_spark(table: Private | Public) -> Private | Public:
    """A table whose Spark address became a session of this process; everything else the engines open themselves."""
    if not on_spark(table):
        return table
    address = str(table.source.data)
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise not_installed("a Spark source needs the package pyspark", "spark") from None
    builder: Any = SparkSession.builder
    session = (builder.remote(address) if address.startswith("sc://") else builder.master(address)).getOrCreate()
    found = copy(table)
    object.__setattr__(found, "source", replace(table.source, data=session))
    return found
