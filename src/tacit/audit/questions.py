"""The statistics of the public face, asked of small tables of persons who differ in what usually goes wrong.

Several rows, an absent value, a negative one, one far above the rest, several groups: three such persons in every
combination are what `tacit audit` verifies each statistic on, draw by draw, through the real engine. Statistics of rows
that concern several persons are verified on every set of the persons of a small network.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from tacit.guarantees import Approx, Guarantee, Pure, Zcdp

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


@dataclass(frozen=True)
class Question:
    """One statistic at one cost."""

    name: str
    cost: Guarantee
    ask: Callable[..., Any]
    """From a table, the cost by keywords, and fresh=True to ask anew."""
    slow: bool = False
    """Whether its exact verification takes more than a few seconds."""
    network: bool = False
    """Whether it is asked of rows that concern several persons."""

    def __call__(self, table: Table, **options: Any) -> Any:
        """Ask the question."""
        return self.ask(table, **self.cost.keywords(), **options)


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
FOUR, SMOOTH = Pure(4), Zcdp(2)
GROUPS = ["x", "y"]
INVERSE = "shifted_inverse"

QUESTIONS: tuple[Question, ...] = (
    Question("persons", Pure(1), lambda t, **c: t.persons(**c)),
    Question("persons, Gaussian noise", Zcdp("0.1"), lambda t, **c: t.persons(**c)),
    Question("count", FOUR, lambda t, **c: t.count(**c)),
    Question("sum", FOUR, lambda t, **c: t.sum("value", **c)),
    Question("sum, Gaussian noise", SMOOTH, lambda t, **c: t.sum("value", **c)),
    Question("mean", FOUR, lambda t, **c: t.mean("value", **c)),
    Question("variance", FOUR, lambda t, **c: t.variance("value", **c), slow=True),
    Question("standard deviation per person", FOUR, lambda t, **c: t.std("value", per="person", **c), slow=True),
    Question("minimum", FOUR, lambda t, **c: t.min("value", **c)),
    Question("maximum", FOUR, lambda t, **c: t.max("value", **c)),
    Question("median", FOUR, lambda t, **c: t.median("value", **c)),
    Question("median by smooth sensitivity", FOUR, lambda t, **c: t.median("value", method="smooth", **c)),
    Question(
        "median by propose-test-release",
        Approx(4, "0.2"),
        lambda t, **c: t.median("value", per="person", method="propose_test_release", range=(-8, 8), **c),
    ),
    Question("quantiles", FOUR, lambda t, **c: t.quantile("value", ["0.25", "0.75"], **c)),
    Question("ratio", Pure(1), lambda t, **c: t.ratio("flag", **c)),
    Question("distinct values", FOUR, lambda t, **c: t.nunique("group", **c)),
    Question("histogram", FOUR, lambda t, **c: t.histogram("value", [-10, 0, 10], **c)),
    Question("mode", FOUR, lambda t, **c: t.mode("group", GROUPS, **c)),
    Question("mode found", Approx(4, "0.2"), lambda t, **c: t.mode("group", per="person", **c)),
    Question("top", FOUR, lambda t, **c: t.top("group", ["x", "y", "z"], 2, **c)),
    Question("count by group", FOUR, lambda t, **c: t.group_by("group", keys=GROUPS).count(**c)),
    Question("persons by found group", Approx(4, "0.2"), lambda t, **c: t.group_by("group").persons(**c)),
    Question("second largest", FOUR, lambda t, **c: t.largest("value", 2, **c)),
    Question("second smallest per person", FOUR, lambda t, **c: t.smallest("value", 2, per="person", **c)),
    Question("modal count", FOUR, lambda t, **c: t.modal_count("group", **c)),
    Question("maximum degree", FOUR, lambda t, **c: t.max_degree(**c)),
    Question("network: count", FOUR, lambda t, **c: t.count(**c), network=True),
    Question("network: count by scan", FOUR, lambda t, **c: t.count(method="scan", **c), network=True),
    Question("network: count, shifted inverse", FOUR, lambda t, **c: t.count(method=INVERSE, **c), network=True),
    Question("network: count, Gaussian noise", SMOOTH, lambda t, **c: t.count(**c), network=True),
    Question("network: sum", Pure(8), lambda t, **c: t.sum("value", **c), network=True),
    Question("network: maximum", FOUR, lambda t, **c: t.max("value", **c), network=True),
    Question("network: minimum", FOUR, lambda t, **c: t.min("value", **c), network=True),
    Question("network: second largest", FOUR, lambda t, **c: t.largest("value", 2, **c), network=True),
    Question("network: distinct values", FOUR, lambda t, **c: t.nunique("group", **c), network=True),
    Question("network: modal count", FOUR, lambda t, **c: t.modal_count("group", **c), network=True),
    Question("network: maximum degree", FOUR, lambda t, **c: t.max_degree(**c), network=True),
)
