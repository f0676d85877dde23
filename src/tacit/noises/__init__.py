"""Noises, each described once: how it is drawn, and its exact probabilities and tails."""
