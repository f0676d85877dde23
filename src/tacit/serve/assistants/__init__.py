"""Assistants that speak the Model Context Protocol: the tools, over HTTP in the gateway, and over stdio beside it."""
