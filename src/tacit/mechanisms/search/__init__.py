"""Mechanisms that search a grid."""
