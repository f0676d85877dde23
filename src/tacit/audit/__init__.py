"""Checks of Tacit's promises that anyone can run. Nothing in the library imports this room."""
