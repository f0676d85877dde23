"""The statistics of the public face, asked of small tables of persons who differ in what usually goes wrong.

Several rows, an absent value, a negative one, one far above the rest, several groups: three such persons in every
combination are what `tacit audit` verifies each statistic on, draw by draw, through the real engine. Statistics of rows
that concern several persons are verified on every set of the persons of a small network.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from tacit.guarantees import Approx, Guarantee, Pure, Zcdp
from tacit.tables.statistics.asking import Audited
from tacit.tables.statistics.catalogue import entries

if TYPE_CHECKING:
    from tacit.audit.exact import Dataset
    from tacit.audit.statistics import StatisticCheck
    from tacit.tables import Table

SCHEMA = {"value": "integer", "group": "text", "flag": "boolean"}
KINDS = (
    ({"value": 3, "group": "x", "flag": True}, {"value": 2, "group": "y", "flag": None}),
    ({"value": -4, "group": "x", "flag": False},),
    ({"value": 100, "group": "y", "flag": False}, {"value": None, "group": None, "flag": None}),
)
PERSONS = 3


@cache
def small_tables(network: bool = False) -> StatisticCheck:
    """All small datasets, loaded once into an engine."""
    from tacit.audit.networks import HUB, NetworkCheck
    from tacit.audit.statistics import StatisticCheck

    return NetworkCheck(HUB) if network else StatisticCheck(KINDS, PERSONS, SCHEMA)


def table_of(dataset: Dataset, cost: Guarantee, network: bool = False) -> Table | None:
    """One of those datasets as a table on which a question of this cost can be asked any number of times.

    None for costs with a δ, since no budget has room for δ any number of times.
    """
    import pyarrow as pa

    from tacit.audit.networks import HUB, PERSONS, table_rows
    from tacit.tables import read

    if isinstance(cost, Approx):
        return None
    rows = [{"person": who, **row} for who, kind in enumerate(dataset) for row in ([] if network else KINDS[kind])]
    persons = ["person"]
    if network:
        rows, persons = table_rows(HUB, dataset), PERSONS
    types = {**dict.fromkeys(persons, pa.int64()), "value": pa.int64(), "group": pa.string(), "flag": pa.bool_()}
    arrow = pa.table({name: pa.array([row.get(name) for row in rows], kind) for name, kind in types.items()})
    return read(arrow, person=persons, budget=Zcdp(PLENTY) if isinstance(cost, Zcdp) else Pure(PLENTY), table="small")


PLENTY = 10**6


def questions() -> tuple[Audited, ...]:
    """What the catalogue says each statistic is verified by; those of rows of several persons come last."""
    return tuple(sorted((each for entry in entries() for each in entry.audited), key=lambda each: each.network))
