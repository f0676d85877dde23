"""Statistics, each a frozen plan with its own way from the engine's numbers to a released answer."""
