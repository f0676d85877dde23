"""Randomness."""

from tacit.randomness.source import SYSTEM, Source, seeded_not_private

__all__ = ["SYSTEM", "Source", "seeded_not_private"]
