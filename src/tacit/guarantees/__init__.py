"""Guarantees."""

from tacit.guarantees.kinds import Approx, Guarantee, Pure, Renyi, Zcdp

__all__ = ["Approx", "Guarantee", "Pure", "Renyi", "Zcdp"]
