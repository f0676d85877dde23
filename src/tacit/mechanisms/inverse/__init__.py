"""Inverse and shifted inverse sensitivity."""
