"""Tests of tacit.guarantees."""
