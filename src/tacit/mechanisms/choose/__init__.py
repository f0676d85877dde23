"""Mechanisms that choose one of a public list of values."""
