"""What the data say about each possible answer: step losses and down profiles. Private, and silent in repr."""

from tacit.curves.profiles import DownProfile
from tacit.curves.steps import Run, StepLoss

__all__ = ["DownProfile", "Run", "StepLoss"]
