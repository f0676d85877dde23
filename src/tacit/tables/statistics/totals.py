"""Persons, rows and sums, without bounds.

With ``epsilon=`` the default is the jointly charged scan and release of `tacit.mechanisms.scan_and_release`. With Gaussian noise a
threshold scan chooses a cap λ and Σ_u min(s_u, λ), which one person moves by at most λ, gets noise of variance λ²/(2ρ). A
person's total is either positive or negative, so the two parts of a signed sum concern disjoint persons and are
released side by side for the cost of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tacit.answers import Answer
from tacit.engines.expressions import Expression
from tacit.engines.requests import Bucket, Flags, Persons, RowCount, TotalBuckets, Value
from tacit.spreads import Additive, Difference, Noise
from tacit.tables.room import Room
from tacit.tables.statistics.base import Per, Statistic, noisy, unit_of
from tacit.tables.statistics.caps import cap_law, levels
from tacit.units import WHOLE, Unit

if TYPE_CHECKING:
    from tacit.answers import Covers
