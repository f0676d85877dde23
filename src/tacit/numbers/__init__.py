"""Exact numbers: fractions, rigorous intervals, and the units in which a column is counted."""
