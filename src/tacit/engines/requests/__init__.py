"""What an engine is asked, and what it returns: frozen, dialect-free values.

PROMISE. A round is one statement over one `Relation`, at most two rounds see one read-only snapshot, and what comes
back never grows with the table: at most 10,000 numbers a round, `KeyCounts`, `KeyWeights`, `Incidence`, `WeighedRows`
and `Blocks` excepted (their docstrings say why). No result names a person or shows a row, `Blocks` excepted, every
number is exact, and no answer or failure depends on the order of rows.

PERSONS. Rows with a NULL (or NaN) person are dropped, then rows whose filter is not true. A person is present when
at least one row remains. Persons are equal when their column's own type says so.

VALUES. A `Value` turns every row into a 64-bit count of `unit`s, or absent:

- INTEGER and BOOLEAN count in 1, DECIMAL(s) in 10^-s: the stored count itself.
- FLOAT x: absent if NULL or NaN; ±`SATURATION` if |x| ≥ SATURATION·unit, tested *before* multiplying; else x·(1/unit)
  or x/unit as one IEEE operation, rounded half to even. With the default unit 10^-6 the limit is 9.2·10^12.

Totals are sums of these counts in 128 bits, which no table of fewer than 2^50 rows can exceed. An `Ordered` value
is compared as it is: doubles as doubles (±inf as the largest finite one), dates as days and timestamps as
microseconds since 1970-01-01, truth values as 0 and 1.

Each request has a file: its meaning, its SQL (`write`, or `script` where it has a statement of its own) and the reading
of its answer (`read`). A new one is a new file and a line here.
"""

from tacit.engines.entries import Norm
from tacit.engines.requests.blocks import MOST_BLOCKS, Blocks
from tacit.engines.requests.derived import PERSON, Derived, Listed, PersonGroups, PersonRows, Union
from tacit.engines.requests.extremes import Extremes
from tacit.engines.requests.flags import FlagCounts, Flags
from tacit.engines.requests.group_parts import FINE, GroupDistinct, GroupFlags, GroupMoments
from tacit.engines.requests.group_vectors import GroupNorms, GroupTotals, saturation
from tacit.engines.requests.incidence import MAX_ROWS, Incidence, Touches
from tacit.engines.requests.join_size import MAX_JOIN_ROWS, JoinSize, before_filters
from tacit.engines.requests.key_counts import KeyCounts, KeysPerPerson, KeyWeights
from tacit.engines.requests.key_repeats import KeyRepeats, Repeats, duplicate_keys, key_repeats
from tacit.engines.requests.leading_value import Lead, LeadingValue
from tacit.engines.requests.moments import RESOLUTION, Moments
from tacit.engines.requests.operands import (
    FAR,
    HALF,
    SATURATION,
    Deviation,
    Different,
    Entry,
    Filled,
    GroupSteps,
    HasValue,
    Key,
    Ordered,
    PersonMean,
    Presence,
    RowCount,
    Steps,
    Total,
    Value,
    check_by,
    value,
)
from tacit.engines.requests.outer_totals import MOST_ENDS, Outer, OuterTotals
from tacit.engines.requests.persons import Persons
from tacit.engines.requests.product_totals import MOST_COLUMNS, ProductTotals
from tacit.engines.requests.products import Product, Squares
from tacit.engines.requests.rank_steps import LARGEST_REACH, WEIGHT, Ranks, RankSteps, Step
from tacit.engines.requests.relation import SAMPLE_STEPS, Bound, Join, Membership, Relation, Sample
from tacit.engines.requests.request import LARGEST_ANSWER, Request, Standalone
from tacit.engines.requests.running_totals import RunningTotals
from tacit.engines.requests.top_rows import TopRows
from tacit.engines.requests.total_buckets import Bucket, Buckets, TotalBuckets
from tacit.engines.requests.weighed_rows import WeighedRows, WeighedValues

__all__ = [
    "FAR",
    "FINE",
    "HALF",
    "LARGEST_ANSWER",
    "LARGEST_REACH",
    "MAX_JOIN_ROWS",
    "MAX_ROWS",
    "MOST_BLOCKS",
    "MOST_COLUMNS",
    "MOST_ENDS",
    "PERSON",
    "RESOLUTION",
    "SAMPLE_STEPS",
    "SATURATION",
    "WEIGHT",
    "Blocks",
    "Bound",
    "Bucket",
    "Buckets",
    "Derived",
    "Deviation",
    "Different",
    "Entry",
    "Extremes",
    "Filled",
    "FlagCounts",
    "Flags",
    "GroupDistinct",
    "GroupFlags",
    "GroupMoments",
    "GroupNorms",
    "GroupSteps",
    "GroupTotals",
    "HasValue",
    "Incidence",
    "Join",
    "JoinSize",
    "Key",
    "KeyCounts",
    "KeyRepeats",
    "KeyWeights",
    "KeysPerPerson",
    "Lead",
    "LeadingValue",
    "Listed",
    "Membership",
    "Moments",
    "Norm",
    "Ordered",
    "Outer",
    "OuterTotals",
    "PersonGroups",
    "PersonMean",
    "PersonRows",
    "Persons",
    "Presence",
    "Product",
    "ProductTotals",
    "RankSteps",
    "Ranks",
    "Relation",
    "Repeats",
    "Request",
    "RowCount",
    "RunningTotals",
    "Sample",
    "Squares",
    "Standalone",
    "Step",
    "Steps",
    "TopRows",
    "Total",
    "TotalBuckets",
    "Touches",
    "Union",
    "Value",
    "WeighedRows",
    "WeighedValues",
    "before_filters",
    "check_by",
    "duplicate_keys",
    "key_repeats",
    "saturation",
    "value",
]
