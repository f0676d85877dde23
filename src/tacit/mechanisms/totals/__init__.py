"""Counts, sums, means and ratios without bounds."""
