"""Tacit Serve: a gateway for several analysts in front of private tables, with a page and an HTTP interface."""
