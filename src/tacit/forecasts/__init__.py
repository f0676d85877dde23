"""What accuracy to expect, from public facts alone."""

from tacit.forecasts.planning import Forecast, expect, foresee, plan
from tacit.forecasts.worlds import SHAPES, ForecastPoint, falling

__all__ = ["SHAPES", "Forecast", "ForecastPoint", "expect", "falling", "foresee", "plan"]
