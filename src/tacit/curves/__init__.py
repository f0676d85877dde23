"""What the data say about each possible answer: step losses, down profiles, cap curves. Private, and silent in repr."""

from tacit.curves.caps import CapCurve
from tacit.curves.profiles import DownProfile
from tacit.curves.steps import Run, StepLoss

__all__ = ["CapCurve", "DownProfile", "Run", "StepLoss"]
