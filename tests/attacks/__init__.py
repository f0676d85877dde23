"""Attacks that worked once, one file for each kind."""
