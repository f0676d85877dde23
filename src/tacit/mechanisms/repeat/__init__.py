"""Mechanisms that run another mechanism again: repeat and select, absorb, condition on success."""
