"""Noise added to whole numbers."""
