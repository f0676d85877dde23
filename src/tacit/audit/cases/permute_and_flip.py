"""Permute-and-flip over max, sum, count and median."""

from __future__ import annotations

from tacit.audit.cases.exponential import choice_cases
from tacit.mechanisms.choose.permute_and_flip import permute_and_flip

CASES = choice_cases("permute-and-flip", "mechanisms.permute_and_flip", permute_and_flip)
